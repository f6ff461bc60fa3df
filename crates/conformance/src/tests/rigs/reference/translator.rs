//! A stateless translator in memory, written sentence by sentence from RFC 7915 and without any code of `wire`. It forwards in one hop, and it can
//! be rigged with one fault.

use super::datagram::{Fragment, ICMP, ICMPV6, V4, V6, sum, word};
use super::fault::Fault;
use super::icmp::{ErrorHeader, MINIMUM_MTU};
use super::transport;
use crate::frame::Side;
use std::net::{Ipv4Addr, Ipv6Addr};

/// The MTUs of the links, in octets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Links {
    pub(crate) mtu4: u32,
    pub(crate) mtu6: u32,
}

/// The two addresses of one host.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    pub(crate) v4: Ipv4Addr,
    pub(crate) v6: Ipv6Addr,
}

/// A fault, and the side from which the packets come that suffer it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rig {
    pub(crate) from: Side,
    pub(crate) fault: Fault,
}

/// The fault that the packet at hand suffers, if any.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rigging {
    pub(crate) fault: Option<Fault>,
}

impl Rigging {
    pub(crate) fn has(self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }

    pub(crate) fn code_of_time_exceeded(self, code: u8) -> u8 {
        if self.has(Fault::TimeExceededCodeZero) {
            0
        } else {
            code
        }
    }
}

/// A datagram that leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sent {
    pub(crate) side: Side,
    pub(crate) octets: Vec<u8>,
}

/// Why a packet is discarded.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Refusal {
    Silent,
    WithError(ErrorHeader),
}

/// The translator.
pub(crate) struct Translator {
    /// Its explicit address mappings (RFC 7757).
    pub(crate) pairs: Vec<Pair>,
    /// The source of its own errors, and of errors from sources without a mapping (RFC 6791 section 3.2).
    pub(crate) own: Pair,
    pub(crate) links: Links,
    pub(crate) rig: Option<Rig>,
    next_id: u32,
    late: Option<Sent>,
}

/// The Well-Known Prefix, 64:ff9b::/96. It is not the prefix of this translator, which drops what it finds there (RFC 6052 section 3.1).
const WELL_KNOWN: [u16; 6] = [0x64, 0xff9b, 0, 0, 0, 0];

fn refuse(kind: u8, code: u8, rest: u32) -> Refusal {
    Refusal::WithError(ErrorHeader {
        kind,
        code,
        rest: rest.to_be_bytes(),
    })
}

/// Illegal sources of section 4.1, by RFC 1812 section 5.3.7: network 0, loopback, and whatever is no unicast address.
fn is_illegal_4(source: Ipv4Addr) -> bool {
    let first = source.octets()[0];
    first == 0 || first == 127 || first >= 224
}

/// Illegal sources of section 5.1.
fn is_illegal_6(source: Ipv6Addr) -> bool {
    source.is_unspecified() || source.is_loopback() || source.is_multicast()
}

/// Checks the header by RFC 1812 section 5.2.2.
fn checked_4(octets: &[u8], rigging: Rigging) -> Option<V4> {
    let mut octets = octets.to_vec();
    let header = 4 * usize::from(octets.first()? & 15);
    if octets.len() < 20 {
        return None;
    }
    if header < 20 {
        if !rigging.has(Fault::HeaderLengthUnchecked) {
            return None;
        }
        octets[0] |= 5;
    } else if sum(&[octets.get(..header)?]) != 0xffff && !rigging.has(Fault::HeaderSumUnchecked) {
        return None;
    }
    let total = usize::from(word(&octets, 2));
    let mistakes = [
        (octets[0] >> 4 != 4, Fault::VersionUnchecked),
        (total < header, Fault::TotalLengthUnchecked),
        (total > octets.len(), Fault::TruncatedForwarded),
    ];
    if mistakes
        .into_iter()
        .any(|(is_made, excuse)| is_made && !rigging.has(excuse))
    {
        return None;
    }
    let mut packet = V4::parse(&octets)?;
    if total < header || total > octets.len() {
        packet.data = octets[header..].to_vec();
        packet.total = octets.len() as u16;
    }
    Some(packet)
}

/// Returns whether a loose or strict source route among the options has hops left (RFC 791 section 3.1).
fn has_unexpired_source_route(options: &[u8]) -> bool {
    match options {
        [] | [0, ..] => false,
        [1, rest @ ..] => has_unexpired_source_route(rest),
        [131 | 137, length, pointer, ..] if pointer <= length => true,
        [_, length, ..] if *length >= 2 => options
            .get(usize::from(*length)..)
            .is_some_and(has_unexpired_source_route),
        _ => false,
    }
}

