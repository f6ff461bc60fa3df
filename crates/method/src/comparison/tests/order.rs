//! Repetitions that depend on those before them, and machines that drift: how often equal devices are called different, and how often unequal
//! ones are not.

use super::*;

const ORDERS: [Order; 3] = [Order::InTurns, Order::AFirst, Order::BFirst];
const RUNS: usize = 1_000;

/// Repetitions of which each keeps the share `phi` of the deviation of the one before; their scatter is 1 %.
fn chain(random: &mut SplitMix64, phi: f64, usual: f64, n: usize) -> Vec<u64> {
    let mut last = random.gaussian();
    let mut next = || {
        last = phi * last + (1.0 - phi * phi).sqrt() * random.gaussian();
        (usual * (1.0 + 0.01 * last)) as u64
    };
    (0..n).map(|_| next()).collect()
}

fn found(a: &[u64], b: &[u64], order: Order) -> Row {
    let tests = [test_of("t", &[84], a.len() as u32)];
    let (a, b) = (rates("t", 84, a), rates("t", 84, b));
    let comparison = compare(&side(Which::A, &tests, &a), &side(Which::B, &tests, &b), 0.0, order).expect("a test in common");
    *comparison.rows().next().expect("a row")
}

fn is_different(row: &Row) -> bool {
    matches!(row.finding, Finding::Better | Finding::Worse)
}

/// The share of runs in which two devices were called different, per cent.
fn called_different(seed: u64, order: Order, mut draw: impl FnMut(&mut SplitMix64) -> [Vec<u64>; 2]) -> f64 {
    let mut random = SplitMix64::new(seed);
    let mut is_called = |_: &usize| {
        let [a, b] = draw(&mut random);
        is_different(&found(&a, &b, order))
    };
    100.0 * (0..RUNS).filter(|run| is_called(run)).count() as f64 / RUNS as f64
}

#[test]
fn equal_devices_whose_repetitions_follow_each_other_are_seldom_called_different() {
    for order in ORDERS {
        for (phi, n, most) in [(0.0, 7, 6.0), (0.0, 20, 6.0), (0.3, 20, 7.0), (0.5, 20, 7.5), (0.8, 40, 7.5)] {
            let different = called_different(21, order, |random| [chain(random, phi, 1e6, n), chain(random, phi, 1e6, n)]);
            assert!(different <= most, "{order:?}, phi {phi}, n = {n}: {different} %");
        }
    }
}

#[test]
fn a_difference_of_3_percent_at_1_percent_noise_is_still_shown() {
    for order in ORDERS {
        for (n, least) in [(7, 98.0), (20, 99.0)] {
            let shown = called_different(22, order, |random| [chain(random, 0.0, 1e6, n), chain(random, 0.0, 1.03e6, n)]);
            assert!(shown >= least, "{order:?}, n = {n}: {shown} %");
        }
    }
}

/// Two equal devices, the one measured after the other on a machine that loses 0.1 % from each repetition to the next.
fn drifting(random: &mut SplitMix64, noise: f64, n: usize) -> [Vec<u64>; 2] {
    let mut at = |i: usize| (1e6 * (1.0 - 0.001 * i as f64) * (1.0 + noise * random.gaussian())) as u64;
    let all: Vec<u64> = (0..2 * n).map(&mut at).collect();
    [all[..n].to_vec(), all[n..].to_vec()]
}

#[test]
fn a_drift_of_the_machine_is_no_difference_between_equal_devices() {
    for (n, noise) in [(7, 0.0), (7, 0.0005), (7, 0.001), (20, 0.0005), (20, 0.002), (20, 0.005)] {
        for order in [Order::AFirst, Order::BFirst] {
            let mut draw = |random: &mut SplitMix64| {
                let [first, second] = drifting(random, noise, n);
                if order == Order::AFirst { [first, second] } else { [second, first] }
            };
            let different = called_different(23, order, &mut draw);
            assert!(different <= 5.0, "{order:?}, {noise}, n = {n}: {different} %");
        }
    }
}

#[test]
fn what_is_not_shown_for_a_drift_says_so() {
    let [a, b] = drifting(&mut SplitMix64::new(24), 0.0005, 20);
    let row = found(&a, &b, Order::AFirst);
    assert_eq!((row.finding, row.finding.verdict()), (Finding::Drifting, Verdict::Inconclusive));
    assert!((-0.05..-0.03).contains(&row.drift.expect("a drift")), "{row:?}");
    let row = found(&a, &b, Order::BFirst);
    assert_ne!(row.finding, Finding::Drifting, "a machine that slows down does not make the first slower");
}

#[test]
fn a_drift_explains_no_difference_that_is_larger_or_of_devices_that_took_turns() {
    let mut random = SplitMix64::new(25);
    let [a, b] = drifting(&mut random, 0.0005, 20);
    let half: Vec<u64> = b.iter().map(|rate| rate / 2).collect();
    assert_eq!(found(&a, &half, Order::AFirst).finding, Finding::Worse);
    // Both slow down by 2 %, and B is 2 % slower throughout.
    let slower: Vec<u64> = drifting(&mut random, 0.0005, 20)[0].iter().map(|rate| rate / 50 * 49).collect();
    let row = found(&a, &slower, Order::InTurns);
    assert_eq!((row.finding, row.drift), (Finding::Worse, None));
}

#[test]
fn what_is_not_shown_for_repetitions_that_follow_each_other_says_so() {
    let mut random = SplitMix64::new(26);
    let of = |random: &mut SplitMix64| found(&chain(random, 0.8, 1e6, 20), &chain(random, 0.8, 1e6, 20), Order::AFirst);
    let rows: Vec<Row> = (0..200).map(|_| of(&mut random)).collect();
    let dependent = rows.iter().filter(|row| row.finding == Finding::Dependent).count();
    assert!(dependent > 20, "{dependent} of 200");
    assert!(rows.iter().filter(|row| row.finding == Finding::Dependent).all(|row| row.autocorrelation.is_some()));
}
