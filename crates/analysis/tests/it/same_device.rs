//! Comparisons of equal devices: how often their repetitions are called different. It must be no more often than 95 % intervals allow, at every width
//! of the search and at any noise of the device.

use sixbench_analysis::comparison::{Compared, ComparedSide, ComparisonFinding, RunOrder, compare};
use sixbench_method::fixtures::{least_that_hold, plan, repeat};
use sixbench_method::measures::Outcome;
use sixbench_method::plan::Plan;
use sixbench_method::search::{RepetitionStart, SearchMethod};
use sixbench_method::simulated::{Behaviour, SimulatedDut};
use sixbench_method::terms::FrameRate;
use sixbench_stats::SplitMix64;
use sixbench_stats::{median, median_interval_95};
use std::fmt::Write;

const RUNS: u64 = 1000;
const TEST: &str = "nat64";
const WIDTHS: [f64; 2] = [0.02, 0.005];
const NOISES: [f64; 5] = [0.0005, 0.002, 0.005, 0.01, 0.02];

fn settings(start: RepetitionStart, method: SearchMethod, width: f64) -> Plan {
    let mut plan = plan(method, &[0.0]);
    (plan.search.start, plan.search.width) = (start, width);
    plan.tests[0].frame_sizes.truncate(1);
    plan
}

/// Returns the repetitions of a test of this name, which determines the start of its searches, as in two tests of one plan.
fn measured(
    plan: &Plan,
    name: &str,
    capacity: u64,
    noise: f64,
    repetitions: u32,
    seed: u64,
) -> Vec<Outcome> {
    let mut plan = plan.clone();
    name.clone_into(&mut plan.tests[0].name);
    let mut dut = SimulatedDut::new(
        Behaviour::Noisy { deviation: noise },
        FrameRate(capacity),
        seed,
    );
    let mut outcomes = Vec::new();
    for _ in 0..repetitions {
        let outcome = repeat(&plan, &outcomes, &mut dut);
        outcomes.push(outcome);
    }
    // The comparison is of the devices, not of the tests whose names determined the starts.
    for outcome in &mut outcomes {
        TEST.clone_into(&mut outcome.point.test);
    }
    outcomes
}

/// Returns the percentage of runs in which the same device, measured twice, was called better or worse than itself.
fn called_different(plan: &Plan, noise: f64, repetitions: u32) -> f64 {
    let is_different = |seed: &u64| {
        let mut random = SplitMix64::new(*seed);
        let capacity = 900_000 + random.next_u64() % 200_000;
        let plan = Plan {
            seed: random.next_u64(),
            ..plan.clone()
        };
        let [a, b] = ["a", "b"]
            .map(|name| measured(&plan, name, capacity, noise, repetitions, random.next_u64()));
        let side = |which, outcomes| Compared {
            which,
            tests: vec![&plan.tests[0]],
            runs: vec![outcomes],
        };
        let compared = compare(
            &side(ComparedSide::A, &a),
            &side(ComparedSide::B, &b),
            0.0,
            RunOrder::InTurns,
        )
        .expect("the same test");
        compared.rows().any(|row| {
            matches!(
                row.finding,
                ComparisonFinding::Better | ComparisonFinding::Worse
            )
        })
    };
    100.0 * (0..RUNS).filter(is_different).count() as f64 / RUNS as f64
}

#[test]
fn the_same_device_is_called_different_in_at_most_six_of_a_hundred_comparisons() {
    let mut table = String::from("start     method     width  noise   n=7   n=20\n");
    for (start, name) in [
        (RepetitionStart::Dithered, "dithered"),
        (RepetitionStart::Cold, "cold"),
    ] {
        for (method, searched) in [
            (SearchMethod::Binary, "binary"),
            (SearchMethod::Mlrsearch, "mlrsearch"),
        ] {
            for (width, noise) in WIDTHS
                .into_iter()
                .flat_map(|width| NOISES.map(|noise| (width, noise)))
            {
                let plan = settings(start, method, width);
                let [seven, twenty] = [7, 20].map(|n| called_different(&plan, noise, n));
                let (width, noise) = (width * 100.0, noise * 100.0);
                assert!(
                    seven <= 6.0 && twenty <= 6.0,
                    "{name} {searched} {width} % {noise} %: {seven} {twenty}\n{table}"
                );
                writeln!(
                    table,
                    "{name:<9} {searched:<9} {width:>5} % {noise:>4} % {seven:>5.1} {twenty:>6.1}"
                )
                .unwrap();
            }
        }
    }
    insta::assert_snapshot!(table);
}

/// Guards against the cause of such differences: repetitions that all start at the median copy each other.
#[test]
fn repetitions_that_start_at_the_median_itself_copy_each_other() {
    let plan = settings(RepetitionStart::Median, SearchMethod::Mlrsearch, 0.02);
    let different = called_different(&plan, 0.0005, 20);
    assert!(different > 50.0, "{different} %");
}

/// The repetitions of each run whose interval is checked.
const REPETITIONS: u32 = 20;

/// The devices for each width and noise, and the runs on each of them.
const DEVICES: u64 = 10;
const RUNS_OF_EACH: u64 = 30;