impl Translator {
    pub(crate) fn new(pairs: Vec<Pair>, own: Pair, links: Links, rig: Option<Rig>) -> Self {
        Self {
            pairs,
            own,
            links,
            rig,
            next_id: 1,
            late: None,
        }
    }

    /// Returns what leaves after a datagram arrived on a side.
    pub(crate) fn receive(&mut self, side: Side, octets: &[u8]) -> Vec<Sent> {
        let fault = self.rig.filter(|rig| rig.from == side).map(|rig| rig.fault);
        let rigging = Rigging { fault };
        let sent = match side {
            Side::Ipv4 => self.received_4(octets, rigging),
            Side::Ipv6 => self.received_6(octets, rigging),
            Side::Inside | Side::Outside => panic!("a stateless translator has no {side} side"),
        };
        if !rigging.has(Fault::Overtaken) {
            return sent;
        }
        self.overtaken(sent)
    }

    /// Holds a datagram with 49 octets of UDP until the next one has left.
    fn overtaken(&mut self, mut sent: Vec<Sent>) -> Vec<Sent> {
        let held = self.late.take();
        let is_held =
            |it: &Sent| it.octets.len() == 49 + if it.side == Side::Ipv4 { 20 } else { 40 };
        self.late = sent.pop_if(|last| is_held(last));
        sent.extend(held);
        sent
    }

    pub(crate) fn six(&self, address: Ipv4Addr) -> Option<Ipv6Addr> {
        let pairs = self.pairs.iter().chain([&self.own]);
        pairs
            .into_iter()
            .find(|pair| pair.v4 == address)
            .map(|pair| pair.v6)
    }

    pub(crate) fn four(&self, address: Ipv6Addr) -> Option<Ipv4Addr> {
        let pairs = self.pairs.iter().chain([&self.own]);
        pairs
            .into_iter()
            .find(|pair| pair.v6 == address)
            .map(|pair| pair.v4)
    }

    fn received_4(&mut self, octets: &[u8], rigging: Rigging) -> Vec<Sent> {
        let Some(packet) = checked_4(octets, rigging) else {
            return Vec::new();
        };
        match self.translated_4(&packet, rigging) {
            Ok(packets) => packets
                .into_iter()
                .map(|packet| Sent {
                    side: Side::Ipv6,
                    octets: packet.octets(),
                })
                .collect(),
            Err(Refusal::Silent) => Vec::new(),
            Err(Refusal::WithError(error)) => self.error_4(&packet, octets, error, rigging),
        }
    }

    /// Section 4.1.
    fn translated_4(&self, packet: &V4, rigging: Rigging) -> Result<Vec<V6>, Refusal> {
        self.check_source_4(packet, rigging)?;
        if !packet.options.is_empty() {
            if has_unexpired_source_route(&packet.options)
                && !rigging.has(Fault::SourceRouteIgnored)
            {
                return Err(refuse(3, 5, 0));
            }
            if rigging.has(Fault::OptionsDropped) {
                return Err(Refusal::Silent);
            }
        }
        if packet.ttl <= 1 {
            return Err(if rigging.has(Fault::NoTimeExceeded) {
                Refusal::Silent
            } else {
                refuse(11, 0, 0)
            });
        }
        let destination = self.six(packet.destination).ok_or(refuse(3, 13, 0))?;
        let source = self.six(packet.source).or_else(|| {
            let embedded =
                Ipv6Addr::from((0x64_ff9b_u128 << 96) | u128::from(u32::from(packet.source)));
            is_illegal_4(packet.source).then_some(embedded)
        });
        let addresses = transport::Addresses {
            source: source.ok_or(refuse(3, 13, 0))?,
            destination,
        };
        let translated =
            transport::to_6(self, packet, addresses, rigging).ok_or(Refusal::Silent)?;
        self.sized_6(
            packet,
            self.header_6(packet, translated, addresses, rigging),
            rigging,
        )
    }

    fn check_source_4(&self, packet: &V4, rigging: Rigging) -> Result<(), Refusal> {
        if !is_illegal_4(packet.source) || rigging.has(Fault::IllegalSourceTranslated) {
            return Ok(());
        }
        let is_reported = rigging.has(Fault::ErrorToIllegalSource) && packet.ttl <= 1;
        Err(if is_reported {
            refuse(11, 0, 0)
        } else {
            Refusal::Silent
        })
    }

