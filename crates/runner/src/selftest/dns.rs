//! Measures the DNS tester: its client looped to its authority over the loopback interface, with the search of RFC 8219 section 9.2.1.

use super::result::{LoopedRate, SelftestResult};
use crate::RunError;
use sixbench_engine::Layout;
use sixbench_engine::dns::names::{Domain, NamePopulation};
use sixbench_engine::dns::{AuthorityEnd, DnsEnds, DnsSettings, DnsTester, ExpectedAnswers};
use sixbench_io::thread::allowed_cores;
use sixbench_method::isolation::Isolation;
use sixbench_method::plan::{DOMAIN, DnsRole, DnsTest, Names};
use sixbench_method::terms::FrameRate;
use sixbench_method::trial::dns::Certificate;
use std::net::{IpAddr, Ipv6Addr, SocketAddr, UdpSocket};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

const DNS_PORT: u16 = 53;
/// The highest rate of the first search. For a rate r the self-test loops 2 (r + 0.1 r) queries/s (RFC 8219 section 9.2.1), see [`Certificate::looped`].
const FIRST_MAXIMUM: u64 = 1_000_000;
/// The highest rate that it tries at all, far above what the kernel's sockets can do. A result there is "at least".
const LAST_MAXIMUM: u64 = 64 * FIRST_MAXIMUM;
/// The time of sending in each trial, unless the user names another.
pub(super) const DURATION_NS: u64 = 500_000_000;
/// The distance of the bounds at which a search ends, as a share of the upper one.
const WIDTH: f64 = 0.01;

/// Measures the highest rate that is looped ([`looped`]): with one core for both ends, and with one core for each.
pub(super) fn figures(stop: &Arc<AtomicBool>) -> Result<Vec<SelftestResult>, RunError> {
    let cores: Vec<u32> = allowed_cores()?;
    let layouts = [("one core for both", 1), ("a core each", 2)];
    let possible = layouts
        .into_iter()
        .filter(|(_, wanted)| *wanted <= cores.len());
    possible
        .map(|(name, wanted)| figure(name, &cores[..wanted], stop))
        .collect()
}

fn figure(name: &str, cores: &[u32], stop: &Arc<AtomicBool>) -> Result<SelftestResult, RunError> {
    let what = format!("DNS over loopback, client and authority, {name}");
    let path = LoopPath::loopback(Ipv6Addr::LOCALHOST.into());
    looped(
        what,
        &path,
        cores,
        &LoopedTrials {
            settings: settings(),
            duration_ns: DURATION_NS,
            times: NonZeroU32::MIN,
        },
        stop,
    )
}

/// The way from the client to the authority.
pub(super) struct LoopPath {
    /// The network namespaces of the client and of the authority; `None` for the current one.
    pub(super) namespaces: Option<(String, String)>,
    /// The authority's address.
    pub(super) host: IpAddr,
    /// The links, in words.
    pub(super) name: String,
}

impl LoopPath {
    /// Returns the path over the loopback interface to one of its addresses.
    pub(super) fn loopback(host: IpAddr) -> Self {
        Self {
            namespaces: None,
            host,
            name: "loopback".to_owned(),
        }
    }

    /// Returns the socket address of the authority: in a namespace of its own at the port of DNS, elsewhere at a free one.
    fn listen(&self) -> std::io::Result<SocketAddr> {
        match self.namespaces {
            Some(_) => Ok(SocketAddr::new(self.host, DNS_PORT)),
            // The authority binds the same port at once. If another program takes it in between, the authority fails with an error that says so.
            None => UdpSocket::bind(SocketAddr::new(self.host, 0))
                .and_then(|socket| socket.local_addr()),
        }
    }
}

/// The trials of one result.
pub(super) struct LoopedTrials {
    pub(super) settings: DnsSettings,
    /// The time of sending in each.
    pub(super) duration_ns: u64,
    /// The number of searches; the result is their median.
    pub(super) times: NonZeroU32,
}

