//! Delays of the frames of one direction, in histograms of constant size for any rate and duration.

use crate::flow::mix;
use hdrhistogram::Histogram;
use sixbench_method::trial::{Bucket, Delay, Ipdv, Moments};

/// Longer delays are recorded as this value: 100 s.
const LONGEST_NS: u64 = 100_000_000_000;

/// The number of frames between a frame and its predecessor that may arrive in another order without losing the pair.
const WINDOW: usize = 4096;

/// The binary logarithm of the parts into which results divide an octave: a bucket is less than 1 % wide.
const PARTS_LOG2: u32 = 7;

/// The delays of the frames of a direction.
pub(crate) struct Delays {
    /// Delays of the frames received in time, except those in `alike`.
    in_time: Histogram<u64>,
    /// The shortest and the longest delay, to the nanosecond.
    extremes: (u64, u64),
    /// The sum of the delays and of their squares, so that average and standard deviation do not depend on buckets.
    sums: (u128, u128),
    /// The most recent frames that all have the same delay. At rates at which the cost of recording matters, frames leave and arrive in batches
    /// that have one time each, and are recorded together.
    alike: SameDelay,
    /// Delays of right frames that arrived after the frame timeout.
    late: Histogram<u64>,
    tagged: Option<Tagged>,
    variation: Option<DelayVariation>,
}

/// Frames with the same delay.
#[derive(Clone, Copy, Default)]
struct SameDelay {
    delay_ns: u64,
    frames: u64,
}

/// The tagged frames of RFC 8219 section 7.2: starting at `first`, one of every `stride` frames, at a pseudorandom position within it. A fixed
/// position could coincide with the pattern of mixed traffic or of flows, and tag only one kind of frame.
struct Tagged {
    first: u64,
    stride: u64,
    delays: Histogram<u64>,
}

/// Differences between consecutive frames (RFC 8219 section 7.3.2).
struct DelayVariation {
    /// Number and delay of the frames seen most recently, indexed by number modulo the window.
    recent: Box<[(u64, u64)]>,
    rising: Histogram<u64>,
    /// The sizes of the negative differences.
    falling: Histogram<u64>,
}

/// Digits of delays: PDV is the difference of two delays, and can be smaller than an error of 0.1 % of a delay.
const DELAY_DIGITS: u8 = 4;
/// Digits of values that are differences themselves, or need less precision.
const OTHER_DIGITS: u8 = 3;

fn histogram(digits: u8) -> Histogram<u64> {
    Histogram::new_with_bounds(1, LONGEST_NS, digits).expect("constant bounds are valid")
}

impl Delays {
    /// Returns empty histograms. `tagged` is the first frame to be tagged and the distance to the next.
    pub(crate) fn new(tagged: Option<(u64, u64)>, ipdv: bool) -> Self {
        Self {
            in_time: histogram(DELAY_DIGITS),
            extremes: (u64::MAX, 0),
            sums: (0, 0),
            alike: SameDelay::default(),
            late: histogram(OTHER_DIGITS),
            tagged: tagged.map(|(first, stride)| Tagged { first, stride: stride.max(1), delays: histogram(DELAY_DIGITS) }),
            variation: ipdv.then(DelayVariation::new),
        }
    }

    /// Records a frame received in time.
    #[inline(always)]
    pub(crate) fn take(&mut self, sequence: u64, delay_ns: u64) {
        if delay_ns != self.alike.delay_ns {
            let before = std::mem::replace(&mut self.alike, SameDelay { delay_ns, frames: 0 });
            self.record(before);
        }
        self.alike.frames += 1;
        if let Some(tagged) = &mut self.tagged {
            tagged.take(sequence, delay_ns);
        }
        if let Some(variation) = &mut self.variation {
            variation.take(sequence, delay_ns);
        }
    }

    fn record(&mut self, SameDelay { delay_ns, frames }: SameDelay) {
        if frames == 0 {
            return;
        }
        self.in_time.saturating_record_n(delay_ns.max(1), frames);
        self.extremes = (self.extremes.0.min(delay_ns), self.extremes.1.max(delay_ns));
        let (delay, frames) = (u128::from(delay_ns), u128::from(frames));
        self.sums = (self.sums.0 + delay * frames, self.sums.1 + delay * delay * frames);
    }

    /// Records the frames that are not yet in the histogram.
    fn settle(&mut self) {
        let last = std::mem::take(&mut self.alike);
        self.record(last);
    }

    /// Records a right frame that arrived after its timeout.
    #[inline]
    pub(crate) fn take_late(&mut self, delay_ns: u64) {
        self.late.saturating_record(delay_ns.max(1));
    }

