//! What the TCP tester is told: where its ends are, and what holds for every trial.

use crate::memory::Footprint;
use ipnet::IpNet;
use sixbench_io::limit;
use sixbench_method::isolation::Addressed;
use sixbench_method::terms::Direction;
use sixbench_method::trial::tcp::Close;
use sixbench_method::trial::{TrialKind, TrialSpec};
use std::net::IpAddr;
use std::ops::RangeInclusive;
use std::time::Duration;

/// Octets per open connection: what both ends keep of it, and the kernel's two sockets.
const CONNECTION_OCTETS: u64 = 10_000;

/// The ends, and the way in which they reach each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TcpEnds {
    /// The direction in which connections are opened.
    pub opens: Direction,
    /// Network namespace of the client; `None` is this one.
    pub client_namespace: Option<String>,
    /// Network namespace of the server; `None` is this one.
    pub server_namespace: Option<String>,
    /// The client's addresses, each a virtual client of RFC 3511 section 4.2. They must be set on an interface.
    pub client_addresses: Vec<IpAddr>,
    /// The ports connections come from.
    pub source_ports: RangeInclusive<u16>,
    /// The server as the client addresses it, e.g. 64:ff9b::c613:1 through NAT64.
    pub server: IpAddr,
    /// The ports connections go to.
    pub server_ports: RangeInclusive<u16>,
    /// The address the server listens on. `None` where another server answers; the tester starts none.
    pub listen: Option<IpAddr>,
    /// The networks that the DUT's translated source addresses must be from. If it is empty, they may be from anywhere.
    pub pool: Vec<IpNet>,
}

impl Addressed for TcpEnds {
    fn each_address(&self, show: &mut dyn FnMut(IpAddr)) {
        self.client_addresses.iter().copied().chain([self.server]).chain(self.listen).for_each(show);
    }
}

/// The settings that hold for every trial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TcpSettings {
    /// Octets of the object in each response (object size, RFC 3511 section 5.2.2.2).
    pub object_octets: u32,
    /// Time limit of each connection from its SYN, and of each later request. Linux repeats a lost SYN after one second: a shorter limit
    /// makes every lost SYN a failure.
    pub time_limit: Duration,
    /// The way in which connections are closed.
    pub close: Close,
    /// An attempt later than this behind its due time is late.
    pub stall: Duration,
}

impl Default for TcpSettings {
    fn default() -> Self {
        Self { object_octets: 64, time_limit: Duration::from_secs(1), close: Close::default(), stall: Duration::from_millis(1) }
    }
}

impl Footprint for TcpSettings {
    /// All connections of a capacity trial; of a rate those that are open for as long as they may take. There are never more than this
    /// process may have descriptors: a trial that would need more is not begun. Of each connection of the trial, the server keeps a bit.
    fn octets(&self, spec: &TrialSpec) -> u64 {
        let open = match spec.kind {
            TrialKind::TcpCapacity { connections } => connections,
            _ => spec.rate.frames_in(self.time_limit.as_nanos() as u64).min(spec.frames()),
        };
        let open = open.min(limit::raise_open_files().unwrap_or(u64::MAX));
        open.saturating_mul(CONNECTION_OCTETS).saturating_add(spec.frames().div_ceil(8))
    }
}
