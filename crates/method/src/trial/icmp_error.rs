//! ICMP and ICMPv6 errors that answered the frames of a direction: the reason, in the device's own words, why it did not deliver them.

use super::DirectionResult;
use crate::terms::IpVersion;
use crate::text::counted;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::net::IpAddr;

/// The errors of one kind from one source. They arrived at the port from which the frames of the direction were sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IcmpErrors {
    /// ICMP of IPv4, or ICMPv6.
    pub version: IpVersion,
    /// The type (RFC 792, RFC 4443).
    #[serde(rename = "type")]
    pub kind: u8,
    /// The code, whose meaning depends on the type.
    pub code: u8,
    /// The MTU, octets, of a message that a datagram was too big; the pointer of a parameter problem.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<u32>,
    /// The sender of the messages.
    pub source: IpAddr,
    /// Messages received.
    pub messages: u64,
    /// The number of them that quote a frame of this trial and direction.
    #[serde(default)]
    pub quoting: u64,
    /// The number of these that quote a frame of the background.
    #[serde(default, skip_serializing_if = "super::is_zero")]
    pub background: u64,
    /// The number of messages whose checksum is wrong.
    #[serde(default, skip_serializing_if = "super::is_zero")]
    pub wrong_checksum: u64,
}

/// The reasons that devices give most often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    TooBig,
    Prohibited,
    NoRoute,
    HostUnreachable,
    PortUnreachable,
    ProtocolUnreachable,
    HopLimit,
    ParameterProblem,
    SourcePolicy,
    Other,
}

impl IcmpErrors {
    fn reason(&self) -> Reason {
        use IpVersion::{Ipv4, Ipv6};
        match (self.version, self.kind, self.code) {
            (Ipv6, 2, _) | (Ipv4, 3, 4) => Reason::TooBig,
            (Ipv6, 1, 1) | (Ipv4, 3, 9 | 10 | 13) => Reason::Prohibited,
            (Ipv6, 1, 0 | 6) | (Ipv4, 3, 0 | 6 | 11) => Reason::NoRoute,
            (Ipv6, 1, 3) | (Ipv4, 3, 1 | 7 | 12) => Reason::HostUnreachable,
            (Ipv6, 1, 4) | (Ipv4, 3, 3) => Reason::PortUnreachable,
            (Ipv4, 3, 2) => Reason::ProtocolUnreachable,
            (Ipv6, 3, 0) | (Ipv4, 11, 0) => Reason::HopLimit,
            (Ipv6, 4, _) | (Ipv4, 12, _) => Reason::ParameterProblem,
            (Ipv6, 1, 2 | 5) => Reason::SourcePolicy,
            _ => Reason::Other,
        }
    }

