//! Fits of the tables of Lencse and Nagy, and of known laws.

use super::*;
use proptest::prelude::*;
use sixbench_stats::SplitMix64;

const CORES: [u32; 5] = [1, 2, 4, 8, 16];

fn repetitions(cores: u32, values: Vec<f64>) -> CoreRepetitions {
    CoreRepetitions {
        cores: NonZeroU32::new(cores).expect("a core"),
        values,
    }
}

/// Returns a table of the paper, with the minimum, median and maximum for each number of cores.
fn table(rows: [[u32; 3]; 5]) -> Vec<CoreRepetitions> {
    CORES
        .into_iter()
        .zip(rows)
        .map(|(cores, row)| repetitions(cores, row.map(f64::from).to_vec()))
        .collect()
}

/// Returns table 1: the Linux kernel's IPv4 packet forwarding, in resolved queries per second.
fn ipv4_forwarding() -> Vec<CoreRepetitions> {
    table([
        [416_256, 420_055, 420_322],
        [722_655, 732_441, 734_943],
        [1_445_306, 1_469_081, 1_479_493],
        [2_011_487, 2_028_763, 2_031_865],
        [1_981_189, 2_009_385, 2_032_509],
    ])
}

/// Returns table 2: Jool's 464XLAT.
fn xlat464() -> Vec<CoreRepetitions> {
    table([
        [163_280, 165_403, 167_041],
        [236_185, 236_869, 237_553],
        [420_311, 425_021, 425_782],
        [499_999, 510_155, 510_321],
        [529_881, 530_064, 530_222],
    ])
}

/// Returns table 3: Jool's MAP-T.
fn map_t() -> Vec<CoreRepetitions> {
    table([
        [140_624, 143_498, 145_314],
        [245_311, 250_858, 251_953],
        [470_311, 475_051, 475_818],
        [812_499, 835_180, 837_295],
        [1_179_686, 1_183_615, 1_184_387],
    ])
}

/// Returns the proportions as the paper prints them.
fn proportions(of: &[CoreRepetitions]) -> Vec<String> {
    steps(of)
        .iter()
        .filter_map(|step| step.proportion)
        .map(|proportion| format!("{proportion:.2}"))
        .collect()
}

#[test]
fn proportions_are_those_the_paper_prints() {
    assert_eq!(
        proportions(&ipv4_forwarding()),
        ["1.74", "2.01", "1.38", "0.99"]
    );
    assert_eq!(proportions(&xlat464()), ["1.43", "1.79", "1.20", "1.04"]);
    assert_eq!(proportions(&map_t()), ["1.75", "1.89", "1.76", "1.42"]);
}

#[test]
fn sixteen_cores_of_464xlat_are_worth_three_and_of_map_t_eight() {
    let last = |of: &[CoreRepetitions]| *steps(of).last().expect("a step");
    let (xlat, map) = (last(&xlat464()), last(&map_t()));
    assert!((xlat.speed_up.expect("one core") - 530_064.0 / 165_403.0).abs() < 1e-12);
    assert!(
        (xlat.efficiency.expect("one core") - 0.2003).abs() < 1e-4,
        "{xlat:?}"
    );
    assert!(
        (map.speed_up.expect("one core") - 8.248).abs() < 1e-3,
        "{map:?}"
    );
    assert_eq!(
        (map.summary.min, map.summary.max, map.summary.n),
        (1_179_686.0, 1_184_387.0, 3)
    );
}

#[test]
fn steps_may_come_in_any_order_and_begin_with_two_cores() {
    let steps = steps(&[
        repetitions(8, vec![30.0]),
        repetitions(2, vec![10.0]),
        repetitions(4, vec![]),
    ]);
    assert_eq!(
        steps
            .iter()
            .map(|step| step.cores.get())
            .collect::<Vec<_>>(),
        [2, 8]
    );
    assert_eq!(
        (steps[0].proportion, steps[1].proportion),
        (None, Some(3.0))
    );
    assert_eq!(
        (steps[0].speed_up, steps[0].efficiency, steps[1].efficiency),
        (None, Some(1.0), Some(0.75))
    );
}

#[test]
fn nothing_is_in_proportion_to_nothing() {
    let steps = steps(&[repetitions(1, vec![0.0]), repetitions(2, vec![5.0])]);
    assert_eq!(
        (steps[1].proportion, steps[1].speed_up, steps[1].efficiency),
        (None, None, None)
    );
}

/// Returns three equal repetitions of an exact law at each of these numbers of cores.
fn exact(law: &Fit, cores: &[u32]) -> Vec<CoreRepetitions> {
    cores
        .iter()
        .map(|&n| repetitions(n, vec![law.at(f64::from(n)); 3]))
        .collect()
}

fn known(law: Law, lambda: f64, sigma: f64, kappa: f64) -> Fit {
    Fit {
        lambda,
        sigma,
        kappa,
        ..Fit::new(law, [1.0, 0.0, 0.0])
    }
}

