//! The figures of a report: what each shows. How they look is in `style`, how they become files in `sheet`.
//!
//! Drawn by kuva rather than plotters: its SVG has sub-pixel coordinates, one font inherited from the root, tooltips and labelled
//! reference lines; the one of plotters has whole pixels, the font repeated in every text, and none of the rest.

mod headroom;
mod loss;
mod processor;
mod repetitions;
mod search;
mod sheet;
mod style;
mod throughput;

use crate::Input;
use crate::digest::Digest;
use serde::Serialize;
use style::Key;

/// A figure: small multiples under one caption and one legend.
#[derive(Serialize)]
pub(crate) struct Figure {
    /// Name in the page and of the file.
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    /// How to read it.
    pub(crate) caption: String,
    pub(crate) keys: Vec<Key>,
    /// Each an SVG document.
    pub(crate) panels: Vec<String>,
}

/// The figures that this run has data for, in the order of the report.
pub(crate) fn drawn(digest: &Digest) -> Vec<Figure> {
    let figures = [
        throughput::figure(digest),
        repetitions::figure(digest),
        search::figure(digest),
        loss::figure(digest),
        headroom::figure(digest),
        processor::figure(digest),
    ];
    figures.into_iter().filter(|f| !f.panels.is_empty()).collect()
}

/// The figures as files: name and SVG, each to be read on its own on a white ground.
pub fn figures(input: &Input) -> Vec<(String, String)> {
    let digest = Digest::new(input);
    drawn(&digest).iter().map(|f| (format!("{}.svg", f.id), sheet::compose(f))).collect()
}
