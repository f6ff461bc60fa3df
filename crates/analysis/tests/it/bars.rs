//! The bars that the statistics must clear, in one table: how many 95 % intervals contain the true value, how many comparisons of a device with
//! itself call it different, and how many pairs of devices that differ are told apart.
//!
//! The true value for an interval of the median is the median of very many repetitions on that device, with the same kind of start and over the same
//! time: here, the repetitions of all runs on it with the same numbers. A device that drifts therefore has a true value for each number of
//! repetitions, and a device whose cold searches all end at the same few loads has its median among them. The true value for a comparison of a device
//! with itself is a ratio of 1.
//!
//! An interval of order statistics cannot contain the true value in exactly 95 of 100 cases: with 20 values it is 95.9, with 8 it is 99.2. With cold
//! searches the share is higher. They all try the same loads, so on a device with little scatter they all end at the same one: as the scatter goes to
//! 0, any interval of equal values contains the true value of a device always or never, and so one that does in 93 of 100 cases always does. If a
//! device drifts, its repetitions cover its path more evenly than chance would, so the share of intervals that contain the median of that time is
//! higher, too.
//!
//! The share of device pairs 3 % apart that are told apart is shown next to the best that is possible. `best` is the most powerful test at that level
//! (Neyman and Pearson): it knows the distribution of the repetitions of these particular devices, which no practical test does. `line` is the test
//! that allows for any steady drift by a straight line through both samples (analysis of covariance), which is the most powerful unbiased one if the
//! noise is Gaussian: it shows what is achievable for devices measured one after the other on a machine that may drift.
//!
//! `SIXBENCH_RUNS=2000 cargo test -p sixbench-analysis --test it bars -- --nocapture` makes that many runs of each row instead of 100, which takes some
//! ten minutes, and prints the tables instead of comparing them with the stored ones.

use sixbench_analysis::comparison::{Compared, ComparedSide, ComparisonFinding, RunOrder, compare};
use sixbench_method::fixtures::{least_that_hold, plan, repetition_of};
use sixbench_method::measures::Outcome;
use sixbench_method::plan::{Plan, Test};
use sixbench_method::repeat::Repetition;
use sixbench_method::search::{RepetitionStart, SearchMethod};
use sixbench_method::simulated::{Behaviour, SimulatedDut};
use sixbench_method::terms::{FrameRate, FrameSize};
use sixbench_stats::SplitMix64;
use sixbench_stats::{median, median_interval_95, median_interval_95_in_order};
use std::fmt::Write;

const RUNS: u64 = 100;
const RUNS_OF_A_DEVICE: u64 = 50;
const SIZES: [FrameSize; 4] = [
    FrameSize(84),
    FrameSize(128),
    FrameSize(256),
    FrameSize(512),
];
const WIDTHS: [f64; 2] = [0.02, 0.005];
const NOISES: [f64; 5] = [0.0005, 0.002, 0.005, 0.01, NOISY];
/// The noise at which devices 3 % apart must be told apart.
const NOISY: f64 = 0.02;

/// The name of a device, its behaviour, and its relative gain per hour.
type DeviceRow = (&'static str, Behaviour, f64);

const STEADY: DeviceRow = ("steady", Behaviour::HardLimit, 0.0);
const TWO_MODES: DeviceRow = (
    "two modes",
    Behaviour::Bimodal {
        often: 0.08,
        at: 0.7,
    },
    0.0,
);
/// It loses 2.5 % in the five hours that 20 repetitions of A and of B take from dithered starts.
const DRIFTING: DeviceRow = ("drifting", Behaviour::HardLimit, -0.005);

/// The name of a search, the start of its repetitions, and its algorithm.
type SearchRow = (&'static str, RepetitionStart, SearchMethod);

const SEARCHES: [SearchRow; 3] = [
    ("cold binary", RepetitionStart::Cold, SearchMethod::Binary),
    (
        "dithered binary",
        RepetitionStart::Dithered,
        SearchMethod::Binary,
    ),
    (
        "dithered mlrsearch",
        RepetitionStart::Dithered,
        SearchMethod::Mlrsearch,
    ),
];

fn runs() -> u64 {
    std::env::var("SIXBENCH_RUNS")
        .ok()
        .and_then(|runs| runs.parse().ok())
        .unwrap_or(RUNS)
}

/// The device and the plan of a row of the table.
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
        Self {
            plan,
            behaviour,
            drift,
            noise,
        }
    }

    fn dut(&self, capacity: u64, seed: u64) -> SimulatedDut {
        SimulatedDut::new(self.behaviour, FrameRate(capacity), seed)
            .with_noise(self.noise)
            .with_drift(self.drift)
    }
}

