//! What the frames of a test look like on either side of the DUT, and who the neighbours are.
//! The engine knows no technologies: a translator, a tunnel, a router are all "sent like this, must come back like that".

use sixbench_method::plan::Ports;
use sixbench_method::terms::{Direction, Directions, FrameSize, Share};
use std::net::IpAddr;

/// Addresses of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ends {
    /// Source.
    pub source: IpAddr,
    /// Destination.
    pub destination: IpAddr,
}

/// One kind of traffic in one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Path {
    /// As it leaves the tester.
    pub sent: Ends,
    /// As it must come back.
    pub expected: Ends,
    /// By how much the DUT lowers the hop limit (RFC 7915: as a router, by at least one).
    pub hops: u8,
}

/// Both kinds of traffic of one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paths {
    /// Translated, or simply forwarded where nothing is translated.
    pub foreground: Path,
    /// Native IPv6 through the DUT.
    pub background: Option<Path>,
}

/// A pair of neighbours on a link: the tester answers for `tester` and resolves `dut`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Neighbours {
    /// An address the DUT reaches on this link.
    pub tester: IpAddr,
    /// The DUT's own address on it, of the same family.
    pub dut: IpAddr,
}

/// How the variable 16 bits of the addresses follow each other (draft-lencse-bmwg-multiple-ip-addresses).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AddressOrder {
    /// Always those of the profile.
    #[default]
    Fixed,
    /// Pseudorandom: the last two octets of IPv4 addresses, bits 96 to 111 of IPv6 addresses, the same bits on both sides of the DUT.
    Pseudorandom,
}

/// The traffic of one point of a plan.
#[derive(Clone, Debug)]
pub struct Profile {
    /// Nominal frame size.
    pub frame_size: FrameSize,
    /// Which directions are loaded.
    pub directions: Directions,
    /// Left to right.
    pub forward: Paths,
    /// Right to left.
    pub reverse: Paths,
    /// Foreground frames among all.
    pub share: Share,
    /// UDP ports.
    pub ports: Ports,
    /// Addresses beside those of the paths.
    pub addresses: AddressOrder,
    /// Whether the DUT is known to write a UDP checksum of zero where all ones is due: such frames count as received, and are said.
    pub zero_checksum_is_known: bool,
    /// Seed of everything pseudorandom.
    pub seed: u64,
    /// Neighbours on the left link.
    pub left: Vec<Neighbours>,
    /// Neighbours on the right link.
    pub right: Vec<Neighbours>,
}

impl Profile {
    /// The paths of a direction.
    pub fn paths(&self, direction: Direction) -> &Paths {
        match direction {
            Direction::Forward => &self.forward,
            Direction::Reverse => &self.reverse,
        }
    }

    /// Every path that carries frames, with its direction.
    pub fn loaded_paths(&self) -> impl Iterator<Item = (Direction, &Path)> {
        self.directions.each().iter().flat_map(|&direction| {
            let paths = self.paths(direction);
            let background = paths.background.as_ref().filter(|_| self.share.foreground < self.share.of);
            std::iter::once(&paths.foreground).chain(background).map(move |path| (direction, path))
        })
    }
}
