//! Procedures of two stages: first the search for the load, then the measurement at that load.

use super::{Findings, Procedure, TrialPurpose};
use crate::search::{Bracket, Limit, Search};
use crate::terms::{FrameRate, LossRatio};
use crate::trial::{TrialResult, TrialSpec, Verdict};

/// A search for the load as a procedure: the throughput measurement itself, and the first stage of those made at the throughput.
pub(in crate::measures) struct LoadSearch {
    search: Box<dyn Search>,
    goal: LossRatio,
    mapper: SpecMapper,
}

/// The mapping from the constant load that a search asks for to the complete trial.
pub(in crate::measures) type SpecMapper = Box<dyn Fn(TrialSpec) -> TrialSpec>;

impl LoadSearch {
    /// Returns a procedure for `search`, whose first goal is `goal`; each of its trials is mapped by `mapper`.
    pub(in crate::measures) fn new(
        search: Box<dyn Search>,
        goal: LossRatio,
        mapper: SpecMapper,
    ) -> Self {
        Self {
            search,
            goal,
            mapper,
        }
    }
}

impl Procedure for LoadSearch {
    fn next_trial(&self) -> Option<TrialSpec> {
        Some((self.mapper)(self.search.next_trial()?))
    }

    fn verdict(&self, result: &TrialResult) -> Verdict {
        result.verdict(self.goal)
    }

    fn learn(&mut self, result: &TrialResult) {
        match self.search.next_trial() {
            Some(spec) if spec != result.spec => self.search.learn(&TrialResult {
                spec,
                ..result.clone()
            }),
            _ => self.search.learn(result),
        }
    }

    fn findings(&self) -> Findings {
        Findings {
            brackets: self.search.brackets(),
            values: Vec::new(),
        }
    }
}

/// A trial at one known load: if it passes, that load is the result, and it does not count as limited by the plan or the tester.
pub(in crate::measures) struct AtKnownRate(pub(super) LoadSearch);

impl Procedure for AtKnownRate {
    fn next_trial(&self) -> Option<TrialSpec> {
        self.0.next_trial()
    }

    fn verdict(&self, result: &TrialResult) -> Verdict {
        self.0.verdict(result)
    }

    fn learn(&mut self, result: &TrialResult) {
        self.0.learn(result);
    }

    fn findings(&self) -> Findings {
        Findings {
            brackets: self
                .0
                .findings()
                .brackets
                .into_iter()
                .map(|bracket| match bracket.limit {
                    Limit::Maximum => Bracket {
                        upper: bracket.lower,
                        limit: Limit::Dut,
                        ..bracket
                    },
                    Limit::Dut | Limit::Tester | Limit::Disturbed => bracket,
                })
                .collect(),
            ..self.0.findings()
        }
    }
}

/// A first stage, and a second one at the load that the first finds.
pub(in crate::measures) struct TwoStages<P> {
    first: P,
    then: Box<dyn Fn(FrameRate) -> Box<dyn Procedure>>,
    second: Option<Box<dyn Procedure>>,
}

impl<P: Procedure> TwoStages<P> {
    pub(in crate::measures) fn new(
        first: P,
        then: Box<dyn Fn(FrameRate) -> Box<dyn Procedure>>,
    ) -> Self {
        let mut staged = Self {
            first,
            then,
            second: None,
        };
        staged.advance();
        staged
    }

    fn advance(&mut self) {
        if self.second.is_none() && self.first.next_trial().is_none() {
            let found = self
                .first
                .findings()
                .brackets
                .first()
                .and_then(|bracket| bracket.lower);
            self.second = found.map(&self.then);
        }
    }
}

impl<P: Procedure> Procedure for TwoStages<P> {
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

    fn purpose(&self) -> TrialPurpose {
        self.second
            .as_ref()
            .map_or_else(|| self.first.purpose(), |second| second.purpose())
    }

    fn learn(&mut self, result: &TrialResult) {
        match &mut self.second {
            Some(second) => second.learn(result),
            None => self.first.learn(result),
        }
        self.advance();
    }

    fn findings(&self) -> Findings {
        let values = self
            .second
            .as_ref()
            .map(|second| second.findings().values)
            .unwrap_or_default();
        Findings {
            values,
            ..self.first.findings()
        }
    }
}
