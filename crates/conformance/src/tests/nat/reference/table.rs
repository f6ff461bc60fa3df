//! The mappings of the reference NAT, with their sessions and timers.

use super::fault::Fault;
use super::packet::{Endpoint, ICMP, TCP};
use std::net::Ipv4Addr;

const MINUTE_MS: u64 = 60_000;

/// The state of a session of TCP: what was seen from either side.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TcpState {
    pub(crate) syn_outward: bool,
    pub(crate) syn_inward: bool,
    pub(crate) fin_outward: bool,
    pub(crate) fin_inward: bool,
    pub(crate) was_reset: bool,
}

impl TcpState {
    fn is_established(self) -> bool {
        let is_open = self.syn_outward && self.syn_inward;
        is_open && !(self.fin_outward && self.fin_inward) && !self.was_reset
    }
}

/// A use of a mapping, with one outside endpoint.
#[derive(Clone, Debug)]
pub(crate) struct Session {
    pub(crate) peer: Endpoint,
    pub(crate) expires_ms: u64,
    pub(crate) tcp: TcpState,
}

/// A mapping between an inside and an external endpoint.
#[derive(Clone, Debug)]
pub(crate) struct Mapping {
    pub(crate) protocol: u8,
    pub(crate) inside: Endpoint,
    pub(crate) external: Endpoint,
    pub(crate) sessions: Vec<Session>,
    /// With a fault: the destination that alone it is for.
    pub(crate) only_for: Option<Endpoint>,
    /// True if its port was in use by another host.
    pub(crate) had_conflict: bool,
}

impl Mapping {
    pub(crate) fn is_alive(&self, now_ms: u64) -> bool {
        self.sessions
            .iter()
            .any(|session| session.expires_ms > now_ms)
    }

    pub(crate) fn session(&mut self, peer: Endpoint) -> &mut Session {
        let at = self
            .sessions
            .iter()
            .position(|session| session.peer == peer);
        let at = at.unwrap_or_else(|| {
            self.sessions.push(Session {
                peer,
                expires_ms: 0,
                tcp: TcpState::default(),
            });
            self.sessions.len() - 1
        });
        &mut self.sessions[at]
    }

    /// Sets the timer of a session anew.
    pub(crate) fn refresh(&mut self, peer: Endpoint, now_ms: u64, fault: Option<Fault>) {
        let protocol = self.protocol;
        let session = self.session(peer);
        session.expires_ms = now_ms + lifetime_ms(protocol, session.tcp, fault);
    }
}

/// Returns the lifetimes of RFC 4787 REQ-5, 5382 REQ-5 and 5508 REQ-2.
fn lifetime_ms(protocol: u8, tcp: TcpState, fault: Option<Fault>) -> u64 {
    match (protocol, fault) {
        (TCP, Some(Fault::RstEndsSessionSoon)) if tcp.was_reset => 10_000,
        (TCP, Some(Fault::EstablishedTimerTenMinutes)) if tcp.is_established() => 10 * MINUTE_MS,
        (TCP, _) if tcp.is_established() => 124 * MINUTE_MS,
        (TCP, Some(Fault::TransitoryTimerOneMinute)) => MINUTE_MS,
        (TCP, _) => 4 * MINUTE_MS,
        (ICMP, Some(Fault::IcmpTimerHalfMinute)) => MINUTE_MS / 2,
        (ICMP, _) => MINUTE_MS,
        (_, Some(Fault::UdpTimerOneMinute)) => MINUTE_MS,
        (_, Some(Fault::UdpTimerThreeMinutes)) => 3 * MINUTE_MS,
        (_, Some(Fault::UdpTimerFourMinutes)) => 4 * MINUTE_MS,
        _ => 5 * MINUTE_MS,
    }
}

/// The first and the last port of a pool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PoolPorts(pub(crate) u16, pub(crate) u16);

/// All mappings.
#[derive(Debug, Default)]
pub(crate) struct MappingTable {
    pub(crate) mappings: Vec<Mapping>,
    /// The ports of the pool; all of the source's range if there are none.
    pub(crate) ports: Option<PoolPorts>,
}

/// The flow that needs a mapping.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flow {
    pub(crate) protocol: u8,
    pub(crate) inside: Endpoint,
    pub(crate) peer: Endpoint,
}

impl MappingTable {
    pub(crate) fn forget_expired(&mut self, now_ms: u64) {
        self.mappings.retain(|mapping| mapping.is_alive(now_ms));
    }

