//! The variable 16 bits of the addresses on either side of the DUT: where they stand, and which values they take.

use crate::flow::Counter;
use crate::profile::{AddressVariation, TrafficProfile};
use sixbench_method::terms::{Direction, IpVersion};

/// The addresses of a pool differ in their last 16 bits, which begin here.
pub(crate) const POOL_AT_IPV4: usize = 2;
/// The octet at which the last 16 bits of the IPv6 addresses of a pool begin.
pub(crate) const POOL_AT_IPV6: usize = 14;

/// From a place in a range to the 16 bits of an address on one side of the DUT.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AddressField {
    first: u16,
    step: u16,
}

impl AddressField {
    /// `own` are the 16 bits of the path's own address.
    pub(crate) fn new(variation: AddressVariation, version: IpVersion, own: u16) -> Self {
        match variation {
            AddressVariation::None => Self { first: own, step: 0 },
            AddressVariation::Part(part) => Self { first: part.range.first, step: 1 },
            AddressVariation::Networks(_) if version == IpVersion::Ipv4 => Self { first: own, step: 1 << 8 },
            AddressVariation::Networks(_) => Self { first: own, step: 1 },
        }
    }

    #[inline]
    pub(crate) fn at(self, place: u16) -> u16 {
        self.first.wrapping_add(place.wrapping_mul(self.step))
    }
}

/// The side from which a frame is seen, and the side that sent it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Viewpoint {
    /// True on the link of the Initiator, where its own addresses are seen; false on that of the Responder.
    pub(crate) at_initiator: bool,
    /// True if the Initiator sent it.
    pub(crate) of_initiator: bool,
}

impl Viewpoint {
    /// Returns whether the frame bears a source that the DUT has translated, which is to be learned here rather than known.
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

/// The variable 16 bits of the addresses of one side.
#[derive(Clone, Copy)]
pub(crate) struct VaryingAddresses {
    /// The octet at which they begin.
    pub(crate) at: usize,
    variation: AddressVariation,
    /// The DUT makes them, from its pool.
    is_pool: bool,
}

impl VaryingAddresses {
    pub(crate) fn address_field(self, version: IpVersion, own: u16) -> AddressField {
        if self.is_pool { AddressField { first: 0, step: 1 } } else { AddressField::new(self.variation, version, own) }
    }
}

/// Source and destination.
pub(crate) fn sides(
    (source, destination): (AddressVariation, AddressVariation),
    version: IpVersion,
    view: Option<Viewpoint>,
) -> (VaryingAddresses, VaryingAddresses) {
    let own = |variation: AddressVariation| VaryingAddresses { at: variation.offset(version), variation, is_pool: false };
    let pool_at = if version == IpVersion::Ipv4 { POOL_AT_IPV4 } else { POOL_AT_IPV6 };
    let pool = |variation| VaryingAddresses { at: pool_at, variation, is_pool: true };
    match view {
        Some(Viewpoint { at_initiator: false, of_initiator: true }) => (pool(source), own(destination)),
        Some(Viewpoint { at_initiator: false, of_initiator: false }) => (own(source), pool(destination)),
        _ => (own(source), own(destination)),
    }
}

/// Returns the counters of source and destination address; `None` where neither varies.
pub(crate) fn counters(profile: &TrafficProfile, direction: Direction) -> Option<(Counter, Counter)> {
    let (source, destination) = profile.variations(direction);
    match (counter(source), counter(destination)) {
        (None, None) => None,
        (source, destination) => Some((source.unwrap_or(Counter::random(1)), destination.unwrap_or(Counter::random(1)))),
    }
}
