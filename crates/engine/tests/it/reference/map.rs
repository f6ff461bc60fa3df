//! MAP by RFC 7597 and RFC 7599, in the domain of the papers on Jool: 2001:db8:ce::/51, 192.0.2.0/24, 13 EA bits, so that 32 CEs share an address
//! and the EA bits are the last 13 of the fourth word of the end-user prefix.

use super::Reference;
use super::datagram::Datagram;
use std::collections::HashMap;
use std::net::{Ipv4Addr, Ipv6Addr};

/// PSID length.
const SHARING_BITS: u32 = 5;
/// The BR's own address (MAP-E).
pub(crate) const BR: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0xffff, 0, 0, 0, 0, 1);
/// The hop limit that it writes.
pub(crate) const BR_HOPS: u8 = 63;

/// The domain of one rule.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Domain {
    pub(crate) offset: u32,
    /// The third word of the rule IPv6 prefix.
    word: u16,
    /// The rule IPv4 prefix, a /24.
    network: [u8; 3],
}

impl Domain {
    /// Returns the rule in the papers.
    pub(crate) fn of_the_papers(offset: u32) -> Self {
        Self {
            offset,
            word: 0xce,
            network: [192, 0, 2],
        }
    }

    /// Returns a second rule: 2001:db8:cf::/51 and 203.0.113.0/24.
    pub(crate) fn second(offset: u32) -> Self {
        Self {
            offset,
            word: 0xcf,
            network: [203, 0, 113],
        }
    }

    /// Returns the PSID whose set contains a port (RFC 7597 section 5.1). Ports whose first bits (as many as the offset) are zero are in no set.
    pub(crate) fn psid(self, port: u16) -> Option<u16> {
        let excluded = if self.offset == 0 {
            port == 0
        } else {
            u32::from(port) < 1 << (16 - self.offset)
        };
        let psid = u32::from(port) / (1 << (16 - self.offset - SHARING_BITS)) % (1 << SHARING_BITS);
        (!excluded).then_some(psid as u16)
    }

    /// Returns the CE with this last octet of its IPv4 address, and this PSID, with the interface identifier of section 6.
    pub(crate) fn ce(self, last: u8, psid: u16) -> Ipv6Addr {
        let [a, b, c] = self.network.map(u16::from);
        let prefix = u16::from(last) * 32 + psid;
        Ipv6Addr::new(
            0x2001,
            0xdb8,
            self.word,
            prefix,
            0,
            a * 256 + b,
            c * 256 + u16::from(last),
            psid,
        )
    }

    /// Returns the CE to which datagrams for this address and port go.
    pub(crate) fn ce_of(self, address: Ipv4Addr, port: u16) -> Option<Ipv6Addr> {
        let [a, b, c, last] = address.octets();
        (self.network == [a, b, c]).then_some(self.ce(last, self.psid(port)?))
    }

    /// Returns the IPv4 address of a CE if it has this port: a datagram with another one must not be forwarded (RFC 7597 section 8.1, RFC 7599
    /// section 8.3).
    pub(crate) fn address_of(self, ce: Ipv6Addr, port: u16) -> Option<Ipv4Addr> {
        let ([a, b, c], last) = (self.network, ce.segments()[3] / 32);
        let address = Ipv4Addr::new(a, b, c, last as u8);
        (self.ce_of(address, port) == Some(ce)).then_some(address)
    }
}

/// Returns the address behind 64:ff9b::/96, the default mapping rule (RFC 6052 section 2.1).
pub(crate) fn behind_dmr(address: Ipv4Addr) -> Ipv6Addr {
    let [a, b, c, d] = address.octets().map(u16::from);
    Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, a * 256 + b, c * 256 + d)
}

/// Returns the IPv4 address for an address behind the default mapping rule.
pub(crate) fn out_of_dmr(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let [0x64, 0xff9b, 0, 0, 0, 0, high, low] = address.segments() else {
        return None;
    };
    Some(Ipv4Addr::new(
        (high / 256) as u8,
        (high % 256) as u8,
        (low / 256) as u8,
        (low % 256) as u8,
    ))
}

/// The border relay of MAP-T: CEs on the left, IPv4 on the right. If there are several rules, only one of them claims a CE or an address.
pub(crate) struct MapTBr(pub(crate) Vec<Domain>);

impl Reference for MapTBr {
    fn forward(&mut self, datagram: Datagram) -> Option<Datagram> {
        let (ce, port) = (datagram.source6()?, datagram.source_port());
        let source = self.0.iter().find_map(|rule| rule.address_of(ce, port))?;
        let destination = out_of_dmr(datagram.destination6()?)?;
        Some(datagram.translated(source, destination))
    }

