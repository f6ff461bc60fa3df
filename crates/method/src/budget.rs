//! The cost of a plan in measurements, trials and time, estimated before anything is measured. Reads no clock.

use crate::measures::{Findings, LimitSigns, Outcome, procedure};
use crate::plan::{DeviceIdentity, Plan, Test};
use crate::repeat::Repetition;
use crate::search::{RepetitionStart, SearchSettings, Start, new_search};
use crate::simulated::{Behaviour, SimulatedDut};
use crate::terms::FrameRate;
use crate::throughput::is_shared;
use crate::trial::{Measurer, TrialSettings};

/// The expected effort of a plan, including the full wait for residual frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Points times repetitions.
    pub measurements: u32,
    /// The number of all trials.
    pub trials: u32,
    /// The total time in seconds.
    pub seconds: u64,
}

/// The time to set up a device: links, addresses, the device itself, the first exchange with it.
pub(crate) const SET_UP_NS: u64 = 2_000_000_000;

/// The time the tester needs around a trial apart from the waits, in nanoseconds: placing threads, resolving hardware addresses, writing the record
/// to disk.
pub(crate) const AROUND_NS: u64 = 50_000_000;

/// Trials of a self-test: halving from 500,000 queries/s until the bounds are 10 % apart takes 7 for a tester that is fit for 300,000 to 400,000, 8 for one
/// that is fit for 150,000 to 200,000, and 11 for 20,000. One trial is enough for a tester that is fit for everything.
const SELF_TESTS: u64 = 8;
/// The longest trial of the self-test, in nanoseconds: it measures only the tester, which is steady.
pub const LONGEST_SELF_TEST_NS: u64 = 10_000_000_000;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cost {
    pub(crate) trials: f64,
    pub(crate) sending_ns: f64,
}

/// Returns the costs of the first and of a later repetition of a point of each test, in the plan's order.
pub(crate) fn costs(plan: &Plan) -> Vec<[Cost; 2]> {
    let is_warm = plan.search.start != RepetitionStart::Cold;
    let searched = |test: &Test| {
        [false, is_warm].map(|warm| cost(&test.search_settings(plan), &plan.trial, warm))
    };
    let of_test = |test: &Test| {
        if test.measure.is_throughput() && test.stateful.is_none() {
            searched(test)
        } else {
            rehearsed_procedure(plan, test).into()
        }
    };
    let shared = |test: &Test| test.points().all(|point| is_shared(plan, test, &point));
    plan.tests
        .iter()
        .map(|test| {
            if shared(test) {
                // The search was already paid for by the test that it is shared with.
                [of_test(test)[1]; 2]
            } else {
                of_test(test)
            }
        })
        .collect()
}

/// Returns the time around each trial of a test: residual wait, rest, the tester's own overhead, the ramp, and the waits between the phases of RFC 9693.
pub(crate) fn around_ns(test: &Test, trial: &TrialSettings) -> u64 {
    let between_ns = test.stateful.map_or(0, |stateful| 2 * stateful.timeout_ns);
    let ramp_ns = test
        .traffic
        .ramp_ns
        .map_or(0, |ramp_ns| ramp_ns + AROUND_NS);
    trial.residual_ns + trial.rest_ns + AROUND_NS + between_ns + ramp_ns
}

/// Returns the set-up times in nanoseconds, one for each device that is set up separately.
pub(crate) fn set_ups_ns(plan: &Plan) -> Vec<u64> {
    let mut devices: Vec<_> = plan.tests.iter().map(DeviceIdentity::of_test).collect();
    devices.sort_unstable();
    devices.dedup();
    let self_test_ns = SELF_TESTS * plan.trial.duration_ns.min(LONGEST_SELF_TEST_NS);
    devices
        .into_iter()
        .map(|device| SET_UP_NS + if device.is_server() { self_test_ns } else { 0 })
        .collect()
}

