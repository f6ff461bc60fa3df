//! The addresses and ports of a connection, as a function of its number, and whether there are enough of them. Nothing here opens a socket.

use super::error::TcpError;
use super::settings::{TcpEnds, TcpSettings};
use sixbench_method::trial::tcp::Close;
use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

/// The time for which Linux keeps the addresses and ports of a connection that its own end closed first (TIME-WAIT).
const TIME_WAIT: Duration = Duration::from_secs(60);

/// All pairs of a client's and a server's address and port, in the order in which they are used.
#[derive(Clone, Debug)]
pub(super) struct AddressPairs {
    clients: Vec<IpAddr>,
    server: IpAddr,
    /// The first port and the number of ports.
    server_ports: (u16, u64),
    source_ports: (u16, u64),
}

fn ports(range: &std::ops::RangeInclusive<u16>) -> (u16, u64) {
    (*range.start(), range.clone().count() as u64)
}

impl AddressPairs {
    pub(super) fn new(ends: &TcpEnds) -> Self {
        Self {
            clients: ends.client_addresses.clone(),
            server: ends.server,
            server_ports: ports(&ends.server_ports),
            source_ports: ports(&ends.source_ports),
        }
    }

    /// Returns the number of pairs.
    pub(super) fn count(&self) -> u64 {
        self.clients.len() as u64 * self.server_ports.1 * self.source_ports.1
    }

    /// Returns pair `number`, starting over after the last: the connection's own address and its destination.
    ///
    /// "Each virtual client MUST initiate connections in a round-robin fashion" (RFC 3511 section 4.5): a virtual client is an address, a server
    /// one of the server's ports; client 1 connects to servers 1, 2, 3, client 2 to 2, 3, 1.
    pub(super) fn pair(&self, number: u64) -> (SocketAddr, SocketAddr) {
        let clients = self.clients.len() as u64;
        let (client, round) = (number % clients, number / clients);
        let server = (round + client) % self.server_ports.1;
        let source = round / self.server_ports.1 % self.source_ports.1;
        (
            SocketAddr::new(
                self.clients[client as usize],
                self.source_ports.0 + source as u16,
            ),
            SocketAddr::new(self.server, self.server_ports.0 + server as u16),
        )
    }
}

/// Allocates pairs to one trial after the other, so that a trial begins with those longest unused.
#[derive(Debug, Default)]
pub(super) struct Rotation {
    next: u64,
    /// Pairs in TIME-WAIT at the client after trials: the time at which that began, and how many.
    waiting: VecDeque<(Instant, u64)>,
}

/// The numbers of connections for which a trial needs addresses and ports of the tester.
#[derive(Clone, Copy, Debug)]
pub(super) struct ConnectionDemand {
    /// Connections attempted.
    pub connections: u64,
    /// The most connections that may be open at the same time.
    pub at_once: u64,
}

impl ConnectionDemand {
    /// Returns the demand of a trial in which every connection is over after its time limit.
    pub(super) fn of_rate(connections: u64, rate: u64, settings: &TcpSettings) -> Self {
        let in_limit = u128::from(rate) * settings.time_limit.as_nanos() / 1_000_000_000;
        Self {
            connections,
            at_once: connections.min(in_limit as u64 + 1),
        }
    }

    /// Returns the demand of a trial that keeps all connections open.
    pub(super) fn of_capacity(connections: u64) -> Self {
        Self {
            connections,
            at_once: connections,
        }
    }
}

impl Rotation {
    /// Returns the number of the first pair for a trial, or an error if there are too few.
    pub(super) fn begin(
        &mut self,
        addresses: &AddressPairs,
        demand: ConnectionDemand,
        close: Close,
        now: Instant,
    ) -> Result<u64, TcpError> {
        self.waiting
            .retain(|(since, _)| now.duration_since(*since) < TIME_WAIT);
        let (demanded, waiting) = match close {
            Close::ClientFirst => {
                let waiting = self.waiting.iter().map(|(_, pairs)| pairs).sum::<u64>();
                (demand.connections, waiting)
            }
            Close::ServerFirst | Close::Reset => (demand.at_once, 0),
        };
        let needed = demanded + waiting;
        if needed > addresses.count() {
            return Err(TcpError::Addresses {
                needed,
                has: addresses.count(),
                waiting,
            });
        }
        Ok(self.next)
    }

