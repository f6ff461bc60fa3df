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
pub(crate) mod end_labels;
pub(crate) mod figure;
pub(crate) mod panel;
pub(crate) mod pgf;
pub(crate) mod sheet;
pub(crate) mod style;
mod svg;
mod text_start;
mod ticks;

pub(crate) use figure::{Figure, IN_MEMORY};
