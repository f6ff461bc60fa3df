//! The trait that the file of each measurement implements.

use super::context::TestContext;
use super::info::{Info, Noun};
use super::load::Load;
use super::procedure::{Procedure, ProcedureContext};
use super::quantity::Value;
use super::tcp::Tcp;
use crate::clause::Clause;
use crate::plan::{Profile, Stateful};
use crate::terms::FrameRate;
use crate::trial::{TrialKind, TrialResult};
use crate::watch::Watch;

/// Everything that the rest of the program needs to know about a measurement.
pub trait Measurement {
    /// Returns its description.
    fn info(&self) -> &'static Info;

    /// Returns the load it is made at; `None` if it searches for its loads or lists them itself.
    fn load(&self) -> Option<Load> {
        None
    }

    /// Returns the sending time of its trials.
    fn sending(&self) -> SendingTime;

    /// Returns the highest rate of any of its trials.
    fn highest_rate(&self, test: &TestContext<'_>) -> FrameRate {
        let most = test.search.maximum;
        self.load().map_or(most, |load| load.highest(most))
    }

    /// Returns the kind of its largest trial, which is a constant load by default.
    fn largest_kind(&self, _stateful: Option<Stateful>) -> TrialKind {
        TrialKind::Constant
    }

    /// Returns the most requests that may wait for their replies at once; `None` if no client waits for replies.
    fn most_outstanding(&self, _test: &TestContext<'_>) -> Option<u32> {
        None
    }

    /// Returns whether the result is a delay, so that a late poll by the tester spoils it even without loss.
    fn is_of_delay(&self) -> bool {
        false
    }

    /// Returns whether a stateful test consists of phase 1 only: nothing is sent in phase 2.
    fn is_of_connections(&self) -> bool {
        false
    }

    /// Returns the settings of its TCP connections, or `None` if it sends frames.
    fn tcp(&self) -> Option<&Tcp> {
        None
    }

    /// Sets the measure's own durations to those of a profile whose trials last `trial_ns`.
    fn follow(&mut self, _profile: Profile, _trial_ns: u64) {}

    /// Sets the measure's own durations to those that the RFCs name. Returns the number of repetitions they ask for.
    fn lengthen(&mut self) -> u32 {
        20
    }

    /// Returns whether its trials hold the load for longer than a burst and do nothing else to the DUT.
    fn is_steady(&self) -> bool {
        true
    }

    /// Returns whether its losses indicate a limit of the DUT. Losses that a measurement causes on purpose do not.
    fn finds_a_limit(&self) -> bool {
        self.info().searched.is_some() && self.tcp().is_none()
    }

    /// Returns whether the rate of phase 1 is searched for rather than set.
    fn searches_phase_one(&self) -> bool {
        false
    }

    /// Returns the largest number of connections that phase 1 of any of its trials opens.
    fn most_connections(&self, stateful: Option<Stateful>) -> u64 {
        stateful.map_or(0, |stateful| stateful.connections)
    }

    /// Returns the largest number it can find, if that is not a rate, and the plan keys that set it.
    fn most(&self) -> Option<(f64, &'static str)> {
        None
    }

    /// Returns the loads that it lists itself, in frames per second per direction.
    fn own_rates(&self) -> &[FrameRate] {
        &[]
    }

    /// Returns its requirement on the device beyond forwarding.
    fn demand(&self) -> Option<Demand> {
        None
    }

    /// Returns whether a scan of loads ends once nothing is lost, so that repetitions may try different loads.
    fn ends_when_lossless(&self) -> bool {
        false
    }

    /// Returns the requirements on the test traffic that apply to it.
    fn traffic_requirements(&self) -> TrafficRequirements {
        match (self.info().noun, self.is_of_connections()) {
            (Noun::Frames, _) => TrafficRequirements::All,
            // Phase 1 of a stateful test has one direction, and no particular frame sizes are required.
            (_, true) => TrafficRequirements::Addresses,
            // TCP connections and DNS queries do not use the plan's frames.
            (_, false) => TrafficRequirements::None,
        }
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

/// A requirement of a measurement on a device beyond forwarding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Demand {
    /// It can be reset, and loses its connections in the process.
    Reset,
    /// Its connections can be deleted by a command whose duration is measured.
    TearDown,
    /// It tracks no connections: reverse frames are replies to forward frames of the same trial.
    NoConnections,
}

/// The requirements on the test traffic that apply to a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrafficRequirements {
    /// Sizes, directions, mixes, ports and addresses.
    All,
    /// All but the sizes.
    AnySize,
    /// Those on addresses alone.
    Addresses,
    /// None: it has no test frames.
    None,
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
