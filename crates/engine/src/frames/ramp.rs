//! The ramp before a trial: test frames at a load that rises to that of the trial, so that a device knows the flows of these frames when the trial begins.
//!
//! A ramp has tasks, numbers and counts of its own, and no result of the trial contains any of its frames; one that comes back too late is a foreign frame in
//! the trial. Its frames have the same ports and addresses, in the same order, as the first frames of the trial, and are verified like them.

use super::footprint::QueuedTraffic;
use super::tasks::TrialPhase;
use super::tester::FrameTester;
use crate::error::MeasureError;
use crate::memory;
use sixbench_method::terms::Direction;
use sixbench_method::trial::{DirectionResult, RampCounts, TrialKind, TrialResult, TrialSpec};
use std::num::NonZeroU32;

/// The steps in which the load rises.
const STEPS: u32 = 20;
/// The longest wait for the residual frames of a ramp, nanoseconds: a device must not forget the flows meanwhile.
const RESIDUAL_NS: u64 = 100_000_000;

/// A ramp whose trial has not yet begun.
pub(crate) struct FinishedRamp {
    /// The trial that it is for.
    of: TrialSpec,
    duration_ns: u64,
    /// The time at which it ended by its schedule, in nanoseconds of the clock.
    ended_ns: u64,
    directions: Vec<DirectionResult>,
}

impl FrameTester {
    /// Returns whether the profile has a ramp.
    pub fn has_ramp(&self) -> bool {
        self.profile.ramp_ns.is_some()
    }

    /// Sends the ramp of a trial, if the profile has one and the trial holds its load: bursts, resets, drops of the load and phases of connections have no
    /// ramp. The next trial is the one that it belongs to. Returns the number of frames that did not come back right and in time.
    ///
    /// # Errors
    /// Those of a trial.
    pub fn ramp(&mut self, spec: &TrialSpec) -> Result<u64, MeasureError> {
        let Some(duration_ns) = self.profile.ramp_ns.filter(|_| has_ramp(spec)) else {
            return Ok(0);
        };
        let rising = TrialSpec {
            kind: TrialKind::Ramp {
                flows: STEPS,
                step_ns: duration_ns / u64::from(STEPS),
            },
            tagging: None,
            duration_ns,
            ..*spec
        };
        let queues = self.queue_count();
        memory::ensure(
            &rising,
            &QueuedTraffic {
                profile: &self.profile,
                queues,
            },
        )?;
        let phase = self.whole(&rising, None);
        let phase = TrialPhase {
            residual_ns: phase.residual_ns.min(RESIDUAL_NS),
            burst: NonZeroU32::MIN,
            ..phase
        };
        let result = self.exchange(&phase)?;
        let not_received = result.not_received();
        self.ramped = Some(FinishedRamp {
            of: *spec,
            duration_ns,
            ended_ns: self.began_ns.unwrap_or_default() + duration_ns,
            directions: result.directions,
        });
        Ok(not_received)
    }

    /// Performs a trial after its ramp, which is sent first unless it was.
    pub(crate) fn exchange_after_ramp(
        &mut self,
        spec: &TrialSpec,
    ) -> Result<TrialResult, MeasureError> {
        if self.ramped.as_ref().is_none_or(|ramp| ramp.of != *spec) {
            self.ramp(spec)?;
        }
        let ramp = self.ramped.take();
        let mut result = self.exchange(&self.whole(spec, None))?;
        if let Some(ramp) = ramp {
            let pause_ns = self
                .began_ns
                .unwrap_or_default()
                .saturating_sub(ramp.ended_ns);
            for direction in &mut result.directions {
                direction.ramp = ramp.counts(direction.direction, pause_ns);
            }
        }
        Ok(result)
    }
}

/// Returns whether a ramp precedes a trial of this kind.
fn has_ramp(spec: &TrialSpec) -> bool {
    spec.kind == TrialKind::Constant && spec.opens().is_none()
}

impl FinishedRamp {
    /// Returns the counts of a direction.
    fn counts(&self, direction: Direction, pause_ns: u64) -> Option<RampCounts> {
        let of = self
            .directions
            .iter()
            .find(|result| result.direction == direction)?;
        Some(RampCounts {
            duration_ns: self.duration_ns,
            pause_ns,
            offered: of.offered,
            received: of.received,
            late: of.late,
            mistranslated: of.mistranslated,
            corrupt: of.corrupt,
            duplicate: of.duplicate,
            reordered: of.reordered,
        })
    }
}
