//! What every measurement has to say of itself: the trait that its file implements.

use super::context::TestContext;
use super::info::{Info, Noun};
use super::load::Load;
use super::procedure::{Procedure, ProcedureContext};
use super::quantity::Value;
use super::tcp::Tcp;
use crate::conformance::Clause;
use crate::plan::{Profile, Stateful};
use crate::record::Watch;
use crate::terms::FrameRate;
use crate::trial::{TrialKind, TrialResult};

/// All that the rest of the program needs to know of a measurement, or what that is derived from.
pub trait Measurement {
    /// Returns what is said of it.
    fn info(&self) -> &'static Info;

    /// Returns the load it is made at; `None` where it finds or names its loads itself.
    fn load(&self) -> Option<Load> {
        None
    }

    /// Returns for how long its trials send.
    fn sending(&self) -> SendingTime;

    /// Returns the highest rate any of its trials has.
    fn highest_rate(&self, test: &TestContext<'_>) -> FrameRate {
        let most = test.search.maximum;
        self.load().map_or(most, |load| load.highest(most))
    }

    /// Returns what its largest trial is, where that is no constant load.
    fn largest_kind(&self, _stateful: Option<Stateful>) -> TrialKind {
        TrialKind::Constant
    }

    /// Returns whether delays decide, so that a tester that looked late spoils the result even without loss.
    fn is_of_delay(&self) -> bool {
        false
    }

    /// Returns whether a stateful test consists of phase 1 only: nothing is sent in phase 2.
    fn is_of_connections(&self) -> bool {
        false
    }

    /// Returns how TCP connections are made, where the test is one of those rather than of frames.
    fn tcp(&self) -> Option<&Tcp> {
        None
    }

    /// Sets the durations that are its own to those of a profile whose trials last `trial_ns`.
    fn follow(&mut self, _profile: Profile, _trial_ns: u64) {}

    /// Sets the durations that are its own to those the RFCs name. Returns how often it is to be repeated.
    fn lengthen(&mut self) -> u32 {
        20
    }

    /// Returns whether the load of its trials is held for longer than a burst and nothing is done to the DUT.
    fn is_steady(&self) -> bool {
        true
    }

    /// Returns whether its losses show a limit of the DUT: losses that a measurement causes on purpose do not.
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

    /// Returns the largest number it can find, where that is no rate, and the keys of a plan that set it.
    fn most(&self) -> Option<(f64, &'static str)> {
        None
    }

    /// Returns the loads that it names itself, frames per second per direction.
    fn own_rates(&self) -> &[FrameRate] {
        &[]
    }

    /// Returns what it demands of a device beside forwarding.
    fn demand(&self) -> Option<Demand> {
        None
    }

    /// Returns whether a scan of loads ends where nothing is lost any more, so that repetitions may try different loads.
    fn ends_when_lossless(&self) -> bool {
        false
    }

    /// Returns which requirements on the test traffic concern it.
    fn traffic_requirements(&self) -> TrafficRequirements {
        match (self.info().noun, self.is_of_connections()) {
            (Noun::Frames, _) => TrafficRequirements::All,
            // Phase 1 of a stateful test has one direction, and none of the sizes is asked for.
            (_, true) => TrafficRequirements::Addresses,
            // TCP connections and DNS queries are not the plan's frames.
            (_, false) => TrafficRequirements::None,
        }
    }

    /// Returns the requirements of the measurement's own sections, and how the test stands to them.
    fn clauses(&self, test: &TestContext<'_>) -> Vec<Clause>;

    /// Returns the next repetition of it.
    fn procedure(&self, context: &ProcedureContext<'_>) -> Box<dyn Procedure>;

    /// Returns what was seen of the DUT itself during a trial, where the result includes that.
    fn watched(&self, _result: &TrialResult, _watch: &Watch) -> Vec<Value> {
        Vec::new()
    }
}

/// The demands of a measurement on a device beside forwarding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Demand {
    /// It can be reset, and keeps no connections over that.
    Reset,
    /// Its connections can be deleted by a command that is timed.
    TearDown,
    /// It keeps no connections: reverse frames are replies to forward ones of the same trial.
    NoConnections,
}

/// The requirements on the test traffic that concern a measurement.
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

/// The time for which the trials of a measurement send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendingTime {
    /// As long as the plan says for all trials.
    AsPlanned,
    /// So many nanoseconds, whatever the plan says.
    For(u64),
    /// For bursts of at most so many nanoseconds.
    AtMost(u64),
    /// As long as opening its connections takes.
    UntilConnected,
}
