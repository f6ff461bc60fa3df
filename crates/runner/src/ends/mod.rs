//! The tester's ends on a device's links.
//!
//! # Namespaces and the guard
//!
//! Frames get from one end to the other only through the device: ends that are interfaces are always in network namespaces of the tester. Links to
//! devices in namespaces are built there (`Topology`). Interfaces of this machine are moved there and given back, with their addresses if a plan lends
//! them (`testbed::interfaces`, with a note in /run for the next run, in case this one is killed). For TCP and DNS they become hosts, one in each
//! namespace (`Hosts`).
//!
//! No test traffic goes anywhere else: frames, connections, queries and listening sockets take addresses only as `method::isolation::Admitted`, which
//! the guard of RFC 6815 creates (`Isolation::admit`) after it has checked every address in them; `--force` is `Isolation::Declared`.

pub(crate) mod cables;
pub(crate) mod capture;
pub(crate) mod cores;
pub(crate) mod counters;
pub(crate) mod lateness;
pub(crate) mod neighbours;
pub(crate) mod ports;
pub(crate) mod queues;

use crate::ends::cores::cores;
use crate::ends::counters::PortCounters;
use crate::ends::queues::QueueRequest;
use crate::error::RunError;
use crate::request::{SessionRequest, Site};
use sixbench_io::PortSpec;
use sixbench_method::record::LinkKind;
use sixbench_method::terms::Direction;
use sixbench_plan::{AgentMachine, Links, end_word};
use sixbench_testbed::topology::LINKS;
use sixbench_testbed::{
    Hosts, Interfaces, PlacedInterrupts, Shell, TestbedError, Topology, existing,
};
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

/// Returns the number of queues of each end of links that are built. Queries and connections use the kernel's sockets and need only one.
pub(crate) fn built_queues(links: &Links, carries_frames: bool) -> u32 {
    links
        .queues
        .filter(|_| carries_frames)
        .map_or(1, NonZeroU32::get)
}

/// Returns true if interfaces leave it to the tester's threads to poll for frames. The kernel's sockets need interrupts.
pub(crate) fn defers_interrupts(links: &Links, carries_frames: bool) -> bool {
    links.busy_poll && carries_frames
}

/// The tester's ends. Interfaces are always in the tester's own network namespaces, so that traffic can only get from one to the other through the
/// device.
pub(crate) enum TesterLinks {
    /// The testbed's own links to devices in namespaces.
    Built(Topology),
    Taken(Interfaces),
    /// Ports without an interface, which need no namespace.
    Addresses([PortSpec; 2]),
    /// The same, for a device just started, which may take a moment to accept connections.
    Started([PortSpec; 2]),
}

impl TesterLinks {
    pub(crate) fn kind(&self) -> LinkKind {
        match self {
            Self::Built(_) => LinkKind::Virtual,
            Self::Taken(_) => LinkKind::Interfaces,
            Self::Addresses(ports)
                if !ports
                    .iter()
                    .any(|port| port.to_string().starts_with("memif:")) =>
            {
                LinkKind::Interfaces
            }
            Self::Addresses(_) | Self::Started(_) => LinkKind::SharedMemory,
        }
    }

    /// Takes existing ports: interfaces are moved into namespaces. `carries_frames` is true if the tester sends frames instead of using the kernel's
    /// sockets. The agent, if there is one, takes its interface itself.
    pub(crate) fn of_ports(
        site: &Site<'_>,
        request: &SessionRequest<'_>,
        ports: &[PortSpec; 2],
        carries_frames: bool,
    ) -> Result<Self, RunError> {
        let own = site.links.own_interfaces();
        own.iter()
            .try_for_each(|interface| existing::check_mtu(interface, request.longest_datagram()))?;
        let mut settings = site.links.interface_settings();
        if carries_frames {
            let cores = cores(site.links)?.tester.len();
            let queues = QueueRequest::from_links(site.links).settled(&own, cores, &site.shell);
            settings.extend(queues);
        }
        if let (Some(agent), [interface]) = (&site.links.agent, &own[..]) {
            let end = (end_word(agent.other_end()), *interface);
            return Ok(Self::Taken(Interfaces::take_one(
                &site.shell,
                &request.name,
                end,
                &settings,
                site.links.own_addresses,
            )?));
        }
        let Some(interfaces) = site.links.interfaces() else {
            return Ok(Self::Addresses(ports.clone()));
        };
        Ok(Self::Taken(Interfaces::take(
            &site.shell,
            &request.name,
            interfaces,
            &settings,
            site.links.own_addresses,
        )?))
    }

