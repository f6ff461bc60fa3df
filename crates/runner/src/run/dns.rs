//! The DNS tester on a device's links: a client on the left, an authority on the right or on its own machine, and a direct link between them for
//! the self-test.

use crate::ends::cores::cores;
use crate::ends::neighbours;
use crate::ends::{TesterLinks, settle};
use crate::error::{RunError, TrialError};
use crate::profile::DnsJob;
use crate::request::{SessionRequest, Site};
use sixbench_engine::Layout;
use sixbench_engine::dns::{AuthorityEnd, DnsEnds, DnsSettings, DnsTester, ExternalAuthority};
use sixbench_method::isolation::Isolation;
use sixbench_method::terms::FrameRate;
use sixbench_testbed::{Hosts, RealAuthority, RemoteAuthority, ServedZone, TestbedError};
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

/// The highest rate for which a self-test is made, in queries per second: sockets on one machine do not reach more.
pub(crate) const MOST_CERTIFIED: FrameRate = FrameRate(500_000);

const LOOPED_PORT: u16 = 5300;

const BETWEEN_ENDS: &str = "a veth pair of its own between the tester's ends";

/// An authority other than the tester's own. Drop it before the hosts.
enum OtherAuthority {
    /// A real authority, brought up by a recipe at the tester's right end.
    Real(Box<RealAuthority>),
    /// Sixbench's authority on its own machine.
    Remote(Box<RemoteAuthority>),
}

/// The tester's ends. Fields are dropped in the order of declaration.
pub(crate) struct DnsPlaces {
    authority: Option<OtherAuthority>,
    /// The properties of that authority that the tester must know.
    external: Option<ExternalAuthority>,
    hosts: Hosts,
    looped: IpAddr,
}

/// Sets up both ends and the tester on them. Returns the tester, its ends, and a sentence about how it works.
pub(crate) fn place(
    site: &Site<'_>,
    request: &SessionRequest<'_>,
    links: &TesterLinks,
    authority: Option<RemoteAuthority>,
    job: DnsJob,
    threads: Layout,
) -> Result<(DnsTester, DnsPlaces, String), RunError> {
    let DnsJob { ends, settings } = job;
    let (mut places, how) = match authority {
        Some(authority) => set_up_apart(site, request, links, authority, &ends)?,
        None => set_up(site, request, links, &ends, threads.cores.len())?,
    };
    places.serve(site.isolation, &ends, &settings)?;
    let ends = site.isolation.admit(places.within(ends))?;
    let mut tester = DnsTester::new(ends, settings, threads, site.stop.clone());
    tester
        .listen()
        .map_err(|error| RunError::from(TrialError::Dns(error)))?;
    Ok((tester, places, how))
}

/// Sets up the left end only: the authority has its own machine, and the right end is for the self-test.
fn set_up_apart(
    site: &Site<'_>,
    request: &SessionRequest<'_>,
    links: &TesterLinks,
    authority: RemoteAuthority,
    ends: &DnsEnds,
) -> Result<(DnsPlaces, String), RunError> {
    let TesterLinks::Taken(interfaces) = links else {
        return Err(RunError::NeedsInterfaces);
    };
    let client: Vec<IpAddr> = ends.client.into_iter().collect();
    let hosts = Hosts::settle_apart(
        interfaces,
        &cores(site.links)?.tester,
        request.recipe,
        &client,
    )?;
    neighbours::wait_for_apart(request.recipe, &hosts, authority.name(), site)?;
    let (_, right) = hosts.namespaces();
    let external = ExternalAuthority {
        looped: (
            RemoteAuthority::LOOPED,
            format!("a link of its own to the machine {}", authority.name()),
        ),
        looped_from: Some(right),
        has_every_name: true,
        shares_core: false,
    };
    let how = "DNS queries are sent by the kernel's own sockets in a namespace at the left end"
        .to_owned();
    let looped = RemoteAuthority::LOOPED.ip();
    Ok((
        DnsPlaces {
            authority: Some(OtherAuthority::Remote(Box::new(authority))),
            external: Some(external),
            hosts,
            looped,
        },
        how,
    ))
}

