//! The ports and addresses of each frame: a pure function of the seed, the stream and the frame's number. So the receiver knows the fields of
//! frame i without a table, and every trial of a comparison has the same pattern (RFC 4814).

use sixbench_method::plan::{Ports, ValueOrder, ValueRange};
use sixbench_stats::{MIX_STEP, mix};

/// The values of one field, in the order of the frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counter {
    order: ValueOrder,
    count: u32,
}

impl Counter {
    /// Returns the counter for places 0 to `range.count() - 1`.
    pub(crate) fn new<V: Copy + Ord + Into<u32>>(range: ValueRange<V>) -> Self {
        Self {
            order: range.order,
            count: range.count(),
        }
    }

    /// Returns the counter for places 0 to `count - 1` in any order.
    pub(crate) fn among(order: ValueOrder, count: u32) -> Self {
        Self {
            order,
            count: if order == ValueOrder::Fixed { 1 } else { count },
        }
    }

    /// Returns the counter for pseudorandom places 0 to `count - 1`, as for destination networks (RFC 2544 section 12).
    pub(crate) fn random(count: u16) -> Self {
        Self {
            order: ValueOrder::Pseudorandom,
            count: u32::from(count.max(1)),
        }
    }

    /// Returns the number of values among which each one is drawn; `None` if they are used in turn.
    fn drawn_among(self) -> Option<u32> {
        match self.order {
            ValueOrder::Pseudorandom => Some(self.count),
            ValueOrder::Fixed => Some(1),
            ValueOrder::Increasing | ValueOrder::Decreasing => None,
        }
    }

    /// Returns the position of the value for frame `index`, which is given 32 uniform bits.
    #[inline(always)]
    pub(crate) fn position(self, index: u64, random: u32) -> u32 {
        match self.order {
            // A multiplication is faster than a remainder, and no value is more than count / 2^32 too likely.
            ValueOrder::Pseudorandom => ((u64::from(random) * u64::from(self.count)) >> 32) as u32,
            ValueOrder::Fixed => 0,
            ValueOrder::Increasing => (index % u64::from(self.count)) as u32,
            ValueOrder::Decreasing => self.count - 1 - (index % u64::from(self.count)) as u32,
        }
    }
}

/// The pattern of the variable fields in the frames of one stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flow {
    source: Counter,
    destination: Counter,
    first_ports: (u16, u16),
    /// The counters of the source and destination address; `None` if neither varies.
    addresses: Option<(Counter, Counter)>,
    key: u64,
}

/// 32 uniform bits to draw the subscriber, and 32 to draw one of its ports.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Draw {
    pub(crate) subscriber: u32,
    pub(crate) port: u32,
}

/// Returns the uniform bits for frame `index` under `key`.
#[inline(always)]
fn random(key: u64, index: u64) -> u64 {
    mix(key.wrapping_add(index.wrapping_add(1).wrapping_mul(MIX_STEP)))
}

impl Flow {
    /// Returns the flow of `stream` with this seed.
    pub(crate) fn new(
        ports: Ports,
        addresses: Option<(Counter, Counter)>,
        seed: u64,
        stream: u8,
    ) -> Self {
        Self {
            source: Counter::new(ports.source),
            destination: Counter::new(ports.destination),
            first_ports: (ports.source.first, ports.destination.first),
            addresses,
            key: mix(seed ^ u64::from(stream).wrapping_mul(MIX_STEP)),
        }
    }

    /// Returns the uniform bits for frame `index`.
    #[inline(always)]
    fn random(&self, index: u64) -> u64 {
        random(self.key, index)
    }

    /// Returns whether an address varies from frame to frame.
    pub(crate) fn varies_addresses(&self) -> bool {
        self.addresses.is_some()
    }

    /// Returns the places of the source and destination address of frame `index`, independent of its ports; `None` if neither varies.
    #[inline(always)]
    pub(crate) fn address_places(&self, index: u64) -> Option<(u32, u32)> {
        let (source, destination) = self.addresses?;
        // Ports, addresses and subscribers are drawn from the same bits; a constant of its own makes each independent of the others.
        let random = mix(self.random(index) ^ MIX_STEP);
        let (high, low) = ((random >> 32) as u32, random as u32);
        Some((
            source.position(index, high),
            destination.position(index, low),
        ))
    }

    /// Returns the draw that determines the subscriber of frame `index`, independent of its ports and of the other addresses.
    #[inline]
    pub(crate) fn subscriber(&self, index: u64) -> Draw {
        let random = mix(self.random(index) ^ !MIX_STEP);
        Draw {
            subscriber: (random >> 32) as u32,
            port: random as u32,
        }
    }

    /// Returns the source and destination port of frame `index`. The upper half of the bits draws the source port, the lower half the destination port;
    /// addresses and subscribers are drawn from other mixes of the same bits.
    #[inline(always)]
    pub(crate) fn ports(&self, index: u64) -> (u16, u16) {
        let random = self.random(index);
        let source = self.source.position(index, (random >> 32) as u32) as u16;
        let destination = self.destination.position(index, random as u32) as u16;
        (
            self.first_ports.0.wrapping_add(source),
            self.first_ports.1.wrapping_add(destination),
        )
    }
}

