//! The traffic of a test at one point: frames, TCP connections, or DNS queries.

use crate::error::PlanError;
use sixbench_engine::dns::{DnsEnds, DnsSettings};
use sixbench_engine::frames::profile::{AddressVariation, TrafficProfile};
use sixbench_engine::memory::Footprint;
use sixbench_engine::tcp::{TcpEnds, TcpSettings};
use sixbench_method::isolation::{Forbidden, Isolation};
use sixbench_method::plan::{AddressPart, Tcp, Test, ValueRange};
use sixbench_method::terms::{Direction, FrameSize};
use sixbench_method::trial::TrialSettings;
use sixbench_testbed::recipe::{DeviceSide, Recipe};
use std::net::IpAddr;
use std::time::Duration;

/// The traffic of a test.
#[derive(Clone, Debug)]
pub enum Job {
    /// Frames.
    Frames(Box<TrafficProfile>, TrialSettings),
    /// DNS queries. The session fills in the namespaces of the ends.
    Dns(Box<DnsJob>),
    /// TCP connections. The session fills in the namespaces of the ends.
    Tcp(TcpEnds, TcpSettings),
}

/// The traffic of a test of DNS queries.
#[derive(Clone, Debug)]
pub struct DnsJob {
    /// The ends of the tester, without their namespaces.
    pub ends: DnsEnds,
    /// The questions, and the way in which they are asked.
    pub settings: DnsSettings,
}

impl Job {
    /// Checks that all traffic may be sent, and fails if any of it is forbidden.
    ///
    /// # Errors
    /// An address could belong to a host on the Internet.
    pub fn admit(self, isolation: Isolation) -> Result<(), Forbidden> {
        match self {
            Self::Frames(profile, _) => isolation.admit(*profile).map(drop),
            Self::Dns(dns) => isolation.admit(dns.ends).map(drop),
            Self::Tcp(ends, _) => isolation.admit(ends).map(drop),
        }
    }

    /// Returns the traffic as the type that determines the engine's memory use.
    pub(crate) fn footprint(&self) -> &dyn Footprint {
        match self {
            Self::Frames(profile, _) => &**profile,
            Self::Dns(job) => &job.settings,
            Self::Tcp(_, settings) => settings,
        }
    }
}

/// Returns the job of one point of a test.
///
/// # Errors
/// The recipe's device cannot be tested in this way.
pub fn job(
    recipe: &Recipe,
    test: &Test,
    frame_size: FrameSize,
    seed: u64,
    settings: TrialSettings,
) -> Result<Job, PlanError> {
    traffic_of(recipe, test, frame_size, seed, settings).map_err(PlanError)
}

fn traffic_of(
    recipe: &Recipe,
    test: &Test,
    frame_size: FrameSize,
    seed: u64,
    settings: TrialSettings,
) -> Result<Job, String> {
    if test.measure.requirements().is_some() {
        return Err(format!(
            "test {}: vectors are no traffic: they are sent one after the other",
            test.name
        ));
    }
    if let Some(dns) = test.measure.dns() {
        return super::dns::job(recipe, test, dns, settings).map(|job| Job::Dns(Box::new(job)));
    }
    match test.measure.tcp() {
        Some(tcp) => {
            super::check_forwards(recipe, test)?;
            super::variation::check(recipe, test)?;
            Ok(Job::Tcp(
                ends(recipe, test, tcp),
                tcp_settings(tcp, settings),
            ))
        }
        None => Ok(Job::Frames(
            Box::new(super::traffic_profile(recipe, test, frame_size, seed)?),
            settings,
        )),
    }
}

fn tcp_settings(tcp: &Tcp, settings: TrialSettings) -> TcpSettings {
    TcpSettings {
        object_octets: tcp.object_octets,
        time_limit: Duration::from_nanos(tcp.time_limit_ns),
        close: tcp.close,
        stall: Duration::from_nanos(settings.stall_ns),
    }
}

fn ends(recipe: &Recipe, test: &Test, tcp: &Tcp) -> TcpEnds {
    let (left, right) = (recipe.foreground.left, recipe.foreground.right);
    let initiator = recipe
        .state
        .as_ref()
        .map(|state| state.initiator)
        .unwrap_or_default();
    let (opens, client, server, listen, part, ports) = match initiator {
        DeviceSide::Left => {
            let traffic = &test.traffic;
            (
                Direction::Forward,
                left.source,
                left.destination,
                right.destination,
                traffic.left_addresses,
                traffic.forward_ports,
            )
        }
        DeviceSide::Right => {
            let traffic = &test.traffic;
            (
                Direction::Reverse,
                right.destination,
                right.source,
                left.source,
                traffic.right_addresses,
                traffic.reverse_ports,
            )
        }
    };
    TcpEnds {
        opens,
        client_namespace: None,
        server_namespace: None,
        client_addresses: clients(client, part),
        source_ports: ports.source.first..=last(ports.source),
        server,
        server_ports: tcp.server_ports.0..=tcp.server_ports.1,
        listen: Some(listen),
        pool: recipe
            .state
            .iter()
            .flat_map(|state| state.pool.iter().map(|pool| pool.net()))
            .collect(),
    }
}

/// Returns the last value of the range; a fixed range has only its first value.
fn last(range: ValueRange) -> u16 {
    if range.count() == 1 {
        range.first
    } else {
        range.last
    }
}

fn clients(own: IpAddr, part: Option<AddressPart>) -> Vec<IpAddr> {
    part.map_or_else(
        || vec![own],
        |part| AddressVariation::Part(part).addresses(own).collect(),
    )
}
