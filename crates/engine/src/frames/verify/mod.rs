//! Decides for every received frame, field by field, whether it is the right translation of the frame that was sent.
//!
//! The tag identifies the frame; everything else about it is then known: addresses from the profile, ports from the seed, checksum from both. A
//! frame that equals the expected one in every octet is right; any other is parsed field by field, which shows what is wrong. Nothing is
//! allocated here until a wrong frame is described, after the trial.

mod expected_octets;
mod foreign;
mod mismatch;
mod seen;

pub(crate) use foreign::{ForeignFrame, ReceivedError, foreign_frame};
pub(crate) use mismatch::Mismatch;

use crate::frames::broadcast::{self, BroadcastOrder};
use crate::frames::size_order::SizeOrder;
use crate::frames::stream::{FrameKind, Stream, StreamId};
use expected_octets::ExpectedOctets;
use seen::{DatagramContent, ParsedDatagram};
use sixbench_wire::ethernet::{self, EthernetView};
use sixbench_wire::tag::{self, Tag};
use sixbench_wire::template::{StampedTime, Template, Transport, Variable};
use sixbench_wire::{IpVersion, MacAddress, ipv4, ipv6};
use std::fmt;

/// The verdict on a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrameClass {
    /// Right in every field.
    Right(Tag),
    /// Right except for a defect that the DUT is known to have.
    Defective(Tag, Mismatch),
    /// A test frame with a wrong field.
    Mistranslated(Tag, Mismatch),
    /// A test frame with right headers and a damaged payload, either in the fill pattern or in the tag's time of sending.
    Corrupt(Tag, Mismatch),
    /// A test frame that belongs to the other direction.
    Misdirected,
    /// Not a frame of this trial.
    Foreign,
}

/// Judges the frames that arrive at one port.
pub(crate) struct Verifier {
    expected: Stream,
    frames: u64,
    zero_checksum_is_known: bool,
    absent_checksum_is_known: bool,
    /// True if addresses are changed after zero may have been written instead of all ones: the checksum that is then due is unknown, and may be
    /// anything.
    is_changed_after: bool,
    /// True if frames that arrive here open connections.
    learns: bool,
    /// Foreground and, if there is any, background as they must arrive, in each size; empty if every frame is to be parsed field by field.
    octets: Vec<ExpectedOctets>,
}

impl Verifier {
    /// Returns a verifier for the first `frames` frames of `expected`.
    pub(crate) fn new(expected: Stream, frames: u64, zero_checksum_is_known: bool) -> Self {
        let is_changed_after = expected.has_translated_sources();
        let learns = expected.opens_connections();
        let octets = expected
            .kinds()
            .map(|(kind, number)| ExpectedOctets::new(&expected, kind, number))
            .collect();
        Self {
            expected,
            frames,
            zero_checksum_is_known,
            absent_checksum_is_known: false,
            is_changed_after,
            learns,
            octets,
        }
    }

    /// Returns the same verifier, which knows whether the DUT sends UDP over IPv4 without a checksum.
    pub(crate) fn knowing_absent_checksums(self, absent_checksum_is_known: bool) -> Self {
        Self {
            absent_checksum_is_known,
            ..self
        }
    }

    /// Returns whether frames that arrive here open connections, so that something is learnt from each of them.
    pub(crate) fn learns(&self) -> bool {
        self.learns
    }

    /// Makes the verifier parse every field of every frame, even of one that is as expected.
    pub(crate) fn read_every_field(&mut self) {
        self.octets.clear();
    }

    /// Returns the verdict on `frame`.
    #[inline(always)]
    pub(crate) fn judge(&mut self, frame: &[u8]) -> FrameClass {
        match self.right(frame) {
            Some(tag) => FrameClass::Right(tag),
            None => self.judge_fields(frame),
        }
    }

    /// Returns the tag of a frame that equals the expected one; `None` for all others, some of which are right, too.
    #[inline(always)]
    fn right(&mut self, frame: &[u8]) -> Option<Tag> {
        let (octets, tag) = self
            .octets
            .iter_mut()
            .find_map(|octets| octets.tag_of(frame).map(|tag| (octets, tag)))?;
        if tag.sequence >= self.frames {
            return None;
        }
        let (kind, number) = self.expected.kind(tag.sequence);
        let is_right = number == octets.number() && octets.is(frame, tag, &self.expected, kind);
        is_right.then_some(tag)
    }

