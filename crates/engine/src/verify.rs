//! Is the received frame the right translation of the one that was sent? Decided for every frame, field by field.
//!
//! The tag names the frame; everything else about it is then known: addresses from the profile, ports from the seed, checksum from
//! both. Nothing is allocated here until a wrong frame is put into words, after the trial.

use crate::stateful::{Mapped, mapped};
use crate::stream::{Kind, Stream, StreamId};
use sixbench_wire::ethernet::{EtherType, EthernetView};
use sixbench_wire::protocol;
use sixbench_wire::tag::{self, Tag};
use sixbench_wire::template::{StampedTime, Template, Variable};
use sixbench_wire::{Ipv4View, Ipv6View, UdpView};
use std::fmt;
use std::net::IpAddr;

/// What a frame turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Right in every field.
    Right(Tag),
    /// Right but for a defect the DUT is known to have.
    Defective(Tag, Wrong),
    /// A test frame with a wrong field.
    Mistranslated(Tag, Wrong),
    /// A test frame whose headers are right and whose payload is damaged.
    Corrupt(Tag),
    /// A test frame that belongs to the other direction.
    Misdirected,
    /// No frame of this trial.
    Foreign,
}

/// The first field that is not as it must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wrong {
    IpVersion,
    Source,
    Destination,
    TrafficClass,
    FlowLabel,
    HopLimit,
    Fragment,
    Length,
    HeaderChecksum,
    SourcePort,
    DestinationPort,
    UdpLength,
    UdpChecksum,
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::IpVersion => "IP version",
            Self::Source => "source address",
            Self::Destination => "destination address",
            Self::TrafficClass => "traffic class",
            Self::FlowLabel => "flow label",
            Self::HopLimit => "hop limit",
            Self::Fragment => "fragmentation",
            Self::Length => "length",
            Self::HeaderChecksum => "IPv4 header checksum",
            Self::SourcePort => "source port",
            Self::DestinationPort => "destination port",
            Self::UdpLength => "UDP length",
            Self::UdpChecksum => "UDP checksum",
        })
    }
}

/// The fields of a UDP datagram, whichever IP carries it.
struct Seen<'a> {
    source: IpAddr,
    destination: IpAddr,
    traffic_class: u8,
    flow_label: u32,
    hop_limit: u8,
    is_fragment: bool,
    /// Octets of the Ethernet frame by the IP header's length, without FCS.
    length: usize,
    is_header_checksum_right: bool,
    udp: UdpView<'a>,
}

impl<'a> Seen<'a> {
    /// `None` where the frame is no UDP datagram at all.
    #[inline]
    fn read(frame: &'a [u8]) -> Option<Self> {
        let ethernet = EthernetView::new(frame).ok()?;
        match ethernet.ether_type() {
            EtherType::IPV4 => Self::read_ipv4(Ipv4View::new(ethernet.payload()).ok()?),
            EtherType::IPV6 => Self::read_ipv6(Ipv6View::new(ethernet.payload()).ok()?),
            _ => None,
        }
    }

    /// The source as a state table keeps it.
    #[inline]
    fn mapped(&self) -> Mapped {
        mapped(self.source, self.udp.source_port())
    }

    fn read_ipv4(ip: Ipv4View<'a>) -> Option<Self> {
        if ip.protocol() != protocol::UDP || ip.fragment_offset() != 0 {
            return None;
        }
        Some(Self {
            source: ip.src().into(),
            destination: ip.dst().into(),
            traffic_class: ip.dscp() << 2 | ip.ecn(),
            flow_label: 0,
            hop_limit: ip.ttl(),
            is_fragment: ip.is_fragment(),
            length: 14 + usize::from(ip.total_len()),
            is_header_checksum_right: ip.is_checksum_right(),
            udp: UdpView::new(ip.payload()).ok()?,
        })
    }

    fn read_ipv6(ip: Ipv6View<'a>) -> Option<Self> {
        if ip.next_header() != protocol::UDP {
            return None;
        }
        Some(Self {
            source: ip.src().into(),
            destination: ip.dst().into(),
            traffic_class: ip.traffic_class(),
            flow_label: ip.flow_label(),
            hop_limit: ip.hop_limit(),
            is_fragment: false,
            length: 14 + 40 + usize::from(ip.payload_len()),
            is_header_checksum_right: true,
            udp: UdpView::new(ip.payload()).ok()?,
        })
    }
}

/// Strangers worth a count of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stranger {
    /// ICMP or ICMPv6.
    Icmp,
    /// A part of a datagram.
    Fragment,
    /// Anything else.
    Other,
}