/// The two sides of a comparison: the device or devices, and the order of their repetitions.
struct Pair<'s> {
    scenario: &'s Scenario,
    order: RunOrder,
    sizes: &'s [FrameSize],
    repetitions: u32,
    /// The capacity of B as a share of A's.
    factor: f64,
}

impl Pair<'_> {
    /// Returns the outcomes of A and of B. Both share the machine's time, so that it influences them alike.
    fn measure(&self, capacity: u64, random: &mut SplitMix64) -> [Vec<Outcome>; 2] {
        let plan = Plan {
            seed: random.next_u64(),
            ..self.scenario.plan.clone()
        };
        let tests = self.tests(&plan);
        let mut duts = [1.0, self.factor].map(|factor| {
            self.scenario
                .dut((capacity as f64 * factor) as u64, random.next_u64())
        });
        let mut outcomes = [Vec::new(), Vec::new()];
        let mut now_ns = 0;
        for side in self.turns() {
            for &size in self.sizes {
                let earlier: Vec<Outcome> = outcomes[side]
                    .iter()
                    .filter(|o: &&Outcome| o.point.frame_size == size)
                    .cloned()
                    .collect();
                duts[side].wait_until(now_ns);
                outcomes[side].push(repetition_of(
                    &plan,
                    &tests[side],
                    size,
                    &earlier,
                    &mut duts[side],
                ));
                now_ns = duts[side].elapsed_ns();
            }
        }
        outcomes
    }

    /// Returns the tests of both sides. Tests of one run have their own names, and with them their own starts; those of two runs of one plan do not.
    fn tests(&self, plan: &Plan) -> [Test; 2] {
        let test = |name: &str| Test {
            name: name.to_owned(),
            ..self.test(plan)
        };
        if self.order == RunOrder::InTurns {
            [test("a"), test("b")]
        } else {
            [test("a"), test("a")]
        }
    }

    fn test(&self, plan: &Plan) -> Test {
        let repetitions = Repetition::Fixed(self.repetitions);
        Test {
            frame_sizes: self.sizes.to_vec(),
            repetitions,
            ..plan.tests[0].clone()
        }
    }

    /// Returns the side of each turn, 0 or 1.
    fn turns(&self) -> impl Iterator<Item = usize> {
        let (in_turns, n) = (self.order == RunOrder::InTurns, self.repetitions as usize);
        (0..2 * n).map(move |turn| if in_turns { turn % 2 } else { turn / n })
    }

    /// Returns the finding of each row, and the 95 % interval of the first.
    fn compare(
        &self,
        [mut a, mut b]: [Vec<Outcome>; 2],
    ) -> (Vec<ComparisonFinding>, Option<(f64, f64)>) {
        let test = Test {
            name: "compared".to_owned(),
            ..self.test(&self.scenario.plan)
        };
        a.iter_mut()
            .chain(&mut b)
            .for_each(|outcome| outcome.point.test.clone_from(&test.name));
        let side = |which, outcomes| Compared {
            which,
            tests: vec![&test],
            runs: vec![outcomes],
        };
        let compared = compare(
            &side(ComparedSide::A, &a),
            &side(ComparedSide::B, &b),
            0.0,
            self.order,
        )
        .expect("the same test");
        let interval = compared
            .rows()
            .next()
            .and_then(|row| row.shift)
            .map(|shift| (shift.low, shift.high));
        (compared.rows().map(|row| row.finding).collect(), interval)
    }
}

fn is_different(findings: &[ComparisonFinding]) -> bool {
    findings.iter().any(|finding| {
        matches!(
            finding,
            ComparisonFinding::Better | ComparisonFinding::Worse
        )
    })
}

fn rates(outcomes: &[Outcome]) -> Vec<f64> {
    outcomes
        .iter()
        .map(|outcome| outcome.throughput().map_or(0.0, |rate| rate.0 as f64))
        .collect()
}

fn any_capacity(random: &mut SplitMix64) -> u64 {
    900_000 + random.next_u64() % 200_000
}

