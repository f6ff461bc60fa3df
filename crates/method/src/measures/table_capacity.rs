//! Capacity of the connection tracking table, RFC 9693: doubling the number of connections until their establishment rate breaks down,
//! then halving the interval between the last number that was held and the first that was not.

use super::info::NO_LARGER_NUMBER;
use super::keys::{Keys, MeasureDefaults};
use super::loads::Loads;
use super::loads::NumberSearch;
use super::procedure::LoadSearch;
use super::{
    Family, Findings, Info, Measurement, Procedure, ProcedureContext, Quantity, SendingTime, Term,
    TestContext, TrafficRequirements, Value,
};
use crate::clause::numbers::percent;
use crate::clause::{Clause, RFC_9693};
use crate::plan::{Profile, Stateful};
use crate::search::{CapacityEstimate, Limit, SearchMethod, SearchSettings, Start, new_search};
use crate::terms::bounds::{Bounded, NumberBound, TableBounds};
use crate::terms::{Direction, FrameRate};
use crate::trial::{TrialKind, TrialResult, TrialSettings, TrialSpec, Verdict};
use crate::units;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// RFC 9693: an exponential search for a number of connections that the table cannot hold, then a binary one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Capacity {
    /// C0: connections of the first step.
    pub start: u64,
    /// The largest number tried.
    pub most: u64,
    /// Beta: doubling ends where the establishment rate falls below this share of that of the step before; 0.1 to 0.2 by the RFC.
    pub exponential_share: f64,
    /// Gamma: in the binary phase a number is held where its rate is at least this share of that of the last number held; 0.4 to 0.5.
    pub binary_share: f64,
    /// The search ends when it knows the number to so many connections.
    pub error: u64,
}

impl Bounded for Capacity {
    const BOUNDS: TableBounds = TableBounds {
        numbers: &[
            ("start", NumberBound::COUNT),
            ("most", NumberBound::COUNT),
            ("exponential-share", NumberBound::SHARE),
            ("binary-share", NumberBound::SHARE),
            ("error", NumberBound::COUNT),
        ],
        ordered: &[("start", "most")],
        ..TableBounds::NONE
    };
}

pub(super) static INFOS: [Info; 1] = [Info {
    term: Term {
        name: "table-capacity",
        definition: "Connection tracking table capacity: the largest number of connections that the DUT holds at once.",
        clause: "RFC 9693",
        here: "The number is doubled, and the establishment rate is searched again below that of the previous step, until it \
               falls below `beta` of it or there is none; then the interval between the last number held and the first not \
               held is halved, with `gamma`, down to `error`. A full table that drops old connections for new ones is found by \
               validation.",
        unit: "connections",
    },
    summary: "how many connections a stateful device holds (RFC 9693)",
    family: Family::PhaseOne,
    traffic: TrafficRequirements::Addresses,
    demand: None,
    is_steady: true,
    is_of_delay: false,
    finds_a_limit: true,
    searches_phase_one: true,
    repetitions: 20,
    searched: None,
    quantities: &[Quantity::TableCapacity],
    headline: Some(Quantity::TableCapacity),
    is_averaged: false,
    axis: "throughput",
    open_end: NO_LARGER_NUMBER,
}];

impl Capacity {
    /// Returns the settings that the keys of a test ask for. RFC 9693: from 1 M connections on, doubling; up to the number that a
    /// provider's gateway holds.
    pub(super) fn read(keys: &impl Keys, _: &MeasureDefaults) -> Self {
        let start = keys.value("start", units::connections).unwrap_or(1_000_000);
        let capacity = Self {
            start,
            most: keys
                .value("most", units::connections)
                .unwrap_or(64_000_000.max(start)),
            exponential_share: keys.value("beta", units::factor).unwrap_or(0.1),
            binary_share: keys.value("gamma", units::factor).unwrap_or(0.5),
            error: keys
                .value("error", units::connections)
                .unwrap_or((start / 100).max(1)),
        };
        if capacity.most < capacity.start {
            keys.mistake("most", "`most` connections are fewer than those of `start`");
        }
        for (key, share) in [
            ("beta", capacity.exponential_share),
            ("gamma", capacity.binary_share),
        ] {
            if share <= 0.0 || share >= 1.0 {
                keys.mistake(key, format!("`{key}` is a share between 0% and 100%"));
            }
        }
        capacity
    }
}

impl Measurement for Capacity {
    fn info(&self) -> &'static Info {
        &INFOS[0]
    }

    fn loads(&self) -> Loads<'_> {
        Loads::Number(NumberSearch {
            rate: None,
            most: self.most as f64,
            keys: "`most`",
            phase_one: Some(self.start..=self.most),
        })
    }

    fn sending(&self) -> SendingTime {
        SendingTime::UntilConnected
    }

    fn largest_kind(&self, _stateful: Option<Stateful>) -> TrialKind {
        TrialKind::Establish {
            connections: self.most,
            validation: FrameRate(1),
        }
    }

    fn follow(&mut self, _profile: Profile, _trial_ns: u64) {}

    fn lengthen(&mut self) {}

    fn clauses(&self, test: &TestContext<'_>) -> Vec<Clause> {
        if test.stateful.is_none() {
            return Vec::new();
        }
        let (beta, gamma) = (self.exponential_share, self.binary_share);
        let doubled = format!(
            "from {} until the rate falls below {} of that before",
            self.start,
            percent(beta)
        );
        let halved = format!(
            "held at {} of the rate of the last number held, known to {}",
            percent(gamma),
            self.error
        );
        vec![
            Clause::must(
                RFC_9693,
                "an exponential phase, beta 0.1 to 0.2",
                doubled,
                (0.1..=0.2).contains(&beta),
            ),
            Clause::must(
                RFC_9693,
                "a binary phase, gamma 0.4 to 0.5",
                halved,
                (0.4..=0.5).contains(&gamma),
            ),
        ]
    }

    fn procedure(&self, context: &ProcedureContext<'_>) -> Box<dyn Procedure> {
        Box::new(CapacitySearch::new(
            *self,
            context.stateful(),
            context.test.search.clone(),
            context.test.trial,
        ))
    }
}

