//! Post-processing of a drawing for the page: adds a view box and a name for screen readers, and removes digits and points that no screen can show.

use super::sheet::escaped;
use super::text_start::FROM_HERE;
use std::fmt::Write as _;

/// Points of a line that are closer than this are merged, pixels.
const NEAR: f64 = 0.8;

/// Returns the drawing in its final form for the page.
pub(super) fn finished(svg: &str, label: &str) -> String {
    // The label comes last: in a tag, its numbers would be rounded as coordinates are.
    labelled(&from_here(&thinned(&rounded(&scalable(svg)))), label)
}

/// Makes the marked texts start at their positions.
fn from_here(svg: &str) -> String {
    let mut texts = svg.split("<text ");
    let first = texts.next().unwrap_or_default().to_owned();
    texts.fold(first, |svg, text| {
        match text.split_once(&format!(">{FROM_HERE}")) {
            Some((attributes, rest)) if !attributes.contains('>') => {
                svg + "<text "
                    + &attributes.replace("text-anchor=\"middle\"", "text-anchor=\"start\"")
                    + ">"
                    + rest
            }
            _ => svg + "<text " + text,
        }
    })
}

/// Gives the drawing a name for screen readers.
fn labelled(svg: &str, label: &str) -> String {
    svg.replacen(
        "<svg ",
        &format!(
            "<svg role=\"img\" aria-label=\"{}\" ",
            // Titles were escaped for kuva (`style::plain`), which a label never passes through.
            escaped(&label.replace("\\$", "$"))
        ),
        1,
    )
}

/// Rounds coordinates to a tenth of a pixel: kuva writes fourteen digits, which make up most of the page. Visible text, between the tags, is unchanged.
fn rounded(svg: &str) -> String {
    let mut text = String::with_capacity(svg.len());
    let mut is_in_tag = false;
    for part in svg.split_inclusive(['<', '>']) {
        if is_in_tag {
            push_rounded(&mut text, part);
        } else {
            text.push_str(part);
        }
        is_in_tag = part.ends_with('<');
    }
    text
}

/// Appends the content of a tag, with at most one decimal in each number.
fn push_rounded(text: &mut String, tag: &str) {
    let is_digit = |octet: &u8| octet.is_ascii_digit();
    let (octets, mut from) = (tag.as_bytes(), 0);
    while let Some(point) = tag[from..].find('.').map(|at| from + at) {
        let decimals = octets[point + 1..]
            .iter()
            .take_while(|octet| is_digit(octet))
            .count();
        let is_number = point > 0 && is_digit(&octets[point - 1]);
        text.push_str(&tag[from..=point + if is_number { decimals.min(1) } else { decimals }]);
        from = point + 1 + decimals;
    }
    text.push_str(&tag[from..]);
}

/// Leaves out the points of lines that are indistinguishable from the one before.
fn thinned(svg: &str) -> String {
    const PATH: &str = " d=\"";
    let mut parts = svg.split(PATH);
    let mut text = String::with_capacity(svg.len());
    text.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let (path, rest) = part.split_once('"').unwrap_or((part, ""));
        text.extend([PATH, line(path).as_deref().unwrap_or(path), "\"", rest]);
    }
    text
}

/// Returns a path of straight lines with fewer points, keeping its ends and its moves; `None` for any other path.
fn line(path: &str) -> Option<String> {
    let words: Vec<&str> = path.split_whitespace().collect();
    let steps: Vec<(&str, [f64; 2])> = words
        .chunks(3)
        .map(|step| match step {
            [kind @ ("M" | "L"), x, y] => Some((*kind, [x.parse().ok()?, y.parse().ok()?])),
            _ => None,
        })
        .collect::<Option<_>>()?;
    let mut kept: Vec<(&str, [f64; 2])> = Vec::new();
    for (i, (kind, at)) in steps.iter().enumerate() {
        let is_near = |(_, last): &(&str, [f64; 2])| {
            (last[0] - at[0]).abs() < NEAR && (last[1] - at[1]).abs() < NEAR
        };
        let is_inner = *kind == "L" && steps.get(i + 1).is_some_and(|(next, _)| *next == "L");
        if !is_inner || !kept.last().is_some_and(is_near) {
            kept.push((kind, *at));
        }
    }
    let mut thinned = String::with_capacity(path.len());
    for (nth, (kind, [x, y])) in kept.iter().enumerate() {
        let _ = write!(thinned, "{}{kind} {x} {y}", if nth == 0 { "" } else { " " });
    }
    Some(thinned)
}

/// Adds a view box, so that the page can scale the panel to its column; kuva only sets a size.
fn scalable(svg: &str) -> String {
    let size = |name: &str| {
        let rest = svg.split_once(&format!(" {name}=\"")).map(|(_, rest)| rest);
        rest.and_then(|r| r.split('"').next())
            .unwrap_or("0")
            .to_owned()
    };
    let (width, height) = (size("width"), size("height"));
    svg.replacen(
        "<svg ",
        &format!("<svg viewBox=\"0 0 {width} {height}\" "),
        1,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_nearer_than_a_pixel_are_one_and_the_ends_stay() {
        assert_eq!(
            line("M 0 0 L 0.3 0.3 L 0.9 0.2 L 1 0.4 L 1.1 0.5").as_deref(),
            Some("M 0 0 L 0.9 0.2 L 1.1 0.5")
        );
        assert_eq!(line("M 0 0 C 1 2 3 4 5 6"), None);
        let curve = "<path d=\"M 0 0 Z\" fill=\"none\"/>";
        assert_eq!(thinned(curve), curve);
    }

    #[test]
    fn coordinates_are_cut_and_text_is_not() {
        let svg = "<path d=\"M 1.23456 7 L -0.0499 12.999\"/><title>0.12345 ms</title><circle r=\"3.5\"/>";
        assert_eq!(
            rounded(svg),
            "<path d=\"M 1.2 7 L -0.0 12.9\"/><title>0.12345 ms</title><circle r=\"3.5\"/>"
        );
    }

    #[test]
    fn a_panel_scales() {
        assert_eq!(
            scalable("<svg width=\"3\" height=\"4\">"),
            "<svg viewBox=\"0 0 3 4\" width=\"3\" height=\"4\">"
        );
    }
}
