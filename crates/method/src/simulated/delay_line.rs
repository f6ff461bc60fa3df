//! Delays of a known distribution, against which measurements of delay are checked.

use super::SplitMix64;
use crate::trial::{Bucket, Delay, DirectionResult, Ipdv, Moments, TrialSpec};

/// Delays uniform over `base_ns..base_ns + jitter_ns`, drawn independently for each frame.
///
/// The true values are TL = base + jitter / 2, WCL = base + 0.999 jitter, PDV = 0.999 jitter, and IPDV within +-jitter (a triangle) with a median of
/// 0. The distribution is uniform because few frames determine its upper percentiles sharply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SimulatedDelayLine {
    pub(super) base_ns: u64,
    pub(super) jitter_ns: u64,
    /// The number of frames drawn per trial and direction. Each stands for an equal part of the received ones.
    pub(super) samples: u64,
}

impl SimulatedDelayLine {
    /// Enough for a sharp 99.9th percentile, few enough for a debug build.
    pub(super) const SAMPLES: u64 = 20_000;

    /// Fills in the delays of the received frames of one direction.
    pub(super) fn delay(
        &self,
        result: &mut DirectionResult,
        spec: &TrialSpec,
        random: &mut SplitMix64,
    ) {
        let drawn = self.draw(result.received.min(self.samples), random);
        let (Some(first_tagged), received) = (first_tagged(spec), result.received) else {
            return self.fill(result, drawn);
        };
        let wanted = spec.tagging.map_or(0, |tagging| tagging.frames);
        let tagged = wanted
            .min(spec.frames().saturating_sub(first_tagged))
            .min(received);
        let mut of_tagged = drawn[..drawn.len().min(tagged as usize)].to_vec();
        of_tagged.sort_unstable();
        result.tagged = summary(&of_tagged, tagged);
        self.fill(result, drawn);
    }

    fn fill(&self, result: &mut DirectionResult, mut drawn: Vec<u64>) {
        result.ipdv = ipdv(&drawn, result.received);
        drawn.sort_unstable();
        result.delay = summary(&drawn, result.received);
        result.delays = buckets(&drawn, result.received);
    }

    fn draw(&self, count: u64, random: &mut SplitMix64) -> Vec<u64> {
        (0..count)
            .map(|_| self.base_ns + (random.uniform() * self.jitter_ns as f64) as u64)
            .collect()
    }
}

fn first_tagged(spec: &TrialSpec) -> Option<u64> {
    Some(spec.schedule().first_due_from(spec.tagging?.after_ns))
}

/// Returns the summary of delays in ascending order, which stand for `count` frames; `None` if there are none.
fn summary(sorted: &[u64], count: u64) -> Option<Delay> {
    let n = sorted.len();
    let (min_ns, max_ns) = (*sorted.first()?, *sorted.last()?);
    let median_ns = sorted[(n - 1) / 2].midpoint(sorted[n / 2]);
    // Each drawn delay stands for the same number of frames.
    let scale = |sum: u128| sum * u128::from(count) / n as u128;
    let sum_ns = scale(sorted.iter().map(|&delay| u128::from(delay)).sum());
    let squares = scale(
        sorted
            .iter()
            .map(|&delay| u128::from(delay) * u128::from(delay))
            .sum(),
    );
    let moments = Moments::of_sums(count, sum_ns, squares);
    Some(Delay {
        count,
        min_ns,
        median_ns,
        p999_ns: sorted[(n * 999).div_ceil(1000) - 1],
        max_ns,
        moments,
        bounds: None,
    })
}

/// Returns the delay variation between consecutive frames, from delays in the order of the frames; `None` for fewer than two
/// delays. It selects the median rather than sorting, because sorting takes too long in a debug build.
fn ipdv(drawn: &[u64], received: u64) -> Option<Ipdv> {
    let mut differences: Vec<i64> = drawn
        .windows(2)
        .map(|pair| pair[1] as i64 - pair[0] as i64)
        .collect();
    let (min_ns, max_ns) = (*differences.iter().min()?, *differences.iter().max()?);
    let middle = differences.len() / 2;
    let (below, upper, _) = differences.select_nth_unstable(middle);
    let lower = if drawn.len().is_multiple_of(2) {
        *upper
    } else {
        below.iter().copied().max().unwrap_or(*upper)
    };
    let median_ns = lower.midpoint(*upper);
    Some(Ipdv {
        pairs: received - 1,
        min_ns,
        median_ns,
        max_ns,
        bounds: None,
    })
}

