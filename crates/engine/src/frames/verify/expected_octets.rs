//! The common case: a frame that is, octet for octet, the expected one. Its headers and tag are written as they must be and compared as a whole,
//! which takes a third of the time of parsing every field. A frame that differs is not judged here.

use crate::frames::flow::DrawnPorts;
use crate::frames::stateful::Mapped;
use crate::frames::stream::{FlowPattern, FrameKind, KindNumber, Stream};
use sixbench_wire::ethernet;
use sixbench_wire::tag::{self, Tag};
use sixbench_wire::template::{AddressesThatVary, PlainArrival, StampedTime, TunnelArrival};

/// The longest headers with a tag: those of IPv6 in IPv6, which no supported technology uses; IPv4 in IPv6 takes 100.
const LONGEST_HEAD: usize = 128;

/// One kind of frame of a stream, as it must arrive.
pub(super) struct ExpectedOctets {
    /// The headers and the tag of the frame written last.
    head: [u8; LONGEST_HEAD],
    head_octets: usize,
    frame_octets: usize,
    number: KindNumber,
    stream: u8,
    way: ComparingWay,
    /// False if the DUT's hardware address is not known: those in the frame then count as right.
    knows_hardware_addresses: bool,
    /// True if the device chooses some fields itself.
    has_device_fields: bool,
    /// True if any source is right that the DUT has drawn from its pool.
    has_translated_source: bool,
}

/// The way in which frames are compared, fastest first.
enum ComparingWay {
    /// Plain datagrams in which only the ports vary, apart from number and time.
    Ports(DrawnPorts, PlainArrival),
    /// Plain datagrams.
    Plain(FlowPattern, PlainArrival),
    /// Datagrams in a tunnel.
    Tunnel(FlowPattern, Box<TunnelArrival>),
    /// All others: the expected frame is written and then compared.
    Written,
}

impl ExpectedOctets {
    /// Returns the expected octets for one kind of frame in `stream`.
    pub(super) fn new(stream: &Stream, kind: &FrameKind, number: KindNumber) -> Self {
        let template = &kind.template;
        let head_octets = template.head_octets();
        let mut head = [0; LONGEST_HEAD];
        head[..head_octets].copy_from_slice(&template.octets()[..head_octets]);
        let knows_hardware_addresses = template.description().src_mac.is_unicast();
        let way = kind.flow_pattern().and_then(|pattern| {
            let vary = AddressesThatVary {
                parts: pattern.varies_addresses(),
                whole: pattern.subscriber_end(),
            };
            let is_translated = !kind.keeps_identification;
            let tunnel =
                TunnelArrival::new(template, vary, is_translated, knows_hardware_addresses);
            if let Some(arrival) = tunnel {
                return Some(ComparingWay::Tunnel(pattern.clone(), Box::new(arrival)));
            }
            let arrival =
                PlainArrival::new(template, vary, is_translated, knows_hardware_addresses)?;
            Some(match stream.drawn_ports() {
                Some(ports) => ComparingWay::Ports(ports, arrival),
                None => ComparingWay::Plain(pattern.clone(), arrival),
            })
        });
        Self {
            head,
            head_octets,
            frame_octets: template.frame_octets(),
            number,
            stream: template.description().stream,
            way: way.unwrap_or(ComparingWay::Written),
            knows_hardware_addresses,
            has_device_fields: template.description().outer.is_some()
                || (template.src().is_ipv4() && !kind.keeps_identification),
            has_translated_source: kind.has_translated_source(),
        }
    }

    /// Returns the tag of a frame that may be of this kind, judging by its length and its tag's stream.
    #[inline]
    pub(super) fn tag_of(&self, frame: &[u8]) -> Option<Tag> {
        if frame.len() != self.frame_octets {
            return None;
        }
        Tag::read(&frame[self.head_octets - tag::LEN..]).filter(|tag| tag.stream == self.stream)
    }

    /// Returns the number of this kind of frames.
    #[inline]
    pub(super) fn number(&self) -> KindNumber {
        self.number
    }

    /// Returns whether `frame`, which has this tag, is the expected one; false if the fields must decide.
    #[inline(always)]
    pub(super) fn is(&mut self, frame: &[u8], tag: Tag, stream: &Stream, kind: &FrameKind) -> bool {
        let time = StampedTime::new(tag.time_ns);
        let has_head = match &self.way {
            ComparingWay::Ports(ports, arrival) => {
                arrival.is_ports(frame, ports.at(tag.sequence), tag.sequence, time)
            }
            ComparingWay::Plain(pattern, arrival) => arrival.is(
                frame,
                &pattern.variable(tag.sequence, stream.turn(tag.sequence), time),
            ),
            ComparingWay::Tunnel(pattern, arrival) => arrival.is(
                frame,
                &pattern.variable(tag.sequence, stream.turn(tag.sequence), time),
            ),
            ComparingWay::Written => self.has_written_head(frame, tag.sequence, time, stream, kind),
        };
        has_head && tag::pattern_is_whole(&frame[self.head_octets..])
    }

    /// Writes the expected headers and tag, and compares them.
    fn has_written_head(
        &mut self,
        frame: &[u8],
        sequence: u64,
        time: StampedTime,
        stream: &Stream,
        kind: &FrameKind,
    ) -> bool {
        let octets = self.head_octets;
        if self.has_device_fields {
            // `patch` writes only the variable fields; the fields that `adopt_device_fields` copied from the previous frame would remain.
            self.head[..octets].copy_from_slice(&kind.template.octets()[..octets]);
        }
        let seen = self.source_of(frame, kind);
        kind.template.patch(
            &mut self.head,
            &stream.variable_of_arrival(kind, sequence, time, seen),
        );
        if self.has_device_fields {
            kind.template
                .adopt_device_fields(&mut self.head, frame, !kind.keeps_identification);
        }
        if !self.knows_hardware_addresses {
            self.head[..ethernet::ADDRESSES_LEN].copy_from_slice(&frame[..ethernet::ADDRESSES_LEN]);
        }
        self.head[..octets] == frame[..octets]
    }

    /// Returns the source to use if it cannot be known in advance.
    #[inline]
    fn source_of(&self, frame: &[u8], kind: &FrameKind) -> Mapped {
        if !self.has_translated_source {
            return Mapped { part: 0, port: 0 };
        }
        let (part, port) = kind.template.source_of(frame);
        Mapped { part, port }
    }
}
