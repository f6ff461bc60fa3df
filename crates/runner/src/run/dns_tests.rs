//! Tests real DNS servers in namespaces at a low rate: every answer must be correct, and the queries that reach the authority must match those of
//! the client. These tests need root, and fail rather than skip without it.

use super::rigged_tests::{ONE_AT_A_TIME, recipe};
use super::session::Session;
use crate::RunError;
use crate::profile;
use crate::request::{SessionRequest, Site};
use sixbench_method::isolation::Isolation;
use sixbench_method::plan::{DnsRole, DnsTest, Measure, Profile, QueryFile, QueryTransport, Test};
use sixbench_method::record::Watch;
use sixbench_method::terms::{FrameRate, FrameSize, LossRatio};
use sixbench_method::trial::dns::{CertificateTrial, DnsResult};
use sixbench_method::trial::{Fault, TrialKind, TrialResult, TrialSettings, TrialSpec, Verdict};
use sixbench_plan::{Links, standard_trial};
use sixbench_testbed::{Recipe, Shell};
use std::sync::Arc;

/// A rate low enough for any machine.
const RATE: FrameRate = FrameRate(200);
const DURATION_NS: u64 = 300_000_000;
const QUERIES: u64 = 60;
/// The maximum number of trials until all queries are answered.
const TRIES: u32 = 30;

/// All DNS64 servers that can run here.
const SERVERS: [&str; 4] = [
    "bind9-dns64",
    "unbound-dns64",
    "pdns-dns64",
    "knotres-dns64",
];
/// All authoritative servers.
const AUTHORITIES: [&str; 2] = ["nsd-authority", "knot-authority"];

fn dns64() -> DnsTest {
    DnsTest::required(DnsRole::Dns64)
}

/// A test with a zone in a file.
fn in_a_file(role: DnsRole) -> DnsTest {
    DnsTest {
        names: "10.0.0.0/18".parse().expect("names"),
        ..DnsTest::required(role)
    }
}

fn test(dut: &str, dns: &DnsTest) -> Test {
    Test {
        measure: Measure::Dns(dns.clone()),
        frame_sizes: vec![FrameSize::MINIMUM],
        ..Test::new("t", dut)
    }
}

/// Tolerates stalls of this machine, because no test here depends on its performance.
fn settings() -> TrialSettings {
    TrialSettings {
        stall_ns: 5_000_000_000,
        duration_ns: DURATION_NS,
        ..standard_trial(Profile::Smoke)
    }
}

/// Opens the session of a server, with the real authority of a recipe behind it if one is given.
fn open(name: &str, dns: &DnsTest, authority: Option<&Recipe>) -> Session {
    bring_up(&recipe(name, &[]), dns, authority)
}

fn bring_up(recipe: &Recipe, dns: &DnsTest, authority: Option<&Recipe>) -> Session {
    let links = Links::default();
    let site = Site {
        shell: Shell::new(),
        links: &links,
        stop: Arc::default(),
        isolation: Isolation::Unknown,
        pcap: None,
    };
    let zone = profile::dns::zone(&test(&recipe.name, dns), false)
        .expect("a zone")
        .expect("a server");
    let request = SessionRequest {
        dns: Some((zone, authority)),
        ..SessionRequest::alone(recipe, FrameSize::MINIMUM)
    };
    let job = profile::job(
        recipe,
        &test(&recipe.name, dns),
        FrameSize::MINIMUM,
        42,
        settings(),
    )
    .expect("a job");
    Session::open(&site, &request, job).expect("a session (these tests need root)")
}

/// Switches to another test of the same server.
fn change(session: &mut Session, name: &str, dns: &DnsTest) {
    let job = profile::job(
        &recipe(name, &[]),
        &test(name, dns),
        FrameSize::MINIMUM,
        42,
        settings(),
    );
    session
        .set_job(job.expect("a job"))
        .expect("test addresses");
}

fn spec() -> TrialSpec {
    TrialSpec {
        kind: TrialKind::Queries,
        ..TrialSpec::constant(RATE, DURATION_NS)
    }
}