    /// Returns the place of the mapping for a flow from the inside.
    pub(crate) fn find_inside(&self, flow: Flow, fault: Option<Fault>) -> Option<usize> {
        self.mappings.iter().position(|mapping| {
            let is_for = match (mapping.only_for, fault) {
                (Some(only), Some(Fault::MappingPerPort)) => only == flow.peer,
                (Some(_), Some(Fault::QueryPerHost)) if flow.protocol != ICMP => true,
                (Some(only), Some(Fault::PortOverlapped)) => {
                    only == flow.peer || !self.is_taken_for(mapping.external, flow)
                }
                (Some(only), Some(Fault::MappingPerAddressAfterConflict)) => {
                    !mapping.had_conflict || only.address == flow.peer.address
                }
                (Some(only), _) => only.address == flow.peer.address,
                (None, _) => true,
            };
            mapping.protocol == flow.protocol && mapping.inside == flow.inside && is_for
        })
    }

    /// Returns true if another host's mapping with this external endpoint is used with the flow's peer.
    fn is_taken_for(&self, external: Endpoint, flow: Flow) -> bool {
        self.mappings.iter().any(|mapping| {
            let is_used = mapping
                .sessions
                .iter()
                .any(|session| session.peer == flow.peer);
            mapping.external == external
                && mapping.protocol == flow.protocol
                && mapping.inside != flow.inside
                && is_used
        })
    }

    /// Returns the place of the mapping with an external endpoint, with the sessions of a peer before others.
    pub(crate) fn find_external(
        &self,
        protocol: u8,
        external: Endpoint,
        peer: Endpoint,
    ) -> Option<usize> {
        let is_it =
            |mapping: &Mapping| mapping.protocol == protocol && mapping.external == external;
        let of_peer = self.mappings.iter().position(|mapping| {
            is_it(mapping) && mapping.sessions.iter().any(|session| session.peer == peer)
        });
        of_peer.or_else(|| self.mappings.iter().position(is_it))
    }

    /// Makes a mapping for a flow, and returns its place; `None` if the pool has no port left.
    pub(crate) fn create(
        &mut self,
        flow: Flow,
        pool: &[Ipv4Addr],
        fault: Option<Fault>,
    ) -> Option<usize> {
        let address = match fault {
            Some(Fault::PoolArbitrary) => pool[self.mappings.len() % pool.len()],
            _ => pool[0],
        };
        let wanted = wanted_port(flow.inside.port, fault);
        let external = self.free(
            flow,
            Endpoint {
                address,
                port: wanted,
            },
            fault,
        )?;
        let is_limited = matches!(
            fault,
            Some(
                Fault::MappingPerAddress
                    | Fault::MappingPerPort
                    | Fault::MappingPerAddressAfterConflict
                    | Fault::PortOverlapped
                    | Fault::QueryPerHost
            )
        );
        self.mappings.push(Mapping {
            protocol: flow.protocol,
            inside: flow.inside,
            external,
            sessions: Vec::new(),
            only_for: is_limited.then_some(flow.peer),
            had_conflict: external.port != wanted,
        });
        Some(self.mappings.len() - 1)
    }

    /// Returns a free endpoint near a wanted one: of the same range and, if there is one, of the same parity (RFC 4787 REQ-3a and REQ-4).
    fn free(&self, flow: Flow, wanted: Endpoint, fault: Option<Fault>) -> Option<Endpoint> {
        let is_free = |endpoint: Endpoint| {
            let is_used = |mapping: &Mapping| {
                mapping.protocol == flow.protocol && mapping.external == endpoint
            };
            match fault {
                Some(Fault::PortOverloaded) => true,
                Some(Fault::QueryIdKept) if flow.protocol == ICMP => true,
                Some(Fault::PortOverlapped) => !self.is_taken_for(endpoint, flow),
                _ => !self.mappings.iter().any(is_used),
            }
        };
        let PoolPorts(first, last) = self.ports.unwrap_or(if wanted.port < 1024 {
            PoolPorts(512, 1023)
        } else {
            PoolPorts(1024, u16::MAX)
        });
        let start = if (first..=last).contains(&wanted.port) {
            wanted.port
        } else {
            first
        };
        let is_right =
            |port: &u16| fault == Some(Fault::ParityIgnored) || port % 2 == wanted.port % 2;
        let ports = || (start..=last).chain(first..start);
        let others = ports().filter(|port| !is_right(port));
        let mut candidates = ports().filter(is_right).chain(others);
        let free = candidates.find(|port| {
            is_free(Endpoint {
                port: *port,
                ..wanted
            })
        });
        free.map(|port| Endpoint { port, ..wanted })
    }

    /// Returns the endpoint of the mapping that is used least, which is then another's.
    pub(crate) fn stolen(&mut self, protocol: u8) -> Option<Endpoint> {
        let mut mappings = self.mappings.iter();
        let at = mappings.position(|mapping| mapping.protocol == protocol)?;
        Some(self.mappings.remove(at).external)
    }
}

fn wanted_port(port: u16, fault: Option<Fault>) -> u16 {
    match fault {
        Some(Fault::LowPortsRaised) if port < 1024 => port + 4096,
        Some(Fault::HighPortsLowered) if port >= 1024 => 512 + port % 500,
        _ => port,
    }
}
