//! Lightweight 4over6 by RFC 7596, and DS-Lite by RFC 6333: IPv4 in IPv6 on the left, IPv4 on the right.

use super::Reference;
use super::datagram::Datagram;
use std::collections::HashMap;
use std::net::{Ipv4Addr, Ipv6Addr};

/// The AFTR's address.
pub(crate) const AFTR: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0xaf, 0, 0, 0, 0, 1);
/// The hop limit that it writes.
pub(crate) const AFTR_HOPS: u8 = 255;
/// The public address of the DS-Lite AFTR.
pub(crate) const PUBLIC: Ipv4Addr = Ipv4Addr::new(203, 0, 113, 1);

/// Returns B4 number `number`.
pub(crate) fn b4(number: u16) -> Ipv6Addr {
    Ipv6Addr::new(0x2001, 0xdb8, 0xb4, number, 0, 0, 0, 1)
}

/// A lightweight AFTR whose binding table has an entry for each group of ports: 64 B4s share an address, each with 1024 ports.
pub(crate) struct LwAftr {
    /// Maps an address and a port divided by 1024 to the B4.
    bindings: HashMap<(Ipv4Addr, u16), Ipv6Addr>,
}

impl LwAftr {
    pub(crate) fn new(b4s: u16) -> Self {
        let mut bindings = HashMap::new();
        let (mut last, mut sharer) = (0, 0);
        for number in 0..b4s {
            bindings.insert((Ipv4Addr::new(192, 0, 2, last), sharer), b4(number));
            sharer += 1;
            if sharer == 64 {
                (last, sharer) = (last + 1, 0);
            }
        }
        Self { bindings }
    }

    pub(crate) fn b4_of(&self, address: Ipv4Addr, port: u16) -> Option<Ipv6Addr> {
        self.bindings
            .get(&(address, port / 1024))
            .copied()
            .filter(|_| port > 0)
    }
}

impl Reference for LwAftr {
    /// Returns the inner datagram; its source address and port must be those of the binding (RFC 7596 section 6.2).
    fn forward(&mut self, datagram: Datagram) -> Option<Datagram> {
        let inner = datagram.inside().filter(|_| datagram.destination == AFTR)?;
        let bound = self.b4_of(inner.source4()?, inner.source_port())?;
        (datagram.source == bound).then(|| inner.hop())
    }

    fn reverse(&mut self, datagram: Datagram) -> Option<Datagram> {
        let b4 = self.b4_of(datagram.destination4()?, datagram.destination_port())?;
        Some(datagram.hop().within(AFTR, b4, AFTR_HOPS))
    }
}

/// The owner of a connection: the softwire, and the source address and port behind it.
type Subscriber = (Ipv6Addr, Ipv4Addr, u16);
/// The server's address and port.
type Server = (Ipv4Addr, u16);

/// The AFTR of DS-Lite, whose NAT44 knows the softwire of each connection (RFC 6333 section 6.6).
#[derive(Default)]
pub(crate) struct Aftr {
    /// Ignores the softwire when identifying a connection.
    forgets_softwires: bool,
    given: HashMap<(Subscriber, Server), u16>,
    back: HashMap<(u16, Server), Subscriber>,
}

impl Aftr {
    /// Returns a faulty AFTR, which ignores softwires.
    pub(crate) fn without_softwires() -> Self {
        Self {
            forgets_softwires: true,
            ..Self::default()
        }
    }
}

impl Reference for Aftr {
    fn forward(&mut self, datagram: Datagram) -> Option<Datagram> {
        let inner = datagram.inside().filter(|_| datagram.destination == AFTR)?;
        let subscriber = (datagram.source6()?, inner.source4()?, inner.source_port());
        let server = (inner.destination4()?, inner.destination_port());
        let known_by = if self.forgets_softwires {
            (AFTR, subscriber.1, subscriber.2)
        } else {
            subscriber
        };
        let next = 1024 + self.given.len() as u16;
        let port = *self.given.entry((known_by, server)).or_insert(next);
        self.back.insert((port, server), subscriber);
        Some(
            Datagram {
                source: PUBLIC.into(),
                ..inner.hop().with_source_port(port)
            }
            .sealed(),
        )
    }

    fn reverse(&mut self, datagram: Datagram) -> Option<Datagram> {
        let server = (datagram.source4()?, datagram.source_port());
        let to = (datagram.destination_port(), server);
        let (b4, host, port) = *self
            .back
            .get(&to)
            .filter(|_| datagram.destination == PUBLIC)?;
        let inner = Datagram {
            destination: host.into(),
            ..datagram.hop().with_destination_port(port)
        }
        .sealed();
        Some(inner.within(AFTR, b4, AFTR_HOPS))
    }
}

#[test]
fn the_binding_table_of_the_reference_gives_each_b4_a_range_of_its_own() {
    let aftr = LwAftr::new(1000);
    assert_eq!(aftr.b4_of(Ipv4Addr::new(192, 0, 2, 0), 1023), Some(b4(0)));
    assert_eq!(aftr.b4_of(Ipv4Addr::new(192, 0, 2, 0), 1024), Some(b4(1)));
    assert_eq!(
        aftr.b4_of(Ipv4Addr::new(192, 0, 2, 1), 65_535),
        Some(b4(127))
    );
    assert_eq!(
        aftr.b4_of(Ipv4Addr::new(192, 0, 2, 15), 40 * 1024),
        None,
        "B4 1000 there is not"
    );
}
