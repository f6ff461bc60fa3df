//! What plans cost.

mod common;

use common::plan;
use sixbench_method::budget::{Budget, estimate, estimate_rfc};
use sixbench_method::plan::SearchMethod;

#[test]
fn a_cold_binary_search_and_warm_brackets_after_it() {
    let (measurements, trials) = (6, 2 * (11 + 6 + 6));
    let seconds = u64::from(trials) * 67;
    assert_eq!(estimate(&plan(SearchMethod::Binary, &[0.0])), Budget { measurements, trials, seconds });
}

#[test]
fn the_letter_of_the_rfc_costs_twenty_repetitions() {
    let letter = estimate_rfc(&plan(SearchMethod::Binary, &[0.0]));
    assert_eq!((letter.measurements, letter.trials), (40, 2 * (11 + 19 * 6)));
}

#[test]
fn mlrsearch_costs_less_time_than_a_binary_search() {
    let binary = estimate(&plan(SearchMethod::Binary, &[0.0]));
    let mlr = estimate(&plan(SearchMethod::Mlrsearch, &[0.0]));
    assert!(mlr.seconds < binary.seconds, "{mlr:?} {binary:?}");
}

#[test]
fn a_wide_width_still_takes_a_trial() {
    let mut plan = plan(SearchMethod::Binary, &[0.0]);
    plan.search.minimum = plan.search.maximum;
    assert_eq!(estimate(&plan).trials, 6);
}