/// The ports of frames in which both are drawn, and only number and time vary otherwise. That is the most common traffic, without the decisions
/// that [`Flow`] makes for each frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DrawnPorts {
    key: u64,
    first: (u16, u16),
    counts: (u32, u32),
}

impl Flow {
    /// Returns the ports of these frames if both are drawn and the addresses do not vary.
    pub(crate) fn drawn_ports(&self) -> Option<DrawnPorts> {
        let counts = (self.source.drawn_among()?, self.destination.drawn_among()?);
        self.addresses.is_none().then_some(DrawnPorts {
            key: self.key,
            first: self.first_ports,
            counts,
        })
    }
}

impl DrawnPorts {
    /// Returns the source and destination port of frame `index`.
    #[inline(always)]
    pub(crate) fn at(&self, index: u64) -> (u16, u16) {
        let random = random(self.key, index);
        let scaled = |random: u64, count: u32| ((random * u64::from(count)) >> 32) as u16;
        let (source, destination) = (
            scaled(random >> 32, self.counts.0),
            scaled(random & 0xffff_ffff, self.counts.1),
        );
        (
            self.first.0.wrapping_add(source),
            self.first.1.wrapping_add(destination),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(ports: Ports, seed: u64, stream: u8) -> Flow {
        Flow::new(ports, None, seed, stream)
    }

    fn range(first: u16, last: u16, order: ValueOrder) -> ValueRange {
        ValueRange { first, last, order }
    }

    #[test]
    fn the_same_seed_gives_the_same_ports_and_another_stream_others() {
        let ports = |seed, stream| {
            let flow = flow(Ports::RFC_4814, seed, stream);
            (0..100).map(|i| flow.ports(i)).collect::<Vec<_>>()
        };
        assert_eq!(ports(42, 0), ports(42, 0));
        assert_ne!(ports(42, 0), ports(42, 1));
        assert_ne!(ports(42, 0), ports(43, 0));
    }

    #[test]
    fn ports_stay_in_the_ranges_of_rfc_4814_and_are_uniform() {
        let flow = flow(Ports::RFC_4814, 1, 0);
        let frames = 1_000_000;
        let mut low_half = 0u32;
        for i in 0..frames {
            let (source, destination) = flow.ports(i);
            assert!(source >= 1024);
            assert!((1..=49151).contains(&destination));
            low_half += u32::from(source < 1024 + 32_256);
        }
        // Half of the draws, to within 5 standard deviations (500 each).
        assert!(low_half.abs_diff(500_000) < 2_500, "{low_half}");
    }

    #[test]
    fn a_range_of_one_port_is_that_port() {
        let one = |port| range(port, port, ValueOrder::Pseudorandom);
        let flow = flow(
            Ports {
                source: one(7),
                destination: one(65535),
            },
            1,
            0,
        );
        assert!((0..1000).all(|i| flow.ports(i) == (7, 65535)));
    }

    #[test]
    fn drawn_ports_are_those_of_the_flow() {
        let fixed = Ports {
            source: range(9, 9, ValueOrder::Fixed),
            ..Ports::RFC_4814
        };
        for ports in [Ports::RFC_4814, fixed, Ports::FIXED] {
            let flow = flow(ports, 5, 1);
            let drawn = flow.drawn_ports().expect("drawn");
            assert!(
                (0..10_000)
                    .chain(u64::from(u32::MAX)..u64::from(u32::MAX) + 100)
                    .all(|i| drawn.at(i) == flow.ports(i))
            );
        }
        let in_turn = Ports {
            destination: range(1, 5, ValueOrder::Increasing),
            ..Ports::RFC_4814
        };
        assert!(flow(in_turn, 5, 1).drawn_ports().is_none());
        let with_addresses = Flow::new(
            Ports::RFC_4814,
            Some((Counter::random(9), Counter::random(1))),
            5,
            1,
        );
        assert!(with_addresses.drawn_ports().is_none());
    }

    #[test]
    fn ports_count_up_and_down_and_begin_again() {
        let ports = Ports {
            source: range(10, 12, ValueOrder::Increasing),
            destination: range(20, 21, ValueOrder::Decreasing),
        };
        let flow = flow(ports, 1, 0);
        let all: Vec<_> = (0..4).map(|i| flow.ports(i)).collect();
        assert_eq!(all, [(10, 21), (11, 20), (12, 21), (10, 20)]);
    }

    #[test]
    fn the_whole_range_of_65536_values_is_used() {
        let counter = Counter::new(range(0, 65535, ValueOrder::Increasing));
        let flow = Flow::new(Ports::FIXED, Some((counter, Counter::random(256))), 1, 0);
        assert_eq!(
            flow.address_places(65_535).map(|places| places.0),
            Some(65_535)
        );
        assert_eq!(flow.address_places(65_536).map(|places| places.0), Some(0));
        let networks: std::collections::BTreeSet<u32> = (0..10_000)
            .filter_map(|i| Some(flow.address_places(i)?.1))
            .collect();
        assert_eq!(networks.len(), 256);
    }
}
