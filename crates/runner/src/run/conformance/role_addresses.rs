//! The addresses of a role, by their versions.

use sixbench_conformance::{Role, RoleAddresses};
use std::net::IpAddr;

/// Returns the addresses of a role among two.
pub(super) fn of_both(role: Role, addresses: [IpAddr; 2]) -> RoleAddresses {
    let ipv4 = addresses.iter().find_map(|address| {
        if let IpAddr::V4(address) = address {
            Some(*address)
        } else {
            None
        }
    });
    let ipv6 = addresses.iter().find_map(|address| {
        if let IpAddr::V6(address) = address {
            Some(*address)
        } else {
            None
        }
    });
    RoleAddresses { role, ipv4, ipv6 }
}

#[cfg(test)]
pub(super) mod compared {
    //! The addresses of roles as tests compare them.

    use sixbench_conformance::frame::Side;
    use sixbench_conformance::{DeviceSetting, Role};
    use std::net::IpAddr;

    /// Returns the addresses of a role, that of IPv4 first.
    pub(crate) fn both(setting: &DeviceSetting, role: Role) -> [Option<IpAddr>; 2] {
        [Side::Ipv4, Side::Ipv6].map(|family| setting.address(role, family))
    }

    /// Returns a pair of addresses; an empty text stands for none.
    pub(crate) fn pair(ipv4: &str, ipv6: &str) -> [Option<IpAddr>; 2] {
        [ipv4.parse().ok(), ipv6.parse().ok()]
    }
}