/// The counts of a row.
#[derive(Default)]
struct Counts {
    runs: u64,
    /// Intervals of the median of 20 repetitions that contain the true value.
    of_twenty: u64,
    /// The same for repetitions that ended when the median was known.
    of_adaptive: u64,
    /// The number of repetitions this took, over all runs.
    adaptive_repetitions: u64,
    /// Intervals of the ratio of two times 20 repetitions of one device that contain 1.
    of_ratio: u64,
    /// Comparisons of a device with itself that call it different: 20 repetitions, in turns.
    twenty_different: u64,
    /// The same with 7 repetitions and four rows.
    four_different: u64,
    /// The same with 7 repetitions and one row, one after the other.
    after_different: u64,
    /// Pairs of devices 3 % apart that 10 repetitions of each tell apart: in turns, and one after the other.
    apart: [u64; 2],
    /// Pairs measured one after the other that the straight line tells apart.
    apart_by_line: u64,
    /// The share of pairs measured in turns that the best test tells apart.
    best: f64,
}

/// Returns the number of repetitions after which the median is known.
fn stop(rates: &[f64]) -> usize {
    (1..=rates.len())
        .find(|&n| Repetition::ADAPTIVE.is_enough(&rates[..n]))
        .unwrap_or(rates.len())
}

fn holds(interval: Option<(f64, f64)>, truth: f64) -> u64 {
    u64::from(interval.is_some_and(|(low, high)| low <= truth && truth <= high))
}

/// Adds the intervals of all runs on one device.
fn add_intervals(counts: &mut Counts, runs: &[Vec<f64>]) {
    let truth = |n: usize| {
        median(
            &runs
                .iter()
                .flat_map(|rates| &rates[..n])
                .copied()
                .collect::<Vec<_>>(),
        )
        .expect("rates")
    };
    let truths: Vec<f64> = (1..=20).map(truth).collect();
    for rates in runs {
        let n = stop(rates);
        counts.adaptive_repetitions += n as u64;
        counts.of_twenty += holds(median_interval_95(rates), truths[19]);
        counts.of_adaptive += holds(median_interval_95_in_order(&rates[..n]), truths[n - 1]);
    }
}

fn count(scenario: &Scenario) -> Counts {
    let pair = |order, sizes, repetitions, factor| Pair {
        scenario,
        order,
        sizes,
        repetitions,
        factor,
    };
    let twenty = pair(RunOrder::InTurns, &SIZES[..1], 20, 1.0);
    let four = pair(RunOrder::InTurns, &SIZES[..], 7, 1.0);
    let after = pair(RunOrder::AFirst, &SIZES[..1], 7, 1.0);
    let apart =
        [RunOrder::InTurns, RunOrder::AFirst].map(|order| pair(order, &SIZES[..1], 10, 1.03));
    let (mut counts, mut random) = (
        Counts {
            runs: runs(),
            ..Counts::default()
        },
        SplitMix64::new(7),
    );
    for first in (0..counts.runs).step_by(RUNS_OF_A_DEVICE as usize) {
        let (capacity, mut of_device) = (any_capacity(&mut random), Vec::new());
        for _ in first..counts.runs.min(first + RUNS_OF_A_DEVICE) {
            let outcomes = twenty.measure(capacity, &mut random);
            of_device.push(rates(&outcomes[0]));
            let (findings, interval) = twenty.compare(outcomes);
            counts.twenty_different += u64::from(is_different(&findings));
            counts.of_ratio += holds(interval, 1.0);
            let mut different = |pair: &Pair<'_>| {
                u64::from(is_different(
                    &pair.compare(pair.measure(capacity, &mut random)).0,
                ))
            };
            counts.four_different += different(&four);
            counts.after_different += different(&after);
            if scenario.noise == NOISY {
                counts.apart[0] += different(&apart[0]);
                let outcomes = apart[1].measure(capacity, &mut random);
                counts.apart_by_line +=
                    u64::from(is_apart_by_line(&rates(&outcomes[0]), &rates(&outcomes[1])));
                counts.apart[1] += u64::from(is_different(&apart[1].compare(outcomes).0));
            }
        }
        add_intervals(&mut counts, &of_device);
    }
    if scenario.noise == NOISY {
        counts.best = told_apart_at_best(scenario, &mut random);
    }
    counts
}

/// Returns whether two samples of ten, one measured right after the other, differ at 5 % by more than a straight line through both explains.
fn is_apart_by_line(a: &[f64], b: &[f64]) -> bool {
    /// The 97.5th percentile of Student's t distribution with 17 degrees of freedom.
    const STUDENT: f64 = 2.110;
    let n = a.len() as f64;
    let mean = |sample: &[f64]| sample.iter().map(|rate| rate.ln()).sum::<f64>() / n;
    let from_middle = |i: usize| i as f64 - (n - 1.0) / 2.0;
    let (mut of_times, mut products, mut squares) = (0.0, 0.0, 0.0);
    for sample in [a, b] {
        let mean = mean(sample);
        for (i, rate) in sample.iter().enumerate() {
            let (time, value) = (from_middle(i), rate.ln() - mean);
            (of_times, products, squares) = (
                of_times + time * time,
                products + time * value,
                squares + value * value,
            );
        }
    }
    let slope = products / of_times;
    let variance = (squares - slope * products) / (2.0 * n - 3.0);
    let difference = mean(b) - mean(a) - slope * n;
    difference.abs() > STUDENT * (variance * (2.0 / n + n * n / of_times)).sqrt()
}

