//! What speaks against planning with the numbers of a run.

use super::TestedDevice;
use crate::trust::{Trust, TrustLevel};
use sixbench_method::measures::Noun;
use sixbench_method::record::{Facts, LinkKind, TrialRecord};
use sixbench_method::terms::FrameSize;
use std::collections::{BTreeMap, BTreeSet};

/// The least duration of the trials of numbers to plan with, in nanoseconds: that of the profile `draft`.
const LEAST_TRIAL_NS: u64 = 10_000_000_000;

/// How the numbers of a run came about, as far as it decides whether a network may be planned with them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlanningCaveats {
    /// How far the figures of the run may be trusted; `None` where nothing was measured.
    pub trust: Option<Trust>,
    /// The duration of the trials that decided on a rate of frames, in nanoseconds: the shortest among the points of the gateways, `None` without such a
    /// trial.
    pub shortest_trial_ns: Option<u64>,
    /// The kinds of links between the tester and the gateways.
    pub links: BTreeSet<LinkKind>,
}

/// A reason not to plan with the numbers of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanningCaveat {
    /// Trust in the figures of the run is low.
    LowTrust,
    /// Trials lasted only so many nanoseconds.
    ShortTrials(u64),
    /// Frames passed links that a kernel made, or shared memory, and no wire.
    VirtualLinks,
}

impl PlanningCaveats {
    pub(super) fn find(
        devices: &[TestedDevice<'_>],
        records: &[TrialRecord],
        facts: &Facts,
        trust: Option<Trust>,
    ) -> Self {
        Self {
            trust,
            shortest_trial_ns: deciding_trial_ns(devices, records),
            links: devices
                .iter()
                .filter_map(|device| facts.duts.get(device.dut))
                .map(|dut| dut.link_kind())
                .collect(),
        }
    }

    /// Returns each reason not to plan with the numbers; none if they are fit for it.
    pub fn reasons(&self) -> Vec<PlanningCaveat> {
        let is_low = self
            .trust
            .as_ref()
            .is_some_and(|trust| trust.level == TrustLevel::Low);
        let short = self
            .shortest_trial_ns
            .filter(|duration| *duration < LEAST_TRIAL_NS);
        let are_virtual =
            self.links.contains(&LinkKind::Virtual) || self.links.contains(&LinkKind::SharedMemory);
        let low = is_low.then_some(PlanningCaveat::LowTrust);
        let links = are_virtual.then_some(PlanningCaveat::VirtualLinks);
        low.into_iter()
            .chain(short.map(PlanningCaveat::ShortTrials))
            .chain(links)
            .collect()
    }
}

/// Returns the shortest duration among the points of the longest trial of each. A search may begin with short trials, but it ends with those of full length.
/// How long a trial of phase 1 lasts follows from the number of connections and says nothing of its quality.
fn deciding_trial_ns(devices: &[TestedDevice<'_>], records: &[TrialRecord]) -> Option<u64> {
    let tests: BTreeSet<&str> = devices
        .iter()
        .flat_map(TestedDevice::tests)
        .filter(|test| test.measure.family().noun() == Noun::Frames)
        .map(|test| test.name.as_str())
        .collect();
    let mut longest: BTreeMap<(&str, FrameSize), u64> = BTreeMap::new();
    for record in records {
        let test = record.point.test.as_str();
        if tests.contains(test) {
            let of_point = longest.entry((test, record.point.frame_size)).or_default();
            *of_point = record.result.spec.duration_ns.max(*of_point);
        }
    }
    longest.into_values().min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn low_trust_short_trials_and_virtual_links_each_speak_against_planning() {
        let trust = |level| {
            Some(Trust {
                level,
                reasons: Vec::new(),
            })
        };
        let of = |level, shortest_trial_ns, link| {
            let caveats = PlanningCaveats {
                trust: trust(level),
                shortest_trial_ns: Some(shortest_trial_ns),
                links: [link].into(),
            };
            caveats.reasons()
        };
        let (second, wires) = (1_000_000_000, LinkKind::Interfaces);
        assert_eq!(of(TrustLevel::Fair, 10 * second, wires), []);
        assert_eq!(
            of(TrustLevel::Low, 10 * second, wires),
            [PlanningCaveat::LowTrust]
        );
        assert_eq!(
            of(TrustLevel::High, second, wires),
            [PlanningCaveat::ShortTrials(second)]
        );
        assert_eq!(
            of(TrustLevel::High, 60 * second, LinkKind::SharedMemory),
            [PlanningCaveat::VirtualLinks]
        );
        assert_eq!(of(TrustLevel::Low, second, LinkKind::Virtual).len(), 3);
    }
}
