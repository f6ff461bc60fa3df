//! Caching and the self-test, with the tester's own authority and a server of ours on loopback.

use crate::common::dns::*;
use crate::common::dns64::{Dns64, Knows, Rig, each, error, honest};
use sixbench_engine::dns::{DnsEnds, DnsSettings, DnsTester};
use sixbench_method::isolation::Isolation;
use sixbench_method::terms::{FrameRate, LossRatio};
use sixbench_method::trial::dns::Cache;
use sixbench_method::trial::{Fault, TrialResult, Verdict};
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Returns settings with long time limits. Nothing here may depend on timing, as a server that queries must wait for busy processors.
fn patient() -> DnsSettings {
    DnsSettings {
        timeout_ns: 10_000_000_000,
        window_ns: 10_000_000_000,
        ..settings()
    }
}

const SERVFAIL: u8 = 2;

/// Returns a server that learns names in this way, and a tester with an authority for it.
fn pair(
    knows: impl FnOnce(SocketAddr) -> Knows,
    settings: DnsSettings,
    rig: Rig,
) -> (Dns64, DnsTester) {
    let listen = free();
    let server = Dns64::start(knows(listen), rig, u64::MAX);
    let tester = tester(server.address, authority_at(listen), settings, &[]);
    (server, tester)
}

/// Returns a trial of 200 queries. It is repeated if this machine did not let the tester send everything.
fn cached(knows: fn(SocketAddr) -> Knows, cached: u8, cached_names: u32) -> TrialResult {
    for _ in 0..5 {
        let settings = DnsSettings {
            cached,
            cached_names,
            ..patient()
        };
        let (_server, mut tester) = pair(knows, settings, honest());
        let result = measure(&mut tester, &spec(500, 400));
        if counted(&result).answers.sent == 200 {
            return result;
        }
    }
    panic!("this machine is too busy");
}

fn cache(result: &TrialResult) -> Cache {
    assert_eq!(counted(result).answers.right, 200);
    Cache {
        preload_queries: 0,
        preload_ns: 0,
        ..counted(result).cache
    }
}

fn differ(result: &TrialResult) -> Option<(u64, u64)> {
    let differ = |fault: &Fault| match fault {
        Fault::HitsDiffer {
            intended, observed, ..
        } => Some((*intended, *observed)),
        _ => None,
    };
    let found = result.faults.iter().find_map(differ);
    assert!(found.is_none() || result.verdict(LossRatio::ZERO) == Verdict::Invalid);
    found
}

#[test]
fn without_caching_every_name_reaches_the_authority_twice() {
    let result = cached(Knows::Once, 0, 50);
    assert_eq!(
        cache(&result),
        Cache {
            observed: Some(0),
            ..Cache::default()
        }
    );
    assert_eq!(differ(&result), None);
    let authority = counted(&result).authority.expect("ours");
    assert_eq!(
        (
            authority.aaaa,
            authority.a,
            authority.names,
            authority.other
        ),
        (200, 200, 200, 0)
    );
}

#[test]
fn half_of_the_names_cached_are_half_of_the_answers_from_the_cache() {
    let result = cached(Knows::Once, 50, 50);
    assert_eq!(
        cache(&result),
        Cache {
            intended: 100,
            observed: Some(100),
            preloaded: 50,
            ..Cache::default()
        }
    );
    assert_eq!(differ(&result), None);
    assert_eq!(counted(&result).authority.expect("ours").names, 100);
}

#[test]
fn all_names_cached_never_reach_the_authority() {
    let result = cached(Knows::Once, 100, 50);
    assert_eq!(
        cache(&result),
        Cache {
            intended: 200,
            observed: Some(200),
            preloaded: 50,
            ..Cache::default()
        }
    );
    assert_eq!(differ(&result), None);
    assert_eq!(counted(&result).authority.expect("ours").queries(), 0);
}

#[test]
fn a_server_that_knows_all_names_from_before_is_found_out() {
    assert_eq!(differ(&cached(|_| Knows::All, 0, 50)), Some((0, 200)));
    assert_eq!(differ(&cached(|_| Knows::All, 50, 50)), Some((100, 200)));
}