/// The distribution of the rates that the repetitions of a device find.
struct Distribution {
    logarithms: Vec<f64>,
}

impl Distribution {
    /// The resolution, and below it the range, of the logarithms of rates.
    const STEP: f64 = 0.003;
    const FROM: f64 = 12.9;
    const TO: f64 = 14.5;

    fn of(rates: &[f64]) -> Self {
        // Makes rates that were not found unlikely rather than impossible.
        const UNSEEN: f64 = 0.3;
        let mut counts = vec![UNSEEN; ((Self::TO - Self::FROM) / Self::STEP) as usize + 1];
        for rate in rates {
            counts[Self::place(*rate)] += 1.0;
        }
        let all: f64 = counts.iter().sum();
        Self {
            logarithms: counts.iter().map(|count| (count / all).ln()).collect(),
        }
    }

    fn place(rate: f64) -> usize {
        ((rate.ln().clamp(Self::FROM, Self::TO) - Self::FROM) / Self::STEP) as usize
    }

    fn logarithm(&self, rate: f64) -> f64 {
        self.logarithms[Self::place(rate)]
    }
}

/// Returns the share of pairs of devices 3 % apart that the most powerful test tells apart by ten repetitions of each, if it knows the distributions
/// for a device of 1,000,000 frames/s and one of 1,030,000. It calls them different if their repetitions are more likely from these than from two
/// devices in the middle between them, by a margin that chance exceeds in 2.5 of 100 cases of the latter.
fn told_apart_at_best(scenario: &Scenario, random: &mut SplitMix64) -> f64 {
    const CAPACITIES: [u64; 3] = [1_000_000, 1_015_000, 1_030_000];
    let mut many = |capacity: u64| -> Vec<f64> {
        let pair = Pair {
            scenario,
            order: RunOrder::InTurns,
            sizes: &SIZES[..1],
            repetitions: 10,
            factor: 1.0,
        };
        (0..runs())
            .flat_map(|_| {
                pair.measure(capacity, random)
                    .map(|outcomes| rates(&outcomes))
                    .concat()
            })
            .collect()
    };
    let known = CAPACITIES.map(|capacity| Distribution::of(&many(capacity)));
    let found = CAPACITIES.map(many);
    let mut draw = |of: usize| -> Vec<f64> {
        let found = &found[of];
        (0..10)
            .map(|_| found[(random.next_u64() % found.len() as u64) as usize])
            .collect()
    };
    let likelier = |rates: &[f64], than: usize| -> f64 {
        rates
            .iter()
            .map(|rate| known[than].logarithm(*rate) - known[1].logarithm(*rate))
            .sum()
    };
    let draws = 20 * runs() as usize;
    let mut of = |a: usize, b: usize| -> Vec<f64> {
        (0..draws)
            .map(|_| likelier(&draw(a), 0) + likelier(&draw(b), 2))
            .collect()
    };
    let (mut alike, apart) = (of(1, 1), of(0, 2));
    alike.sort_by(f64::total_cmp);
    let critical = alike[draws * 39 / 40];
    apart
        .iter()
        .filter(|likelihood| **likelihood > critical)
        .count() as f64
        / draws as f64
}

const HEAD: &str = "search              width  noise | median: n=20  adaptive (n) | ratio n=20 | A/A: n=20  4 rows  A first | 3 %: in turns  best  A first  line";

fn line(search: &str, width: f64, noise: f64, counts: &Counts) -> String {
    let percent = |count: u64| 100.0 * count as f64 / counts.runs as f64;
    let [twenty, adaptive, ratio] =
        [counts.of_twenty, counts.of_adaptive, counts.of_ratio].map(percent);
    let [one, four, after] = [
        counts.twenty_different,
        counts.four_different,
        counts.after_different,
    ]
    .map(percent);
    let n = counts.adaptive_repetitions as f64 / counts.runs as f64;
    let [in_turns, a_first] = counts.apart.map(percent);
    let (best, by_line) = (100.0 * counts.best, percent(counts.apart_by_line));
    let apart = if noise == NOISY {
        format!("{in_turns:>13.1} {best:>5.1} {a_first:>8.1} {by_line:>5.1}")
    } else {
        String::new()
    };
    let (width, noise) = (width * 100.0, noise * 100.0);
    let line = format!(
        "{search:<18} {width:>4} % {noise:>4} % | {twenty:>12.1} {adaptive:>8.1} {n:>5.1} | {ratio:>10.1} | {one:>9.1} {four:>7.1} {after:>8.1} | {apart}"
    );
    line.trim_end().to_owned()
}