    /// Returns what to change so that such frames are delivered; `None` for messages that are too rare to say.
    pub fn advice(&self) -> Option<&'static str> {
        Some(match self.reason() {
            Reason::TooBig => {
                "raise the MTU of the device and of its links (of a translator also that of its own interface), or test smaller `frame-sizes`"
            }
            Reason::Prohibited => {
                "a rule or a prohibiting route of the device refuses the frames: allow the addresses and ports of the test"
            }
            Reason::NoRoute => {
                "the device has no route for the destination: check its routes, and that the recipe's addresses, prefix and mappings are those of the device"
            }
            Reason::HostUnreachable => {
                "the next hop does not answer the device: check the addresses of the tester's ends in the recipe"
            }
            Reason::PortUnreachable => {
                "the destination belongs to the device itself, which takes the frames for its own: check the destination addresses of the recipe"
            }
            Reason::ProtocolUnreachable => {
                "nothing in the device handles this protocol at that address: check that the tunnel or the translator is up"
            }
            Reason::HopLimit => "the frames go round in a loop: check the device's routes",
            Reason::ParameterProblem => {
                "the device does not accept a field of the header, at the octet that the pointer counts from 0: see the datagram in a capture (--pcap)"
            }
            Reason::SourcePolicy => {
                "the device does not accept the source address: check the recipe's source addresses and the device's filters"
            }
            Reason::Other => return None,
        })
    }

    /// Returns the name of the message, with its MTU or pointer: `ICMPv6 Packet Too Big, MTU 1280`.
    pub fn name(&self) -> String {
        let (protocol, name) = match self.version {
            IpVersion::Ipv4 => ("ICMP", self.name_of_icmp()),
            IpVersion::Ipv6 => ("ICMPv6", self.name_of_icmpv6()),
        };
        let name = name.map_or_else(
            || format!("type {} code {}", self.kind, self.code),
            str::to_owned,
        );
        let value = match (self.reason(), self.value) {
            (Reason::TooBig, Some(mtu)) => format!(", MTU {mtu}"),
            (Reason::ParameterProblem, Some(pointer)) => format!(", pointer {pointer}"),
            _ => String::new(),
        };
        format!("{protocol} {name}{value}")
    }

    /// Returns the names of RFC 4443 section 3.
    fn name_of_icmpv6(&self) -> Option<&'static str> {
        Some(match (self.kind, self.code) {
            (1, 0) => "Destination Unreachable, no route to destination",
            (1, 1) => {
                "Destination Unreachable, communication with destination administratively prohibited"
            }
            (1, 2) => "Destination Unreachable, beyond scope of source address",
            (1, 3) => "Destination Unreachable, address unreachable",
            (1, 4) => "Destination Unreachable, port unreachable",
            (1, 5) => "Destination Unreachable, source address failed ingress/egress policy",
            (1, 6) => "Destination Unreachable, reject route to destination",
            (2, _) => "Packet Too Big",
            (3, 0) => "Time Exceeded, hop limit exceeded in transit",
            (3, 1) => "Time Exceeded, fragment reassembly time exceeded",
            (4, 0) => "Parameter Problem, erroneous header field encountered",
            (4, 1) => "Parameter Problem, unrecognized Next Header type encountered",
            (4, 2) => "Parameter Problem, unrecognized IPv6 option encountered",
            _ => return None,
        })
    }

    /// Returns the names of RFC 792, and of the codes that RFC 1122 section 3.2.2.1 and RFC 1812 section 5.2.7.1 add.
    fn name_of_icmp(&self) -> Option<&'static str> {
        Some(match (self.kind, self.code) {
            (3, 0) => "Destination Unreachable, network unreachable",
            (3, 1) => "Destination Unreachable, host unreachable",
            (3, 2) => "Destination Unreachable, protocol unreachable",
            (3, 3) => "Destination Unreachable, port unreachable",
            (3, 4) => "Destination Unreachable, fragmentation needed and DF set",
            (3, 5) => "Destination Unreachable, source route failed",
            (3, 9) => {
                "Destination Unreachable, communication with destination network administratively prohibited"
            }
            (3, 10) => {
                "Destination Unreachable, communication with destination host administratively prohibited"
            }
            (3, 13) => "Destination Unreachable, communication administratively prohibited",
            (4, _) => "Source Quench",
            (5, _) => "Redirect",
            (11, 0) => "Time Exceeded, time to live exceeded in transit",
            (11, 1) => "Time Exceeded, fragment reassembly time exceeded",
            (12, _) => "Parameter Problem",
            _ => return None,
        })
    }

    /// Returns a sentence about how many of the `offered` frames were answered with this error, without a full stop.
    pub fn sentence(&self, offered: u64) -> String {
        let of_background = match self.background {
            0 => String::new(),
            all if all == self.quoting => " of the background".to_owned(),
            some => format!(" ({some} of the background)"),
        };
        let damaged = match self.wrong_checksum {
            0 => String::new(),
            damaged => format!(", {damaged} of them with a wrong checksum"),
        };
        match self.quoting {
            0 => format!(
                "{} {self} arrived, without the octets that would tell which frame they are about{damaged}",
                counted(self.messages, "message")
            ),
            frames if frames <= offered => {
                format!(
                    "the device answered {frames} of {}{of_background} with {self}{damaged}",
                    counted(offered, "frame")
                )
            }
            messages => format!(
                "the device answered {} with {} {self}{damaged}",
                counted(offered, "frame"),
                counted(messages, "message")
            ),
        }
    }
}

impl fmt::Display for IcmpErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (from {})", self.name(), self.source)
    }
}

