//! The sizes of the frames of a trial with a mix of sizes, by the frames' numbers, so that the receiver knows the size of each.

use sixbench_method::plan::{SizeMix, SizeShare};
use sixbench_method::trial::SizeCounts;
use sixbench_stats::SplitMix64;

/// The number of frames, at least, after which a pseudorandom order begins again: so many that no device learns it, and so few that their sizes stay in the
/// first cache.
const PERIOD: usize = 16_384;

/// The order of sizes of a mix. Frames of a genome have its sequence. Otherwise each group of as many frames as the mix has weights has every size as often
/// as its weight says, in an order of its own that follows from the seed: the mean octets hold for any part of a trial, and no size comes in step with anything
/// else.
#[derive(Clone, Debug)]
pub(crate) struct SizeOrder {
    mix: SizeMix,
    /// The places in the mix of the sizes of the first frames; then they repeat.
    places: Box<[u8]>,
}

impl SizeOrder {
    /// Returns the order of a mix for this seed.
    pub(crate) fn new(mix: SizeMix, seed: u64) -> Self {
        let places = mix
            .sequence()
            .unwrap_or_else(|| shuffled_groups(&mix, seed));
        Self {
            mix,
            places: places.into(),
        }
    }

    /// Returns the place in the mix of the size of frame `sequence`.
    #[inline]
    pub(crate) fn place(&self, sequence: u64) -> usize {
        usize::from(self.places[(sequence % self.places.len() as u64) as usize])
    }

    /// Returns the counts of every size, all zero.
    pub(crate) fn no_counts(&self) -> Vec<SizeCounts> {
        self.mix
            .shares()
            .iter()
            .map(|SizeShare { size, .. }| SizeCounts {
                frame_size: *size,
                offered: 0,
                not_received: 0,
            })
            .collect()
    }

    /// Adds as offered the frames `first`, `first + step`, `first + 2 step` and so on, of which there are `number`. The time does not depend on it.
    pub(crate) fn count_offered(
        &self,
        counts: &mut [SizeCounts],
        first: u64,
        step: u64,
        number: u64,
    ) {
        let period = self.places.len() as u64;
        for turn in 0..period.min(number) {
            // Frames so far apart have the same size, whatever the step.
            let alike = 1 + (number - 1 - turn) / period;
            counts[self.place(first + turn * step)].offered += alike;
        }
    }
}

/// Returns groups of the places of the mix, each in an order of its own.
fn shuffled_groups(mix: &SizeMix, seed: u64) -> Vec<u8> {
    let group: Vec<u8> = (0u8..)
        .zip(mix.shares())
        .flat_map(|(place, share)| std::iter::repeat_n(place, share.weight as usize))
        .collect();
    let mut random = SplitMix64::new(seed);
    let mut places = Vec::with_capacity(PERIOD + group.len());
    while places.len() < PERIOD {
        let start = places.len();
        places.extend_from_slice(&group);
        shuffle(&mut places[start..], &mut random);
    }
    places
}

/// Puts the places into a pseudorandom order (Fisher and Yates).
fn shuffle(places: &mut [u8], random: &mut SplitMix64) {
    for last in (1..places.len()).rev() {
        let other = (random.uniform() * (last + 1) as f64) as usize;
        places.swap(last, other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(mix: &str, seed: u64) -> SizeOrder {
        SizeOrder::new(mix.parse().expect("a mix"), seed)
    }

    fn places(order: &SizeOrder, numbers: std::ops::Range<u64>) -> Vec<usize> {
        numbers.map(|number| order.place(number)).collect()
    }

    #[test]
    fn frames_of_a_genome_have_its_sequence_again_and_again() {
        assert_eq!(
            places(&order("imix:aagab", 1), 0..12),
            [0, 0, 2, 0, 1, 0, 0, 2, 0, 1, 0, 0]
        );
    }

    #[test]
    fn each_group_of_a_mix_has_its_shares_in_an_order_that_follows_from_the_seed() {
        let imix = order("imix", 42);
        for group in 0..2_000 {
            let mut sizes = places(&imix, group * 12..(group + 1) * 12);
            sizes.sort_unstable();
            assert_eq!(sizes, [0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2], "{group}");
        }
        assert_eq!(places(&imix, 0..500), places(&order("imix", 42), 0..500));
        assert_ne!(places(&imix, 0..500), places(&order("imix", 43), 0..500));
        assert_ne!(places(&imix, 0..12), places(&imix, 12..24));
    }

    #[test]
    fn offered_frames_are_counted_as_if_one_by_one() {
        for (mix, seed) in [("imix", 3), ("imix:aagab", 3), ("84:3,9000:1000", 5)] {
            let order = order(mix, seed);
            for (first, step, number) in [(0, 1, 100_000), (1, 2, 40_001), (2, 4, 7), (0, 3, 0)] {
                let mut counts = order.no_counts();
                order.count_offered(&mut counts, first, step, number);
                let mut one_by_one = order.no_counts();
                for turn in 0..number {
                    one_by_one[order.place(first + turn * step)].offered += 1;
                }
                assert_eq!(counts, one_by_one, "{mix} {first} {step} {number}");
            }
        }
    }
}
