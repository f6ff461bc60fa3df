//! Models with which measurements of mixed traffic and of overload are compared. Arithmetic only.
//!
//! The two models are those of Lencse's paper on benchmarking SIIT, for a share of translated traffic among native IPv6.

/// Returns the throughput if translated and native frames are two flows on separate cores: `min(translated / share, native / (1 - share))`. The flow
/// whose core is full first holds up the other, because the mixture is fixed.
///
/// `share` of all frames is translated, 0..=1; `translated` and `native` are the throughputs of each kind alone, in the same unit.
pub fn separate_cores(share: f64, translated: f64, native: f64) -> f64 {
    match share {
        share if share <= 0.0 => native,
        share if share >= 1.0 => translated,
        share => (translated / share).min(native / (1.0 - share)),
    }
}

/// Returns the throughput if one core processes both, or if many flows spread evenly over all cores: the time per frame is the mean for the two
/// kinds, `1 / (share / translated + (1 - share) / native)`. Arguments as for [`separate_cores`].
pub fn one_core(share: f64, translated: f64, native: f64) -> f64 {
    match share {
        share if share <= 0.0 => native,
        share if share >= 1.0 => translated,
        share => 1.0 / (share / translated + (1.0 - share) / native),
    }
}

/// Returns the performance degradation under n flows relative to one, in per cent (RFC 8219 section 10.2.1): `(Xn - X1) / X1 * 100` if lower values
/// are better, `(X1 - Xn) / X1 * 100` if higher values are. It is positive if n flows do worse, and `None` if X1 is zero.
pub fn degradation_percent(first: f64, nth: f64, higher_is_better: bool) -> Option<f64> {
    let worse_by = if higher_is_better {
        first - nth
    } else {
        nth - first
    };
    (first != 0.0).then(|| worse_by / first * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_mixture_both_models_are_the_throughput_of_the_one_kind() {
        for model in [separate_cores, one_core] {
            assert_eq!(model(0.0, 400.0, 700.0), 700.0);
            assert_eq!(model(1.0, 400.0, 700.0), 400.0);
            assert_eq!(
                model(0.0, 0.0, 700.0),
                700.0,
                "nothing is translated, so it does not matter how slowly"
            );
            assert_eq!(model(1.0, 400.0, 0.0), 400.0);
        }
    }

    #[test]
    fn two_cores_are_fastest_where_both_are_full() {
        // 400 / a = 700 / (1 - a) at a = 4 / 11.
        assert!((separate_cores(4.0 / 11.0, 400.0, 700.0) - 1_100.0).abs() < 1e-9);
        assert_eq!(separate_cores(0.1, 400.0, 700.0), 700.0 / 0.9);
        assert_eq!(separate_cores(0.5, 400.0, 700.0), 800.0);
    }

    #[test]
    fn one_core_takes_the_mean_of_the_times() {
        assert_eq!(one_core(0.5, 400.0, 1_200.0), 600.0);
        assert!(
            (0..=10)
                .map(f64::from)
                .all(|tenth| one_core(tenth / 10.0, 400.0, 700.0)
                    <= separate_cores(tenth / 10.0, 400.0, 700.0))
        );
        assert_eq!(
            one_core(0.5, 0.0, 700.0),
            0.0,
            "half of the frames never get through"
        );
    }

    #[test]
    fn degradation_is_positive_when_many_flows_do_worse() {
        assert_eq!(degradation_percent(1_000.0, 800.0, true), Some(20.0));
        assert_eq!(degradation_percent(50.0, 75.0, false), Some(50.0));
        assert_eq!(degradation_percent(50.0, 40.0, false), Some(-20.0));
        assert_eq!(degradation_percent(0.0, 40.0, false), None);
    }
}
