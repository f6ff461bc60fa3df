//! A NAT44 in memory that can be made faulty. IPv6 passes unchanged.

use sixbench_io::loopback::LoopbackDevice;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Its public address.
pub(crate) const POOL: &str = "198.19.0.1";

/// The behaviour of the NAT and its faults.
#[derive(Default)]
pub(crate) struct Nat {
    /// The number of connections opened.
    pub(crate) opened: Arc<AtomicU64>,
    /// The number added to source ports.
    pub(crate) port_step: u16,
    /// Loses the frame that opens this connection.
    pub(crate) loses: Option<u64>,
    /// Forwards the frame that opens this connection, but keeps no state for it.
    pub(crate) forgets: Option<u64>,
    /// Gives the second connection the four-tuple of the first.
    pub(crate) collides: bool,
    /// Sends the replies on every connection to the port of the previous one.
    pub(crate) swaps: bool,
    /// Changes its mappings after this many frames.
    pub(crate) remaps_after: Option<u64>,
    /// Connections are opened from right to left.
    pub(crate) initiator_is_right: bool,
}

/// Source address and port; destination address and port.
type Tuple = ([u8; 4], u16, [u8; 4], u16);

const SOURCE: usize = 26;
const DESTINATION: usize = 30;

fn word(frame: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([frame[at], frame[at + 1]])
}

fn address(frame: &[u8], at: usize) -> [u8; 4] {
    [frame[at], frame[at + 1], frame[at + 2], frame[at + 3]]
}

fn tuple(frame: &[u8]) -> Tuple {
    (
        address(frame, SOURCE),
        word(frame, 34),
        address(frame, DESTINATION),
        word(frame, 36),
    )
}

/// Writes a word and updates the checksums (RFC 1624).
fn put(frame: &mut [u8], at: usize, value: u16, checksums: &[usize]) {
    let old = word(frame, at);
    for &checksum in checksums {
        let sum = u32::from(!word(frame, checksum)) + u32::from(!old) + u32::from(value);
        let sum = (sum & 0xffff) + (sum >> 16);
        let new = !(((sum & 0xffff) + (sum >> 16)) as u16);
        // A UDP checksum of zero is sent as all ones (RFC 768).
        let new = if checksum == 40 && new == 0 {
            0xffff
        } else {
            new
        };
        frame[checksum..checksum + 2].copy_from_slice(&new.to_be_bytes());
    }
    frame[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

/// Rewrites an address and a port, and updates all checksums.
fn rewrite(frame: &mut [u8], address_at: usize, address: [u8; 4], port_at: usize, port: u16) {
    put(
        frame,
        address_at,
        u16::from_be_bytes([address[0], address[1]]),
        &[24, 40],
    );
    put(
        frame,
        address_at + 2,
        u16::from_be_bytes([address[2], address[3]]),
        &[24, 40],
    );
    put(frame, port_at, port, &[40]);
}

impl Nat {
    pub(crate) fn device(self) -> LoopbackDevice {
        let mut table = Table {
            nat: self,
            ..Table::default()
        };
        Box::new(move |octets, from_left, out| {
            let mut frame = octets.to_vec();
            let is_answer = from_left == table.nat.initiator_is_right;
            let is_native = octets[12..14] == [0x86, 0xdd];
            let is_forwarded = is_native
                || if is_answer {
                    table.answer(&mut frame)
                } else {
                    table.open(&mut frame)
                };
            if is_forwarded {
                out.push((from_left, frame));
            }
        })
    }
}

/// The port behind the NAT; address and port of the server.
type Outside = (u16, [u8; 4], u16);

/// Its connections.
#[derive(Default)]
struct Table {
    nat: Nat,
    ports: HashMap<Tuple, u16>,
    clients: HashMap<Outside, ([u8; 4], u16)>,
    frames: u64,
    last_port: u16,
    /// The destination of the first connection, and its port behind the NAT.
    first: Option<(([u8; 4], u16), u16)>,
}

impl Table {
    /// Translates a frame from a server to the client of its connection, if there is one.
    fn answer(&mut self, frame: &mut [u8]) -> bool {
        let (server, server_port, _, port) = tuple(frame);
        let Some(&(client, client_port)) = self.clients.get(&(port, server, server_port)) else {
            return false;
        };
        let is_swapped = self.nat.swaps && self.last_port > 0;
        let given = if is_swapped {
            self.last_port
        } else {
            client_port
        };
        self.last_port = client_port;
        rewrite(frame, DESTINATION, client, 36, given);
        true
    }

    /// Translates a frame from a client to its server, on a connection that may be new.
    fn open(&mut self, frame: &mut [u8]) -> bool {
        let inside = tuple(frame);
        let number = self.ports.len() as u64;
        let is_new = !self.ports.contains_key(&inside);
        let own = match self.nat.port_step {
            0 => inside.1,
            step => 1024 + (number as u16).wrapping_mul(7) + step,
        };
        let mut port = *self.ports.entry(inside).or_insert(own);
        if is_new {
            self.nat.opened.fetch_add(1, Ordering::Relaxed);
            port = self.collided(inside, number, port);
            if self.nat.loses == Some(number) {
                return false;
            }
            if self.nat.forgets != Some(number) {
                self.clients
                    .insert((port, inside.2, inside.3), (inside.0, inside.1));
            }
        }
        self.frames += 1;
        port += u16::from(
            self.nat
                .remaps_after
                .is_some_and(|after| self.frames > after),
        );
        let pool: [u8; 4] = POOL
            .parse::<std::net::Ipv4Addr>()
            .expect("address")
            .octets();
        rewrite(frame, SOURCE, pool, 34, port);
        true
    }

    /// Returns the port of a new connection. The second one with the destination of the first gets the port of the first.
    fn collided(&mut self, inside: Tuple, number: u64, port: u16) -> u16 {
        let to = (inside.2, inside.3);
        if number == 0 {
            self.first = Some((to, port));
            return port;
        }
        match self.first {
            Some((where_to, taken)) if self.nat.collides && where_to == to => {
                self.first = None;
                self.ports.insert(inside, taken);
                taken
            }
            _ => port,
        }
    }
}
