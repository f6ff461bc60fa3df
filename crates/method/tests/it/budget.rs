//! The costs of plans.

use sixbench_method::budget::{Budget, estimate, estimate_rfc};
use sixbench_method::fixtures::plan;
use sixbench_method::plan::{Load, Measure, PdvStream};
use sixbench_method::search::SearchMethod;
use sixbench_method::terms::FrameRate;

#[test]
fn a_cold_binary_search_and_brackets_around_the_median_after_it() {
    let (measurements, trials) = (6, 2 * (11 + 6 + 6));
    // The tester's own overhead of 50 ms around each trial, and 2 s to set up the device.
    let seconds = (f64::from(trials) * 67.05).ceil() as u64 + 2;
    assert_eq!(
        estimate(&plan(SearchMethod::Binary, &[0.0])),
        Budget {
            measurements,
            trials,
            seconds
        }
    );
}

#[test]
fn the_letter_of_the_rfc_costs_twenty_repetitions() {
    let letter = estimate_rfc(&plan(SearchMethod::Binary, &[0.0]));
    assert_eq!(
        (letter.measurements, letter.trials),
        (40, 2 * 20 * 11),
        "each of them from a cold start"
    );
}

#[test]
fn mlrsearch_costs_less_time_than_a_binary_search() {
    let binary = estimate(&plan(SearchMethod::Binary, &[0.0]));
    let mlr = estimate(&plan(SearchMethod::Mlrsearch, &[0.0]));
    assert!(mlr.seconds < binary.seconds, "{mlr:?} {binary:?}");
}

#[test]
fn a_measurement_at_the_throughput_pays_for_its_search_once() {
    let mut plan = plan(SearchMethod::Binary, &[0.0]);
    let search = estimate(&plan).trials;
    let pdv = PdvStream {
        load: Load::OfThroughput(1.0),
        duration_ns: 120_000_000_000,
    };
    plan.tests[0].measure = Measure::Pdv(pdv);
    let with_search = estimate(&plan);
    // Two sizes, three repetitions: the cold searches cost 2 * 11 and up, later repetitions one trial each.
    assert!(
        (2 * (11 + 3)..=2 * (13 + 3)).contains(&with_search.trials) && with_search.trials < search,
        "{with_search:?}"
    );
    plan.tests[0].measure = Measure::Pdv(PdvStream {
        load: Load::Rate(FrameRate(1_000)),
        ..pdv
    });
    assert_eq!(
        estimate(&plan),
        Budget {
            measurements: 6,
            trials: 6,
            seconds: 6 * 127 + 1 + 2
        }
    );
}

#[test]
fn a_wide_width_still_takes_a_trial() {
    let mut plan = plan(SearchMethod::Binary, &[0.0]);
    plan.search.minimum = plan.search.maximum;
    assert_eq!(estimate(&plan).trials, 6);
}

#[test]
fn a_device_that_is_set_up_for_one_test_alone_costs_the_time_of_its_set_up() {
    let mut plan = plan(SearchMethod::Binary, &[0.0]);
    let mut other = plan.tests[0].clone();
    other.name = "other".to_owned();
    plan.tests.push(other);
    let shared = estimate(&plan).seconds;
    plan.tests[1].fresh_device = true;
    assert_eq!(estimate(&plan).seconds, shared + 2);
    plan.tests[1].fresh_device = false;
    plan.tests[1].dut_rss_hash = Some("sdfn".to_owned());
    assert_eq!(estimate(&plan).seconds, shared + 2);
}