impl DirectionResult {
    /// Returns a sentence for each kind of ICMP error that answered frames of the direction, the most frequent first, with what to do about it.
    pub fn icmp_errors_in_words(&self) -> Vec<String> {
        let advised = |errors: &IcmpErrors| {
            let advice = errors
                .advice()
                .map_or_else(String::new, |advice| format!("; {advice}"));
            format!("{}{advice}", errors.sentence(self.offered))
        };
        let others = match self.other_icmp_errors {
            0 => None,
            others => Some(format!(
                "{} of further kinds or sources of ICMP errors",
                counted(others, "message")
            )),
        };
        self.icmp_errors.iter().map(advised).chain(others).collect()
    }

    /// Returns the number of messages that answered frames of the direction.
    pub fn answered_with_errors(&self) -> u64 {
        self.icmp_errors.iter().map(|errors| errors.quoting).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::Direction;

    fn errors(version: IpVersion, (kind, code): (u8, u8), value: Option<u32>) -> IcmpErrors {
        let source = if version == IpVersion::Ipv6 {
            "2001:2::1"
        } else {
            "198.18.0.1"
        };
        IcmpErrors {
            version,
            kind,
            code,
            value,
            source: source.parse().expect("address"),
            messages: 400,
            quoting: 400,
            background: 0,
            wrong_checksum: 0,
        }
    }

    #[test]
    fn a_device_that_answers_each_frame_is_quoted_with_what_to_do() {
        let mut direction = DirectionResult::counted(Direction::Forward, 400, 0);
        direction.icmp_errors = vec![errors(IpVersion::Ipv6, (2, 0), Some(1280))];
        let words = direction.icmp_errors_in_words();
        let expected = "the device answered 400 of 400 frames with ICMPv6 Packet Too Big, MTU 1280 (from 2001:2::1); raise the MTU";
        assert!(words[0].starts_with(expected), "{words:?}");
    }

    #[test]
    fn every_reason_that_is_frequent_has_a_name_and_an_advice() {
        use IpVersion::{Ipv4, Ipv6};
        let six = [
            (1, 0),
            (1, 1),
            (1, 3),
            (1, 4),
            (2, 0),
            (3, 0),
            (4, 0),
            (4, 1),
        ];
        let four = [
            (3, 0),
            (3, 1),
            (3, 2),
            (3, 3),
            (3, 4),
            (3, 13),
            (11, 0),
            (12, 0),
        ];
        for errors in six
            .map(|of| errors(Ipv6, of, None))
            .into_iter()
            .chain(four.map(|of| errors(Ipv4, of, None)))
        {
            assert!(
                errors.advice().is_some() && !errors.name().contains(" code "),
                "{errors}"
            );
        }
        assert_eq!(
            errors(Ipv6, (100, 7), None).name(),
            "ICMPv6 type 100 code 7"
        );
    }

    #[test]
    fn background_damage_and_quotes_without_a_frame_are_told() {
        let some = errors(IpVersion::Ipv4, (3, 13), None);
        let background = IcmpErrors {
            quoting: 30,
            background: 30,
            messages: 30,
            wrong_checksum: 2,
            ..some.clone()
        };
        assert_eq!(
            background.sentence(400),
            "the device answered 30 of 400 frames of the background with ICMP Destination Unreachable, communication \
             administratively prohibited (from 198.18.0.1), 2 of them with a wrong checksum"
        );
        let unknown = IcmpErrors {
            quoting: 0,
            ..some.clone()
        };
        assert!(
            unknown
                .sentence(400)
                .starts_with("400 messages ICMP Destination"),
            "{}",
            unknown.sentence(400)
        );
        assert!(
            some.sentence(100)
                .starts_with("the device answered 100 frames with 400 messages"),
            "{}",
            some.sentence(100)
        );
    }

    #[test]
    fn errors_are_recorded_in_the_words_of_the_rfcs() {
        let written =
            serde_json::to_string(&errors(IpVersion::Ipv6, (2, 0), Some(1280))).expect("text");
        let expected = r#"{"version":"ipv6","type":2,"code":0,"value":1280,"source":"2001:2::1","messages":400,"quoting":400}"#;
        assert_eq!(written, expected);
    }
}
