//! The conditions common to all trials of a test besides the load: flows that start one after the other, and connections that are opened beforehand.

use crate::measures::TestContext;
use crate::plan::Flows;
use crate::trial::{PhaseOne, TrialKind, TrialSpec};

/// Conditions that are the same for all trials of a test.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::measures) struct Conditions {
    flows: Option<Flows>,
    phase_one: Option<PhaseOne>,
}

impl Conditions {
    pub(in crate::measures) fn new(test: &TestContext<'_>) -> Self {
        Self {
            flows: test.traffic.flows,
            phase_one: test.stateful.map(|stateful| stateful.phase_one()),
        }
    }

    /// Returns the trial as it is to be performed: with its flows ramped up, and its connections opened beforehand.
    pub(in crate::measures) fn apply(self, spec: TrialSpec) -> TrialSpec {
        TrialSpec {
            phase_one: self.phase_one,
            ..self.ramped(spec)
        }
    }

    /// Returns the trial with its flows started one after the other, longer by the time that takes (RFC 8219 section 10.2.2).
    fn ramped(self, spec: TrialSpec) -> TrialSpec {
        match self.flows {
            Some(Flows { count, step_ns }) if step_ns > 0 && spec.kind == TrialKind::Constant => {
                TrialSpec {
                    kind: TrialKind::Ramp {
                        flows: count,
                        step_ns,
                    },
                    duration_ns: spec.duration_ns + u64::from(count.saturating_sub(1)) * step_ns,
                    ..spec
                }
            }
            _ => spec,
        }
    }
}
