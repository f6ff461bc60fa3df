//! The DNS tester with our own servers on loopback, at low rates: nothing here depends on timing.

use crate::common::ONE_AT_A_TIME;
use sixbench_engine::Layout;
use sixbench_engine::dns::authority::{AddressZone, Authority};
use sixbench_engine::dns::names::{Domain, NamePopulation};
use sixbench_engine::dns::{AuthorityEnd, DnsEnds, DnsSettings, DnsTester, ExpectedAnswers};
use sixbench_engine::memory::octets_needed;
use sixbench_method::isolation::Isolation;
use sixbench_method::plan::DnsRole;
use sixbench_method::terms::{FrameRate, LossRatio};
use sixbench_method::trial::{Fault, Measurer, TrialKind, TrialResult, TrialSpec, Verdict};
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

fn domain() -> Domain {
    Domain::new("dns64perf.test").expect("a domain")
}

/// Gives a server the priority of the client, which never sleeps: at ordinary priority it would hardly run on a busy machine.
fn raise() {
    // If the priority cannot be raised here, the client's cannot be raised, either.
    let _ = sixbench_io::thread::raise_priority();
}

/// An authority that answers until it is dropped.
struct Server {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    fn start(with_aaaa: u8) -> Self {
        let zone = AddressZone {
            domain: domain(),
            population: NamePopulation { with_aaaa },
            ttl_s: 60,
        };
        let mut authority = Authority::bind("[::1]:0".parse().expect("an address"), Arc::new(zone))
            .expect("a server");
        let (address, stop) = (authority.local(), Arc::new(AtomicBool::new(false)));
        let seen = stop.clone();
        let serve = move || {
            raise();
            while !seen.load(Ordering::Relaxed) {
                // The client may need the core.
                if authority.turn(None) == 0 {
                    std::thread::sleep(Duration::from_micros(50));
                }
            }
        };
        Self {
            address,
            stop,
            thread: Some(std::thread::spawn(serve)),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

fn settings(with_aaaa: u8) -> DnsSettings {
    let population = NamePopulation { with_aaaa };
    DnsSettings {
        expectation: ExpectedAnswers {
            role: DnsRole::Authority,
            prefix: None,
            population,
            most_ttl: 60,
        },
        domain: domain(),
        names: "10.0.0.0/16".parse().expect("names"),
        cached: 0,
        cached_names: 100,
        timeout_ns: 3_000_000_000,
        window_ns: 3_000_000_000,
        // This machine is shared.
        stall_ns: 500_000_000,
        ports: 8,
        burst: std::num::NonZeroU32::MIN,
        records: None,
        queries: None,
        tcp: None,
    }
}

fn ends(server: SocketAddr) -> DnsEnds {
    DnsEnds {
        client_namespace: None,
        client: None,
        server,
        authority: None,
        external: None,
    }
}

fn tester(ends: DnsEnds, settings: DnsSettings) -> DnsTester {
    DnsTester::new(
        Isolation::Unknown.admit(ends).expect("loopback"),
        settings,
        Layout::default(),
        Arc::new(AtomicBool::new(false)),
    )
}

fn spec(rate: u64, ms: u64) -> TrialSpec {
    TrialSpec {
        kind: TrialKind::Queries,
        ..TrialSpec::constant(FrameRate(rate), ms * 1_000_000)
    }
}

fn measure(tester: &mut DnsTester, spec: &TrialSpec) -> TrialResult {
    tester.measure(spec).expect("a trial")
}

#[test]
fn every_query_to_an_authority_is_answered_rightly() {
    let _guard = ONE_AT_A_TIME.lock();
    let server = Server::start(50);
    let mut tester = tester(ends(server.address), settings(50));
    // So few that the receive buffer holds all of them even if the server does not run.
    let result = measure(&mut tester, &spec(400, 500));
    let dns = result.dns().expect("queries");
    assert_eq!(
        (dns.answers.sent, dns.answers.right, dns.answers.unanswered),
        (200, 200, 0),
        "{dns:?}"
    );
    assert_eq!(dns.existing, 100);
    assert_eq!(dns.rtt.count, 200);
    assert_eq!(
        result.directions[0].delay.as_ref().map(|delay| delay.count),
        Some(200)
    );
}

#[test]
fn a_wrong_expectation_is_told_before_anything_is_measured() {
    let server = Server::start(0);
    let wrong = DnsSettings {
        expectation: ExpectedAnswers {
            role: DnsRole::Dns64,
            prefix: Some("64:ff9b::/96".parse().expect("a prefix")),
            ..settings(0).expectation
        },
        ..settings(0)
    };
    let error = tester(ends(server.address), wrong)
        .probe(Duration::ZERO)
        .expect_err("no DNS64 server")
        .to_string();
    assert!(error.contains("is DNS64 enabled"), "{error}");
}

#[test]
fn a_server_that_is_not_there_is_told_so() {
    let gone = Server::start(0).address;
    let error = tester(ends(gone), settings(0))
        .probe(Duration::ZERO)
        .expect_err("nobody")
        .to_string();
    let what = format!(
        "ICMP port unreachable: nothing listens at {} port {}, or a firewall",
        gone.ip(),
        gone.port()
    );
    assert!(error.contains(&what), "{error}");
}

#[test]
fn the_self_test_certifies_a_rate_and_above_it_nothing_is_sent() {
    let _guard = ONE_AT_A_TIME.lock();
    let listen: SocketAddr = "[::1]:0".parse().expect("an address");
    let free = UdpSocket::bind(listen)
        .expect("a port")
        .local_addr()
        .expect("an address");
    let authority = AuthorityEnd {
        namespace: None,
        listen: free,
        looped: Some((free, "loopback".to_owned())),
    };
    let server = Server::start(100);
    let ends = DnsEnds {
        authority: Some(authority),
        ..ends(server.address)
    };
    let mut tester = tester(ends, settings(100));
    // This machine may sometimes be too busy to keep the pace.
    let mut certify = || {
        tester
            .certify(FrameRate(1000), 300_000_000)
            .expect("a self-test")
            .expect("a certificate")
    };
    assert!(
        (0..20).any(|_| certify().rate == 1000),
        "fit for 1000 queries/s"
    );
    let above = measure(&mut tester, &spec(1001, 300));
    assert_eq!(
        (above.verdict(LossRatio::ZERO), above.directions[0].offered),
        (Verdict::Invalid, 0)
    );
}

/// Returns a server that passes the first query on to `upstream`, and fails all others without querying.
fn failing_after_one(upstream: SocketAddr) -> (SocketAddr, JoinHandle<()>) {
    let any = || UdpSocket::bind("[::1]:0").expect("a port");
    let (server, client) = (any(), any());
    let address = server.local_addr().expect("an address");
    server
        .set_read_timeout(Some(Duration::from_secs(3)))
        .expect("a timeout");
    let serve = move || {
        raise();
        let (mut message, mut is_first) = ([0; 512], true);
        while let Ok((mut octets, from)) = server.recv_from(&mut message) {
            if std::mem::take(&mut is_first) {
                client.send_to(&message[..octets], upstream).expect("sent");
                octets = client.recv(&mut message).expect("an answer");
            } else {
                // A response, recursion available, SERVFAIL.
                (message[2], message[3]) = (message[2] | 0x80, 0x82);
            }
            server.send_to(&message[..octets], from).expect("sent");
        }
    };
    (address, std::thread::spawn(serve))
}

#[test]
fn failures_of_a_server_that_asks_nobody_are_losses_and_no_cache_hits() {
    let _guard = ONE_AT_A_TIME.lock();
    let upstream = Server::start(100);
    let (server, serving) = failing_after_one(upstream.address);
    let free = UdpSocket::bind("[::1]:0")
        .expect("a port")
        .local_addr()
        .expect("an address");
    let authority = AuthorityEnd {
        namespace: None,
        listen: free,
        looped: None,
    };
    let mut tester = tester(
        DnsEnds {
            authority: Some(authority),
            ..ends(server)
        },
        settings(100),
    );
    let result = measure(&mut tester, &spec(200, 300));
    let dns = result.dns().expect("queries");
    assert_eq!(
        (dns.answers.sent, dns.answers.servfail, dns.cache.observed),
        (60, 60, Some(0)),
        "{dns:?}"
    );
    assert!(
        !result
            .faults
            .iter()
            .any(|fault| matches!(fault, Fault::HitsDiffer { .. })),
        "{:?}",
        result.faults
    );
    assert_eq!(
        TrialResult {
            faults: vec![],
            ..result
        }
        .verdict(LossRatio::ZERO),
        Verdict::Lost
    );
    serving.join().expect("ended");
}

#[test]
fn records_of_queries_that_wait_to_be_written_count_in_the_memory_of_a_trial() {
    let (settings, spec) = (
        crate::common::dns::settings(),
        crate::common::dns::spec(1_000, 100),
    );
    let kept = DnsSettings {
        records: Some("queries.csv".into()),
        ..settings.clone()
    };
    let [without, with] = [settings, kept].map(|settings| octets_needed(&spec, &settings));
    // 256 chunks of 4,096 records of at least 40 octets each.
    assert!(
        with - without >= 256 * 4096 * 40 && with - without < 100 << 20,
        "{without} {with}"
    );
}
