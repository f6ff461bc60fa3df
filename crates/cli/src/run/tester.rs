//! The tester at a device's links: of frames, of TCP connections, or of DNS queries.

use super::dns::DnsPlaces;
use super::ports;
use super::session::{Site, Wanted};
use crate::config::Backend;
use crate::exit::{Exit, Failed};
use crate::profile::Job;
use sixbench_engine::dns::{DnsError, DnsTester};
use sixbench_engine::tcp::{TcpEnds, TcpError, TcpTester};
use sixbench_engine::{Counter, FrameTester, Layout, MeasureError};
use sixbench_method::terms::{Direction, FrameRate};
use sixbench_method::trial::dns::Certificate;
use sixbench_method::trial::{Measurer, TrialResult, TrialSpec};
use sixbench_testbed::{Hosts, TestbedError, Topology};
use std::net::IpAddr;
use std::path::PathBuf;

/// Why there was no trial.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TrialError {
    /// Somebody asked to stop.
    #[error("interrupted")]
    Interrupted,
    /// Of frames.
    #[error(transparent)]
    Frames(MeasureError),
    /// Of connections.
    #[error(transparent)]
    Tcp(TcpError),
    /// Of queries.
    #[error(transparent)]
    Dns(DnsError),
}

/// Any kind.
pub(super) enum Tester {
    Frames(Box<FrameTester>),
    Tcp(Box<TcpTester>, Hosts),
    Dns(Box<(DnsTester, DnsPlaces)>),
}

impl Tester {
    /// Opens the ports, or settles hosts at both ends; tells how in a sentence.
    pub(super) fn place(
        site: &Site<'_>,
        wanted: &Wanted<'_>,
        topology: Option<&Topology>,
        job: Job,
        threads: Layout,
    ) -> Result<(Self, String), Failed> {
        match job {
            Job::Frames(profile, settings) => {
                let (ports, how) = open_ports(site, topology)?;
                let tester = FrameTester::new(ports, *profile, settings, threads, site.stop.clone());
                Ok((Self::Frames(Box::new(tester)), format!("frames are sent and received by {how}")))
            }
            Job::Dns(job) => super::dns::place(site, wanted, topology, *job, threads),
            Job::Tcp(ends, settings) => {
                let topology = topology.ok_or_else(only_in_namespaces)?;
                let addresses = hosts_of(&ends);
                let hosts = Hosts::settle(topology, wanted.recipe, &wanted.name, (&addresses.0, &addresses.1), &site.shell);
                let hosts = hosts.map_err(|e| Failed::new(Exit::Testbed, e))?;
                let tester = TcpTester::new(within(ends, &hosts), settings, threads, site.stop.clone());
                let how = "TCP connections are made by the kernel's own sockets in a namespace at each end".to_owned();
                Ok((Self::Tcp(Box::new(tester), hosts), how))
            }
        }
    }

    pub(super) fn set_counter(&mut self, counter: Option<Counter>) {
        if let Self::Frames(tester) = self {
            tester.set_counter(counter);
        }
    }

    pub(super) fn set_job(&mut self, job: Job) {
        match (self, job) {
            (Self::Frames(tester), Job::Frames(profile, settings)) => tester.set_profile(*profile, settings),
            (Self::Tcp(tester, hosts), Job::Tcp(ends, settings)) => tester.set(within(ends, hosts), settings),
            (Self::Dns(dns), Job::Dns(job)) => {
                let (tester, places) = &mut **dns;
                tester.set(places.within(job.0), job.1);
            }
            _ => unreachable!("sessions are told apart by the kind of their job"),
        }
    }

    /// The self-test of a DNS tester, where it has none yet that holds.
    pub(super) fn certify(&mut self, most: FrameRate, duration_ns: u64) -> Result<Option<Certificate>, TrialError> {
        let Self::Dns(dns) = self else { return Ok(None) };
        let tester = &mut dns.0;
        if tester.certificate().is_some() {
            return Ok(None);
        }
        tester.certify(most, duration_ns).map_err(|error| match error {
            DnsError::Interrupted => TrialError::Interrupted,
            error => TrialError::Dns(error),
        })
    }

    /// The record of every DNS query of the next trial goes there.
    pub(super) fn keep_queries(&mut self, path: PathBuf) {
        if let Self::Dns(dns) = self {
            dns.0.keep_queries(path);
        }
    }

    /// Whether a DNS server is to be started anew before a trial, for it remembers those before.
    pub(super) fn wants_new_server(&self, spec: &TrialSpec) -> bool {
        matches!(self, Self::Dns(dns) if dns.0.wants_new_server(spec))
    }

    /// It was.
    pub(super) fn has_new_server(&mut self) {
        if let Self::Dns(dns) = self {
            dns.0.forget();
        }
    }

    /// An error when a process of the tester's has ended.
    pub(super) fn check_alive(&mut self) -> Result<(), TestbedError> {
        match self {
            Self::Dns(dns) => dns.1.check_alive(),
            Self::Frames(_) | Self::Tcp(..) => Ok(()),
        }
    }

    pub(super) fn measure(&mut self, spec: &TrialSpec) -> Result<TrialResult, TrialError> {
        match self {
            Self::Frames(tester) => tester.measure(spec).map_err(|error| match error {
                MeasureError::Interrupted => TrialError::Interrupted,
                error => TrialError::Frames(error),
            }),
            Self::Tcp(tester, _) => tester.measure(spec).map_err(|error| match error {
                TcpError::Interrupted => TrialError::Interrupted,
                error => TrialError::Tcp(error),
            }),
            Self::Dns(dns) => dns.0.measure(spec).map_err(|error| match error {
                DnsError::Interrupted => TrialError::Interrupted,
                error => TrialError::Dns(error),
            }),
        }
    }
}

fn only_in_namespaces() -> Failed {
    Failed::usage(
        "tests of TCP connections run in namespaces only: on interfaces of this machine its kernel would need addresses there; \
         leave out `left` and `right` of [testbed]",
    )
}

/// The addresses the left and the right end need.
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
    TcpEnds { client_namespace: Some(client), server_namespace: Some(server), ..ends }
}

type Ports = (Box<dyn sixbench_io::Port>, Box<dyn sixbench_io::Port>);

fn open_ports(site: &Site<'_>, topology: Option<&Topology>) -> Result<(Ports, String), Failed> {
    let namespace = topology.map(|t| t.tester().name().to_owned());
    let ours = || ("left".to_owned(), "right".to_owned());
    let (left, right) = site.links.interfaces.clone().unwrap_or_else(ours);
    let open = |interface: &str, backend: Backend| {
        ports::open(namespace.as_deref(), interface, backend).map_err(|error| Failed::new(Exit::Testbed, error))
    };
    let (left, right) = (open(&left, site.links.io)?, open(&right, site.links.io)?);
    let how = if left.how == right.how { left.how.clone() } else { format!("{} and {}", left.how, right.how) };
    Ok(((tee(site, left.port, "left")?, tee(site, right.port, "right")?), how))
}

/// Frames kept of each port.
const TEE_FRAMES: usize = 10_000;

fn tee(site: &Site<'_>, port: Box<dyn sixbench_io::Port>, name: &str) -> Result<Box<dyn sixbench_io::Port>, Failed> {
    let Some(directory) = site.pcap else { return Ok(port) };
    let path = directory.join(format!("{name}.pcap"));
    let tee = sixbench_io::pcap::Tee::new(port, &path, TEE_FRAMES);
    let tee = tee.map_err(|e| Failed::usage(format!("cannot write {}: {e}", path.display())))?;
    Ok(Box::new(tee))
}