#[track_caller]
fn assert_is(found: &Fit, truth: &Fit) {
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-6 * b.abs().max(1e-3);
    let is_near = near(found.lambda, truth.lambda)
        && near(found.sigma, truth.sigma)
        && near(found.kappa, truth.kappa);
    assert!(is_near && found.residual < 1e-6, "{found:?} for {truth:?}");
}

#[test]
fn exact_data_of_a_law_give_its_parameters_back() {
    for (lambda, sigma) in [(165_403.0, 0.0), (420_055.0, 0.05), (1.0, 0.3), (8e6, 0.95)] {
        let truth = known(Law::Amdahl, lambda, sigma, 0.0);
        assert_is(
            &fit(Law::Amdahl, &exact(&truth, &[1, 2, 4])).expect("a fit"),
            &truth,
        );
        assert_is(
            &fit(Law::Universal, &exact(&truth, &CORES)).expect("a fit"),
            &truth,
        );
    }
    for (sigma, kappa) in [(0.05, 0.001), (0.0, 0.01), (0.2, 0.0005), (0.5, 0.05)] {
        let truth = known(Law::Universal, 143_498.0, sigma, kappa);
        assert_is(
            &fit(Law::Universal, &exact(&truth, &CORES)).expect("a fit"),
            &truth,
        );
        assert_is(
            &fit(Law::Universal, &exact(&truth, &[2, 3, 6, 64])).expect("a fit"),
            &truth,
        );
    }
}

#[test]
fn no_parameter_is_ever_negative() {
    // Faster than proportional, as in the paper's step from two cores to four.
    let faster = [(1, 100.0), (2, 220.0), (4, 480.0), (8, 1_000.0)]
        .map(|(cores, rate)| repetitions(cores, vec![rate; 3]));
    for law in [Law::Amdahl, Law::Universal] {
        let fit = fit(law, &faster).expect("a fit");
        assert_eq!(
            (fit.sigma, fit.kappa, fit.peak(), fit.most()),
            (0.0, 0.0, None, None),
            "{fit}"
        );
        let interval = fit.interval.expect("an interval");
        assert_eq!((interval.sigma, interval.peak), ((0.0, 0.0), None));
    }
}

#[test]
fn the_universal_law_peaks_where_its_rate_is_highest() {
    let law = known(Law::Universal, 1_000.0, 0.1, 0.009);
    assert_eq!(law.peak(), Some(10.0));
    assert!((1..40).all(|n| law.at(f64::from(n)) <= law.most().expect("a peak")));
    let serial = known(Law::Universal, 1_000.0, 1.2, 0.009);
    assert_eq!(
        serial.peak(),
        Some(1.0),
        "more than all of the work cannot be serial: one core is best"
    );
    assert_eq!(known(Law::Amdahl, 1_000.0, 0.25, 0.0).most(), Some(4_000.0));
}

#[test]
fn a_fit_is_the_best_there_is_nearby() {
    for law in [Law::Amdahl, Law::Universal] {
        for of in [ipv4_forwarding(), xlat464(), map_t()] {
            let best = fit(law, &of).expect("a fit");
            let residual = |fit: &Fit| {
                let square = |step: &ScalingStep| {
                    (1.0 - fit.at(f64::from(step.cores.get())) / step.summary.median).powi(2)
                };
                (steps(&of).iter().map(square).sum::<f64>() / 5.0).sqrt()
            };
            assert!((residual(&best) - best.residual).abs() < 1e-9);
            let kappas: &[f64] = if law == Law::Amdahl {
                &[0.0]
            } else {
                &[-1e-4, 0.0, 1e-4]
            };
            for (lambda, sigma, kappa) in [0.99, 1.0, 1.01].iter().flat_map(|l| {
                [-0.003, 0.0, 0.003]
                    .iter()
                    .flat_map(move |s| kappas.iter().map(move |k| (l, s, k)))
            }) {
                let near = Fit {
                    lambda: best.lambda * lambda,
                    sigma: (best.sigma + sigma).max(0.0),
                    kappa: (best.kappa + kappa).max(0.0),
                    ..best
                };
                assert!(
                    residual(&near) >= best.residual - 1e-12,
                    "{near:?} is better than {best:?}"
                );
            }
        }
    }
}

#[test]
fn the_laws_say_of_the_paper_s_tables_what_its_authors_do() {
    let universal = |of: &[CoreRepetitions]| fit(Law::Universal, of).expect("a fit");
    let (xlat, map) = (universal(&xlat464()), universal(&map_t()));
    assert!(
        map.at(16.0) / map.lambda > 2.0 * xlat.at(16.0) / xlat.lambda,
        "MAP-T scales up better: {map} {xlat}"
    );
    insta::assert_snapshot!(
        "fits",
        [
            ("IPv4", ipv4_forwarding()),
            ("464XLAT", xlat464()),
            ("MAP-T", map_t())
        ]
        .iter()
        .flat_map(|(name, of)| [Law::Amdahl, Law::Universal]
            .map(|law| format!("{name}: {}\n", fit(law, of).expect("a fit"))))
        .collect::<String>()
    );
}

