//! The traffic a device understands, and the links it comes by.

use ipnet::IpNet;
use serde::{Deserialize, Serialize};
use std::net::IpAddr;

/// One link between tester and device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, expecting = "struct Link")]
pub struct RecipeLink {
    /// The device's addresses, with the link's prefix.
    pub dut: Vec<IpNet>,
    /// The tester's addresses: on link, answered for by the tester.
    pub tester: Vec<IpAddr>,
    /// Prefixes the device reaches by way of the tester: what addresses and networks that vary must lie in.
    #[serde(default)]
    pub routes: Vec<IpNet>,
}

/// Traffic, as one datagram from left to right looks on either side. The reverse direction swaps the ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, expecting = "struct Traffic")]
pub struct RecipeTraffic {
    /// On the left link.
    pub left: Ends,
    /// On the right link.
    pub right: Ends,
    /// By how much the device lowers the hop limit.
    #[serde(default = "one")]
    pub hops: u8,
    /// The same of the reverse direction, of a device that does not do there what it must.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reverse_hops: Option<u8>,
}

fn one() -> u8 {
    1
}

/// Source and destination of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Ends {
    /// Source.
    pub source: IpAddr,
    /// Destination.
    pub destination: IpAddr,
    /// The header around it, where it is encapsulated.
    #[serde(default)]
    pub outer: Option<Outer>,
}

/// The header around an encapsulated datagram: IPv6 in IPv4, or IPv4 in IPv6.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Outer {
    /// The end of the tunnel that sends it.
    pub source: IpAddr,
    /// The end that receives it.
    pub destination: IpAddr,
    /// The hop limit that the device writes where it encapsulates.
    #[serde(default = "sixty_four")]
    pub hop_limit: u8,
}

fn sixty_four() -> u8 {
    64
}

impl Ends {
    /// Source and destination of the frame's first IP header.
    pub fn outermost(&self) -> (IpAddr, IpAddr) {
        self.outer.map_or((self.source, self.destination), |outer| (outer.source, outer.destination))
    }

    /// Octets of the header around it.
    pub fn overhead(&self) -> u16 {
        match self.outer.map(|outer| outer.source.is_ipv4()) {
            None => 0,
            Some(true) => 20,
            Some(false) => 40,
        }
    }

    /// Every address in it.
    pub fn addresses(&self) -> impl Iterator<Item = IpAddr> {
        let outer = self.outer.map(|outer| [outer.source, outer.destination]);
        [self.source, self.destination].into_iter().chain(outer.into_iter().flatten())
    }

    fn mixed_families(&self) -> Option<(IpAddr, IpAddr)> {
        let outer = self.outer.map(|outer| (outer.source, outer.destination));
        [Some((self.source, self.destination)), outer].into_iter().flatten().find(|(s, d)| s.is_ipv4() != d.is_ipv4())
    }
}

impl RecipeTraffic {
    /// Returns by how much the hop limit is lowered in the reverse direction.
    pub fn hops_in_reverse(&self) -> u8 {
        self.reverse_hops.unwrap_or(self.hops)
    }

    /// Everything that is wrong with it, each in one line. `name` is its section.
    pub(super) fn problems(&self, name: &str, (left, right): (&RecipeLink, &RecipeLink)) -> Vec<String> {
        let mut problems = Vec::new();
        for (side, ends) in [("left", self.left), ("right", self.right)] {
            if let Some((source, destination)) = ends.mixed_families() {
                problems
                    .push(format!("{name}.{side}: source {source} and destination {destination} are of different IP versions"));
            }
            if ends.outer.is_some_and(|outer| outer.source.is_ipv4() == ends.source.is_ipv4()) {
                problems.push(format!("{name}.{side}: outer: expected IPv4 around IPv6, or IPv6 around IPv4"));
            }
        }
        let (source, destination) = (self.left.outermost().0, self.right.outermost().1);
        // Subscribers, or the other device of a pair, may stand between.
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
            problems.push("background: native IPv6 traffic has the same IPv6 addresses left and right".to_owned());
        }
        problems.extend(self.wrong_hops(left.is_silent() && right.is_silent()).map(|wrong| format!("{name}: {wrong}")));
        problems
    }

    /// Returns what is wrong with the hops of a device that has no addresses, or of any other.
    fn wrong_hops(&self, is_wire: bool) -> Option<&'static str> {
        match (is_wire, self.hops) {
            (false, 0) => Some("hops must be at least 1: a router or translator lowers the hop limit"),
            (true, 1..) => Some("hops must be 0: a device without addresses in [left] and [right] hands frames on as they are"),
            _ => None,
        }
    }
}

impl RecipeLink {
    /// Returns whether nobody has an address on this link: then nobody is asked for a hardware address.
    pub fn is_silent(&self) -> bool {
        self.dut.is_empty() && self.tester.is_empty()
    }

    /// The tester's address by way of which the device reaches `route`.
    pub fn gateway_to(&self, route: &IpNet) -> Option<IpAddr> {
        self.tester.iter().copied().find(|tester| tester.is_ipv4() == route.addr().is_ipv4())
    }

    /// Returns whether frames from the device to `address` reach the tester without its being asked for a hardware address
    /// for every such address.
    pub fn leads_to(&self, address: IpAddr) -> bool {
        let is_on_link = self.dut.iter().any(|prefix| prefix.contains(&address));
        self.is_silent()
            || self.tester.contains(&address)
            || (!is_on_link && self.routes.iter().any(|route| route.contains(&address)))
    }

    /// The device's address in whose prefix `tester` lies.
    pub fn neighbour_of(&self, tester: IpAddr) -> Option<IpAddr> {
        self.dut.iter().find(|prefix| prefix.contains(&tester)).map(IpNet::addr)
    }
}

/// Adds the problems of a link, one line each.
pub(super) fn check_link(name: &str, link: &RecipeLink, problems: &mut Vec<String>) {
    for tester in &link.tester {
        let Some(dut) = link.neighbour_of(*tester) else {
            problems.push(format!("[{name}]: the tester's {tester} is not in any prefix of the dut on that link"));
            continue;
        };
        if dut == *tester {
            problems.push(format!("[{name}]: {tester} belongs to both tester and dut"));
        }
    }
    for route in link.routes.iter().filter(|route| link.gateway_to(route).is_none()) {
        problems.push(format!("[{name}]: the tester has no address of the same IP version as the route {route}"));
    }
}