    fn header_6(
        &self,
        packet: &V4,
        translated: transport::Translated,
        addresses: transport::Addresses<Ipv6Addr>,
        rigging: Rigging,
    ) -> V6 {
        let fragment = packet
            .is_fragment()
            .then(|| Self::rigged_fragment(packet.fragment, rigging));
        V6 {
            class: rigging.class(packet.tos),
            flow: u32::from(rigging.has(Fault::FlowLabelUsed)),
            length: rigging.length(translated.data.len() as u16),
            hops: if rigging.has(Fault::HopLimitKept) {
                packet.ttl
            } else {
                packet.ttl - 1
            },
            fragment,
            protocol: translated.protocol,
            source: addresses.source,
            destination: addresses.destination,
            segments_left: None,
            data: translated.data,
        }
    }

    fn rigged_fragment(fragment: Fragment, rigging: Rigging) -> Fragment {
        Fragment {
            id: if rigging.has(Fault::IdentificationDropped) {
                0
            } else {
                fragment.id
            },
            offset: match rigging.fault {
                Some(Fault::OffsetDropped) => 0,
                Some(Fault::OffsetCut) => fragment.offset & 0x7fff,
                _ => fragment.offset,
            },
            more: fragment.more && !rigging.has(Fault::MoreFragmentsDropped),
        }
    }

    /// Section 4.1: fragments with DF clear, an error with DF set, where the packet is too big.
    fn sized_6(
        &self,
        packet: &V4,
        mut translated: V6,
        rigging: Rigging,
    ) -> Result<Vec<V6>, Refusal> {
        let size = 40 + u32::from(translated.length);
        let has_atomic_header = match rigging.fault {
            Some(Fault::FragmentHeaderAtLimit) => !packet.df && size == MINIMUM_MTU,
            Some(Fault::FragmentHeaderWithoutId) => !packet.df && packet.fragment.id == 0,
            Some(Fault::FragmentHeaderWithDf) => packet.df,
            _ => false,
        };
        if has_atomic_header {
            translated.fragment = translated.fragment.or(Some(packet.fragment));
        }
        let limit = if rigging.has(Fault::LinkTakenAs1280) {
            MINIMUM_MTU
        } else {
            self.links.mtu6
        };
        if packet.df && size > limit {
            return Err(match rigging.fault {
                Some(Fault::NoTooBig) => Refusal::Silent,
                Some(Fault::TooBigNotReduced) => refuse(3, 4, limit),
                _ => refuse(3, 4, limit - 20),
            });
        }
        let headers = if translated.fragment.is_some() { 8 } else { 0 };
        if packet.df || size + headers <= MINIMUM_MTU || rigging.has(Fault::NeverFragmented) {
            return Ok(vec![translated]);
        }
        let fragment = translated
            .fragment
            .unwrap_or(Self::rigged_fragment(packet.fragment, rigging));
        Ok(cut_6(translated, fragment))
    }

    /// Section 4.4, and RFC 1812 section 4.3.2.7.
    fn error_4(
        &self,
        about: &V4,
        octets: &[u8],
        error: ErrorHeader,
        rigging: Rigging,
    ) -> Vec<Sent> {
        let is_error = about.protocol == ICMP
            && about
                .data
                .first()
                .is_some_and(|kind| matches!(kind, 3 | 4 | 5 | 11 | 12));
        let is_refused = is_error && !rigging.has(Fault::ErrorAboutError)
            || about.fragment.offset > 0 && !rigging.has(Fault::ErrorAboutFragment);
        if is_refused {
            return Vec::new();
        }
        let code = if rigging.has(Fault::UnmappedWrongCode) && error.code == 13 {
            2
        } else {
            error.code
        };
        let mut data = [
            &[error.kind, code, 0, 0],
            &error.rest[..],
            &octets[..octets.len().min(548)],
        ]
        .concat();
        let checksum = !sum(&[&data]);
        data[2..4].copy_from_slice(&checksum.to_be_bytes());
        let fragment = Fragment {
            id: 0,
            offset: 0,
            more: false,
        };
        let (source, destination, total) = (self.own.v4, about.source, 20 + data.len() as u16);
        let error = V4 {
            tos: 0,
            total,
            fragment,
            df: false,
            ttl: 64,
            protocol: ICMP,
            source,
            destination,
            options: Vec::new(),
            data,
        };
        vec![Sent {
            side: Side::Ipv4,
            octets: error.octets(),
        }]
    }

