//! Derives the throughput of a mix of frame sizes from the throughput at some sizes.

use super::estimate::Estimate;
use super::traffic::Imix;
use sixbench_method::terms::FrameSize;
use std::collections::BTreeMap;

/// The source of the time that a device takes for a frame of some size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeSource {
    /// The throughput at this size was measured.
    Measured,
    /// It was measured at a smaller and at a larger size: the time per frame is interpolated linearly.
    Between,
    /// Only larger sizes were measured: a smaller frame takes at most as long as the smallest of them.
    Below,
    /// Only smaller sizes were measured: the time grows at most in proportion to the size.
    Beyond,
}

/// The throughput at each size, in frames/s per direction.
#[derive(Clone, Debug, Default)]
pub(super) struct RatesBySize(BTreeMap<FrameSize, Estimate>);

impl RatesBySize {
    /// Adds a throughput; of two at the same size, the lower one counts.
    pub(super) fn add(&mut self, size: FrameSize, rate: Estimate) {
        let known = self.0.entry(size).or_insert(rate);
        if rate.value < known.value {
            *known = rate;
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the source of the time per frame of `size`.
    pub(super) fn source(&self, size: FrameSize) -> TimeSource {
        match (self.at_most(size), self.at_least(size)) {
            (Some((below, _)), _) if below == size => TimeSource::Measured,
            (Some(_), Some(_)) => TimeSource::Between,
            (None, _) => TimeSource::Below,
            (_, None) => TimeSource::Beyond,
        }
    }

    /// Returns the rate of a mix, in frames/s per direction: the inverse of the mean time per frame. At least one size must be known.
    pub(super) fn of_mix(&self, imix: &Imix) -> Estimate {
        let rate = |of: fn(&Estimate) -> f64| {
            1.0 / imix
                .shares()
                .map(|(size, share)| share * self.time(size, of))
                .sum::<f64>()
        };
        let used: Vec<Estimate> = imix
            .shares()
            .flat_map(|(size, _)| self.used(size))
            .collect();
        // The time of a size beyond those measured is the longest that it can take, so the rate of the mix is the lowest.
        let is_slower =
            |(size, _)| matches!(self.source(size), TimeSource::Below | TimeSource::Beyond);
        Estimate {
            low: rate(|estimate| estimate.low),
            value: rate(|estimate| estimate.value),
            high: rate(|estimate| estimate.high),
            n: used.iter().map(|estimate| estimate.n).min().unwrap_or(0),
            is_at_least: used.iter().any(|estimate| estimate.is_at_least)
                || imix.shares().any(is_slower),
        }
    }

    /// Returns the seconds per frame of `size`, at the end of the intervals that `of` picks.
    fn time(&self, size: FrameSize, of: fn(&Estimate) -> f64) -> f64 {
        let octets = |size: FrameSize| f64::from(size.0);
        match (self.at_most(size), self.at_least(size)) {
            (Some((below, rate)), Some((above, other))) if below < above => {
                let share = (octets(size) - octets(below)) / (octets(above) - octets(below));
                (1.0 - share) / of(rate) + share / of(other)
            }
            (Some((below, rate)), None) => octets(size) / octets(below) / of(rate),
            (Some((_, rate)), _) | (None, Some((_, rate))) => 1.0 / of(rate),
            (None, None) => f64::INFINITY,
        }
    }

    fn used(&self, size: FrameSize) -> impl Iterator<Item = Estimate> {
        [self.at_most(size), self.at_least(size)]
            .into_iter()
            .flatten()
            .map(|(_, rate)| *rate)
    }

    fn at_most(&self, size: FrameSize) -> Option<(FrameSize, &Estimate)> {
        self.0
            .range(..=size)
            .next_back()
            .map(|(size, rate)| (*size, rate))
    }

    fn at_least(&self, size: FrameSize) -> Option<(FrameSize, &Estimate)> {
        self.0
            .range(size..)
            .next()
            .map(|(size, rate)| (*size, rate))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rates(of: &[(u16, f64)]) -> RatesBySize {
        let mut rates = RatesBySize::default();
        let exact = |rate| Estimate {
            low: rate,
            value: rate,
            high: rate,
            n: 7,
            is_at_least: false,
        };
        for &(size, rate) in of {
            rates.add(FrameSize(size), exact(rate));
        }
        rates
    }

    fn is_at_least(measured: &[(u16, f64)], imix: &str) -> bool {
        rates(measured)
            .of_mix(&Imix::read(imix).expect("a mix"))
            .is_at_least
    }

    fn of_mix(measured: &[(u16, f64)], imix: &str) -> f64 {
        rates(measured)
            .of_mix(&Imix::read(imix).expect("a mix"))
            .value
    }

    #[test]
    fn a_mix_takes_the_mean_time_of_its_frames() {
        let measured = [(100, 1000.0), (300, 500.0)];
        assert!(
            (of_mix(&measured, "100:1, 300:1") - 1.0 / 0.0015).abs() < 1e-9,
            "one frame takes 1 ms, the other 2 ms"
        );
        assert!(
            (of_mix(&measured, "200:1") - 1.0 / 0.0015).abs() < 1e-9,
            "half way between"
        );
    }

    #[test]
    fn sizes_outside_of_those_measured_are_taken_for_slower_than_they_can_be() {
        assert!((of_mix(&[(200, 500.0)], "100:1") - 500.0).abs() < 1e-9);
        assert!((of_mix(&[(200, 500.0)], "400:1") - 250.0).abs() < 1e-9);
        assert!(
            is_at_least(&[(200, 500.0)], "100:1") && is_at_least(&[(200, 500.0)], "400:1, 200:1")
        );
        assert!(!is_at_least(&[(200, 500.0), (400, 500.0)], "300:1, 200:1"));
        let sources = [100, 200, 250, 300, 400]
            .map(|size| rates(&[(200, 1.0), (300, 1.0)]).source(FrameSize(size)));
        let [below, measured, between, also, beyond] = sources;
        assert_eq!(
            (below, measured, between),
            (TimeSource::Below, TimeSource::Measured, TimeSource::Between)
        );
        assert_eq!((also, beyond), (TimeSource::Measured, TimeSource::Beyond));
    }

    #[test]
    fn of_two_results_at_one_size_the_lower_counts_and_a_rate_of_zero_stops_the_mix() {
        assert!(
            (of_mix(&[(100, 1000.0), (100, 800.0), (100, 900.0)], "100:1") - 800.0).abs() < 1e-9
        );
        assert_eq!(of_mix(&[(100, 1000.0), (300, 0.0)], "100:9, 300:1"), 0.0);
        assert_eq!(of_mix(&[(100, 1000.0), (300, 0.0)], "100:9, 200:1"), 0.0);
    }
}
