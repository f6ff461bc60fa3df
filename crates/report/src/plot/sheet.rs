//! A figure as one file: kuva's panels side by side, with the title and the legend that the page otherwise gives them.

use super::Figure;
use super::style::{HEIGHT, INK, PAPER, WIDTH};
use std::fmt::Write;

const MARGIN: f64 = 16.0;
/// Room for title and legend.
const HEAD: f64 = 56.0;
const COLUMNS: usize = 3;

/// The figure as one SVG document.
pub(crate) fn compose(figure: &Figure) -> String {
    let columns = figure.panels.len().clamp(1, COLUMNS);
    let rows = figure.panels.len().div_ceil(columns);
    let (width, height) = (columns as f64 * WIDTH + 2.0 * MARGIN, rows as f64 * HEIGHT + HEAD + MARGIN);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         font-family=\"system-ui, sans-serif\" fill=\"{INK}\"><rect width=\"100%\" height=\"100%\" fill=\"{PAPER}\"/>"
    );
    let _ = write!(svg, "<text x=\"{MARGIN}\" y=\"24\" font-size=\"15\" font-weight=\"600\">{}</text>", escaped(figure.title));
    svg += &legend(figure);
    for (i, panel) in figure.panels.iter().enumerate() {
        let (x, y) = (MARGIN + (i % columns) as f64 * WIDTH, HEAD + (i / columns) as f64 * HEIGHT);
        svg += &panel.replacen("<svg ", &format!("<svg x=\"{x}\" y=\"{y}\" "), 1);
    }
    svg + "</svg>\n"
}

fn legend(figure: &Figure) -> String {
    let keys = figure.keys.iter().map(|k| format!("<tspan fill=\"{}\">{}</tspan> {}   ", k.color, k.glyph, escaped(&k.label)));
    format!("<text x=\"{MARGIN}\" y=\"44\" font-size=\"12\" xml:space=\"preserve\">{}</text>", keys.collect::<String>())
}

/// Text inside of XML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
