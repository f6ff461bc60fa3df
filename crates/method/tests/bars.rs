//! The bars that the statistics have to clear, as one table: how many 95 % intervals hold the truth, how many comparisons of a device with itself call it
//! different, and how many pairs of devices that differ are told apart.
//!
//! The truth of an interval of the median is the median of what very many repetitions of that device find with such starts over the very time that
//! was measured: here of the repetitions of all runs on it with the same numbers. So a device that drifts has a truth for each number of repetitions, and
//! a device whose cold searches all end at the same few loads has its median among them. The truth of a comparison of a device with itself is a ratio of 1.
//!
//! An interval of order statistics cannot hold the truth in exactly 95 of 100 cases: of 20 values it is 95.9, of 8 it is 99.2. Where values tie, as those
//! of cold searches on one grid do, it holds it in more, and a comparison tells less apart. Where a device drifts, its repetitions cover the way more
//! evenly than chance would, and the interval holds the median of that time in more cases, too.
//!
//! Two bars are missed, and the tables show by how much. A machine that drifts by less than its repetitions can show makes a device another when A is
//! measured first (`A first`): that is why turns are recommended. And cold searches with a width of 2 %, or a device with two modes, need more than 10
//! repetitions to show 3 %.
//!
//! `SIXBENCH_RUNS=2000 cargo test -p sixbench-method --test bars -- --nocapture` makes that many runs of each row in place of 100, which takes some ten
//! minutes, and prints the tables in place of comparing them with those that are kept.

mod common;

use common::{least_that_hold, plan, repetition_of};
use sixbench_method::comparison::{Compared, ComparisonFinding, RunOrder, Which, compare};
use sixbench_method::measures::Outcome;
use sixbench_method::plan::{Plan, Test};
use sixbench_method::repeat::Repetition;
use sixbench_method::search::{RepetitionStart, SearchMethod};
use sixbench_method::simulated::{Behaviour, SimulatedDut, SplitMix64};
use sixbench_method::stats::{median, median_interval_95, median_interval_95_in_order};
use sixbench_method::terms::{FrameRate, FrameSize};
use std::fmt::Write;

const RUNS: u64 = 100;
const RUNS_OF_A_DEVICE: u64 = 50;
const SIZES: [FrameSize; 4] = [FrameSize(84), FrameSize(128), FrameSize(256), FrameSize(512)];
const WIDTHS: [f64; 2] = [0.02, 0.005];
const NOISES: [f64; 5] = [0.0005, 0.002, 0.005, 0.01, 0.02];