    fn reverse(&mut self, datagram: Datagram) -> Option<Datagram> {
        let (address, port) = (datagram.destination4()?, datagram.destination_port());
        let destination = self.0.iter().find_map(|rule| rule.ce_of(address, port))?;
        let source = behind_dmr(datagram.source4()?);
        Some(datagram.translated(source, destination))
    }
}

/// The border relay of MAP-E.
pub(crate) struct MapEBr(pub(crate) Domain);

impl Reference for MapEBr {
    fn forward(&mut self, datagram: Datagram) -> Option<Datagram> {
        let inner = datagram.inside().filter(|_| datagram.destination == BR)?;
        let source = self
            .0
            .address_of(datagram.source6()?, inner.source_port())?;
        (inner.source == source).then(|| inner.hop())
    }

    fn reverse(&mut self, datagram: Datagram) -> Option<Datagram> {
        let ce = self
            .0
            .ce_of(datagram.destination4()?, datagram.destination_port())?;
        Some(datagram.hop().within(BR, ce, BR_HOPS))
    }
}

/// Address and port of a host behind a CE.
type Inside = (Ipv4Addr, u16);
/// A port of the CE, and its peer.
type Outside = (u16, Ipv4Addr, u16);

/// A CE of MAP-T with its NAPT into the port set (RFC 7599 section 11): hosts on the left, the MAP domain on the right. It is the CE in the
/// papers: 192.0.2.8 and PSID 27, so with offset 0 ports 55296 to 57343.
pub(crate) struct MapTCe {
    domain: Domain,
    address: Ipv6Addr,
    ports: Box<dyn Iterator<Item = u16> + Send>,
    given: HashMap<(Inside, Ipv4Addr, u16), u16>,
    back: HashMap<Outside, Inside>,
}

impl MapTCe {
    pub(crate) const LAST: u8 = 8;
    pub(crate) const PSID: u16 = 27;

    pub(crate) fn new(domain: Domain) -> Self {
        let ports = (1..=u16::MAX).filter(move |port| domain.psid(*port) == Some(Self::PSID));
        let address = domain.ce(Self::LAST, Self::PSID);
        Self {
            domain,
            address,
            ports: Box::new(ports),
            given: HashMap::new(),
            back: HashMap::new(),
        }
    }
}

impl Reference for MapTCe {
    fn forward(&mut self, datagram: Datagram) -> Option<Datagram> {
        let inside = (datagram.source4()?, datagram.source_port());
        let (server, server_port) = (datagram.destination4()?, datagram.destination_port());
        let key = (inside, server, server_port);
        if !self.given.contains_key(&key) {
            let port = self.ports.next()?;
            self.given.insert(key, port);
            self.back.insert((port, server, server_port), inside);
        }
        Some(
            datagram
                .with_source_port(self.given[&key])
                .translated(self.address, behind_dmr(server)),
        )
    }

    fn reverse(&mut self, datagram: Datagram) -> Option<Datagram> {
        let server = out_of_dmr(datagram.source6()?)?;
        let port = datagram.destination_port();
        let own = self
            .domain
            .address_of(self.address, port)
            .filter(|_| datagram.destination == self.address);
        let (host, host_port) = *self
            .back
            .get(&(port, server, datagram.source_port()))
            .filter(|_| own.is_some())?;
        Some(
            datagram
                .with_destination_port(host_port)
                .translated(server, host),
        )
    }
}

#[test]
fn the_reference_has_the_ce_of_the_papers() {
    let domain = Domain::of_the_papers(0);
    let ce: Ipv6Addr = "2001:db8:ce:11b:0:c000:208:1b".parse().expect("address");
    let address = Ipv4Addr::new(192, 0, 2, 8);
    for (port, is_own) in [
        (55_295, false),
        (55_296, true),
        (57_343, true),
        (57_344, false),
    ] {
        assert_eq!(domain.ce_of(address, port) == Some(ce), is_own, "{port}");
        assert_eq!(
            domain.address_of(ce, port),
            is_own.then_some(address),
            "{port}"
        );
    }
    assert_eq!(domain.psid(0), None);
}

#[test]
fn the_reference_leaves_out_the_system_ports_where_the_offset_is_6() {
    // RFC 7597 appendix A example 1 has PSID length 8; with 5 bits of PSID 27 the first set begins at 1024 + 27 * 32.
    let domain = Domain::of_the_papers(6);
    let own: Vec<u16> = (0..=u16::MAX)
        .filter(|port| domain.psid(*port) == Some(27))
        .collect();
    assert_eq!(
        (own.len(), own[0], own[31], own[32]),
        (63 * 32, 1024 + 864, 1024 + 895, 2048 + 864)
    );
    assert!((0..1024).all(|port| domain.psid(port).is_none()));
}
