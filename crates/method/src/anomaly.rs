//! The frames of a run that were neither received as they were sent nor simply lost: how many, from which device, in which trials. A device that
//! sends every frame twice loses none, so nothing but these counts tells it.

use crate::plan::{Plan, Test};
use crate::record::{TrialRecord, WarningLevel};
use crate::terms::{FrameSize, LossRatio};
use crate::trial::{AnomalyKind, Verdict};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

/// The share of anomalous frames above which the claim "without loss" alone would mislead.
const NOTABLE_SHARE: f64 = 0.001;

/// The frames of one kind in the trials of one test.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Anomaly {
    /// The kind of the frames.
    pub kind: AnomalyKind,
    /// The name of the test.
    pub test: String,
    /// The name of the recipe of its device.
    pub device: String,
    /// The number of these frames in all trials of the test, both directions.
    pub frames: u64,
    /// The number of the frames that they are a share of, in the same trials: those received, or those offered, by the kind.
    pub of: u64,
    /// The number of trials with such frames.
    pub trials: u32,
    /// The number of all trials of the test.
    pub all_trials: u32,
    /// The first trial with such frames.
    pub first: TrialPlace,
}

/// The place of a trial in a test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TrialPlace {
    /// The frame size, octets.
    pub frame_size: FrameSize,
    /// The number of the repetition, from 1.
    pub repetition: u32,
    /// The number of the trial in the repetition, from 1.
    pub trial: u32,
}

impl Anomaly {
    /// Returns the number as a share of the frames received or offered, by the kind; `None` if there were none of those.
    pub fn share(&self) -> Option<f64> {
        share(self.frames, self.of)
    }

    /// Returns how important it is. A handful among millions does not change what a figure means.
    pub fn level(&self) -> WarningLevel {
        if self.share().is_none_or(is_notable) {
            WarningLevel::Doubt
        } else {
            WarningLevel::Note
        }
    }
}

/// The frames of one kind in some trials.
#[derive(Clone, Debug, PartialEq)]
pub struct AnomalyShare {
    /// The kind of the frames.
    pub kind: AnomalyKind,
    /// The number of these frames.
    pub frames: u64,
    /// Their share of the frames received or offered, by the kind; `None` if there were none of those.
    pub share: Option<f64>,
}

/// Returns the anomalies of a run: those that cast doubt on a figure first, those of one level in the order of the plan.
pub fn anomalies(plan: &Plan, records: &[TrialRecord]) -> Vec<Anomaly> {
    let places: HashMap<&str, usize> = plan
        .tests
        .iter()
        .enumerate()
        .map(|(place, test)| (test.name.as_str(), place))
        .collect();
    let mut sums = vec![[const { KindSums::NONE }; AnomalyKind::ALL.len()]; plan.tests.len()];
    for record in records {
        let Some(&place) = places.get(record.point.test.as_str()) else {
            continue;
        };
        AnomalyKind::ALL
            .iter()
            .zip(&mut sums[place])
            .for_each(|(kind, sums)| sums.add(*kind, record));
    }
    let of_test = |(test, sums): (&Test, [KindSums; AnomalyKind::ALL.len()])| {
        let kinds = AnomalyKind::ALL.iter().zip(sums);
        kinds
            .filter_map(|(kind, sums)| sums.anomaly(*kind, test))
            .collect::<Vec<_>>()
    };
    let mut found: Vec<Anomaly> = plan.tests.iter().zip(sums).flat_map(of_test).collect();
    found.sort_by_key(|anomaly| std::cmp::Reverse(anomaly.level()));
    found
}

/// Returns the number of frames of each kind in these trials, without those that are zero.
pub fn counts<'r>(
    records: impl Iterator<Item = &'r TrialRecord> + Clone,
) -> BTreeMap<AnomalyKind, u64> {
    let all = |kind: AnomalyKind| {
        records
            .clone()
            .map(|record| kind.in_trial(&record.result))
            .fold(0, u64::saturating_add)
    };
    AnomalyKind::ALL
        .iter()
        .map(|kind| (*kind, all(*kind)))
        .filter(|(_, frames)| *frames > 0)
        .collect()
}

/// Returns the kinds of frames of which trials that passed for this loss goal had so many that the goal alone does not describe what the device did.
pub fn beside_the_goal(records: &[&TrialRecord], goal: LossRatio) -> Vec<AnomalyShare> {
    let passed = records
        .iter()
        .copied()
        .filter(|record| record.result.verdict(goal) == Verdict::Passed);
    shares(passed)
        .into_iter()
        .filter(|of| of.share.is_none_or(is_notable) && !of.kind.is_plain_loss())
        .collect()
}

/// Returns the frames of each kind in these trials, without the kinds of which there are none.
pub fn shares<'r>(records: impl Iterator<Item = &'r TrialRecord>) -> Vec<AnomalyShare> {
    let mut sums = [const { KindSums::NONE }; AnomalyKind::ALL.len()];
    for record in records {
        AnomalyKind::ALL
            .iter()
            .zip(&mut sums)
            .for_each(|(kind, sums)| sums.add(*kind, record));
    }
    let found = AnomalyKind::ALL
        .iter()
        .zip(sums)
        .filter(|(_, sums)| sums.frames > 0);
    found
        .map(|(kind, sums)| AnomalyShare {
            kind: *kind,
            frames: sums.frames,
            share: share(sums.frames, sums.of),
        })
        .collect()
}

