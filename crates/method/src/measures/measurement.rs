//! The trait that the file of each measurement implements.

use super::context::TestContext;
use super::info::Info;
use super::loads::Loads;
use super::procedure::{Procedure, ProcedureContext};
use super::quantity::Value;
use crate::clause::Clause;
use crate::plan::{Profile, Stateful};
use crate::trial::{TrialKind, TrialResult};
use crate::watch::Watch;

/// Everything that the rest of the program needs to know about a measurement and that may depend on its settings. What does not is in its [`Info`].
///
/// No method but [`Measurement::watched`] has a default: what a measure does not say would hold silently.
pub trait Measurement {
    /// Returns its description.
    fn info(&self) -> &'static Info;

    /// Returns the loads of its trials.
    fn loads(&self) -> Loads<'_>;

    /// Returns the sending time of its trials.
    fn sending(&self) -> SendingTime;

    /// Returns the kind of its largest trial.
    fn largest_kind(&self, stateful: Option<Stateful>) -> TrialKind;

    /// Sets the measure's own durations to those of a profile whose trials last `trial_ns`.
    fn follow(&mut self, profile: Profile, trial_ns: u64);

    /// Sets the measure's own durations to those that the RFCs name.
    fn lengthen(&mut self);

    /// Returns the requirements of the measurement's own sections, and whether the test meets them.
    fn clauses(&self, test: &TestContext<'_>) -> Vec<Clause>;

    /// Returns the procedure of its next repetition.
    fn procedure(&self, context: &ProcedureContext<'_>) -> Box<dyn Procedure>;

    /// Returns observations of the DUT itself during a trial. The result of most measures includes none.
    fn watched(&self, _result: &TrialResult, _watch: &Watch) -> Vec<Value> {
        Vec::new()
    }
}

/// The time for which each trial of a measurement sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendingTime {
    /// The duration of the plan's trials.
    AsPlanned,
    /// This many nanoseconds, regardless of the plan.
    For(u64),
    /// Bursts of at most this many nanoseconds.
    AtMost(u64),
    /// The time it takes to open its connections.
    UntilConnected,
}
