//! One repetition of a measurement: what all of them have in common, and the parts most are made of.

mod conditions;
pub(super) mod reading;
mod single;
mod staged;

pub(in crate::measures) use conditions::Conditions;
pub(in crate::measures) use reading::Reading;
pub(in crate::measures) use single::Single;
pub(in crate::measures) use staged::Searching;

use super::{Load, Outcome, Value, load, theoretical};
use crate::plan::{Plan, Stateful, Test};
use crate::search::{Bracket, SearchSettings, Start, new_search, start_for};
use crate::terms::{FrameRate, FrameSize, LossRatio};
use crate::measures::LoadSource;
use crate::trial::{TrialResult, TrialSpec, Verdict};
use single::TrialReader;
use staged::{SpecMapper, Staged};

/// One repetition of a measurement.
pub trait Procedure {
    /// The trial wanted next, `None` when the measurement has ended. The same until `learn` is called.
    fn next_trial(&self) -> Option<TrialSpec>;

    /// Returns the verdict of this measurement on the result of the trial that was wanted. Loss is a failure to a search for
    /// the throughput and a result to all others; late looks of the tester spoil delays and nothing else.
    fn verdict(&self, result: &TrialResult) -> Verdict;

    /// Takes in the result of the trial that was wanted.
    fn learn(&mut self, result: &TrialResult);

    /// Returns the findings so far.
    fn findings(&self) -> Findings;
}

/// The findings of a measurement.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    /// The results of the search for the load, one for each loss goal.
    pub brackets: Vec<Bracket>,
    /// Everything else.
    pub values: Vec<Value>,
}

/// The next repetition of a measurement, given the outcomes of the earlier ones of the same point.
///
/// A measurement made at the throughput is made at that of `source`. Without one it takes what an earlier repetition found, as all results
/// recorded before throughputs were shared did, and where none did it searches first.
pub fn procedure(
    plan: &Plan,
    test: &Test,
    frame_size: FrameSize,
    earlier: &[Outcome],
    source: Option<&LoadSource>,
) -> Box<dyn Procedure> {
    let known = source.map(|source| source.throughput).or_else(|| earlier.iter().find_map(Outcome::throughput));
    test.measure.procedure(&ProcedureContext { plan, test, frame_size, earlier, known })
}

/// The inputs of a repetition: the plan around it and the knowledge from earlier repetitions and searches.
#[derive(Clone, Copy)]
pub struct ProcedureContext<'a> {
    pub(super) plan: &'a Plan,
    pub(super) test: &'a Test,
    frame_size: FrameSize,
    earlier: &'a [Outcome],
    /// The throughput, where it was searched for before.
    known: Option<FrameRate>,
}

/// The constructor of the procedure that follows once the load is known.
type Then = Box<dyn Fn(FrameRate) -> Box<dyn Procedure>>;

impl ProcedureContext<'_> {
    /// Invalid trials in a row after which the tester is at its end.
    pub(super) fn tries(&self) -> u32 {
        self.plan.search.max_invalid
    }

    pub(super) fn conditions(&self) -> Conditions {
        Conditions::of(self.test)
    }

    /// The maximum rate of the medium, where the plan knows the medium.
    pub(super) fn theoretical(&self) -> Option<FrameRate> {
        theoretical(self.plan, self.test, self.frame_size)
    }

    /// The two phases as the test has them. A test of connections without them, which no plan file makes, has one connection.
    pub(super) fn stateful(&self) -> Stateful {
        let one = || Stateful::new(1, self.plan.search.minimum, self.plan.trial.residual_ns);
        self.test.stateful.unwrap_or_else(one)
    }

    /// A search whose trials are what `mapper` makes of a constant load.
    pub(super) fn search(&self, mapper: impl Fn(TrialSpec) -> TrialSpec + 'static) -> Searching {
        let goal = self.plan.search.goals.first().copied().unwrap_or(LossRatio::ZERO);
        self.search_by(&self.plan.search, goal, self.start(), Box::new(mapper))
    }

    /// The same with other settings than the plan's.
    pub(super) fn search_with(
        &self,
        settings: &SearchSettings,
        goal: LossRatio,
        mapper: impl Fn(TrialSpec) -> TrialSpec + 'static,
    ) -> Searching {
        self.search_by(settings, goal, self.start(), Box::new(mapper))
    }

    fn search_by(&self, settings: &SearchSettings, goal: LossRatio, start: Start, mapper: SpecMapper) -> Searching {
        Searching::new(new_search(settings, &self.test.trial_settings(self.plan), start), goal, mapper)
    }

    fn start(&self) -> Start {
        let found: Vec<_> = self.earlier.iter().map(Outcome::throughput).collect();
        start_for(&self.plan.search, self.plan.seed, (&self.test.name, self.frame_size), &found)
    }

    /// One trial at a load that may have to be searched for first; `spec` makes it of the load.
    pub(super) fn single_at(
        &self,
        load: Load,
        spec: impl Fn(FrameRate) -> TrialSpec + 'static,
        read: TrialReader,
    ) -> Box<dyn Procedure> {
        let (conditions, tries) = (self.conditions(), self.tries());
        self.at_load(load, Box::new(move |rate| Box::new(Single::new(conditions.apply(spec(rate)), tries, read))))
    }

    fn at_load(&self, load: Load, then: Then) -> Box<dyn Procedure> {
        let share = match load {
            Load::Rate(rate) => return then(rate),
            Load::OfThroughput(share) => share,
        };
        let scaled = move |rate: FrameRate| then(load::scaled(rate, share).max(FrameRate(1)));
        // A repetition in which nothing passed without loss determines nothing: the next one searches again.
        match self.known {
            Some(rate) => scaled(rate),
            None => Box::new(Staged::new(self.throughput_from(Start::Cold), Box::new(scaled))),
        }
    }

    /// The search for the throughput.
    pub(super) fn throughput(&self) -> Searching {
        self.throughput_from(self.start())
    }

    fn throughput_from(&self, start: Start) -> Searching {
        let conditions = self.conditions();
        let goal = self.plan.search.goals.first().copied().unwrap_or(LossRatio::ZERO);
        self.search_by(&self.plan.search, goal, start, Box::new(move |spec| conditions.apply(spec)))
    }
}
