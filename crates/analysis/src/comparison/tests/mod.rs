//! Comparisons of hand-made outcomes, and of thousands of random ones.

mod order;
mod sessions;

use super::*;
use sixbench_method::fixtures::outcome;
use sixbench_method::measures::{Quantity, Value};
use sixbench_method::plan::{Load, LossScan, Measure, PdvStream};
use sixbench_method::repeat::Repetition;
use sixbench_method::search::{Bracket, Limit};
use sixbench_method::terms::{Direction, FrameRate, LossRatio};
use sixbench_stats::SplitMix64;

/// Returns a throughput test at these frame sizes with this many repetitions.
fn test_of(name: &str, sizes: &[u16], repetitions: u32) -> Test {
    let frame_sizes = sizes.iter().map(|&size| FrameSize(size)).collect();
    Test {
        frame_sizes,
        repetitions: Repetition::Fixed(repetitions),
        ..Test::new(name, "dut")
    }
}

fn pdv(name: &str, repetitions: u32) -> Test {
    let pdv = PdvStream {
        load: Load::OfThroughput(1.0),
        duration_ns: 1_000_000_000,
    };
    Test {
        measure: Measure::Pdv(pdv),
        ..test_of(name, &[84], repetitions)
    }
}

/// Returns a repetition for each rate; 0 means that nothing passed.
fn rates(test: &str, size: u16, rates: &[u64]) -> Vec<Outcome> {
    let bracket = |&rate: &u64| {
        let lower = (rate > 0).then_some(FrameRate(rate));
        vec![Bracket {
            goal: LossRatio::ZERO,
            lower,
            upper: None,
            limit: Limit::Dut,
            exceed_ratio: 0.0,
            conditional_throughput: None,
        }]
    };
    rates
        .iter()
        .zip(1..)
        .map(|(rate, n)| Outcome {
            brackets: bracket(rate),
            ..outcome(test, size, n)
        })
        .collect()
}

fn limited(mut outcomes: Vec<Outcome>, limit: Limit) -> Vec<Outcome> {
    outcomes
        .iter_mut()
        .flat_map(|outcome| &mut outcome.brackets)
        .for_each(|bracket| bracket.limit = limit);
    outcomes
}

/// Returns a repetition for each value.
fn values(test: &str, quantity: Quantity, values: &[f64]) -> Vec<Outcome> {
    let value = |n: u32, value| {
        let (direction, load) = (Direction::Forward, FrameRate(u64::from(999 + n)));
        vec![Value {
            quantity,
            direction,
            load,
            value,
            is_at_least: false,
            is_at_most: false,
        }]
    };
    values
        .iter()
        .zip(1..)
        .map(|(&v, n)| Outcome {
            values: value(n, v),
            ..outcome(test, 84, n)
        })
        .collect()
}

fn side<'a>(which: ComparedSide, tests: &'a [Test], outcomes: &'a [Outcome]) -> Compared<'a> {
    Compared {
        which,
        tests: tests.iter().collect(),
        runs: vec![outcomes],
    }
}

/// Compares two sides that both have these tests.
fn compared<'a>(
    tests: &'a [Test],
    a: &'a [Outcome],
    b: &'a [Outcome],
    tolerance: f64,
) -> Comparison<'a> {
    compare(
        &side(ComparedSide::A, tests, a),
        &side(ComparedSide::B, tests, b),
        tolerance,
        RunOrder::InTurns,
    )
    .expect("tests in common")
}

/// Returns the only row of a test at one frame size, and the verdict.
fn row(test: Test, a: &[Outcome], b: &[Outcome], tolerance: f64) -> (ComparisonRow, Gate) {
    let tests = [test];
    let comparison = compared(&tests, a, b, tolerance);
    assert_eq!(
        (
            comparison.rows().count(),
            &comparison.missing[..],
            &comparison.unfit[..]
        ),
        (1, &[][..], &[][..])
    );
    (comparison.rows().next().unwrap().clone(), comparison.gate())
}

