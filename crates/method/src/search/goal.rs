//! Search goals of draft-ietf-bmwg-mlrsearch, and the shorter targets on the way to each. Decides nothing.

use crate::terms::LossRatio;

/// The goal of a search, in the draft's words: a loss ratio, and how sure to be of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Goal {
    /// Goal loss ratio: a trial is high-loss when it lost more, 0..=1.
    pub loss_ratio: LossRatio,
    /// Goal initial trial duration, nanoseconds: how long the first, cheap trials are.
    pub initial_duration_ns: u64,
    /// Goal final trial duration, nanoseconds: shorter trials do not make a lower bound.
    pub final_duration_ns: u64,
    /// Goal duration sum, nanoseconds: full trials at one load add up to this before the load is surely classified.
    pub duration_sum_ns: u64,
    /// Goal exceed ratio, 0..1: the share of the duration sum that may be high-loss at a lower bound.
    pub exceed_ratio: f64,
    /// Goal width: how far apart the relevant bounds may end, as a share of the upper one.
    pub width: f64,
}

impl Goal {
    /// The throughput of RFC 2544 section 26.1 in trials of `duration_ns` nanoseconds: a single lossy trial condemns a load.
    pub fn rfc2544(width: f64, duration_ns: u64) -> Self {
        Self {
            loss_ratio: LossRatio::ZERO,
            initial_duration_ns: initial(duration_ns),
            final_duration_ns: duration_ns,
            duration_sum_ns: duration_ns,
            exceed_ratio: 0.0,
            width,
        }
    }

    /// Like the binary search with loss verification of ETSI GS NFV-TST 009: two trials' worth of `duration_ns` nanoseconds,
    /// half of which may lose more than `loss_ratio`. So a rare pause of a software DUT does not decide.
    pub fn tst009(loss_ratio: LossRatio, width: f64, duration_ns: u64) -> Self {
        let base = Self::rfc2544(width, duration_ns);
        Self { loss_ratio, duration_sum_ns: 2 * duration_ns, exceed_ratio: 0.5, ..base }
    }

    /// The targets on the way to this goal, this goal last: each with longer trials and half the width of the one before.
    pub(super) fn targets(&self) -> Vec<Target> {
        let (first, last) = (self.initial_duration_ns, self.final_duration_ns);
        let mut durations = Vec::new();
        if first < last {
            durations.push(first);
        }
        // A stage between is worth its trials only where there is room for it.
        if first < last / 4 {
            durations.push((first as f64 * last as f64).sqrt() as u64);
        }
        let stages = durations.len() as i32;
        let preceding = durations.into_iter().zip(0..).map(|(duration_ns, stage)| Target {
            duration_ns,
            duration_sum_ns: duration_ns,
            exceed_ratio: self.exceed_ratio,
            width: self.width * 2f64.powi(stages - stage),
        });
        preceding.chain([self.last_target()]).collect()
    }

    pub(super) fn last_target(&self) -> Target {
        Target {
            duration_ns: self.final_duration_ns,
            duration_sum_ns: self.duration_sum_ns,
            exceed_ratio: self.exceed_ratio,
            width: self.width,
        }
    }
}

/// 1 s for the 60 s of RFC 2544 section 24, a sixtieth of longer trials, and never longer than the trials themselves.
fn initial(duration_ns: u64) -> u64 {
    (duration_ns / 60).max(1_000_000_000).min(duration_ns)
}

/// A step towards a goal: what a load has to show at this stage. Durations in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Target {
    /// Trials at least this long are full.
    pub duration_ns: u64,
    /// The sum of the durations of full trials after which a load is surely classified, nanoseconds.
    pub duration_sum_ns: u64,
    /// The share of the duration sum that may be high-loss at a lower bound, 0..1.
    pub exceed_ratio: f64,
    /// The largest distance between the bounds at the end of this stage, as a share of the upper one.
    pub width: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trials_grow_from_one_second_to_sixty_while_the_width_halves() {
        let targets = Goal::rfc2544(0.001, 60_000_000_000).targets();
        let durations: Vec<u64> = targets.iter().map(|t| t.duration_ns / 1_000_000_000).collect();
        assert_eq!(durations, [1, 7, 60]);
        assert_eq!(targets.iter().map(|t| t.width).collect::<Vec<_>>(), [0.004, 0.002, 0.001]);
    }

    #[test]
    fn short_trials_have_no_stage_before_them() {
        assert_eq!(Goal::rfc2544(0.001, 500_000_000).targets().len(), 1);
        assert_eq!(Goal::rfc2544(0.001, 2_000_000_000).targets().len(), 2);
    }
}