/// Repeats trials in which the server failed to answer, because this machine may have had no time for it. A wrong answer is an error on any
/// machine.
fn trial(name: &str, session: &mut Session) -> (TrialResult, Watch) {
    for _ in 0..TRIES {
        let (result, watch) = session.measure(&spec()).expect("a trial");
        let answers = dns(&result).answers;
        let failed = answers.unanswered + answers.late + answers.servfail;
        assert_eq!(
            answers.right + failed,
            answers.sent,
            "{name}: {:?}",
            result.directions[0].examples
        );
        if answers.right == QUERIES {
            return (result, watch);
        }
        eprintln!("{name}: {answers:?} {:?}", result.faults);
    }
    panic!("{name}: {TRIES} times this machine had no time for {QUERIES} queries");
}

fn dns(result: &TrialResult) -> &DnsResult {
    result.dns().expect("queries")
}

/// Returns true if the server kept its cores. Otherwise, it may have repeated queries to the authority, and late answers may still arrive.
fn is_calm(result: &TrialResult) -> bool {
    result.faults.is_empty()
}

/// Checks that every query is answered correctly, in time and once. A stall of this machine may make the trial invalid, but nothing is lost.
fn assert_all_right(name: &str, result: &TrialResult) {
    let answers = dns(result).answers;
    assert_eq!((answers.sent, answers.right), (QUERIES, QUERIES), "{name}");
    if is_calm(result) {
        assert_eq!(
            (answers.duplicate, answers.mismatched, answers.unasked),
            (0, 0, 0),
            "{name}"
        );
    }
    assert_ne!(
        result.verdict(LossRatio::ZERO),
        Verdict::Lost,
        "{name}: {:?}",
        result.faults
    );
}

#[test]
fn every_dns64_server_answers_each_query_rightly_and_asks_its_authority_for_both_records() {
    let _guard = ONE_AT_A_TIME.lock();
    for name in SERVERS {
        let mut session = open(name, &dns64(), None);
        let (result, watch) = trial(name, &mut session);
        assert_all_right(name, &result);
        let counts = dns(&result).authority.expect("the authority is ours");
        assert_eq!(counts.names, QUERIES, "{name}: {counts:?}");
        assert!(
            counts.aaaa >= QUERIES && counts.a >= QUERIES,
            "{name}: {counts:?}"
        );
        assert!(
            !is_calm(&result) || counts.aaaa + counts.a < QUERIES * 3,
            "{name}: {counts:?}"
        );
        assert_eq!((counts.malformed, counts.overruns), (0, 0), "{name}");
        let cache = dns(&result).cache;
        assert_eq!(
            (cache.intended, cache.observed, cache.preloaded),
            (0, Some(0), 0),
            "{name}"
        );
        assert_eq!(dns(&result).existing, 0, "{name}");
        assert!(
            watch.dut_cores().any(|core| !core.samples.is_empty()),
            "{name}: {watch:?}"
        );
        assert!(
            watch.memory.iter().any(|octets| *octets > 1_000_000),
            "{name} is a process: {watch:?}"
        );
    }
}

#[test]
fn names_with_an_aaaa_record_of_their_own_are_passed_on_and_nothing_is_synthesised_for_them() {
    let _guard = ONE_AT_A_TIME.lock();
    for name in SERVERS {
        let mut session = open(
            name,
            &DnsTest {
                with_aaaa: 40,
                ..dns64()
            },
            None,
        );
        let (result, _) = trial(name, &mut session);
        assert_all_right(name, &result);
        let (existing, counts) = (
            dns(&result).existing,
            dns(&result).authority.expect("the authority is ours"),
        );
        assert!(
            (QUERIES * 3 / 10..=QUERIES / 2).contains(&existing),
            "{name}: {existing}"
        );
        assert!(counts.aaaa >= QUERIES, "{name}: {counts:?}");
        assert!(
            counts.a >= QUERIES - existing,
            "{name}: {existing} {counts:?}"
        );
        assert!(
            !is_calm(&result) || counts.a < QUERIES,
            "{name}: {existing} {counts:?}"
        );
    }
}

#[test]
fn what_was_resolved_before_comes_from_the_cache_and_nothing_else_does() {
    let _guard = ONE_AT_A_TIME.lock();
    for name in SERVERS {
        let mut session = open(name, &dns64(), None);
        for (cached, hits) in [(0, 0), (50, QUERIES / 2), (100, QUERIES)] {
            let dns_test = DnsTest {
                cached,
                cached_names: 20,
                ..dns64()
            };
            change(&mut session, name, &dns_test);
            let (result, _) = trial(name, &mut session);
            assert_all_right(name, &result);
            let (cache, counts) = (
                dns(&result).cache,
                dns(&result).authority.expect("the authority is ours"),
            );
            assert_eq!(
                (cache.intended, cache.observed),
                (hits, Some(hits)),
                "{name} {cached} %: {cache:?}"
            );
            assert_eq!(
                cache.preloaded,
                if cached > 0 { 20 } else { 0 },
                "{name} {cached} %"
            );
            assert_eq!(
                counts.names,
                QUERIES - hits,
                "{name} {cached} %: {counts:?}"
            );
        }
    }
}

