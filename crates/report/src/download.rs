//! What a figure of the page offers to take along. What is small is within the page, so that it can be had where the page is alone; the rest is a file
//! beside it.

use crate::plot::{Figure, sheet};
use serde::Serialize;

/// Octets of a file that is still put into the page, at each figure that has it.
pub(crate) const MOST_WITHIN: usize = 24_000;
/// Octets of panels that the page shows of a figure. More of them, of runs of hundreds of points, are in its SVG alone: the page stays below 5 MB.
const MOST_DRAWN: usize = 220_000;

/// The links of a figure, and as many of its panels as the page has.
#[derive(Serialize)]
pub(crate) struct Downloads {
    svg: String,
    data: String,
    panels: usize,
}

impl Downloads {
    /// The links of a figure whose data is a file with this text, as far as that is known here.
    pub(crate) fn of(figure: &Figure, data: Option<String>) -> Self {
        Self {
            svg: link(&format!("{}.svg", figure.id), "image/svg+xml", Some(sheet::compose(figure))),
            data: link(figure.data.0, "text/csv", data),
            panels: shown(figure.panels.iter().map(|panel| panel.svg.len())),
        }
    }
}

/// Returns the number of panels that the page has room for, at least one.
fn shown(lengths: impl Iterator<Item = usize>) -> usize {
    let ends = lengths.scan(0, |end, length| {
        *end += length;
        Some(*end)
    });
    ends.take_while(|end| *end <= MOST_DRAWN).count().max(1)
}

/// Returns a link to the text within the page, or to the file of that name where it is too long or not known here.
fn link(file: &str, kind: &str, text: Option<String>) -> String {
    match text {
        Some(text) if text.len() <= MOST_WITHIN => format!("data:{kind};charset=utf-8,{}", encoded(&text)),
        _ => file.to_owned(),
    }
}

/// Encodes for a `data:` link within an attribute: nothing in it is markup.
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
    fn a_short_file_is_in_the_link_and_a_long_one_is_beside_the_page() {
        assert_eq!(link("a.csv", "text/csv", Some("a,\"b\"\n1%".to_owned())), "data:text/csv;charset=utf-8,a,%22b%22%0A1%25");
        assert_eq!(link("a.csv", "text/csv", Some("1".repeat(MOST_WITHIN + 1))), "a.csv");
        assert_eq!(link("trials.jsonl", "text/csv", None), "trials.jsonl");
    }

    #[test]
    fn panels_beyond_the_room_of_the_page_are_not_shown_but_the_first_is() {
        let panel = "x".repeat(MOST_DRAWN / 2);
        assert_eq!(shown([panel.len(); 3].into_iter()), 2);
        assert_eq!(shown([MOST_DRAWN * 2].into_iter()), 1);
    }
}
