//! The tag that makes a test frame recognisable and measurable, right after the UDP header (RFC 8219 section 7.2), and the pattern that fills the
//! rest of the frame.
//!
//! | octets | field |
//! |---|---|
//! | 0-3 | magic, `6bch` |
//! | 4 | stream: bit 0 direction, bit 1 background, the others free for the engine |
//! | 5-9 | sequence number, 40 bits |
//! | 10-17 | time of sending, nanoseconds of the tester's clock, 64 bits |
//!
//! 18 octets are exactly the room in a 64-octet IPv4 frame and an 84-octet IPv6 frame.

use std::fmt;

/// Octets of the tag.
pub const LEN: usize = 18;
/// The largest sequence number: 40 bits last for 30 hours at 10 million frames per second.
pub const MAX_SEQUENCE: u64 = (1 << 40) - 1;
/// The first octets of every tag.
pub const MAGIC: [u8; 4] = *b"6bch";
/// Bit of [`Tag::stream`] for frames in the reverse direction.
pub const REVERSE: u8 = 0b01;
/// Bit of [`Tag::stream`] for background traffic, which is not translated (RFC 8219 section 5.3).
pub const BACKGROUND: u8 = 0b10;

/// Octets of the fill pattern before it repeats: more than any payload except that of the largest jumbo frames.
const PATTERN_LEN: usize = 8192;
/// The pattern, computed by the compiler: filling and checking a frame is a copy and a comparison.
static PATTERN: [u8; PATTERN_LEN] = pattern();

/// The information that a frame carries about itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Tag {
    /// The stream of the trial that it belongs to; see [`REVERSE`] and [`BACKGROUND`].
    pub stream: u8,
    /// Its number in the stream, from 0; at most [`MAX_SEQUENCE`].
    pub sequence: u64,
    /// The time at which the frame was handed to the port, in nanoseconds of the tester's clock.
    pub time_ns: u64,
}

impl Tag {
    /// Octets of the tag; the same as [`LEN`].
    pub const LEN: usize = LEN;
    /// The largest sequence number; the same as [`MAX_SEQUENCE`].
    pub const MAX_SEQUENCE: u64 = MAX_SEQUENCE;

    /// Reads the tag at the front of a UDP payload; `None` if the payload is shorter or not tagged.
    #[inline]
    pub fn read(payload: &[u8]) -> Option<Self> {
        let octets = payload.first_chunk::<LEN>()?;
        if octets[..4] != MAGIC {
            return None;
        }
        // Octets 2 to 9: half the magic, stream, sequence.
        let middle = u64::from_be_bytes(*octets[2..].first_chunk()?);
        Some(Self {
            stream: octets[4],
            sequence: middle & MAX_SEQUENCE,
            time_ns: u64::from_be_bytes(*octets.last_chunk()?),
        })
    }

    /// Writes the tag into the front of `payload`, of at least [`LEN`] octets. A sequence number above [`MAX_SEQUENCE`] loses its upper bits.
    #[inline]
    pub fn emit(&self, payload: &mut [u8]) {
        payload[0..2].copy_from_slice(&MAGIC[..2]);
        payload[2..10].copy_from_slice(&middle(self.stream, self.sequence).to_be_bytes());
        payload[10..18].copy_from_slice(&self.time_ns.to_be_bytes());
    }

    /// Returns whether the frame goes in the reverse direction.
    pub fn is_reverse(&self) -> bool {
        self.stream & REVERSE != 0
    }

    /// Returns whether the frame is background traffic.
    pub fn is_background(&self) -> bool {
        self.stream & BACKGROUND != 0
    }
}

/// Returns octets 2 to 9 of a tag: the rest of the magic, stream and sequence in one word, so that the send path writes them with one store.
#[inline]
pub(crate) const fn middle(stream: u8, sequence: u64) -> u64 {
    const MAGIC_HALF: u64 = (MAGIC[2] as u64) << 56 | (MAGIC[3] as u64) << 48;
    MAGIC_HALF | (stream as u64) << 40 | sequence & MAX_SEQUENCE
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let direction = if self.is_reverse() {
            "reverse"
        } else {
            "forward"
        };
        let kind = if self.is_background() {
            "background"
        } else {
            "foreground"
        };
        write!(
            f,
            "{direction} {kind} frame {} sent at {} ns",
            self.sequence, self.time_ns
        )
    }
}

/// Returns octets without a short period, so that a frame that was cut, shifted or spliced on its way can be recognised.
const fn pattern() -> [u8; PATTERN_LEN] {
    let mut pattern = [0; PATTERN_LEN];
    // Any start would do, as the generator has its full period of 2^32 from each; both ends must have the same one.
    let mut state = 0x6b63_6800_u32;
    let mut at = 0;
    while at < PATTERN_LEN {
        // The constants are from "Numerical Recipes"; the upper octet is the random one.
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        pattern[at] = (state >> 24) as u8;
        at += 1;
    }
    pattern
}

/// Fills the octets after the tag. Each octet depends only on its position.
pub fn fill_pattern(octets: &mut [u8]) {
    for chunk in octets.chunks_mut(PATTERN_LEN) {
        chunk.copy_from_slice(&PATTERN[..chunk.len()]);
    }
}

/// Returns whether the octets after the tag are as [`fill_pattern`] left them.
#[inline]
pub fn pattern_is_whole(octets: &[u8]) -> bool {
    octets
        .chunks(PATTERN_LEN)
        .all(|chunk| chunk == &PATTERN[..chunk.len()])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::octets::hex;

    #[test]
    fn a_tag_is_laid_out_as_documented() {
        let tag = Tag {
            stream: 3,
            sequence: 0x01_0203_0405,
            time_ns: 0x1112_1314_1516_1718,
        };
        let mut octets = [0; LEN];
        tag.emit(&mut octets);
        assert_eq!(octets, *hex("366263680301020304051112131415161718"));
        assert_eq!(Tag::read(&octets), Some(tag));
        assert!(tag.is_reverse() && tag.is_background());
    }

    #[test]
    fn a_tag_is_displayed_in_the_words_of_the_report() {
        let tag = Tag {
            stream: REVERSE,
            sequence: 7,
            time_ns: 9,
        };
        assert_eq!(tag.to_string(), "reverse foreground frame 7 sent at 9 ns");
    }

    #[test]
    fn other_payloads_are_no_tags() {
        assert_eq!(Tag::read(b"6bch"), None);
        assert_eq!(Tag::read(&[0; 64]), None);
    }

    #[test]
    fn a_cut_shifted_or_flipped_pattern_is_not_whole() {
        let mut octets = vec![0; 20_000];
        fill_pattern(&mut octets);
        assert!(pattern_is_whole(&octets) && pattern_is_whole(&[]));
        assert!(!pattern_is_whole(&octets[1..]));
        octets[19_999] ^= 1;
        assert!(!pattern_is_whole(&octets));
    }

    #[test]
    fn the_pattern_does_not_repeat_within_256_octets() {
        assert_ne!(PATTERN[..64], PATTERN[256..320]);
        assert_ne!(PATTERN[..64], PATTERN[1024..1088]);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(stream: u8, sequence in 0..=MAX_SEQUENCE, time_ns: u64) {
            let tag = Tag { stream, sequence, time_ns };
            let mut octets = [0xff; 30];
            tag.emit(&mut octets);
            prop_assert_eq!(Tag::read(&octets), Some(tag));
        }
    }
}
