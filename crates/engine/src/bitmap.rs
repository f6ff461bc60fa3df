//! Which frames were seen: one bit each.

/// A fixed set of bits, all clear at first.
#[derive(Clone, Debug)]
pub(crate) struct Bitmap {
    words: Vec<u64>,
    bits: u64,
}

impl Bitmap {
    /// Creates a bitmap with room for `bits` bits, all clear.
    pub(crate) fn new(bits: u64) -> Self {
        Self { words: vec![0; bits.div_ceil(64) as usize], bits }
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

    /// The bits that are set here and clear in `other`, ascending.
    pub(crate) fn without<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = u64> + 'a {
        let words = self.words.iter().zip(other.words.iter()).zip(0u64..);
        words.flat_map(|((own, other), index)| {
            let left = own & !other;
            (0..64).filter(move |bit| left >> bit & 1 == 1).map(move |bit| index * 64 + bit)
        })
    }

    /// The clear bits below `end`, ascending.
    pub(crate) fn clear_bits(&self, end: u64) -> impl Iterator<Item = u64> + '_ {
        let end = end.min(self.bits);
        let words = self.words.iter().zip(0u64..).filter(|(word, _)| **word != u64::MAX);
        words
            .flat_map(|(word, index)| (0..64).filter(move |bit| word >> bit & 1 == 0).map(move |bit| index * 64 + bit))
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
    fn what_is_set_only_here_is_left() {
        let of = |set: &[u64]| {
            let mut bits = Bitmap::new(130);
            set.iter().for_each(|&bit| assert!(bits.set(bit)));
            bits
        };
        let (sent, seen) = (of(&[0, 63, 64, 129]), of(&[0, 64, 100]));
        assert_eq!(sent.without(&seen).collect::<Vec<_>>(), [63, 129]);
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