    /// Returns the verdict on `frame` by each of its fields. This is slower than the comparison, and authoritative.
    fn judge_fields(&self, frame: &[u8]) -> FrameClass {
        let Some(seen) = ParsedDatagram::read(frame) else {
            return FrameClass::Foreign;
        };
        let Some(tag) = Tag::read(seen.carried.payload) else {
            return FrameClass::Foreign;
        };
        if tag.sequence >= self.frames || !StreamId(tag.stream).same_trial(self.expected.id) {
            return FrameClass::Foreign;
        }
        if self
            .broadcasts()
            .is_some_and(|order| order.has(tag.sequence))
        {
            return FrameClass::Foreign;
        }
        let (kind, number) = self.expected.kind(tag.sequence);
        let id = StreamId(tag.stream);
        if id.0 & 1 != self.expected.id.0 & 1 || id.is_background() != number.is_background() {
            return FrameClass::Misdirected;
        }
        let variable = self.variable(&seen, kind, tag);
        match mismatch_in(&seen, kind, &variable) {
            Some(mismatch) => return FrameClass::Mistranslated(tag, mismatch),
            None if !is_payload_whole(&seen) => return FrameClass::Corrupt(tag, Mismatch::Payload),
            None => {}
        }
        let is_udp = seen.carried.transport == Transport::Udp;
        let may_be_absent = self.absent_checksum_is_known && is_udp && seen.ip.source.is_ipv4();
        self.judge_checksum(
            tag,
            seen.carried.checksum,
            kind.template.expected_udp_checksum(&variable),
            may_be_absent,
        )
    }

    /// Returns whether a frame that an ICMP error quotes is background, if it is one of this trial that left from the port where this verifier's
    /// frames arrive; otherwise `None`.
    pub(crate) fn is_answered_background(&self, quoted: Tag) -> Option<bool> {
        let id = StreamId(quoted.stream);
        let is_of_port = id.same_trial(self.expected.id) && id.0 & 1 != self.expected.id.0 & 1;
        is_of_port.then(|| id.is_background())
    }

    /// Notes the source of a right frame if it opens a connection. Only the first frame with its number counts, not a duplicate.
    #[inline(always)]
    pub(crate) fn learn(&self, frame: &[u8], tag: Tag) {
        if self.learns {
            self.learn_source(frame, tag);
        }
    }

    fn learn_source(&self, frame: &[u8], tag: Tag) {
        if let Some(seen) = ParsedDatagram::read(frame) {
            self.expected.learn(
                self.expected.kind(tag.sequence).0,
                tag.sequence,
                seen.mapped(),
            );
        }
    }

    #[inline]
    fn variable(&self, seen: &ParsedDatagram<'_>, kind: &FrameKind, tag: Tag) -> Variable {
        self.expected.variable_of_arrival(
            kind,
            tag.sequence,
            StampedTime::new(tag.time_ns),
            seen.mapped(),
        )
    }

    /// Returns the verdict on a checksum. A computed checksum of zero must be sent as all ones (RFC 768, RFC 8200 section 8.1); a translator
    /// that updates checksums incrementally may omit that. Over IPv4 a checksum that is sent as zero means that there is none (RFC 768).
    #[inline]
    fn judge_checksum(
        &self,
        tag: Tag,
        seen: u16,
        expected: u16,
        may_be_absent: bool,
    ) -> FrameClass {
        match seen {
            seen if seen == expected => FrameClass::Right(tag),
            0 if may_be_absent => FrameClass::Defective(tag, Mismatch::UdpChecksum),
            0 if self.zero_checksum_is_known && (expected == 0xffff || self.is_changed_after) => {
                FrameClass::Defective(tag, Mismatch::UdpChecksum)
            }
            _ => FrameClass::Mistranslated(tag, Mismatch::UdpChecksum),
        }
    }

    /// Returns whether a frame with this tag is background.
    #[inline]
    pub(crate) fn is_background(&self, tag: Tag) -> bool {
        StreamId(tag.stream).is_background()
    }

    /// Returns which of the frames are broadcast; `None` if none is.
    pub(crate) fn broadcasts(&self) -> Option<BroadcastOrder> {
        self.expected.broadcasts()
    }

    /// Returns whether a frame that is no test frame is a broadcast frame of this trial.
    #[cold]
    pub(crate) fn is_broadcast(&self, frame: &[u8]) -> bool {
        self.broadcasts().is_some()
            && broadcast::tag_of(frame)
                .is_some_and(|tag| StreamId(tag.stream).same_trial(self.expected.id))
    }

