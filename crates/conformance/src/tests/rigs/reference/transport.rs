//! What a packet carries: RFC 7915 sections 4.2, 4.3, 4.5 from IPv4 to IPv6, and 5.2, 5.3, 5.5 from IPv6 to IPv4.

use super::datagram::{
    Fragment, ICMP, ICMPV6, IGMP, TCP, UDP, V4, V6, adjusted, set_word, sum, word,
};
use super::fault::Fault;
use super::icmp::{ErrorHeader, Quoted, error_to_4, error_to_6};
use super::translator::{Rigging, Translator};
use std::net::{Ipv4Addr, Ipv6Addr};

/// The addresses of a packet after its translation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Addresses<A> {
    pub(crate) source: A,
    pub(crate) destination: A,
}

impl Addresses<Ipv6Addr> {
    fn octets(self) -> Vec<u8> {
        [self.source.octets(), self.destination.octets()].concat()
    }
}

impl Addresses<Ipv4Addr> {
    fn octets(self) -> Vec<u8> {
        [self.source.octets(), self.destination.octets()].concat()
    }
}

/// What a packet carries after its translation.
pub(crate) struct Translated {
    pub(crate) protocol: u8,
    pub(crate) data: Vec<u8>,
}

/// The octets that a pseudo-header sums up, before and after.
struct PseudoHeaders {
    gone: Vec<u8>,
    come: Vec<u8>,
}

/// Where a datagram's transport header stands.
#[derive(Clone, Copy)]
struct Place {
    protocol: u8,
    is_first: bool,
    is_part: bool,
    is_inner: bool,
}

/// Returns what an IPv6 packet carries instead; `None` if the packet is to be dropped.
pub(crate) fn to_6(
    translator: &Translator,
    packet: &V4,
    addresses: Addresses<Ipv6Addr>,
    rigging: Rigging,
) -> Option<Translated> {
    let place = Place {
        protocol: packet.protocol,
        is_first: packet.fragment.offset == 0,
        is_part: packet.is_fragment(),
        is_inner: false,
    };
    if rigging.has(Fault::Dropped) {
        return None;
    }
    if place.protocol == ICMP {
        return icmp_to_6(translator, packet, addresses, rigging);
    }
    let mut data = packet.data.clone();
    if rigging.has(Fault::OptionsKept) {
        data.splice(..0, packet.options.iter().copied());
    }
    let before = Addresses {
        source: packet.source,
        destination: packet.destination,
    };
    let sums = PseudoHeaders {
        gone: before.octets(),
        come: addresses.octets(),
    };
    if place.protocol == UDP && place.is_first && data.len() >= 8 && word(&data, 6) == 0 {
        return without_udp_sum(data, place, &addresses.octets(), rigging);
    }
    with_transport(data, place, &sums, rigging)
}

/// Section 4.5: a UDP checksum is calculated if the datagram is whole.
fn without_udp_sum(
    mut data: Vec<u8>,
    place: Place,
    addresses: &[u8],
    rigging: Rigging,
) -> Option<Translated> {
    let is_dropped = place.is_part && !rigging.has(Fault::NoUdpSumFragmentSummed);
    if !rigging.has(Fault::NoUdpSumForwarded) && !is_dropped {
        let length = [data[4], data[5]];
        let checksum = !sum(&[addresses, &[0, UDP], &length, &data]);
        set_word(&mut data, 6, if checksum == 0 { 0xffff } else { checksum });
    }
    (!is_dropped).then_some(Translated {
        protocol: UDP,
        data,
    })
}

