//! Results on the connections of a point's trials (RFC 9693): whether the DUT's count agreed with the tester's, where connections were lost, how they
//! were mapped, and how many there were over time.

use super::PointDigest;
use crate::digest::Digest;
use sixbench_method::lists::by_key;
use sixbench_method::plan::{Stateful, Test};
use sixbench_method::record::TrialRecord;
use sixbench_method::terms::{Direction, FrameRate, LossRatio};
use sixbench_method::trial::{Connections, Fault, Mapping, TrialKind, Verdict};
use sixbench_stats::Summary;

/// The DUT's count compared with the tester's, in trials whose phase 1 was complete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Agreement {
    /// Trials in which both counts were the same, after phase 1 and at the end.
    pub(crate) agreed: usize,
    /// Trials in which the counts differed.
    pub(crate) differed: usize,
    /// Trials in which the DUT's count was not available.
    pub(crate) uncounted: usize,
}

impl Agreement {
    pub(crate) fn describe(self) -> String {
        match self {
            Self {
                agreed: 0,
                differed: 0,
                ..
            } => "no count".to_owned(),
            Self {
                agreed,
                differed: 0,
                ..
            } => format!("N of N, {agreed}×"),
            Self {
                agreed: 0,
                differed,
                ..
            } => format!("other, {differed}×"),
            Self {
                agreed, differed, ..
            } => format!("N of N, {agreed}×; other, {differed}×"),
        }
    }
}

impl std::ops::Add for Agreement {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            agreed: self.agreed + other.agreed,
            differed: self.differed + other.differed,
            uncounted: self.uncounted + other.uncounted,
        }
    }
}

/// The phase or step in which a trial lost connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LostIn {
    /// Frames of phase 1 that opened no connection.
    PhaseOne,
    /// Connections without a working reverse direction.
    Validation,
}

pub(crate) struct ConnectionLoss<'a> {
    pub(crate) record: &'a TrialRecord,
    pub(crate) connections: &'a Connections,
    pub(crate) lost_in: LostIn,
    pub(crate) lost: u64,
}

impl<'a> PointDigest<'a> {
    fn opened(&self) -> impl Iterator<Item = (&'a TrialRecord, &'a Connections)> + '_ {
        self.records
            .iter()
            .filter_map(|r| Some((*r, r.result.phase_one_result()?)))
    }

    pub(crate) fn agreement(&self) -> Agreement {
        let mut agreement = Agreement::default();
        for (record, connections) in self.opened().filter(|(_, c)| c.lost() == 0) {
            // Losses in the validation count as a difference even without a fault of the trial, as when a full table makes room.
            let has_fault = record
                .result
                .faults
                .iter()
                .any(|f| matches!(f, Fault::ConnectionsDiffer { .. }));
            let is_other = has_fault || !connections.faults().is_empty();
            match connections.opened_by_the_dut() {
                _ if is_other => agreement.differed += 1,
                Some(_) => agreement.agreed += 1,
                None => agreement.uncounted += 1,
            }
        }
        agreement
    }

    /// Returns the number of losing trials in which all frames of phase 1 arrived, which would have passed without the validation.
    pub(crate) fn lost_in_validation_alone(&self, goal: LossRatio) -> usize {
        let is_validated =
            |r: &TrialRecord| matches!(r.result.spec.kind, TrialKind::Establish { .. });
        let losing = self
            .opened()
            .filter(|(r, c)| is_validated(r) && c.lost() == 0);
        losing
            .filter(|(r, _)| r.result.verdict(goal) == Verdict::Lost)
            .count()
    }

    /// Returns whether trials opened more connections than the Responder keeps, so that the validation did not cover all.
    pub(crate) fn is_validated_in_part(&self) -> bool {
        let validated = self
            .opened()
            .filter(|(r, _)| matches!(r.result.spec.kind, TrialKind::Establish { .. }));
        validated
            .into_iter()
            .any(|(_, c)| c.state_table < c.offered)
    }

    /// Returns the trial at the lowest rate that lost identified connections. Losses that the tester's own faults may explain do not count.
    pub(crate) fn losing_connections(&self, goal: LossRatio) -> Option<ConnectionLoss<'a>> {
        let is_loss = |r: &TrialRecord| match r.result.verdict(goal) {
            Verdict::Lost => true,
            Verdict::Invalid => r
                .result
                .faults
                .iter()
                .any(|f| matches!(f, Fault::PhaseOneIncomplete { .. })),
            Verdict::Passed => false,
        };
        let named = self
            .opened()
            .filter(|(r, c)| is_loss(r) && !c.examples.is_empty());
        let losing = named.filter_map(|(record, connections)| {
            let (lost_in, lost) = match (connections.lost(), record.result.spec.kind) {
                (0, TrialKind::Establish { .. }) => {
                    (LostIn::Validation, record.result.not_received())
                }
                (0, _) => return None,
                (lost, _) => (LostIn::PhaseOne, lost),
            };
            Some(ConnectionLoss {
                record,
                connections,
                lost_in,
                lost,
            })
        });
        losing.min_by_key(|losing| losing.connections.rate)
    }

    /// Returns whether the result is the establishment rate of RFC 9693.
    pub(crate) fn is_of_establishment(&self) -> bool {
        self.is_searched() && self.test.measure.family().ends_with_phase_one()
    }

    /// Returns the trial whose connections are shown over time: the passing one at the highest load or, if the number of connections is searched for,
    /// with the most connections.
    pub(crate) fn trial_over_time(&self, goal: LossRatio) -> Option<&'a TrialRecord> {
        // TCP connections have no phase 1 with which the entries could be compared.
        let is_watched = |r: &&&TrialRecord| {
            r.result.phase_one_result().is_some()
                && r.watch.as_ref().is_some_and(|w| w.connections.len() > 1)
        };
        let passing = self
            .records
            .iter()
            .filter(is_watched)
            .filter(|r| r.result.verdict(goal) == Verdict::Passed);
        // Where the number is not searched for, it is the same in all trials.
        passing
            .max_by_key(|r| (r.result.spec.kind.connections(), r.result.spec.rate))
            .copied()
    }

    /// Returns a summary of the durations of the deletions, nanoseconds, over the valid trials without losses; `None` if there are none.
    pub(crate) fn deletions(&self) -> Option<Summary> {
        let times = self
            .opened()
            .filter(|(r, c)| c.lost() == 0 && r.result.verdict(LossRatio(1.0)) != Verdict::Invalid);
        let times: Vec<f64> = times
            .filter_map(|(_, c)| c.torn_down_ns)
            .map(|ns| ns as f64)
            .collect();
        Summary::of(&times)
    }
}

