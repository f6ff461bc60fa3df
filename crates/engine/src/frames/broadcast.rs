//! The broadcast frames within a trial (RFC 2544 section 11.1): which of the schedule's numbers they have, and how they are known again.
//!
//! Section 11 wants them "in place of one of the test frames", evenly distributed, "for example, every 100th frame", and "of a type that the router will not
//! need to process". They have the octets of the test frame that they replace, but for the destination and the EtherType.

use sixbench_wire::ethernet::{EtherType, EthernetView, HEADER_LEN};
use sixbench_wire::tag::Tag;
use sixbench_wire::{MacAddress, ipv4, ipv6, udp};

/// "Local Experimental EtherType 1" of IEEE 802: no router has a use for it.
pub(crate) const ETHER_TYPE: EtherType = EtherType(0x88b5);

/// The numbers of a schedule whose frames are broadcast: the last of each group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BroadcastOrder {
    /// The frames of a group.
    every: u64,
}

impl BroadcastOrder {
    /// Returns the order in which one of `every` frames is broadcast.
    pub(crate) fn new(every: u32) -> Self {
        Self {
            every: u64::from(every.max(1)),
        }
    }

    /// Returns whether frame `number` is broadcast.
    #[inline]
    pub(crate) fn has(self, number: u64) -> bool {
        number % self.every == self.every - 1
    }

    /// Returns how many of the frames before `number` are broadcast.
    #[inline]
    pub(crate) fn before(self, number: u64) -> u64 {
        number / self.every
    }

    /// Returns how many of the frames `first`, `first + step`, `first + 2 step` and so on, of which there are `number`, are broadcast.
    pub(crate) fn among(self, first: u64, step: u64, number: u64) -> u64 {
        // Frames a group of turns apart are alike, whatever the step.
        let turns = 0..self.every.min(number);
        turns
            .filter(|turn| self.has(first + turn * step))
            .map(|turn| 1 + (number - 1 - turn) / self.every)
            .sum()
    }
}

/// Returns the tag of a broadcast frame; `None` for any other frame.
#[cold]
pub(crate) fn tag_of(frame: &[u8]) -> Option<Tag> {
    let ethernet = EthernetView::new(frame).ok()?;
    if ethernet.ether_type() != ETHER_TYPE || ethernet.dst() != MacAddress::BROADCAST {
        return None;
    }
    // The tag is where it is in the test frame, which is IPv4, IPv6, or one of them in the other.
    let headers = [
        ipv4::HEADER_LEN,
        ipv6::HEADER_LEN,
        ipv4::HEADER_LEN + ipv6::HEADER_LEN,
    ];
    headers
        .into_iter()
        .find_map(|octets| Tag::read(frame.get(HEADER_LEN + octets + udp::HEADER_LEN..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_100th_frame_is_broadcast() {
        let order = BroadcastOrder::new(100);
        let numbers: Vec<u64> = (0..300).filter(|number| order.has(*number)).collect();
        assert_eq!(numbers, [99, 199, 299]);
        assert_eq!(
            [0, 99, 100, 250].map(|number| order.before(number)),
            [0, 0, 1, 2]
        );
    }

    #[test]
    fn broadcast_frames_of_queues_that_take_turns_are_counted_as_if_one_by_one() {
        for (every, first, step, number) in [
            (100, 0, 1, 1_000),
            (100, 1, 2, 1_001),
            (2, 1, 2, 50),
            (2, 0, 2, 50),
            (7, 3, 4, 99),
            (1_000, 0, 3, 5),
        ] {
            let order = BroadcastOrder::new(every);
            let one_by_one = (0..number).filter(|turn| order.has(first + turn * step));
            assert_eq!(
                order.among(first, step, number),
                one_by_one.count() as u64,
                "{every} {first} {step} {number}"
            );
        }
    }
}
