//! The DNS tester at a device's links: a client on the left, an authority on the right, and a direct link between them for the self-test.

use super::ends::{TesterLinks, settle};
use super::error::{RunError, TrialError};
use super::request::{SessionRequest, Site};
use sixbench_engine::Layout;
use sixbench_engine::dns::{AuthorityEnd, DnsEnds, DnsSettings, DnsTester, ExternalAuthority};
use sixbench_method::terms::FrameRate;
use sixbench_testbed::{Hosts, RealAuthority, TestbedError};
use std::net::{IpAddr, SocketAddr};

/// The highest rate for which a self-test is made, queries per second: sockets of one machine do no more.
pub(crate) const MOST_CERTIFIED: FrameRate = FrameRate(500_000);

const LOOPED_PORT: u16 = 5300;

const BETWEEN_ENDS: &str = "a veth pair of its own between the tester's ends";

/// The tester's ends. Fields are dropped in the order in which they stand.
pub(super) struct DnsPlaces {
    authority: Option<RealAuthority>,
    /// The real authority's facts that the tester must know.
    external: Option<ExternalAuthority>,
    hosts: Hosts,
    looped: IpAddr,
}

/// Settles both ends and gives the tester its place; returns the tester, its ends, and a sentence that says how.
pub(super) fn place(
    site: &Site<'_>,
    request: &SessionRequest<'_>,
    links: &TesterLinks,
    (ends, settings): (DnsEnds, DnsSettings),
    threads: Layout,
) -> Result<(DnsTester, DnsPlaces, String), RunError> {
    let (places, how) = set_up(site, request, links, (&ends, threads.cores.len()))?;
    let ends = site.isolation.admit(places.within(ends))?;
    let mut tester = DnsTester::new(ends, settings, threads, site.stop.clone());
    tester.listen().map_err(|error| RunError::from(TrialError::Dns(error)))?;
    Ok((tester, places, how))
}

fn set_up(
    site: &Site<'_>,
    request: &SessionRequest<'_>,
    links: &TesterLinks,
    (ends, cores): (&DnsEnds, usize),
) -> Result<(DnsPlaces, String), RunError> {
    let right = request.recipe.foreground.right.destination;
    let client: Vec<IpAddr> = ends.client.into_iter().collect();
    let hosts = settle(site, request, links, (&client, &[right]))?;
    let (_, looped) = hosts.loop_back()?;
    let authority = match &request.dns {
        Some((zone, Some(recipe))) => {
            let at = SocketAddr::new(right, zone.authority_port);
            let real = RealAuthority::bring_up(recipe, &hosts, at, zone)?;
            hosts.reach_over_loop(right)?;
            let shares_core = cores < 2;
            Some((real, ExternalAuthority { looped: (at, BETWEEN_ENDS.to_owned()), shares_core }))
        }
        _ => None,
    };
    let (authority, external) = authority.unzip();
    let who = match (&authority, ends.authority.is_some()) {
        (Some(real), _) => format!("the authority behind the DUT is {}, on the tester's cores", real.facts().version),
        (None, true) => "the authority behind the DUT is the tester's own, which computes its answers".to_owned(),
        (None, false) => "the DUT is an authority itself".to_owned(),
    };
    let how = format!("DNS queries are sent by the kernel's own sockets in a namespace at the left end; {who}");
    Ok((DnsPlaces { authority, external, hosts, looped }, how))
}

impl DnsPlaces {
    /// Returns the namespaces of the left and the right end.
    pub(super) fn namespaces(&self) -> (String, String) {
        self.hosts.namespaces()
    }

    /// Fails if the real authority has ended: the server under test is not to blame for the answers that this causes.
    pub(super) fn check_alive(&mut self) -> Result<(), TestbedError> {
        self.authority.as_mut().map_or(Ok(()), RealAuthority::check_alive)
    }

    pub(super) fn within(&self, ends: DnsEnds) -> DnsEnds {
        let (left, right) = self.hosts.namespaces();
        let looped = |end: AuthorityEnd| AuthorityEnd {
            namespace: Some(right.clone()),
            looped: Some((SocketAddr::new(self.looped, LOOPED_PORT), BETWEEN_ENDS.to_owned())),
            ..end
        };
        DnsEnds { client_namespace: Some(left), authority: ends.authority.map(looped), external: self.external.clone(), ..ends }
    }
}