/// What a foreign frame is.
#[cold]
pub(crate) fn stranger(frame: &[u8]) -> Stranger {
    let Ok(ethernet) = EthernetView::new(frame) else { return Stranger::Other };
    match ethernet.ether_type() {
        EtherType::IPV4 => match Ipv4View::new(ethernet.payload()) {
            Ok(ip) if ip.is_fragment() => Stranger::Fragment,
            Ok(ip) if ip.protocol() == protocol::ICMP => Stranger::Icmp,
            _ => Stranger::Other,
        },
        EtherType::IPV6 => match Ipv6View::new(ethernet.payload()).map(|ip| ip.next_header()) {
            Ok(protocol::IPV6_FRAGMENT) => Stranger::Fragment,
            Ok(protocol::ICMPV6) => Stranger::Icmp,
            _ => Stranger::Other,
        },
        _ => Stranger::Other,
    }
}

/// Judges the frames that arrive at one port.
pub(crate) struct Verifier {
    expected: Stream,
    frames: u64,
    zero_checksum_is_known: bool,
    /// Zero was written for all ones, and then addresses were changed: what is due by now is not known, and may be anything.
    is_changed_after: bool,
    /// Frames that arrive here open connections.
    learns: bool,
}

impl Verifier {
    /// Expects the first `frames` frames of `expected`.
    pub(crate) fn new(expected: Stream, frames: u64, zero_checksum_is_known: bool) -> Self {
        let is_changed_after = expected.has_translated_sources();
        let learns = expected.opens_connections();
        Self { expected, frames, zero_checksum_is_known, is_changed_after, learns }
    }

    /// What `frame` is.
    #[inline]
    pub(crate) fn judge(&self, frame: &[u8]) -> Fate {
        let Some(seen) = Seen::read(frame) else {
            return Fate::Foreign;
        };
        let Some(tag) = Tag::read(seen.udp.payload()) else {
            return Fate::Foreign;
        };
        if tag.sequence >= self.frames || !StreamId(tag.stream).same_trial(self.expected.id) {
            return Fate::Foreign;
        }
        let (kind, is_background) = self.expected.kind(tag.sequence);
        let id = StreamId(tag.stream);
        if id.0 & 1 != self.expected.id.0 & 1 || id.is_background() != is_background {
            return Fate::Misdirected;
        }
        let variable = self.variable(&seen, kind, tag);
        match first_wrong(&seen, kind, &variable) {
            Some(wrong) => return Fate::Mistranslated(tag, wrong),
            None if !is_payload_whole(&seen) => return Fate::Corrupt(tag),
            None => {}
        }
        self.judge_checksum(tag, seen.udp.checksum(), kind.template.expected_udp_checksum(&variable))
    }

    /// Takes note of the source of a right frame where it opens a connection: of the first with its number only, not of a duplicate.
    #[inline]
    pub(crate) fn learn(&self, frame: &[u8], tag: Tag) {
        if !self.learns {
            return;
        }
        if let Some(seen) = Seen::read(frame) {
            self.expected.learn(self.expected.kind(tag.sequence).0, tag.sequence, seen.mapped());
        }
    }

    #[inline]
    fn variable(&self, seen: &Seen<'_>, kind: &Kind, tag: Tag) -> Variable {
        self.expected.variable_of_arrival(kind, tag.sequence, StampedTime::new(tag.time_ns), seen.mapped())
    }

    /// A computed checksum of zero is to be sent as all ones (RFC 768, RFC 8200 section 8.1); a translator that updates checksums
    /// incrementally may forget it.
    #[inline]
    fn judge_checksum(&self, tag: Tag, seen: u16, expected: u16) -> Fate {
        match seen {
            seen if seen == expected => Fate::Right(tag),
            0 if self.zero_checksum_is_known && (expected == 0xffff || self.is_changed_after) => {
                Fate::Defective(tag, Wrong::UdpChecksum)
            }
            _ => Fate::Mistranslated(tag, Wrong::UdpChecksum),
        }
    }

    /// Whether a frame of this tag is background.
    #[inline]
    pub(crate) fn is_background(&self, tag: Tag) -> bool {
        StreamId(tag.stream).is_background()
    }

    /// A frame of which nothing was seen, in one line, where it was the only one of its connection.
    pub(crate) fn explain_missing(&self, sequence: u64) -> Option<String> {
        let (conversation, connection) = self.expected.connection(sequence)?;
        conversation.explain_missing(connection)
    }

    /// A wrong frame in one line.
    pub(crate) fn explain(&self, frame: &[u8], tag: Tag, wrong: Wrong) -> String {
        let number = format!("{} frame {}", self.expected.direction, tag.sequence);
        let Some(seen) = Seen::read(frame) else {
            return format!("{number}: unreadable");
        };
        let (kind, _) = self.expected.kind(tag.sequence);
        let variable = self.variable(&seen, kind, tag);
        let (expected, got) = in_words(wrong, &seen, kind, &variable);
        format!("{number}: {wrong}: expected {expected}, got {got}")
    }
}

/// Octets of the UDP datagram in a frame of this template.
fn udp_length(template: &Template) -> u16 {
    let headers = if template.src().is_ipv4() { 14 + 20 } else { 14 + 40 };
    (template.frame_octets() - headers) as u16
}

fn is_payload_whole(seen: &Seen<'_>) -> bool {
    seen.udp.payload().get(tag::LEN..).is_some_and(tag::pattern_is_whole)
}