fn of_rates(a: &[u64], b: &[u64], tolerance: f64) -> (ComparisonRow, Gate) {
    row(
        test_of("t", &[84], a.len() as u32),
        &rates("t", 84, a),
        &rates("t", 84, b),
        tolerance,
    )
}

#[test]
fn a_higher_throughput_is_better_and_a_higher_delay_variation_worse() {
    let (row, verdict) = of_rates(&[100, 101, 99, 100], &[110, 112, 111, 109], 0.0);
    assert_eq!(
        (row.finding, verdict, row.subject.to_string().as_str()),
        (ComparisonFinding::Better, Gate::Passed, "Throughput")
    );
    let of = |of: [f64; 4]| values("t", Quantity::Pdv, &of);
    let (row, verdict) = self::row(
        pdv("t", 4),
        &of([5.0, 5.1, 4.9, 5.0]),
        &of([6.0, 6.1, 6.2, 6.0]),
        0.0,
    );
    assert_eq!(
        (row.finding, verdict, row.a.n),
        (ComparisonFinding::Worse, Gate::Worse, 4),
        "loads may differ from repetition to repetition"
    );
}

/// Makes upper bounds of all values.
fn at_most(mut outcomes: Vec<Outcome>) -> Vec<Outcome> {
    outcomes
        .iter_mut()
        .flat_map(|outcome| &mut outcome.values)
        .for_each(|value| value.is_at_most = true);
    outcomes
}

#[test]
fn a_delay_that_may_be_shorter_proves_nothing_worse_and_may_prove_it_better() {
    let of = |of: [f64; 4]| values("t", Quantity::Pdv, &of);
    let (short, long) = (of([5.0, 5.1, 4.9, 5.0]), of([6.0, 6.1, 6.2, 6.0]));
    let (bounded, verdict) = row(pdv("t", 4), &short, &at_most(long.clone()), 0.0);
    assert_eq!(
        (bounded.finding, verdict),
        (ComparisonFinding::CutOff, Gate::Inconclusive)
    );
    assert_eq!((bounded.is_a_at_most, bounded.is_b_at_most), (false, true));
    assert_eq!(
        bounded.shift.unwrap().lower_end(),
        None,
        "B may be as short as you like"
    );
    let (row_of, _) = row(pdv("t", 4), &long, &at_most(short.clone()), 0.0);
    assert_eq!(
        row_of.finding,
        ComparisonFinding::Better,
        "whatever B's delay is, it is at most this"
    );
    let (row_of, _) = row(pdv("t", 4), &at_most(short), &long, 0.0);
    assert_eq!(
        row_of.finding,
        ComparisonFinding::Worse,
        "A is shorter still"
    );
}

#[test]
fn what_lies_within_the_tolerance_or_overlaps_is_no_difference_shown() {
    let (row, verdict) = of_rates(&[100, 101, 99, 100], &[103, 104, 103, 104], 0.10);
    assert_eq!(
        (row.finding, verdict),
        (ComparisonFinding::NoDifferenceShown, Gate::Passed)
    );
    let (row, verdict) = of_rates(&[100, 120, 99, 100], &[101, 104, 103, 119], 0.0);
    assert_eq!(
        (row.finding, verdict),
        (ComparisonFinding::NoDifferenceShown, Gate::Passed)
    );
}

#[test]
fn a_device_that_passes_nothing_any_more_is_worse() {
    let (row, _) = of_rates(&[500, 501, 502, 500], &[0, 0, 0, 0], 0.0);
    assert_eq!((row.shift, row.finding), (None, ComparisonFinding::Worse));
}

#[test]
fn three_repetitions_are_inconclusive_however_far_apart_or_alike() {
    for b in [[900, 901, 902], [100, 101, 99]] {
        let (row, verdict) = of_rates(&[100, 101, 99], &b, 0.0);
        assert_eq!(
            (row.shift, row.finding),
            (None, ComparisonFinding::TooFewRepetitions { needed: 4 })
        );
        assert_eq!(verdict, Gate::Inconclusive);
    }
}

