//! The measurements of RFC 8219 section 7: which trials each asks for and what it makes of them. Like a search, a procedure only decides;
//! so resuming a run, and every report, is feeding recorded results to `learn` again.

mod back_to_back;
mod capacity;
mod conditions;
mod largest;
mod loss_scan;
mod read;
mod single;
mod staged;
mod tcp_capacity;
#[cfg(test)]
mod tests;
mod value;
mod watched;

pub use value::{Outcome, Quantity, Unit, Value};
pub(crate) use watched::values as watched;

use crate::plan::{Latency, Load, Measure, Plan, Point, Recovery, Reset, SearchMethod, SearchSettings, Stateful, Test};
use crate::search::{Bracket, Start, new_search, start_for};
use crate::terms::{FrameRate, FrameSize, IpVersion, LossRatio};
use crate::throughput::LoadSource;
use crate::trial::{Shape, Tagging, TrialResult, TrialSpec, Verdict};
use back_to_back::BackToBackSearch;
use capacity::CapacitySearch;
use conditions::Conditions;
use loss_scan::Scan;
use single::Single;
use staged::{Dress, Searching, Staged};
use tcp_capacity::TcpCapacitySearch;

/// One repetition of a measurement.
pub trait Procedure {
    /// The trial wanted next, `None` when the measurement has ended. The same until `learn` is called.
    fn next_trial(&self) -> Option<TrialSpec>;

    /// What the result of the trial that was wanted says to this measurement. Loss is a failure to a search for the throughput and a result
    /// to all others; late looks of the tester spoil delays and nothing else.
    fn verdict(&self, result: &TrialResult) -> Verdict;

    /// Takes in the result of the trial that was wanted.
    fn learn(&mut self, result: &TrialResult);

    /// What is known by now.
    fn findings(&self) -> Findings;
}

/// What a measurement has found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    /// Of the search for the load, one for each loss goal.
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
    let tries = plan.search.max_invalid;
    let conditions = Conditions::of(test);
    let known = source.map(|source| source.throughput).or_else(|| earlier.iter().find_map(Outcome::throughput));
    let start = || start_for(plan, &Point { test: test.name.clone(), frame_size }, earlier);
    let loaded = |load: Load, then: Then| at_load(plan, test, load, known, then);
    match &test.measure {
        Measure::Throughput => Box::new(searching(plan, test, start())),
        Measure::FrameLossRate(scan) => {
            let maximum = theoretical(plan, test, frame_size).unwrap_or(plan.search.maximum);
            Box::new(Scan::new(scan, maximum, plan.trial.duration_ns, tries, conditions))
        }
        Measure::Latency(latency) => {
            let latency = *latency;
            let then = move |rate| boxed(Single::new(tagged(&latency, rate, conditions), tries, read::latency));
            loaded(latency.load, Box::new(then))
        }
        Measure::Pdv(at) => loaded(at.load, single(at.duration_ns, conditions, tries, read::pdv)),
        Measure::Ipdv(at) => loaded(at.load, single(at.duration_ns, conditions, tries, read::ipdv)),
        Measure::BackToBack(settings) => {
            let rate = theoretical(plan, test, frame_size).map_or(settings.rate, |most| settings.rate.min(most));
            Box::new(BackToBackSearch::new(settings, rate, tries, conditions))
        }
        Measure::Recovery(recovery) => {
            // "110 % of the recorded throughput rate or the maximum rate for the media, whichever is lower".
            let most = theoretical(plan, test, frame_size).unwrap_or(FrameRate(u64::MAX));
            loaded(Load::OfThroughput(1.0), recovering(*recovery, most, conditions, tries))
        }
        Measure::Reset(reset) => loaded(reset.load, resetting(*reset, conditions, tries)),
        Measure::EstablishmentRate => Box::new(establishing(plan, test, start())),
        Measure::TearDownRate => Box::new(Single::new(stateful(plan, test).tearing_down(), tries, read::tear_down)),
        Measure::TableCapacity(capacity) => {
            Box::new(CapacitySearch::new(*capacity, stateful(plan, test), plan.search.clone(), plan.trial))
        }
        Measure::TcpEstablishmentRate(_) => {
            let dress = |spec| TrialSpec { shape: Shape::TcpRate, ..spec };
            Box::new(search_of(plan, test, start(), Box::new(dress)))
        }
        Measure::Dns(_) => {
            let dress = |spec| TrialSpec { shape: Shape::Queries, ..spec };
            Box::new(search_of(plan, test, start(), Box::new(dress)))
        }
        Measure::TcpCapacity(capacity) => Box::new(TcpCapacitySearch::new(capacity, tries)),
        Measure::ResponseTime(response) => {
            let spec = TrialSpec::response(response.rate(test.clients()), response.duration_ns);
            Box::new(Single::new(spec, tries, read::response_time))
        }
    }
}

