//! The recorded warnings of one kind, which a reader is told together.

use crate::layout::cell::Cell;
use crate::layout::table::{Column, Table};
use sixbench_method::lists::each_once;
use sixbench_method::record::Warning;

/// Warnings of one kind, in the order in which the run has them; at least one.
pub(crate) struct WarningKind<'w> {
    first: &'w Warning,
    others: Vec<&'w Warning>,
}

impl<'w> WarningKind<'w> {
    /// Returns the warnings by kind, in the order of the first one of each kind.
    pub(crate) fn all_of(warnings: impl IntoIterator<Item = &'w Warning>) -> Vec<Self> {
        let mut kinds: Vec<Self> = Vec::new();
        for warning in warnings {
            match kinds
                .iter_mut()
                .find(|kind| kind.first.is_of_the_kind_of(warning))
            {
                Some(kind) => kind.others.push(warning),
                None => kinds.push(Self {
                    first: warning,
                    others: Vec::new(),
                }),
            }
        }
        kinds
    }

    /// Returns one sentence, without a period, for all warnings of the kind; `text` gives that of one warning.
    pub(crate) fn in_brief(&self, text: fn(&Warning) -> String) -> String {
        if self.others.is_empty() {
            return text(self.first);
        }
        if let Warning::DisturbedTrials { .. } = self.first {
            return text(&Warning::DisturbedTrials {
                dut: self.particulars(),
            });
        }
        match self
            .others
            .iter()
            .filter(|other| **other != self.first)
            .count()
        {
            0 => text(self.first),
            more => format!("{} (and {more} more of this kind)", text(self.first)),
        }
    }

    /// Returns the sentence of all warnings of the kind if there are several.
    fn pattern(&self) -> Option<String> {
        if self.others.is_empty() {
            None
        } else {
            self.first.pattern()
        }
    }

    fn all(&self) -> impl Iterator<Item = &'w Warning> {
        std::iter::once(self.first).chain(self.others.iter().copied())
    }

    /// Returns what each warning has in place of the ellipsis of the pattern.
    fn particulars(&self) -> String {
        each_once(self.all().filter_map(Warning::particulars)).join(", ")
    }
}

/// A kind of warnings of which there are several.
struct PatternRow<'w> {
    pattern: String,
    kind: WarningKind<'w>,
}

/// Returns a table with a row for each kind of which there are several, and the texts of all other warnings.
pub(crate) fn by_kind(title: &str, warnings: &[Warning]) -> (Table, Vec<String>) {
    let (mut rows, mut single) = (Vec::new(), Vec::new());
    for kind in WarningKind::all_of(warnings) {
        match kind.pattern() {
            Some(pattern) => rows.push(PatternRow { pattern, kind }),
            None => single.extend(each_once(kind.all().map(Warning::to_string))),
        }
    }
    let columns = [
        Column::text("Warning", |row: &PatternRow| row.pattern.clone()),
        Column::text("Devices (…)", |row: &PatternRow| row.kind.particulars()),
        Column::number("Count", |row: &PatternRow| {
            Cell::Count(row.kind.all().count() as u64)
        }),
    ];
    (Table::new(title, columns, rows), single)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixbench_method::record::CoreLoad;

    fn disturbed(dut: &str) -> Warning {
        Warning::DisturbedTrials {
            dut: dut.to_owned(),
        }
    }

    fn busy(dut: &str, core: u32) -> Warning {
        let load = CoreLoad {
            core,
            busy_percent: 97,
            by: "make".to_owned(),
        };
        Warning::BusyBeforeSetUp {
            dut: dut.to_owned(),
            load,
        }
    }

    fn text(text: &str) -> Warning {
        Warning::Text {
            text: text.to_owned(),
        }
    }

    #[test]
    fn warnings_of_a_kind_are_a_row_and_others_stay() {
        let warnings = [
            disturbed("tayga"),
            text("the machine is virtual"),
            disturbed("jool"),
            busy("jool", 2),
            disturbed("tayga"),
        ];
        let (table, single) = by_kind("", &warnings);
        let pattern = disturbed("…").to_string();
        assert_eq!(table.rows, [[pattern.as_str(), "tayga, jool", "3"]]);
        assert_eq!(
            single,
            [
                "the machine is virtual".to_owned(),
                busy("jool", 2).to_string()
            ]
        );
    }

    #[test]
    fn the_loads_of_several_devices_are_a_row_with_each_load() {
        let (table, single) = by_kind("", &[busy("tayga", 1), busy("jool", 2)]);
        assert_eq!(
            table.rows[0][1],
            "tayga (core 1: 97 %, make), jool (core 2: 97 %, make)"
        );
        assert!(single.is_empty());
    }

    #[test]
    fn in_brief_a_kind_is_one_sentence() {
        let warnings = [
            disturbed("tayga"),
            busy("tayga", 1),
            disturbed("jool"),
            disturbed("jool"),
            busy("jool", 2),
            text("old"),
            text("old"),
        ];
        let told: Vec<String> = WarningKind::all_of(&warnings)
            .iter()
            .map(|kind| kind.in_brief(Warning::to_string))
            .collect();
        let loads = format!("{} (and 1 more of this kind)", busy("tayga", 1));
        assert_eq!(
            told,
            [
                disturbed("tayga, jool").to_string(),
                loads,
                "old".to_owned()
            ]
        );
    }

    #[test]
    fn different_texts_are_not_taken_for_each_other() {
        let (table, single) = by_kind(
            "",
            &[
                text("no lab on this machine"),
                text("no lab on that machine"),
            ],
        );
        assert!(table.rows.is_empty() && single.len() == 2);
    }
}
