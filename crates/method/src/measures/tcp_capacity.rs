//! Concurrent TCP connection capacity, RFC 3511 section 5.2: the largest number of connections that are all open and alive at once. An
//! iterative search: doubling, then halving the interval between the last number that passed and the first that did not.

use super::info::NO_LARGER_NUMBER;
use super::keys::{Keys, MeasureDefaults};
use super::loads::Loads;
use super::loads::NumberSearch;
use super::tcp::common_clauses;
use super::{
    Family, Findings, Info, Measurement, Procedure, ProcedureContext, Quantity, SendingTime, Tcp,
    Term, TestContext, TrafficRequirements, Value,
};
use crate::clause::Clause;
use crate::plan::{Profile, Stateful};
use crate::terms::bounds::{Bounded, NumberBound, TableBounds};
use crate::terms::{Direction, FrameRate, LossRatio};
use crate::trial::{TrialKind, TrialResult, TrialSpec, Verdict};
use crate::units;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The number of TCP connections that can be open: doubling, then halving, each step a trial.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct TcpCapacity {
    /// The way connections are made.
    pub tcp: Tcp,
    /// Connections of the first trial.
    pub start: u64,
    /// The largest number tried.
    pub most: u64,
    /// The search ends when it knows the number to so many connections.
    pub error: u64,
    /// The rate they are opened at, connections per second; below the establishment rate.
    pub rate: FrameRate,
}

impl Bounded for TcpCapacity {
    const BOUNDS: TableBounds = TableBounds {
        numbers: &[
            ("start", NumberBound::COUNT),
            ("most", NumberBound::COUNT),
            ("error", NumberBound::COUNT),
            ("rate", FrameRate::OF_MEDIUM),
        ],
        tables: &[("tcp", &Tcp::BOUNDS)],
        ordered: &[("start", "most")],
    };
}

const CAPACITY: &str = "RFC 3511 section 5.2.3";

pub(super) static INFOS: [Info; 1] = [Info {
    term: Term {
        name: "tcp-capacity",
        definition: "Concurrent TCP connection capacity: the largest number of connections open at once.",
        clause: "RFC 3511 section 5.2, cited by RFC 8219 section 8; RFC 9411 has obsoleted RFC 3511",
        here: "The number is doubled, then halved. A trial passes only if every connection was established, delivered its \
               object, and delivered another one when all were open.",
        unit: "connections",
    },
    summary: "how many TCP connections are open at once (RFC 3511 section 5.2, RFC 8219 section 8)",
    family: Family::Tcp,
    traffic: TrafficRequirements::None,
    demand: None,
    is_steady: true,
    is_of_delay: false,
    finds_a_limit: false,
    searches_phase_one: false,
    repetitions: 20,
    searched: None,
    quantities: &[Quantity::TcpConnections],
    headline: Some(Quantity::TcpConnections),
    is_averaged: false,
    axis: "throughput",
    open_end: NO_LARGER_NUMBER,
}];

impl TcpCapacity {
    /// Returns the settings that the keys of a test ask for.
    pub(super) fn read(keys: &impl Keys, defaults: &MeasureDefaults) -> Self {
        let start = keys.value("start", units::connections).unwrap_or(1_000);
        let most = keys
            .value("most", units::connections)
            .unwrap_or(1_000_000.max(start));
        if most < start {
            keys.mistake("most", "`most` connections are fewer than those of `start`");
        }
        Self {
            tcp: Tcp::read(keys, defaults),
            start,
            most,
            error: keys
                .value("error", units::connections)
                .unwrap_or((start / 100).max(1)),
            rate: keys.value("rate", units::rate).unwrap_or(FrameRate(1_000)),
        }
    }
}

