//! 6to4 by RFC 3056 and 6rd by RFC 5969: IPv6 in IPv4 on the left, IPv6 on the right.

use super::Reference;
use super::datagram::Datagram;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The configuration of a border relay of either kind.
pub(crate) struct Relay {
    /// The relay's end of all tunnels.
    pub(crate) own: Ipv4Addr,
    /// The time to live that it writes.
    pub(crate) hops: u8,
    /// Returns the tunnel's end for an IPv6 address of the domain.
    pub(crate) site_of: fn(Ipv6Addr) -> Option<Ipv4Addr>,
}

/// The 6to4 relay.
pub(crate) const SIX_TO_FOUR: Ipv4Addr = Ipv4Addr::new(192, 88, 99, 1);
/// The 6rd border relay.
pub(crate) const SIX_RD: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);

/// Returns octets 2 to 5 of an address in 2002::/16 (RFC 3056 section 2).
pub(crate) fn six_to_four_site(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let octets = address.octets();
    (octets[..2] == [0x20, 0x02]).then(|| Ipv4Addr::new(octets[2], octets[3], octets[4], octets[5]))
}

/// Returns the site in the domain 2001:db8::/32 with IPv4MaskLen 8 and 10.0.0.0/8: three octets after the prefix (RFC 5969 section 4).
pub(crate) fn six_rd_site(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let octets = address.octets();
    (octets[..4] == [0x20, 0x01, 0x0d, 0xb8])
        .then(|| Ipv4Addr::new(10, octets[4], octets[5], octets[6]))
}

impl Relay {
    pub(crate) fn six_to_four() -> Self {
        Self {
            own: SIX_TO_FOUR,
            hops: 64,
            site_of: six_to_four_site,
        }
    }

    pub(crate) fn six_rd() -> Self {
        Self {
            own: SIX_RD,
            hops: 128,
            site_of: six_rd_site,
        }
    }
}

impl Reference for Relay {
    /// Returns the inner datagram; its source must belong to the site that sent it (RFC 3964 section 5.2, RFC 5969 section 12).
    fn forward(&mut self, datagram: Datagram) -> Option<Datagram> {
        let inner = datagram
            .inside()
            .filter(|_| datagram.destination == self.own)?;
        let site = (self.site_of)(inner.source6()?)?;
        (datagram.source == site).then(|| inner.hop())
    }

    fn reverse(&mut self, datagram: Datagram) -> Option<Datagram> {
        let site: IpAddr = (self.site_of)(datagram.destination6()?)?.into();
        Some(datagram.hop().within(self.own, site, self.hops))
    }
}

#[test]
fn the_reference_has_the_prefixes_of_the_rfcs() {
    // RFC 3056 section 2, and RFC 5969 section 4: 10.100.100.1 of 10/8 in 2001:db8::/32 has 2001:db8:6464:100::/56.
    let address = |text: &str| text.parse().expect("address");
    assert_eq!(
        six_to_four_site(address("2002:c612:1::1")),
        Some(Ipv4Addr::new(198, 18, 0, 1))
    );
    assert_eq!(
        six_rd_site(address("2001:db8:6464:100::1")),
        Some(Ipv4Addr::new(10, 100, 100, 1))
    );
    assert_eq!(six_rd_site(address("2001:db9::1")), None);
}
