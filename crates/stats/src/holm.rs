//! Multiple testing: p-values adjusted by Holm's procedure (Scandinavian Journal of Statistics 6, 1979).

/// Returns the adjusted p-values, in the order given. With them, the chance of any false finding among all tests is at most the level they are
/// compared with, however the tests depend on each other.
///
/// The smallest p-value is multiplied by the number of tests, the next by one less, and so on; no adjusted value is smaller than the one before it.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let mut adjusted = vec![1.0; p_values.len()];
    let mut largest: f64 = 0.0;
    for (place, &index) in order.iter().enumerate() {
        largest = largest
            .max(p_values[index] * (order.len() - place) as f64)
            .min(1.0);
        adjusted[index] = largest;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_counts_as_often_as_there_are_tests() {
        assert_eq!(holm(&[0.01]), [0.01]);
        assert_eq!(holm(&[0.01, 0.02]), [0.02, 0.02]);
        let adjusted = holm(&[0.04, 0.01, 0.03, 0.005]);
        let expected = [0.06, 0.03, 0.06, 0.02];
        assert!(
            adjusted
                .iter()
                .zip(expected)
                .all(|(a, b)| (a - b).abs() < 1e-12),
            "{adjusted:?}"
        );
    }

    #[test]
    fn nothing_is_above_one() {
        assert_eq!(holm(&[0.6, 0.9, 1.0]), [1.0, 1.0, 1.0]);
        assert!(holm(&[]).is_empty());
    }
}