/// Compares all but payload and UDP checksum, in the order of the frame.
#[inline]
fn first_wrong(seen: &Seen<'_>, kind: &Kind, variable: &Variable) -> Option<Wrong> {
    let template = &kind.template;
    let (source, destination) = template.addresses(variable);
    let checks = [
        (seen.source.is_ipv4() == source.is_ipv4(), Wrong::IpVersion),
        (seen.source == source, Wrong::Source),
        (seen.destination == destination, Wrong::Destination),
        (seen.traffic_class == 0, Wrong::TrafficClass),
        (seen.flow_label == 0, Wrong::FlowLabel),
        (seen.hop_limit == template.description().hop_limit, Wrong::HopLimit),
        (!seen.is_fragment, Wrong::Fragment),
        (seen.length == template.frame_octets(), Wrong::Length),
        (seen.is_header_checksum_right, Wrong::HeaderChecksum),
        (seen.udp.source_port() == variable.source_port, Wrong::SourcePort),
        (seen.udp.destination_port() == variable.destination_port, Wrong::DestinationPort),
        (seen.udp.length() == udp_length(template), Wrong::UdpLength),
    ];
    checks.into_iter().find(|(holds, _)| !holds).map(|(_, wrong)| wrong)
}

fn in_words(wrong: Wrong, seen: &Seen<'_>, kind: &Kind, variable: &Variable) -> (String, String) {
    let template = &kind.template;
    let pair = |a: &dyn fmt::Display, b: &dyn fmt::Display| (a.to_string(), b.to_string());
    let hex = |value: u16| format!("{value:#06x}");
    match wrong {
        Wrong::IpVersion | Wrong::Source => pair(&template.addresses(variable).0, &seen.source),
        Wrong::Destination => pair(&template.addresses(variable).1, &seen.destination),
        Wrong::TrafficClass => pair(&0, &seen.traffic_class),
        Wrong::FlowLabel => pair(&0, &seen.flow_label),
        Wrong::HopLimit => pair(&template.description().hop_limit, &seen.hop_limit),
        Wrong::Fragment => pair(&"a whole datagram", &"a fragment"),
        Wrong::Length => pair(&template.frame_octets(), &seen.length),
        Wrong::HeaderChecksum => pair(&"the right one", &"a wrong one"),
        Wrong::SourcePort => pair(&variable.source_port, &seen.udp.source_port()),
        Wrong::DestinationPort => pair(&variable.destination_port, &seen.udp.destination_port()),
        Wrong::UdpLength => pair(&udp_length(template), &seen.udp.length()),
        Wrong::UdpChecksum => (hex(template.expected_udp_checksum(variable)), hex(seen.udp.checksum())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Profile;
    use crate::stream::Source;
    use sixbench_method::terms::{Direction, FrameRate, FrameSize};
    use sixbench_method::trial::TrialSpec;
    use sixbench_wire::MacAddress;

    fn stream() -> Stream {
        let address = |text: &str| text.parse().expect("address");
        let profile = Profile::of_a_wire(address("2001:2::2"), address("2001:2:0:8000::2"), FrameSize(84));
        let spec = TrialSpec::constant(FrameRate(1), 1_000_000_000);
        let source = Source { profile: &profile, spec: &spec, direction: Direction::Forward, trial: 0, conversation: None };
        Stream::sent(source, (MacAddress([2; 6]), MacAddress([4; 6]))).expect("a stream")
    }

    /// A frame whose UDP checksum, all ones, was written as zero; with its time of sending, which decides the checksum.
    fn zeroed() -> Vec<u8> {
        let stream = stream();
        let kind = stream.kind(0).0;
        let is_all_ones = |v: &Variable| kind.template.expected_udp_checksum(v) == 0xffff;
        let mut variables = (0..200_000).map(|time_ns| stream.variable(kind, 0, StampedTime::new(time_ns)));
        let variable = variables.find(is_all_ones).expect("one time in 65,536 has it");
        let mut frame = kind.template.patched(&variable).to_vec();
        assert_eq!(frame[60..62], [0xff, 0xff]);
        frame[60..62].fill(0);
        frame
    }

    #[test]
    fn a_zero_checksum_for_all_ones_is_wrong_unless_the_recipe_knows_of_it() {
        let frame = zeroed();
        let judge = |is_known| Verifier::new(stream(), 1, is_known).judge(&frame);
        assert!(matches!(judge(false), Fate::Mistranslated(_, Wrong::UdpChecksum)));
        assert!(matches!(judge(true), Fate::Defective(_, Wrong::UdpChecksum)));
    }

    #[test]
    fn a_zero_checksum_for_any_other_is_wrong_also_where_the_defect_is_known() {
        let stream = stream();
        let kind = stream.kind(0).0;
        let mut frame = kind.template.patched(&stream.variable(kind, 0, StampedTime::new(5))).to_vec();
        frame[60..62].fill(0);
        assert!(matches!(Verifier::new(self::stream(), 1, true).judge(&frame), Fate::Mistranslated(..)));
    }
}
