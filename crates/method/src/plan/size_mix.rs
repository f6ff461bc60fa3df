//! A mix of frame sizes within each trial of a test: the sizes, their shares, and the sequence in which they come, if the plan gives one.

use crate::terms::bounds::NumberBound;
use crate::terms::{FrameRate, FrameSize, IpVersion};
use crate::units::{self, ValueError, expected};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// A mix of frame sizes ("IMIX", Internet mix). It is small and of fixed length, so that a test's traffic can be copied and compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct SizeMix {
    /// The sizes in ascending order; those from `sizes` on are not used.
    shares: [SizeShare; SizeMix::MOST_SIZES],
    sizes: usize,
    genome: Option<Genome>,
}

/// The share of one size in a mix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizeShare {
    /// The size.
    pub size: FrameSize,
    /// The number of frames of this size among [`SizeMix::total_weight`].
    pub weight: u32,
}

/// The letters of a sequence of sizes that repeats; those from `length` on are not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Genome {
    letters: [u8; SizeMix::MOST_LETTERS],
    length: usize,
}

/// The sizes of the letters of a genome. RFC 6985 defines a way "to specify the exact repeating sequence of packet sizes" (its abstract). Its `a` is a frame of
/// 64 octets, which has no room for the tag: 84 replaces it, as in RFC 8219 section 5.1.1. Its table was not at hand: `a` to `g` are as another tester's manual
/// (OpenPerf's) gives them from its section 4, while `h` and `i` were not compared with any text.
const LETTERS: [(u8, FrameSize); 9] = [
    (b'a', FrameSize::MINIMUM),
    (b'b', FrameSize(128)),
    (b'c', FrameSize(256)),
    (b'd', FrameSize(512)),
    (b'e', FrameSize(1024)),
    (b'f', FrameSize(1280)),
    (b'g', FrameSize(1518)),
    (b'h', FrameSize(2112)),
    (b'i', FrameSize(9000)),
];

/// The word with which a plan names the simple mix, and the prefix of a genome.
const IMIX: &str = "imix";

/// The weights of the simple IMIX, smallest size first: Ethernet frames of 64 (here 84), 594 and 1518 octets.
const SIMPLE: [SizeShare; 3] = [
    SizeShare {
        size: FrameSize::MINIMUM,
        weight: 7,
    },
    SizeShare {
        size: FrameSize(594),
        weight: 4,
    },
    SizeShare {
        size: FrameSize(1518),
        weight: 1,
    },
];

/// The reason why a text is not a mix of frame sizes.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum SizeMixError {
    /// A size or a weight has another form.
    #[error(transparent)]
    Value(#[from] ValueError),
    /// A letter that stands for no size here.
    #[error(
        "`{0}` is no letter of a genome: a to i are 84 (for 64), 128, 256, 512, 1024, 1280, 1518, 2112 and 9000 octets; write any other size with its weight, such as \"84:7,1400:1\""
    )]
    Letter(char),
    /// A sequence that is too long.
    #[error(
        "a genome has at most {most} letters, not {0}",
        most = SizeMix::MOST_LETTERS
    )]
    TooManyLetters(usize),
    /// Only one size.
    #[error("a mix has from 2 to {most} different sizes, not {0}", most = SizeMix::MOST_SIZES)]
    Sizes(usize),
    /// A size that is there twice.
    #[error("the size {0} is there twice: add up its weights")]
    Twice(FrameSize),
}

impl SizeMix {
    /// The largest number of sizes.
    pub const MOST_SIZES: usize = 8;
    /// The largest number of letters of a genome.
    pub const MOST_LETTERS: usize = 64;
    /// The weights that a plan may give.
    pub const WEIGHT: NumberBound = NumberBound::new(1.0, 1_000.0);

    /// Returns the mix with these shares; they are ordered by size and reduced, so that equal mixes are equal.
    fn new(mut given: Vec<SizeShare>, genome: Option<Genome>) -> Result<Self, SizeMixError> {
        given.sort_by_key(|share| share.size);
        if let Some(pair) = given.windows(2).find(|pair| pair[0].size == pair[1].size) {
            return Err(SizeMixError::Twice(pair[0].size));
        }
        if !(2..=Self::MOST_SIZES).contains(&given.len()) {
            return Err(SizeMixError::Sizes(given.len()));
        }
        let divisor = given
            .iter()
            .fold(0, |all, share| units::gcd(all, share.weight));
        let mut shares = [SizeShare {
            size: FrameSize::MINIMUM,
            weight: 0,
        }; Self::MOST_SIZES];
        for (share, given) in shares.iter_mut().zip(&given) {
            *share = SizeShare {
                weight: given.weight / divisor,
                ..*given
            };
        }
        Ok(Self {
            shares,
            sizes: given.len(),
            genome,
        })
    }

