//! The description of a measure: its names, its units and its results. Lists, tables and sentences are generated from it.

use super::{Family, Quantity};

/// The properties of a measure that are known in advance.
#[derive(Debug)]
pub struct Info {
    /// Its explanation; the term's name identifies the measure in plans and results.
    pub term: Term,
    /// The result of the measure in one line, with its clauses.
    pub summary: &'static str,
    /// What its trials send.
    pub family: Family,
    /// The requirements on the test traffic that apply to it.
    pub traffic: TrafficRequirements,
    /// Its requirement on the device beyond forwarding.
    pub demand: Option<Demand>,
    /// True if its trials hold the load for longer than a burst and do nothing else to the DUT.
    pub is_steady: bool,
    /// True if the result is a delay, so that a late poll by the tester spoils it even without loss.
    pub is_of_delay: bool,
    /// True if its losses indicate a limit of the DUT. Losses that a measurement causes on purpose do not.
    pub finds_a_limit: bool,
    /// True if the rate of phase 1 is searched for rather than set.
    pub searches_phase_one: bool,
    /// The number of repetitions that its clauses ask for.
    pub repetitions: u32,
    /// The rate that is searched for; `None` if the result is not such a rate.
    pub searched: Option<SearchedRate>,
    /// The quantities that a repetition reports besides the rate that is searched for. Repetitions are judged by the first one unless
    /// [`Info::headline`] says otherwise.
    pub quantities: &'static [Quantity],
    /// The quantity that repetitions are judged by; `None` if that is the rate that is searched for, or if the result is a curve.
    pub headline: Option<Quantity>,
    /// True if its clause asks for the average of the repetitions rather than their median.
    pub is_averaged: bool,
    /// The axis label in charts.
    pub axis: &'static str,
    /// The reason why the true result may be higher when neither the tester nor the DUT limited it.
    pub open_end: &'static str,
}

/// The reason for most measures: the highest load of the plan passed.
pub(super) const HIGHEST_LOAD_PASSED: &str = "the highest load of the plan passed";
/// The reason for searches for a number of connections that found no upper limit.
pub(super) const NO_LARGER_NUMBER: &str = "no larger number was tried";
/// The reason for outages that lasted longer than their trial.
pub(super) const NOT_RECOVERED: &str = "the trial ended before the device had recovered";

/// A technical term with its definition, its clause, how it is measured here, and its unit.
#[derive(Debug)]
pub struct Term {
    /// Its name, in lower case.
    pub name: &'static str,
    /// The definition of the term.
    pub definition: &'static str,
    /// The clause that defines it.
    pub clause: &'static str,
    /// The way it is measured here, or its meaning in this program.
    pub here: &'static str,
    /// The unit it is reported in.
    pub unit: &'static str,
}

/// A rate that is searched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchedRate {
    /// The throughput; with a loss goal above zero the rate has no name of its own.
    Throughput,
    /// A rate of this name, for any loss goal.
    Named(&'static str),
    /// A rate of this name without a loss goal: all connections, or queries, must succeed.
    OfAll(&'static str),
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
