//! The tables of RFC 7915 sections 4.2 and 5.2: what becomes of type, code, pointer and MTU.

use super::fault::Fault;
use super::translator::{Links, Rigging};

/// The header of an ICMP or ICMPv6 error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ErrorHeader {
    pub(crate) kind: u8,
    pub(crate) code: u8,
    /// The four octets after the checksum.
    pub(crate) rest: [u8; 4],
}

/// What is known of the packet in error.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quoted {
    /// The Total Length of IPv4.
    pub(crate) total: u16,
    pub(crate) is_fragment: bool,
}

/// The smallest MTU of an IPv6 link.
pub(crate) const MINIMUM_MTU: u32 = 1280;
/// RFC 1191 section 7, table 7-1.
const PLATEAUS: [u32; 11] = [
    65535, 32000, 17914, 8166, 4352, 2002, 1492, 1006, 508, 296, 68,
];

/// Figure 3: the pointers of IPv4, and those of IPv6.
fn pointer_to_6(pointer: u8) -> Option<u32> {
    Some(match pointer {
        0 | 1 => u32::from(pointer),
        2 | 3 => 4,
        8 => 7,
        9 => 6,
        12..=15 => 8,
        16..=19 => 24,
        _ => return None,
    })
}

/// Figure 6: the pointers of IPv6, and those of IPv4.
fn pointer_to_4(pointer: u32) -> Option<u8> {
    Some(match pointer {
        0 | 1 => pointer as u8,
        4 | 5 => 2,
        6 => 9,
        7 => 8,
        8..=23 => 12,
        24..=39 => 16,
        _ => return None,
    })
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "arms of the tables read like their neighbours that drop"
)]
fn header(kind: u8, code: u8, rest: u32) -> Option<ErrorHeader> {
    Some(ErrorHeader {
        kind,
        code,
        rest: rest.to_be_bytes(),
    })
}

/// Returns the ICMPv6 error for an ICMPv4 error (section 4.2); `None` if it is to be dropped.
pub(crate) fn error_to_6(
    error: ErrorHeader,
    quoted: Quoted,
    links: Links,
    rigging: Rigging,
) -> Option<ErrorHeader> {
    match error.kind {
        3 => unreachable_to_6(error, quoted, links, rigging),
        11 => header(3, rigging.code_of_time_exceeded(error.code), 0),
        12 => parameter_problem_to_6(error, rigging),
        kind => rigging
            .has(Fault::UntranslatableForwarded)
            .then_some(ErrorHeader { kind, ..error }),
    }
}

fn unreachable_to_6(
    error: ErrorHeader,
    quoted: Quoted,
    links: Links,
    rigging: Rigging,
) -> Option<ErrorHeader> {
    if rigging.has(Fault::UnreachableCodeKept) && !matches!(error.code, 2 | 4 | 14 | 16..) {
        return header(1, error.code, 0);
    }
    match error.code {
        0 | 1 | 5..=8 | 11 | 12 => header(1, 0, 0),
        2 if rigging.has(Fault::ProtocolUnreachableAsHost) => header(1, 0, 0),
        2 => header(4, 1, 6),
        3 => header(1, 4, 0),
        4 => {
            let [_, _, high, low] = error.rest;
            header(
                2,
                0,
                mtu_to_6(
                    u32::from(u16::from_be_bytes([high, low])),
                    quoted,
                    links,
                    rigging,
                ),
            )
        }
        9 | 10 | 13 | 15 => header(1, 1, 0),
        _ => rigging
            .has(Fault::UnknownCodeTranslated)
            .then_some(ErrorHeader {
                kind: 1,
                code: 0,
                rest: [0; 4],
            }),
    }
}

fn mtu_to_6(mtu: u32, quoted: Quoted, links: Links, rigging: Rigging) -> u32 {
    if mtu == 0 && !rigging.has(Fault::PlateauIgnored) {
        return plateau(quoted, rigging).min(links.mtu6);
    }
    let raised = if rigging.has(Fault::MtuKept) {
        mtu
    } else {
        mtu + 20
    };
    let capped = if rigging.has(Fault::MtuUncapped) {
        raised
    } else {
        raised.min(links.mtu6).min(links.mtu4 + 20)
    };
    if rigging.has(Fault::MtuBelowMinimum) {
        capped
    } else {
        capped.max(MINIMUM_MTU)
    }
}