impl Measurement for TcpCapacity {
    fn info(&self) -> &'static Info {
        &INFOS[0]
    }

    fn loads(&self) -> Loads<'_> {
        Loads::Number(NumberSearch {
            rate: Some(self.rate),
            most: self.most as f64,
            keys: "`most`",
            phase_one: None,
        })
    }

    fn sending(&self) -> SendingTime {
        SendingTime::UntilConnected
    }

    fn largest_kind(&self, _stateful: Option<Stateful>) -> TrialKind {
        TrialKind::TcpCapacity {
            connections: self.most,
        }
    }

    fn follow(&mut self, _profile: Profile, _trial_ns: u64) {}

    fn lengthen(&mut self) {}

    fn clauses(&self, _test: &TestContext<'_>) -> Vec<Clause> {
        let steps = format!(
            "doubling from {} to {}, then halving, known to {}",
            self.start, self.most, self.error
        );
        let rate = format!("{} connections/s", self.rate.0);
        let asked = "one GET when a connection is established, one more when all are: the procedure for proxies, used for all";
        let mut clauses = vec![
            Clause::must(
                CAPACITY,
                "an iterative search for the number of concurrent connections",
                steps,
                true,
            ),
            Clause::should(
                "RFC 3511 section 5.2.2.1",
                "an attempt rate at or below what the DUT accepts",
                rate,
                true,
            ),
            Clause::must(
                CAPACITY,
                "a GET on each connection after all are established",
                asked,
                true,
            ),
        ];
        clauses.extend(common_clauses(
            CAPACITY,
            "RFC 3511 section 5.2.2.2",
            &self.tcp,
        ));
        clauses
    }

    fn procedure(&self, context: &ProcedureContext<'_>) -> Box<dyn Procedure> {
        Box::new(TcpCapacitySearch::new(self, context.tries()))
    }
}

/// The search of one repetition.
#[derive(Clone, Debug)]
struct TcpCapacitySearch {
    settings: TcpCapacity,
    tries: u32,
    invalid: u32,
    /// The largest number held and the smallest not held.
    lower: Option<u64>,
    upper: Option<u64>,
    direction: Direction,
}

impl TcpCapacitySearch {
    /// After `tries` invalid trials of one number the tester is at its end.
    fn new(settings: &TcpCapacity, tries: u32) -> Self {
        let tries = tries.max(1);
        Self {
            settings: *settings,
            tries,
            invalid: 0,
            lower: None,
            upper: None,
            direction: Direction::Forward,
        }
    }

    fn next_number(&self) -> Option<u64> {
        let (most, error) = (self.settings.most, self.settings.error.max(1));
        match (self.lower, self.upper) {
            (None, None) => Some(self.settings.start.max(1)),
            (Some(lower), None) => (lower < most).then(|| (lower * 2).min(most)),
            (lower, Some(upper)) => {
                let lower = lower.unwrap_or(0);
                (upper - lower > error).then(|| lower.midpoint(upper))
            }
        }
    }

    fn is_unfit(&self) -> bool {
        self.invalid >= self.tries
    }
}

impl Procedure for TcpCapacitySearch {
    fn next_trial(&self) -> Option<TrialSpec> {
        let connections = self.next_number().filter(|_| !self.is_unfit())?;
        Some(TrialSpec {
            kind: TrialKind::TcpCapacity { connections },
            ..TrialSpec::burst(self.settings.rate, connections)
        })
    }

    fn verdict(&self, result: &TrialResult) -> Verdict {
        result.verdict(LossRatio::ZERO)
    }

    fn learn(&mut self, result: &TrialResult) {
        let TrialKind::TcpCapacity { connections } = result.spec.kind else {
            return;
        };
        match self.verdict(result) {
            Verdict::Passed => self.lower = Some(connections),
            Verdict::Lost => self.upper = Some(connections),
            Verdict::Invalid => {
                self.invalid += 1;
                return;
            }
        }
        self.invalid = 0;
        self.direction = result
            .directions
            .first()
            .map_or(self.direction, |first| first.direction);
    }

    fn findings(&self) -> Findings {
        // Nothing more is wanted, or the tester can go no further: then the DUT may hold more.
        let found = self.lower.filter(|_| self.next_trial().is_none());
        let is_at_least = self.upper.is_none() || self.is_unfit();
        Findings {
            brackets: Vec::new(),
            values: found
                .map(|connections| Value {
                    quantity: Quantity::TcpConnections,
                    direction: self.direction,
                    load: self.settings.rate,
                    value: connections as f64,
                    is_at_least,
                    is_at_most: false,
                })
                .into_iter()
                .collect(),
        }
    }
}
