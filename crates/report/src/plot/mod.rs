//! The figures of a report: what each shows. How they look is in `style`, how they become files in `sheet`.
//!
//! Drawn by kuva rather than plotters: its SVG has sub-pixel coordinates, one font inherited from the root, tooltips and labelled
//! reference lines; the one of plotters has whole pixels, the font repeated in every text, and none of the rest.

pub(crate) mod capacity;
pub(crate) mod clients;
pub(crate) mod connections;
pub(crate) mod cores;
pub(crate) mod degradation;
mod delay;
mod headroom;
mod loss;
pub(crate) mod loss_rate;
pub(crate) mod mix;
mod processor;
pub(crate) mod queries;
mod repetitions;
pub(crate) mod scalability;
mod search;
pub(crate) mod sheet;
mod style;
pub(crate) mod throughput;
mod timeout;

use crate::digest::Digest;
use serde::Serialize;
use style::LegendEntry;

/// A figure: small multiples under one caption and one legend.
#[derive(Default, Serialize)]
pub(crate) struct Figure {
    /// Name in the page and of the file.
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    /// Guidance on how to read it.
    pub(crate) caption: String,
    pub(crate) keys: Vec<LegendEntry>,
    /// The panels, each an SVG document.
    pub(crate) panels: Vec<String>,
    /// Notes that must be printed below it.
    pub(crate) notes: Vec<String>,
}

impl Figure {
    /// Nothing to show. What is said below a figure may hold where there is nothing to draw: why not a single trial passed.
    pub(crate) fn is_empty(&self) -> bool {
        self.panels.is_empty() && self.notes.is_empty()
    }
}

/// The figures of what the results rest on, in the order of the report.
pub(crate) fn evidence(digest: &Digest) -> Vec<Figure> {
    vec![
        repetitions::figure(digest),
        search::figure(digest),
        delay::figure(digest),
        timeout::figure(digest),
        loss::figure(digest),
        headroom::figure(digest),
        processor::figure(digest),
    ]
}