#[test]
fn a_server_that_forgets_is_found_out_however_few_names_are_repeated() {
    // One name that was resolved before, asked for a hundred times, and resolved again each time.
    assert_eq!(differ(&cached(Knows::Never, 50, 1)), Some((100, 0)));
    assert_eq!(differ(&cached(Knows::Never, 100, 1)), Some((200, 0)));
    assert_eq!(differ(&cached(Knows::Never, 50, 50)), Some((100, 0)));
}

/// A server that is too busy to query its authority has failed; it has not answered from its cache.
#[test]
fn errors_are_no_cache_hits() {
    let overloaded = each(|number, right| {
        vec![if number % 2 == 1 {
            error(right, SERVFAIL)
        } else {
            right
        }]
    });
    let (server, mut tester) = pair(|_| Knows::All, patient(), overloaded);
    server.is_rigged.store(true, Ordering::Relaxed);
    let result = measure(&mut tester, &spec(500, 400));
    let dns = counted(&result);
    assert_eq!(
        (dns.cache.intended, dns.cache.observed),
        (0, Some(dns.answers.right))
    );
}

#[test]
fn names_that_cannot_be_resolved_before_a_trial_prevent_it() {
    let (server, mut tester) = pair(
        Knows::Once,
        DnsSettings {
            cached: 50,
            ..patient()
        },
        each(|_, right| vec![error(right, SERVFAIL)]),
    );
    alone(|| tester.probe(Duration::from_secs(5))).expect("an answer");
    server.is_rigged.store(true, Ordering::Relaxed);
    let result = measure(&mut tester, &spec(500, 400));
    assert_eq!(result.faults, [Fault::PreloadFailed { failed: 50, of: 50 }]);
    assert_eq!(
        (
            result.directions[0].offered,
            result.verdict(LossRatio::ZERO)
        ),
        (0, Verdict::Invalid)
    );
}

#[test]
fn a_trial_has_no_more_queries_than_names() {
    let few = || DnsSettings {
        names: "10.0.0.0/25".parse().expect("names"),
        ..patient()
    };
    let (_server, mut tester) = pair(Knows::Once, few(), honest());
    let result = measure(&mut tester, &spec(500, 260));
    assert_eq!(
        result.faults,
        [Fault::TooFewNames {
            needed: 130,
            has: 128
        }]
    );
    assert_eq!(result.directions[0].offered, 0);
    // 74 of the first 150 queries are for new names.
    let (_server, mut tester) = pair(
        Knows::Once,
        DnsSettings {
            cached: 50,
            cached_names: 55,
            ..few()
        },
        honest(),
    );
    assert_eq!(
        measure(&mut tester, &spec(500, 300)).faults,
        [Fault::TooFewNames {
            needed: 129,
            has: 128
        }]
    );
}

/// If the authority is ours, it shows whether a name is cached. With any other one, nothing may depend on that.
#[test]
fn names_a_server_may_know_are_not_repeated_where_nobody_would_see_it() {
    let server = Dns64::start(Knows::All, honest(), u64::MAX);
    let few = DnsSettings {
        names: "10.0.0.0/25".parse().expect("names"),
        ..patient()
    };
    let mut tester = tester(server.address, None, few, &[]);
    assert_eq!(
        counted(&measure(&mut tester, &spec(500, 200)))
            .answers
            .right,
        100
    );
    // The probe's name and a hundred others may be in its cache.
    let again = measure(&mut tester, &spec(500, 100));
    assert_eq!(
        again.faults,
        [Fault::TooFewNames {
            needed: 151,
            has: 128
        }]
    );
    assert_eq!(again.directions[0].offered, 0);
    tester.forget();
    assert_eq!(
        counted(&measure(&mut tester, &spec(500, 100)))
            .answers
            .right,
        50
    );
}

fn names_of(path: &PathBuf) -> Vec<String> {
    let text = std::fs::read_to_string(path).expect("records");
    text.lines()
        .skip(1)
        .filter_map(|line| Some(line.split(',').nth(1)?.to_owned()))
        .collect()
}