    /// Returns the order of the sizes of the frames; `None` if all have the same size.
    pub(crate) fn size_order(&self) -> Option<&SizeOrder> {
        self.expected.size_order()
    }

    /// Returns a description in one line of a missing frame, if it was the only one of its connection.
    pub(crate) fn explain_missing(&self, sequence: u64) -> Option<String> {
        let (conversation, connection) = self.expected.connection(sequence)?;
        conversation.explain_missing(connection)
    }

    /// Returns the name of a field in frames of this kind.
    pub(crate) fn name_of(&self, mismatch: Mismatch, is_background: bool) -> &'static str {
        let kind = self
            .expected
            .kinds()
            .find(|(_, number)| number.is_background() == is_background)
            .map_or(self.expected.kind(0).0, |(kind, _)| kind);
        mismatch.name(
            kind.template.description().transport,
            kind.template.ip_version(),
        )
    }

    /// Returns a description of a wrong frame in one line.
    pub(crate) fn explain(&self, frame: &[u8], tag: Tag, mismatch: Mismatch) -> String {
        let Some(seen) = ParsedDatagram::read(frame) else {
            return format!(
                "{} frame {}: unreadable",
                self.expected.direction, tag.sequence
            );
        };
        let (kind, _) = self.expected.kind(tag.sequence);
        let variable = self.variable(&seen, kind, tag);
        self.line(
            tag,
            mismatch,
            &discrepancy(mismatch, &seen, kind, &variable),
        )
    }

    /// Returns a description in one line of a frame with an impossible time of sending. Times are nanoseconds since the first frame was due, at
    /// `start_ns`; `bound_ns` is when the frame was due or when it arrived.
    pub(crate) fn explain_time(
        &self,
        tag: Tag,
        mismatch: Mismatch,
        start_ns: u64,
        bound_ns: u64,
    ) -> String {
        let since_start = |ns: u64| i128::from(ns) - i128::from(start_ns);
        let bound = match mismatch {
            Mismatch::SentBeforeDue => "or later, when it was due",
            _ => "or earlier, when it arrived",
        };
        let expected = format!("{} ns {bound}", since_start(bound_ns));
        let got = format!("{} ns", since_start(tag.time_ns));
        self.line(tag, mismatch, &Discrepancy { expected, got })
    }

    fn line(&self, tag: Tag, mismatch: Mismatch, discrepancy: &Discrepancy) -> String {
        let Discrepancy { expected, got } = discrepancy;
        let field = self.name_of(mismatch, self.is_background(tag));
        format!(
            "{} frame {}: {field}: expected {expected}, got {got}",
            self.expected.direction, tag.sequence
        )
    }
}

/// Returns the octets of the inner IP datagram of a frame of this template.
fn datagram_octets(template: &Template) -> usize {
    let around = template
        .description()
        .outer
        .map_or(0, |outer| outer.octets());
    template.frame_octets() - ethernet::HEADER_LEN - around
}

/// Returns the octets of the UDP datagram in a frame of this template.
fn udp_length(template: &Template) -> u16 {
    let header = if template.src().is_ipv4() {
        ipv4::HEADER_LEN
    } else {
        ipv6::HEADER_LEN
    };
    (datagram_octets(template) - header) as u16
}

fn is_payload_whole(seen: &ParsedDatagram<'_>) -> bool {
    seen.carried
        .payload
        .get(tag::LEN..)
        .is_some_and(tag::pattern_is_whole)
}

/// Returns the offset in a payload of its first octet that differs from the fill pattern.
fn first_damaged(payload: &[u8]) -> usize {
    let filled = payload.get(tag::LEN..).unwrap_or_default();
    // Binary search: a prefix is undamaged if and only if each shorter one is.
    let (mut whole, mut damaged) = (0, filled.len());
    while damaged - whole > 1 {
        let middle = whole.midpoint(damaged);
        if tag::pattern_is_whole(&filled[..middle]) {
            whole = middle;
        } else {
            damaged = middle;
        }
    }
    tag::LEN + whole
}