    /// Adds the delays of another part of the same frames, which were measured in the same way.
    pub(crate) fn add(&mut self, other: &Self) {
        // This cannot fail, as both have the same bounds.
        let _ = self.in_time.add(&other.in_time);
        let _ = self.late.add(&other.late);
        self.record(other.alike);
        self.extremes = (self.extremes.0.min(other.extremes.0), self.extremes.1.max(other.extremes.1));
        self.sums = (self.sums.0 + other.sums.0, self.sums.1 + other.sums.1);
        if let (Some(own), Some(other)) = (&mut self.tagged, &other.tagged) {
            let _ = own.delays.add(&other.delays);
        }
        if let (Some(own), Some(other)) = (&mut self.variation, &other.variation) {
            let _ = own.rising.add(&other.rising);
            let _ = own.falling.add(&other.falling);
        }
    }

    /// Returns the summary of the delays of the frames received in time; `None` if there are none.
    pub(crate) fn summary(&mut self) -> Option<Delay> {
        self.settle();
        let (min_ns, max_ns) = self.extremes;
        let moments = Moments::of_sums(self.in_time.len(), self.sums.0, self.sums.1);
        summary(&self.in_time).map(|delay| Delay { min_ns, max_ns, moments, ..delay })
    }

    /// Returns the summary of the delays of the tagged frames among those received in time; `None` if there are none.
    pub(crate) fn tagged(&self) -> Option<Delay> {
        self.tagged.as_ref().and_then(|tagged| summary(&tagged.delays))
    }

    /// Returns the delay variation of consecutive frames received in time; `None` if it is not measured or there are no such pairs.
    pub(crate) fn ipdv(&self) -> Option<Ipdv> {
        self.variation.as_ref()?.summary()
    }

    /// Returns all right frames, late ones included, by delay.
    pub(crate) fn buckets(mut self) -> Vec<Bucket> {
        self.settle();
        // This cannot fail, as both have the same bounds.
        let _ = self.in_time.add(&self.late);
        let mut buckets: Vec<Bucket> = Vec::new();
        for value in self.in_time.iter_recorded() {
            let up_to_ns = upper_edge(value.value_iterated_to());
            let frames = value.count_at_value();
            match buckets.last_mut().filter(|last| last.up_to_ns == up_to_ns) {
                Some(last) => last.frames += frames,
                None => buckets.push(Bucket { up_to_ns, frames }),
            }
        }
        buckets
    }
}

/// Returns the largest value of the bucket to which this one belongs.
fn upper_edge(value: u64) -> u64 {
    let shift = (u64::BITS - value.leading_zeros()).saturating_sub(PARTS_LOG2 + 1);
    (((value >> shift) + 1) << shift) - 1
}

fn summary(delays: &Histogram<u64>) -> Option<Delay> {
    (!delays.is_empty()).then(|| Delay {
        count: delays.len(),
        min_ns: delays.min(),
        median_ns: delays.value_at_quantile(0.5),
        p999_ns: delays.value_at_quantile(0.999),
        max_ns: delays.max(),
        moments: None,
    })
}

impl Tagged {
    #[inline]
    fn take(&mut self, sequence: u64, delay_ns: u64) {
        let Some(since) = sequence.checked_sub(self.first) else { return };
        let (group, place) = (since / self.stride, since % self.stride);
        if place == mix(group) % self.stride {
            self.delays.saturating_record(delay_ns.max(1));
        }
    }
}

impl DelayVariation {
    fn new() -> Self {
        Self {
            recent: vec![(u64::MAX, 0); WINDOW].into_boxed_slice(),
            rising: histogram(OTHER_DIGITS),
            falling: histogram(OTHER_DIGITS),
        }
    }

    /// Pairs the frame with both neighbours: if frames were reordered, the later one of a pair may have arrived first.
    #[inline]
    fn take(&mut self, sequence: u64, delay_ns: u64) {
        if let Some(before_ns) = sequence.checked_sub(1).and_then(|before| self.recent(before)) {
            self.record(before_ns, delay_ns);
        }
        if let Some(after_ns) = self.recent(sequence + 1) {
            self.record(delay_ns, after_ns);
        }
        self.recent[sequence as usize % WINDOW] = (sequence, delay_ns);
    }

    #[inline]
    fn recent(&self, sequence: u64) -> Option<u64> {
        let (number, delay_ns) = self.recent[sequence as usize % WINDOW];
        (number == sequence).then_some(delay_ns)
    }

    #[inline]
    fn record(&mut self, first_ns: u64, second_ns: u64) {
        if second_ns >= first_ns {
            self.rising.saturating_record(second_ns - first_ns);
        } else {
            self.falling.saturating_record(first_ns - second_ns);
        }
    }

    fn summary(&self) -> Option<Ipdv> {
        let (falls, rises) = (self.falling.len(), self.rising.len());
        let pairs = falls + rises;
        (pairs > 0).then(|| Ipdv {
            pairs,
            min_ns: if falls > 0 { -(self.falling.max() as i64) } else { self.rising.min() as i64 },
            median_ns: self.median_ns(),
            max_ns: if rises > 0 { self.rising.max() as i64 } else { -(self.falling.min() as i64) },
        })
    }

