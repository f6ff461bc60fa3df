//! TCP connections through a stateful device, with the kernel's sockets on both ends: the trials of RFC 3511 section 5.2 (how many
//! connections at once) and section 5.3 (how many per second), which RFC 8219 section 8 asks for. On every connection a GET of HTTP/1.1
//! and a small object, verified octet by octet. Unlike the frame tester this one makes system calls for each connection; it never waits
//! for an answer before it makes the next, and never logs one.
//!
//! Both trials are open-loop: connection i is due at start + i / rate, whatever became of those before.
//!
//! # Closing
//!
//! A device's table depends on how connections end, so that is a setting, [`Close`], and on record. Default is [`Close::ServerFirst`], an
//! orderly close: FIN and ACK each way, as most connections of HTTP end. The device sees a whole connection and keeps its entry for as long
//! as it does for real ones (its aging time). TIME-WAIT stays at the server, where Linux accepts a new SYN in it; the client's port is free
//! at once, so that few ports suffice for any rate. With [`Close::ClientFirst`] TIME-WAIT is the client's, and a pair of addresses and ports
//! cannot be used again for a minute. [`Close::Reset`] is what RFC 3511 recommends between trials, to empty the device's table; as the
//! close of a rate trial it measures a device that may forget at once. Whether ACK and FIN travel together (the three-way close of section
//! 5.4.2) is up to the kernel. Whatever fails or is left over is ended by a RST in any case.

mod addresses;
mod client;
mod connection;
mod connection_set;
mod drive;
mod fitness;
mod http;
mod kernel;
mod server;
mod tally;
mod times;

use crate::driver::{Layout, within};
use crate::memory::{self, OutOfMemory, TrafficKind};
use addresses::{AddressPairs, ConnectionDemand, Rotation};
use client::TcpClient;
use connection_set::ClientTask;
use ipnet::IpNet;
use kernel::KernelTcp;
use server::TcpServer;
use sixbench_io::clock::Clock;
use sixbench_method::isolation::{Addressed, Admitted};
use sixbench_method::terms::Direction;
use sixbench_method::trial::tcp::{Close, KernelCounts, TcpResult, TcpSpec, TcpTrial};
use sixbench_method::trial::{DirectionResult, Fault, Measurer, TrialKind, TrialResult, TrialSpec};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

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

