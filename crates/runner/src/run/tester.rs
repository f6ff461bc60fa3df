//! The tester on a device's links: for frames, TCP connections, or DNS queries.

use super::built::RemoteParts;
use super::dns::{self, DnsPlaces};
use crate::agent::{FrameTraffic, TwoMachineTester};
use crate::ends::capture::captured;
use crate::ends::ports::{self, ETHERNET_HEADER_OCTETS};
use crate::ends::{TesterLinks, settle};
use crate::error::ports::OpenError;
use crate::error::{RunError, TrialError};
use crate::profile::{DnsJob, Job};
use crate::request::{SessionRequest, Site};
use crate::stop;
use sixbench_engine::dns::DnsTester;
use sixbench_engine::tcp::{TcpEnds, TcpTester};
use sixbench_engine::{ConnectionCounter, FrameTester, Layout};
use sixbench_io::files::Folder;
use sixbench_io::{Port, PortError, PortOptions, PortSpec};
use sixbench_method::isolation::Isolation;
use sixbench_method::record::Warning;
use sixbench_method::terms::{Direction, FrameRate};
use sixbench_method::trial::dns::Certificate;
use sixbench_method::trial::{Measurer, TrialResult, TrialSpec};
use sixbench_testbed::monitor::Occupant;
use sixbench_testbed::{Hosts, TestbedError};
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::{Duration, Instant};

pub(crate) enum Tester {
    Frames(Box<FrameTester>),
    /// A tester on two machines, for frames.
    Apart(Box<TwoMachineTester>),
    Tcp(Box<(TcpTester, Hosts)>),
    Dns(Box<(DnsTester, DnsPlaces)>),
}

impl Tester {
    /// Opens the ports, or sets up hosts at both ends. Also returns a sentence about it.
    pub(crate) fn place(
        site: &Site<'_>,
        request: &SessionRequest<'_>,
        links: &TesterLinks,
        remote: RemoteParts,
        job: Job,
        threads: Layout,
    ) -> Result<(Self, String), RunError> {
        match job {
            Job::Frames(profile, settings) => {
                if let Some(agent) = remote.agent {
                    let traffic = FrameTraffic {
                        profile: *profile,
                        settings,
                    };
                    let (tester, how) =
                        TwoMachineTester::place(site, request, links, agent, traffic, threads)?;
                    return Ok((Self::Apart(Box::new(tester)), how));
                }
                let (ports, how) = open_ports(site, request, links, &threads)?;
                let profile = site.isolation.admit(*profile)?;
                let tester = FrameTester::new(ports, profile, settings, threads, site.stop.clone());
                let queues = tester
                    .queues_in_words()
                    .map_or(String::new(), |words| format!("; {words}"));
                Ok((
                    Self::Frames(Box::new(tester)),
                    format!("frames are sent and received by {how}{queues}"),
                ))
            }
            Job::Dns(job) => {
                let (tester, places, how) =
                    dns::place(site, request, links, remote.authority, *job, threads)?;
                Ok((Self::Dns(Box::new((tester, places))), how))
            }
            Job::Tcp(ends, settings) => {
                let addresses = hosts_of(&ends);
                let hosts = settle(site, request, links, (&addresses.0, &addresses.1))?;
                let ends = site.isolation.admit(within(ends, &hosts))?;
                let tester = TcpTester::new(ends, settings, threads, site.stop.clone());
                let how = "TCP connections are made by the kernel's own sockets in a namespace at each end".to_owned();
                Ok((Self::Tcp(Box::new((tester, hosts))), how))
            }
        }
    }

    /// Returns who else uses the cores of the tester's end on another machine now, between two trials, or `None` if they are free or there is no
    /// such end.
    pub(crate) fn occupant(&self) -> Option<Occupant> {
        if let Self::Apart(tester) = self {
            tester.occupant()
        } else {
            None
        }
    }