#[test]
fn four_repetitions_are_too_few_for_two_rows_and_five_enough() {
    let tests = |repetitions| [test_of("t", &[84, 128], repetitions)];
    let both = |of: &[u64]| [rates("t", 84, of), rates("t", 128, of)].concat();
    let (low, high) = ([100, 101, 99, 100, 102], [210, 212, 211, 209, 208]);
    let (four, five) = (tests(4), tests(5));
    let (a, b) = (both(&low[..4]), both(&high[..4]));
    let comparison = compared(&four, &a, &b, 0.0);
    assert!(
        comparison
            .rows()
            .all(|row| row.finding == ComparisonFinding::TooFewRepetitions { needed: 5 }),
        "{comparison:?}"
    );
    assert_eq!(comparison.gate(), Gate::Inconclusive);
    let (a, b) = (both(&low), both(&high));
    assert!(
        compared(&five, &a, &b, 0.0)
            .rows()
            .all(|row| row.finding == ComparisonFinding::Better)
    );
}

#[test]
fn nothing_is_shown_beyond_the_limit_of_the_tester_or_the_plan() {
    let test = || test_of("t", &[84], 4);
    let other = rates("t", 84, &[820, 821, 822, 823]);
    for limit in [Limit::Tester, Limit::Maximum, Limit::Disturbed] {
        let open = limited(rates("t", 84, &[800, 801, 802, 800]), limit);
        let (found, verdict) = row(test(), &open, &other, 0.0);
        assert_eq!(
            (found.finding, verdict),
            (ComparisonFinding::CutOff, Gate::Inconclusive)
        );
        assert_eq!((found.is_a_at_least, found.is_b_at_least), (true, false));
        assert_eq!(
            row(test(), &other, &open, 0.0).0.finding,
            ComparisonFinding::CutOff,
            "B may be as good as A"
        );
        let below = rates("t", 84, &[700, 701, 702, 703]);
        assert_eq!(
            row(test(), &open, &below, 0.0).0.finding,
            ComparisonFinding::Worse,
            "below the bound is below"
        );
        assert_eq!(
            row(test(), &below, &open, 0.0).0.finding,
            ComparisonFinding::Better,
            "above it is above"
        );
    }
}

#[test]
fn a_side_whose_tester_was_unfit_is_neither_missing_nor_passed() {
    let tests = [test_of("t", &[84], 4)];
    let (a, mut b) = (
        rates("t", 84, &[800, 801, 802, 800]),
        limited(rates("t", 84, &[0; 4]), Limit::Tester),
    );
    let comparison = compared(&tests, &a, &b, 0.0);
    let told: Vec<String> = comparison.unfit.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        ["the tester of B was not fit in 4 of 4 repetitions of t/84"]
    );
    assert_eq!(
        (comparison.gate(), &comparison.missing[..]),
        (Gate::TesterUnfit, &[][..])
    );
    // The two remaining repetitions are too few, and the tester is the cause.
    b[..2].clone_from_slice(&rates("t", 84, &[800, 801]));
    assert_eq!(compared(&tests, &a, &b, 0.0).gate(), Gate::TesterUnfit);
}

fn missing(comparison: &Comparison<'_>) -> Vec<String> {
    comparison.missing.iter().map(ToString::to_string).collect()
}