    /// Returns the mix of a genome, whose frames have the sizes of its letters, one after the other, and then from its first letter on again.
    fn of_genome(text: &str) -> Result<Self, SizeMixError> {
        if text.len() > Self::MOST_LETTERS {
            return Err(SizeMixError::TooManyLetters(text.chars().count()));
        }
        let mut genome = Genome {
            letters: [0; Self::MOST_LETTERS],
            length: text.len(),
        };
        let mut shares: Vec<SizeShare> = Vec::new();
        for (place, letter) in text.chars().enumerate() {
            let size = size_of_letter(letter).ok_or(SizeMixError::Letter(letter))?;
            genome.letters[place] = letter as u8;
            match shares.iter_mut().find(|share| share.size == size) {
                Some(share) => share.weight += 1,
                None => shares.push(SizeShare { size, weight: 1 }),
            }
        }
        Self::new(shares, Some(genome))
    }

    /// Returns the mix of sizes with weights, `84:7,594:4,1518:1`.
    fn of_weights(text: &str) -> Result<Self, SizeMixError> {
        if !text.contains(':') {
            const FORMS: &str =
                "a mix of frame sizes such as \"imix\", \"imix:aaabg\" or \"84:7,594:4,1518:1\"";
            return Err(expected(FORMS, text).into());
        }
        let shares: Result<_, ValueError> = text.split(',').map(read_share).collect();
        Self::new(shares?, None)
    }

    /// Returns the sizes with their weights, in ascending order.
    pub fn shares(&self) -> &[SizeShare] {
        &self.shares[..self.sizes]
    }

    /// Returns the largest size.
    pub fn largest(&self) -> FrameSize {
        self.shares[self.sizes - 1].size
    }

    /// Returns the number of frames in which each size has its share exactly.
    pub fn total_weight(&self) -> u32 {
        self.shares().iter().map(|share| share.weight).sum()
    }

    /// Returns the places in [`Self::shares`] of the sizes of a genome, in its order; `None` if the order is pseudorandom.
    pub fn sequence(&self) -> Option<Vec<u8>> {
        let genome = self.genome.as_ref()?;
        let places = genome.letters().filter_map(|letter| {
            let size = size_of_letter(char::from(letter))?;
            let place = self.shares().iter().position(|share| share.size == size)?;
            u8::try_from(place).ok()
        });
        Some(places.collect())
    }

    /// Returns the mean octets of a frame with FCS.
    pub fn mean_octets(&self) -> f64 {
        self.octets(IpVersion::Ipv6) as f64 / f64::from(self.total_weight())
    }

    /// Returns the whole number next to the mean octets, which is the size of the test's only point.
    pub fn nominal(&self) -> FrameSize {
        FrameSize(self.mean_octets().round() as u16)
    }

    /// Returns the octets with FCS of as many frames as [`Self::total_weight`], which carry `version`.
    fn octets(&self, version: IpVersion) -> u64 {
        let of_share =
            |share: &SizeShare| u64::from(share.weight) * u64::from(share.size.with_fcs(version));
        self.shares().iter().map(of_share).sum()
    }

    /// Returns the highest rate at which a medium of `line_rate` bit/s carries the mix: RFC 5180 section 5.2 with the mean octets of its frames.
    pub fn theoretical_maximum(&self, line_rate: u64, version: IpVersion) -> FrameRate {
        let weight = u64::from(self.total_weight());
        let bits = 8 * (self.octets(version) + 20 * weight);
        FrameRate((u128::from(line_rate) * u128::from(weight) / u128::from(bits)) as u64)
    }

    /// Returns the name of the mix with its mean, for reports: `IMIX 7:4:1, mean 373.5 octets`.
    pub fn label(&self) -> String {
        let mean = (self.mean_octets() * 10.0).round() / 10.0;
        format!("{}, mean {mean} octets", self.name())
    }

    /// Returns the name of the mix: `IMIX 7:4:1`, `IMIX genome aaabg` or `sizes 84:3,1518:1`.
    pub fn name(&self) -> String {
        match &self.genome {
            Some(genome) => format!("IMIX genome {genome}"),
            None if self.shares() == SIMPLE => "IMIX 7:4:1".to_owned(),
            None => format!("sizes {self}"),
        }
    }
}

impl Genome {
    fn letters(&self) -> impl Iterator<Item = u8> + '_ {
        self.letters[..self.length].iter().copied()
    }
}

