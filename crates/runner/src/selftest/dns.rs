//! Measures the DNS tester: its client looped to its authority over the loopback interface, with the search of RFC 8219 section 9.2.1.

use super::result::SelftestResult;
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
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The highest rate that the search tries. 2.2 times as many queries are looped.
const MOST: FrameRate = FrameRate(1_000_000);
const DURATION_NS: u64 = 500_000_000;

/// Measures the highest rate that is looped with every answer correct within a quarter of a second: with one core for both ends, and with one core
/// for each.
pub(super) fn figures(stop: &Arc<AtomicBool>) -> Result<Vec<SelftestResult>, RunError> {
    let cores: Vec<u32> = allowed_cores()?;
    let layouts = [("one core for both", 1), ("a core each", 2)];
    let possible = layouts.into_iter().filter(|(_, wanted)| *wanted <= cores.len());
    possible.map(|(name, wanted)| figure(name, &cores[..wanted], stop)).collect()
}

fn figure(name: &str, cores: &[u32], stop: &Arc<AtomicBool>) -> Result<SelftestResult, RunError> {
    let what = format!("DNS over loopback, client and authority, {name}");
    looped(what, Ipv6Addr::LOCALHOST.into(), cores, settings(), stop)
}

/// Measures the highest rate that is looped with every answer correct within a quarter of the timeout of `settings`.
pub(super) fn looped(
    what: String,
    host: IpAddr,
    cores: &[u32],
    settings: DnsSettings,
    stop: &Arc<AtomicBool>,
) -> Result<SelftestResult, RunError> {
    let certificate = tester(host, cores, settings, stop)?.certify(MOST, DURATION_NS)?;
    let rate = certificate.map_or(0, |certificate| certificate.rate);
    let per_second = if rate == 0 { 0 } else { Certificate::looped(rate) };
    Ok(SelftestResult::new(what, per_second, "queries/s"))
}

/// Returns a tester whose authority is at an address of the loopback interface.
pub(super) fn tester(
    host: IpAddr,
    cores: &[u32],
    settings: DnsSettings,
    stop: &Arc<AtomicBool>,
) -> Result<DnsTester, RunError> {
    // A free port, which the authority takes over immediately.
    let listen = UdpSocket::bind(SocketAddr::new(host, 0)).and_then(|socket| socket.local_addr())?;
    let looped = Some((listen, "loopback".to_owned()));
    let ends = DnsEnds {
        client_namespace: None,
        client: None,
        server: listen,
        authority: Some(AuthorityEnd { namespace: None, listen, looped }),
        external: None,
    };
    let layout = Layout { cores: cores.to_vec() };
    Ok(DnsTester::new(Isolation::Unknown.admit(ends)?, settings, layout, stop.clone()))
}

pub(super) fn settings() -> DnsSettings {
    let DnsTest { timeout_ns, ttl_s, ports, cached_names, .. } = DnsTest::required(DnsRole::Authority);
    let population = NamePopulation { with_aaaa: 100 };
    DnsSettings {
        expectation: ExpectedAnswers { role: DnsRole::Authority, prefix: None, population, most_ttl: ttl_s },
        domain: Domain::new(DOMAIN).expect("a constant domain"),
        names: Names::ALL,
        cached: 0,
        cached_names,
        timeout_ns,
        window_ns: timeout_ns,
        stall_ns: 1_000_000,
        ports,
        records: None,
    }
}