#[test]
fn tests_and_frame_sizes_that_b_has_not_are_named() {
    let of_a = [
        test_of("one", &[84, 128], 4),
        test_of("two", &[84], 4),
        test_of("three", &[84], 4),
    ];
    let of_b = [test_of("one", &[84], 4), pdv("three", 4)];
    let same = [100, 101, 99, 100];
    let a = [
        rates("one", 84, &same),
        rates("one", 128, &same),
        rates("two", 84, &same),
        rates("three", 84, &same),
    ]
    .concat();
    let b = [
        rates("one", 84, &same),
        values("three", Quantity::Pdv, &[1.0; 4]),
    ]
    .concat();
    let comparison = compare(
        &side(ComparedSide::A, &of_a, &a),
        &side(ComparedSide::B, &of_b, &b),
        0.0,
        RunOrder::InTurns,
    )
    .expect("one in common");
    let expected = [
        "B has no test two",
        "B's test three does not measure what A's test three does: measure, traffic, directions or timeouts differ",
        "B does not measure one/128",
    ];
    assert_eq!(missing(&comparison), expected);
    assert_eq!(comparison.gate(), Gate::Missing);
    assert_eq!(
        compare(
            &side(ComparedSide::A, &of_a[1..2], &a),
            &side(ComparedSide::B, &of_b, &b),
            0.0,
            RunOrder::InTurns
        ),
        None,
        "nothing in common"
    );
}

#[test]
fn a_run_that_was_interrupted_has_not_passed() {
    let tests = [test_of("t", &[84, 128], 7)];
    let whole = |size| rates("t", size, &[100, 101, 99, 100, 102, 98, 100]);
    let a = [whole(84), whole(128)].concat();
    let b = [whole(84)[..3].to_vec(), vec![]].concat();
    let comparison = compared(&tests, &a, &b, 0.0);
    let expected = [
        "B was interrupted: it has 3 of 7 repetitions of t/84",
        "B was interrupted: it has no repetition of t/128",
    ];
    assert_eq!(
        (missing(&comparison), comparison.gate()),
        (expected.map(str::to_owned).to_vec(), Gate::Missing)
    );
    // An incomplete baseline cannot be compared, either.
    assert_eq!(compared(&tests, &b, &a, 0.0).gate(), Gate::Missing);
}

#[test]
fn a_quantity_that_b_did_not_come_to_is_named() {
    let tests = [pdv("t", 4)];
    let (delay, other) = (
        values("t", Quantity::Pdv, &[1.0; 4]),
        values("t", Quantity::MinimumDelay, &[1.0; 4]),
    );
    let both = |i: usize| Outcome {
        values: [&delay[i].values[..], &other[i].values].concat(),
        ..delay[i].clone()
    };
    let a: Vec<Outcome> = (0..4).map(both).collect();
    assert_eq!(
        missing(&compared(&tests, &a, &delay, 0.0)),
        ["B has no result for Dmin, forward, of t/84"]
    );
    assert_eq!(
        compared(&tests, &delay, &a, 0.0).gate(),
        Gate::Passed,
        "what A has not cannot be compared"
    );
    // The search for the load of a later stage is not a result in itself.
    let nothing_passed = rates("t", 84, &[0; 4]);
    assert_eq!(
        missing(&compared(&tests, &delay, &nothing_passed, 0.0)),
        ["B has no result for PDV, forward, of t/84"]
    );
    let comparison = compared(&tests, &nothing_passed, &delay, 0.0);
    assert_eq!(
        missing(&comparison),
        ["A and B have no quantity of t/84 in common"]
    );
}

