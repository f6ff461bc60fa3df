//! The routes of all tables over an interface, as `ip` shows them. An interface that leads to much of the Internet must not carry test traffic.

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

/// Prefixes up to this length lead to so many networks that the route is as good as a default route: VPNs have the two halves of IPv4, and some
/// networks all global addresses of IPv6. 10.0.0.0/8 is a private network, and 2001::/16 the least that a registry has of IPv6.
const WIDEST_FOUR: u8 = 7;
const WIDEST_SIX: u8 = 15;

impl RouteOver {
    /// Returns the destination, with the type of the route if it is printed: `default`, `10.0.0.0/8`, `local 10.0.0.1`.
    pub(crate) fn destination(&self) -> &str {
        let end = |words: usize| {
            self.line
                .match_indices(' ')
                .nth(words - 1)
                .map_or(self.line.len(), |(at, _)| at)
        };
        let first = &self.line[..end(1)];
        let is_type = !self.is_default() && first.bytes().all(|octet| octet.is_ascii_lowercase());
        if is_type { &self.line[..end(2)] } else { first }
    }

    /// Returns true if the route is so wide that traffic over it may reach any host.
    pub(crate) fn is_wide(&self) -> bool {
        // A route with a type, such as `multicast ff00::/8`, leads to no host and is never wide. `local` is the exception: a wide local route would
        // make this machine answer for all addresses.
        let prefix = self
            .destination()
            .trim_start_matches("local ")
            .split(' ')
            .next();
        let length = prefix
            .and_then(|word| word.parse::<IpNet>().ok())
            .map(|net| net.prefix_len());
        let widest = if self.family == "-4" {
            WIDEST_FOUR
        } else {
            WIDEST_SIX
        };
        prefix == Some("default") || length.is_some_and(|length| length <= widest)
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
        routes.extend(over.map(|line| RouteOver {
            family,
            line: line.split_whitespace().collect::<Vec<_>>().join(" "),
        }));
    }
    Ok(routes)
}

/// Returns whether a line names the interface as the one that something goes over.
pub(super) fn is_over(line: &str, interface: &str) -> bool {
    let words = line.split_whitespace();
    words
        .clone()
        .zip(words.skip(1))
        .any(|pair| pair == ("dev", interface))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(family: &'static str, line: &str) -> RouteOver {
        RouteOver {
            family,
            line: line.to_owned(),
        }
    }

    #[test]
    fn a_route_to_half_of_everything_is_as_wide_as_a_default_route() {
        for (family, line) in [
            ("-4", "default via 10.0.0.1 dev e0 table 100"),
            ("-4", "0.0.0.0/1 via 10.0.0.1 dev e0"),
            ("-4", "128.0.0.0/1 dev e0 scope link"),
            ("-4", "64.0.0.0/2 dev e0"),
            ("-4", "8.0.0.0/5 dev e0"),
            ("-4", "local default dev e0 table 100 scope host"),
            ("-6", "local 2000::/3 dev e0 table 100"),
            ("-6", "2000::/3 dev e0 metric 1024 pref medium"),
            ("-6", "::/1 dev e0"),
            (
                "-6",
                "default proto ra metric 100 pref medium nexthop via fe80::1 dev e0 weight 1",
            ),
        ] {
            assert!(route(family, line).is_wide(), "{line}");
        }
        for (family, line) in [
            ("-4", "198.18.0.0/15 dev e0"),
            ("-4", "10.0.0.0/8 dev e0"),
            ("-6", "2001:2::/48 dev e0"),
            ("-6", "fe80::/64 dev e0 proto kernel metric 256 pref medium"),
            (
                "-6",
                "multicast ff00::/8 dev e0 table local proto kernel metric 256 pref medium",
            ),
        ] {
            assert!(!route(family, line).is_wide(), "{line}");
        }
    }

    #[test]
    fn the_destination_of_a_route_is_what_ip_deletes_it_by() {
        assert_eq!(
            route("-4", "default via 10.0.0.1 dev e0").destination(),
            "default"
        );
        assert_eq!(
            route("-6", "fd00::/8 dev e0 metric 1024").destination(),
            "fd00::/8"
        );
        assert_eq!(
            route("-4", "local 10.0.0.1 dev e0 table local").destination(),
            "local 10.0.0.1"
        );
        assert_eq!(
            route("-4", "10.0.0.1 dev e0 scope link").destination(),
            "10.0.0.1"
        );
    }
}
