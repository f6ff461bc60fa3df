//! Determines which end of the tester is the limit: a core that generates frames, or one that verifies them.

use super::wire::wire;
use crate::RunError;
use sixbench_engine::frames::selftest::{self, Verification};
use sixbench_io::clock::Clock;
use sixbench_method::terms::{Direction, FrameRate, FrameSize};
use std::fmt;

/// The number of frames per measurement: enough for a figure, but few enough to be quick in an unoptimised build.
const FRAMES: u64 = 500_000;
/// The number of measurements. The best counts, because other work on the core only lowers the result.
const LOOKS: usize = 3;

/// The performance of one core in memory with the shortest IPv4 frames, whose ports are random.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ceiling {
    /// The number of frames generated per second.
    pub generation: FrameRate,
    /// The number of frames received and verified per second.
    pub reception: FrameRate,
}

/// Measures how fast the calling thread's core generates and verifies frames. Takes less than a second.
///
/// # Errors
/// The frames cannot be built.
pub fn ceiling() -> Result<Ceiling, RunError> {
    let (clock, profile) = (
        Clock::new(),
        wire("198.18.0.2", "198.19.0.2", FrameSize(84)),
    );
    let (mut generation, mut reception) = (FrameRate(0), FrameRate(0));
    for _ in 0..LOOKS {
        generation = generation.max(selftest::generate(
            &profile,
            Direction::Forward,
            FRAMES,
            &clock,
        )?);
        reception = reception.max(selftest::receive(
            &profile,
            Direction::Forward,
            FRAMES,
            Verification::Usual,
            &clock,
        )?);
    }
    Ok(Ceiling {
        generation,
        reception,
    })
}

/// The number of 64-octet frames that a 10 Gbit/s link carries per second.
const TEN_GIGABIT: f64 = 14_880_952.0;

impl fmt::Display for Ceiling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millions = |rate: FrameRate| rate.0 as f64 / 1e6;
        let (generation, reception) = (millions(self.generation), millions(self.reception));
        let (limit, rate) = if self.generation < self.reception {
            ("generation", self.generation)
        } else {
            ("reception", self.reception)
        };
        let links = rate.0 as f64 / TEN_GIGABIT;
        write!(
            f,
            "in memory one core generates {generation:.1} and verifies {reception:.1} million frames/s of 64 octets: {limit} is the limit, \
             {links:.1} times the frame rate of a 10 Gbit/s link"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slower_end_is_the_limit() {
        let told = |generation, reception| {
            Ceiling {
                generation: FrameRate(generation),
                reception: FrameRate(reception),
            }
            .to_string()
        };
        assert_eq!(
            told(40_000_000, 20_000_000),
            "in memory one core generates 40.0 and verifies 20.0 million frames/s of 64 octets: reception is the limit, 1.3 \
             times the frame rate of a 10 Gbit/s link"
        );
        assert!(told(20_000_000, 40_000_000).contains("generation is the limit"));
    }

    #[test]
    fn both_ends_are_measured() {
        let Ceiling {
            generation,
            reception,
        } = ceiling().expect("frames");
        assert!(generation.0 > 1_000 && reception.0 > 1_000);
    }
}
