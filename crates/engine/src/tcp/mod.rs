//! TCP connections through a stateful device, with the kernel's sockets on both ends: the trials of RFC 3511 section 5.2 (concurrent connections)
//! and section 5.3 (connections per second), which RFC 8219 section 8 requires. Each connection carries an HTTP/1.1 GET and a small object,
//! verified octet by octet. Unlike the frame tester, this one makes system calls for each connection; it never waits for an answer before it
//! opens the next connection, and never logs one.
//!
//! # Closing
//!
//! A device's table depends on how connections end, so that is a setting, [`Close`](sixbench_method::trial::tcp::Close), and on record. The
//! default is `ServerFirst`, an orderly close with FIN and ACK each way, which is how most HTTP connections end. The device sees a whole
//! connection and keeps its entry for as long as it does for real ones (its aging time). TIME-WAIT stays at the server, where Linux accepts a new
//! SYN in it; the client's port is free at once, so that few ports suffice for any rate. With `ClientFirst` the client enters TIME-WAIT, and a
//! pair of addresses and ports cannot be used again for a minute. `Reset` is what RFC 3511 recommends between trials, to empty the device's
//! table; as the close of a rate trial it measures a device that may drop its entries at once. The kernel decides whether ACK and FIN travel
//! together (the three-way close of section 5.4.2). Connections that failed or are left over are always ended with a RST.
//!
//! # A trial
//!
//! Client and server are kernel sockets in a namespace each (`testbed::Hosts`), with the DUT between them. To a search a connection is what a frame is
//! elsewhere (`TcpResult::into_trial`): offered is what was attempted, received what succeeded.
//!
//! 1. `fitness` reports before the first SYN what the tester lacks: descriptors, addresses and ports (`addresses`), including those that TIME-WAIT holds.
//! 2. Connection i is due at start + i / rate (the same `pacer`), whatever has become of the earlier ones: the load is open-loop. Its addresses and
//!    ports are a function of its number, and round-robin over clients and servers.
//! 3. Each connection has one GET. The object's octets follow from the path, and no path is used twice, so a response to another connection is detected
//!    (`http`).
//! 4. Rate: each is then closed. Capacity: all are kept; when all are settled each is asked once more, and then all are closed.
//! 5. The server (`server`, `accepted`) answers only requests whose path is one of the trial's, each on one connection. A device can open its own
//!    connections, so their number is bounded: those of the trial that can be open at the same time, and 1,024 others, or as many as there are
//!    descriptors for. At the bound, the oldest connection that has had no request of the trial for 100 ms is closed. Others are counted separately
//!    (`foreign`).
//! 6. `tally` gives every attempted connection one result. An attempt left out or sending that took too long invalidates the trial. So do failures that
//!    late attempts or a full queue of our server can explain. Any other failure is `Lost`.
//!
//! With one core for the tester both ends take turns in one loop; with two each has its own (`drive`).

mod accepted;
mod addresses;
mod client;
mod connection;
mod connection_set;
mod drive;
mod error;
mod fitness;
pub(crate) mod http;
mod kernel;
mod request_key;
mod server;
mod settings;
mod tally;
mod times;

pub use error::TcpError;
pub use settings::{TcpEnds, TcpSettings};

use crate::driver::Layout;
use crate::memory;
use accepted::ServerBounds;
use addresses::{AddressPairs, ConnectionDemand, Rotation};
use client::TcpClient;
use connection_set::ClientTask;
use drive::TcpRun;
use kernel::KernelTcp;
use server::TcpServer;
use sixbench_io::clock::Clock;
use sixbench_method::isolation::Admitted;
use sixbench_method::terms::Direction;
use sixbench_method::trial::tcp::{KernelCounts, TcpResult, TcpSpec, TcpTrial};
use sixbench_method::trial::{DirectionResult, Fault, Measurer, TrialKind, TrialResult, TrialSpec};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Opens connections from a client to a server, both of which it runs itself.
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
    are_local_addresses_checked: bool,
}