    fn received_6(&mut self, octets: &[u8], rigging: Rigging) -> Vec<Sent> {
        let Some(packet) = V6::parse(octets) else {
            return Vec::new();
        };
        match self.translated_6(&packet, octets, rigging) {
            Ok(packets) => packets
                .into_iter()
                .map(|packet| Sent {
                    side: Side::Ipv4,
                    octets: packet.octets(),
                })
                .collect(),
            Err(Refusal::Silent) => Vec::new(),
            Err(Refusal::WithError(error)) => self.error_6(&packet, octets, error, rigging),
        }
    }

    /// Section 5.1.
    fn translated_6(
        &mut self,
        packet: &V6,
        octets: &[u8],
        rigging: Rigging,
    ) -> Result<Vec<V4>, Refusal> {
        let is_reported = rigging.has(Fault::ErrorToIllegalSource) && packet.hops <= 1;
        if is_illegal_6(packet.source)
            && !is_reported
            && !rigging.has(Fault::IllegalSourceTranslated)
        {
            return Err(Refusal::Silent);
        }
        if packet.source.segments()[..6] == WELL_KNOWN && !rigging.has(Fault::LastOctetsTaken) {
            return Err(Refusal::Silent);
        }
        if let Some(at) = packet
            .segments_left
            .filter(|_| !rigging.has(Fault::SourceRouteIgnored))
        {
            return Err(refuse(
                4,
                0,
                if rigging.has(Fault::SegmentsLeftPointerWrong) {
                    at - 3
                } else {
                    at
                },
            ));
        }
        if packet.hops <= 1 {
            return Err(if rigging.has(Fault::NoTimeExceeded) {
                Refusal::Silent
            } else {
                refuse(3, 0, 0)
            });
        }
        let destination = self.four(packet.destination).ok_or(refuse(1, 1, 0))?;
        let source = self.source_4(packet, rigging).ok_or(refuse(1, 1, 0))?;
        let is_dropped = packet.has_extension_after_fragment()
            && !rigging.has(Fault::ExtensionAfterFragmentTranslated)
            || packet.is_part() && packet.protocol == 50 && rigging.has(Fault::EspFragmentDropped);
        if is_dropped || has_too_many_extensions(octets, rigging) {
            return Err(Refusal::Silent);
        }
        let addresses = transport::Addresses {
            source,
            destination,
        };
        let translated =
            transport::to_4(self, packet, addresses, rigging).ok_or(Refusal::Silent)?;
        let header = self.header_4(packet, translated, addresses, rigging);
        self.sized_4(packet, header)
    }

    /// The source of a packet; that of an error without a mapping is the translator's own (RFC 6791).
    fn source_4(&self, packet: &V6, rigging: Rigging) -> Option<Ipv4Addr> {
        let is_error =
            packet.protocol == ICMPV6 && packet.data.first().is_some_and(|kind| *kind < 128);
        let stands_in =
            is_error && !rigging.has(Fault::UnmappedErrorDropped) || is_illegal_6(packet.source);
        let last = Ipv4Addr::from(u128::from(packet.source) as u32);
        self.four(packet.source)
            .or(rigging.has(Fault::LastOctetsTaken).then_some(last))
            .or(stands_in.then_some(self.own.v4))
    }

    fn header_4(
        &mut self,
        packet: &V6,
        translated: transport::Translated,
        addresses: transport::Addresses<Ipv4Addr>,
        rigging: Rigging,
    ) -> V4 {
        let total = 20 + translated.data.len() as u16;
        let id = self.next_id & 0xffff;
        self.next_id += 1;
        let whole = Fragment {
            id,
            offset: 0,
            more: false,
        };
        let fragment = packet
            .fragment
            .filter(|_| !rigging.has(Fault::FragmentHeaderSkipped))
            .map(|it| Self::rigged_fragment(it, rigging));
        let is_large = match rigging.fault {
            Some(Fault::DfSetOnSmall) => true,
            Some(Fault::DfClearOnLarge) => false,
            Some(Fault::DfSetAt1260) => total >= 1260,
            _ => total > 1260,
        };
        let flow = if rigging.has(Fault::FlowLabelUsed) {
            packet.flow as u8
        } else {
            0
        };
        V4 {
            tos: rigging.class(packet.class) | flow,
            total: rigging.length(total),
            df: if packet.fragment.is_some() {
                rigging.has(Fault::DfSetOnFragments)
            } else {
                is_large
            },
            fragment: fragment.unwrap_or(whole),
            ttl: if rigging.has(Fault::HopLimitKept) {
                packet.hops
            } else {
                packet.hops - 1
            },
            protocol: translated.protocol,
            source: addresses.source,
            destination: addresses.destination,
            options: Vec::new(),
            data: translated.data,
        }
    }

