//! The traffic that a device understands, and the links that carry it.

use ipnet::IpNet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::net::IpAddr;

/// A link between tester and device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    rename_all = "kebab-case",
    deny_unknown_fields,
    expecting = "a table with `dut` and `tester`"
)]
pub struct RecipeLink {
    /// The device's addresses with the link's prefix lengths.
    #[schemars(with = "Vec<String>")]
    pub dut: Vec<IpNet>,
    /// The tester's on-link addresses, for which the tester answers.
    pub tester: Vec<IpAddr>,
    /// Prefixes that the device reaches through the tester. Varying addresses and networks must be within them.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub routes: Vec<IpNet>,
}

/// Traffic, described by a datagram from left to right as it appears on either side. The reverse direction swaps the ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    rename_all = "kebab-case",
    deny_unknown_fields,
    expecting = "a table with `left` and `right`"
)]
pub struct RecipeTraffic {
    /// The addresses on the left link.
    pub left: Ends,
    /// The addresses on the right link.
    pub right: Ends,
    /// The amount by which the device decrements the hop limit.
    #[serde(default = "one")]
    pub hops: u8,
    /// The same for the reverse direction, if the device deviates from its duty there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reverse_hops: Option<u8>,
}

fn one() -> u8 {
    1
}

/// The source and destination of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Ends {
    /// The source address.
    pub source: IpAddr,
    /// The destination address.
    pub destination: IpAddr,
    /// The outer header, if the datagram is encapsulated.
    #[serde(default)]
    pub outer: Option<Outer>,
}

/// The outer header of an encapsulated datagram: IPv6 in IPv4, or IPv4 in IPv6.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Outer {
    /// The sending end of the tunnel.
    pub source: IpAddr,
    /// The receiving end of the tunnel.
    pub destination: IpAddr,
    /// The hop limit in outer headers written by the device.
    #[serde(default = "sixty_four")]
    pub hop_limit: u8,
}

fn sixty_four() -> u8 {
    64
}

impl Ends {
    /// Returns the source and destination in the frame's first IP header.
    pub fn outermost(&self) -> (IpAddr, IpAddr) {
        self.outer.map_or((self.source, self.destination), |outer| {
            (outer.source, outer.destination)
        })
    }

    /// Returns the length of the outer header in octets.
    pub fn overhead(&self) -> u16 {
        match self.outer.map(|outer| outer.source.is_ipv4()) {
            None => 0,
            Some(true) => 20,
            Some(false) => 40,
        }
    }

    /// Returns all addresses, also the outer ones.
    pub fn addresses(&self) -> impl Iterator<Item = IpAddr> {
        let outer = self.outer.map(|outer| [outer.source, outer.destination]);
        [self.source, self.destination]
            .into_iter()
            .chain(outer.into_iter().flatten())
    }

    fn mixed_families(&self) -> Option<(IpAddr, IpAddr)> {
        let outer = self.outer.map(|outer| (outer.source, outer.destination));
        [Some((self.source, self.destination)), outer]
            .into_iter()
            .flatten()
            .find(|(s, d)| s.is_ipv4() != d.is_ipv4())
    }
}

impl RecipeTraffic {
    /// Returns the amount by which the hop limit is decremented in the reverse direction.
    pub fn hops_in_reverse(&self) -> u8 {
        self.reverse_hops.unwrap_or(self.hops)
    }

    /// Returns all problems, one line each. `name` is the section of the traffic.
    pub(super) fn problems(
        &self,
        name: &str,
        left: &RecipeLink,
        right: &RecipeLink,
    ) -> Vec<String> {
        let mut problems = Vec::new();
        for (side, ends) in [("left", self.left), ("right", self.right)] {
            if let Some((source, destination)) = ends.mixed_families() {
                problems
                    .push(format!("{name}.{side}: source {source} and destination {destination} are of different IP versions"));
            }
            if ends
                .outer
                .is_some_and(|outer| outer.source.is_ipv4() == ends.source.is_ipv4())
            {
                problems.push(format!(
                    "{name}.{side}: outer: expected IPv4 around IPv6, or IPv6 around IPv4"
                ));
            }
        }
        let (source, destination) = (self.left.outermost().0, self.right.outermost().1);
        // There may be subscribers, or the other device of a pair, in between.
        if !left.leads_to(source) {
            problems
                .push(format!("{name}.left: the source {source} is not a tester address of [left], and no route leads to it"));
        }
        if !right.leads_to(destination) {
            problems.push(format!(
                "{name}.right: the destination {destination} is not a tester address of [right], and no route leads to it"
            ));
        }
        if name == "background" && (self.left != self.right || self.left.source.is_ipv4()) {
            problems.push(
                "background: native IPv6 traffic has the same IPv6 addresses left and right"
                    .to_owned(),
            );
        }
        problems.extend(
            self.wrong_hops(left.is_silent() && right.is_silent())
                .map(|wrong| format!("{name}: {wrong}")),
        );
        problems
    }

    /// Returns the problem with the hops of a wire, or of any other device.
    fn wrong_hops(&self, is_wire: bool) -> Option<&'static str> {
        match (is_wire, self.hops) {
            (false, 0) => {
                Some("hops must be at least 1: a router or translator lowers the hop limit")
            }
            (true, 1..) => Some(
                "hops must be 0: a device without addresses in [left] and [right] hands frames on as they are",
            ),
            _ => None,
        }
    }
}

impl RecipeLink {
    /// Returns true if there are no addresses on this link, so that no hardware address is ever resolved.
    pub fn is_silent(&self) -> bool {
        self.dut.is_empty() && self.tester.is_empty()
    }

    /// Returns the tester's address that is the device's gateway to `route`.
    pub fn gateway_to(&self, route: &IpNet) -> Option<IpAddr> {
        self.tester
            .iter()
            .copied()
            .find(|tester| tester.is_ipv4() == route.addr().is_ipv4())
    }

    /// Returns true if frames from the device to `address` reach the tester without a neighbour resolution for every such address.
    pub fn leads_to(&self, address: IpAddr) -> bool {
        let is_on_link = self.dut.iter().any(|prefix| prefix.contains(&address));
        self.is_silent()
            || self.tester.contains(&address)
            || (!is_on_link && self.routes.iter().any(|route| route.contains(&address)))
    }

    /// Returns the device's address whose prefix contains `tester`.
    pub fn neighbour_of(&self, tester: IpAddr) -> Option<IpAddr> {
        self.dut
            .iter()
            .find(|prefix| prefix.contains(&tester))
            .map(IpNet::addr)
    }
}

/// Adds the problems of a link, one line each.
pub(super) fn check_link(name: &str, link: &RecipeLink, problems: &mut Vec<String>) {
    for tester in &link.tester {
        let Some(dut) = link.neighbour_of(*tester) else {
            problems.push(format!(
                "[{name}]: the tester's {tester} is not in any prefix of the dut on that link"
            ));
            continue;
        };
        if dut == *tester {
            problems.push(format!("[{name}]: {tester} belongs to both tester and dut"));
        }
    }
    for route in link
        .routes
        .iter()
        .filter(|route| link.gateway_to(route).is_none())
    {
        problems.push(format!(
            "[{name}]: the tester has no address of the same IP version as the route {route}"
        ));
    }
}
