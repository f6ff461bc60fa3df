//! Seeded random numbers.

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
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
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
