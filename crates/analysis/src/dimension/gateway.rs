//! Which devices are gateways for subscribers: those through which subscribers share IPv4 addresses.

use sixbench_method::record::PathFacts;

/// The technologies with which subscribers share the IPv4 addresses of a gateway: by their titles, which is what a run records of them.
const SHARING: [&str; 7] = [
    "stateful NAT44",
    "stateful NAT64",
    "464XLAT",
    "MAP-T",
    "MAP-E",
    "lw4o6",
    "DS-Lite",
];

/// A device without a number of subscribers, although its throughput or connections were measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOutDevice {
    /// The name of its recipe.
    pub dut: String,
    /// The title of its technology; `None` if it was not recorded.
    pub technology: Option<String>,
}

/// Returns whether subscribers share the addresses of a device with this technology, by its title.
///
/// A device whose path ends in a tunnel or in IPv6 on the right, the network's side, is the customer's edge, which serves one subscriber.
pub fn shares_addresses(technology: &str, path: Option<&PathFacts>) -> bool {
    let is_customer_edge = path.is_some_and(|path| !path.right.is_ipv4 || path.right.overhead > 0);
    SHARING.contains(&technology) && !is_customer_edge
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixbench_method::record::LinkFacts;

    #[test]
    fn routers_wires_and_stateless_translators_share_no_address() {
        assert!(
            SHARING
                .iter()
                .all(|technology| shares_addresses(technology, None))
        );
        for other in [
            "IPv4 router",
            "IPv6 router",
            "SIIT",
            "stateful NAT66",
            "464XLAT CLAT",
            "6rd",
            "wire",
            "DNS64 server",
            "",
        ] {
            assert!(!shares_addresses(other, None), "{other}");
        }
    }

    #[test]
    fn a_customer_edge_is_not_a_gateway_and_a_border_relay_is() {
        let to = |is_ipv4, overhead| PathFacts {
            right: LinkFacts { is_ipv4, overhead },
            ..PathFacts::default()
        };
        assert!(shares_addresses("MAP-T", Some(&to(true, 0))));
        assert!(!shares_addresses("MAP-T", Some(&to(false, 0))));
        assert!(!shares_addresses("MAP-E", Some(&to(true, 40))));
    }
}