/// The reason why no trial could be performed.
#[derive(Debug, thiserror::Error)]
pub enum TcpError {
    /// The request makes no sense.
    #[error("cannot make TCP connections: {0}")]
    Asked(&'static str),
    /// Addresses and ports of the tester do not suffice.
    #[error(
        "{needed} pairs of addresses and ports are needed, but there are only {has} ({waiting} in TIME-WAIT after earlier \
         trials are counted); give the client more addresses or ports or the server more ports, or have connections closed by \
         the server or by reset"
    )]
    Addresses {
        /// Pairs the trial needs.
        needed: u64,
        /// Pairs there are.
        has: u64,
        /// Pairs, of the needed ones, that earlier trials hold.
        waiting: u64,
    },
    /// The process may not open as many sockets.
    #[error(
        "{needed} open sockets and files are needed, but this process may only have {allowed}; raise the hard limit of the \
         shell (ulimit -Hn), or use fewer connections or, in a trial of a rate, a shorter time limit"
    )]
    Descriptors {
        /// Descriptors the trial needs at the worst, with those already open.
        needed: u64,
        /// Descriptors allowed.
        allowed: u64,
    },
    /// A client's address is not set where the client is, or another process has the port.
    #[error(
        "cannot make connections from {address} in {place}: {source}; is the address set on an interface there, and the port free?"
    )]
    NotHere {
        /// The address, and the port; 0 is any.
        address: SocketAddr,
        /// The namespace, in words.
        place: String,
        /// The kernel's answer.
        source: io::Error,
    },
    /// The server cannot listen.
    #[error("cannot listen on {address} in {place}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The namespace, in words.
        place: String,
        /// The kernel's answer.
        source: io::Error,
    },
    /// A namespace cannot be entered.
    #[error("cannot enter {place}: {source}")]
    Namespace {
        /// The namespace, in words.
        place: String,
        /// The kernel's answer.
        source: io::Error,
    },
    /// The trial's tables do not fit into memory.
    #[error(transparent)]
    Memory(#[from] OutOfMemory),
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
    /// The system denied something else.
    #[error("cannot run the TCP tester: {0}")]
    System(#[from] io::Error),
}

/// Makes connections from a client to a server, both its own.
#[derive(Debug)]
pub struct TcpTester {
    ends: TcpEnds,
    settings: TcpSettings,
    layout: Layout,
    addresses: AddressPairs,
    rotation: Rotation,
    clock: Clock,
    stop: Arc<AtomicBool>,
    trials: u64,
    are_places_checked: bool,
}

impl TcpTester {
    /// A tester. With one core (or none) in `layout`, client and server take turns in one loop on it; with two or more each has its own.
    /// `stop` ends a trial early.
    pub fn new(ends: Admitted<TcpEnds>, settings: TcpSettings, layout: Layout, stop: Arc<AtomicBool>) -> Self {
        let ends = ends.into_inner();
        let addresses = AddressPairs::new(&ends);
        Self {
            ends,
            settings,
            layout,
            addresses,
            rotation: Rotation::default(),
            clock: Clock::new(),
            stop,
            trials: 0,
            are_places_checked: false,
        }
    }

    /// Makes other connections from now on. Paths, and the pairs of addresses and ports, go on from those of before: none comes again
    /// while a connection of its own may be in TIME-WAIT.
    pub fn set(&mut self, ends: Admitted<TcpEnds>, settings: TcpSettings) {
        let ends = ends.into_inner();
        if ends != self.ends {
            self.addresses = AddressPairs::new(&ends);
            self.are_places_checked = false;
            self.ends = ends;
        }
        self.settings = settings;
    }

    /// One trial of RFC 3511 section 5.3: tries `rate` connections per second for `duration`; on each a GET, then the close.
    pub fn measure_rate(&mut self, rate: u64, duration: Duration) -> Result<TcpResult, TcpError> {
        let connections = (u128::from(rate) * duration.as_nanos() / 1_000_000_000) as u64;
        self.perform(self.spec(TcpTrial::Rate, connections, rate), ConnectionDemand::of_rate(connections, rate, &self.settings))
    }

    /// One trial of RFC 3511 section 5.2: opens `connections` at `rate` per second, with a GET on each, and keeps them open; when all are,
    /// each makes a second GET (again at `rate`), and when all have, each is closed (again at `rate`).
    pub fn measure_capacity(&mut self, connections: u64, rate: u64) -> Result<TcpResult, TcpError> {
        self.perform(self.spec(TcpTrial::Capacity, connections, rate), ConnectionDemand::of_capacity(connections))
    }

    fn spec(&self, trial: TcpTrial, connections: u64, rate: u64) -> TcpSpec {
        let TcpSettings { object_octets, time_limit, close, .. } = self.settings;
        TcpSpec { trial, rate, connections, object_octets, time_limit_ns: time_limit.as_nanos() as u64, close }
    }

    fn perform(&mut self, spec: TcpSpec, demand: ConnectionDemand) -> Result<TcpResult, TcpError> {
        fitness::check(&self.ends, &spec, demand)?;
        if !self.are_places_checked {
            fitness::check_places(&self.ends)?;
            self.are_places_checked = true;
        }
        let first_pair = self.rotation.begin(&self.addresses, demand, spec.close, Instant::now())?;
        self.trials += 1;
        let task = ClientTask {
            spec,
            addresses: self.addresses.clone(),
            first_pair,
            stall_ns: self.settings.stall.as_nanos() as u64,
            trial: self.trials,
        };
        let before = self.kernels()?;
        let server = self.ends.listen.map(|address| TcpServer::open(address, &self.ends, &spec)).transpose()?;
        let run = drive::TcpRun::new(&self.clock, &self.stop, server.is_none());
        let outcome = run.perform(TcpClient::new(task), server, &self.ends, &self.layout);
        self.rotation.end(spec.connections, spec.close, Instant::now());
        let (client, server) = outcome?;
        let after = self.kernels()?;
        Ok(client.finish(server.map(TcpServer::finish), kernel_counts(after[0].since(before[0]), after[1].since(before[1]))))
    }

    /// Reads the counters of the client's namespace and of the server's.
    fn kernels(&self) -> Result<[KernelTcp; 2], TcpError> {
        let [client, server] = [&self.ends.client_namespace, &self.ends.server_namespace];
        Ok([KernelTcp::read(client.as_deref())?, KernelTcp::read(server.as_deref())?])
    }
}

/// Makes the two trials of RFC 3511 as trials of a plan; nothing else.
impl Measurer for TcpTester {
    type Error = TcpError;

    fn measure(&mut self, spec: &TrialSpec) -> Result<TrialResult, TcpError> {
        memory::ensure(spec, TrafficKind::Tcp(&self.settings))?;
        let result = match spec.kind {
            TrialKind::TcpRate => self.measure_rate(spec.rate.0, Duration::from_nanos(spec.duration_ns)),
            TrialKind::TcpCapacity { connections } => self.measure_capacity(connections, spec.rate.0),
            _ => Err(TcpError::Asked("this is a trial of frames")),
        };
        match result {
            // A search that came this far has met the tester's end, not an error.
            Err(TcpError::Descriptors { needed, allowed }) => {
                Ok(not_sent(spec, self.ends.opens, Fault::TooFewDescriptors { needed, allowed }))
            }
            Err(TcpError::Addresses { needed, has, .. }) => {
                Ok(not_sent(spec, self.ends.opens, Fault::TooFewAddresses { needed, has }))
            }
            result => Ok(result?.into_trial(spec, self.ends.opens)),
        }
    }
}

/// A trial of which nothing was sent.
fn not_sent(spec: &TrialSpec, direction: Direction, fault: Fault) -> TrialResult {
    let nothing = DirectionResult { intended: spec.frames(), ..DirectionResult::counted(direction, 0, 0) };
    TrialResult::new(*spec, vec![nothing], vec![fault])
}

fn kernel_counts(client: KernelTcp, server: KernelTcp) -> KernelCounts {
    KernelCounts {
        client_syn_retransmitted: client.syn_retransmitted,
        client_retransmitted: client.retransmitted,
        server_retransmitted: server.retransmitted,
        server_queue_full: server.queue_full,
    }
}

/// As [`within`], for work that fails with errors of its own.
fn try_within<T: Send>(namespace: Option<&str>, work: impl FnOnce() -> Result<T, TcpError> + Send) -> Result<T, TcpError> {
    within(namespace, work).map_err(|source| TcpError::Namespace { place: place(namespace), source })?
}

/// A namespace in words.
fn place(namespace: Option<&str>) -> String {
    namespace.map_or_else(|| "this namespace".to_owned(), |name| format!("namespace {name}"))
}