/// Returns the expected effort of `plan`.
///
/// The assumptions: a binary search takes `1 + ceil(log2((maximum - minimum) / (width * maximum)))` trials in the first repetition of a point, which
/// is right for a result near the maximum (each halving below it takes one more), and 6 in each later one that does not start cold; MLRsearch takes
/// as many as on a simulated DUT whose capacity scatters by 2 %. No trial is invalid.
pub fn estimate(plan: &Plan) -> Budget {
    let mut budget = Budget {
        measurements: 0,
        trials: 0,
        seconds: 0,
    };
    let mut total_ns = set_ups_ns(plan).iter().sum::<u64>() as f64;
    let mut total_trials = 0.0;
    for (test, [first, later]) in plan
        .tests
        .iter()
        .zip(costs(plan))
        .filter(|(test, _)| test.repetitions.most() > 0)
    {
        let repetitions = test.repetitions.most();
        let points = test.frame_sizes.len() as u32;
        budget.measurements += points * repetitions;
        // A point that takes its load from the searches of another test has no search of its own, not even in the first repetition.
        let searching = test
            .points()
            .filter(|point| !is_shared(plan, test, point))
            .count() as u32;
        let (cold, warm) = (
            f64::from(searching),
            f64::from(points * repetitions - searching),
        );
        let trials = cold * first.trials + warm * later.trials;
        let sending_ns = cold * first.sending_ns + warm * later.sending_ns;
        total_trials += trials;
        total_ns += sending_ns + trials * around_ns(test, &plan.trial) as f64;
    }
    budget.trials = total_trials.ceil() as u32;
    budget.seconds = (total_ns / 1e9).ceil() as u64;
    budget
}

/// Returns the effort of `plan` if it followed the RFCs exactly: 60 s trials (RFC 2544 section 24), 2 s for residual frames and 5 s of rest (section
/// 23), 20 repetitions (RFC 8219 section 7).
pub fn estimate_rfc(plan: &Plan) -> Budget {
    let mut plan = plan.clone();
    plan.trial.duration_ns = 60_000_000_000;
    plan.trial.residual_ns = 2_000_000_000;
    plan.trial.rest_ns = 5_000_000_000;
    plan.search.start = RepetitionStart::Cold;
    plan.tests.iter_mut().for_each(lengthen);
    estimate(&plan)
}

fn lengthen(test: &mut Test) {
    if let Some(settings) = test.measure.settings_mut() {
        settings.lengthen();
    }
    test.repetitions = Repetition::Fixed(test.measure.info().repetitions);
}

/// Returns the costs of the first and of a later repetition of any procedure, counted on a simulated DUT.
fn rehearsed_procedure(plan: &Plan, test: &Test) -> (Cost, Cost) {
    let Some(point) = test.points().next() else {
        return (Cost::default(), Cost::default());
    };
    let search = test.search_settings(plan);
    // Nothing is known of the device before the run, so it is taken to be in the middle of the range.
    let capacity = FrameRate(search.minimum.0.midpoint(search.maximum.0));
    let mut dut =
        SimulatedDut::new(Behaviour::Noisy { deviation: 0.02 }, capacity, 1).with_overhead(0);
    let mut earlier = Vec::new();
    let mut rehearse = || {
        let mut procedure = procedure(plan, test, point.frame_size, &earlier, None);
        let (mut trials, before_ns) = (0, dut.elapsed_ns());
        while let Some(spec) = procedure.next_trial() {
            let Ok(result) = dut.measure(&spec);
            procedure.learn(&result);
            trials += 1;
        }
        let Findings { brackets, values } = procedure.findings();
        earlier.push(Outcome {
            point: point.clone(),
            repetition: 1,
            trials,
            invalid: 0,
            load: None,
            brackets,
            values,
            signs: LimitSigns::default(),
        });
        Cost {
            trials: f64::from(trials),
            sending_ns: (dut.elapsed_ns() - before_ns) as f64,
        }
    };
    (rehearse(), rehearse())
}

fn cost(search: &SearchSettings, trial: &TrialSettings, warm: bool) -> Cost {
    match search.method.info().trials {
        Some(trials) => {
            let trials = trials(search, warm);
            Cost {
                trials,
                sending_ns: trials * trial.duration_ns as f64,
            }
        }
        None => rehearsed_cost(search, trial, warm),
    }
}

/// Returns the mean cost of several searches, counted on a simulated DUT.
fn rehearsed_cost(search: &SearchSettings, trial: &TrialSettings, warm: bool) -> Cost {
    const SEARCHES: u64 = 20;
    let capacity = FrameRate(search.minimum.0.midpoint(search.maximum.0));
    let start = if warm {
        Start::Near(capacity)
    } else {
        Start::Cold
    };
    let mut cost = Cost::default();
    for seed in 0..SEARCHES {
        let noisy = Behaviour::Noisy { deviation: 0.02 };
        let mut dut = SimulatedDut::new(noisy, capacity, seed).with_overhead(0);
        let mut rehearsal = new_search(search, trial, start);
        while let Some(spec) = rehearsal.next_trial() {
            let Ok(result) = dut.measure(&spec);
            rehearsal.learn(&result);
            cost.trials += 1.0 / SEARCHES as f64;
        }
        cost.sending_ns += dut.elapsed_ns() as f64 / SEARCHES as f64;
    }
    cost
}
