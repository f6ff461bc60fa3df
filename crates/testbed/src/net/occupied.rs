//! The use of an interface by its machine according to `ip`: routes of all tables, and devices on top of it. An interface with any of these must
//! not carry test traffic.

use crate::exec::{Shell, TestbedError};
use ipnet::IpNet;

/// A route through an interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RouteOver {
    /// `-4` or `-6`, as an option of `ip`.
    pub(crate) family: &'static str,
    /// The line that `ip` prints for it.
    pub(crate) line: String,
}

/// Prefixes up to this length cover so many networks that the route is in effect a default route: VPNs use the two halves of IPv4, and some
/// networks a prefix for all global IPv6 addresses.
const WIDEST_FOUR: u8 = 4;
const WIDEST_SIX: u8 = 12;

impl RouteOver {
    /// Returns the destination, with the type of the route if it is printed: `default`, `10.0.0.0/8`, `local 10.0.0.1`.
    pub(crate) fn destination(&self) -> &str {
        let end = |words: usize| self.line.match_indices(' ').nth(words - 1).map_or(self.line.len(), |(at, _)| at);
        let first = &self.line[..end(1)];
        let is_type = !self.is_default() && first.bytes().all(|octet| octet.is_ascii_lowercase());
        if is_type { &self.line[..end(2)] } else { first }
    }

    /// Returns true if the route is so wide that traffic over it may reach any host.
    pub(crate) fn is_wide(&self) -> bool {
        let length =
            self.line.split_whitespace().next().and_then(|word| word.parse::<IpNet>().ok()).map(|net| net.prefix_len());
        let widest = if self.family == "-4" { WIDEST_FOUR } else { WIDEST_SIX };
        self.is_default() || length.is_some_and(|length| length <= widest)
    }

    /// Returns true if the kernel created the route by itself, and will do so again when the interface comes back.
    pub(crate) fn is_of_kernel(&self) -> bool {
        self.line.contains("proto kernel") || self.line.contains("proto ra")
    }

    fn is_default(&self) -> bool {
        self.line.starts_with("default")
    }
}

/// Returns the routes of all tables through an interface, including multipath routes.
pub(crate) fn routes(shell: &Shell, interface: &str) -> Result<Vec<RouteOver>, TestbedError> {
    let mut routes = Vec::new();
    for family in ["-4", "-6"] {
        let all = shell.look(&["ip", "-o", family, "route", "show", "table", "all"])?;
        let over = all.lines().filter(|line| is_over(line, interface));
        routes.extend(over.map(|line| RouteOver { family, line: line.split_whitespace().collect::<Vec<_>>().join(" ") }));
    }
    Ok(routes)
}

/// Returns the names of the devices that send and receive through an interface: VLANs, macvlans, tunnels bound to it.
pub(crate) fn devices_on(shell: &Shell, interface: &str) -> Result<Vec<String>, TestbedError> {
    let links = shell.look(&["ip", "-o", "-d", "link", "show"])?;
    Ok(links.lines().filter_map(|line| device_on(line, interface)).map(str::to_owned).collect())
}

/// Returns the name of the device described by a line if that device is on top of `interface`. The two ends of a veth pair refer to each other, but
/// neither is on top of the other.
fn device_on<'l>(line: &'l str, interface: &str) -> Option<&'l str> {
    let named = line.split_whitespace().nth(1)?.trim_end_matches(':');
    let (name, lower) = named.split_once('@').unwrap_or((named, ""));
    let is_veth = line.split_whitespace().any(|word| word == "veth");
    let is_on = lower == interface && !is_veth || is_over(line, interface);
    (name != interface && is_on).then_some(name)
}

fn is_over(line: &str, interface: &str) -> bool {
    let words = line.split_whitespace();
    words.clone().zip(words.skip(1)).any(|pair| pair == ("dev", interface))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(family: &'static str, line: &str) -> RouteOver {
        RouteOver { family, line: line.to_owned() }
    }

    #[test]
    fn a_route_to_half_of_everything_is_as_wide_as_a_default_route() {
        for (family, line) in [
            ("-4", "default via 10.0.0.1 dev e0 table 100"),
            ("-4", "0.0.0.0/1 via 10.0.0.1 dev e0"),
            ("-4", "128.0.0.0/1 dev e0 scope link"),
            ("-4", "64.0.0.0/2 dev e0"),
            ("-6", "2000::/3 dev e0 metric 1024 pref medium"),
            ("-6", "::/1 dev e0"),
            ("-6", "default proto ra metric 100 pref medium nexthop via fe80::1 dev e0 weight 1"),
        ] {
            assert!(route(family, line).is_wide(), "{line}");
        }
        for (family, line) in [
            ("-4", "198.18.0.0/15 dev e0"),
            ("-4", "10.0.0.0/8 dev e0"),
            ("-6", "2001:2::/48 dev e0"),
            ("-6", "fe80::/64 dev e0 proto kernel metric 256 pref medium"),
            ("-6", "multicast ff00::/8 dev e0 table local proto kernel metric 256 pref medium"),
        ] {
            assert!(!route(family, line).is_wide(), "{line}");
        }
    }

    #[test]
    fn the_destination_of_a_route_is_what_ip_deletes_it_by() {
        assert_eq!(route("-4", "default via 10.0.0.1 dev e0").destination(), "default");
        assert_eq!(route("-6", "fd00::/8 dev e0 metric 1024").destination(), "fd00::/8");
        assert_eq!(route("-4", "local 10.0.0.1 dev e0 table local").destination(), "local 10.0.0.1");
        assert_eq!(route("-4", "10.0.0.1 dev e0 scope link").destination(), "10.0.0.1");
    }

    #[test]
    fn devices_on_top_are_told_from_the_other_end_of_a_cable() {
        let on = |line| device_on(line, "e0");
        assert_eq!(
            on("5: e0.7@e0: <BROADCAST> mtu 1500 \\ link/ether 02:00 promiscuity 0 \\ vlan protocol 802.1Q id 7"),
            Some("e0.7")
        );
        assert_eq!(on("6: mv@e0: <BROADCAST> mtu 1500 \\ link/ether 02:00 \\ macvlan mode bridge bcqueuelen 1000"), Some("mv"));
        assert_eq!(
            on("7: vx: <BROADCAST> mtu 1450 \\ link/ether 02:00 \\ vxlan id 5 remote 10.0.0.1 dev e0 srcport 0 0"),
            Some("vx")
        );
        assert_eq!(on("8: e1@e0: <BROADCAST> mtu 1500 \\ link/ether 02:00 \\ veth addrgenmode eui64"), None);
        assert_eq!(
            on("9: e0@if3: <BROADCAST> mtu 1500 \\ link/ether 02:00 \\ macvlan mode bridge"),
            None,
            "it is itself on another"
        );
        assert_eq!(on("9: x@e01: <BROADCAST> mtu 1500 \\ link/ether 02:00 \\ macvlan mode bridge"), None);
    }
}
