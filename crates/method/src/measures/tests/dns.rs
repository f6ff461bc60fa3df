//! The search finds the rate of DNS queries of a simulated server (RFC 8219 section 9).

use super::*;
use crate::terms::FrameRate;

fn of_names(cached: u8) -> Plan {
    plan(Measure::Dns(DnsTest {
        cached,
        ..DnsTest::required(DnsRole::Dns64)
    }))
}

fn server(certified: u64, cached: u8, forgotten: u64) -> SimulatedDut {
    dut(23_456).with_names(FrameRate(certified), cached, forgotten)
}

fn lower(outcome: &Outcome) -> u64 {
    outcome.throughput().expect("a rate").0
}

#[test]
fn the_rate_of_queries_is_searched_in_trials_of_queries() {
    let (specs, outcome) = repeat(&of_names(0), &[], &mut server(10_000_000, 0, 0));
    assert!((23_400..=23_456).contains(&lower(&outcome)), "{outcome:?}");
    assert_eq!(outcome.brackets[0].limit, Limit::Dut);
    assert!(
        specs
            .iter()
            .all(|spec| spec.kind == TrialKind::Queries && spec.phase_one.is_none()),
        "{specs:?}"
    );
}

#[test]
fn a_later_repetition_starts_near_the_rate_of_the_first() {
    let mut server = server(10_000_000, 0, 0);
    let (cold, first) = repeat(&of_names(0), &[], &mut server);
    let (warm, second) = repeat(&of_names(0), &[first], &mut server);
    assert!(warm.len() < cold.len(), "{} {}", warm.len(), cold.len());
    assert!((23_400..=23_456).contains(&lower(&second)));
}

#[test]
fn a_trial_at_the_found_rate_that_loses_a_query_has_no_result_and_is_not_made_again() {
    let measure = Measure::Dns(DnsTest {
        at_found_rate: true,
        ..DnsTest::required(DnsRole::Dns64)
    });
    let (searching, first) = repeat(&plan(measure.clone()), &[], &mut server(10_000_000, 0, 0));
    assert!(
        searching.len() > 5,
        "without a test that has found the rate, the first repetition searches for it"
    );
    let (specs, second) = repeat(
        &plan(measure),
        &[first],
        &mut dut(20_000).with_names(FrameRate(10_000_000), 0, 0),
    );
    assert_eq!((specs.len(), second.throughput()), (1, None));
}

#[test]
fn a_server_faster_than_the_certified_rate_is_at_least_that_fast() {
    let (specs, outcome) = repeat(&of_names(0), &[], &mut server(10_000, 0, 0));
    assert!((9_990..=10_000).contains(&lower(&outcome)), "{outcome:?}");
    assert_eq!(outcome.brackets[0].limit, Limit::Tester);
    let above = specs.iter().filter(|spec| spec.rate.0 > 10_000).count();
    assert_eq!(
        outcome.invalid as usize, above,
        "they were invalid, and nothing else was"
    );
    let rates: std::collections::BTreeSet<u64> = specs.iter().map(|spec| spec.rate.0).collect();
    assert_eq!(
        rates.len(),
        specs.len(),
        "what is above the certified rate would be so again"
    );
}

#[test]
fn names_that_were_cached_as_meant_do_not_invalidate() {
    let (_, outcome) = repeat(&of_names(40), &[], &mut server(10_000_000, 40, 0));
    assert!(
        (23_400..=23_456).contains(&lower(&outcome)) && outcome.invalid == 0,
        "{outcome:?}"
    );
}

#[test]
fn a_cache_that_forgets_makes_every_trial_invalid() {
    let (_, outcome) = repeat(&of_names(40), &[], &mut server(10_000_000, 40, u64::MAX));
    assert_eq!(
        (outcome.throughput(), outcome.invalid),
        (None, outcome.trials)
    );
}

#[test]
fn every_query_of_a_simulated_trial_has_one_fate() {
    let spec = TrialSpec {
        kind: TrialKind::Queries,
        ..TrialSpec::constant(FrameRate(30_000), SECOND_NS)
    };
    let Ok(result) = server(10_000_000, 20, 0).measure(&spec);
    let dns = result.dns().expect("a trial of queries");
    assert_eq!(
        (result.directions.len(), result.directions[0].offered),
        (1, 30_000)
    );
    assert_eq!(
        dns.answers
            .outcomes()
            .iter()
            .map(|(_, queries)| queries)
            .sum::<u64>(),
        dns.answers.sent
    );
    assert_eq!(
        (dns.answers.right, dns.cache.observed),
        (23_456, Some(4_691))
    );
    assert_eq!(result.verdict(LossRatio::ZERO), Verdict::Lost);
}
