//! Counters of the device's kernel that grew while it lost frames: what it did with them, as far as it counts that.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::fmt;

/// A counter that grew during a trial in which many frames were lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LossCounter {
    /// The name of the device, where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// The part of the kernel that counts.
    pub source: LossSource,
    /// The kernel's name of the counter, such as `Ip6InNoRoutes`; of netfilter the chain and the rule, of the passage the interface, of a full table its
    /// limit: `nf_conntrack_max = 65536`, of a neighbour its address and interface: `198.19.0.9 on right`, of a network card the interface and the
    /// counter: `eth1 rx_missed_errors`.
    pub name: String,
    /// By how much it grew.
    pub frames: u64,
}

/// The part of a kernel that counts lost frames.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum LossSource {
    /// A rule of netfilter that has a counter and drops or rejects (`nft list ruleset`).
    NftRule,
    /// A chain of netfilter that drops what no rule accepts, or a rule without a counter: the frames that the IP layer received, and that it neither
    /// forwarded, nor delivered, nor counted as an error.
    NftPolicy,
    /// Connection tracking, which had no room for another connection (`drop` of `/proc/net/stat/nf_conntrack`).
    ConntrackFull,
    /// Connection tracking, for another reason than a full table (the same counter).
    Conntrack,
    /// A network card of the device, or its driver (`/sys/class/net/*/statistics`). It refused nothing: it had no room, or the frames were damaged.
    Port,
    /// The IP layer (`/proc/net/snmp`, `snmp6`, `netstat`).
    Ip,
    /// The frames that arrived at an interface, less those that left by all others.
    Passage,
    /// The frames that arrived at an interface, less those that left by all others, while the device got no answer from a neighbour that it sent to
    /// (`ip -s neigh`: `INCOMPLETE` or `FAILED`). The kernel does not count what waits for a link-layer address in vain.
    Neighbour,
}

/// The meanings of the kernel's counters. Names without a line are not read.
const MEANINGS: [(&str, &str); 28] = [
    (
        "IpInHdrErrors",
        "a header that is not valid, or a time to live that ran out",
    ),
    (
        "IpInAddrErrors",
        "an address that the device does not forward to: IPv4 forwarding may be off (net.ipv4.ip_forward)",
    ),
    (
        "IpInUnknownProtos",
        "a protocol that nothing in the device handles",
    ),
    (
        "IpInDiscards",
        "no buffer, or dropped by a filter before routing",
    ),
    (
        "IpOutDiscards",
        "no buffer, or no room in the queue of the interface",
    ),
    ("IpOutNoRoutes", "no route to the destination"),
    (
        "IpFragFails",
        "datagrams too big for the next link, which must not be fragmented",
    ),
    ("IpReasmFails", "fragments that could not be put together"),
    ("IpExtInNoRoutes", "no route to the destination"),
    (
        "IpExtInTruncatedPkts",
        "datagrams shorter than their length field",
    ),
    ("IpExtInCsumErrors", "a wrong IPv4 header checksum"),
    (
        "TcpExtIPReversePathFilter",
        "the reverse path filter: the route back to the source leaves by another interface (net.ipv4.conf.*.rp_filter)",
    ),
    (
        "UdpNoPorts",
        "datagrams for a port of the device itself, where nothing listens: it takes the destination for its own",
    ),
    (
        "UdpInErrors",
        "datagrams that the device's own sockets could not take",
    ),
    (
        "UdpRcvbufErrors",
        "the queue of a socket of the device was full",
    ),
    (
        "Ip6InHdrErrors",
        "a header that is not valid, or a hop limit that ran out",
    ),
    ("Ip6InTooBigErrors", "datagrams too big for the next link"),
    ("Ip6InNoRoutes", "no route to the destination"),
    (
        "Ip6InAddrErrors",
        "an address that the device does not forward to: IPv6 forwarding may be off (net.ipv6.conf.all.forwarding)",
    ),
    (
        "Ip6InUnknownProtos",
        "a protocol that nothing in the device handles",
    ),
    (
        "Ip6InTruncatedPkts",
        "datagrams shorter than their length field",
    ),
    (
        "Ip6InDiscards",
        "no buffer, or dropped by a filter before routing",
    ),
    (
        "Ip6OutDiscards",
        "no buffer, or no room in the queue of the interface",
    ),
    ("Ip6OutNoRoutes", "no route to the destination"),
    ("Ip6FragFails", "datagrams too big for the next link"),
    ("Ip6ReasmFails", "fragments that could not be put together"),
    (
        "Udp6NoPorts",
        "datagrams for a port of the device itself, where nothing listens: it takes the destination for its own",
    ),
    (
        "Udp6RcvbufErrors",
        "the queue of a socket of the device was full",
    ),
];