/// Sections 4.5 and 5.5: the checksums with a pseudo-header.
fn with_transport(
    mut data: Vec<u8>,
    place: Place,
    sums: &PseudoHeaders,
    rigging: Rigging,
) -> Option<Translated> {
    let Place {
        protocol,
        is_first,
        is_inner,
        ..
    } = place;
    let (at, is_kept) = match protocol {
        TCP => (
            16,
            rigging.has(if is_inner {
                Fault::InnerTcpSumKept
            } else {
                Fault::TcpSumKept
            }),
        ),
        UDP => (6, is_udp_sum_kept(&data, is_inner, rigging)),
        IGMP => {
            return rigging
                .has(Fault::IgmpForwarded)
                .then_some(Translated { protocol, data });
        }
        _ => {
            let drop = if is_inner {
                Fault::InnerProtocolDropped
            } else {
                Fault::OtherProtocolsDropped
            };
            return (!rigging.has(drop)).then_some(Translated { protocol, data });
        }
    };
    let is_absent = protocol == UDP && data.len() >= 8 && word(&data, at) == 0;
    if is_first && data.len() >= at + 2 && !is_kept && !is_absent {
        let checksum = adjusted(word(&data, at), &[&sums.gone], &[&sums.come]);
        let is_zero = protocol == UDP && checksum == 0 && !rigging.has(Fault::UdpSumZero);
        set_word(&mut data, at, if is_zero { 0xffff } else { checksum });
    }
    Some(Translated { protocol, data })
}

fn is_udp_sum_kept(data: &[u8], is_inner: bool, rigging: Rigging) -> bool {
    let fault = if is_inner {
        Fault::InnerUdpSumKept
    } else {
        Fault::UdpOddSumKept
    };
    rigging.has(fault) && data.len() % 2 == 1
}

/// Returns the type of an echo in the other version.
fn echo_type(kind: u8) -> Option<u8> {
    Some(match kind {
        8 => 128,
        0 => 129,
        128 => 8,
        129 => 0,
        _ => return None,
    })
}

/// Returns an echo with its type in the other version; the checksum is still the old one.
fn echo(message: &[u8], kind: u8, rigging: Rigging) -> Vec<u8> {
    let mut data = message.to_vec();
    data[0] = if rigging.has(Fault::EchoTypeKept) {
        data[0]
    } else {
        kind
    };
    if rigging.has(Fault::EchoIdentifierLost) {
        data[4..6].fill(0);
    }
    data
}

/// Returns an ICMPv6 message with its checksum.
pub(crate) fn sealed_icmp6(mut data: Vec<u8>, addresses: Addresses<Ipv6Addr>) -> Vec<u8> {
    set_word(&mut data, 2, 0);
    let length = (data.len() as u32).to_be_bytes();
    let checksum = !sum(&[&addresses.octets(), &length, &[0, ICMPV6], &data]);
    set_word(&mut data, 2, checksum);
    data
}

/// Returns an ICMPv4 message with its checksum.
fn sealed_icmp4(mut data: Vec<u8>) -> Vec<u8> {
    set_word(&mut data, 2, 0);
    let checksum = !sum(&[&data]);
    set_word(&mut data, 2, checksum);
    data
}

/// Section 4.2. Fragments of ICMP are not translated (section 1.2).
fn icmp_to_6(
    translator: &Translator,
    packet: &V4,
    addresses: Addresses<Ipv6Addr>,
    rigging: Rigging,
) -> Option<Translated> {
    if packet.is_fragment() {
        let data = packet.data.clone();
        return rigging
            .has(Fault::IcmpFragmentsTranslated)
            .then_some(Translated {
                protocol: ICMPV6,
                data,
            });
    }
    let message = packet.data.get(..8).map(|_| &packet.data[..])?;
    let data = match (message[0], echo_type(message[0])) {
        (0 | 8, Some(kind)) => echo(message, kind, rigging),
        // All types but those of errors that are translated or dropped one by one: 3, 4, 5, 11 and 12.
        (1 | 2 | 6.., _) if !matches!(message[0], 11 | 12) => rigging
            .has(Fault::UntranslatableForwarded)
            .then(|| message.to_vec())?,
        _ => error_data_to_6(translator, message, rigging)?,
    };
    Some(Translated {
        protocol: ICMPV6,
        data: sealed_icmp6(data, addresses),
    })
}

/// An ICMP error taken apart by RFC 4884.
struct ErrorMessage<'a> {
    header: ErrorHeader,
    inner: &'a [u8],
    extension: &'a [u8],
}

/// Takes an error apart whose length attribute, in words of `unit` octets, is zero without an extension.
fn error_message(message: &[u8], length: u8, unit: usize) -> ErrorMessage<'_> {
    let quoted = &message[8..];
    let at = if length == 0 {
        quoted.len()
    } else {
        (usize::from(length) * unit).min(quoted.len())
    };
    let (inner, extension) = quoted.split_at(at);
    let header = ErrorHeader {
        kind: message[0],
        code: message[1],
        rest: [message[4], message[5], message[6], message[7]],
    };
    ErrorMessage {
        header,
        inner,
        extension,
    }
}