/// The rows of a table, with search, width and counts.
struct Rows {
    text: String,
    rows: Vec<(SearchRow, f64, Counts)>,
}

impl Rows {
    fn of(device: DeviceRow) -> Self {
        let (mut text, mut rows) = (
            format!("{}, {} runs; per cent\n{HEAD}\n", device.0, runs()),
            Vec::new(),
        );
        for search in SEARCHES {
            for (width, noise) in WIDTHS
                .into_iter()
                .flat_map(|width| NOISES.map(|noise| (width, noise)))
            {
                let counts = count(&Scenario::new(search, device, width, noise));
                writeln!(text, "{}", line(search.0, width, noise, &counts)).unwrap();
                rows.push((search, width, counts));
            }
        }
        Self { text, rows }
    }

    /// Requires that events with a probability of 95 % occur as often as chance allows, in each row and in all rows together.
    fn hold(&self, of: fn(&Counts) -> u64, name: &str) {
        let counts = || self.rows.iter().map(|(.., counts)| of(counts));
        assert!(
            counts().all(|count| count >= least_that_hold(runs())),
            "{name}\n{}",
            self.text
        );
        let all = runs() * self.rows.len() as u64;
        assert!(
            counts().sum::<u64>() >= least_that_hold(all),
            "{name}, all rows\n{}",
            self.text
        );
    }

    fn clear_the_bars_of_intervals_and_equal_devices(&self) {
        self.hold(|counts| counts.of_twenty, "median of 20");
        self.hold(|counts| counts.of_adaptive, "median, adaptive");
        self.hold(|counts| counts.of_ratio, "ratio of 20");
        self.hold(
            |counts| counts.runs - counts.twenty_different,
            "equal, 20 repetitions",
        );
        self.hold(
            |counts| counts.runs - counts.four_different,
            "equal, four rows",
        );
        self.hold(
            |counts| counts.runs - counts.after_different,
            "equal, A first",
        );
    }

    /// Requires that A and B are told apart in turns in at least this share of the runs of each row with much noise, or of those in which the best
    /// test does, whichever is less. If A was measured first, they must be told apart in about as many runs as by a straight line, except with cold
    /// searches: their grid hides a drift of a step.
    fn tell_apart(&self, least: f64, of_best: f64) {
        let noisy: Vec<_> = self
            .rows
            .iter()
            .filter(|(.., counts)| counts.best > 0.0)
            .collect();
        assert_eq!(noisy.len(), SEARCHES.len() * WIDTHS.len());
        // Three standard deviations of chance.
        let chance = 1.2 / (runs() as f64).sqrt();
        for ((_, start, _), _, counts) in noisy {
            let share = |count: u64| count as f64 / runs() as f64;
            let ([in_turns, a_first], by_line) =
                (counts.apart.map(share), share(counts.apart_by_line));
            assert!(
                in_turns >= least.min(of_best * counts.best) - chance,
                "told apart: {in_turns}\n{}",
                self.text
            );
            let is_on_a_grid = *start == RepetitionStart::Cold;
            assert!(
                is_on_a_grid || a_first >= by_line - 0.2 - chance,
                "told apart, A first: {a_first}\n{}",
                self.text
            );
        }
    }

    /// Compares the table with the stored one; a table with more runs is only printed.
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
    rows.tell_apart(0.8, 1.0);
    rows.keep("steady");
}

/// Its searches are cut short in a third of the repetitions, and the remaining information is less, also for the best test.
#[test]
fn a_device_with_two_modes_clears_every_bar_or_comes_near_the_best_test_there_is() {
    let rows = Rows::of(TWO_MODES);
    rows.clear_the_bars_of_intervals_and_equal_devices();
    rows.tell_apart(0.8, 0.75);
    rows.keep("two_modes");
}

#[test]
fn a_device_that_drifts_clears_every_bar() {
    let rows = Rows::of(DRIFTING);
    rows.clear_the_bars_of_intervals_and_equal_devices();
    rows.tell_apart(0.8, 1.0);
    rows.keep("drifting");
}