/// The width, as a share, of a search for a rate that is only compared with shares of other rates.
const WIDTH: f64 = 0.1;

/// The search of one repetition. Each step is a search for the highest rate at which its number of connections is established, up to
/// the rate of the step before.
struct CapacitySearch {
    settings: Capacity,
    stateful: Stateful,
    search: SearchSettings,
    trial: TrialSettings,
    /// The number of connections being tried, and the search for their rate; `None` when all is known.
    step: Option<(u64, LoadSearch)>,
    /// Numbers held with their rates, in the order of the steps.
    held: Vec<(u64, FrameRate)>,
    /// The smallest number not held.
    failed: Option<u64>,
    /// The tester could not make a valid trial.
    is_unfit: bool,
    direction: Direction,
}

impl CapacitySearch {
    fn new(
        settings: Capacity,
        stateful: Stateful,
        search: SearchSettings,
        trial: TrialSettings,
    ) -> Self {
        let (held, failed, is_unfit) = (Vec::new(), None, false);
        let mut capacity = Self {
            settings,
            stateful,
            search,
            trial,
            step: None,
            held,
            failed,
            is_unfit,
            direction: Direction::Forward,
        };
        capacity.step = Some(capacity.step_of(settings.start));
        capacity
    }

    /// Returns the search for the rate at this number of connections. It starts at the smallest rate that still counts as held.
    fn step_of(&self, connections: u64) -> (u64, LoadSearch) {
        let (minimum, maximum) = match self.held.last() {
            Some((_, before)) => (
                FrameRate(((before.0 as f64 * self.share()).ceil() as u64).max(1)),
                *before,
            ),
            None => (self.search.minimum, self.search.maximum),
        };
        let (method, width) = (SearchMethod::Binary, self.search.width.max(WIDTH));
        let settings = SearchSettings {
            method,
            minimum,
            maximum,
            width,
            // One trial decides on a number of connections.
            estimate: CapacityEstimate::Bounded,
            certainty: None,
            ..self.search.clone()
        };
        let goal = self.search.first_goal();
        let stateful = self.stateful;
        (
            connections,
            LoadSearch::new(
                new_search(&settings, &self.trial, Start::Cold),
                goal,
                Box::new(move |spec| stateful.establishing(connections, spec.rate)),
            ),
        )
    }

    /// Beta while doubling, gamma afterwards.
    fn share(&self) -> f64 {
        if self.failed.is_none() {
            self.settings.exponential_share
        } else {
            self.settings.binary_share
        }
    }

    /// Returns the number of connections to try next, or `None` when the search has ended. If the first number is already not
    /// held, the search goes on below it.
    fn next_number(&self) -> Option<u64> {
        let last = self.held.last().map_or(0, |(number, _)| *number);
        match self.failed {
            None => (last < self.settings.most).then(|| (last * 2).min(self.settings.most)),
            Some(failed) => {
                (failed - last > self.settings.error.max(1)).then(|| last.midpoint(failed))
            }
        }
    }

    /// Takes in what the search of a step found, and begins the next.
    fn advance(&mut self) {
        let Some((connections, searching)) = self
            .step
            .take_if(|(_, searching)| searching.next_trial().is_none())
        else {
            return;
        };
        let bracket = searching.findings().brackets.first().copied();
        match bracket.map(|bracket| (bracket.lower, bracket.limit)) {
            Some((Some(rate), _)) => self.held.push((connections, rate)),
            Some((None, Limit::Tester | Limit::Disturbed)) | None => {
                self.is_unfit = true;
                return;
            }
            Some((None, _)) => self.failed = Some(connections),
        }
        self.step = self.next_number().map(|number| self.step_of(number));
    }

    fn value(
        &self,
        quantity: Quantity,
        connections: u64,
        rate: FrameRate,
        is_at_least: bool,
    ) -> Value {
        Value {
            quantity,
            direction: self.direction,
            load: rate,
            value: connections as f64,
            is_at_least,
            is_at_most: false,
        }
    }
}

impl Procedure for CapacitySearch {
    fn next_trial(&self) -> Option<TrialSpec> {
        self.step.as_ref()?.1.next_trial()
    }

    fn verdict(&self, result: &TrialResult) -> Verdict {
        self.step
            .as_ref()
            .map_or(Verdict::Invalid, |(_, searching)| searching.verdict(result))
    }

    fn learn(&mut self, result: &TrialResult) {
        if let Some((_, searching)) = &mut self.step {
            searching.learn(result);
        }
        self.direction = result
            .directions
            .first()
            .map_or(self.direction, |first| first.direction);
        self.advance();
    }

    fn findings(&self) -> Findings {
        let capacity = self.held.last().filter(|_| self.step.is_none());
        let is_at_least = self.failed.is_none() || self.is_unfit;
        let steps = self
            .held
            .iter()
            .map(|(number, rate)| self.value(Quantity::ConnectionsHeld, *number, *rate, false));
        // A capacity has no load: each repetition found the number at another rate.
        let values = capacity.map(|(number, _)| {
            self.value(Quantity::TableCapacity, *number, FrameRate(0), is_at_least)
        });
        Findings {
            brackets: Vec::new(),
            values: values.into_iter().chain(steps).collect(),
        }
    }
}
