use super::*;
use std::fmt::Write;

fn exact(value: f64) -> SeriesLevel {
    SeriesLevel {
        value,
        is_at_least: false,
        is_at_most: false,
    }
}

/// Returns values with a standard deviation of 1, each of which keeps the share `phi` of the one before it.
fn chain(random: &mut SplitMix64, phi: f64, n: usize) -> Vec<SeriesLevel> {
    let mut last = random.gaussian();
    let mut next = || {
        last = phi * last + (1.0 - phi * phi).sqrt() * random.gaussian();
        exact(100.0 + last)
    };
    (0..n).map(|_| next()).collect()
}

fn stepped(mut levels: Vec<SeriesLevel>, from: usize, to: usize, by: f64) -> Vec<SeriesLevel> {
    levels[from..to]
        .iter_mut()
        .for_each(|level| level.value += by);
    levels
}

fn places(levels: Vec<SeriesLevel>) -> Vec<usize> {
    change_points(&[levels])[0]
        .iter()
        .map(|change| change.at)
        .collect()
}

fn runs(usual: usize) -> usize {
    std::env::var("SIXBENCH_RUNS")
        .ok()
        .and_then(|runs| runs.parse().ok())
        .unwrap_or(usual)
}

/// Returns the percentage of runs for which the predicate holds.
fn share(runs: usize, is_so: impl FnMut(usize) -> bool) -> f64 {
    100.0 * (0..runs).map(is_so).filter(|is_so| *is_so).count() as f64 / runs as f64
}

/// Columns: length; correlation of each value with the one before; percentage of steady series in which a change was reported, and of groups of ten
/// steady series tested together; percentage in which a step of five standard deviations was located to within one value: in the middle, lasting a
/// third of the series, and lasting five values. With `SIXBENCH_RUNS=1000`, as `make long` has it, that many runs of each are made, and series of 60 values are
/// tried, too, which take as long as all others.
#[test]
fn steady_series_are_seldom_called_changed_and_steps_are_found() {
    let mut table = String::from(" n  follows  false alarms  of ten  step  third  five values\n");
    let is_long = std::env::var_os("SIXBENCH_RUNS").is_some();
    let longest = if is_long { 60 } else { 40 };
    for (n, phi) in [12, 20, 40, 60]
        .into_iter()
        .filter(|n| *n <= longest)
        .flat_map(|n| [0.0, 0.3, 0.5].map(|phi| (n, phi)))
    {
        let mut random = SplitMix64::new(5);
        let (many, few) = (runs(200), runs(200) / 8);
        let alarms = share(many, |_| !places(chain(&mut random, phi, n)).is_empty());
        let of_ten = share(few, |_| {
            let ten: Vec<_> = (0..10).map(|_| chain(&mut random, phi, n)).collect();
            change_points(&ten)
                .iter()
                .any(|changes| !changes.is_empty())
        });
        let mut found = |from: usize, to: usize, ends: &[usize]| {
            share(few, |_| {
                let at = places(stepped(chain(&mut random, phi, n), from, to, 5.0));
                at.len() == ends.len()
                    && at.iter().zip(ends).all(|(at, end)| at.abs_diff(*end) <= 1)
            })
        };
        let step = found(n / 2, n, &[n / 2]);
        let third = found(n / 3, 2 * n / 3, &[n / 3, 2 * n / 3]);
        let five = found(n / 2, n / 2 + 5, &[n / 2, n / 2 + 5]);
        // The autocorrelation of few values cannot be estimated well.
        let most = if phi == 0.0 || n > 12 && phi < 0.5 {
            6.0
        } else if n > 12 {
            10.0
        } else {
            20.0
        };
        assert!(
            alarms <= most && (step >= 80.0 || phi > 0.0),
            "{n} {phi}: {alarms} {step}"
        );
        writeln!(table, "{n}  {phi:>7}  {alarms:>10.1} %  {of_ten:>4.0} %  {step:>3.0} %  {third:>3.0} %  {five:>9.0} %")
            .unwrap();
    }
    if is_long {
        return println!("{table}");
    }
    insta::assert_snapshot!(table);
}

#[test]
fn values_that_are_all_alike_or_too_few_have_no_change() {
    let alike = vec![exact(7.0); 30];
    assert_eq!(places(alike.clone()), [0; 0]);
    assert_eq!(places(stepped(alike[..5].to_vec(), 2, 5, 1.0)), [0; 0]);
    assert_eq!(
        places(stepped(alike, 11, 30, 0.1)),
        [11],
        "ties are no obstacle"
    );
    assert_eq!(change_points(&[]), Vec::<Vec<ChangePoint>>::new());
}

#[test]
fn one_outlier_is_no_change_however_far_out() {
    let mut random = SplitMix64::new(3);
    let levels = stepped(chain(&mut random, 0.0, 30), 12, 13, -80.0);
    assert_eq!(places(levels), [0; 0]);
}

#[test]
fn a_lower_bound_is_not_below_what_is_above_it() {
    let mut random = SplitMix64::new(6);
    let high = chain(&mut random, 0.0, 24);
    let mut cut_off = stepped(high.clone(), 12, 24, -10.0);
    assert_eq!(places(cut_off.clone()), [12]);
    cut_off[12..]
        .iter_mut()
        .for_each(|level| level.is_at_least = true);
    assert_eq!(
        places(cut_off),
        [0; 0],
        "what the tester cut off may be as high as before"
    );
    let mut risen = stepped(high, 12, 24, 10.0);
    risen[12..]
        .iter_mut()
        .for_each(|level| level.is_at_least = true);
    assert_eq!(places(risen.clone()), [12], "at least as much is more");
    risen[12..]
        .iter_mut()
        .for_each(|level| (level.is_at_least, level.is_at_most) = (false, true));
    assert_eq!(
        places(risen),
        [0; 0],
        "what is at most this may be as low as before"
    );
}

#[test]
fn the_fewest_values_are_those_of_which_halves_that_do_not_overlap_can_show_it() {
    for series in [1, 10] {
        let n = fewest_values(series);
        let apart = |n: usize| {
            (0..n)
                .map(|i| exact((i + 100 * (i / (n / 2))) as f64))
                .collect()
        };
        let steady = (0..n)
            .map(|i| exact(100.0 + (i * 7 % n) as f64))
            .collect::<Vec<_>>();
        let all = |n: usize| [vec![apart(n)], vec![steady[..n].to_vec(); series - 1]].concat();
        assert!(change_points(&all(n - 2))[0].is_empty(), "{series}: {n}");
    }
    assert_eq!((fewest_values(1), fewest_values(10)), (8, 11));
}