/// Reads a size with its weight, `84:7`.
fn read_share(text: &str) -> Result<SizeShare, ValueError> {
    let (size, weight) = text
        .split_once(':')
        .and_then(|(size, weight)| Some((size, weight.trim().parse().ok()?)))
        .filter(|(_, weight)| SizeMix::WEIGHT.contains(f64::from(*weight)))
        .ok_or_else(|| expected("a size and its weight from 1 to 1000, such as 84:7", text))?;
    Ok(SizeShare {
        size: units::frame_size(size.trim())?,
        weight,
    })
}

/// Returns the size that a letter of a genome (RFC 6985) stands for.
pub fn size_of_letter(letter: char) -> Option<FrameSize> {
    let found = LETTERS
        .iter()
        .find(|(known, _)| char::from(*known) == letter);
    found.map(|(_, size)| *size)
}

impl fmt::Display for Genome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.letters()
            .try_for_each(|letter| write!(f, "{}", char::from(letter)))
    }
}

impl fmt::Display for SizeMix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(genome) = &self.genome {
            return write!(f, "{IMIX}:{genome}");
        }
        for (place, SizeShare { size, weight }) in self.shares().iter().enumerate() {
            let comma = if place == 0 { "" } else { "," };
            write!(f, "{comma}{size}:{weight}")?;
        }
        Ok(())
    }
}

impl FromStr for SizeMix {
    type Err = SizeMixError;

    fn from_str(text: &str) -> Result<Self, SizeMixError> {
        let text = text.trim();
        if text == IMIX {
            return Self::new(SIMPLE.to_vec(), None);
        }
        match text.split_once(':') {
            Some((IMIX, genome)) => Self::of_genome(genome),
            _ => Self::of_weights(text),
        }
    }
}

impl TryFrom<String> for SizeMix {
    type Error = SizeMixError;

    fn try_from(text: String) -> Result<Self, SizeMixError> {
        text.parse()
    }
}

impl From<SizeMix> for String {
    fn from(mix: SizeMix) -> Self {
        mix.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mix(text: &str) -> SizeMix {
        text.parse().expect("a mix")
    }

    #[test]
    fn the_simple_mix_is_7_frames_of_84_octets_to_4_of_594_to_1_of_1518() {
        let simple = mix("imix");
        assert_eq!(simple.to_string(), "84:7,594:4,1518:1");
        assert_eq!(simple.label(), "IMIX 7:4:1, mean 373.5 octets");
        assert_eq!(
            (simple.nominal(), simple.total_weight()),
            (FrameSize(374), 12)
        );
        assert_eq!(
            simple,
            mix("1518:2, 84:14, 594:8"),
            "reduced, and in any order"
        );
    }

    #[test]
    fn a_genome_keeps_its_sequence_and_is_read_again_as_it_is_written() {
        let genome = mix("imix:aagab");
        assert_eq!(genome.sequence(), Some(vec![0, 0, 2, 0, 1]));
        assert_eq!(genome.label(), "IMIX genome aagab, mean 379.6 octets");
        assert_eq!(mix(&genome.to_string()), genome);
        assert_eq!(genome.largest(), FrameSize(1518));
        assert_ne!(
            genome,
            mix("84:3,128:1,1518:1"),
            "whose order is another one"
        );
    }

    #[test]
    fn a_medium_carries_the_mix_at_the_rate_of_its_mean_octets() {
        let simple = mix("imix");
        // 12 frames of 4,482 octets and 20 octets each around them.
        let bits = 8.0 * (4482.0 + 240.0);
        assert_eq!(
            simple.theoretical_maximum(1_000_000_000, IpVersion::Ipv6),
            FrameRate((12e9 / bits) as u64)
        );
        let shorter = simple.theoretical_maximum(1_000_000_000, IpVersion::Ipv4);
        assert_eq!(shorter, FrameRate((12e9 / (bits - 8.0 * 240.0)) as u64));
    }

    #[test]
    fn what_is_no_mix_is_told_with_the_reason() {
        let told = |text: &str| {
            let read: Result<SizeMix, SizeMixError> = text.parse();
            read.expect_err(text).to_string()
        };
        assert!(told("84").contains("expected a mix of frame sizes such as"));
        assert!(told("64:7,594:4").contains("84 replaces 64"));
        assert!(told("84:0,594:4").contains("weight from 1 to 1000"));
        assert!(told("84:7,594").contains("a size and its weight"));
        assert!(told("84:1,84:2").contains("the size 84 is there twice"));
        assert!(told("84:1").contains("from 2 to 8 different sizes, not 1"));
        assert!(told("imix:aaaa").contains("from 2 to 8 different sizes, not 1"));
        assert!(told("imix:aaz").contains("`z` is no letter of a genome"));
        assert!(told("imix:aé").contains("`é` is no letter"));
        assert!(told(&format!("imix:{}", "ab".repeat(33))).contains("at most 64 letters, not 66"));
        assert!(told("imix:").contains("different sizes, not 0"));
    }
}
