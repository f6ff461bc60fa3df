//! RFC 6815: tests must run in an isolated environment. Every destination of test traffic is checked here: a tester accepts only [`Admitted`]
//! destinations, and only [`Isolation::admit`] creates them.

use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::ops::Deref;

const fn four(a: u8, b: u8, c: u8, length: u8) -> IpNet {
    IpNet::V4(Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, 0), length))
}

const fn six([a, b, c]: [u16; 3], length: u8) -> IpNet {
    IpNet::V6(Ipv6Net::new_assert(
        Ipv6Addr::new(a, b, c, 0, 0, 0, 0, 0),
        length,
    ))
}

const ALLOWED: [IpNet; 16] = [
    // Benchmarking: RFC 2544 appendix C.2.2, RFC 5180 section 8.
    four(198, 18, 0, 15),
    six([0x2001, 2, 0], 48),
    // Documentation.
    four(192, 0, 2, 24),
    four(198, 51, 100, 24),
    four(203, 0, 113, 24),
    six([0x2001, 0xdb8, 0], 32),
    six([0x3fff, 0, 0], 20),
    // Private, shared (RFC 6598), unique local.
    four(10, 0, 0, 8),
    four(172, 16, 0, 12),
    four(192, 168, 0, 16),
    four(100, 64, 0, 10),
    six([0xfc00, 0, 0], 7),
    // Local-use translation (RFC 8215), IPv4 service continuity (RFC 7335).
    six([0x64, 0xff9b, 1], 48),
    four(192, 0, 0, 29),
    // The machine itself.
    four(127, 0, 0, 8),
    IpNet::V6(Ipv6Net::new_assert(Ipv6Addr::LOCALHOST, 128)),
];

/// The available knowledge about the environment that test traffic is sent in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Isolation {
    /// Nothing is known: test traffic may go only to addresses that no host on the Internet has.
    #[default]
    Unknown,
    /// The user has declared that no traffic leaves the environment: test traffic may go anywhere.
    Declared,
}

/// A destination whose addresses have all been admitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admitted<T>(T);

impl<T> Admitted<T> {
    /// Returns the admitted value. A changed value must be admitted again before anything is sent to it.
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T> Deref for Admitted<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// A destination with the addresses that test traffic carries, goes to, or is answered at.
pub trait Addressed {
    /// Passes every address to `show`, some perhaps more than once.
    fn each_address(&self, show: &mut dyn FnMut(IpAddr));
}

impl Addressed for IpAddr {
    fn each_address(&self, show: &mut dyn FnMut(IpAddr)) {
        show(*self);
    }
}

impl Addressed for SocketAddr {
    fn each_address(&self, show: &mut dyn FnMut(IpAddr)) {
        show(self.ip());
    }
}

impl<T: Addressed> Addressed for Vec<T> {
    fn each_address(&self, show: &mut dyn FnMut(IpAddr)) {
        for item in self {
            item.each_address(show);
        }
    }
}

/// An address that a host on the Internet could have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0} lies outside the benchmarking, documentation, private, unique local and loopback ranges, and test traffic must not leave an \
     isolated environment (RFC 6815)"
)]
pub struct Forbidden(pub IpAddr);

impl Isolation {
    /// Admits `destination` as a target of test traffic.
    ///
    /// # Errors
    /// `destination` includes an address that a host on the Internet could have, and the environment was not declared isolated.
    pub fn admit<T: Addressed>(self, destination: T) -> Result<Admitted<T>, Forbidden> {
        let mut forbidden = None;
        if self == Self::Unknown {
            destination.each_address(&mut |address| {
                if forbidden.is_none() && !is_allowed(address) {
                    forbidden = Some(Forbidden(address));
                }
            });
        }
        forbidden.map_or(Ok(Admitted(destination)), Err)
    }
}

fn is_allowed(address: IpAddr) -> bool {
    let embedded = embedded_ipv4(address).unwrap_or(address);
    ALLOWED
        .iter()
        .any(|range| range.contains(&address) || range.contains(&embedded))
}

/// Returns the IPv4 address embedded in an address of the well-known prefix (RFC 6052), of 6to4 (RFC 3056), or mapped into IPv6, which a socket
/// treats as IPv4.
fn embedded_ipv4(address: IpAddr) -> Option<IpAddr> {
    let IpAddr::V6(address) = address else {
        return None;
    };
    let octets = address.octets();
    let at = |start: usize| {
        IpAddr::from([
            octets[start],
            octets[start + 1],
            octets[start + 2],
            octets[start + 3],
        ])
    };
    let is_well_known = octets[..12] == [0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0];
    let is_sixtofour = octets[..2] == [0x20, 0x02];
    let mapped = address.to_ipv4_mapped().map(IpAddr::V4);
    if is_well_known {
        Some(at(12))
    } else {
        mapped.or(is_sixtofour.then(|| at(2)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_admitted(address: &str) -> bool {
        let address: IpAddr = address.parse().expect("an address");
        Isolation::Unknown.admit(address).is_ok()
    }

    #[test]
    fn test_addresses_are_admitted_and_others_are_not() {
        for address in [
            "198.18.0.2",
            "198.19.255.254",
            "2001:2::2",
            "2001:db8::1",
            "10.1.2.3",
            "fd00::1",
            "127.0.0.1",
            "::1",
        ] {
            assert!(is_admitted(address), "{address}");
        }
        for address in [
            "8.8.8.8",
            "198.20.0.1",
            "2001:2:1::1",
            "2606:4700::1",
            "224.0.0.1",
            "ff02::1",
            "0.0.0.0",
            "::",
        ] {
            assert!(!is_admitted(address), "{address}");
        }
    }

    #[test]
    fn an_embedded_address_counts_as_itself() {
        assert!(is_admitted("64:ff9b::c612:2"));
        assert!(!is_admitted("64:ff9b::808:808"));
        assert!(is_admitted("2002:c612:1::1"));
        assert!(!is_admitted("2002:808:808::1"));
        assert!(is_admitted("::ffff:198.18.0.2"));
        assert!(!is_admitted("::ffff:8.8.8.8"));
    }

    #[test]
    fn one_address_among_many_is_enough_to_be_refused_and_a_declared_environment_takes_all() {
        let both: Vec<IpAddr> = ["198.18.0.1", "192.0.1.1"]
            .iter()
            .map(|text| text.parse().expect("an address"))
            .collect();
        assert_eq!(
            Isolation::Unknown.admit(both.clone()).expect_err("refused"),
            Forbidden(both[1])
        );
        assert_eq!(
            Isolation::Declared
                .admit(both.clone())
                .expect("admitted")
                .into_inner(),
            both
        );
    }
}
