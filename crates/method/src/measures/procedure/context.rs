//! The inputs from which a measurement constructs its procedure: the test, and the components that most procedures share.

use super::Procedure;
use super::conditions::Conditions;
use super::single::{SingleTrial, TrialReader};
use super::staged::{AtKnownRate, LoadSearch, SpecMapper, TwoStages};
use crate::measures::load::scaled as share_of;
use crate::measures::{Load, TestContext};
use crate::plan::Stateful;
use crate::search::{SearchMethod, SearchSettings, Start, new_search};
use crate::terms::{FrameRate, FrameSize, LossRatio};
use crate::trial::TrialSpec;

/// The inputs of a repetition: its test, and the results of earlier repetitions and searches.
pub struct ProcedureContext<'a> {
    pub(in crate::measures) test: TestContext<'a>,
    pub(super) frame_size: FrameSize,
    /// The starting point of a search for the load.
    pub(super) start: Start,
    /// The throughput, if it was searched for before.
    pub(super) known: Option<FrameRate>,
}

/// The constructor of the procedure that follows once the load is known.
type Then = Box<dyn Fn(FrameRate) -> Box<dyn Procedure>>;

impl ProcedureContext<'_> {
    /// Returns the number of consecutive invalid trials after which the load counts as beyond the tester.
    pub(in crate::measures) fn tries(&self) -> u32 {
        self.test.search.max_invalid
    }

    pub(in crate::measures) fn conditions(&self) -> Conditions {
        Conditions::new(&self.test)
    }

    /// Returns the maximum rate of the medium, if the plan names the medium.
    pub(in crate::measures) fn theoretical(&self) -> Option<FrameRate> {
        self.test.theoretical(self.frame_size)
    }

    /// Returns the two phases of the test. A test of connections without phases, which no plan file can contain, gets one connection.
    pub(in crate::measures) fn stateful(&self) -> Stateful {
        self.test.stateful.unwrap_or_else(|| {
            Stateful::new(1, self.test.search.minimum, self.test.trial.residual_ns)
        })
    }

    /// Returns a search whose trials are made by `mapper` from a constant load.
    pub(in crate::measures) fn search(
        &self,
        mapper: impl Fn(TrialSpec) -> TrialSpec + 'static,
    ) -> LoadSearch {
        let goal = self.test.search.first_goal();
        self.search_by(&self.test.search, goal, self.start, Box::new(mapper))
    }

    /// Returns a single trial at the known rate, which passes or fails; `None` if the rate is not known.
    pub(in crate::measures) fn at_known_rate(
        &self,
        mapper: impl Fn(TrialSpec) -> TrialSpec + 'static,
    ) -> Option<AtKnownRate> {
        let rate = self.known?;
        let settings = SearchSettings {
            method: SearchMethod::Binary,
            minimum: rate,
            maximum: rate,
            ..self.test.search.clone()
        };
        let search = self.search_by(
            &settings,
            self.test.search.first_goal(),
            Start::Cold,
            Box::new(mapper),
        );
        Some(AtKnownRate(search))
    }

    /// Returns the same search with settings other than the plan's.
    pub(in crate::measures) fn search_with(
        &self,
        settings: &SearchSettings,
        goal: LossRatio,
        mapper: impl Fn(TrialSpec) -> TrialSpec + 'static,
    ) -> LoadSearch {
        self.search_by(settings, goal, self.start, Box::new(mapper))
    }

    fn search_by(
        &self,
        settings: &SearchSettings,
        goal: LossRatio,
        start: Start,
        mapper: SpecMapper,
    ) -> LoadSearch {
        LoadSearch::new(new_search(settings, &self.test.trial, start), goal, mapper)
    }

    /// Returns a single trial at a load that may have to be searched for first; `spec` makes the trial from the load.
    pub(in crate::measures) fn single_at(
        &self,
        load: Load,
        spec: impl Fn(FrameRate) -> TrialSpec + 'static,
        read: TrialReader,
    ) -> Box<dyn Procedure> {
        let (conditions, tries) = (self.conditions(), self.tries());
        self.at_load(
            load,
            Box::new(move |rate| {
                Box::new(SingleTrial::new(conditions.apply(spec(rate)), tries, read))
            }),
        )
    }

    /// Does the same as [`Self::single_at`] for the delays of the frames.
    pub(in crate::measures) fn delays_at(
        &self,
        load: Load,
        spec: impl Fn(FrameRate) -> TrialSpec + 'static,
        read: TrialReader,
    ) -> Box<dyn Procedure> {
        let (conditions, tries) = (self.conditions(), self.tries());
        let single =
            move |rate| SingleTrial::new(conditions.apply(spec(rate)), tries, read).of_delays();
        self.at_load(load, Box::new(move |rate| Box::new(single(rate))))
    }

    fn at_load(&self, load: Load, then: Then) -> Box<dyn Procedure> {
        let share = match load {
            Load::Rate(rate) => return then(rate),
            Load::OfThroughput(share) => share,
        };
        let scaled = move |rate: FrameRate| then(share_of(rate, share).max(FrameRate(1)));
        // A repetition in which no load passed without loss leaves the throughput unknown: the next one searches again.
        match self.known {
            Some(rate) => scaled(rate),
            None => Box::new(TwoStages::new(
                self.throughput_from(Start::Cold),
                Box::new(scaled),
            )),
        }
    }

    pub(in crate::measures) fn throughput(&self) -> LoadSearch {
        self.throughput_from(self.start)
    }

    fn throughput_from(&self, start: Start) -> LoadSearch {
        let conditions = self.conditions();
        let goal = self.test.search.first_goal();
        self.search_by(
            &self.test.search,
            goal,
            start,
            Box::new(move |spec| conditions.apply(spec)),
        )
    }
}