#[test]
fn the_interval_holds_the_truth_in_nine_of_ten_measurements() {
    const RUNS: u64 = 40;
    let truth = known(Law::Universal, 150_000.0, 0.06, 0.002);
    let measured = |seed: u64| {
        let mut random = SplitMix64::new(seed);
        let mut value = |n: u32| truth.at(f64::from(n)) * (1.0 + 0.01 * random.gaussian());
        CORES.map(|n| repetitions(n, (0..20).map(|_| value(n)).collect()))
    };
    let holds = |seed: &u64| {
        let interval = fit(Law::Universal, &measured(*seed))
            .expect("a fit")
            .interval
            .expect("20 repetitions");
        let within = |(low, high): (f64, f64), truth: f64| low <= truth && truth <= high;
        let peak = interval.peak.expect("a peak");
        [
            within(interval.lambda, truth.lambda),
            within(interval.sigma, truth.sigma),
            within(interval.kappa, truth.kappa),
            within(
                (peak.low, peak.high.unwrap_or(f64::MAX)),
                truth.peak().expect("a peak"),
            ),
        ]
    };
    let held: Vec<[bool; 4]> = (0..RUNS).map(|seed| holds(&seed)).collect();
    for parameter in 0..4 {
        let share = held.iter().filter(|run| run[parameter]).count() as f64 / RUNS as f64;
        assert!(share >= 0.85, "parameter {parameter}: {share}");
    }
}

#[test]
fn more_scatter_is_a_wider_interval() {
    let truth = known(Law::Amdahl, 1_000.0, 0.1, 0.0);
    let width = |scatter: f64| {
        let values = |n: u32| {
            (-4..=4)
                .map(|i| truth.at(f64::from(n)) * (1.0 + scatter * f64::from(i)))
                .collect()
        };
        let (low, high) = fit(Law::Amdahl, &CORES.map(|n| repetitions(n, values(n))))
            .unwrap()
            .interval
            .unwrap()
            .sigma;
        high - low
    };
    assert!(
        width(0.02) > 5.0 * width(0.002),
        "{} {}",
        width(0.02),
        width(0.002)
    );
}

#[test]
fn too_few_steps_are_refused_in_words() {
    let three = &map_t()[..3];
    assert!(fit(Law::Amdahl, three).is_ok());
    let refused = fit(Law::Universal, three).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the universal scalability law was not fitted: it needs 4 numbers of cores, but there are only 3"
    );
    let twice = [three[0].clone(), three[0].clone(), three[1].clone()];
    assert_eq!(
        fit(Law::Amdahl, &twice),
        Err(NoFit::TooFewSteps {
            law: Law::Amdahl,
            steps: 2
        })
    );
}

#[test]
fn a_rate_of_zero_is_no_rate_to_fit() {
    let mut dead = map_t();
    dead[2].values = vec![0.0; 3];
    let refused = fit(Law::Amdahl, &dead).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "no law was fitted: with 4 of the cores the median rate is 0"
    );
}

#[test]
fn two_repetitions_have_a_fit_and_no_interval_and_say_so() {
    let mut few = map_t();
    few[1].values.pop();
    let fit = fit(Law::Amdahl, &few).expect("a fit");
    assert_eq!(fit.interval, None);
    assert!(
        fit.to_string()
            .ends_with("; no interval, because a step has fewer than 3 repetitions (2)"),
        "{fit}"
    );
}

/// Returns the root mean square of the relative residuals of single values.
fn residual(law: &Fit, measured: &[CoreRepetitions]) -> f64 {
    let square = |step: &CoreRepetitions| {
        (1.0 - law.at(f64::from(step.cores.get())) / step.values[0]).powi(2)
    };
    (measured.iter().map(square).sum::<f64>() / measured.len() as f64).sqrt()
}

proptest! {
    #[test]
    fn no_allowed_law_is_nearer_than_the_fitted_one(
        lambda in 1.0..1e7f64,
        sigma in 0.0..1.0f64,
        kappa in 0.0..0.1f64,
        noise in prop::array::uniform5(0.7..1.4f64),
    ) {
        for law in [Law::Amdahl, Law::Universal] {
            let truth = known(law, lambda, sigma, if law == Law::Amdahl { 0.0 } else { kappa });
            let value = |(n, noise): (&u32, &f64)| repetitions(*n, vec![truth.at(f64::from(*n)) * noise]);
            let measured: Vec<CoreRepetitions> = CORES.iter().zip(&noise).map(value).collect();
            let found = fit(law, &measured).expect("a fit");
            prop_assert!(found.lambda > 0.0 && found.sigma >= 0.0 && found.kappa >= 0.0, "{found:?}");
            prop_assert!((found.residual - residual(&found, &measured)).abs() < 1e-9);
            prop_assert!(found.residual <= residual(&truth, &measured) + 1e-9, "{found:?} is further than {truth:?}");
        }
    }
}
