//! The four-tuples of a stateful test by number: every combination of the ranges exactly once, in any order, without a table in memory (RFC 9693,
//! draft-lencse-bmwg-multiple-ip-addresses).

use sixbench_method::plan::{ValueOrder, ValueRange};
use sixbench_stats::mix;

/// Places within the ranges; 0 is the first value of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct FourTuple {
    /// The place of the Initiator's address.
    pub(crate) source: u32,
    /// The place of its peer's address.
    pub(crate) destination: u32,
    /// The place of its port.
    pub(crate) source_port: u16,
    /// The place of its peer's port.
    pub(crate) destination_port: u16,
}

/// An enumeration of the product of four ranges.
#[derive(Clone, Debug)]
pub(crate) struct Enumeration {
    /// The numbers of source ports, destination ports, source addresses and destination addresses; in linear order the first changes fastest.
    counts: [u64; 4],
    order: ValueOrder,
    permutation: Permutation,
}

impl Enumeration {
    /// Returns all combinations of these ranges, in the order of phase 1. A pseudorandom order depends on `key`.
    ///
    /// Returns `None` if there are 2^63 of them or more: each side of the permutation's rectangle must stay below 2^32.
    pub(crate) fn new(
        ports: [ValueRange; 2],
        addresses: [u32; 2],
        order: ValueOrder,
        key: u64,
    ) -> Option<Self> {
        let [source, destination] = ports.map(|range| u64::from(range.count()));
        let counts = [
            source,
            destination,
            u64::from(addresses[0].max(1)),
            u64::from(addresses[1].max(1)),
        ];
        let size = counts
            .iter()
            .try_fold(1u64, |product, count| product.checked_mul(*count))
            .filter(|size| *size < 1 << 63)?;
        Some(Self {
            counts,
            order,
            permutation: Permutation::new(size, key),
        })
    }

    /// Returns the number of combinations.
    pub(crate) fn size(&self) -> u64 {
        self.permutation.size
    }

    /// Returns the combination with this number, which must be below [`Self::size`].
    #[inline]
    pub(crate) fn tuple(&self, number: u64) -> FourTuple {
        let place = match self.order {
            ValueOrder::Pseudorandom => self.permutation.at(number),
            ValueOrder::Decreasing => self.permutation.size - 1 - number,
            ValueOrder::Fixed | ValueOrder::Increasing => number,
        };
        let (place, source_port) = split(place, self.counts[0]);
        let (place, destination_port) = split(place, self.counts[1]);
        let (place, source) = split(place, self.counts[2]);
        let ports = (source_port as u16, destination_port as u16);
        FourTuple {
            source,
            destination: place as u32,
            source_port: ports.0,
            destination_port: ports.1,
        }
    }
}

/// Returns quotient and remainder; the latter is below 2^32. Most places fit into 32 bits, for which division is faster.
#[inline]
fn split(place: u64, count: u64) -> (u64, u32) {
    match (u32::try_from(place), count) {
        (_, 1) => (place, 0),
        (Ok(place), count) => (u64::from(place / count as u32), place % count as u32),
        (Err(_), count) => (place / count, (place % count) as u32),
    }
}

/// A keyed permutation of 0..size: a Feistel network over the smallest rectangle a x b that holds the numbers, with cycle-walking for results
/// beyond `size` (Black and Rogaway, "Ciphers with Arbitrary Finite Domains", 2002: the generalised Feistel cipher). It needs constant memory for
/// any size.
#[derive(Clone, Debug)]
struct Permutation {
    size: u64,
    /// The sides of the rectangle, each below 2^32.
    sides: (u64, u64),
    keys: [u64; ROUNDS],
}

/// The number is even, so that both halves end where they began. Security does not depend on it: the order only has to look random.
const ROUNDS: usize = 4;

impl Permutation {
    fn new(size: u64, key: u64) -> Self {
        let a = size.isqrt().max(1);
        let a = if a * a < size { a + 1 } else { a };
        let keys = std::array::from_fn(|round| mix(key ^ mix(round as u64 + 1)));
        Self {
            size,
            sides: (a, size.div_ceil(a)),
            keys,
        }
    }

    #[inline]
    fn at(&self, number: u64) -> u64 {
        let mut place = self.round_trip(number);
        while place >= self.size {
            place = self.round_trip(place);
        }
        place
    }

    /// Applies all rounds once, which permutes the rectangle.
    #[inline]
    fn round_trip(&self, number: u64) -> u64 {
        let (a, b) = self.sides;
        let (mut right, mut left) = (number / a, number % a);
        for pair in self.keys.chunks_exact(2) {
            left = turned(left, right, pair[0], a);
            right = turned(right, left, pair[1], b);
        }
        right * a + left
    }
}

