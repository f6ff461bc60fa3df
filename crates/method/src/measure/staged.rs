//! First the load, then the measurement at it.

use super::{Findings, Procedure, ramped};
use crate::plan::Flows;
use crate::search::Search;
use crate::terms::{FrameRate, LossRatio};
use crate::trial::{TrialResult, TrialSpec, Verdict};

/// A search for the load as a procedure: the throughput measurement itself, and the first stage of those made at the throughput.
pub(super) struct Searching {
    search: Box<dyn Search>,
    goal: LossRatio,
    flows: Option<Flows>,
}

impl Searching {
    /// `search`, the first of whose goals is `goal`; its trials are ramped up if the flows start one after the other.
    pub(super) fn new(search: Box<dyn Search>, goal: LossRatio, flows: Option<Flows>) -> Self {
        Self { search, goal, flows }
    }
}

impl Procedure for Searching {
    fn next_trial(&self) -> Option<TrialSpec> {
        Some(ramped(self.search.next_trial()?, self.flows))
    }

    fn verdict(&self, result: &TrialResult) -> Verdict {
        result.verdict(self.goal)
    }

    fn learn(&mut self, result: &TrialResult) {
        match self.search.next_trial() {
            // To the search a ramp is a trial at its final rate.
            Some(spec) if spec != result.spec => self.search.learn(&TrialResult { spec, ..result.clone() }),
            _ => self.search.learn(result),
        }
    }

    fn findings(&self) -> Findings {
        Findings { brackets: self.search.brackets(), values: Vec::new() }
    }
}

/// A first stage, and what follows at the load it finds.
pub(super) struct Staged<P> {
    first: P,
    then: Box<dyn Fn(FrameRate) -> Box<dyn Procedure>>,
    second: Option<Box<dyn Procedure>>,
}

impl<P: Procedure> Staged<P> {
    pub(super) fn new(first: P, then: Box<dyn Fn(FrameRate) -> Box<dyn Procedure>>) -> Self {
        let mut staged = Self { first, then, second: None };
        staged.advance();
        staged
    }

    fn advance(&mut self) {
        if self.second.is_none() && self.first.next_trial().is_none() {
            let found = self.first.findings().brackets.first().and_then(|bracket| bracket.lower);
            self.second = found.map(&self.then);
        }
    }
}

impl<P: Procedure> Procedure for Staged<P> {
    fn next_trial(&self) -> Option<TrialSpec> {
        match &self.second {
            Some(second) => second.next_trial(),
            None => self.first.next_trial(),
        }
    }

    fn verdict(&self, result: &TrialResult) -> Verdict {
        match &self.second {
            Some(second) => second.verdict(result),
            None => self.first.verdict(result),
        }
    }

    fn learn(&mut self, result: &TrialResult) {
        match &mut self.second {
            Some(second) => second.learn(result),
            None => self.first.learn(result),
        }
        self.advance();
    }

    fn findings(&self) -> Findings {
        let values = self.second.as_ref().map(|second| second.findings().values).unwrap_or_default();
        Findings { values, ..self.first.findings() }
    }
}
