//! A chapter of the page.

use crate::layout::table::Table;
use crate::plot::{Figure, IN_MEMORY};
use serde::Serialize;
use sixbench_method::record::LinkKind;

/// Tables and figures under one heading.
#[derive(Serialize)]
pub(crate) struct Chapter {
    pub(crate) id: &'static str,
    pub(crate) title: String,
    pub(crate) tables: Vec<Table>,
    pub(crate) figures: Vec<Figure>,
    /// True if the clause asks for the graph first.
    pub(crate) is_graph_first: bool,
}

impl Chapter {
    /// Returns the chapter without the tables and figures that are empty.
    pub(crate) fn new(
        id: &'static str,
        title: impl Into<String>,
        tables: Vec<Table>,
        figures: Vec<Figure>,
    ) -> Self {
        let tables = tables
            .into_iter()
            .filter(|table| !table.rows.is_empty())
            .collect();
        let figures = figures
            .into_iter()
            .filter(|figure| !figure.is_empty())
            .collect();
        Self {
            id,
            title: title.into(),
            tables,
            figures,
            is_graph_first: false,
        }
    }

    /// Returns the chapter with its graph above its tables.
    pub(super) fn with_graph_first(self) -> Self {
        Self {
            is_graph_first: true,
            ..self
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.tables.is_empty() && self.figures.is_empty()
    }

    /// Returns the chapter as the one of a group of devices, where there are several.
    pub(crate) fn of_group(self, group: LinkKind) -> Self {
        if group == LinkKind::Interfaces {
            return self;
        }
        let titled = |table: Table| Table {
            title: format!("{}{IN_MEMORY}", table.title),
            ..table
        };
        let figures = self
            .figures
            .into_iter()
            .map(|figure| figure.of_group(group))
            .collect();
        Self {
            tables: self.tables.into_iter().map(titled).collect(),
            figures,
            ..self
        }
    }
}
