//! The operating system for which a recipe is written, with its commands for addresses, routes and links.

use ipnet::IpNet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::net::IpAddr;

/// A supported operating system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum System {
    /// Linux with iproute2, on another machine or in a namespace of this one.
    #[default]
    Linux,
    /// FreeBSD.
    Freebsd,
    /// NetBSD.
    Netbsd,
    /// OpenBSD.
    Openbsd,
}

impl System {
    /// Returns the name of the system as it is commonly written and as `uname -s` prints it.
    pub fn title(self) -> &'static str {
        match self {
            Self::Linux => "Linux",
            Self::Freebsd => "FreeBSD",
            Self::Netbsd => "NetBSD",
            Self::Openbsd => "OpenBSD",
        }
    }

    /// Returns the commands that add an address, with the link's prefix length, to an interface and remove it.
    pub(crate) fn address(self, address: IpNet, interface: &str) -> [String; 2] {
        let (family, own, length) = (family(address.addr()), address.addr(), address.prefix_len());
        match self {
            Self::Linux => {
                let no_dad = if own.is_ipv6() { " nodad" } else { "" };
                [
                    format!("ip address add {address} dev {interface}{no_dad}"),
                    format!("ip address del {address} dev {interface}"),
                ]
            }
            _ if own.is_ipv6() => [
                format!("ifconfig {interface} {family} {own} prefixlen {length} alias"),
                format!("ifconfig {interface} {family} {own} -alias"),
            ],
            _ => [
                format!(
                    "ifconfig {interface} {family} {own} netmask {} alias",
                    address.netmask()
                ),
                format!("ifconfig {interface} {family} {own} -alias"),
            ],
        }
    }

    /// Returns the commands that add a route for a prefix through a gateway and delete it.
    pub(crate) fn route(self, prefix: IpNet, gateway: IpAddr, interface: &str) -> [String; 2] {
        let verbs = |route: &dyn Fn(&str) -> String, delete| [route("add"), route(delete)];
        match self {
            Self::Linux => verbs(
                &|verb| format!("ip route {verb} {prefix} via {gateway} dev {interface}"),
                "del",
            ),
            _ if gateway.is_ipv6() => {
                let (net, length) = (prefix.network(), prefix.prefix_len());
                verbs(
                    &|verb| format!("route -n {verb} -inet6 {net} -prefixlen {length} {gateway}"),
                    "delete",
                )
            }
            _ => verbs(
                &|verb| format!("route -n {verb} -inet -net {prefix} {gateway}"),
                "delete",
            ),
        }
    }

    /// Returns the command that sets an interface up or down.
    pub(crate) fn link(self, interface: &str, state: &str) -> String {
        match self {
            Self::Linux => format!("ip link set {interface} {state}"),
            _ => format!("ifconfig {interface} {state}"),
        }
    }
}

fn family(address: IpAddr) -> &'static str {
    if address.is_ipv4() { "inet" } else { "inet6" }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn net(text: &str) -> IpNet {
        text.parse().expect("a prefix")
    }

    #[test]
    fn each_system_has_its_own_words_for_an_address() {
        let six = net("2001:2::1/64");
        assert_eq!(
            System::Linux.address(six, "e0"),
            [
                "ip address add 2001:2::1/64 dev e0 nodad",
                "ip address del 2001:2::1/64 dev e0"
            ]
        );
        assert_eq!(
            System::Freebsd.address(six, "em0"),
            [
                "ifconfig em0 inet6 2001:2::1 prefixlen 64 alias",
                "ifconfig em0 inet6 2001:2::1 -alias"
            ]
        );
        assert_eq!(
            System::Openbsd.address(net("198.18.0.1/30"), "em0"),
            [
                "ifconfig em0 inet 198.18.0.1 netmask 255.255.255.252 alias",
                "ifconfig em0 inet 198.18.0.1 -alias"
            ]
        );
    }

    #[test]
    fn each_system_has_its_own_words_for_a_route() {
        let four = (
            net("198.18.0.0/16"),
            "198.18.0.2".parse().expect("an address"),
        );
        assert_eq!(
            System::Linux.route(four.0, four.1, "e0")[1],
            "ip route del 198.18.0.0/16 via 198.18.0.2 dev e0"
        );
        assert_eq!(
            System::Netbsd.route(four.0, four.1, "wm0")[0],
            "route -n add -inet -net 198.18.0.0/16 198.18.0.2"
        );
        let six = (net("2001:2::/48"), "2001:2::2".parse().expect("an address"));
        let routes = System::Freebsd.route(six.0, six.1, "em0");
        assert_eq!(
            routes[0],
            "route -n add -inet6 2001:2:: -prefixlen 48 2001:2::2"
        );
        assert_eq!(
            routes[1],
            "route -n delete -inet6 2001:2:: -prefixlen 48 2001:2::2"
        );
    }
}
