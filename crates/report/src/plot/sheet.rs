//! A figure as one file: kuva's panels side by side, with the title and the legend that are otherwise part of the page.

use super::figure::Figure;
use super::style::{HEIGHT, INK, LegendEntry, PAPER, WIDTH};
use std::fmt::Write;

const MARGIN: f64 = 16.0;
/// The height of the title and the first line of the legend, pixels.
const HEAD: f64 = 56.0;
/// The height of a line of the legend, pixels.
const LINE: f64 = 18.0;
/// The approximate width of a character of the legend, pixels.
const CHARACTER: f64 = 7.2;
const COLUMNS: usize = 3;

/// Returns the figure as one SVG document.
pub(crate) fn compose(figure: &Figure) -> String {
    let columns = figure.panels.len().clamp(1, COLUMNS);
    let rows = figure.panels.len().div_ceil(columns);
    let width = columns as f64 * WIDTH + 2.0 * MARGIN;
    let legend = legend(figure, width - 2.0 * MARGIN);
    let head = HEAD + LINE * (legend.len().max(1) - 1) as f64;
    let height = rows as f64 * HEIGHT + head + MARGIN;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         font-family=\"system-ui, sans-serif\" fill=\"{INK}\"><rect width=\"100%\" height=\"100%\" fill=\"{PAPER}\"/>"
    );
    let _ = write!(
        svg,
        "<text x=\"{MARGIN}\" y=\"24\" font-size=\"15\" font-weight=\"600\">{}</text>",
        escaped(&figure.title)
    );
    svg += &legend
        .iter()
        .zip(0..)
        .map(|(keys, i)| line(keys, 44.0 + LINE * f64::from(i)))
        .collect::<String>();
    for (i, panel) in figure.panels.iter().enumerate() {
        let (x, y) = (
            MARGIN + (i % columns) as f64 * WIDTH,
            head + (i / columns) as f64 * HEIGHT,
        );
        svg += &panel
            .svg
            .replacen("<svg ", &format!("<svg x=\"{x}\" y=\"{y}\" "), 1);
    }
    svg + "</svg>\n"
}

/// Returns the keys in lines, with as many in a line as fit.
fn legend(figure: &Figure, width: f64) -> Vec<Vec<&LegendEntry>> {
    let room = |key: &LegendEntry| (key.label.chars().count() + 5) as f64 * CHARACTER;
    let mut lines: Vec<Vec<&LegendEntry>> = Vec::new();
    for key in &figure.keys {
        let used = |line: &Vec<&LegendEntry>| line.iter().map(|key| room(key)).sum::<f64>();
        match lines
            .last_mut()
            .filter(|line| used(line) + room(key) <= width)
        {
            Some(line) => line.push(key),
            None => lines.push(vec![key]),
        }
    }
    lines
}

fn line(keys: &[&LegendEntry], y: f64) -> String {
    let keys = keys.iter().map(|k| {
        format!(
            "<tspan fill=\"{}\">{}</tspan> {}   ",
            k.color,
            k.glyph,
            escaped(&k.label)
        )
    });
    format!(
        "<text x=\"{MARGIN}\" y=\"{y}\" font-size=\"12\" xml:space=\"preserve\">{}</text>",
        keys.collect::<String>()
    )
}

/// Returns text escaped for XML.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