/// Compares everything except payload and UDP checksum, in the order of the frame.
#[inline]
fn mismatch_in(
    seen: &ParsedDatagram<'_>,
    kind: &FrameKind,
    variable: &Variable,
) -> Option<Mismatch> {
    let template = &kind.template;
    if let Some(mismatch) =
        mismatch_of_ethernet(seen, template).or_else(|| mismatch_outside(seen, template, variable))
    {
        return Some(mismatch);
    }
    let (source, destination) = template.addresses(variable);
    let (ip, carried) = (&seen.ip, &seen.carried);
    let checks = [
        (ip.source.is_ipv4() == source.is_ipv4(), Mismatch::IpVersion),
        (ip.source == source, Mismatch::Source),
        (ip.destination == destination, Mismatch::Destination),
        (ip.traffic_class == 0, Mismatch::TrafficClass),
        (ip.flow_label == 0, Mismatch::FlowLabel),
        (
            ip.hop_limit == template.description().hop_limit,
            Mismatch::HopLimit,
        ),
        (!ip.has_reserved_flag, Mismatch::ReservedFlag),
        (!ip.is_fragment, Mismatch::Fragment),
        (
            !kind.keeps_identification || ip.dont_fragment,
            Mismatch::DontFragment,
        ),
        (
            !kind.keeps_identification || ip.identification == 0,
            Mismatch::Identification,
        ),
        (ip.octets == datagram_octets(template), Mismatch::Length),
        (ip.is_checksum_right, Mismatch::HeaderChecksum),
        (has_transport(carried, template), Mismatch::Transport),
        (
            carried.ports.0 == variable.source_port,
            Mismatch::SourcePort,
        ),
        (
            carried.ports.1 == variable.destination_port,
            Mismatch::DestinationPort,
        ),
        (
            carried
                .udp_length
                .is_none_or(|length| length == udp_length(template)),
            Mismatch::UdpLength,
        ),
        (seen.trailing_octets() == 0, Mismatch::TrailingOctets),
    ];
    checks
        .into_iter()
        .find(|(holds, _)| !holds)
        .map(|(_, mismatch)| mismatch)
}

/// Destination and source of a frame of this template; `None` where the tester does not know the DUT's hardware address, since it has no neighbour
/// to ask. One that it has asked is never believed to have a group's.
#[inline]
fn hardware_addresses(template: &Template) -> Option<(MacAddress, MacAddress)> {
    let ethernet = EthernetView::new(template.octets()).ok()?;
    Some((ethernet.dst(), ethernet.src())).filter(|(_, source)| source.is_unicast())
}

/// Returns the mismatch in the Ethernet header, if there is one: no frame is sent with a VLAN tag, and each must be for the tester's address and
/// come from the address that answered for the DUT.
#[inline]
fn mismatch_of_ethernet(seen: &ParsedDatagram<'_>, template: &Template) -> Option<Mismatch> {
    if seen.vlan.is_some() {
        return Some(Mismatch::VlanTag);
    }
    let (destination, source) = hardware_addresses(template)?;
    let checks = [
        (
            seen.ethernet.dst() == destination,
            Mismatch::EthernetDestination,
        ),
        (seen.ethernet.src() == source, Mismatch::EthernetSource),
    ];
    checks
        .into_iter()
        .find(|(holds, _)| !holds)
        .map(|(_, mismatch)| mismatch)
}

/// Returns the mismatch in the outer header, if there is one. The encapsulator is free to choose its flow label (RFC 6438), and in IPv4 its
/// identification and don't-fragment flag (RFC 4213 section 3.2).
#[inline]
fn mismatch_outside(
    seen: &ParsedDatagram<'_>,
    template: &Template,
    variable: &Variable,
) -> Option<Mismatch> {
    let (outer, addresses) = match (&seen.outer, template.outer_addresses(variable)) {
        (None, None) => return None,
        (Some(outer), Some(addresses)) if outer.source.is_ipv4() == addresses.0.is_ipv4() => {
            (outer, addresses)
        }
        _ => return Some(Mismatch::Encapsulation),
    };
    let checks = [
        (outer.source == addresses.0, Mismatch::OuterSource),
        (outer.destination == addresses.1, Mismatch::OuterDestination),
        (outer.traffic_class == 0, Mismatch::OuterTrafficClass),
        (
            Some(outer.hop_limit) == template.description().outer.map(|outer| outer.hop_limit),
            Mismatch::OuterHopLimit,
        ),
        (!outer.has_reserved_flag, Mismatch::OuterReservedFlag),
        (!outer.is_fragment, Mismatch::OuterFragment),
        (
            seen.frame_octets() == template.frame_octets(),
            Mismatch::OuterLength,
        ),
        (outer.is_checksum_right, Mismatch::OuterHeaderChecksum),
    ];
    checks
        .into_iter()
        .find(|(holds, _)| !holds)
        .map(|(_, mismatch)| mismatch)
}