#[test]
fn a_scan_that_ended_early_because_nothing_was_lost_lacks_nothing() {
    let scan = |until_lossless| {
        Measure::FrameLossRate(LossScan {
            rates: vec![],
            until_lossless,
        })
    };
    let losses = |losses: &[(u64, f64)]| -> Vec<Outcome> {
        let value = |&(load, value): &(u64, f64)| Value {
            quantity: Quantity::FrameLossRate,
            direction: Direction::Forward,
            load: FrameRate(load),
            value,
            is_at_least: false,
            is_at_most: false,
        };
        (1..=4)
            .map(|n| Outcome {
                values: losses.iter().map(value).collect(),
                ..outcome("t", 84, n)
            })
            .collect()
    };
    let (a, b) = (
        losses(&[(100, 5.0), (90, 1.0), (80, 0.0), (70, 0.0)]),
        losses(&[(100, 5.0), (90, 0.0), (80, 0.0)]),
    );
    let tests = |until_lossless| {
        [Test {
            measure: scan(until_lossless),
            ..test_of("t", &[84], 4)
        }]
    };
    let (until_lossless, of_all) = (tests(true), tests(false));
    assert_eq!(missing(&compared(&until_lossless, &a, &b, 0.0)), [""; 0]);
    assert_eq!(
        missing(&compared(&of_all, &a, &b, 0.0)).len(),
        1,
        "where every rate is tried one is missing"
    );
    let higher = losses(&[(90, 0.0), (80, 0.0)]);
    assert_eq!(
        missing(&compared(&until_lossless, &a, &higher, 0.0)).len(),
        1,
        "no scan skips its highest rate"
    );
}

#[test]
fn the_most_serious_of_the_rows_decides() {
    let tests = [test_of("t", &[84, 128], 7)];
    let (low, high) = (
        [100, 101, 99, 100, 102, 98, 100],
        [200, 201, 199, 200, 202, 198, 200],
    );
    let a = [rates("t", 84, &low), rates("t", 128, &high)].concat();
    let b = [rates("t", 84, &high), rates("t", 128, &low)].concat();
    let comparison = compared(&tests, &a, &b, 0.0);
    let found: Vec<ComparisonFinding> = comparison.rows().map(|row| row.finding).collect();
    assert_eq!(
        (found, comparison.gate()),
        (
            vec![ComparisonFinding::Better, ComparisonFinding::Worse],
            Gate::Worse
        )
    );
}

const SIZES: [u16; 4] = [84, 128, 256, 512];

/// Returns seven repetitions at four frame sizes of a device with Gaussian noise of 1 %; at the first size its rate is multiplied by `factor`.
fn drawn(random: &mut SplitMix64, factor: f64) -> Vec<Outcome> {
    let mut of_size = |size: u16| {
        let usual = if size == SIZES[0] { 1e6 * factor } else { 1e6 };
        let drawn: Vec<u64> = (0..7)
            .map(|_| (usual * (1.0 + 0.01 * random.gaussian())) as u64)
            .collect();
        rates("t", size, &drawn)
    };
    SIZES.iter().flat_map(|&size| of_size(size)).collect()
}

#[test]
fn four_rows_of_equal_devices_have_any_false_difference_in_at_most_6_of_100_comparisons() {
    let (tests, mut random) = ([test_of("t", &SIZES, 7)], SplitMix64::new(1));
    let is_false = |_: &i32| {
        let (a, b) = (drawn(&mut random, 1.0), drawn(&mut random, 1.0));
        compared(&tests, &a, &b, 0.0).rows().any(|row| {
            matches!(
                row.finding,
                ComparisonFinding::Better | ComparisonFinding::Worse
            )
        })
    };
    let found = (0..2_000).filter(is_false).count();
    assert!((20..=120).contains(&found), "{found} of 2000");
}

#[test]
fn a_difference_of_10_percent_is_shown_among_four_rows() {
    let (tests, mut random) = ([test_of("t", &SIZES, 7)], SplitMix64::new(2));
    for factor in [0.9, 1.1] {
        let shown = if factor < 1.0 {
            ComparisonFinding::Worse
        } else {
            ComparisonFinding::Better
        };
        let is_shown = |_: &i32| {
            let (a, b) = (drawn(&mut random, 1.0), drawn(&mut random, factor));
            compared(&tests, &a, &b, 0.0)
                .rows()
                .next()
                .is_some_and(|row| row.finding == shown)
        };
        // In one case in a hundred, chance makes the repetitions seem autocorrelated.
        let count = (0..1_000).filter(is_shown).count();
        assert!(count >= 980, "{count} of 1000");
    }
}
