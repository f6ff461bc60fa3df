//! DNS testers for tests of the whole, and trials with them. Only counts are tested, not timing.

use super::ONE_AT_A_TIME;
use super::dns64::{Dns64, Knows, Rig};
use sixbench_engine::Layout;
use sixbench_engine::dns::names::{Domain, NamePopulation};
use sixbench_engine::dns::{AuthorityEnd, DnsEnds, DnsSettings, DnsTester, ExpectedAnswers};
use sixbench_method::isolation::Isolation;
use sixbench_method::plan::DnsRole;
use sixbench_method::terms::FrameRate;
use sixbench_method::trial::dns::{Answers, DnsResult};
use sixbench_method::trial::{Measurer, TrialKind, TrialResult, TrialSpec};
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The queries in a trial by [`queries`], so few that the receive buffer holds all of them even if the server does not run.
pub(crate) const QUERIES: u64 = 200;
const MS: u64 = 1_000_000;

/// Returns settings for a DNS64 server.
pub(crate) fn settings() -> DnsSettings {
    let prefix = Some("64:ff9b::/96".parse().expect("a prefix"));
    DnsSettings {
        expectation: ExpectedAnswers {
            role: DnsRole::Dns64,
            prefix,
            population: NamePopulation::default(),
            most_ttl: 60,
        },
        domain: Domain::new("dns64perf.test").expect("a domain"),
        names: "10.0.0.0/16".parse().expect("names"),
        cached: 0,
        cached_names: 50,
        // Longer than any server here has to wait for a core.
        timeout_ns: 3000 * MS,
        window_ns: 3000 * MS,
        // This machine is shared.
        stall_ns: 1000 * MS,
        ports: 4,
        burst: std::num::NonZeroU32::MIN,
        records: None,
        queries: None,
        tcp: None,
    }
}

/// Returns an address at which no socket listens.
pub(crate) fn free() -> SocketAddr {
    UdpSocket::bind("[::1]:0")
        .expect("a port")
        .local_addr()
        .expect("an address")
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "what `tester` takes; other tests have no authority"
)]
pub(crate) fn authority_at(listen: SocketAddr) -> Option<AuthorityEnd> {
    Some(AuthorityEnd {
        namespace: None,
        listen,
        looped: Some((listen, "loopback".to_owned())),
    })
}

pub(crate) fn tester(
    server: SocketAddr,
    authority: Option<AuthorityEnd>,
    settings: DnsSettings,
    cores: &[u32],
) -> DnsTester {
    let ends = DnsEnds {
        client_namespace: None,
        client: None,
        server,
        authority,
        external: None,
    };
    DnsTester::new(
        Isolation::Unknown.admit(ends).expect("loopback"),
        settings,
        Layout {
            cores: cores.to_vec(),
        },
        Arc::new(AtomicBool::new(false)),
    )
}

/// Returns a trial with this many queries per second for this many milliseconds.
pub(crate) fn spec(rate: u64, ms: u64) -> TrialSpec {
    TrialSpec {
        kind: TrialKind::Queries,
        ..TrialSpec::constant(FrameRate(rate), ms * MS)
    }
}

/// Runs a trial with no other trial at the same time.
pub(crate) fn measure(tester: &mut DnsTester, spec: &TrialSpec) -> TrialResult {
    let _guard = ONE_AT_A_TIME.lock();
    tester.measure(spec).expect("a trial")
}

/// Runs a self-test with no trial at the same time.
pub(crate) fn alone<T>(work: impl FnOnce() -> T) -> T {
    let _guard = ONE_AT_A_TIME.lock();
    work()
}

/// Returns the outcomes of the queries, after checking that each is counted once.
pub(crate) fn counted(result: &TrialResult) -> &DnsResult {
    let dns = result.dns().expect("queries");
    assert_eq!(
        dns.answers.settled() + dns.answers.unanswered,
        dns.answers.sent,
        "{dns:?}"
    );
    assert_eq!(dns.answers.received(), dns.rtt.count, "{dns:?}");
    let direction = &result.directions[0];
    assert_eq!(
        (direction.offered, direction.received),
        (dns.answers.sent, dns.answers.right)
    );
    let by_bin: u64 = direction.lost_by_bin.iter().sum();
    assert_eq!(
        by_bin,
        dns.answers.sent - dns.answers.right,
        "{:?}",
        direction.lost_by_bin
    );
    dns
}

/// Returns a trial with a server whose rig is active from the trial's first query on. It is repeated if this machine did not let the tester send
/// everything.
pub(crate) fn trial(
    settings: &DnsSettings,
    cores: &[u32],
    spec: &TrialSpec,
    rig: impl Fn() -> (Rig, u64),
) -> TrialResult {
    for _ in 0..5 {
        let (rig, most) = rig();
        let server = Dns64::start(Knows::All, rig, most);
        let mut tester = tester(server.address, None, settings.clone(), cores);
        alone(|| tester.probe(Duration::from_secs(5))).expect("an answer");
        server.is_rigged.store(true, Ordering::Relaxed);
        let result = measure(&mut tester, spec);
        if counted(&result).answers.sent == spec.frames() {
            return result;
        }
    }
    panic!("this machine is too busy to send {} queries", spec.frames());
}

/// Returns a trial with [`QUERIES`] queries in a fifth of a second, by one thread.
pub(crate) fn queries(rig: impl Fn() -> Rig) -> TrialResult {
    trial(&settings(), &[], &spec(QUERIES * 5, 200), || {
        (rig(), u64::MAX)
    })
}

/// Returns the outcomes, apart from network errors, if the server applies this change to every tenth right answer.
pub(crate) fn every_tenth(change: impl Fn(&mut Vec<u8>) + Clone + Send + 'static) -> Answers {
    let rig = || {
        let change = change.clone();
        super::dns64::each(move |number, mut right| {
            if number % 10 == 5 {
                change(&mut right);
            }
            vec![right]
        })
    };
    let result = queries(rig);
    counted(&result).answers
}
