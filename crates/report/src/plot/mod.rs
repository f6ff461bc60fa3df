//! The figures of a report. `style` determines how they look, and `sheet` turns them into files.
//!
//! They are drawn by kuva rather than plotters: its SVG has sub-pixel coordinates, one font inherited from the root, tooltips and labelled reference
//! lines; that of plotters has whole pixels, repeats the font in every text, and has none of the rest.
//!
//! # One drawing, two formats
//!
//! A figure is drawn once, as plots and a layout of kuva (`report::plot::style`). It becomes SVG for the page and, from the same plots and
//! layout, PGFPlots for papers (`report::plot::pgf`), so no figure contains LaTeX. No PDF is made from the SVG, because its fonts would be the machine's
//! rather than the paper's.

pub(crate) mod answer_bar;
pub(crate) mod capacity;
pub(crate) mod clients;
pub(crate) mod connections;
pub(crate) mod cores;
pub(crate) mod degradation;
mod delay;
mod directions;
mod end_labels;
mod figure;
mod headroom;
mod loss;
pub(crate) mod loss_rate;
pub(crate) mod mix;
mod panel;
pub(crate) mod pgf;
mod processor;
pub(crate) mod queries;
mod repetitions;
pub(crate) mod scalability;
mod search;
pub(crate) mod sheet;
pub(crate) mod soak;
pub(crate) mod style;
mod svg;
mod text_start;
pub(crate) mod throughput;
mod ticks;
mod timeout;

pub(crate) use figure::{Figure, IN_MEMORY};

use crate::digest::Digest;

/// Returns the figures of the evidence behind the results, in the order of the report.
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
