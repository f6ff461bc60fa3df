//! What is said of a measure: its names, its units, what it comes to. Lists, tables and sentences are made of it.

use super::Quantity;

/// The properties of a measure that are known before it is made.
#[derive(Debug)]
pub struct Info {
    /// Its explanation; the name is the word for it in plans and results.
    pub term: Term,
    /// The result of the measure, in one line, with its clauses.
    pub summary: &'static str,
    /// The noun that its rates count.
    pub noun: Noun,
    /// The rate that is searched for; `None` where the result is no such rate.
    pub searched: Option<Searched>,
    /// The quantities of its repetitions besides the rate that is searched for. The first is the one they are judged by,
    /// unless [`Info::headline`] says otherwise.
    pub quantities: &'static [Quantity],
    /// The quantity that repetitions are judged by; `None` where it is the rate that is searched for, or where there is none because the
    /// result is a curve.
    pub headline: Option<Quantity>,
    /// True if its clause asks for the average of the repetitions rather than their median.
    pub is_averaged: bool,
    /// The label of an axis that shows it.
    pub axis: &'static str,
    /// The reason why a result that is limited neither by the tester nor by the DUT may be higher in truth.
    pub open_end: &'static str,
}

/// The reason given for most measures where the highest load of the plan passed.
pub(super) const HIGHEST_LOAD_PASSED: &str = "the highest load of the plan passed";
/// Searches for a number of connections that found no end.
pub(super) const NO_LARGER_NUMBER: &str = "no larger number was tried";
/// Outages that lasted longer than their trial.
pub(super) const NOT_RECOVERED: &str = "the trial ended before the DUT had recovered";

/// A term of the field: definition, clause, how it is measured here, unit.
#[derive(Debug)]
pub struct Term {
    /// Its name, in lower case.
    pub name: &'static str,
    /// The definition of the term.
    pub definition: &'static str,
    /// The clause that defines it.
    pub clause: &'static str,
    /// The way it is measured here, or its meaning here.
    pub here: &'static str,
    /// The unit it is reported in.
    pub unit: &'static str,
}

/// A rate that is searched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Searched {
    /// The throughput, which with a goal of more than no loss has no name.
    Throughput,
    /// One of this name, for any loss goal.
    Named(&'static str),
    /// One of this name that knows no loss goal: all connections, or queries, must succeed.
    OfAll(&'static str),
}

/// The things a rate counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noun {
    /// Test frames, in each direction.
    Frames,
    /// Connections, which have no direction: only the Initiator, or the client, opens them.
    Connections,
    /// DNS queries, which have none either.
    Queries,
}

impl Noun {
    /// Returns the plural: `frames`.
    pub fn plural(self) -> &'static str {
        match self {
            Self::Frames => "frames",
            Self::Connections => "connections",
            Self::Queries => "queries",
        }
    }

    /// Returns the unit of a rate: `frames/s`.
    pub fn per_second(self) -> &'static str {
        match self {
            Self::Frames => "frames/s",
            Self::Connections => "connections/s",
            Self::Queries => "queries/s",
        }
    }

    /// Returns the unit of a rate with its direction, which only frames have: `frames/s per direction`.
    pub fn per_second_and_direction(self) -> &'static str {
        match self {
            Self::Frames => "frames/s per direction",
            Self::Connections | Self::Queries => self.per_second(),
        }
    }
}
