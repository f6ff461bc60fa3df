//! The payload of a vector's frames, by which its answers are recognised.

/// The octets with which every block of a payload begins.
pub const PAYLOAD_MARK: [u8; 4] = *b"6bcv";

/// Octets of a block: the mark, the number of the vector, and the number of the block. A fragment of 16 octets or more contains a mark or the rest
/// of a block, and no two blocks of a payload are equal, so that exchanged fragments show.
const BLOCK: usize = 8;

/// The payload of one vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PayloadPattern {
    /// The number of the vector in its run.
    pub vector: u16,
}

impl PayloadPattern {
    /// Returns `length` octets of the payload, from the octet `from`.
    pub fn octets(self, from: usize, length: usize) -> Vec<u8> {
        (from..from + length).map(|at| self.octet(at)).collect()
    }

    /// Returns the place in the payload at which `part` begins, or `None` if it is empty or no part of the payload.
    pub fn begin_of(self, part: &[u8]) -> Option<usize> {
        let head = &part[..part.len().min(2 * BLOCK)];
        let places = 0..=usize::from(u16::MAX).checked_sub(part.len())?;
        let begin = places
            .into_iter()
            .find(|from| !part.is_empty() && self.octets(*from, head.len()) == head)?;
        (self.octets(begin, part.len()) == part).then_some(begin)
    }

    fn octet(self, at: usize) -> u8 {
        // A payload has at most 65,535 octets, so the number of its block fits.
        let block = ((at / BLOCK) as u16).to_be_bytes();
        let vector = self.vector.to_be_bytes();
        [
            PAYLOAD_MARK[0],
            PAYLOAD_MARK[1],
            PAYLOAD_MARK[2],
            PAYLOAD_MARK[3],
            vector[0],
            vector[1],
            block[0],
            block[1],
        ][at % BLOCK]
    }
}

/// Returns the number of the vector whose payload occurs in `octets`, or `None` if none does.
pub fn vector_number_in(octets: &[u8]) -> Option<u16> {
    octets
        .windows(PAYLOAD_MARK.len() + 2)
        .find(|window| window.starts_with(&PAYLOAD_MARK))
        .map(|window| u16::from_be_bytes([window[4], window[5]]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_says_whose_it_is_wherever_it_is_cut() {
        let pattern = PayloadPattern { vector: 0x1234 };
        let whole = pattern.octets(0, 64);
        assert_eq!(vector_number_in(&whole), Some(0x1234));
        assert_eq!(pattern.octets(24, 40), whole[24..]);
        assert_eq!(vector_number_in(&whole[3..18]), Some(0x1234));
        assert_eq!(vector_number_in(&whole[..5]), None);
    }

    #[test]
    fn a_part_of_a_payload_is_found_where_it_begins() {
        let pattern = PayloadPattern { vector: 0x1234 };
        let whole = pattern.octets(0, 1480);
        assert_eq!(pattern.begin_of(&whole[1003..1300]), Some(1003));
        let mut exchanged = whole[..64].to_vec();
        exchanged.swap(40, 47);
        assert_eq!(pattern.begin_of(&exchanged), None);
        assert_eq!(pattern.begin_of(&[]), None);
    }

    #[test]
    fn no_two_blocks_of_a_payload_are_equal() {
        let whole = PayloadPattern { vector: 7 }.octets(0, 1480);
        let blocks: std::collections::BTreeSet<&[u8]> = whole.chunks(BLOCK).collect();
        assert_eq!(blocks.len(), 1480 / BLOCK);
    }
}