/// Returns the greatest plateau that is less than the Total Length, but at least the minimum MTU of IPv6; that minimum, if there is none.
fn plateau(quoted: Quoted, rigging: Rigging) -> u32 {
    let total = u32::from(quoted.total) + u32::from(rigging.has(Fault::PlateauAsLarge));
    let least = if rigging.has(Fault::PlateauBelowMinimum) {
        0
    } else {
        MINIMUM_MTU
    };
    let plateau = PLATEAUS.into_iter().find(|plateau| *plateau < total);
    plateau
        .filter(|plateau| *plateau >= least)
        .unwrap_or(MINIMUM_MTU)
}

fn parameter_problem_to_6(error: ErrorHeader, rigging: Rigging) -> Option<ErrorHeader> {
    let is_translated = match error.code {
        0 => true,
        2 => !rigging.has(Fault::BadLengthDropped),
        _ => rigging.has(Fault::ParameterProblemCodesIgnored),
    };
    let pointer = error.rest[0];
    let translated = match rigging.fault {
        Some(Fault::PointerKept) => Some(u32::from(pointer)),
        Some(Fault::PointerOffByOne) => pointer_to_6(pointer).map(|pointer| pointer + 1),
        _ => pointer_to_6(pointer),
    };
    header(4, 0, translated.filter(|_| is_translated)?)
}

/// Returns the ICMPv4 error for an ICMPv6 error (section 5.2); `None` if it is to be dropped.
pub(crate) fn error_to_4(
    error: ErrorHeader,
    quoted: Quoted,
    links: Links,
    rigging: Rigging,
) -> Option<ErrorHeader> {
    let word = u32::from_be_bytes(error.rest);
    match error.kind {
        1 => header(3, unreachable_code_to_4(error.code, rigging)?, 0),
        2 => header(3, 4, mtu_to_4(word, quoted, links, rigging) & 0xffff),
        3 => header(11, rigging.code_of_time_exceeded(error.code), 0),
        4 => parameter_problem_to_4(error.code, word, rigging),
        kind => rigging
            .has(Fault::UntranslatableForwarded)
            .then_some(ErrorHeader { kind, ..error }),
    }
}

fn unreachable_code_to_4(code: u8, rigging: Rigging) -> Option<u8> {
    if rigging.has(Fault::UnreachableCodeKept) && code <= 4 {
        return Some(code);
    }
    match code {
        0 | 2 | 3 => Some(1),
        1 => Some(10),
        4 => Some(3),
        _ => rigging.has(Fault::UnknownCodeTranslated).then_some(1),
    }
}

fn mtu_to_4(mtu: u32, quoted: Quoted, links: Links, rigging: Rigging) -> u32 {
    if rigging.has(Fault::FragmentMtuKept) && quoted.is_fragment {
        return mtu;
    }
    let lowered = if rigging.has(Fault::MtuKept) {
        mtu
    } else {
        mtu.saturating_sub(20)
    };
    if rigging.has(Fault::MtuUncapped) {
        lowered
    } else {
        lowered.min(links.mtu4).min(links.mtu6 - 20)
    }
}

fn parameter_problem_to_4(code: u8, pointer: u32, rigging: Rigging) -> Option<ErrorHeader> {
    let translated = match rigging.fault {
        Some(Fault::PointerKept) => Some(pointer as u8),
        Some(Fault::PointerOffByOne) => pointer_to_4(pointer).map(|pointer| pointer + 1),
        _ => pointer_to_4(pointer),
    };
    match code {
        1 if rigging.has(Fault::ProtocolUnreachableAsHost) => header(3, 1, 0),
        1 => header(3, 2, 0),
        0 => header(12, 0, u32::from(translated?) << 24),
        _ => rigging
            .has(Fault::ParameterProblemCodesIgnored)
            .then_some(ErrorHeader {
                kind: 12,
                code: 0,
                rest: [0; 4],
            }),
    }
}