/// The name of a device, how it behaves, and the share that it gains in an hour.
type DeviceRow = (&'static str, Behaviour, f64);

const STEADY: DeviceRow = ("steady", Behaviour::HardLimit, 0.0);
const TWO_MODES: DeviceRow = ("two modes", Behaviour::Bimodal { often: 0.08, at: 0.7 }, 0.0);
/// In the five hours that 20 repetitions of A and of B take from dithered starts, it loses 2.5 %.
const DRIFTING: DeviceRow = ("drifting", Behaviour::HardLimit, -0.005);

/// The name of a search, where its repetitions start, and its algorithm.
type SearchRow = (&'static str, RepetitionStart, SearchMethod);

const SEARCHES: [SearchRow; 3] = [
    ("cold binary", RepetitionStart::Cold, SearchMethod::Binary),
    ("dithered binary", RepetitionStart::Dithered, SearchMethod::Binary),
    ("dithered mlrsearch", RepetitionStart::Dithered, SearchMethod::Mlrsearch),
];

fn runs() -> u64 {
    std::env::var("SIXBENCH_RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(RUNS)
}

/// What a row of the table is about.
#[derive(Clone)]
struct Scenario {
    plan: Plan,
    behaviour: Behaviour,
    drift: f64,
    noise: f64,
}

impl Scenario {
    fn new(
        (_, start, method): (&str, RepetitionStart, SearchMethod),
        (_, behaviour, drift): (&str, Behaviour, f64),
        width: f64,
        noise: f64,
    ) -> Self {
        let mut plan = plan(method, &[0.0]);
        (plan.search.start, plan.search.width) = (start, width);
        Self { plan, behaviour, drift, noise }
    }

    fn dut(&self, capacity: u64, seed: u64) -> SimulatedDut {
        SimulatedDut::new(self.behaviour, FrameRate(capacity), seed).with_noise(self.noise).with_drift(self.drift)
    }
}

/// The two sides of a comparison: their device, or their devices, and the order of their repetitions.
struct Pair<'s> {
    scenario: &'s Scenario,
    order: RunOrder,
    sizes: &'s [FrameSize],
    repetitions: u32,
    /// The capacity of B as a share of A's.
    factor: f64,
}

impl Pair<'_> {
    /// Returns the outcomes of A and of B. What the machine does, it does to both: they share its time.
    fn measure(&self, capacity: u64, random: &mut SplitMix64) -> [Vec<Outcome>; 2] {
        let plan = Plan { seed: random.next_u64(), ..self.scenario.plan.clone() };
        let tests = self.tests(&plan);
        let mut duts = [1.0, self.factor].map(|factor| self.scenario.dut((capacity as f64 * factor) as u64, random.next_u64()));
        let mut outcomes = [Vec::new(), Vec::new()];
        let mut now_ns = 0;
        for side in self.turns() {
            for &size in self.sizes {
                let earlier: Vec<Outcome> =
                    outcomes[side].iter().filter(|o: &&Outcome| o.point.frame_size == size).cloned().collect();
                duts[side].wait_until(now_ns);
                outcomes[side].push(repetition_of(&plan, &tests[side], size, &earlier, &mut duts[side]));
                now_ns = duts[side].elapsed_ns();
            }
        }
        outcomes
    }

    /// Tests of one run have names of their own, and starts with them; those of two runs of one plan have not.
    fn tests(&self, plan: &Plan) -> [Test; 2] {
        let test = |name: &str| Test { name: name.to_owned(), ..self.test(plan) };
        if self.order == RunOrder::InTurns { [test("a"), test("b")] } else { [test("a"), test("a")] }
    }

    fn test(&self, plan: &Plan) -> Test {
        let repetitions = Repetition::Fixed(self.repetitions);
        Test { frame_sizes: self.sizes.to_vec(), repetitions, ..plan.tests[0].clone() }
    }

    /// The side of each turn, 0 or 1.
    fn turns(&self) -> impl Iterator<Item = usize> {
        let (in_turns, n) = (self.order == RunOrder::InTurns, self.repetitions as usize);
        (0..2 * n).map(move |turn| if in_turns { turn % 2 } else { turn / n })
    }

    /// Returns the finding of each row, and the 95 % interval of the first.
    fn compare(&self, [mut a, mut b]: [Vec<Outcome>; 2]) -> (Vec<ComparisonFinding>, Option<(f64, f64)>) {
        let test = Test { name: "compared".to_owned(), ..self.test(&self.scenario.plan) };
        a.iter_mut().chain(&mut b).for_each(|outcome| outcome.point.test.clone_from(&test.name));
        let side = |which, outcomes| Compared { which, tests: vec![&test], runs: vec![outcomes] };
        let compared = compare(&side(Which::A, &a), &side(Which::B, &b), 0.0, self.order).expect("the same test");
        let interval = compared.rows().next().and_then(|row| row.shift).map(|shift| (shift.low, shift.high));
        (compared.rows().map(|row| row.finding).collect(), interval)
    }
}

fn is_different(findings: &[ComparisonFinding]) -> bool {
    findings.iter().any(|finding| matches!(finding, ComparisonFinding::Better | ComparisonFinding::Worse))
}

fn rates(outcomes: &[Outcome]) -> Vec<f64> {
    outcomes.iter().map(|outcome| outcome.throughput().map_or(0.0, |rate| rate.0 as f64)).collect()
}

fn any_capacity(random: &mut SplitMix64) -> u64 {
    900_000 + random.next_u64() % 200_000
}

/// Counts of a row.
#[derive(Default)]
struct Counts {
    runs: u64,
    /// Intervals of the median of 20 repetitions that hold the truth.
    of_twenty: u64,
    /// The same where the repetitions ended when the median was known.
    of_adaptive: u64,
    /// The repetitions that took, of all runs.
    adaptive_repetitions: u64,
    /// Intervals of the ratio of two times 20 repetitions of one device that hold 1.
    of_ratio: u64,
    /// Comparisons of a device with itself that call it different: of 20 repetitions, in turns.
    twenty_different: u64,
    /// Of 7 repetitions, four rows.
    four_different: u64,
    /// Of 7 repetitions, one row, one after the other.
    after_different: u64,
    /// Pairs of devices 3 % apart that 10 repetitions of each tell apart: in turns, and one after the other.
    apart: [u64; 2],
}

/// Returns the number of repetitions after which the median is known.
fn stop(rates: &[f64]) -> usize {
    (1..=rates.len()).find(|&n| Repetition::ADAPTIVE.is_enough(&rates[..n])).unwrap_or(rates.len())
}

fn holds(interval: Option<(f64, f64)>, truth: f64) -> u64 {
    u64::from(interval.is_some_and(|(low, high)| low <= truth && truth <= high))
}

/// Adds the intervals of all runs on one device.
fn add_intervals(counts: &mut Counts, runs: &[Vec<f64>]) {
    let truth = |n: usize| median(&runs.iter().flat_map(|rates| &rates[..n]).copied().collect::<Vec<_>>()).expect("rates");
    let truths: Vec<f64> = (1..=20).map(truth).collect();
    for rates in runs {
        let n = stop(rates);
        counts.adaptive_repetitions += n as u64;
        counts.of_twenty += holds(median_interval_95(rates), truths[19]);
        counts.of_adaptive += holds(median_interval_95_in_order(&rates[..n]), truths[n - 1]);
    }
}

fn count(scenario: &Scenario) -> Counts {
    let pair = |order, sizes, repetitions, factor| Pair { scenario, order, sizes, repetitions, factor };
    let twenty = pair(RunOrder::InTurns, &SIZES[..1], 20, 1.0);
    let four = pair(RunOrder::InTurns, &SIZES[..], 7, 1.0);
    let after = pair(RunOrder::AFirst, &SIZES[..1], 7, 1.0);
    let apart = [RunOrder::InTurns, RunOrder::AFirst].map(|order| pair(order, &SIZES[..1], 10, 1.03));
    let (mut counts, mut random) = (Counts { runs: runs(), ..Counts::default() }, SplitMix64::new(7));
    for first in (0..counts.runs).step_by(RUNS_OF_A_DEVICE as usize) {
        let (capacity, mut of_device) = (any_capacity(&mut random), Vec::new());
        for _ in first..counts.runs.min(first + RUNS_OF_A_DEVICE) {
            let outcomes = twenty.measure(capacity, &mut random);
            of_device.push(rates(&outcomes[0]));
            let (findings, interval) = twenty.compare(outcomes);
            counts.twenty_different += u64::from(is_different(&findings));
            counts.of_ratio += holds(interval, 1.0);
            let mut different = |pair: &Pair<'_>| u64::from(is_different(&pair.compare(pair.measure(capacity, &mut random)).0));
            counts.four_different += different(&four);
            counts.after_different += different(&after);
            if scenario.noise == 0.02 {
                counts.apart.iter_mut().zip(&apart).for_each(|(count, pair)| *count += different(pair));
            }
        }
        add_intervals(&mut counts, &of_device);
    }
    counts
}

const HEAD: &str = "search              width  noise | median: n=20  adaptive (n) | ratio n=20 | A/A: n=20  4 rows  A first | 3 %: in turns  A first";

fn line(search: &str, width: f64, noise: f64, counts: &Counts) -> String {
    let percent = |count: u64| 100.0 * count as f64 / counts.runs as f64;
    let [twenty, adaptive, ratio] = [counts.of_twenty, counts.of_adaptive, counts.of_ratio].map(percent);
    let [one, four, after] = [counts.twenty_different, counts.four_different, counts.after_different].map(percent);
    let n = counts.adaptive_repetitions as f64 / counts.runs as f64;
    let apart = match noise == 0.02 {
        true => counts.apart.map(|count| format!("{:.1}", percent(count))),
        false => [String::new(), String::new()],
    };
    let (width, noise) = (width * 100.0, noise * 100.0);
    let line = format!(
        "{search:<18} {width:>4} % {noise:>4} % | {twenty:>12.1} {adaptive:>8.1} {n:>5.1} | {ratio:>10.1} | {one:>9.1} {four:>7.1} {after:>8.1} | {:>13} {:>8}",
        apart[0], apart[1]
    );
    line.trim_end().to_owned()
}

/// The rows of a table: width, search and counts.
struct Rows {
    text: String,
    rows: Vec<(SearchRow, f64, Counts)>,
}

impl Rows {
    fn of(device: DeviceRow) -> Self {
        let (mut text, mut rows) = (format!("{}, {} runs; per cent\n{HEAD}\n", device.0, runs()), Vec::new());
        for search in SEARCHES {
            for (width, noise) in WIDTHS.into_iter().flat_map(|width| NOISES.map(|noise| (width, noise))) {
                let counts = count(&Scenario::new(search, device, width, noise));
                writeln!(text, "{}", line(search.0, width, noise, &counts)).unwrap();
                rows.push((search, width, counts));
            }
        }
        Self { text, rows }
    }

    /// Requires that what has a probability of 95 % occurs as often as chance allows, in each row and in all together.
    fn hold(&self, of: fn(&Counts) -> u64, name: &str) {
        let counts = || self.rows.iter().map(|(.., counts)| of(counts));
        assert!(counts().all(|count| count >= least_that_hold(runs())), "{name}\n{}", self.text);
        let all = runs() * self.rows.len() as u64;
        assert!(counts().sum::<u64>() >= least_that_hold(all), "{name}, all rows\n{}", self.text);
    }

    fn clear_the_bars_of_intervals_and_equal_devices(&self) {
        self.hold(|counts| counts.of_twenty, "median of 20");
        self.hold(|counts| counts.of_adaptive, "median, adaptive");
        self.hold(|counts| counts.of_ratio, "ratio of 20");
        self.hold(|counts| counts.runs - counts.twenty_different, "equal, 20 repetitions");
        self.hold(|counts| counts.runs - counts.four_different, "equal, four rows");
    }

    /// Requires that A and B are told apart in turns, or else when A was measured first, in at least this share of the runs: in the mean over the
    /// rows with a noise of 2 %, but those of cold searches on a coarse grid.
    fn tell_apart(&self, order: usize, least: f64) {
        let is_coarse = |(search, width, _): &&(SearchRow, f64, Counts)| search.1 == RepetitionStart::Cold && *width == 0.02;
        let noisy = self.rows.iter().skip(NOISES.len() - 1).step_by(NOISES.len()).filter(|row| !is_coarse(row));
        let shares: Vec<f64> = noisy.map(|(.., counts)| counts.apart[order] as f64 / runs() as f64).collect();
        let mean = shares.iter().sum::<f64>() / shares.len() as f64;
        assert!(shares.len() == 5 && mean >= least, "told apart: {shares:?}\n{}", self.text);
    }

    /// Compares the table with the one that is kept; one of more runs is only printed.
    fn keep(&self, name: &str) {
        if runs() == RUNS {
            insta::assert_snapshot!(name, self.text);
        } else {
            println!("{}", self.text);
        }
    }
}

#[test]
fn a_steady_device_clears_every_bar() {
    let rows = Rows::of(STEADY);
    rows.clear_the_bars_of_intervals_and_equal_devices();
    rows.hold(|counts| counts.runs - counts.after_different, "equal, A first");
    rows.tell_apart(0, 0.8);
    rows.tell_apart(1, 0.8);
    rows.keep("steady");
}

#[test]
fn a_device_with_two_modes_clears_the_bars_of_intervals_and_equal_devices() {
    let rows = Rows::of(TWO_MODES);
    rows.clear_the_bars_of_intervals_and_equal_devices();
    rows.hold(|counts| counts.runs - counts.after_different, "equal, A first");
    rows.keep("two_modes");
}

#[test]
fn a_device_that_drifts_clears_the_bars_in_turns() {
    let rows = Rows::of(DRIFTING);
    rows.clear_the_bars_of_intervals_and_equal_devices();
    rows.tell_apart(0, 0.8);
    rows.keep("drifting");
}
