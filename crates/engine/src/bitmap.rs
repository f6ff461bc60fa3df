//! The frames that were seen, as one bit each.

/// A fixed number of bits, all clear at first.
#[derive(Clone, Debug)]
pub(crate) struct Bitmap {
    words: Vec<u64>,
    bits: u64,
}

impl Bitmap {
    /// Creates a bitmap with room for `bits` bits, all clear.
    pub(crate) fn new(bits: u64) -> Self {
        Self {
            words: vec![0; bits.div_ceil(64) as usize],
            bits,
        }
    }

    /// Sets a bit below the size; returns whether it was clear.
    #[inline]
    pub(crate) fn set(&mut self, bit: u64) -> bool {
        let word = &mut self.words[(bit / 64) as usize];
        let mask = 1 << (bit % 64);
        let was_clear = *word & mask == 0;
        *word |= mask;
        was_clear
    }

    /// Sets `count` bits from `first` on, 1 to 64 of them and all below the size, if all were clear; returns whether they were.
    #[inline]
    pub(crate) fn set_run(&mut self, first: u64, count: u64) -> bool {
        let ones = u64::MAX >> (64 - count);
        let (index, shift) = ((first / 64) as usize, first % 64);
        let (low, high) = (ones << shift, ones.unbounded_shr((64 - shift) as u32));
        let above = if high == 0 { 0 } else { self.words[index + 1] };
        if self.words[index] & low != 0 || above & high != 0 {
            return false;
        }
        self.words[index] |= low;
        if high != 0 {
            self.words[index + 1] |= high;
        }
        true
    }

    /// Returns the bits that are set here and clear in `other`, ascending.
    pub(crate) fn without<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = u64> + 'a {
        let words = self.words.iter().zip(other.words.iter()).zip(0u64..);
        words.flat_map(|((own, other), index)| {
            let left = own & !other;
            (0..64)
                .filter(move |bit| left >> bit & 1 == 1)
                .map(move |bit| index * 64 + bit)
        })
    }

    /// Clears a bit below the size.
    pub(crate) fn clear(&mut self, bit: u64) {
        self.words[(bit / 64) as usize] &= !(1 << (bit % 64));
    }

    /// Returns whether a bit below the size is set.
    pub(crate) fn has(&self, bit: u64) -> bool {
        self.words[(bit / 64) as usize] >> (bit % 64) & 1 == 1
    }

    /// Returns the number of bits that are set.
    pub(crate) fn count(&self) -> u64 {
        self.words
            .iter()
            .map(|word| u64::from(word.count_ones()))
            .sum()
    }

    /// Returns the highest bit that is set.
    pub(crate) fn highest(&self) -> Option<u64> {
        let (index, word) = self
            .words
            .iter()
            .enumerate()
            .rev()
            .find(|(_, word)| **word != 0)?;
        Some(index as u64 * 64 + u64::from(word.ilog2()))
    }

    /// Returns the bits that are set here and in `other`, ascending.
    pub(crate) fn common<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = u64> + 'a {
        let words = self
            .words
            .iter()
            .zip(&other.words)
            .zip(0u64..)
            .map(|((own, other), index)| (own & other, index));
        let common = words.filter(|(common, _)| *common != 0);
        common.flat_map(|(common, index)| {
            (0..64)
                .filter(move |bit| common >> bit & 1 == 1)
                .map(move |bit| index * 64 + bit)
        })
    }

    /// Sets the bits that are set in `other`, which is empty or of the same size; returns how many were set in both.
    pub(crate) fn unite(&mut self, other: &Self) -> u64 {
        let mut both = 0;
        for (own, other) in self.words.iter_mut().zip(&other.words) {
            both += u64::from((*own & other).count_ones());
            *own |= other;
        }
        both
    }

    /// Returns the clear bits below `end`, ascending.
    pub(crate) fn clear_bits(&self, end: u64) -> impl Iterator<Item = u64> + '_ {
        let end = end.min(self.bits);
        let words = self
            .words
            .iter()
            .zip(0u64..)
            .filter(|(word, _)| **word != u64::MAX);
        words
            .flat_map(|(word, index)| {
                (0..64)
                    .filter(move |bit| word >> bit & 1 == 0)
                    .map(move |bit| index * 64 + bit)
            })
            .take_while(move |bit| *bit < end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bit_is_new_only_once() {
        let mut bits = Bitmap::new(130);
        assert!(bits.set(129));
        assert!(!bits.set(129));
        assert!(bits.set(0));
    }

    #[test]
    fn a_run_of_bits_is_new_if_each_bit_is() {
        for (first, count) in [
            (0, 1),
            (0, 64),
            (63, 1),
            (63, 2),
            (1, 64),
            (66, 64),
            (128, 2),
        ] {
            for set in [
                None,
                Some(0),
                Some(first),
                Some(first + count - 1),
                Some(129),
            ] {
                let mut run = Bitmap::new(130);
                if let Some(bit) = set {
                    assert!(run.set(bit));
                }
                let mut each = run.clone();
                let is_new = (first..first + count).all(|bit| !each.has(bit));
                assert_eq!(
                    run.set_run(first, count),
                    is_new,
                    "{first}, {count}, {set:?}"
                );
                if is_new {
                    for bit in first..first + count {
                        assert!(each.set(bit));
                    }
                }
                assert_eq!(run.words, each.words, "{first}, {count}, {set:?}");
            }
        }
    }

    #[test]
    fn what_is_set_only_here_is_left() {
        let of = |set: &[u64]| {
            let mut bits = Bitmap::new(130);
            for &bit in set {
                assert!(bits.set(bit));
            }
            bits
        };
        let (sent, seen) = (of(&[0, 63, 64, 129]), of(&[0, 64, 100]));
        assert_eq!(sent.without(&seen).collect::<Vec<_>>(), [63, 129]);
    }

    #[test]
    fn a_union_tells_what_was_in_both() {
        let mut bits = Bitmap::new(130);
        let mut other = Bitmap::new(130);
        for bit in [0, 64, 129] {
            assert!(bits.set(bit));
        }
        for bit in [1, 64, 129] {
            assert!(other.set(bit));
        }
        assert_eq!(bits.common(&other).collect::<Vec<_>>(), [64, 129]);
        assert_eq!(bits.unite(&other), 2);
        assert_eq!(
            (bits.count(), bits.highest(), bits.has(1)),
            (4, Some(129), true)
        );
        bits.clear(129);
        assert_eq!(
            (bits.count(), bits.highest(), Bitmap::new(130).highest()),
            (3, Some(64), None)
        );
    }

    #[test]
    fn what_was_not_set_is_clear() {
        let mut bits = Bitmap::new(5);
        bits.set(1);
        bits.set(3);
        assert_eq!(bits.clear_bits(5).collect::<Vec<_>>(), [0, 2, 4]);
        assert_eq!(bits.clear_bits(2).collect::<Vec<_>>(), [0]);
    }
}