#[test]
fn a_server_that_has_been_asked_for_all_names_starts_anew_and_asks_for_them_again() {
    let _guard = ONE_AT_A_TIME.lock();
    for name in SERVERS {
        let few = DnsTest {
            names: "10.0.0.0/26".parse().expect("64 names"),
            ..dns64()
        };
        let mut session = open(name, &few, None);
        for _ in 0..3 {
            let (result, _) = trial(name, &mut session);
            assert_all_right(name, &result);
            assert_eq!(dns(&result).cache.observed, Some(0), "{name}");
            assert_eq!(
                dns(&result).authority.expect("the authority is ours").names,
                QUERIES,
                "{name}"
            );
        }
    }
}

/// Drops the authority's responses.
const SILENT: [&str; 3] = [
    "nft add table netdev rig",
    "nft add chain netdev rig in { type filter hook ingress device right priority 0 ; }",
    "nft add rule netdev rig in udp sport 53 drop",
];

#[test]
fn after_a_trial_in_which_the_authority_was_silent_the_next_one_is_answered() {
    let _guard = ONE_AT_A_TIME.lock();
    for name in SERVERS {
        let mut session = open(name, &dns64(), None);
        trial(name, &mut session);
        let dut = session.dut_shell().expect("a namespace");
        for line in &SILENT {
            drop(dut.line(line).expect("a rule"));
        }
        let (result, _) = session.measure(&spec()).expect("a trial");
        assert_eq!(dns(&result).answers.right, 0, "{name}");
        assert_ne!(result.verdict(LossRatio::ZERO), Verdict::Passed, "{name}");
        dut.line("nft delete table netdev rig").expect("no rule");
        let (result, _) = trial(name, &mut session);
        assert_all_right(name, &result);
    }
}

#[test]
fn a_real_authority_at_the_right_end_serves_a_dns64_server_and_the_self_test() {
    let _guard = ONE_AT_A_TIME.lock();
    let settings = DnsTest {
        with_aaaa: 40,
        authority: Some("nsd-authority".to_owned()),
        ..in_a_file(DnsRole::Dns64)
    };
    let nsd = recipe("nsd-authority", &[]);
    let mut session = open("unbound-dns64", &settings, Some(&nsd));
    assert!(
        session
            .layout()
            .iter()
            .any(|sentence| sentence.contains("the authority behind the DUT is nsd")),
        "its version"
    );
    let certificate = session
        .certify(FrameRate(250), DURATION_NS)
        .expect("a self-test")
        .expect("the first one");
    assert!(
        certificate.trials.iter().any(|trial| trial.in_time > 0),
        "{certificate:?}"
    );
    if certificate.rate < RATE.0 {
        return; // The machine was too busy: rates above the certified one are not measured.
    }
    let (result, _) = trial("unbound-dns64", &mut session);
    assert_all_right("unbound-dns64", &result);
    assert_eq!(
        (dns(&result).authority, dns(&result).cache.observed),
        (None, None),
        "it is not ours to ask"
    );
    assert!((QUERIES * 3 / 10..=QUERIES / 2).contains(&dns(&result).existing));
}

#[test]
fn authoritative_servers_are_asked_for_what_is_there_and_for_what_is_not() {
    let _guard = ONE_AT_A_TIME.lock();
    for name in AUTHORITIES {
        for with_aaaa in [100, 40] {
            let settings = DnsTest {
                with_aaaa,
                ..in_a_file(DnsRole::Authority)
            };
            let mut session = open(name, &settings, None);
            assert!(
                session
                    .certify(FrameRate(250), DURATION_NS)
                    .expect("no error")
                    .is_none(),
                "there is nobody to loop to"
            );
            let (result, watch) = trial(name, &mut session);
            assert_all_right(name, &result);
            let existing = dns(&result).existing;
            assert_eq!(existing == QUERIES, with_aaaa == 100, "{name}: {existing}");
            assert_eq!(dns(&result).authority, None, "{name}");
            assert!(
                watch.memory.iter().any(|octets| *octets > 1_000_000),
                "{name} is a process: {watch:?}"
            );
        }
    }
}