#[test]
fn no_name_comes_twice_before_all_have_come() {
    let path = std::env::temp_dir().join(format!("sixbench-names-{}.csv", std::process::id()));
    let names = "255.255.255.0/24".parse().expect("names");
    let settings = DnsSettings {
        names,
        records: Some(path.clone()),
        ..patient()
    };
    let (_server, mut tester) = pair(Knows::Once, settings, honest());
    let mut asked = BTreeSet::from(["255.255.255.0".to_owned()]);
    for trial in 0..3 {
        let result = measure(&mut tester, &spec(500, 170));
        let new = names_of(&path);
        assert_eq!(counted(&result).answers.sent, new.len() as u64);
        assert!(
            new.into_iter().all(|name| asked.insert(name)),
            "in trial {trial}"
        );
    }
    // One for the probe and three times 85 are all of them. The next trial starts again with the first names, which the server has cached.
    assert_eq!(asked.len(), 256);
    let result = measure(&mut tester, &spec(500, 170));
    assert_eq!(differ(&result), Some((0, 85)));
    std::fs::remove_file(&path).expect("removed");
}

#[test]
fn the_self_test_certifies_at_the_authoritys_own_address_and_trials_go_on_there() {
    let (_server, mut tester) = pair(Knows::Once, patient(), honest());
    // This machine may sometimes be too busy to keep the pace.
    let mut certify = || {
        alone(|| tester.certify(FrameRate(500), 200_000_000))
            .expect("a self-test")
            .expect("a certificate")
    };
    let certificate = (0..20)
        .map(|_| certify())
        .find(|certificate| certificate.rate == 500)
        .expect("fit for 500 queries/s");
    assert_eq!(
        certificate
            .trials
            .last()
            .map(|trial| (trial.rate, trial.sent, trial.in_time)),
        Some((1100, 220, 220))
    );
    let result = measure(&mut tester, &spec(500, 400));
    assert_eq!(
        (counted(&result).answers.right, counted(&result).certified),
        (200, Some(500))
    );
    let above = measure(&mut tester, &spec(501, 400));
    assert_eq!(
        above.faults,
        [Fault::AboveCertified {
            rate: 501,
            certified: 500
        }]
    );
    assert_eq!(
        (above.directions[0].offered, above.verdict(LossRatio::ZERO)),
        (0, Verdict::Invalid)
    );
}

#[test]
fn a_tester_that_cannot_answer_in_a_quarter_of_the_timeout_is_certified_for_nothing() {
    let hopeless = DnsSettings {
        timeout_ns: 4,
        window_ns: 200_000_000,
        ..patient()
    };
    let (_server, mut tester) = pair(Knows::Once, hopeless, honest());
    let certificate = alone(|| tester.certify(FrameRate(8), 100_000_000))
        .expect("a self-test")
        .expect("a certificate");
    assert_eq!(certificate.rate, 0, "{certificate:?}");
    assert!(
        certificate
            .trials
            .iter()
            .all(|trial| trial.sent > 0 && trial.in_time == 0),
        "{certificate:?}"
    );
    let result = measure(&mut tester, &spec(1, 1000));
    assert_eq!(
        result.faults,
        [Fault::AboveCertified {
            rate: 1,
            certified: 0
        }]
    );
    assert_eq!(result.directions[0].offered, 0);
}

#[test]
fn a_tester_that_is_looped_nowhere_has_no_certificate() {
    let server = Dns64::start(Knows::All, honest(), u64::MAX);
    let mut without = tester(server.address, None, patient(), &[]);
    assert!(
        without
            .certify(FrameRate(100), 100_000_000)
            .expect("no error")
            .is_none()
    );
}

#[test]
fn another_place_for_the_authority_is_where_it_listens_from_then_on() {
    let (first, second) = (free(), free());
    let server = Dns64::start(Knows::Never(second), honest(), u64::MAX);
    let mut tester = tester(server.address, authority_at(first), patient(), &[]);
    let certificate = alone(|| tester.certify(FrameRate(100), 100_000_000)).expect("a self-test");
    assert!(certificate.is_some() && tester.certificate().is_some());
    let ends = |listen| {
        let authority = authority_at(listen);
        let ends = DnsEnds {
            client_namespace: None,
            client: None,
            server: server.address,
            authority,
            external: None,
        };
        Isolation::Unknown.admit(ends).expect("loopback")
    };
    tester.set(
        ends(first),
        DnsSettings {
            cached: 50,
            ..patient()
        },
    );
    assert!(tester.certificate().is_some(), "the same path");
    tester.set(ends(second), patient());
    assert!(tester.certificate().is_none(), "another path");
    let result = measure(&mut tester, &spec(100, 100));
    assert_eq!(counted(&result).authority.expect("ours").names, 10);
}