    /// Returns the namespaces of the left and the right end, if they are hosts.
    pub(crate) fn hosts(&self) -> Option<(String, String)> {
        match self {
            Self::Frames(_) | Self::Apart(_) => None,
            Self::Tcp(tcp) => Some(tcp.1.namespaces()),
            Self::Dns(dns) => Some(dns.1.namespaces()),
        }
    }

    /// Registers a test that measures one-way delays.
    ///
    /// # Errors
    /// The tester is on two machines, and the accuracy of their clocks is unknown.
    pub(crate) fn require_delays(&mut self, test: &str) -> Result<(), RunError> {
        if let Self::Apart(tester) = self {
            Ok(tester.require_delays(test)?)
        } else {
            Ok(())
        }
    }

    /// Returns the facts about an agent's machine by name.
    pub(crate) fn facts(&self) -> BTreeMap<String, String> {
        if let Self::Apart(tester) = self {
            tester.facts().collect()
        } else {
            BTreeMap::new()
        }
    }

    /// Returns the warnings about an agent's machine.
    pub(crate) fn warnings(&self) -> Vec<Warning> {
        if let Self::Apart(tester) = self {
            tester.warnings().collect()
        } else {
            Vec::new()
        }
    }

    /// Returns the facts about the authority's own machine by name, or none if it does not have one.
    pub(crate) fn authority_facts(&self) -> BTreeMap<String, String> {
        if let Self::Dns(dns) = self {
            dns.1.authority_facts()
        } else {
            BTreeMap::new()
        }
    }

    pub(crate) fn set_counter(&mut self, counter: Option<ConnectionCounter>) {
        if let Self::Frames(tester) = self {
            tester.set_counter(counter);
        }
    }

    pub(crate) fn set_job(&mut self, isolation: Isolation, job: Job) -> Result<(), RunError> {
        match (self, job) {
            (Self::Frames(tester), Job::Frames(profile, settings)) => {
                tester.set_profile(isolation.admit(*profile)?, settings);
            }
            (Self::Apart(tester), Job::Frames(profile, settings)) => {
                let traffic = FrameTraffic {
                    profile: *profile,
                    settings,
                };
                tester.set_job(isolation, traffic)?;
            }
            (Self::Tcp(tcp), Job::Tcp(ends, settings)) => {
                let (tester, hosts) = &mut **tcp;
                tester.set(isolation.admit(within(ends, hosts))?, settings);
            }
            (Self::Dns(dns), Job::Dns(job)) => {
                let (tester, places) = &mut **dns;
                let DnsJob { ends, settings } = *job;
                places.serve(isolation, &ends, &settings)?;
                tester.set(isolation.admit(places.within(ends))?, settings);
            }
            _ => unreachable!("sessions are told apart by the kind of their job"),
        }
        Ok(())
    }

    /// Performs the self-test of a DNS tester. Returns `None` if this is not a DNS tester or already has a valid certificate.
    pub(crate) fn certify(
        &mut self,
        most: FrameRate,
        duration_ns: u64,
    ) -> Result<Option<Certificate>, TrialError> {
        let Self::Dns(dns) = self else {
            return Ok(None);
        };
        let tester = &mut dns.0;
        if tester.certificate().is_some() {
            return Ok(None);
        }
        Ok(tester.certify(most, duration_ns)?)
    }

    /// Keeps the record of every DNS query of the next trial in the file `name` of a folder.
    pub(crate) fn keep_queries(&mut self, folder: &Folder, name: &str) {
        if let Self::Dns(dns) = self {
            dns.0.keep_queries(folder, name);
        }
    }

    /// Returns true if a DNS server must be restarted before a trial, because its cache or its view of the authority depends on earlier trials.
    pub(crate) fn wants_new_server(&self, spec: &TrialSpec) -> bool {
        matches!(self, Self::Dns(dns) if dns.0.wants_new_server(spec))
    }

    pub(crate) fn has_new_server(&mut self) {
        if let Self::Dns(dns) = self {
            dns.0.forget();
        }
    }