/// The repetitions whose median is the true value.
const MANY: u32 = 500;

/// Returns the rates that repetitions of a plan found on a new device of this capacity.
fn rates(
    plan: &Plan,
    capacity: u64,
    noise: f64,
    repetitions: u32,
    random: &mut SplitMix64,
) -> Vec<f64> {
    let plan = Plan {
        seed: random.next_u64(),
        ..plan.clone()
    };
    let outcomes = measured(&plan, TEST, capacity, noise, repetitions, random.next_u64());
    outcomes
        .iter()
        .map(|outcome| outcome.throughput().expect("a rate").0 as f64)
        .collect()
}

fn any_capacity(random: &mut SplitMix64) -> u64 {
    900_000 + random.next_u64() % 200_000
}

/// Returns the median of many repetitions of runs on devices of any capacity, as a share of the capacity.
fn median_share(plan: &Plan, noise: f64, random: &mut SplitMix64) -> f64 {
    let mut shares = Vec::new();
    for _ in 0..MANY * 4 / REPETITIONS {
        let capacity = any_capacity(random);
        shares.extend(
            rates(plan, capacity, noise, REPETITIONS, random)
                .into_iter()
                .map(|rate| rate / capacity as f64),
        );
    }
    median(&shares).expect("shares")
}

/// The number of intervals that contain the true value.
struct IntervalsThatHold {
    /// The median of all repetitions with the same kind of start.
    own: u64,
    /// The median of cold searches of the device, if it lies within half a width of the interval.
    cold: u64,
}

fn intervals_that_hold(
    start: RepetitionStart,
    method: SearchMethod,
    width: f64,
    noise: f64,
) -> IntervalsThatHold {
    let (plan, cold) = (
        settings(start, method, width),
        settings(RepetitionStart::Cold, method, width),
    );
    let mut random = SplitMix64::new(7);
    let share = median_share(&plan, noise, &mut random);
    let mut hold = IntervalsThatHold { own: 0, cold: 0 };
    for _ in 0..DEVICES {
        let capacity = any_capacity(&mut random);
        let of_cold = median(&rates(&cold, capacity, noise, MANY, &mut random)).expect("rates");
        // All cold searches of a device try the loads of one grid; each dithered one has its own grid.
        let own = if start == RepetitionStart::Cold {
            of_cold
        } else {
            share * capacity as f64
        };
        for _ in 0..RUNS_OF_EACH {
            let found = rates(&plan, capacity, noise, REPETITIONS, &mut random);
            let (low, high) = median_interval_95(&found).expect("an interval");
            hold.own += u64::from((low..=high).contains(&own));
            hold.cold += u64::from(
                (low * (1.0 - width / 2.0)..=high * (1.0 + width / 2.0)).contains(&of_cold),
            );
        }
    }
    hold
}

/// A search ends with a lower bound up to a width below the rate of the device. Dithered searches end anywhere within that width, with their median
/// in its middle; the end of cold ones, and so their median, depends on the position of the device on their grid. The two medians therefore differ by
/// up to half a width, however little the device scatters.
#[test]
fn the_interval_holds_its_median_as_promised_and_that_of_cold_searches_to_half_a_width() {
    let runs = DEVICES * RUNS_OF_EACH;
    let least = least_that_hold(runs);
    let mut table =
        format!("start     method     width  noise   own   cold   (of {runs}, at least {least})\n");
    let mut all = Vec::new();
    for (start, name) in [
        (RepetitionStart::Dithered, "dithered"),
        (RepetitionStart::Cold, "cold"),
    ] {
        for (method, searched) in [
            (SearchMethod::Binary, "binary"),
            (SearchMethod::Mlrsearch, "mlrsearch"),
        ] {
            for (width, noise) in WIDTHS
                .into_iter()
                .flat_map(|width| NOISES.map(|noise| (width, noise)))
            {
                let IntervalsThatHold { own, cold } =
                    intervals_that_hold(start, method, width, noise);
                let (width, noise) = (width * 100.0, noise * 100.0);
                writeln!(
                    table,
                    "{name:<9} {searched:<9} {width:>5} % {noise:>4} % {own:>5} {cold:>6}"
                )
                .unwrap();
                all.push((start, own, cold));
            }
        }
    }
    assert!(
        all.iter()
            .all(|(_, own, cold)| *own >= least && *cold >= least),
        "{table}"
    );
    for start in [RepetitionStart::Dithered, RepetitionStart::Cold] {
        let of_start: Vec<u64> = all
            .iter()
            .filter(|row| row.0 == start)
            .map(|row| row.1)
            .collect();
        let least = least_that_hold(runs * of_start.len() as u64);
        assert!(
            of_start.iter().sum::<u64>() >= least,
            "{start:?}, all rows, at least {least}: {table}"
        );
    }
    insta::assert_snapshot!(table);
}

#[test]
fn the_interval_of_repetitions_that_start_at_the_median_itself_holds_it_far_too_seldom() {
    let hold = intervals_that_hold(
        RepetitionStart::Median,
        SearchMethod::Mlrsearch,
        0.02,
        0.0005,
    );
    assert!(2 * hold.own < DEVICES * RUNS_OF_EACH, "{}", hold.own);
}