fn set_up(
    site: &Site<'_>,
    request: &SessionRequest<'_>,
    links: &TesterLinks,
    ends: &DnsEnds,
    cores: usize,
) -> Result<(DnsPlaces, String), RunError> {
    let right = request.recipe.foreground.right.destination;
    let client: Vec<IpAddr> = ends.client.into_iter().collect();
    let hosts = settle(site, request, links, (&client, &[right]))?;
    let (_, looped) = hosts.loop_back()?;
    let (mut authority, mut external) = (None, None);
    if let Some((zone, Some(recipe))) = &request.dns {
        let at = SocketAddr::new(right, zone.authority_port);
        authority = Some(RealAuthority::bring_up(recipe, &hosts, at, zone)?);
        hosts.reach_over_loop(right)?;
        external = Some(ExternalAuthority {
            looped: (at, BETWEEN_ENDS.to_owned()),
            looped_from: None,
            has_every_name: false,
            shares_core: cores < 2,
        });
    }
    let who = match (&authority, ends.authority.is_some()) {
        (Some(real), _) => format!(
            "the authority behind the DUT is {}, on the tester's cores",
            real.facts().version
        ),
        (None, true) => {
            "the authority behind the DUT is the tester's own, which computes its answers"
                .to_owned()
        }
        (None, false) => "the DUT is an authority itself".to_owned(),
    };
    let how = format!(
        "DNS queries are sent by the kernel's own sockets in a namespace at the left end; {who}"
    );
    let places = DnsPlaces {
        authority: authority.map(|real| OtherAuthority::Real(Box::new(real))),
        external,
        hosts,
        looped,
    };
    Ok((places, how))
}

impl DnsPlaces {
    /// Makes an authority on its own machine serve what `settings` require. Any other authority already does so.
    ///
    /// # Errors
    /// The authority does not listen there, or test traffic must not go there.
    pub(crate) fn serve(
        &mut self,
        isolation: Isolation,
        ends: &DnsEnds,
        settings: &DnsSettings,
    ) -> Result<(), RunError> {
        let (Some(OtherAuthority::Remote(authority)), Some(end)) =
            (&mut self.authority, &ends.authority)
        else {
            return Ok(());
        };
        let listen = *isolation.admit(end.listen)?;
        Ok(authority.serve(&ServedZone {
            domain: settings.domain.to_string(),
            with_aaaa: settings.expectation.population.with_aaaa,
            ttl_s: settings.expectation.most_ttl,
            listen,
            is_isolated: isolation == Isolation::Declared,
        })?)
    }

    /// Returns the facts about the authority's own machine by name, or none if it does not have one.
    pub(crate) fn authority_facts(&self) -> BTreeMap<String, String> {
        match &self.authority {
            Some(OtherAuthority::Remote(authority)) => authority.facts(),
            Some(OtherAuthority::Real(_)) | None => BTreeMap::new(),
        }
    }

    /// Returns the namespaces of the left and the right end.
    pub(crate) fn namespaces(&self) -> (String, String) {
        self.hosts.namespaces()
    }

    /// Returns an error if an authority other than the tester's own has ended, because the server under test is not to blame for the resulting
    /// answers.
    pub(crate) fn check_alive(&mut self) -> Result<(), TestbedError> {
        match &mut self.authority {
            Some(OtherAuthority::Real(authority)) => authority.check_alive(),
            Some(OtherAuthority::Remote(authority)) => authority.check_alive(),
            None => Ok(()),
        }
    }

    pub(crate) fn within(&self, ends: DnsEnds) -> DnsEnds {
        let (left, right) = self.hosts.namespaces();
        let looped = |end: AuthorityEnd| AuthorityEnd {
            namespace: Some(right.clone()),
            looped: Some((
                SocketAddr::new(self.looped, LOOPED_PORT),
                BETWEEN_ENDS.to_owned(),
            )),
            ..end
        };
        let is_remote = matches!(self.authority, Some(OtherAuthority::Remote(_)));
        let authority = ends.authority.filter(|_| !is_remote).map(looped);
        DnsEnds {
            client_namespace: Some(left),
            authority,
            external: self.external.clone(),
            ..ends
        }
    }
}
