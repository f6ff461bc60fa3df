//! What every trial of a test has around its load: flows that start one after the other, connections that are opened before.

use crate::measures::TestContext;
use crate::plan::Flows;
use crate::trial::{PhaseOne, TrialKind, TrialSpec};

/// The same for all trials of a test.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::measures) struct Conditions {
    flows: Option<Flows>,
    phase_one: Option<PhaseOne>,
}

impl Conditions {
    pub(in crate::measures) fn of(test: &TestContext<'_>) -> Self {
        Self { flows: test.traffic.flows, phase_one: test.stateful.map(|stateful| stateful.phase_one()) }
    }

    /// The trial as it is to be performed: flows are ramped up, connections opened before.
    pub(in crate::measures) fn apply(self, spec: TrialSpec) -> TrialSpec {
        TrialSpec { phase_one: self.phase_one, ..self.ramped(spec) }
    }

    /// A trial whose flows start one after the other is longer by the time that takes (RFC 8219 section 10.2.2).
    fn ramped(self, spec: TrialSpec) -> TrialSpec {
        match self.flows {
            Some(Flows { count, step_ns }) if step_ns > 0 && spec.kind == TrialKind::Constant => TrialSpec {
                kind: TrialKind::Ramp { flows: count, step_ns },
                duration_ns: spec.duration_ns + u64::from(count.saturating_sub(1)) * step_ns,
                ..spec
            },
            _ => spec,
        }
    }
}