impl<'a> Digest<'a> {
    /// Returns one stateful test for each DUT that has any.
    pub(crate) fn stateful_duts(&self) -> Vec<&'a Test> {
        let stateful = self
            .input
            .plan
            .tests
            .iter()
            .filter(|t| t.stateful.is_some());
        by_key(stateful.map(|test| (&test.dut, test)))
            .into_iter()
            .map(|(_, tests)| tests[0])
            .collect()
    }

    fn opened_by(&self, dut: &str) -> impl Iterator<Item = (&'a TrialRecord, &'a Connections)> {
        let points = self.points.iter().filter(move |p| p.test.dut == dut);
        points.flat_map(|p| p.opened().collect::<Vec<_>>())
    }

    /// Returns the mapping of a DUT as seen by the trial with the most connections, with the collisions of all trials.
    pub(crate) fn mapping(&self, dut: &str) -> Option<Mapping> {
        let most = self
            .opened_by(dut)
            .map(|(_, c)| c.mapping)
            .max_by_key(|m| m.seen)
            .filter(|m| m.seen > 0)?;
        let collisions = self.opened_by(dut).map(|(_, c)| c.mapping.collisions).sum();
        Some(Mapping { collisions, ..most })
    }

    /// Returns the direction in which a DUT's connections are opened, according to its trials of connections; forward if it has none.
    pub(crate) fn opens(&self, dut: &str) -> Direction {
        let mut own = self
            .opened_by(dut)
            .filter(|(r, _)| r.result.spec.kind.connections().is_some());
        own.find_map(|(r, _)| Some(r.result.directions.first()?.direction))
            .unwrap_or(Direction::Forward)
    }

    /// Returns the establishment rate of a DUT, if the plan measured one: that for the same number of connections, else the lowest; and whether the
    /// true rate may be higher.
    pub(crate) fn establishment_rate(&self, dut: &str, connections: u64) -> Option<(f64, bool)> {
        let of_dut = self
            .points
            .iter()
            .filter(|p| p.is_of_establishment() && p.test.dut == dut);
        let found: Vec<(bool, f64, bool)> = of_dut
            .filter_map(|p| {
                let rated = p.rated().filter(|r| r.summary.median > 0.0)?;
                let is_same = p
                    .test
                    .stateful
                    .is_some_and(|s| s.connections == connections);
                Some((!is_same, rated.summary.median, rated.limits.is_median_open))
            })
            .collect();
        let best = found.into_iter().min_by(|a, b| {
            (a.0, a.1)
                .partial_cmp(&(b.0, b.1))
                .unwrap_or(std::cmp::Ordering::Equal)
        });
        best.map(|(_, rate, is_open)| (rate, is_open))
    }

    /// Returns R divided by the establishment rate, and whether the true ratio may be lower. `None` if R is searched for.
    pub(crate) fn safety(&self, test: &Test, stateful: &Stateful) -> Option<(f64, bool)> {
        let FrameRate(rate) = phase_1_rate(test, stateful)?;
        let (most, is_open) = self.establishment_rate(&test.dut, stateful.connections)?;
        Some((rate as f64 / most, is_open))
    }
}

/// Returns R if it is set rather than searched for.
pub(crate) fn phase_1_rate(test: &Test, stateful: &Stateful) -> Option<FrameRate> {
    (!test.measure.info().searches_phase_one).then_some(stateful.rate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agreement_is_told_in_few_words() {
        let of = |agreed, differed, uncounted| {
            Agreement {
                agreed,
                differed,
                uncounted,
            }
            .describe()
        };
        assert_eq!(of(0, 0, 7), "no count");
        assert_eq!(of(7, 0, 0), "N of N, 7×");
        assert_eq!(of(6, 1, 0), "N of N, 6×; other, 1×");
    }
}
