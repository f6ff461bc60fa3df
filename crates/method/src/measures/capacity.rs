//! Capacity of the connection tracking table, RFC 9693: doubling the number of connections until their establishment rate breaks down,
//! then halving the interval between the last number that was held and the first that was not.

use super::staged::Searching;
use super::{Findings, Procedure, Quantity, Value};
use crate::plan::{Capacity, SearchMethod, SearchSettings, Stateful, TrialSettings};
use crate::search::{Limit, Start, new_search};
use crate::terms::{Direction, FrameRate, LossRatio};
use crate::trial::{TrialResult, TrialSpec, Verdict};

/// To so much a rate is known that is only held against shares of others.
const WIDTH: f64 = 0.1;

/// The search of one repetition. Each step is a search for the highest rate at which its number of connections is established, up to
/// the rate of the step before.
pub(super) struct CapacitySearch {
    settings: Capacity,
    stateful: Stateful,
    search: SearchSettings,
    trial: TrialSettings,
    /// The number of connections being tried, and the search for their rate; `None` when all is known.
    step: Option<(u64, Searching)>,
    /// Numbers held with their rates, in the order of the steps.
    held: Vec<(u64, FrameRate)>,
    /// The smallest number not held.
    failed: Option<u64>,
    /// The tester could not make a valid trial.
    is_unfit: bool,
    direction: Direction,
}

impl CapacitySearch {
    pub(super) fn new(settings: Capacity, stateful: Stateful, search: SearchSettings, trial: TrialSettings) -> Self {
        let (held, failed, is_unfit) = (Vec::new(), None, false);
        let mut capacity =
            Self { settings, stateful, search, trial, step: None, held, failed, is_unfit, direction: Direction::Forward };
        capacity.step = Some(capacity.step_of(settings.start));
        capacity
    }

    /// A rate below the share that counts as held need not be known: it is the lower end of the search.
    fn step_of(&self, connections: u64) -> (u64, Searching) {
        let (minimum, maximum) = match self.held.last() {
            Some((_, before)) => (FrameRate(((before.0 as f64 * self.share()).ceil() as u64).max(1)), *before),
            None => (self.search.minimum, self.search.maximum),
        };
        let (method, width) = (SearchMethod::Binary, self.search.width.max(WIDTH));
        let settings = SearchSettings { minimum, maximum, method, width, ..self.search.clone() };
        let goal = self.search.goals.first().copied().unwrap_or(LossRatio::ZERO);
        let stateful = self.stateful;
        let dress = move |spec: TrialSpec| stateful.establishing(connections, spec.rate);
        (connections, Searching::new(new_search(&settings, &self.trial, Start::Cold), goal, Box::new(dress)))
    }

    /// Beta while doubling, gamma afterwards.
    fn share(&self) -> f64 {
        if self.failed.is_none() { self.settings.exponential_share } else { self.settings.binary_share }
    }

    /// Where already the first number is not held, the search goes on below it.
    fn next_number(&self) -> Option<u64> {
        let last = self.held.last().map_or(0, |(number, _)| *number);
        match self.failed {
            None => (last < self.settings.most).then(|| (last * 2).min(self.settings.most)),
            Some(failed) => (failed - last > self.settings.error.max(1)).then(|| last.midpoint(failed)),
        }
    }

    /// Takes in what the search of a step found, and begins the next.
    fn advance(&mut self) {
        let Some((connections, searching)) = self.step.take_if(|(_, searching)| searching.next_trial().is_none()) else {
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

    fn value(&self, quantity: Quantity, (connections, rate): (u64, FrameRate), is_at_least: bool) -> Value {
        Value { quantity, direction: self.direction, load: rate, value: connections as f64, is_at_least }
    }
}

impl Procedure for CapacitySearch {
    fn next_trial(&self) -> Option<TrialSpec> {
        self.step.as_ref()?.1.next_trial()
    }

    fn verdict(&self, result: &TrialResult) -> Verdict {
        self.step.as_ref().map_or(Verdict::Invalid, |(_, searching)| searching.verdict(result))
    }

    fn learn(&mut self, result: &TrialResult) {
        if let Some((_, searching)) = &mut self.step {
            searching.learn(result);
        }
        self.direction = result.directions.first().map_or(self.direction, |first| first.direction);
        self.advance();
    }

    fn findings(&self) -> Findings {
        let capacity = self.held.last().filter(|_| self.step.is_none());
        let is_at_least = self.failed.is_none() || self.is_unfit;
        let steps = self.held.iter().map(|step| self.value(Quantity::ConnectionsHeld, *step, false));
        // The number alone: the rates of the repetitions differ.
        let values = capacity.map(|(number, _)| self.value(Quantity::TableCapacity, (*number, FrameRate(0)), is_at_least));
        Findings { brackets: Vec::new(), values: values.into_iter().chain(steps).collect() }
    }
}