/// Returns `value` after a rotation, modulo `size`, by a pseudorandom step that depends on `other`.
#[inline]
fn turned(value: u64, other: u64, key: u64, size: u64) -> u64 {
    let hash = (other ^ key).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let hash = (hash ^ (hash >> 32)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let moved = value + (((hash >> 32) * size) >> 32);
    if moved >= size { moved - size } else { moved }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn range(count: u32) -> ValueRange {
        ValueRange {
            first: 0,
            last: (count - 1) as u16,
            order: ValueOrder::Pseudorandom,
        }
    }

    fn enumeration(counts: [u32; 4], order: ValueOrder, key: u64) -> Enumeration {
        let [source, destination, from, to] = counts;
        Enumeration::new([range(source), range(destination)], [from, to], order, key)
            .expect("no overflow")
    }

    fn all(enumeration: &Enumeration) -> HashSet<FourTuple> {
        (0..enumeration.size())
            .map(|number| enumeration.tuple(number))
            .collect()
    }

    proptest! {
        #[test]
        fn every_combination_occurs_once(
            counts in prop_oneof![[1u32..40, 1u32..40, 1u32..6, 1u32..6], [1u32..2, 1u32..60_000, 1u32..2, 1u32..2]],
            order in prop_oneof![Just(ValueOrder::Increasing), Just(ValueOrder::Decreasing), Just(ValueOrder::Pseudorandom)],
            key: u64,
        ) {
            let enumeration = enumeration(counts, order, key);
            let tuples = all(&enumeration);
            prop_assert_eq!(tuples.len() as u64, counts.iter().map(|&c| u64::from(c)).product::<u64>());
            let is_within = |t: &FourTuple| {
                let places = [u32::from(t.source_port), u32::from(t.destination_port), t.source, t.destination];
                places.iter().zip(counts).all(|(place, count)| *place < count)
            };
            prop_assert!(tuples.iter().all(is_within));
        }
    }

    #[test]
    fn awkward_products_are_permuted_too() {
        // Primes, squares and powers of two, each with adjacent numbers.
        for size in [
            1, 2, 3, 4, 5, 7, 8, 9, 10, 63, 64, 65, 99, 100, 101, 65_519, 65_521, 65_535, 65_536,
        ] {
            let enumeration =
                enumeration([size, 1, 1, 1], ValueOrder::Pseudorandom, u64::from(size));
            assert_eq!(all(&enumeration).len(), size as usize);
        }
        let prime_by_prime = enumeration([997, 1009, 1, 1], ValueOrder::Pseudorandom, 1);
        assert_eq!(all(&prime_by_prime).len(), 997 * 1009);
    }

    #[test]
    fn more_than_2_to_the_32_combinations_take_no_memory_and_no_two_are_the_same() {
        let enumeration = enumeration([64_512, 49_151, 1_000, 1_000], ValueOrder::Pseudorandom, 7);
        assert!(enumeration.size() > 1 << 51);
        let far = (0..200_000u64).map(|i| i * (enumeration.size() / 200_000));
        let seen: HashSet<FourTuple> = (0..200_000)
            .chain(far)
            .map(|number| enumeration.tuple(number))
            .collect();
        assert_eq!(seen.len(), 400_000 - 1, "only 0 is in both");
        assert!(std::mem::size_of_val(&enumeration) < 256);
    }

    #[test]
    fn a_product_that_cannot_be_numbered_is_refused() {
        let all = ValueRange {
            first: 0,
            last: 65_535,
            order: ValueOrder::Pseudorandom,
        };
        assert!(
            Enumeration::new([all, all], [65_536, 65_536], ValueOrder::Pseudorandom, 1).is_none()
        );
        assert!(
            Enumeration::new([all, all], [65_536, 32_767], ValueOrder::Pseudorandom, 1).is_some()
        );
    }

    #[test]
    fn a_linear_order_counts_source_ports_fastest() {
        let up = enumeration([2, 2, 2, 1], ValueOrder::Increasing, 0);
        let as_digits = |t: FourTuple| {
            [
                u32::from(t.source_port),
                u32::from(t.destination_port),
                t.source,
                t.destination,
            ]
        };
        assert_eq!(
            (0..3).map(|n| as_digits(up.tuple(n))).collect::<Vec<_>>(),
            [[0, 0, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0]]
        );
        let down = enumeration([2, 2, 2, 1], ValueOrder::Decreasing, 0);
        assert_eq!(as_digits(down.tuple(0)), [1, 1, 1, 0]);
    }

    #[test]
    fn the_pseudorandom_order_looks_random() {
        // The first 5000 of 100 x 100 fill rows and columns evenly: 50 each, to within 6 standard deviations (5).
        let enumeration = enumeration([100, 100, 1, 1], ValueOrder::Pseudorandom, 3);
        let (mut rows, mut columns) = ([0u32; 100], [0u32; 100]);
        for number in 0..5_000 {
            let tuple = enumeration.tuple(number);
            rows[usize::from(tuple.source_port)] += 1;
            columns[usize::from(tuple.destination_port)] += 1;
        }
        assert!(
            rows.iter()
                .chain(&columns)
                .all(|count| (20..=80).contains(count)),
            "{rows:?} {columns:?}"
        );
        let neighbours = (0..5_000).filter(|n| {
            enumeration
                .tuple(*n)
                .source_port
                .abs_diff(enumeration.tuple(n + 1).source_port)
                <= 1
        });
        assert!(
            (60..260).contains(&neighbours.count()),
            "about 3 % of pairs are neighbours by chance"
        );
    }

    #[test]
    fn another_key_is_another_order() {
        let first = |key| {
            (0..10)
                .map(|n| enumeration([1000, 1000, 1, 1], ValueOrder::Pseudorandom, key).tuple(n))
                .collect::<Vec<_>>()
        };
        assert_ne!(first(1), first(2));
        assert_eq!(first(1), first(1));
    }
}