    pub(crate) fn check_alive(&mut self) -> Result<(), TestbedError> {
        match self {
            Self::Dns(dns) => dns.1.check_alive(),
            Self::Frames(_) | Self::Apart(_) | Self::Tcp(..) => Ok(()),
        }
    }

    /// Returns the time at which the first frame of the latest trial was due, or `None` if the tester does not send frames itself.
    pub(crate) fn began(&self) -> Option<Instant> {
        match self {
            Self::Frames(tester) => tester.began(),
            Self::Apart(tester) => tester.began(),
            Self::Tcp(..) | Self::Dns(_) => None,
        }
    }

    /// Returns whether a ramp precedes the trials.
    pub(crate) fn has_ramp(&self) -> bool {
        matches!(self, Self::Frames(tester) if tester.has_ramp())
    }

    /// Sends the frames that precede a trial, if it has a ramp, and returns the number of those that did not come back right and in time.
    pub(crate) fn ramp(&mut self, spec: &TrialSpec) -> Result<u64, TrialError> {
        match self {
            Self::Frames(tester) => Ok(tester.ramp(spec)?),
            _ => Ok(0),
        }
    }

    pub(crate) fn measure(&mut self, spec: &TrialSpec) -> Result<TrialResult, TrialError> {
        Ok(match self {
            Self::Frames(tester) => tester.measure(spec)?,
            Self::Apart(tester) => tester.measure(spec)?,
            Self::Tcp(tcp) => tcp.0.measure(spec)?,
            Self::Dns(dns) => dns.0.measure(spec)?,
        })
    }
}

fn hosts_of(ends: &TcpEnds) -> (Vec<IpAddr>, Vec<IpAddr>) {
    let server: Vec<IpAddr> = ends.listen.into_iter().collect();
    match ends.opens {
        Direction::Forward => (ends.client_addresses.clone(), server),
        Direction::Reverse => (server, ends.client_addresses.clone()),
    }
}

fn within(ends: TcpEnds, hosts: &Hosts) -> TcpEnds {
    let (left, right) = hosts.namespaces();
    let (client, server) = match ends.opens {
        Direction::Forward => (left, right),
        Direction::Reverse => (right, left),
    };
    TcpEnds {
        client_namespace: Some(client),
        server_namespace: Some(server),
        ..ends
    }
}

/// Opens both ports for threads on these cores, and returns a sentence about how and where.
fn open_ports(
    site: &Site<'_>,
    request: &SessionRequest<'_>,
    links: &TesterLinks,
    threads: &Layout,
) -> Result<((Port, Port), String), RunError> {
    let longest_frame = request.longest_datagram() + ETHERNET_HEADER_OCTETS;
    let options = PortOptions {
        longest_frame,
        queues: site.links.queues,
        busy_poll: site.links.busy_poll,
    };
    let end = Instant::now() + links.opening_timeout();
    let open = |(namespace, port): (_, PortSpec)| loop {
        match ports::open((namespace, &port), site.links.io, options) {
            // A device in memory may listen before its interface exists (`testbed::dut::device`).
            Err(OpenError::Port(PortError::Peer { .. })) if Instant::now() < end => {
                stop::rest(&site.stop, PAUSE)?;
            }
            outcome => return outcome.map_err(RunError::from),
        }
    };
    let both: [_; 2] = links
        .ends()
        .try_into()
        .map_err(|_| RunError::NeedsInterfaces)?;
    let [left, right] = both;
    let (left, right) = (open(left)?, open(right)?);
    let mut how = if left.how == right.how {
        left.how.clone()
    } else {
        format!("{} and {}", left.how, right.how)
    };
    for port in [&left, &right] {
        how += &port.node.as_ref().map_or(String::new(), |node| {
            format!("; {}", node.beside(&port.name, &threads.cores))
        });
    }
    Ok((
        (
            captured(site, left, "left")?,
            captured(site, right, "right")?,
        ),
        how,
    ))
}

/// The pause before a port that was refused is opened again.
const PAUSE: Duration = Duration::from_millis(50);