/// The counters of a network card that count frames which it received and did not hand on, or was given and did not send, with their meanings, the most
/// telling first. Those that sum others up, such as `rx_errors`, are left out.
const PORT_MEANINGS: [(&str, &str); 10] = [
    (
        "rx_missed_errors",
        "the card had no free descriptor in its ring, so the device did not fetch frames fast enough",
    ),
    ("rx_fifo_errors", "the card's own buffer was full"),
    ("rx_over_errors", "the card's own buffer was full"),
    (
        "rx_dropped",
        "the driver or the kernel had no room for them, or no use",
    ),
    ("rx_crc_errors", DAMAGED),
    ("rx_frame_errors", DAMAGED),
    ("tx_dropped", "the queue of the card was full"),
    ("tx_fifo_errors", "the card's own buffer ran dry"),
    ("tx_carrier_errors", "the link was down"),
    ("tx_aborted_errors", "the card gave up sending them"),
];

const DAMAGED: &str = "damaged on the cable";

/// The counters of [`PORT_MEANINGS`] that count what a cable, or a transceiver, did to frames. A card with a free ring has them, too.
const OF_THE_CABLE: [&str; 3] = ["rx_crc_errors", "rx_frame_errors", "tx_carrier_errors"];

impl LossCounter {
    /// Returns whether a counter of a network card counts what the cable or a transceiver did to frames, rather than frames for which there was no room.
    pub fn is_of_the_cable(counter: &str) -> bool {
        OF_THE_CABLE.contains(&counter)
    }

    /// Returns the counter of a network card that grew most, of these with their numbers of frames, which may be 0; `None` if none grew. Drivers count the
    /// same frame in several of them, so they are not added up, and of several that grew alike the most telling is returned.
    pub fn grown_most<'c>(
        grown: impl IntoIterator<Item = (&'c str, u64)>,
    ) -> Option<(&'c str, u64)> {
        grown
            .into_iter()
            .filter(|(_, frames)| *frames > 0)
            .min_by_key(|(counter, frames)| (Reverse(*frames), rank(counter)))
    }

    /// Returns the meaning of a counter of a network card, named as in `/sys/class/net/*/statistics`; `None` of counters that do not count losses.
    pub fn meaning_at_port(counter: &str) -> Option<&'static str> {
        PORT_MEANINGS
            .iter()
            .find(|(name, _)| *name == counter)
            .map(|(_, meaning)| *meaning)
    }

    /// Returns the meaning of one of the kernel's counters of IP; `None` of counters that do not count losses.
    pub fn meaning_of(name: &str) -> Option<&'static str> {
        MEANINGS
            .iter()
            .find(|(counter, _)| *counter == name)
            .map(|(_, meaning)| *meaning)
    }

    /// Returns what the counter says of the frames, without their number: `dropped by nft chain inet filter forward (policy drop)`.
    pub fn what(&self) -> String {
        let at = self
            .device
            .as_ref()
            .map_or_else(String::new, |device| format!("{device}: "));
        let name = &self.name;
        match self.source {
            LossSource::NftRule | LossSource::NftPolicy => {
                format!("{at}dropped by nft chain {name}")
            }
            LossSource::ConntrackFull => {
                format!("{at}dropped because the connection tracking table was full ({name})")
            }
            LossSource::Conntrack => format!(
                "{at}dropped by connection tracking ({name}), although its table was not full"
            ),
            LossSource::Passage => {
                format!("{at}arrived at the device's interface {name}, and left it by no other")
            }
            LossSource::Neighbour => format!(
                "{at}arrived, and left by no other interface: nothing answered the device's requests for the neighbour {name}"
            ),
            LossSource::Port => {
                let meaning = Self::meaning_at_port(self.counter())
                    .map_or_else(String::new, |meaning| format!(": {meaning}"));
                format!("{at}in {name}{meaning}")
            }
            LossSource::Ip => {
                let meaning = Self::meaning_of(name)
                    .map_or_else(String::new, |meaning| format!(": {meaning}"));
                format!("{at}counted as {name}{meaning}")
            }
        }
    }

    /// Returns the name without the place before it.
    pub(crate) fn counter(&self) -> &str {
        self.name.rsplit(' ').next().unwrap_or(&self.name)
    }

    /// Returns what to change; `None` where the counter itself says it.
    pub fn advice(&self) -> Option<&'static str> {
        match self.source {
            LossSource::NftRule | LossSource::NftPolicy => {
                Some("let the chain accept the addresses and ports of the test (nft list ruleset)")
            }
            LossSource::ConntrackFull => Some(
                "raise net.netfilter.nf_conntrack_max where the device runs, or send fewer flows",
            ),
            LossSource::Passage => Some(
                "something in the device that keeps no counter dropped them, such as its own program: see its log, and compare its mappings and prefix with the recipe",
            ),
            LossSource::Neighbour => Some(
                "let the device's route lead to a next hop for which the tester answers (ip route get DESTINATION), or enter the tester's MAC address for it (ip neigh replace NEXT-HOP lladdr MAC dev INTERFACE)",
            ),
            LossSource::Port if Self::is_of_the_cable(self.counter()) => Some(
                "replace the cable or the transceiver at the interface, and look at its light levels (ethtool -m)",
            ),
            LossSource::Port => Some(
                "give the interface larger rings (ethtool -G) or its interrupts a core of their own (/proc/irq/*/smp_affinity_list); if the device's processors are busy, this is where its limit shows",
            ),
            LossSource::Ip | LossSource::Conntrack => None,
        }
    }
}

