//! The variable 32 bits of the addresses on either side of the DUT: their position, and the values they take.

use super::flow::Counter;
use super::profile::{AddressVariation, TrafficProfile};
use sixbench_method::terms::{Direction, IpVersion};
use sixbench_wire::template::{part_of, with_part};
use std::net::IpAddr;

/// The octet at which the last 32 bits of an IPv4 address begin.
const LAST_AT_IPV4: usize = 0;
/// The octet at which the last 32 bits of an IPv6 address begin.
const LAST_AT_IPV6: usize = 12;
const UPPER_HALF: u32 = 0xffff_0000;
const LOWER_HALF: u32 = 0xffff;

/// Maps a place in a range to the 32 bits of an address on one side of the DUT.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AddressField {
    /// The bits that do not vary.
    kept: u32,
    /// The value of place 0.
    first: u32,
    step: u32,
    /// The bits that may vary.
    mask: u32,
}

impl AddressField {
    /// Returns the field for a variation; `own` are the 32 bits of the path's own address.
    pub(crate) fn new(variation: AddressVariation, version: IpVersion, own: u32) -> Self {
        let lower = |step| Self {
            kept: own & UPPER_HALF,
            first: own & LOWER_HALF,
            step,
            mask: LOWER_HALF,
        };
        match (variation, version) {
            (AddressVariation::None, _) => Self {
                kept: own,
                first: 0,
                step: 0,
                mask: 0,
            },
            (AddressVariation::Part(part), IpVersion::Ipv4) => {
                Self::of_part(part.range.first, part.ipv4_offset, own)
            }
            (AddressVariation::Part(part), IpVersion::Ipv6) => {
                Self::of_part(part.range.first, part.ipv6_offset, own)
            }
            (AddressVariation::Networks(_), IpVersion::Ipv4) => lower(1 << 8),
            (AddressVariation::Networks(_), IpVersion::Ipv6) => lower(1),
        }
    }

    /// Returns the field of a part. The 16 bits from octet `offset` on are the lower half of the 32 bits, unless `offset` is 0, before which
    /// there are none.
    fn of_part(first: u32, offset: u8, own: u32) -> Self {
        match offset {
            0 => Self {
                kept: own & LOWER_HALF,
                first: first << 16,
                step: 1 << 16,
                mask: UPPER_HALF,
            },
            _ => Self {
                kept: 0,
                first: (own & UPPER_HALF).wrapping_add(first),
                step: 1,
                mask: u32::MAX,
            },
        }
    }

    /// Returns the field of a pool, whose addresses differ in their last 16 bits, which are the places.
    fn of_pool(own: u32) -> Self {
        Self {
            kept: own & UPPER_HALF,
            first: 0,
            step: 1,
            mask: LOWER_HALF,
        }
    }

    #[inline(always)]
    pub(crate) fn at(self, place: u32) -> u32 {
        self.kept | self.first.wrapping_add(place.wrapping_mul(self.step)) & self.mask
    }
}

impl AddressVariation {
    /// Returns every value of the address `own`, in the order of the values; none if it does not vary.
    pub fn addresses(self, own: IpAddr) -> impl Iterator<Item = IpAddr> {
        let version = version(own);
        let at = self.begins_at(version);
        let field = AddressField::new(self, version, part_of(own, at));
        let count = match self {
            Self::None => 0,
            Self::Part(part) => part.range.count(),
            Self::Networks(count) => u32::from(count),
        };
        (0..count).map(move |place| with_part(own, at, field.at(place)))
    }
}

/// Returns the address of a pool with these last 16 bits.
pub(crate) fn pool_address(own: IpAddr, last: u16) -> IpAddr {
    let at = last_at(version(own));
    with_part(
        own,
        at,
        AddressField::of_pool(part_of(own, at)).at(u32::from(last)),
    )
}

fn last_at(version: IpVersion) -> usize {
    match version {
        IpVersion::Ipv4 => LAST_AT_IPV4,
        IpVersion::Ipv6 => LAST_AT_IPV6,
    }
}

pub(crate) fn version(address: IpAddr) -> IpVersion {
    if address.is_ipv4() {
        IpVersion::Ipv4
    } else {
        IpVersion::Ipv6
    }
}

/// The side on which a frame is seen, and the side that sent it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Viewpoint {
    /// True on the Initiator's link, where its own addresses are seen; false on the Responder's.
    pub(crate) at_initiator: bool,
    /// True if the Initiator sent it.
    pub(crate) of_initiator: bool,
}

impl Viewpoint {
    /// Returns whether the frame has a source that the DUT has translated, which must be learned here because it is not known.
    pub(crate) fn is_translated(self) -> bool {
        self.of_initiator && !self.at_initiator
    }
}

fn counter(variation: AddressVariation) -> Option<Counter> {
    match variation {
        AddressVariation::None => None,
        AddressVariation::Part(part) => Some(Counter::new(part.range)),
        AddressVariation::Networks(count) => Some(Counter::random(count)),
    }
}

/// The variable 32 bits of the addresses of one side.
#[derive(Clone, Copy)]
pub(crate) struct VaryingAddresses {
    /// The octet at which they begin.
    pub(crate) at: usize,
    variation: AddressVariation,
    /// True if the DUT takes the addresses from its pool.
    is_pool: bool,
}

impl VaryingAddresses {
    pub(crate) fn address_field(self, version: IpVersion, own: u32) -> AddressField {
        if self.is_pool {
            AddressField::of_pool(own)
        } else {
            AddressField::new(self.variation, version, own)
        }
    }
}

/// Returns the variable bits of source and destination.
pub(crate) fn sides(
    source: AddressVariation,
    destination: AddressVariation,
    version: IpVersion,
    view: Option<Viewpoint>,
) -> (VaryingAddresses, VaryingAddresses) {
    let own = |variation: AddressVariation| VaryingAddresses {
        at: variation.begins_at(version),
        variation,
        is_pool: false,
    };
    let pool = |variation| VaryingAddresses {
        at: last_at(version),
        variation,
        is_pool: true,
    };
    match view {
        Some(Viewpoint {
            at_initiator: false,
            of_initiator: true,
        }) => (pool(source), own(destination)),
        Some(Viewpoint {
            at_initiator: false,
            of_initiator: false,
        }) => (own(source), pool(destination)),
        _ => (own(source), own(destination)),
    }
}

/// Returns the counters of the source and destination address; `None` if neither varies.
pub(crate) fn counters(
    profile: &TrafficProfile,
    direction: Direction,
) -> Option<(Counter, Counter)> {
    let (source, destination) = profile.variations(direction);
    match (counter(source), counter(destination)) {
        (None, None) => None,
        (source, destination) => Some((
            source.unwrap_or(Counter::random(1)),
            destination.unwrap_or(Counter::random(1)),
        )),
    }
}
