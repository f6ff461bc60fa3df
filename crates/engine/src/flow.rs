//! Which ports a frame carries: a pure function of the seed, the stream and the sequence number. So the receiver knows what to
//! expect of frame i without a table, and every trial of a comparison has the same pattern (RFC 4814).

use sixbench_method::plan::{PortOrder, Ports};

/// The port sequence of one stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flow {
    order: PortOrder,
    source: Range,
    destination: Range,
    key: u64,
}

#[derive(Clone, Copy, Debug)]
struct Range {
    first: u16,
    count: u32,
}

impl Range {
    fn new((first, last): (u16, u16)) -> Self {
        Self { first, count: u32::from(last.max(first) - first) + 1 }
    }

    /// The port at the place that 32 uniform bits stand for.
    #[inline]
    fn at(self, random: u32) -> u16 {
        self.first + ((u64::from(random) * u64::from(self.count)) >> 32) as u16
    }
}

/// The finaliser of SplitMix64 (Steele, Lea, Flood 2014): equidistributed, two multiplications.
#[inline]
pub(crate) fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// 2^64 divided by the golden ratio: SplitMix64's step.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

impl Flow {
    /// The ports of `stream` under `seed`.
    pub(crate) fn new(ports: Ports, seed: u64, stream: u8) -> Self {
        Self {
            order: ports.order,
            source: Range::new(ports.source),
            destination: Range::new(ports.destination),
            key: mix(seed ^ u64::from(stream).wrapping_mul(STEP)),
        }
    }

    /// Uniform bits that belong to frame `sequence`.
    #[inline]
    fn random(&self, sequence: u64) -> u64 {
        mix(self.key.wrapping_add(sequence.wrapping_add(1).wrapping_mul(STEP)))
    }

    /// The variable 16 bits of source and destination address of frame `sequence`; independent of its ports.
    #[inline]
    pub(crate) fn address_parts(&self, sequence: u64) -> (u16, u16) {
        let random = mix(self.random(sequence) ^ STEP);
        ((random >> 16) as u16, random as u16)
    }

    /// Source and destination port of frame `sequence`.
    #[inline]
    pub(crate) fn ports(&self, sequence: u64) -> (u16, u16) {
        match self.order {
            PortOrder::Fixed => (self.source.first, self.destination.first),
            PortOrder::Pseudorandom => {
                let random = self.random(sequence);
                (self.source.at((random >> 32) as u32), self.destination.at(random as u32))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_ports_and_another_stream_others() {
        let ports = |seed, stream| {
            let flow = Flow::new(Ports::RFC_4814, seed, stream);
            (0..100).map(|i| flow.ports(i)).collect::<Vec<_>>()
        };
        assert_eq!(ports(42, 0), ports(42, 0));
        assert_ne!(ports(42, 0), ports(42, 1));
        assert_ne!(ports(42, 0), ports(43, 0));
    }

    #[test]
    fn ports_stay_in_the_ranges_of_rfc_4814_and_are_uniform() {
        let flow = Flow::new(Ports::RFC_4814, 1, 0);
        let frames = 1_000_000;
        let mut low_half = 0u32;
        for i in 0..frames {
            let (source, destination) = flow.ports(i);
            assert!(source >= 1024);
            assert!((1..=49151).contains(&destination));
            low_half += u32::from(source < 1024 + 32_256);
        }
        // Half of the draws, within 5 standard deviations (500 each).
        assert!(low_half.abs_diff(500_000) < 2_500, "{low_half}");
    }

    #[test]
    fn a_range_of_one_port_is_that_port() {
        let ports = Ports { order: PortOrder::Pseudorandom, source: (7, 7), destination: (65535, 65535) };
        let flow = Flow::new(ports, 1, 0);
        assert!((0..1000).all(|i| flow.ports(i) == (7, 65535)));
    }
}
