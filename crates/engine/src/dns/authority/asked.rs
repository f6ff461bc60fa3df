//! The names that were asked for, as one bit each, so that a trial knows what its server answered without asking.

use std::sync::atomic::{AtomicU64, Ordering};

/// One or more ranges of names, and those of them that were asked for. Several threads may note names at the same time.
#[derive(Debug)]
pub struct AskedNames {
    ranges: Box<[AskedRange]>,
    /// The names that are asked for repeatedly: a second bit for each name, which [`Self::take`] clears.
    repeated: Box<[AskedRange]>,
}

#[derive(Debug)]
struct AskedRange {
    first: u32,
    count: u64,
    words: Box<[AtomicU64]>,
}

impl AskedNames {
    /// Creates it with no name asked for, for ranges of addresses that are each given by first address and size.
    pub fn new(ranges: &[(u32, u64)]) -> Self {
        Self {
            ranges: ranges.iter().map(AskedRange::new).collect(),
            repeated: Box::default(),
        }
    }

    /// Also watches these ranges, and tracks for each of their names whether it was asked for since the last [`Self::take`].
    pub fn with_repeated(mut self, ranges: &[(u32, u64)]) -> Self {
        self.ranges = self
            .ranges
            .into_iter()
            .chain(ranges.iter().map(AskedRange::new))
            .collect();
        self.repeated = ranges.iter().map(AskedRange::new).collect();
        self
    }

    /// Notes that a name was asked for; ignores names outside the ranges.
    #[inline]
    pub fn note(&self, address: u32) {
        for range in self.ranges.iter().chain(&self.repeated) {
            if let Some((word, bit)) = range.find(address) {
                // A DNS64 server asks for most names twice, for AAAA and then for A. The second time needs no locked memory access.
                if word.load(Ordering::Relaxed) & bit == 0 {
                    word.fetch_or(bit, Ordering::Relaxed);
                }
            }
        }
    }

    /// Returns whether a name in the ranges was asked for.
    #[inline]
    pub fn saw(&self, address: u32) -> bool {
        let mut found = self.ranges.iter().filter_map(|range| range.find(address));
        found.any(|(word, bit)| word.load(Ordering::Relaxed) & bit != 0)
    }

    /// Returns whether a repeated name was asked for since the last call with this address, and clears that.
    #[inline]
    pub fn take(&self, address: u32) -> bool {
        let mut found = self.repeated.iter().filter_map(|range| range.find(address));
        found.any(|(word, bit)| {
            word.load(Ordering::Relaxed) & bit != 0
                && word.fetch_and(!bit, Ordering::Relaxed) & bit != 0
        })
    }

    /// Returns the number of different names asked for. Names in overlapping ranges are counted twice.
    pub fn names(&self) -> u64 {
        self.ranges
            .iter()
            .flat_map(|range| &range.words)
            .map(|word| u64::from(word.load(Ordering::Relaxed).count_ones()))
            .sum()
    }

    /// Clears everything.
    pub fn clear(&self) {
        self.ranges
            .iter()
            .chain(&self.repeated)
            .flat_map(|range| &range.words)
            .for_each(|word| word.store(0, Ordering::Relaxed));
    }
}

impl AskedRange {
    fn new(&(first, count): &(u32, u64)) -> Self {
        let words = (0..count.div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
        Self {
            first,
            count,
            words,
        }
    }

    #[inline]
    fn find(&self, address: u32) -> Option<(&AtomicU64, u64)> {
        let index = u64::from(address.checked_sub(self.first)?);
        (index < self.count).then(|| (&self.words[(index / 64) as usize], 1 << (index % 64)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_counted_once_however_often_it_is_asked_for() {
        let asked = AskedNames::new(&[(1000, 200), (u32::MAX, 1)]);
        for address in [1000, 1000, 1063, 1064, 1199, u32::MAX] {
            asked.note(address);
        }
        assert_eq!(asked.names(), 5);
        assert!(asked.saw(1199) && asked.saw(u32::MAX) && !asked.saw(1001));
        asked.clear();
        assert_eq!(asked.names(), 0);
    }

    #[test]
    fn names_outside_of_the_ranges_are_not_watched() {
        let asked = AskedNames::new(&[(1000, 200)]);
        for address in [0, 999, 1200, u32::MAX] {
            asked.note(address);
        }
        assert_eq!((asked.names(), asked.saw(1200)), (0, false));
    }

    #[test]
    fn a_repeated_name_is_taken_as_often_as_it_is_asked_for() {
        let asked = AskedNames::new(&[(1000, 200)]).with_repeated(&[(5000, 10)]);
        for _ in 0..3 {
            asked.note(5003);
            assert!(asked.take(5003) && !asked.take(5003));
        }
        asked.note(1000);
        assert!(!asked.take(1000), "none of those that are repeated");
        assert_eq!((asked.names(), asked.saw(5003)), (2, true));
    }
}
