//! The parts of every figure.

use super::panel::Panel;
use super::style::LegendEntry;
use crate::layout::table::Table;
use serde::Serialize;
use sixbench_method::record::LinkKind;
use std::borrow::Cow;

/// The name of a file of the results directory.
#[derive(Serialize)]
pub(crate) struct DataFile(pub(crate) &'static str);

/// Most figures show trials.
impl Default for DataFile {
    fn default() -> Self {
        Self("trials.jsonl")
    }
}

/// The data file for figures of searched rates: the repetitions.
pub(crate) const SEARCHES: DataFile = DataFile("results.csv");
/// The data file for figures of other quantities.
pub(crate) const VALUES: DataFile = DataFile("results-values.csv");

/// The end of the title of what shows only the devices in shared memory.
pub(crate) const IN_MEMORY: &str =
    ", devices in shared memory (not to be compared with the others)";

/// A figure: small multiples under one caption and one legend.
#[derive(Default, Serialize)]
pub(crate) struct Figure {
    /// The name in the page and of the file.
    pub(crate) id: Cow<'static, str>,
    pub(crate) title: Cow<'static, str>,
    /// An explanation of how to read it.
    pub(crate) caption: String,
    pub(crate) keys: Vec<LegendEntry>,
    pub(crate) panels: Vec<Panel>,
    /// The file of the results directory that contains its numbers.
    pub(crate) data: DataFile,
    /// Findings of one kind about many points.
    pub(crate) findings: Option<Table>,
    /// Notes that must be printed below it.
    pub(crate) notes: Vec<String>,
}

impl Figure {
    /// Returns the figure as the one of a group of devices, where there are several.
    pub(crate) fn of_group(self, group: LinkKind) -> Self {
        match group {
            LinkKind::Unknown | LinkKind::Virtual | LinkKind::Interfaces => self,
            LinkKind::SharedMemory => {
                let (id, title) = (
                    format!("{}-{}", self.id, group.name()),
                    format!("{}{IN_MEMORY}", self.title),
                );
                Self {
                    id: id.into(),
                    title: title.into(),
                    ..self
                }
            }
        }
    }

    /// Returns whether there is nothing to show. A figure without panels may still have notes, for example on why no trial passed.
    pub(crate) fn is_empty(&self) -> bool {
        self.panels.is_empty() && self.notes.is_empty() && self.findings.is_none()
    }
}