impl TcpTester {
    /// Returns a tester. With one core (or none) in `layout`, client and server take turns in one loop on it; with two or more each has its own
    /// core. `stop` ends a trial early.
    pub fn new(
        ends: Admitted<TcpEnds>,
        settings: TcpSettings,
        layout: Layout,
        stop: Arc<AtomicBool>,
    ) -> Self {
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
            are_local_addresses_checked: false,
        }
    }

    /// Switches to other connections. Paths, and the pairs of addresses and ports, continue after the earlier ones: none is reused while one of
    /// its connections may be in TIME-WAIT.
    pub fn set(&mut self, ends: Admitted<TcpEnds>, settings: TcpSettings) {
        let ends = ends.into_inner();
        if ends != self.ends {
            self.addresses = AddressPairs::new(&ends);
            self.are_local_addresses_checked = false;
            self.ends = ends;
        }
        self.settings = settings;
    }

    /// Runs a trial of RFC 3511 section 5.3: attempts `rate` connections per second for `duration`, each with a GET followed by the close.
    ///
    /// # Errors
    /// If no trial was possible: too few addresses or descriptors are faults of a result, a socket that cannot be used is an error.
    pub fn measure_rate(&mut self, rate: u64, duration: Duration) -> Result<TcpResult, TcpError> {
        let connections = (u128::from(rate) * duration.as_nanos() / 1_000_000_000) as u64;
        self.perform(
            self.spec(TcpTrial::Rate, connections, rate),
            ConnectionDemand::of_rate(connections, rate, &self.settings),
        )
    }

    /// Runs a trial of RFC 3511 section 5.2: opens `connections` at `rate` per second, with a GET on each, and keeps them open. When all are
    /// open, each makes a second GET (again at `rate`); when all have done so, each is closed (again at `rate`).
    ///
    /// # Errors
    /// As [`Self::measure_rate`].
    pub fn measure_capacity(&mut self, connections: u64, rate: u64) -> Result<TcpResult, TcpError> {
        self.perform(
            self.spec(TcpTrial::Capacity, connections, rate),
            ConnectionDemand::of_capacity(connections),
        )
    }

    fn spec(&self, trial: TcpTrial, connections: u64, rate: u64) -> TcpSpec {
        let TcpSettings {
            object_octets,
            time_limit,
            close,
            ..
        } = self.settings;
        TcpSpec {
            trial,
            rate,
            connections,
            object_octets,
            time_limit_ns: time_limit.as_nanos() as u64,
            close,
        }
    }

    fn perform(&mut self, spec: TcpSpec, demand: ConnectionDemand) -> Result<TcpResult, TcpError> {
        let most_open = fitness::check(&self.ends, &spec, demand)?;
        if !self.are_local_addresses_checked {
            fitness::check_local_addresses(&self.ends)?;
            self.are_local_addresses_checked = true;
        }
        let first_pair =
            self.rotation
                .begin(&self.addresses, demand, spec.close, Instant::now())?;
        self.trials += 1;
        let task = ClientTask {
            spec,
            addresses: self.addresses.clone(),
            first_pair,
            stall_ns: self.settings.stall.as_nanos() as u64,
            trial: self.trials,
        };
        let own_open = demand.at_once as usize;
        let bounds = ServerBounds {
            trial: self.trials,
            connections: spec.connections,
            own_open,
            most_open,
        };
        let before = self.kernels()?;
        let mut client = TcpClient::new(task);
        let mut server = self
            .ends
            .listen
            .map(|address| TcpServer::open(address, &self.ends, &spec, bounds))
            .transpose()?;
        let run = TcpRun::new(&self.clock, &self.stop, server.is_none());
        let worst_gap_ns = run.perform(&mut client, server.as_mut(), &self.ends, &self.layout);
        // Before an error of the run is returned, because its connections may be in TIME-WAIT all the same.
        self.rotation
            .end(spec.connections, spec.close, Instant::now());
        client.note_gap(worst_gap_ns?);
        let after = self.kernels()?;
        let kernel = kernel_counts(after[0].since(before[0]), after[1].since(before[1]));
        Ok(TcpResult {
            server_address: Some(self.ends.server),
            ..client.finish(server.map(TcpServer::finish), kernel)
        })
    }

    /// Reads the counters of the client's and the server's namespace.
    fn kernels(&self) -> Result<[KernelTcp; 2], TcpError> {
        let [client, server] = [&self.ends.client_namespace, &self.ends.server_namespace];
        Ok([
            KernelTcp::read(client.as_deref())?,
            KernelTcp::read(server.as_deref())?,
        ])
    }
}

/// Runs the two trials of RFC 3511 as trials of a plan, and no others.
impl Measurer for TcpTester {
    type Error = TcpError;

    fn measure(&mut self, spec: &TrialSpec) -> Result<TrialResult, TcpError> {
        memory::ensure(spec, &self.settings)?;
        let result = match spec.kind {
            TrialKind::TcpRate => {
                self.measure_rate(spec.rate.0, Duration::from_nanos(spec.duration_ns))
            }
            TrialKind::TcpCapacity { connections } => {
                self.measure_capacity(connections, spec.rate.0)
            }
            _ => Err(TcpError::Asked("this is a trial of frames")),
        };
        match result {
            // A search that gets this far has reached the tester's limit; that is not an error.
            Err(TcpError::Descriptors { needed, allowed }) => Ok(not_sent(
                spec,
                self.ends.opens,
                Fault::TooFewDescriptors { needed, allowed },
            )),
            Err(TcpError::Addresses { needed, has, .. }) => Ok(not_sent(
                spec,
                self.ends.opens,
                Fault::TooFewAddresses { needed, has },
            )),
            result => Ok(result?.into_trial(spec, self.ends.opens)),
        }
    }
}

/// Returns a trial in which nothing was sent.
fn not_sent(spec: &TrialSpec, direction: Direction, fault: Fault) -> TrialResult {
    let nothing = DirectionResult {
        intended: spec.frames(),
        ..DirectionResult::counted(direction, 0, 0)
    };
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
