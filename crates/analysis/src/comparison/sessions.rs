//! Runs of A and of B, one after the other: between them the level of the machine may have changed, by a reboot, another frequency or other neighbours, and the
//! repetitions of a side cannot show it, because all of them were made on one side of the change. So a difference stands only as far as a reference
//! device, which was measured on both sides, rules out that the machine is its cause; or, without one, if it is larger than sessions of one machine differ.

use super::{Compared, Comparison, ComparisonFinding, ComparisonRow, RunOrder, compare};
use schemars::JsonSchema;
use serde::Serialize;
use sixbench_stats::Shift;

/// The share by which the level of one machine is taken to differ between two sessions, where no reference device shows it. A level that changed by this much
/// made the comparison call a device different from itself in more than half of the pairs of runs.
pub const SESSIONS_DIFFER: f64 = 0.05;

/// What a device that was measured on both sides, and did not change itself, shows of the machine.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Reference {
    /// The name of its test.
    pub test: String,
    /// The ratio of B to A with its 95 % interval; of several rows the one that is furthest from 1. `None` if its repetitions are too few, or one side
    /// has none.
    pub shift: Option<Shift>,
    /// True if it differs between A and B by more than chance explains: the machine changed.
    pub is_changed: bool,
}

impl Reference {
    /// Compares the tests of a reference device, which both sides must contain alone.
    pub fn compare(test: &str, a: &Compared<'_>, b: &Compared<'_>) -> Self {
        // The machine is what is asked for, so no drift of it is allowed for.
        let compared = compare(a, b, 0.0, RunOrder::InTurns);
        let rows: Vec<&ComparisonRow> = compared.iter().flat_map(Comparison::rows).collect();
        let shifts = rows.iter().filter_map(|row| row.shift);
        let distance = |shift: &Shift| shift.ratio.ln().abs();
        Self {
            test: test.to_owned(),
            shift: shifts.max_by(|a, b| distance(a).total_cmp(&distance(b))),
            is_changed: rows.iter().any(|row| is_shown(row.finding)),
        }
    }

    /// Returns whether a difference of this row is larger than what the reference leaves open, whichever end of either interval is true.
    fn is_exceeded_by(&self, row: &ComparisonRow) -> bool {
        match (row.shift, self.shift) {
            (Some(row), Some(machine)) => row.high < machine.low || row.low > machine.high,
            // Values with zeroes have no ratio.
            (None, Some(_)) => true,
            (_, None) => false,
        }
    }
}

fn is_shown(finding: ComparisonFinding) -> bool {
    matches!(
        finding,
        ComparisonFinding::Better | ComparisonFinding::Worse
    )
}

impl Comparison<'_> {
    /// Takes back what a change of the machine between A and B may explain, where these were not measured in turns: as much as the reference device leaves
    /// open, or, without one, [`SESSIONS_DIFFER`].
    #[must_use]
    pub fn between_sessions(mut self, reference: Option<Reference>) -> Self {
        for row in self.points.iter_mut().flat_map(|point| &mut point.rows) {
            row.finding = weighed(row, reference.as_ref());
        }
        self.reference = reference;
        self
    }
}

fn weighed(row: &ComparisonRow, reference: Option<&Reference>) -> ComparisonFinding {
    let reference = reference.filter(|reference| reference.shift.is_some());
    match (row.finding, reference) {
        // A change of the machine may hide a difference as well as make one.
        (ComparisonFinding::NoDifferenceShown, Some(reference)) if reference.is_changed => {
            ComparisonFinding::MachineChanged
        }
        (finding, _) if !is_shown(finding) => finding,
        (finding, None) if is_beyond_sessions(row) => finding,
        (_, None) => ComparisonFinding::NotInTurns,
        (_, Some(reference)) if reference.is_changed => ComparisonFinding::MachineChanged,
        (_, Some(reference)) if !reference.is_exceeded_by(row) => {
            ComparisonFinding::WithinReference
        }
        (finding, Some(_)) => finding,
    }
}

/// Returns whether the whole interval of this row is beyond what sessions of one machine differ by. Values with zeroes have no ratio, and a machine that is a little
/// slower may have lost the first frames.
fn is_beyond_sessions(row: &ComparisonRow) -> bool {
    let least = 1.0 - SESSIONS_DIFFER;
    row.shift
        .is_some_and(|shift| shift.high < least || shift.low > 1.0 / least)
}
