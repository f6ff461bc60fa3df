//! Numbers derived from lower bounds are bounds, in sentences and in tables.

use crate::formats::{markdown, terminal};
use crate::sample::Sample;
use sixbench_method::search::Limit;

const LIMITS: [Limit; 3] = [Limit::Tester, Limit::Maximum, Limit::Disturbed];

/// Returns the text of a run in which something other than the DUT ended the searches of these tests.
fn opened(sample: Sample, tests: &[&str], limit: Limit) -> String {
    let mut sample = sample;
    let outcomes = sample.outcomes.iter_mut().filter(|outcome| tests.contains(&outcome.point.test.as_str()));
    let count = outcomes.map(|outcome| outcome.brackets[0].limit = limit).count();
    assert_eq!(count > 0, !tests.is_empty(), "no outcome of {tests:?}");
    markdown(&sample.input()).replace('\u{a0}', " ")
}

/// Returns the sentences on the change from the first step of a series to the last, with each of them open in turn.
fn said_of(sample: fn() -> Sample, [first, last]: [&str; 2], start: &str) -> Vec<Vec<String>> {
    let of = |tests: &[&str], limit| -> Option<String> {
        let text = opened(sample(), tests, limit);
        text.lines().find_map(|line| line.strip_prefix(&format!("- {start}")).map(str::to_owned))
    };
    let cases: [&[&str]; 4] = [&[], &[first], &[last], &[first, last]];
    cases.map(|tests| LIMITS.into_iter().filter_map(|limit| of(tests, limit)).collect()).to_vec()
}

#[test]
fn the_degradation_from_or_to_a_lower_bound_is_a_bound() {
    let said = said_of(Sample::of_every_measure, ["flows-1", "flows-64"], "flows: throughput at 84 bytes ");
    let [exact, from, to, neither] = &said[..] else { panic!("four cases") };
    assert!(exact.iter().all(|text| text.starts_with("degrades by ") && !text.contains(" at ")), "{exact:?}");
    assert!(from.len() == 3 && from.iter().all(|text| text.starts_with("degrades by at least ")), "{from:?}");
    assert!(to.len() == 3 && to.iter().all(|text| text.starts_with("degrades by at most ")), "{to:?}");
    assert!(neither.is_empty(), "{neither:?}");
    let text = opened(Sample::of_every_measure(), &["flows-1", "flows-64"], Limit::Disturbed);
    assert!(text.contains("how throughput at 84 bytes changes from 1 to 64 network flows is not known"), "{text}");
    assert!(text.contains("| 16 | both | ≥ ") && text.contains("| 64 | both | – |"), "{text}");
}

#[test]
fn the_gain_by_cores_from_or_to_a_lower_bound_is_a_bound() {
    let said = said_of(Sample::of_chains, ["xlat-1", "xlat-16"], "xlat: with 16 of the DUT's cores ");
    let [exact, from, to, neither] = &said[..] else { panic!("four cases") };
    assert!(exact.iter().all(|text| text.starts_with("3.")), "{exact:?}");
    assert!(from.len() == 3 && from.iter().all(|text| text.starts_with("at most 3.")), "{from:?}");
    assert!(to.len() == 3 && to.iter().all(|text| text.starts_with("at least 3.")), "{to:?}");
    assert!(neither.is_empty(), "nothing is known of two lower bounds: {neither:?}");
}

#[test]
fn models_of_mixed_traffic_rest_on_their_ends() {
    let row = |text: &str| text.lines().find(|line| line.starts_with("| 84 | 50 |")).expect("half of each").to_owned();
    let exact = row(&opened(Sample::of_every_measure(), &[], Limit::Dut));
    let open = row(&opened(Sample::of_every_measure(), &["mix-100"], Limit::Disturbed));
    assert_eq!((exact.matches('≥').count(), open.matches('≥').count()), (0, 2), "{exact} {open}");
}

#[test]
fn the_share_beside_a_bar_is_a_bound_of_a_lower_bound() {
    let text = |test: &str| {
        let mut sample = Sample::complete();
        sample.outcomes.iter_mut().for_each(|outcome| outcome.brackets[0].limit = Limit::Dut);
        let of_test = sample.outcomes.iter_mut().filter(|outcome| outcome.point.test == test);
        of_test.for_each(|outcome| outcome.brackets[0].limit = Limit::Disturbed);
        terminal(&sample.input(), 120, false)
    };
    let bars = |text: &str, sign: char| text.lines().filter(|line| line.ends_with('%') && line.contains(sign)).count();
    assert_eq!(['≤', '≥'].map(|sign| bars(&text("none"), sign)), [0, 0]);
    let of_least = text("tayga");
    let rows = of_least.lines().filter(|line| line.starts_with("TAYGA") && line.ends_with('%'));
    assert!(rows.clone().count() == 2 && rows.clone().all(|row| row.matches('≥').count() == 2), "{of_least}");
    let of_most = text("vpp-nat64");
    assert!(bars(&of_most, '≤') >= 3, "{of_most}");
}