/// The sums of one kind over trials.
#[derive(Clone)]
struct KindSums {
    frames: u64,
    of: u64,
    trials: u32,
    all_trials: u32,
    first: Option<TrialPlace>,
}

impl KindSums {
    const NONE: Self = Self {
        frames: 0,
        of: 0,
        trials: 0,
        all_trials: 0,
        first: None,
    };

    fn add(&mut self, kind: AnomalyKind, record: &TrialRecord) {
        let frames = kind.in_trial(&record.result);
        self.frames = self.frames.saturating_add(frames);
        self.of = self.of.saturating_add(kind.base_in_trial(&record.result));
        self.trials += u32::from(frames > 0);
        self.all_trials += 1;
        if frames > 0 && self.first.is_none() {
            let &TrialRecord {
                repetition, trial, ..
            } = record;
            self.first = Some(TrialPlace {
                frame_size: record.point.frame_size,
                repetition,
                trial,
            });
        }
    }

    fn anomaly(self, kind: AnomalyKind, test: &Test) -> Option<Anomaly> {
        let Self {
            frames,
            of,
            trials,
            all_trials,
            first,
        } = self;
        Some(Anomaly {
            kind,
            test: test.name.clone(),
            device: test.dut.clone(),
            frames,
            of,
            trials,
            all_trials,
            first: first?,
        })
    }
}

fn share(frames: u64, of: u64) -> Option<f64> {
    (of > 0).then(|| frames as f64 / of as f64)
}

fn is_notable(share: f64) -> bool {
    share > NOTABLE_SHARE
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;
    use crate::plan::Point;
    use crate::record::FORMAT;
    use crate::search::SearchMethod;
    use crate::terms::{Direction, FrameRate};
    use crate::trial::{DirectionResult, ShareBase, TrialResult, TrialSpec};

    fn trial(number: u32, received: u64, kind: AnomalyKind, frames: u64) -> TrialRecord {
        let mut forward = DirectionResult::counted(Direction::Forward, 1000, received);
        *kind.count_mut(&mut forward) = frames;
        let result = TrialResult::new(
            TrialSpec::constant(FrameRate(1000), 1_000_000_000),
            vec![forward],
            vec![],
        );
        let (point, started) = (
            Point {
                test: "nat".to_owned(),
                frame_size: FrameSize(84),
            },
            String::new(),
        );
        TrialRecord {
            format: FORMAT,
            point,
            repetition: 1,
            trial: number,
            load: None,
            started,
            result,
            watch: None,
        }
    }

    fn plan() -> Plan {
        Plan {
            tests: vec![Test::new("nat", "tayga-siit")],
            ..fixtures::plan(SearchMethod::Binary, &[0.0])
        }
    }

    #[test]
    fn every_kind_is_summed_over_the_trials_of_a_test_and_knows_its_first() {
        for kind in AnomalyKind::ALL {
            let records = [
                trial(1, 1000, *kind, 0),
                trial(2, 1000, *kind, 400),
                trial(3, 500, *kind, 500),
            ];
            let found = anomalies(&plan(), &records);
            let [one] = &found[..] else {
                panic!("{found:?}")
            };
            assert_eq!(
                (
                    one.kind,
                    one.device.as_str(),
                    one.frames,
                    one.trials,
                    one.all_trials
                ),
                (*kind, "tayga-siit", 900, 2, 3)
            );
            assert_eq!(
                one.first,
                TrialPlace {
                    frame_size: FrameSize(84),
                    repetition: 1,
                    trial: 2
                }
            );
            assert_eq!(
                one.of,
                if kind.base() == ShareBase::Received {
                    2500
                } else {
                    3000
                }
            );
        }
        assert!(anomalies(&plan(), &[trial(1, 1000, AnomalyKind::Late, 0)]).is_empty());
    }

    #[test]
    fn a_device_that_doubles_frames_does_more_than_meet_its_goal_and_a_stray_frame_is_a_note() {
        let beside = |kind, frames| {
            let (passed, lost) = (trial(1, 1000, kind, frames), trial(2, 10, kind, 1000));
            beside_the_goal(&[&passed, &lost], LossRatio::ZERO)
        };
        let found = beside(AnomalyKind::Duplicate, 1000);
        assert_eq!(
            found,
            [AnomalyShare {
                kind: AnomalyKind::Duplicate,
                frames: 1000,
                share: Some(1.0)
            }]
        );
        assert!(
            beside(AnomalyKind::Foreign, 1).is_empty(),
            "in one of a thousand; what losing trials had is no part of it"
        );
        assert!(beside(AnomalyKind::Refused, 500).is_empty(), "that is loss");
        let level =
            |frames| anomalies(&plan(), &[trial(1, 1000, AnomalyKind::Foreign, frames)])[0].level();
        assert_eq!([1, 2].map(level), [WarningLevel::Note, WarningLevel::Doubt]);
    }
}