#[test]
fn the_self_test_certifies_a_low_rate_once_and_a_trial_above_it_is_none() {
    let _guard = ONE_AT_A_TIME.lock();
    let mut session = open("unbound-dns64", &dns64(), None);
    let certificate = session
        .certify(FrameRate(500), 300_000_000)
        .expect("a self-test")
        .expect("the first one");
    assert_eq!(
        certificate.trials[0].rate, 1_100,
        "2 (r + d) with d = 0.1 r"
    );
    assert!(certificate.path.contains("veth"), "{}", certificate.path);
    // A trial that a busy machine disturbed is made again at the same rate.
    let passed = |trial: &CertificateTrial| trial.rate == 1_100 && trial.passed();
    assert_eq!(
        certificate.rate == 500,
        certificate.trials.iter().any(passed),
        "{certificate:?}"
    );
    assert!(
        certificate.trials.iter().any(|trial| trial.in_time > 0),
        "{certificate:?}"
    );
    assert!(
        session
            .certify(FrameRate(500), 300_000_000)
            .expect("no error")
            .is_none(),
        "it holds"
    );
    let above = TrialSpec {
        rate: FrameRate(certificate.rate + 1),
        ..spec()
    };
    let (result, _) = session.measure(&above).expect("a trial");
    assert!(
        matches!(result.faults[0], Fault::AboveCertified { .. }),
        "{:?}",
        result.faults
    );
    assert_eq!(result.verdict(LossRatio::ZERO), Verdict::Invalid);
    // A different timeout requires another self-test, because answers must arrive within a quarter of it.
    change(
        &mut session,
        "unbound-dns64",
        &DnsTest {
            timeout_ns: 500_000_000,
            ..dns64()
        },
    );
    let again = session
        .certify(FrameRate(10), 300_000_000)
        .expect("a self-test")
        .expect("another one");
    assert_eq!(again.timeout_ns, 500_000_000);
    if certificate.rate >= RATE.0 && again.rate >= 10 {
        let slow = TrialSpec {
            rate: FrameRate(10),
            duration_ns: 500_000_000,
            ..spec()
        };
        let (result, _) = session.measure(&slow).expect("a trial");
        assert!(
            dns(&result).answers.received() > 0,
            "the authority is back after the self-test"
        );
    }
}

#[test]
fn a_server_that_makes_no_addresses_is_told_with_what_is_missing() {
    let _guard = ONE_AT_A_TIME.lock();
    let mut plain = recipe("unbound-dns64", &[]);
    plain
        .files
        .iter_mut()
        .for_each(|file| file.content = file.content.replace("\"dns64 iterator\"", "\"iterator\""));
    let mut session = bring_up(&plain, &dns64(), None);
    let error = session.measure(&spec()).map(|_| ()).expect_err("no trial");
    assert!(
        matches!(error, RunError::Trial(_)) && error.to_string().contains("is DNS64 enabled"),
        "{error}"
    );
}

#[test]
fn an_authority_that_dies_ends_the_trial_by_name_and_is_no_loss_of_the_server() {
    let _guard = ONE_AT_A_TIME.lock();
    let settings = DnsTest {
        authority: Some("nsd-authority".to_owned()),
        ..in_a_file(DnsRole::Dns64)
    };
    let mut mortal = recipe("nsd-authority", &[]);
    let daemon = mortal.daemon.as_mut().expect("a daemon");
    daemon.run = format!("timeout 4 {}", daemon.run);
    let mut session = open("unbound-dns64", &settings, Some(&mortal));
    let long = TrialSpec {
        duration_ns: 6_000_000_000,
        rate: FrameRate(50),
        ..spec()
    };
    let error = session.measure(&long).map(|_| ()).expect_err("no trial");
    let text = error.to_string();
    assert!(
        matches!(error, RunError::Testbed(_))
            && text.contains("NSD, authoritative server ended by itself"),
        "{text}"
    );
}

/// Adds queries over three TCP connections to a test.
fn over_tcp(dns: DnsTest) -> DnsTest {
    DnsTest {
        transport: QueryTransport::Tcp,
        tcp_connections: 3,
        ..dns
    }
}