/// Returns an error with its packet in error and extension; `length_at` is the place of the length attribute among the last four octets of the header.
fn error_data(
    header: ErrorHeader,
    mut inner: Vec<u8>,
    message: &ErrorMessage<'_>,
    attribute: LengthAttribute,
    rigging: Rigging,
) -> Vec<u8> {
    let mut rest = header.rest;
    if !message.extension.is_empty() {
        let is_padded = !rigging.has(Fault::ExtensionUnpadded);
        let padded = if is_padded {
            inner.len().next_multiple_of(attribute.unit).max(128)
        } else {
            inner.len()
        };
        inner.resize(padded, 0);
        let adjusted = (padded / attribute.unit) as u8;
        rest[attribute.at] = if rigging.has(Fault::ExtensionLengthKept) {
            attribute.before
        } else {
            adjusted
        };
    }
    let extension = if rigging.has(Fault::ExtensionCut) {
        &[]
    } else {
        message.extension
    };
    [
        &[header.kind, header.code, 0, 0],
        &rest[..],
        &inner,
        extension,
    ]
    .concat()
}

/// The length attribute of RFC 4884 in the translated error.
#[derive(Clone, Copy)]
struct LengthAttribute {
    /// Its place among the last four octets of the header.
    at: usize,
    /// The octets of its words.
    unit: usize,
    /// Its value before the translation.
    before: u8,
}

fn error_data_to_6(translator: &Translator, message: &[u8], rigging: Rigging) -> Option<Vec<u8>> {
    let length = if matches!(message[0], 3 | 11) && message[1] != 4 {
        message[5]
    } else {
        0
    };
    let error = error_message(message, length, 4);
    let inner = V4::parse(error.inner)?;
    let quoted = Quoted {
        total: inner.total,
        is_fragment: inner.is_fragment(),
    };
    let header = error_to_6(error.header, quoted, translator.links, rigging)?;
    let inner = inner_to_6(translator, &inner, rigging)?;
    let attribute = LengthAttribute {
        at: 0,
        unit: 8,
        before: length,
    };
    Some(error_data(header, inner, &error, attribute, rigging))
}

/// Section 4.3: the packet in error is translated like a normal one, but for its hop limit.
fn inner_to_6(translator: &Translator, inner: &V4, rigging: Rigging) -> Option<Vec<u8>> {
    let place = Place {
        protocol: inner.protocol,
        is_first: inner.fragment.offset == 0,
        is_part: inner.is_fragment(),
        is_inner: true,
    };
    if !inner.options.is_empty() && rigging.has(Fault::InnerExtensionsDropped) {
        return None;
    }
    let addresses = Addresses {
        source: translator.six(inner.source)?,
        destination: translator.six(inner.destination)?,
    };
    let before = Addresses {
        source: inner.source,
        destination: inner.destination,
    };
    let translated = if place.protocol == ICMP {
        let length = u32::from(inner.claimed()).to_be_bytes();
        let come = [&addresses.octets()[..], &length, &[0, ICMPV6]].concat();
        inner_icmp(
            &inner.data,
            ICMPV6,
            &PseudoHeaders {
                gone: Vec::new(),
                come,
            },
            rigging,
        )?
    } else {
        with_transport(
            inner.data.clone(),
            place,
            &PseudoHeaders {
                gone: before.octets(),
                come: addresses.octets(),
            },
            rigging,
        )?
    };
    let addresses = rigging.inner_addresses(addresses);
    let packet = V6 {
        class: rigging.inner_class(inner.tos),
        flow: 0,
        length: if rigging.has(Fault::InnerLengthOfQuoted) {
            translated.data.len() as u16
        } else {
            inner.claimed()
        },
        hops: inner
            .ttl
            .saturating_sub(u8::from(rigging.has(Fault::InnerHopLimitDecremented))),
        fragment: inner
            .is_fragment()
            .then_some(inner.fragment)
            .filter(|_| !rigging.has(Fault::InnerFragmentLost)),
        protocol: translated.protocol,
        source: addresses.source,
        destination: addresses.destination,
        segments_left: None,
        data: translated.data,
    };
    Some(packet.octets())
}

