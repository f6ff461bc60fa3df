//! Search goals of RFC 9971, and the intermediate targets with shorter trials that lead to each. This module only describes them.

use super::certainty::Certainty;
use crate::terms::LossRatio;

/// The goal of a search in the terms of RFC 9971: a loss ratio, and the certainty required.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Goal {
    /// Goal loss ratio, 0..=1: a trial that lost more is high-loss.
    pub loss_ratio: LossRatio,
    /// Goal initial trial duration, nanoseconds: the duration of the first, short trials.
    pub initial_duration_ns: u64,
    /// Goal final trial duration, nanoseconds: shorter trials cannot establish a lower bound.
    pub final_duration_ns: u64,
    /// Goal duration sum and goal exceed ratio.
    pub certainty: Certainty,
    /// Goal width: the largest final distance between the relevant bounds, as a share of the upper one.
    pub width: f64,
}

impl Goal {
    /// Returns the goal for the throughput of RFC 2544 section 26.1 in trials of `duration_ns` nanoseconds: a single lossy trial rejects a load.
    pub fn rfc2544(width: f64, duration_ns: u64) -> Self {
        Self {
            loss_ratio: LossRatio::ZERO,
            initial_duration_ns: initial(duration_ns),
            final_duration_ns: duration_ns,
            certainty: Certainty::one_trial(duration_ns),
            width,
        }
    }

    /// Returns the targets that lead to this goal, the goal itself last: each has longer trials and half the width of the one before.
    pub(super) fn targets(&self) -> Vec<Target> {
        let (first, last) = (self.initial_duration_ns, self.final_duration_ns);
        let mut durations = Vec::new();
        if first < last {
            durations.push(first);
        }
        // An intermediate stage is worth its trials only if the two durations are far enough apart.
        if first < last / 4 {
            durations.push((first as f64 * last as f64).sqrt() as u64);
        }
        let stages = durations.len() as i32;
        let preceding = durations
            .into_iter()
            .zip(0..)
            .map(|(duration_ns, stage)| Target {
                duration_ns,
                certainty: Certainty {
                    duration_sum_ns: duration_ns,
                    ..self.certainty
                },
                width: self.width * 2f64.powi(stages - stage),
            });
        preceding.chain([self.last_target()]).collect()
    }

    pub(super) fn last_target(&self) -> Target {
        Target {
            duration_ns: self.final_duration_ns,
            certainty: self.certainty,
            width: self.width,
        }
    }
}

/// Returns 1 s for the 60 s of RFC 2544 section 24, a sixtieth of longer trials, and never more than the trials themselves last.
fn initial(duration_ns: u64) -> u64 {
    (duration_ns / 60).max(1_000_000_000).min(duration_ns)
}

/// A step towards a goal: the requirements on a load at this stage. Durations are in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Target {
    /// The shortest duration of a full trial.
    pub duration_ns: u64,
    /// The full trials that are certain to classify a load, and the share of them that may be high-loss at a lower bound.
    pub certainty: Certainty,
    /// The largest distance between the bounds at the end of this stage, as a share of the upper one.
    pub width: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trials_grow_from_one_second_to_sixty_while_the_width_halves() {
        let targets = Goal::rfc2544(0.001, 60_000_000_000).targets();
        let durations: Vec<u64> = targets
            .iter()
            .map(|t| t.duration_ns / 1_000_000_000)
            .collect();
        assert_eq!(durations, [1, 7, 60]);
        assert_eq!(
            targets.iter().map(|t| t.width).collect::<Vec<_>>(),
            [0.004, 0.002, 0.001]
        );
    }

    #[test]
    fn short_trials_have_no_stage_before_them() {
        assert_eq!(Goal::rfc2544(0.001, 500_000_000).targets().len(), 1);
        assert_eq!(Goal::rfc2544(0.001, 2_000_000_000).targets().len(), 2);
    }
}