    /// Section 5.1.1: a packet that IPv6 carries anywhere is fragmented where IPv4 does not; about a larger one, there is an error.
    fn sized_4(&self, packet: &V6, translated: V4) -> Result<Vec<V4>, Refusal> {
        let limit = self.links.mtu4;
        if u32::from(translated.total) <= limit {
            return Ok(vec![translated]);
        }
        if translated.df && 40 + u32::from(packet.length) > MINIMUM_MTU {
            return Err(refuse(2, 0, limit + 20));
        }
        Ok(cut_4(translated, limit))
    }

    /// Section 5.4, and RFC 4443 section 2.4 (e).
    fn error_6(
        &self,
        about: &V6,
        octets: &[u8],
        error: ErrorHeader,
        rigging: Rigging,
    ) -> Vec<Sent> {
        let kind = about.data.first().filter(|_| about.protocol == ICMPV6);
        let is_refused =
            kind.is_some_and(|kind| *kind < 128) && !rigging.has(Fault::ErrorAboutError);
        if is_refused {
            return Vec::new();
        }
        let code = if rigging.has(Fault::UnmappedWrongCode) && error.kind == 1 {
            4
        } else {
            error.code
        };
        let data = [
            &[error.kind, code, 0, 0],
            &error.rest[..],
            &octets[..octets.len().min(1232)],
        ]
        .concat();
        let addresses = transport::Addresses {
            source: self.own.v6,
            destination: about.source,
        };
        let data = transport::sealed_icmp6(data, addresses);
        let error = V6 {
            class: 0,
            flow: 0,
            length: data.len() as u16,
            hops: 64,
            fragment: None,
            protocol: ICMPV6,
            source: addresses.source,
            destination: addresses.destination,
            segments_left: None,
            data,
        };
        vec![Sent {
            side: Side::Ipv6,
            octets: error.octets(),
        }]
    }
}

impl Rigging {
    fn length(self, length: u16) -> u16 {
        if self.has(Fault::LengthCut) {
            length & 0x3ff
        } else {
            length
        }
    }

    fn class(self, octet: u8) -> u8 {
        match self.fault {
            Some(Fault::ClassShifted) => octet >> 2,
            Some(Fault::EcnCleared) => octet & 0xfc,
            Some(Fault::ClassZeroed) => 0,
            _ => octet,
        }
    }
}

/// Returns whether a fault lets the translator drop a packet because of its extension headers.
fn has_too_many_extensions(octets: &[u8], rigging: Rigging) -> bool {
    let most = match rigging.fault {
        Some(Fault::ExtensionsDropped) => 0,
        Some(Fault::FourExtensionsSkipped) => 4,
        _ => return false,
    };
    let (mut next, mut at, mut count) = (octets[6], 40, 0);
    while [0, 43, 60].contains(&next) && at + 1 < octets.len() {
        (next, at, count) = (
            octets[at],
            at + 8 + 8 * usize::from(octets[at + 1]),
            count + 1,
        );
    }
    count > most
}

/// Returns the fragments of a packet, of at most 1232 octets of data each. One past 65,535 octets, which nobody can reassemble, has the offset that is left
/// of the sum.
fn cut_6(packet: V6, first: Fragment) -> Vec<V6> {
    let pieces: Vec<&[u8]> = packet.data.chunks(1232).collect();
    let last = pieces.len() - 1;
    let fragment = |number: usize| Fragment {
        offset: first.offset.wrapping_add(1232 * number as u16),
        more: first.more || number < last,
        ..first
    };
    let piece = |(number, data): (usize, &&[u8])| V6 {
        length: data.len() as u16,
        fragment: Some(fragment(number)),
        data: data.to_vec(),
        ..packet.clone()
    };
    pieces.iter().enumerate().map(piece).collect()
}

/// Returns the fragments of a packet for a link.
fn cut_4(packet: V4, limit: u32) -> Vec<V4> {
    let most = (limit as usize - 20) & !7;
    let pieces: Vec<&[u8]> = packet.data.chunks(most).collect();
    let (first, last) = (packet.fragment, pieces.len() - 1);
    let fragment = |number: usize| Fragment {
        offset: first.offset.wrapping_add((most * number) as u16),
        more: first.more || number < last,
        ..first
    };
    let piece = |(number, data): (usize, &&[u8])| V4 {
        total: 20 + data.len() as u16,
        df: false,
        fragment: fragment(number),
        data: data.to_vec(),
        ..packet.clone()
    };
    pieces.iter().enumerate().map(piece).collect()
}