impl Rigging {
    fn inner_class(self, octet: u8) -> u8 {
        match self.fault {
            Some(Fault::InnerClassCut) => octet & 0x80,
            Some(Fault::ClassZeroed) => 0,
            _ => octet,
        }
    }

    fn inner_addresses<A: Copy>(self, addresses: Addresses<A>) -> Addresses<A> {
        let Addresses {
            source,
            destination,
        } = addresses;
        if self.has(Fault::InnerAddressesSwapped) {
            Addresses {
                source: destination,
                destination: source,
            }
        } else {
            addresses
        }
    }
}

/// Returns an echo in a packet in error, of which only the first octets may be there; an error is refused (sections 4.3 and 5.3).
fn inner_icmp(
    message: &[u8],
    protocol: u8,
    sums: &PseudoHeaders,
    rigging: Rigging,
) -> Option<Translated> {
    let before = [*message.first()?, *message.get(1)?];
    let kind = echo_type(before[0]).filter(|kind| (*kind >= 128) == (protocol == ICMPV6));
    let mut data = message.to_vec();
    match kind {
        Some(_) if rigging.has(Fault::InnerEchoKept) => {}
        Some(kind) => data[0] = kind,
        None => {
            return rigging
                .has(Fault::InnerErrorTranslated)
                .then_some(Translated { protocol, data });
        }
    }
    if data.len() >= 4 && !rigging.has(Fault::InnerEchoSumKept) {
        let after = [data[0], data[1]];
        let checksum = adjusted(
            word(&data, 2),
            &[&sums.gone, &before],
            &[&sums.come, &after],
        );
        set_word(&mut data, 2, checksum);
    }
    Some(Translated { protocol, data })
}

/// Returns what an IPv4 packet carries instead; `None` if the packet is to be dropped.
pub(crate) fn to_4(
    translator: &Translator,
    packet: &V6,
    addresses: Addresses<Ipv4Addr>,
    rigging: Rigging,
) -> Option<Translated> {
    let is_first = packet.fragment.is_none_or(|fragment| fragment.offset == 0);
    let place = Place {
        protocol: packet.protocol,
        is_first,
        is_part: packet.is_part(),
        is_inner: false,
    };
    if rigging.has(Fault::Dropped) {
        return None;
    }
    if place.protocol == ICMPV6 {
        return icmp_to_4(translator, packet, rigging);
    }
    let before = Addresses {
        source: packet.source,
        destination: packet.destination,
    };
    with_transport(
        packet.data.clone(),
        place,
        &PseudoHeaders {
            gone: before.octets(),
            come: addresses.octets(),
        },
        rigging,
    )
}

/// Section 5.2. Fragments of ICMPv6 are not translated (section 1.2).
fn icmp_to_4(translator: &Translator, packet: &V6, rigging: Rigging) -> Option<Translated> {
    if packet.is_part() {
        let data = packet.data.clone();
        return rigging
            .has(Fault::IcmpFragmentsTranslated)
            .then_some(Translated {
                protocol: ICMP,
                data,
            });
    }
    let message = packet.data.get(..8).map(|_| &packet.data[..])?;
    let data = match (message[0], echo_type(message[0])) {
        (128 | 129, Some(kind)) => echo(message, kind, rigging),
        (128.., _) => rigging
            .has(Fault::UntranslatableForwarded)
            .then(|| message.to_vec())?,
        _ => {
            let unmapped = translator
                .four(packet.source)
                .is_none()
                .then_some(packet.source);
            let data = error_data_to_4(translator, message, rigging)?;
            if let (3 | 11, Some(source)) = (data[0], unmapped) {
                with_source(data, source)
            } else {
                data
            }
        }
    };
    Some(Translated {
        protocol: ICMP,
        data: sealed_icmp4(data),
    })
}

