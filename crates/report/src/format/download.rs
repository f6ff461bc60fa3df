//! The downloads that a figure of the page offers. Small files are embedded in the page, so that they are available even if the page was copied alone.
//! Larger ones are linked if every results directory has them beside the page; the page says how to export the others.

use crate::plot::{Figure, sheet};
use serde::Serialize;

/// The files of a report that every results directory has.
pub(super) const ROOT: [&str; 3] = ["report.html", "results.csv", "results.json"];

/// The source of all results, which is beside the report.
const TRIALS: &str = "trials.jsonl";

/// Returns whether every results directory has this file beside its page, so that the page may link to it.
fn is_beside_page(name: &str) -> bool {
    name == TRIALS || ROOT.contains(&name)
}

/// The size up to which a file is embedded in the page, at each figure that links to it, octets.
pub(crate) const MOST_WITHIN: usize = 24_000;
/// The size up to which the page shows the panels of a figure, octets. Further panels, in runs with hundreds of points, are only in its SVG file, so
/// that the page stays below 5 MB.
const MOST_DRAWN: usize = 220_000;

/// The links of a figure, which are missing for what has to be exported, and the number of its panels that the page shows.
#[derive(Serialize)]
pub(crate) struct Downloads {
    svg: Option<String>,
    data: Option<String>,
    panels: usize,
}

impl Downloads {
    /// Returns the links of a figure. `data` is the text of the figure's data file, if it is known here.
    pub(crate) fn new(figure: &Figure, data: Option<String>) -> Self {
        Self {
            svg: link(
                &format!("{}.svg", figure.id),
                "image/svg+xml",
                Some(sheet::compose(figure)),
            ),
            data: link(figure.data.0, "text/csv", data),
            panels: shown(figure.panels.iter().map(|panel| panel.svg.len())),
        }
    }
}

/// Returns the number of panels that fit into the page, at least one.
fn shown(lengths: impl Iterator<Item = usize>) -> usize {
    let ends = lengths.scan(0, |end, length| {
        *end += length;
        Some(*end)
    });
    ends.take_while(|end| *end <= MOST_DRAWN).count().max(1)
}

/// Returns a link to the text embedded in the page; if the text is too long or not known here, to the file of that name beside the page, if there is
/// one.
fn link(file: &str, kind: &str, text: Option<String>) -> Option<String> {
    match text {
        Some(text) if text.len() <= MOST_WITHIN => {
            Some(format!("data:{kind};charset=utf-8,{}", encoded(&text)))
        }
        _ => is_beside_page(file).then(|| file.to_owned()),
    }
}

/// Encodes text for a `data:` link in an attribute, so that nothing in it is markup.
fn encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len() + text.len() / 2);
    let mut from = 0;
    for (at, octet) in text.bytes().enumerate() {
        let Some(code) = code(octet) else { continue };
        encoded.extend([&text[from..at], code]);
        from = at + 1;
    }
    encoded + &text[from..]
}

fn code(octet: u8) -> Option<&'static str> {
    Some(match octet {
        b'\n' => "%0A",
        b'\r' => "%0D",
        b'"' => "%22",
        b'#' => "%23",
        b'%' => "%25",
        b'&' => "%26",
        b'\'' => "%27",
        b'<' => "%3C",
        b'>' => "%3E",
        b'`' => "%60",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_file_is_in_the_link_and_a_long_one_is_linked_only_beside_the_page() {
        assert_eq!(
            link("a.csv", "text/csv", Some("a,\"b\"\n1%".to_owned())).as_deref(),
            Some("data:text/csv;charset=utf-8,a,%22b%22%0A1%25")
        );
        let long = || Some("1".repeat(MOST_WITHIN + 1));
        assert_eq!(
            link("results.csv", "text/csv", long()).as_deref(),
            Some("results.csv")
        );
        assert_eq!(link("points.csv", "text/csv", long()), None);
        assert_eq!(
            link("trials.jsonl", "text/csv", None).as_deref(),
            Some("trials.jsonl")
        );
    }

    #[test]
    fn panels_beyond_the_room_of_the_page_are_not_shown_but_the_first_is() {
        let panel = "x".repeat(MOST_DRAWN / 2);
        assert_eq!(shown([panel.len(); 3].into_iter()), 2);
        assert_eq!(shown([MOST_DRAWN * 2].into_iter()), 1);
    }
}
