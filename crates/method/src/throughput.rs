//! One throughput for each device, frame size, directions and traffic. The measurements made at the throughput share the searches for it: a separate
//! search for each would take most of the time of a run, and each would find a different rate. Tests with DNS queries share only searches with the
//! same queries.

use crate::measures::{LoadSource, Outcome, SearchRef};
use crate::plan::{Measure, Plan, Point, Test};
use crate::terms::FrameRate;
use sixbench_stats::{Censored, CensoredValue};

/// Returns the throughput at which `point` is measured, from the searches among `outcomes`; `None` until one of them has found it.
pub fn shared(plan: &Plan, point: &Point, outcomes: &[Outcome]) -> Option<LoadSource> {
    // An outcome at a known load has not searched for it.
    let found: Vec<(SearchRef, CensoredValue)> = points(plan, point)
        .flat_map(|source| {
            outcomes
                .iter()
                .filter(move |outcome| outcome.point == source && outcome.load.is_none())
        })
        .filter_map(|outcome| Some((search(outcome), outcome.brackets.first()?.known()?)))
        .collect();
    let rates: Censored = found.iter().map(|(_, rate)| *rate).collect();
    let throughput = sixbench_stats::median(rates.values()).filter(|rate| *rate >= 1.0)?;
    let is_at_least = rates.is_median_open();
    let searches = found.into_iter().map(|(search, _)| search).collect();
    Some(LoadSource {
        throughput: FrameRate(throughput as u64),
        is_at_least,
        searches,
    })
}

/// Returns whether a measurement of `test` can take its load from the searches of another test of the plan.
pub fn is_shared(plan: &Plan, test: &Test, point: &Point) -> bool {
    let mut sources = points(plan, point);
    test.measure.is_at_throughput() && sources.next().is_some_and(|first| first.test != test.name)
}

/// The trials and the time that sharing searches has saved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SharingSavings {
    /// The number of points that were measured at the throughput of another test's searches.
    pub points: u32,
    /// The number of trials saved, assuming that a separate search takes as many as the first of those searches.
    pub trials: u32,
    /// The time that these trials would have taken, in nanoseconds: sending and rest, without the wait for residual frames.
    pub time_ns: u64,
}

/// Returns the trials and the time that sharing searches has saved among `outcomes`.
pub fn saved(plan: &Plan, outcomes: &[Outcome]) -> SharingSavings {
    let of_point = |point: &Point| {
        let load = outcomes
            .iter()
            .find(|outcome| outcome.point == *point)?
            .load
            .as_ref()?;
        let first = load
            .searches
            .first()
            .filter(|search| search.test != point.test)?;
        let is_first = |o: &&Outcome| {
            o.point.test == first.test
                && o.point.frame_size == point.frame_size
                && o.repetition == first.repetition
        };
        outcomes.iter().find(is_first).map(|search| search.trials)
    };
    let trials: Vec<u32> = plan
        .tests
        .iter()
        .flat_map(Test::points)
        .filter_map(|point| of_point(&point))
        .collect();
    // Records and plan may have been edited to contain any numbers.
    let all = trials
        .iter()
        .fold(0_u32, |all, of_one| all.saturating_add(*of_one));
    let each_ns = plan.trial.duration_ns.saturating_add(plan.trial.rest_ns);
    SharingSavings {
        points: trials.len() as u32,
        trials: all,
        time_ns: u64::from(all).saturating_mul(each_ns),
    }
}

/// Returns the points whose searches determine the throughput of `point`, in the order in which they are measured: those of throughput tests, then
/// those of measurements made at the throughput. Without a throughput test, the first of the latter searches for all.
pub(crate) fn points<'p>(plan: &'p Plan, point: &'p Point) -> impl Iterator<Item = Point> + 'p {
    let of = plan.test(&point.test);
    let is_source = move |test: &&Test| {
        let is_alike = |of: &Test| {
            of.shares_throughput_with(test)
                && of.first_goal(plan) == test.first_goal(plan)
                && of.measure.sends_queries_of(&test.measure)
        };
        of.is_some_and(is_alike) && test.frame_sizes.contains(&point.frame_size)
    };
    let measured =
        |which: fn(&Measure) -> bool| plan.tests.iter().filter(move |test| which(&test.measure));
    let tests = measured(Measure::finds_the_load).chain(measured(Measure::is_at_throughput));
    tests.filter(is_source).map(|test| Point {
        test: test.name.clone(),
        frame_size: point.frame_size,
    })
}

fn search(outcome: &Outcome) -> SearchRef {
    SearchRef {
        test: outcome.point.test.clone(),
        repetition: outcome.repetition,
    }
}