/// Returns an ICMPv4 error of up to 128 octets in error with the Interface Information Object of RFC 5837 section 4.1 that names an IPv6 source
/// (RFC 6791 section 4). An error with an extension, or with an MTU, stays as it is.
fn with_source(mut message: Vec<u8>, source: Ipv6Addr) -> Vec<u8> {
    if message[5] > 0 || (message[0] == 3 && message[1] == 4) || message.len() > 8 + 128 {
        return message;
    }
    message.resize(8 + 128, 0);
    message[5] = 128 / 4;
    // Version 2; then length 24, class 2, and the bit for the address of the interface on which the packet in error arrived; then family 2.
    let mut extension = [
        &[0x20, 0, 0, 0, 0, 24, 2, 0x04, 0, 2, 0, 0],
        &source.octets()[..],
    ]
    .concat();
    let checksum = !sum(&[&extension]);
    set_word(&mut extension, 2, checksum);
    message.extend(extension);
    message
}

fn error_data_to_4(translator: &Translator, message: &[u8], rigging: Rigging) -> Option<Vec<u8>> {
    let length = if matches!(message[0], 1 | 3) {
        message[4]
    } else {
        0
    };
    let error = error_message(message, length, 8);
    let inner = V6::parse(error.inner)?;
    let quoted = Quoted {
        total: inner.length.saturating_add(20),
        is_fragment: inner.fragment.is_some(),
    };
    let header = error_to_4(error.header, quoted, translator.links, rigging)?;
    if has_inner_extension(error.inner) && rigging.has(Fault::InnerExtensionsDropped) {
        return None;
    }
    let inner = inner_to_4(translator, &inner, rigging)?;
    let attribute = LengthAttribute {
        at: 1,
        unit: 4,
        before: length,
    };
    Some(error_data(header, inner, &error, attribute, rigging))
}

fn has_inner_extension(inner: &[u8]) -> bool {
    inner.get(6).is_some_and(|next| [0, 43, 60].contains(next))
}

/// Section 5.3: the packet in error is translated like a normal one, but for its hop limit.
fn inner_to_4(translator: &Translator, inner: &V6, rigging: Rigging) -> Option<Vec<u8>> {
    let is_first = inner.fragment.is_none_or(|fragment| fragment.offset == 0);
    let place = Place {
        protocol: inner.protocol,
        is_first,
        is_part: inner.is_part(),
        is_inner: true,
    };
    let addresses = Addresses {
        source: translator.four(inner.source)?,
        destination: translator.four(inner.destination)?,
    };
    let before = Addresses {
        source: inner.source,
        destination: inner.destination,
    };
    let translated = if place.protocol == ICMPV6 {
        let length = u32::from(inner.length).to_be_bytes();
        let gone = [&before.octets()[..], &length, &[0, ICMPV6]].concat();
        inner_icmp(
            &inner.data,
            ICMP,
            &PseudoHeaders {
                gone,
                come: Vec::new(),
            },
            rigging,
        )?
    } else {
        with_transport(
            inner.data.clone(),
            place,
            &PseudoHeaders {
                gone: before.octets(),
                come: addresses.octets(),
            },
            rigging,
        )?
    };
    let addresses = rigging.inner_addresses(addresses);
    let length = if rigging.has(Fault::InnerLengthOfQuoted) {
        translated.data.len() as u16
    } else {
        inner.length
    };
    // The length of a malformed datagram may be the largest.
    let total = length.saturating_add(20);
    let fragment = inner
        .fragment
        .filter(|_| !rigging.has(Fault::InnerFragmentLost));
    let packet = V4 {
        tos: rigging.inner_class(inner.class),
        total,
        fragment: fragment.unwrap_or(Fragment {
            id: 0,
            offset: 0,
            more: false,
        }),
        // The limit is that of packets that are not in error: see the vector `64-df-1260`.
        df: inner.fragment.is_none() && total > 1260,
        ttl: inner
            .hops
            .saturating_sub(u8::from(rigging.has(Fault::InnerHopLimitDecremented))),
        protocol: translated.protocol,
        source: addresses.source,
        destination: addresses.destination,
        options: Vec::new(),
        data: translated.data,
    };
    let mut octets = packet.octets();
    // 68 octets are those of the one vector that asks for this checksum, `64-inner-header-sum`: the fault must show there and nowhere else.
    if rigging.has(Fault::InnerHeaderSumZero) && total == 68 {
        set_word(&mut octets, 10, 0);
    }
    Some(octets)
}
