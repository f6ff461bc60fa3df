//! Seeded random numbers, and the bijection that makes them.

/// Steele, Lea and Flood's splitmix64: a small generator, good enough for simulations, with the same output on every machine.
#[derive(Clone, Debug)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// Returns a generator; equal seeds give equal sequences.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the next 64 pseudorandom bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(MIX_STEP);
        mix(self.0)
    }

    /// Returns a number uniform over 0..1.
    pub fn uniform(&mut self) -> f64 {
        // An f64 holds 53 bits exactly, so every value is equally likely, and none is rounded up to 1.
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Returns a Gaussian number with mean 0 and standard deviation 1 (Box and Muller).
    pub fn gaussian(&mut self) -> f64 {
        // A uniform number may be 0, whose logarithm is infinite, but never 1.
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

/// The step between the states of SplitMix64: 2^64 divided by the golden ratio.
pub const MIX_STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The factors of `mix`.
const FACTORS: [u64; 2] = [0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb];

/// Applies the finaliser of SplitMix64 (Steele, Lea, Flood 2014), a bijection of the numbers of 64 bits whose results look random: equidistributed, two
/// multiplications. The tester calls it for each frame, so it is always inlined.
#[inline(always)]
pub fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(FACTORS[0]);
    z = (z ^ (z >> 27)).wrapping_mul(FACTORS[1]);
    z ^ (z >> 31)
}

/// Returns the number of which `mix` makes `z`: each of its steps can be undone.
pub fn unmix(z: u64) -> u64 {
    let z = (z ^ (z >> 31) ^ (z >> 62)).wrapping_mul(INVERSES[1]);
    let z = (z ^ (z >> 27) ^ (z >> 54)).wrapping_mul(INVERSES[0]);
    z ^ (z >> 30) ^ (z >> 60)
}

/// The inverses of the two factors of `mix`, modulo 2^64.
const INVERSES: [u64; 2] = [inverse(FACTORS[0]), inverse(FACTORS[1])];

/// Returns the inverse of an odd number modulo 2^64, by Newton's method: each step doubles the bits that are right, of which there are three at first.
const fn inverse(odd: u64) -> u64 {
    let mut inverse = odd;
    let mut bits = 3;
    while bits < u64::BITS {
        inverse = inverse.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(inverse)));
        bits *= 2;
    }
    inverse
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaussian_draws_have_a_standard_deviation_of_one() {
        let mut random = SplitMix64::new(1);
        let draws: Vec<f64> = (0..10_000).map(|_| random.gaussian()).collect();
        let variance = draws.iter().map(|x| x * x).sum::<f64>() / draws.len() as f64;
        assert!((variance - 1.0).abs() < 0.05, "{variance}");
    }
}