/// Returns the place of a counter of a network card among those that tell most.
fn rank(counter: &str) -> usize {
    let place = PORT_MEANINGS.iter().position(|(name, _)| *name == counter);
    place.unwrap_or(PORT_MEANINGS.len())
}

impl fmt::Display for LossCounter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.frames, self.what())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counter(source: LossSource, name: &str) -> LossCounter {
        LossCounter {
            device: None,
            source,
            name: name.to_owned(),
            frames: 400,
        }
    }

    #[test]
    fn a_counter_is_told_with_the_place_and_the_meaning() {
        let policy = counter(LossSource::NftPolicy, "inet filter forward (policy drop)");
        assert_eq!(
            policy.to_string(),
            "400 dropped by nft chain inet filter forward (policy drop)"
        );
        let row = LossCounter {
            device: Some("plat".to_owned()),
            ..counter(LossSource::Ip, "Ip6InNoRoutes")
        };
        assert_eq!(
            row.to_string(),
            "400 plat: counted as Ip6InNoRoutes: no route to the destination"
        );
        let full = counter(LossSource::ConntrackFull, "nf_conntrack_max = 65536");
        let words =
            "400 dropped because the connection tracking table was full (nf_conntrack_max = 65536)";
        assert_eq!(
            (full.to_string().as_str(), full.advice().is_some()),
            (words, true)
        );
        let port = counter(LossSource::Port, "eth1 rx_missed_errors");
        assert_eq!(
            port.to_string(),
            "400 in eth1 rx_missed_errors: the card had no free descriptor in its ring, so the device did not fetch frames fast enough"
        );
        let damaged = counter(LossSource::Port, "eth1 rx_crc_errors").advice();
        assert!(damaged.is_some_and(|advice| advice.starts_with("replace the cable")));
        let passage = counter(LossSource::Passage, "left");
        assert_eq!(
            passage.to_string(),
            "400 arrived at the device's interface left, and left it by no other"
        );
    }

    #[test]
    fn the_counter_that_grew_most_is_named_and_the_most_telling_of_equal_ones() {
        let alike = [("rx_dropped", 412), ("rx_missed_errors", 412)];
        let more = [("rx_missed_errors", 3), ("rx_of_a_driver", 4)];
        for (grown, expected) in [
            (&alike, Some(("rx_missed_errors", 412))),
            (&more, Some(("rx_of_a_driver", 4))),
            (&[("rx_dropped", 0), ("rx_missed_errors", 0)], None),
        ] {
            assert_eq!(LossCounter::grown_most(*grown), expected);
        }
    }

    #[test]
    fn counters_are_read_as_they_were_written() {
        let text =
            r#"{"source":"nft-policy","name":"inet filter forward (policy drop)","frames":400}"#;
        let read: LossCounter = serde_json::from_str(text).expect("a counter");
        assert_eq!(
            (
                serde_json::to_string(&read).expect("text").as_str(),
                read.source
            ),
            (text, LossSource::NftPolicy)
        );
    }
}