    /// Notes the pairs that a trial has used.
    pub(super) fn end(&mut self, connections: u64, close: Close, now: Instant) {
        self.next += connections;
        if close == Close::ClientFirst {
            self.waiting.push_back((now, connections));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixbench_method::terms::Direction;
    use std::collections::HashSet;

    fn addresses(clients: usize, server_ports: u16) -> AddressPairs {
        let clients = (1..=clients as u8)
            .map(|last| IpAddr::from([198, 18, 0, last]))
            .collect();
        let server = IpAddr::from([198, 19, 0, 1]);
        AddressPairs::new(&TcpEnds {
            opens: Direction::Forward,
            client_namespace: None,
            server_namespace: None,
            client_addresses: clients,
            source_ports: 1024..=1123,
            server,
            server_ports: 80..=79 + server_ports,
            listen: None,
            pool: vec![],
        })
    }

    #[test]
    fn six_clients_and_three_servers_take_turns_as_in_rfc_3511_section_4_5() {
        let addresses = addresses(6, 3);
        let servers = |client: u64| {
            (0..4)
                .map(|round| addresses.pair(client - 1 + 6 * round).1.port() - 79)
                .collect::<Vec<_>>()
        };
        assert_eq!(servers(1), [1, 2, 3, 1]);
        assert_eq!(servers(2), [2, 3, 1, 2]);
        assert_eq!(servers(6), [3, 1, 2, 3]);
    }

    #[test]
    fn no_pair_comes_twice_before_all_have_come() {
        let addresses = addresses(6, 4);
        assert_eq!(addresses.count(), 2400);
        let all: HashSet<_> = (0..2400).map(|number| addresses.pair(number)).collect();
        assert_eq!(all.len(), 2400);
        assert_eq!(addresses.pair(2400), addresses.pair(0));
    }

    #[test]
    fn a_client_that_closes_first_must_wait_a_minute_for_its_ports() {
        let (addresses, mut rotation, now) = (addresses(1, 1), Rotation::default(), Instant::now());
        let demand = ConnectionDemand::of_capacity(60);
        assert_eq!(
            rotation
                .begin(&addresses, demand, Close::ClientFirst, now)
                .expect("room"),
            0
        );
        rotation.end(60, Close::ClientFirst, now);
        let too_soon = rotation.begin(&addresses, demand, Close::ClientFirst, now);
        assert!(matches!(
            too_soon,
            Err(TcpError::Addresses {
                needed: 120,
                has: 100,
                waiting: 60
            })
        ));
        let later = now + TIME_WAIT;
        assert_eq!(
            rotation
                .begin(&addresses, demand, Close::ClientFirst, later)
                .expect("room"),
            60
        );
    }

    #[test]
    fn where_the_server_closes_first_pairs_need_only_reach_for_the_time_limit() {
        let settings = TcpSettings {
            time_limit: Duration::from_millis(100),
            ..TcpSettings::default()
        };
        let demand = |rate| ConnectionDemand::of_rate(1_000_000, rate, &settings);
        let mut rotation = Rotation::default();
        let mut begin = |rate| {
            rotation.begin(
                &addresses(1, 1),
                demand(rate),
                Close::ServerFirst,
                Instant::now(),
            )
        };
        assert!(begin(900).is_ok());
        assert!(matches!(
            begin(1000),
            Err(TcpError::Addresses {
                needed: 101,
                has: 100,
                ..
            })
        ));
        assert_eq!(ConnectionDemand::of_rate(5, 1000, &settings).at_once, 5);
    }
}
