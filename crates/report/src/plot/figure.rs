//! What every figure is made of.

use super::panel::Panel;
use super::style::LegendEntry;
use crate::table::Table;
use serde::Serialize;

/// The name of a file of the results directory.
#[derive(Serialize)]
pub(crate) struct DataFile(pub(crate) &'static str);

/// Most figures draw trials.
impl Default for DataFile {
    fn default() -> Self {
        Self("trials.jsonl")
    }
}

/// Of a searched rate: its repetitions.
pub(crate) const SEARCHES: DataFile = DataFile("results.csv");
/// Of any other quantity.
pub(crate) const VALUES: DataFile = DataFile("results-values.csv");

/// A figure: small multiples under one caption and one legend.
#[derive(Default, Serialize)]
pub(crate) struct Figure {
    /// Name in the page and of the file.
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    /// Guidance on how to read it.
    pub(crate) caption: String,
    pub(crate) keys: Vec<LegendEntry>,
    pub(crate) panels: Vec<Panel>,
    /// The file of the results directory that has the numbers it shows.
    pub(crate) data: DataFile,
    /// Findings of one kind about many points.
    pub(crate) findings: Option<Table>,
    /// Notes that must be printed below it.
    pub(crate) notes: Vec<String>,
}

impl Figure {
    /// Nothing to show. What is said below a figure may hold where there is nothing to draw: why not a single trial passed.
    pub(crate) fn is_empty(&self) -> bool {
        self.panels.is_empty() && self.notes.is_empty() && self.findings.is_none()
    }
}