/// Measures the highest rate that is looped with every answer correct within a quarter of the timeout of `trials`, which RFC 8219 section
/// 9.2.1 requires of the tester.
pub(super) fn looped(
    what: String,
    path: &LoopPath,
    cores: &[u32],
    trials: &LoopedTrials,
    stop: &Arc<AtomicBool>,
) -> Result<SelftestResult, RunError> {
    let mut found = Vec::new();
    for _ in 0..trials.times.get() {
        let mut tester = tester(path, cores, trials.settings.clone(), stop)?;
        found.push(unbounded(|most| {
            let certificate = tester.certify_within(most, trials.duration_ns, WIDTH)?;
            Ok(FrameRate(
                certificate.map_or(0, |certificate| certificate.rate),
            ))
        })?);
    }
    Ok(SelftestResult::of_queries(what, &found))
}

/// Returns the highest rate that `certify` finds. The maximum of its search is doubled as long as the search ends there, so that the result is the
/// tester's limit; a rate at the last maximum is a lower bound.
fn unbounded(
    mut certify: impl FnMut(FrameRate) -> Result<FrameRate, RunError>,
) -> Result<LoopedRate, RunError> {
    let mut most = FIRST_MAXIMUM;
    loop {
        let rate = certify(FrameRate(most))?.0;
        let is_at_maximum = rate >= most;
        if !is_at_maximum || most >= LAST_MAXIMUM {
            return Ok(LoopedRate {
                per_second: Certificate::looped(rate),
                is_at_least: is_at_maximum,
            });
        }
        most *= 2;
    }
}

/// Returns a tester whose client is looped to its authority.
pub(super) fn tester(
    path: &LoopPath,
    cores: &[u32],
    settings: DnsSettings,
    stop: &Arc<AtomicBool>,
) -> Result<DnsTester, RunError> {
    let listen = path.listen()?;
    let looped = Some((listen, path.name.clone()));
    let (client_namespace, namespace) = path.namespaces.clone().unzip();
    let ends = DnsEnds {
        client_namespace,
        client: None,
        server: listen,
        authority: Some(AuthorityEnd {
            namespace,
            listen,
            looped,
        }),
        external: None,
    };
    let layout = Layout {
        cores: cores.to_vec(),
    };
    Ok(DnsTester::new(
        Isolation::Unknown.admit(ends)?,
        settings,
        layout,
        stop.clone(),
    ))
}

pub(super) fn settings() -> DnsSettings {
    let DnsTest {
        timeout_ns,
        ttl_s,
        ports,
        cached_names,
        burst,
        ..
    } = DnsTest::required(DnsRole::Authority);
    let population = NamePopulation { with_aaaa: 100 };
    DnsSettings {
        expectation: ExpectedAnswers {
            role: DnsRole::Authority,
            prefix: None,
            population,
            most_ttl: ttl_s,
        },
        domain: Domain::new(DOMAIN).expect("a constant domain"),
        names: Names::ALL,
        cached: 0,
        cached_names,
        timeout_ns,
        window_ns: timeout_ns,
        stall_ns: 1_000_000,
        ports,
        burst,
        records: None,
        queries: None,
        tcp: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(capacity: u64) -> LoopedRate {
        unbounded(|most| Ok(FrameRate(most.0.min(capacity)))).expect("no error")
    }

    #[test]
    fn the_ceiling_of_the_search_is_no_result() {
        let above = limit(3_300_000);
        assert_eq!(
            (above.per_second, above.is_at_least),
            (7_260_000, false),
            "2.2 times the capacity, not 2.2 M"
        );
        assert_eq!(
            limit(1_000_000).per_second,
            2_200_000,
            "a tester whose limit is the first maximum"
        );
        assert!(!limit(1_000_000).is_at_least);
        assert_eq!(limit(0).per_second, 0);
    }

    #[test]
    fn a_rate_at_the_last_maximum_is_a_lower_bound() {
        let endless = limit(u64::MAX);
        assert!(endless.is_at_least);
        let [line] = &super::super::table(&[SelftestResult::of_queries(
            "looped".to_owned(),
            &[endless],
        )])[..] else {
            panic!()
        };
        assert!(line.contains(">= 140.800M"), "{line}");
    }
}