/// The value of a field that was expected, and the one in a frame, in words.
struct Discrepancy {
    expected: String,
    got: String,
}

impl Discrepancy {
    fn between(expected: &dyn fmt::Display, got: &dyn fmt::Display) -> Self {
        Self {
            expected: expected.to_string(),
            got: got.to_string(),
        }
    }
}

fn discrepancy(
    mismatch: Mismatch,
    seen: &ParsedDatagram<'_>,
    kind: &FrameKind,
    variable: &Variable,
) -> Discrepancy {
    let template = &kind.template;
    let (ip, carried) = (&seen.ip, &seen.carried);
    match mismatch {
        Mismatch::IpVersion | Mismatch::Source => {
            Discrepancy::between(&template.addresses(variable).0, &ip.source)
        }
        Mismatch::Destination => {
            Discrepancy::between(&template.addresses(variable).1, &ip.destination)
        }
        Mismatch::TrafficClass => Discrepancy::between(&0, &ip.traffic_class),
        Mismatch::FlowLabel => Discrepancy::between(&0, &ip.flow_label),
        Mismatch::HopLimit => {
            Discrepancy::between(&template.description().hop_limit, &ip.hop_limit)
        }
        Mismatch::ReservedFlag | Mismatch::OuterReservedFlag => Discrepancy::between(&"0", &"1"),
        Mismatch::Fragment | Mismatch::OuterFragment => {
            Discrepancy::between(&"a whole datagram", &"a fragment")
        }
        Mismatch::DontFragment => Discrepancy::between(&"set, as it was sent", &"not set"),
        Mismatch::Identification => Discrepancy::between(&"0, as it was sent", &ip.identification),
        Mismatch::Length => Discrepancy::between(&datagram_octets(template), &ip.octets),
        Mismatch::HeaderChecksum | Mismatch::OuterHeaderChecksum => {
            Discrepancy::between(&"the right one", &"a wrong one")
        }
        Mismatch::SourcePort => Discrepancy::between(&variable.source_port, &carried.ports.0),
        Mismatch::DestinationPort => {
            Discrepancy::between(&variable.destination_port, &carried.ports.1)
        }
        Mismatch::UdpLength => {
            Discrepancy::between(&udp_length(template), &carried.udp_length.unwrap_or(0))
        }
        Mismatch::UdpChecksum => Discrepancy::between(
            &format_args!("{:#06x}", template.expected_udp_checksum(variable)),
            &format_args!("{:#06x}", carried.checksum),
        ),
        Mismatch::Transport => of_transports(template, carried),
        Mismatch::VlanTag => Discrepancy::between(
            &"none",
            &format_args!("one of VLAN {}", seen.vlan.unwrap_or(0)),
        ),
        Mismatch::TrailingOctets => {
            let content = if seen.trails_zeros() {
                ""
            } else {
                ", not all zero"
            };
            Discrepancy::between(
                &"none",
                &format_args!("{}{content}", seen.trailing_octets()),
            )
        }
        Mismatch::Payload => Discrepancy::between(
            &"the fill pattern",
            &format_args!("another octet at {}", first_damaged(carried.payload)),
        ),
        Mismatch::EthernetDestination | Mismatch::EthernetSource => {
            of_ethernet(mismatch, seen, template)
        }
        mismatch => of_outer(mismatch, seen, template, variable),
    }
}

fn of_ethernet(mismatch: Mismatch, seen: &ParsedDatagram<'_>, template: &Template) -> Discrepancy {
    let (destination, source) =
        hardware_addresses(template).unwrap_or((MacAddress::BROADCAST, MacAddress::BROADCAST));
    match mismatch {
        Mismatch::EthernetDestination => Discrepancy::between(&destination, &seen.ethernet.dst()),
        _ => Discrepancy::between(&source, &seen.ethernet.src()),
    }
}