    /// Returns the median of all differences, in nanoseconds: first the negative ones from the largest size down, then the positive ones.
    fn median_ns(&self) -> i64 {
        let (falls, rises) = (self.falling.len(), self.rising.len());
        let rank = (falls + rises).div_ceil(2);
        if rank <= falls {
            let from_below = falls - rank + 1;
            -(self.falling.value_at_quantile(from_below as f64 / falls as f64) as i64)
        } else {
            self.rising.value_at_quantile((rank - falls) as f64 / rises as f64) as i64
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_hold_every_frame_and_are_less_than_a_hundredth_wide() {
        let mut delays = Delays::new(None, false);
        (1..=10_000u64).for_each(|i| delays.take(i, i * 997));
        delays.take_late(5_000_000_000);
        let buckets = delays.buckets();
        assert_eq!(buckets.iter().map(|b| b.frames).sum::<u64>(), 10_001);
        assert!(buckets.windows(2).all(|pair| pair[0].up_to_ns < pair[1].up_to_ns));
        for value in [1u64, 255, 256, 257, 1000, 123_456_789] {
            let edge = upper_edge(value);
            assert!(edge >= value && (edge - value) as f64 <= value as f64 / 100.0, "{value} {edge}");
            assert_eq!(upper_edge(edge), edge);
        }
    }

    #[test]
    fn the_average_and_the_standard_deviation_come_from_no_bucket() {
        let mut delays = Delays::new(None, false);
        // In buckets of four digits all of these have the same value.
        [100_000_001, 100_000_003].into_iter().zip(0..).for_each(|(delay, i)| delays.take(i, delay));
        let delay = delays.summary().expect("delays");
        assert_eq!((delay.mean_ns(), delay.deviation_ns()), (Some(100_000_002.0), Some(1.0)));
    }

    #[test]
    fn frames_of_one_delay_count_each_wherever_they_stand() {
        let (mut delays, mut others) = (Delays::new(None, false), Delays::new(None, false));
        [7, 7, 7, 9, 7, 0, 0].into_iter().zip(0..).for_each(|(delay, i)| delays.take(i, delay));
        [9, 9].into_iter().zip(0..).for_each(|(delay, i)| others.take(i, delay));
        delays.add(&others);
        let delay = delays.summary().expect("delays");
        assert_eq!((delay.count, delay.min_ns, delay.max_ns, delay.mean_ns()), (9, 0, 9, Some(55.0 / 9.0)));
        assert_eq!(
            delays.buckets().iter().map(|bucket| (bucket.up_to_ns, bucket.frames)).collect::<Vec<_>>(),
            [(1, 2), (7, 4), (9, 3)]
        );
    }

    #[test]
    fn one_frame_of_every_stride_is_tagged_and_none_before_the_first() {
        let mut delays = Delays::new(Some((100, 10)), false);
        (0..1000u64).for_each(|i| delays.take(i, if i < 100 { 50_000 } else { 2_000 }));
        let tagged = delays.tagged().expect("tagged frames");
        assert_eq!((tagged.count, tagged.min_ns, tagged.max_ns), (90, 2_000, 2_000));
        assert_eq!(delays.summary().expect("delays").count, 1000);
    }

    #[test]
    fn tags_do_not_keep_time_with_mixed_traffic() {
        let share = sixbench_method::terms::Share { foreground: 9, of: 10 };
        let mut delays = Delays::new(Some((0, 120)), false);
        (0..1_200_000u64).for_each(|i| delays.take(i, if share.is_foreground(i) { 1_000 } else { 9_000 }));
        let tagged = delays.tagged.expect("tags").delays;
        let foreground = tagged.count_between(1, 2_000) as f64 / tagged.len() as f64;
        assert!((0.88..0.92).contains(&foreground), "{foreground}");
    }

    #[test]
    fn ipdv_is_the_difference_to_the_frame_before() {
        let mut delays = Delays::new(None, true);
        [100, 300, 200, 200].into_iter().zip(0..).for_each(|(delay, i)| delays.take(i, delay));
        assert_eq!(delays.ipdv(), Some(Ipdv { pairs: 3, min_ns: -100, median_ns: 0, max_ns: 200 }));
    }

    #[test]
    fn a_pair_counts_once_whichever_came_first_and_a_lost_frame_breaks_it() {
        let mut delays = Delays::new(None, true);
        [(0, 100), (2, 500), (1, 200), (4, 100)].into_iter().for_each(|(i, delay)| delays.take(i, delay));
        // The pairs are 0-1 and 1-2; 3 is missing.
        assert_eq!(delays.ipdv(), Some(Ipdv { pairs: 2, min_ns: 100, median_ns: 100, max_ns: 300 }));
    }
}