    /// Waits until the tester's interfaces on this machine have a carrier. Ports without an interface wait for it themselves.
    ///
    /// # Errors
    /// An interface has no carrier in time.
    pub(crate) fn wait_for_carriers(&self) -> Result<(), TestbedError> {
        match self {
            Self::Taken(interfaces) => interfaces.wait_for_carriers(),
            Self::Built(_) | Self::Addresses(_) | Self::Started(_) => Ok(()),
        }
    }

    /// Has the interrupts of the tester's interfaces on this machine served by cores that the tester does not use, once its ports are open.
    ///
    /// # Errors
    /// The user wants to stop.
    pub(crate) fn place_interrupts(
        &self,
        tester: &[u32],
        shell: &Shell,
    ) -> Result<PlacedInterrupts, TestbedError> {
        match self {
            Self::Taken(interfaces) => {
                PlacedInterrupts::away_from(tester, interfaces.ends(), shell)
            }
            Self::Built(_) | Self::Addresses(_) | Self::Started(_) => {
                Ok(PlacedInterrupts::default())
            }
        }
    }

    /// Prepares to read what the tester's interfaces on this machine count; ports without an interface, and links that are built, have nothing to read.
    ///
    /// # Errors
    /// The counters of an interface cannot be read.
    pub(crate) fn counters(&self, links: &Links) -> Result<PortCounters, RunError> {
        let Self::Taken(interfaces) = self else {
            return Ok(PortCounters::default());
        };
        let agent = links.agent.as_ref();
        let first = agent.map_or(Direction::Forward, AgentMachine::other_end);
        PortCounters::open(interfaces, first)
    }

    /// Makes the interfaces defer their interrupts in favour of polling threads. Does nothing for ports without an interface.
    pub(crate) fn defer_interrupts(&self) -> Result<(), RunError> {
        match self {
            Self::Built(topology) => Ok(topology.defer_interrupts()?),
            Self::Taken(interfaces) => Ok(interfaces.defer_interrupts()?),
            Self::Addresses(_) | Self::Started(_) => Ok(()),
        }
    }

    /// Returns the links of a device that serves two shared-memory sockets.
    pub(crate) fn of_sockets(sockets: [PathBuf; 2]) -> Self {
        Self::Started(sockets.map(|socket| PortSpec::parse(&format!("memif:{}", socket.display()))))
    }

    /// Returns the time for which the device may refuse a port that is being opened.
    pub(crate) fn opening_timeout(&self) -> Duration {
        match self {
            Self::Built(_) | Self::Taken(_) | Self::Addresses(_) => Duration::ZERO,
            Self::Started(_) => Duration::from_secs(5),
        }
    }

    /// Returns the left and the right port, each with its namespace, or a single one if an agent has the other.
    pub(crate) fn ends(&self) -> Vec<(Option<&str>, PortSpec)> {
        let interface = |name: &str| PortSpec::Interface(name.to_owned());
        match self {
            Self::Built(topology) => LINKS
                .map(|link| (Some(topology.tester().name()), interface(link)))
                .into(),
            Self::Taken(interfaces) => interfaces
                .ends()
                .map(|(name, namespace)| (Some(namespace.name()), interface(name)))
                .collect(),
            Self::Addresses(ports) | Self::Started(ports) => {
                ports.iter().map(|port| (None, port.clone())).collect()
            }
        }
    }
}

/// Sets up hosts at both ends of the device, with the addresses of its recipe and those in `others`.
pub(crate) fn settle(
    site: &Site<'_>,
    request: &SessionRequest<'_>,
    links: &TesterLinks,
    others: (&[IpAddr], &[IpAddr]),
) -> Result<Hosts, RunError> {
    match links {
        TesterLinks::Built(topology) => Ok(Hosts::settle(
            topology,
            request.recipe,
            &request.name,
            others,
            &site.shell,
        )?),
        TesterLinks::Taken(interfaces) => {
            let cores = cores(site.links)?.tester;
            let hosts = Hosts::settle_on(interfaces, &cores, request.recipe, others)?;
            neighbours::wait_for(request.recipe, &hosts, site)?;
            Ok(hosts)
        }
        TesterLinks::Addresses(_) | TesterLinks::Started(_) => Err(RunError::NeedsInterfaces),
    }
}