fn of_outer(
    mismatch: Mismatch,
    seen: &ParsedDatagram<'_>,
    template: &Template,
    variable: &Variable,
) -> Discrepancy {
    const NONE: &str = "no outer header";
    let expected = template
        .outer_addresses(variable)
        .zip(template.description().outer);
    let expected = expected.map_or(
        NONE.to_owned(),
        |((source, destination), outer)| match mismatch {
            Mismatch::OuterSource => source.to_string(),
            Mismatch::OuterDestination => destination.to_string(),
            Mismatch::OuterTrafficClass => "0".to_owned(),
            Mismatch::OuterHopLimit => outer.hop_limit.to_string(),
            Mismatch::OuterLength => template.frame_octets().to_string(),
            _ => format!("an outer header from {source} to {destination}"),
        },
    );
    let got = seen
        .outer
        .as_ref()
        .map_or(NONE.to_owned(), |outer| match mismatch {
            Mismatch::OuterSource => outer.source.to_string(),
            Mismatch::OuterDestination => outer.destination.to_string(),
            Mismatch::OuterTrafficClass => outer.traffic_class.to_string(),
            Mismatch::OuterHopLimit => outer.hop_limit.to_string(),
            Mismatch::OuterLength => seen.frame_octets().to_string(),
            _ => format!("one from {} to {}", outer.source, outer.destination),
        });
    Discrepancy { expected, got }
}

/// Returns whether the datagram is of the kind of the template: UDP, or an echo with the protocol number and the type of its version (RFC 7915 sections
/// 4.2 and 5.2 for a translated one).
#[inline]
fn has_transport(carried: &DatagramContent<'_>, template: &Template) -> bool {
    let expected = template.description().transport;
    carried.transport == expected
        && (expected == Transport::Udp || carried.echo_version == Some(template.ip_version()))
}

/// Returns the kind of datagram that is expected, and the kind that arrived.
fn of_transports(template: &Template, carried: &DatagramContent<'_>) -> Discrepancy {
    let expected = transport_in_words(
        template.description().transport,
        Some(template.ip_version()),
    );
    Discrepancy {
        expected,
        got: transport_in_words(carried.transport, carried.echo_version),
    }
}

fn transport_in_words(transport: Transport, version: Option<IpVersion>) -> String {
    let Transport::Echo(kind) = transport else {
        return "a UDP datagram".to_owned();
    };
    match version {
        Some(IpVersion::V4) => format!("an ICMP echo {kind}"),
        Some(IpVersion::V6) => format!("an ICMPv6 echo {kind}"),
        None => format!("an echo {kind} with the type of one version in the protocol of the other"),
    }
}

#[cfg(test)]
mod agreement_tests;
#[cfg(test)]
mod tests {
    use super::*;
    use crate::frames::profile::TrafficProfile;
    use crate::frames::stream::{LinkMacs, StreamSource};
    use sixbench_method::terms::{Direction, FrameRate, FrameSize};
    use sixbench_method::trial::TrialSpec;

    const MACS: LinkMacs = LinkMacs {
        own: MacAddress([2; 6]),
        peer: MacAddress([4; 6]),
    };

    fn stream() -> Stream {
        let address = |text: &str| text.parse().expect("address");
        let profile = TrafficProfile::identity(
            address("2001:2::2"),
            address("2001:2:0:8000::2"),
            FrameSize(84),
        );
        let spec = TrialSpec::constant(FrameRate(1), 1_000_000_000);
        let source = StreamSource {
            profile: &profile,
            spec: &spec,
            direction: Direction::Forward,
            trial: 0,
            conversation: None,
        };
        Stream::sent(source, MACS).expect("a stream")
    }

    /// Returns a frame whose UDP checksum, all ones, was written as zero; its time of sending was chosen to give this checksum.
    fn zeroed() -> Vec<u8> {
        let stream = stream();
        let kind = stream.kind(0).0;
        let is_all_ones = |v: &Variable| kind.template.expected_udp_checksum(v) == 0xffff;
        let mut variables =
            (0..200_000).map(|time_ns| stream.variable(kind, 0, StampedTime::new(time_ns)));
        let variable = variables
            .find(is_all_ones)
            .expect("one time in 65,536 has it");
        let mut frame = kind.template.patched(&variable).to_vec();
        assert_eq!(frame[60..62], [0xff, 0xff]);
        frame[60..62].fill(0);
        frame
    }