/// The two phases as the test has them. A test of connections without them, which no plan file makes, has one connection.
fn stateful(plan: &Plan, test: &Test) -> Stateful {
    test.stateful.unwrap_or_else(|| Stateful::new(1, plan.search.minimum, plan.trial.residual_ns))
}

/// What follows once the load is known.
type Then = Box<dyn Fn(FrameRate) -> Box<dyn Procedure>>;

fn boxed(procedure: impl Procedure + 'static) -> Box<dyn Procedure> {
    Box::new(procedure)
}

fn single(duration_ns: u64, conditions: Conditions, tries: u32, read: single::Read) -> Then {
    Box::new(move |rate| boxed(Single::new(conditions.apply(TrialSpec::constant(rate, duration_ns)), tries, read)))
}

fn recovering(recovery: Recovery, most: FrameRate, conditions: Conditions, tries: u32) -> Then {
    Box::new(move |rate| {
        let overload = FrameRate((rate.0 as f64 * recovery.overload) as u64).min(most);
        let shape = Shape::Drop { at_ns: recovery.duration_ns, to: FrameRate((overload.0 / 2).max(1)) };
        let spec = TrialSpec::constant(overload, recovery.duration_ns + recovery.after_ns);
        boxed(Single::new(conditions.apply(TrialSpec { shape, ..spec }), tries, read::recovery))
    })
}

fn resetting(reset: Reset, conditions: Conditions, tries: u32) -> Then {
    Box::new(move |rate| {
        let spec = TrialSpec::constant(rate, reset.before_ns + reset.after_ns);
        let shape = Shape::Reset { at_ns: reset.before_ns };
        boxed(Single::new(conditions.apply(TrialSpec { shape, ..spec }), tries, read::reset))
    })
}

fn at_load(plan: &Plan, test: &Test, load: Load, known: Option<FrameRate>, then: Then) -> Box<dyn Procedure> {
    let share = match load {
        Load::Rate(rate) => return then(rate),
        Load::OfThroughput(share) => share,
    };
    let scaled = move |rate: FrameRate| then(FrameRate(((rate.0 as f64 * share) as u64).max(1)));
    // A repetition in which nothing passed without loss determines nothing: the next one searches again.
    match known {
        Some(rate) => scaled(rate),
        None => Box::new(Staged::new(searching(plan, test, Start::Cold), Box::new(scaled))),
    }
}

fn searching(plan: &Plan, test: &Test, start: Start) -> Searching {
    let conditions = Conditions::of(test);
    search_of(plan, test, start, Box::new(move |spec| conditions.apply(spec)))
}

/// The search for the highest rate at which all connections are established.
fn establishing(plan: &Plan, test: &Test, start: Start) -> Searching {
    let stateful = stateful(plan, test);
    let dress = move |spec: TrialSpec| stateful.establishing(stateful.connections, spec.rate);
    // A trial lasts as long as N frames take: durations, by which MLRsearch weighs trials, say nothing of it.
    let goals = vec![LossRatio::ZERO];
    let settings = SearchSettings { method: SearchMethod::Binary, goals, ..plan.search.clone() };
    Searching::new(new_search(&settings, &test.trial_settings(plan), start), LossRatio::ZERO, Box::new(dress))
}

fn search_of(plan: &Plan, test: &Test, start: Start, dress: Dress) -> Searching {
    let goal = plan.search.goals.first().copied().unwrap_or(LossRatio::ZERO);
    Searching::new(new_search(&plan.search, &test.trial_settings(plan), start), goal, dress)
}

/// The highest rate of the medium for the largest frames that a test has on either link, where the plan knows the medium.
pub fn theoretical(plan: &Plan, test: &Test, frame_size: FrameSize) -> Option<FrameRate> {
    let version = if test.ipv4_only { IpVersion::Ipv4 } else { IpVersion::Ipv6 };
    Some(FrameRate::theoretical_maximum(plan.link_rate?, frame_size.with_fcs(version)))
}

/// The wait before the first tagged frame begins when the last flow has started: before that the load is not the one asked for.
fn tagged(latency: &Latency, rate: FrameRate, conditions: Conditions) -> TrialSpec {
    let spec = conditions.apply(TrialSpec::constant(rate, latency.duration_ns));
    let after_ns = latency.tag_after_ns + (spec.duration_ns - latency.duration_ns);
    TrialSpec { tagging: Some(Tagging { after_ns, frames: latency.tagged }), ..spec }
}
