//! The settings of the TCP tester: where its ends are, and what applies to every trial.

use crate::memory::{Footprint, LargeTable};
use ipnet::IpNet;
use sixbench_io::limit;
use sixbench_method::isolation::Addressed;
use sixbench_method::terms::Direction;
use sixbench_method::trial::tcp::Close;
use sixbench_method::trial::{TrialKind, TrialSpec};
use std::net::IpAddr;
use std::ops::RangeInclusive;
use std::time::Duration;

/// Octets per open connection: the state that both ends keep, and the kernel's two sockets.
const CONNECTION_OCTETS: u64 = 10_000;

/// The two ends, and how they reach each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TcpEnds {
    /// The direction in which connections are opened.
    pub opens: Direction,
    /// The client's network namespace; `None` for the current one.
    pub client_namespace: Option<String>,
    /// The server's network namespace; `None` for the current one.
    pub server_namespace: Option<String>,
    /// The client's addresses, each a virtual client of RFC 3511 section 4.2. They must be configured on an interface.
    pub client_addresses: Vec<IpAddr>,
    /// The source ports of connections.
    pub source_ports: RangeInclusive<u16>,
    /// The server as the client addresses it, e.g. 64:ff9b::c613:1 through NAT64.
    pub server: IpAddr,
    /// The destination ports of connections.
    pub server_ports: RangeInclusive<u16>,
    /// The address on which the server listens; `None` if another server answers, so that the tester starts none.
    pub listen: Option<IpAddr>,
    /// The networks to which the DUT's translated source addresses must belong. If there are none, any address is accepted.
    pub pool: Vec<IpNet>,
}

impl Addressed for TcpEnds {
    fn each_address(&self, show: &mut dyn FnMut(IpAddr)) {
        self.client_addresses
            .iter()
            .copied()
            .chain([self.server])
            .chain(self.listen)
            .for_each(show);
    }
}

/// The settings for every trial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TcpSettings {
    /// Octets of the object in each response (object size, RFC 3511 section 5.2.2.2).
    pub object_octets: u32,
    /// The time limit of each connection from its SYN, and of each later request. Linux retransmits a lost SYN after one second: with a shorter
    /// limit, every lost SYN is a failure.
    pub time_limit: Duration,
    /// The way in which connections are closed.
    pub close: Close,
    /// The time behind its due time after which an attempt is late.
    pub stall: Duration,
}

impl Default for TcpSettings {
    fn default() -> Self {
        Self {
            object_octets: 64,
            time_limit: Duration::from_secs(1),
            close: Close::default(),
            stall: Duration::from_millis(1),
        }
    }
}

impl Footprint for TcpSettings {
    /// All connections of a capacity trial; of a rate those that are open for as long as they may take. There are never more than this
    /// process may have descriptors: a trial that would need more is not begun. Of each connection of the trial, the server keeps a bit.
    fn octets(&self, spec: &TrialSpec) -> u64 {
        let open = match spec.kind {
            TrialKind::TcpCapacity { connections } => connections,
            _ => spec
                .rate
                .frames_in(self.time_limit.as_nanos() as u64)
                .min(spec.frames()),
        };
        let open = open.min(limit::raise_open_files().unwrap_or(u64::MAX));
        open.saturating_mul(CONNECTION_OCTETS)
            .saturating_add(spec.frames().div_ceil(8))
    }

    fn largest_table(&self, _spec: &TrialSpec) -> LargeTable {
        LargeTable::TcpConnections
    }
}
