//! What frames are drawn by, so that each kind of them is as frequent as any other: the side and the protocol of the valid datagram, its length, and the
//! mistake. Vectors are unevenly spread over these: there are twenty of UDP for one of TCP.

use super::mutation::Mutation;
use crate::frame::{LayerKind, Side, dissect};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// The protocol that a valid datagram carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CarriedProtocol {
    /// A segment of TCP.
    Tcp,
    /// A datagram of UDP.
    Udp,
    /// A message of ICMP or ICMPv6 that is no error.
    IcmpMessage,
    /// An ICMP or ICMPv6 error, with the datagram that it is about.
    IcmpError,
    /// A fragment of any of them.
    Fragment,
    /// Anything else.
    Other,
}

/// The length that a valid datagram is given before mistakes are made in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DrawnLength {
    /// That of the vector.
    OfVector,
    /// Only its headers.
    HeadersAlone,
    /// Any.
    Any,
    /// Within 8 octets of 1280, the smallest MTU of a link with IPv6 (RFC 8200 section 5).
    LeastMtu,
    /// At most 8 octets less than the MTU of the link.
    LinkMtu,
}

/// The valid datagrams that are alike: the side on which they are sent, and what they carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DatagramGroup {
    /// The side.
    pub side: Side,
    /// The protocol.
    pub protocol: CarriedProtocol,
}

/// `UDP on 4`.
impl fmt::Display for DatagramGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on {}", self.protocol.name(), self.side)
    }
}

/// A kind of frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MalformedKind {
    /// The group of the valid datagram.
    pub group: DatagramGroup,
    /// The length that it was given.
    pub length: DrawnLength,
    /// The first mistake; `None` if nothing had a place for one.
    pub mistake: Option<Mutation>,
}

/// The numbers of frames of each kind that were sent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FrameCoverage {
    /// By the group of the valid datagram.
    pub groups: BTreeMap<String, u64>,
    /// By the length that it was given.
    pub lengths: BTreeMap<&'static str, u64>,
    /// By the first mistake.
    pub mistakes: BTreeMap<&'static str, u64>,
}

impl CarriedProtocol {
    /// Returns what a datagram carries, from its IP header on.
    pub fn carried_by(datagram: &[u8]) -> Self {
        let layers = dissect(datagram);
        if layers.iter().any(|layer| layer.is_in_error) {
            return Self::IcmpError;
        }
        let mut headers = layers.iter();
        if headers.any(|layer| layer.is_in_fragment || layer.kind == LayerKind::Frag) {
            return Self::Fragment;
        }
        let carried = layers.iter().rev().find_map(|layer| match layer.kind {
            LayerKind::Tcp => Some(Self::Tcp),
            LayerKind::Udp => Some(Self::Udp),
            LayerKind::Icmp | LayerKind::Icmp6 => Some(Self::IcmpMessage),
            _ => None,
        });
        carried.unwrap_or(Self::Other)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Tcp => "TCP",
            Self::Udp => "UDP",
            Self::IcmpMessage => "ICMP messages",
            Self::IcmpError => "ICMP errors",
            Self::Fragment => "fragments",
            Self::Other => "others",
        }
    }
}

impl DrawnLength {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::OfVector,
        Self::HeadersAlone,
        Self::Any,
        Self::LeastMtu,
        Self::LinkMtu,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::OfVector => "as in the vector",
            Self::HeadersAlone => "headers alone",
            Self::Any => "any",
            Self::LeastMtu => "about 1280",
            Self::LinkMtu => "about the MTU",
        }
    }
}

impl FrameCoverage {
    /// Counts a frame.
    pub fn add(&mut self, kind: MalformedKind) {
        let mistake = kind.mistake.map_or("none", Mutation::name);
        *self.groups.entry(kind.group.to_string()).or_default() += 1;
        *self.lengths.entry(kind.length.name()).or_default() += 1;
        *self.mistakes.entry(mistake).or_default() += 1;
    }

    /// Returns the lines of a report: what the frames were made of.
    pub(super) fn lines(&self) -> [(&'static str, String); 3] {
        let groups = self
            .groups
            .iter()
            .map(|(name, frames)| (&name[..], *frames));
        let lengths = self.lengths.iter().map(|(name, frames)| (*name, *frames));
        let mistakes = self.mistakes.iter().map(|(name, frames)| (*name, *frames));
        [
            ("made from", listed(groups)),
            ("their lengths", listed(lengths)),
            ("first mistakes", listed(mistakes)),
        ]
    }
}

fn listed<'n>(counts: impl Iterator<Item = (&'n str, u64)>) -> String {
    let words: Vec<String> = counts
        .map(|(name, frames)| format!("{frames} {name}"))
        .collect();
    words.join(", ")
}