/// Returns the histogram of delays in ascending order; together the buckets hold exactly `received` frames.
fn buckets(sorted: &[u64], received: u64) -> Vec<Bucket> {
    let (mut buckets, mut counted) = (Vec::new(), 0);
    for group in sorted.chunk_by(|a, b| bucket_end(*a) == bucket_end(*b)) {
        let end = sorted.partition_point(|delay| *delay <= bucket_end(group[0]));
        let until = (u128::from(received) * end as u128 / sorted.len() as u128) as u64;
        buckets.push(Bucket {
            up_to_ns: bucket_end(group[0]),
            frames: until - counted,
        });
        counted = until;
    }
    buckets
}

/// Returns the end of the bucket of a delay: eight significant bits are kept, so that no bucket is wider than 1/128 of its delays.
fn bucket_end(delay_ns: u64) -> u64 {
    let shift = (u64::BITS - delay_ns.leading_zeros()).saturating_sub(8);
    delay_ns | ((1 << shift) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::{Direction, FrameRate, SECOND_NS};
    use crate::trial::Tagging;

    fn delayed(received: u64, tagging: Option<Tagging>) -> DirectionResult {
        let line = SimulatedDelayLine {
            base_ns: 50_000,
            jitter_ns: 10_000,
            samples: SimulatedDelayLine::SAMPLES,
        };
        let mut result = DirectionResult::counted(Direction::Forward, received, received);
        let spec = TrialSpec {
            tagging,
            ..TrialSpec::constant(FrameRate(100_000), 2 * SECOND_NS)
        };
        line.delay(&mut result, &spec, &mut SplitMix64::new(1));
        result
    }

    #[test]
    fn the_percentiles_are_those_of_the_distribution() {
        let delay = delayed(200_000, None).delay.unwrap();
        assert_eq!(delay.count, 200_000);
        assert!(delay.median_ns.abs_diff(55_000) < 100, "{delay:?}");
        assert!(delay.p999_ns.abs_diff(59_990) < 10, "{delay:?}");
        assert!(delay.pdv_ns().abs_diff(9_990) < 10, "{delay:?}");
    }

    #[test]
    fn neighbours_differ_by_the_jitter_at_most() {
        let ipdv = delayed(200_000, None).ipdv.unwrap();
        assert_eq!(ipdv.pairs, 199_999);
        assert!(
            (-10_000..-9_500).contains(&ipdv.min_ns) && (9_500..10_000).contains(&ipdv.max_ns),
            "{ipdv:?}"
        );
        assert!(ipdv.median_ns.abs() < 100, "{ipdv:?}");
    }

    #[test]
    fn buckets_hold_every_received_frame_and_are_narrow() {
        let result = delayed(123_457, None);
        assert_eq!(
            result
                .delays
                .iter()
                .map(|bucket| bucket.frames)
                .sum::<u64>(),
            123_457
        );
        assert_eq!(result.loss_ratio_at(u64::MAX).0, 0.0);
        assert!((result.loss_ratio_at(55_000).0 - 0.5).abs() < 0.06);
        for delay in [0, 1, 255, 256, 257, 60_000, 1 << 40, u64::MAX] {
            let (end, next) = (bucket_end(delay), bucket_end(delay.saturating_sub(1)));
            assert!(
                end >= delay && next <= end && (end - delay) as f64 <= delay as f64 * 0.01,
                "{delay} {end}"
            );
        }
    }

    #[test]
    fn as_many_frames_are_tagged_as_there_are_after_the_wait() {
        let tagged = |after_ns, frames| {
            delayed(200_000, Some(Tagging { after_ns, frames }))
                .tagged
                .as_ref()
                .map(|tagged| tagged.count)
        };
        assert_eq!(tagged(SECOND_NS, 500), Some(500));
        assert_eq!(tagged(SECOND_NS, 1_000_000), Some(100_000));
        assert_eq!(tagged(2 * SECOND_NS, 500), None);
        assert!(delayed(200_000, None).tagged.is_none());
    }

    #[test]
    fn one_frame_has_a_delay_and_no_neighbour() {
        let result = delayed(1, None);
        assert_eq!(
            (result.delay.as_ref().map(|delay| delay.count), result.ipdv),
            (Some(1), None)
        );
        assert!(delayed(0, None).delay.is_none());
    }
}
