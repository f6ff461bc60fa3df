//! The distribution behind rank tests: the number of pairs in the wrong order when the order is random.

/// The group sizes up to which the distribution is exact. 100 over 50 is 10^29, so 128 bits leave room for intermediate products; beyond, the normal
/// distribution is close enough.
pub(super) const LARGEST: usize = 50;

/// Returns the probability of each number, 0..=m n, of pairs in which an item of the second kind comes before one of the first, when `m` items of one
/// kind and `n` of another are in random order. This is Mann and Whitney's U without ties; `m` and `n` must be at most [`LARGEST`].
pub(super) fn distribution(m: usize, n: usize) -> Vec<f64> {
    let counts = gaussian_binomial(m.min(n), m.max(n));
    let all: i128 = counts.iter().sum();
    counts
        .iter()
        .map(|&count| count as f64 / all as f64)
        .collect()
}

/// Returns the coefficients of the Gaussian binomial of m + n over m, the product of (1 - q^(n + i)) / (1 - q^i) for i in 1..=m: the number of orders
/// by their inversions. Each division is exact.
fn gaussian_binomial(m: usize, n: usize) -> Vec<i128> {
    let mut counts = vec![0; m * n + 1];
    counts[0] = 1;
    for i in 1..=m {
        // Multiplied from the top, as each coefficient needs the old one below it; divided from the bottom, as each needs the new one.
        for at in (n + i..counts.len()).rev() {
            counts[at] -= counts[at - n - i];
        }
        for at in i..counts.len() {
            counts[at] += counts[at - i];
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_and_two_things_stand_in_six_rows() {
        assert_eq!(gaussian_binomial(2, 2), [1, 1, 2, 1, 1]);
        assert_eq!(gaussian_binomial(1, 3), [1, 1, 1, 1]);
        assert_eq!(distribution(0, 5), [1.0]);
    }

    #[test]
    fn fifty_and_fifty_are_counted_exactly() {
        let counts = gaussian_binomial(LARGEST, LARGEST);
        assert_eq!(
            counts.iter().sum::<i128>(),
            100_891_344_545_564_193_334_812_497_256
        );
        assert!(counts.iter().eq(counts.iter().rev()));
    }
}