#[test]
fn every_server_answers_each_query_over_tcp_connections_that_stay_open() {
    let _guard = ONE_AT_A_TIME.lock();
    let of_zones = AUTHORITIES.map(|name| (name, in_a_file(DnsRole::Authority)));
    let synthesising = SERVERS.map(|name| (name, dns64()));
    for (name, settings) in synthesising.into_iter().chain(of_zones) {
        let mut session = open(name, &over_tcp(settings), None);
        let (result, _) = trial(name, &mut session);
        assert_all_right(name, &result);
        let tcp = dns(&result).tcp.clone().expect("connections");
        assert_eq!((tcp.connections, tcp.misframed), (3, 0), "{name}: {tcp:?}");
        assert!(tcp.opened >= 3, "{name}: {tcp:?}");
        if is_calm(&result) {
            assert_eq!((tcp.interrupted, tcp.refused), (0, 0), "{name}: {tcp:?}");
        }
    }
}

#[test]
fn servers_that_serve_tls_answer_each_query_over_it() {
    let _guard = ONE_AT_A_TIME.lock();
    for name in SERVERS.into_iter().filter(|name| serves_tls(name)) {
        let mut session = open(name, &over_tls(dns64()), None);
        let (result, _) = trial(name, &mut session);
        assert_all_right(name, &result);
        let tcp = dns(&result).tcp.clone().expect("connections");
        let tls = tcp.tls.as_ref().expect("sessions");
        assert_eq!(tls.suites.values().sum::<u64>(), tcp.opened, "{tcp:?}");
        assert!(tls.suite_list().starts_with("TLS 1.3 TLS_"), "{tcp:?}");
        assert!(tcp.opened >= 3 && !tls.is_verified, "{name}: {tcp:?}");
        if is_calm(&result) {
            assert_eq!((tls.handshakes_failed, tls.broken), (0, 0), "{tcp:?}");
        }
    }
}

#[test]
fn a_server_that_serves_no_tls_is_not_asked_over_it() {
    let told = |name: &str| {
        let (recipe, test) = (recipe(name, &[]), test(name, &over_tls(dns64())));
        profile::job(&recipe, &test, FrameSize::MINIMUM, 42, settings())
            .map(|_| ())
            .expect_err("no port")
            .to_string()
    };
    let without: Vec<_> = SERVERS.iter().filter(|name| !serves_tls(name)).collect();
    assert_eq!(without, [&"pdns-dns64"]);
    let error = told("pdns-dns64");
    assert!(
        error.contains("serves no TLS: its [dns] has no `tls-port`"),
        "{error}"
    );
}

fn serves_tls(name: &str) -> bool {
    recipe(name, &[])
        .dns
        .is_some_and(|dns| dns.tls_port.is_some())
}

/// Adds queries over three connections with TLS to a test.
fn over_tls(dns: DnsTest) -> DnsTest {
    DnsTest {
        transport: QueryTransport::Tls,
        ..over_tcp(dns)
    }
}

/// Names of the namespace, in and outside of `names`, one that does not exist, and other types.
const QUERY_FILE: &str = "; the first has its exact answer
010-000-000-001.dns64perf.test AAAA
010-001-002-003.DNS64perf.test AAAA  ; its A record is asked for
nothing.dns64perf.test AAAA
010-000-000-002.dns64perf.test A
# no data
dns64perf.test MX
";

#[test]
fn queries_of_a_file_are_checked_as_far_as_their_answers_can_be_known() {
    let _guard = ONE_AT_A_TIME.lock();
    let settings = DnsTest {
        names: "10.0.0.0/24".parse().expect("names"),
        queries: Some(QueryFile::read("queries.txt", QUERY_FILE).expect("queries")),
        ..dns64()
    };
    for settings in [settings.clone(), over_tcp(settings)] {
        let mut session = open("unbound-dns64", &settings, None);
        let (result, _) = trial("unbound-dns64", &mut session);
        assert_all_right("unbound-dns64", &result);
        let asked = dns(&result);
        // Each of the five is asked twelve times.
        let codes = [("NOERROR".to_owned(), 48), ("NXDOMAIN".to_owned(), 12)];
        assert_eq!(asked.rcodes, codes.into());
        assert_eq!((asked.not_looked_up, asked.cache.observed), (0, None));
    }
}
