//! The trait that the file of each measurement implements.

use super::context::TestContext;
use super::info::Info;
use super::load::Load;
use super::procedure::{Procedure, ProcedureContext};
use super::quantity::Value;
use super::tcp::Tcp;
use crate::clause::Clause;
use crate::plan::{Profile, Stateful};
use crate::terms::FrameRate;
use crate::trial::{TrialKind, TrialResult};
use crate::watch::Watch;
use std::ops::RangeInclusive;

/// Everything that the rest of the program needs to know about a measurement and that may depend on its settings. What does not is in its [`Info`].
///
/// The methods with a default answer a question that most measures do not have, such as the loads that a measure lists itself.
pub trait Measurement {
    /// Returns its description.
    fn info(&self) -> &'static Info;

    /// Returns the load it is made at; `None` if it searches for its loads or lists them itself.
    fn load(&self) -> Option<Load>;

    /// Returns the sending time of its trials.
    fn sending(&self) -> SendingTime;

    /// Returns the highest rate of any of its trials.
    fn highest_rate(&self, test: &TestContext<'_>) -> FrameRate {
        let most = test.search.maximum;
        self.load().map_or(most, |load| load.highest(most))
    }

    /// Returns the kind of its largest trial.
    fn largest_kind(&self, stateful: Option<Stateful>) -> TrialKind;

    /// Returns the most requests that may wait for their replies at once; `None` if no client waits for replies.
    fn most_outstanding(&self, _test: &TestContext<'_>) -> Option<u32> {
        None
    }

    /// Returns the settings of its TCP connections, or `None` if it sends frames.
    fn tcp(&self) -> Option<&Tcp> {
        None
    }

    /// Sets the measure's own durations to those of a profile whose trials last `trial_ns`.
    fn follow(&mut self, profile: Profile, trial_ns: u64);

    /// Sets the measure's own durations to those that the RFCs name.
    fn lengthen(&mut self);

    /// Returns the smallest and the largest number of connections that phase 1 of its trials opens; `None` if the test sets the number.
    fn own_connections(&self) -> Option<RangeInclusive<u64>> {
        None
    }

    /// Returns the largest number it can find, if that is not a rate, and the plan keys that set it.
    fn most(&self) -> Option<(f64, &'static str)> {
        None
    }

    /// Returns the loads that it lists itself, in frames per second per direction.
    fn own_rates(&self) -> &[FrameRate] {
        &[]
    }

    /// Returns whether a scan of loads ends once nothing is lost, so that repetitions may try different loads.
    fn ends_when_lossless(&self) -> bool {
        false
    }

    /// Returns the requirements of the measurement's own sections, and whether the test meets them.
    fn clauses(&self, test: &TestContext<'_>) -> Vec<Clause>;

    /// Returns the procedure of its next repetition.
    fn procedure(&self, context: &ProcedureContext<'_>) -> Box<dyn Procedure>;

    /// Returns observations of the DUT itself during a trial, if the result includes them.
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