    #[test]
    fn a_zero_checksum_for_all_ones_is_wrong_unless_the_recipe_knows_of_it() {
        let frame = zeroed();
        let judge = |is_known| Verifier::new(stream(), 1, is_known).judge(&frame);
        assert!(matches!(
            judge(false),
            FrameClass::Mistranslated(_, Mismatch::UdpChecksum)
        ));
        assert!(matches!(
            judge(true),
            FrameClass::Defective(_, Mismatch::UdpChecksum)
        ));
    }

    #[test]
    fn a_zero_checksum_for_any_other_is_wrong_also_where_the_defect_is_known() {
        let stream = stream();
        let kind = stream.kind(0).0;
        let mut frame = kind
            .template
            .patched(&stream.variable(kind, 0, StampedTime::new(5)))
            .to_vec();
        frame[60..62].fill(0);
        assert!(matches!(
            Verifier::new(self::stream(), 1, true).judge(&frame),
            FrameClass::Mistranslated(..)
        ));
    }

    #[test]
    fn a_checksum_that_is_absent_is_known_over_ipv4_only() {
        let judged = |[left, right]: [&str; 2], zero_at: usize, is_known: bool| {
            let address = |text: &str| text.parse().expect("address");
            let profile = TrafficProfile::identity(address(left), address(right), FrameSize(84));
            let spec = TrialSpec::constant(FrameRate(1), 1_000_000_000);
            let stream = || {
                let source = StreamSource {
                    profile: &profile,
                    spec: &spec,
                    direction: Direction::Forward,
                    trial: 0,
                    conversation: None,
                };
                Stream::sent(source, MACS).expect("a stream")
            };
            let sent = stream();
            let kind = sent.kind(0).0;
            let mut frame = kind
                .template
                .patched(&sent.variable(kind, 0, StampedTime::new(5)))
                .to_vec();
            frame[zero_at..zero_at + 2].fill(0);
            Verifier::new(stream(), 1, false)
                .knowing_absent_checksums(is_known)
                .judge(&frame)
        };
        let (four, six) = (
            ["198.18.0.2", "198.19.0.2"],
            ["2001:2::2", "2001:2:0:8000::2"],
        );
        assert!(matches!(
            judged(four, 40, true),
            FrameClass::Defective(_, Mismatch::UdpChecksum)
        ));
        assert!(matches!(
            judged(four, 40, false),
            FrameClass::Mistranslated(_, Mismatch::UdpChecksum)
        ));
        assert!(
            matches!(
                judged(six, 60, true),
                FrameClass::Mistranslated(_, Mismatch::UdpChecksum)
            ),
            "IPv6 requires it"
        );
    }

    /// Returns the description of frame 0 after this change.
    fn told(change: impl Fn(&mut Vec<u8>)) -> Option<String> {
        let mut verifier = Verifier::new(stream(), 1, false);
        let stream = stream();
        let kind = stream.kind(0).0;
        let mut frame = kind
            .template
            .patched(&stream.variable(kind, 0, StampedTime::new(5)))
            .to_vec();
        change(&mut frame);
        match verifier.judge(&frame) {
            FrameClass::Right(_) => None,
            FrameClass::Mistranslated(tag, mismatch) => {
                Some(verifier.explain(&frame, tag, mismatch))
            }
            class => panic!("{class:?}"),
        }
    }

    #[test]
    fn a_vlan_tag_is_told_by_name() {
        assert_eq!(told(|_| ()), None);
        for tag in [[0x81, 0, 0x20, 5], [0x88, 0xa8, 0, 5]] {
            let told = told(|frame| drop(frame.splice(12..12, tag)));
            assert_eq!(
                told.as_deref(),
                Some("forward frame 0: VLAN tag: expected none, got one of VLAN 5")
            );
        }
    }

    #[test]
    fn a_frame_for_another_station_or_from_one_is_told_by_name() {
        let to_all = told(|frame| frame[..6].fill(0xff)).expect("wrong");
        assert_eq!(
            to_all,
            "forward frame 0: Ethernet destination: expected 04:04:04:04:04:04, got ff:ff:ff:ff:ff:ff"
        );
        let from_other = told(|frame| frame[11] = 9).expect("wrong");
        assert_eq!(
            from_other,
            "forward frame 0: Ethernet source: expected 02:02:02:02:02:02, got 02:02:02:02:02:09"
        );
    }

    #[test]
    fn octets_after_the_datagram_are_told() {
        let longer = told(|frame| frame.extend([0; 3])).expect("wrong");
        assert_eq!(
            longer,
            "forward frame 0: octets after the datagram: expected none, got 3"
        );
    }
}
