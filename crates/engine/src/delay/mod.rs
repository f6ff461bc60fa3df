//! Delays of the frames of one direction, in histograms of constant size for any rate and duration.

pub(crate) mod arrival;

use hdrhistogram::Histogram;
use sixbench_method::trial::{Bucket, Delay, DelayBounds, Ipdv, IpdvBounds, Moments};
use sixbench_stats::mix;

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
    shortest: DelayInterval,
    longest: DelayInterval,
    /// The lengths of the intervals within which the delays are known.
    widths: Widths,
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

/// A delay as it is known: at most `delay_ns`, and less than that by at most `width_ns`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct DelayInterval {
    pub(crate) delay_ns: u64,
    pub(crate) width_ns: u64,
}

impl DelayInterval {
    /// Returns whether the delay is longer than `most_ns` wherever in the interval the arrival was: a receiver that polled late makes nothing late. Nothing
    /// arrives before it was sent, so an interval that began before that leaves every shorter delay possible.
    #[inline]
    pub(crate) fn is_surely_above(self, most_ns: u64) -> bool {
        self.delay_ns.saturating_sub(self.width_ns) > most_ns
    }

    /// Returns the one with the shorter delay; of equal ones the one that is known better.
    fn shorter(self, other: Self) -> Self {
        if (other.delay_ns, other.width_ns) < (self.delay_ns, self.width_ns) {
            other
        } else {
            self
        }
    }

    /// Returns the one with the longer delay; of equal ones the one that is known better.
    fn longer(self, other: Self) -> Self {
        if (self.delay_ns, other.width_ns) < (other.delay_ns, self.width_ns) {
            other
        } else {
            self
        }
    }
}

/// Frames with the same delay.
#[derive(Clone, Copy, Default)]
struct SameDelay {
    delay: DelayInterval,
    frames: u64,
}

/// The lengths of intervals: those of one batch are equal, and are recorded together.
struct Widths {
    histogram: Histogram<u64>,
    sum_ns: u128,
    same_ns: u64,
    frames: u64,
}

/// The share of the frames that the bounds of median and minimum leave out of account.
const RANK_SHARE: f64 = 0.01;
/// The same for the 99.9th percentile.
const TAIL_SHARE: f64 = 0.0005;

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
    recent: Box<[(u64, DelayInterval)]>,
    rising: Histogram<u64>,
    /// The sizes of the negative differences.
    falling: Histogram<u64>,
    lowest: Difference,
    highest: Difference,
}

/// A difference of two delays, and the most by which it may be above or below the true one.
#[derive(Clone, Copy)]
struct Difference {
    by_ns: i64,
    bound_ns: u64,
}

/// Digits of delays: PDV is the difference of two delays, and can be smaller than an error of 0.1 % of a delay.
const DELAY_DIGITS: u8 = 4;
/// Digits of values that are differences themselves, or need less precision.
const OTHER_DIGITS: u8 = 3;
/// Digits of bounds of errors.
const WIDTH_DIGITS: u8 = 2;

fn histogram(digits: u8) -> Histogram<u64> {
    Histogram::new_with_bounds(1, LONGEST_NS, digits).expect("constant bounds are valid")
}

impl Delays {
    /// Returns empty histograms. `tagged` is the first frame to be tagged and the distance to the next.
    pub(crate) fn new(tagged: Option<(u64, u64)>, ipdv: bool) -> Self {
        Self {
            in_time: histogram(DELAY_DIGITS),
            shortest: DelayInterval {
                delay_ns: u64::MAX,
                width_ns: 0,
            },
            longest: DelayInterval::default(),
            widths: Widths::new(),
            sums: (0, 0),
            alike: SameDelay::default(),
            late: histogram(OTHER_DIGITS),
            tagged: tagged.map(|(first, stride)| Tagged {
                first,
                stride: stride.max(1),
                delays: histogram(DELAY_DIGITS),
            }),
            variation: ipdv.then(DelayVariation::new),
        }
    }

    /// Records a frame received in time.
    #[inline(always)]
    pub(crate) fn take(&mut self, sequence: u64, delay: DelayInterval) {
        self.take_alike(delay, 1);
        if let Some(tagged) = &mut self.tagged {
            tagged.take(sequence, delay.delay_ns);
        }
        if let Some(variation) = &mut self.variation {
            variation.take(sequence, delay);
        }
    }

    /// Records frames that were received in time with the same delay.
    ///
    /// # Panics
    /// In a development build, if the delay of each frame is needed ([`Self::are_of_each_frame`]).
    #[inline]
    pub(crate) fn take_run(&mut self, delay: DelayInterval, frames: u64) {
        debug_assert!(!self.are_of_each_frame());
        self.take_alike(delay, frames);
    }

    #[inline(always)]
    fn take_alike(&mut self, delay: DelayInterval, frames: u64) {
        if delay != self.alike.delay {
            let before = std::mem::replace(&mut self.alike, SameDelay { delay, frames: 0 });
            self.record(before);
        }
        self.alike.frames += frames;
    }

    /// Returns whether the delays belong to frames: those of tagged frames are recorded apart, and those of consecutive frames compared.
    pub(crate) fn are_of_each_frame(&self) -> bool {
        self.tagged.is_some() || self.variation.is_some()
    }

    fn record(&mut self, SameDelay { delay, frames }: SameDelay) {
        if frames == 0 {
            return;
        }
        let DelayInterval { delay_ns, width_ns } = delay;
        self.in_time.saturating_record_n(delay_ns.max(1), frames);
        (self.shortest, self.longest) = (self.shortest.shorter(delay), self.longest.longer(delay));
        self.widths.take(width_ns, frames);
        let (delay, frames) = (u128::from(delay_ns), u128::from(frames));
        self.sums = (
            self.sums.0 + delay * frames,
            self.sums.1 + delay * delay * frames,
        );
    }

    /// Records the frames that are not yet in the histogram.
    fn settle(&mut self) {
        let last = std::mem::take(&mut self.alike);
        self.record(last);
        self.widths.settle();
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
        (self.shortest, self.longest) = (
            self.shortest.shorter(other.shortest),
            self.longest.longer(other.longest),
        );
        self.sums = (self.sums.0 + other.sums.0, self.sums.1 + other.sums.1);
        self.widths.add(&other.widths);
        if let (Some(own), Some(other)) = (&mut self.tagged, &other.tagged) {
            let _ = own.delays.add(&other.delays);
        }
        if let (Some(own), Some(other)) = (&mut self.variation, &other.variation) {
            let _ = own.rising.add(&other.rising);
            let _ = own.falling.add(&other.falling);
            (own.lowest, own.highest) = (
                own.lowest.lower(other.lowest),
                own.highest.higher(other.highest),
            );
        }
    }

    /// Returns the summary of the delays of the frames received in time; `None` if there are none.
    pub(crate) fn summary(&mut self) -> Option<Delay> {
        self.settle();
        let (min_ns, max_ns) = (self.shortest.delay_ns, self.longest.delay_ns);
        let moments = Moments::of_sums(self.in_time.len(), self.sums.0, self.sums.1);
        let usual = self.widths.bounds();
        let of_minimum_ns = usual.min_ns.max(self.shortest.width_ns);
        let bounds = DelayBounds {
            min_ns: of_minimum_ns,
            max_ns: self.longest.width_ns,
            ..usual
        };
        summary(&self.in_time).map(|delay| {
            bounded(
                Delay {
                    min_ns,
                    max_ns,
                    moments,
                    ..delay
                },
                bounds,
            )
        })
    }

    /// Returns the summary of the delays of the tagged frames among those received in time; `None` if there are none.
    pub(crate) fn tagged(&mut self) -> Option<Delay> {
        self.settle();
        let bounds = self.widths.bounds();
        self.tagged
            .as_ref()
            .and_then(|tagged| summary(&tagged.delays))
            .map(|delay| bounded(delay, bounds))
    }

    /// Returns the delay variation of consecutive frames received in time; `None` if it is not measured or there are no such pairs.
    pub(crate) fn ipdv(&mut self) -> Option<Ipdv> {
        self.settle();
        self.variation
            .as_ref()?
            .summary(self.widths.bounds().median_ns)
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
        bounds: None,
    })
}

/// Returns the delays with their bounds. A frame does not arrive before it was sent, so no bound is above the delay itself.
fn bounded(delay: Delay, bounds: DelayBounds) -> Delay {
    let bounds = DelayBounds {
        min_ns: bounds.min_ns.min(delay.min_ns),
        median_ns: bounds.median_ns.min(delay.median_ns),
        p999_ns: bounds.p999_ns.min(delay.p999_ns),
        max_ns: bounds.max_ns.min(delay.max_ns),
        mean_ns: bounds
            .mean_ns
            .min(delay.mean_ns().map_or(u64::MAX, |mean_ns| mean_ns as u64)),
    };
    Delay {
        bounds: Some(bounds),
        ..delay
    }
}

impl Widths {
    fn new() -> Self {
        Self {
            histogram: histogram(WIDTH_DIGITS),
            sum_ns: 0,
            same_ns: 0,
            frames: 0,
        }
    }

    #[inline]
    fn take(&mut self, width_ns: u64, frames: u64) {
        if width_ns != self.same_ns {
            self.settle();
            self.same_ns = width_ns;
        }
        self.frames += frames;
    }

    fn settle(&mut self) {
        if self.frames > 0 {
            self.histogram
                .saturating_record_n(self.same_ns.max(1), self.frames);
            self.sum_ns += u128::from(self.same_ns) * u128::from(self.frames);
            self.frames = 0;
        }
    }

    fn add(&mut self, other: &Self) {
        self.settle();
        // This cannot fail, as both have the same bounds.
        let _ = self.histogram.add(&other.histogram);
        self.sum_ns += other.sum_ns;
        self.take(other.same_ns, other.frames);
    }

    /// Returns the bounds of delays that follow from the lengths alone.
    fn bounds(&self) -> DelayBounds {
        let all_but = |share: f64| self.histogram.value_at_quantile(1.0 - share);
        let mean_ns = self
            .sum_ns
            .div_ceil(u128::from(self.histogram.len().max(1))) as u64;
        let of_rank_ns = all_but(RANK_SHARE);
        let max_ns = self.histogram.max();
        DelayBounds {
            min_ns: of_rank_ns,
            median_ns: of_rank_ns,
            p999_ns: all_but(TAIL_SHARE),
            max_ns,
            mean_ns,
        }
    }
}

impl Difference {
    fn lower(self, other: Self) -> Self {
        if other.by_ns < self.by_ns {
            other
        } else {
            self
        }
    }

    fn higher(self, other: Self) -> Self {
        if other.by_ns > self.by_ns {
            other
        } else {
            self
        }
    }
}

impl Tagged {
    #[inline]
    fn take(&mut self, sequence: u64, delay_ns: u64) {
        let Some(since) = sequence.checked_sub(self.first) else {
            return;
        };
        let (group, place) = (since / self.stride, since % self.stride);
        if place == mix(group) % self.stride {
            self.delays.saturating_record(delay_ns.max(1));
        }
    }
}

impl DelayVariation {
    fn new() -> Self {
        Self {
            recent: vec![(u64::MAX, DelayInterval::default()); WINDOW].into_boxed_slice(),
            rising: histogram(OTHER_DIGITS),
            falling: histogram(OTHER_DIGITS),
            lowest: Difference {
                by_ns: i64::MAX,
                bound_ns: 0,
            },
            highest: Difference {
                by_ns: i64::MIN,
                bound_ns: 0,
            },
        }
    }

    /// Pairs the frame with both neighbours: if frames were reordered, the later one of a pair may have arrived first.
    #[inline]
    fn take(&mut self, sequence: u64, delay: DelayInterval) {
        if let Some(before) = sequence
            .checked_sub(1)
            .and_then(|before| self.recent(before))
        {
            self.record(before, delay);
        }
        if let Some(after) = self.recent(sequence + 1) {
            self.record(delay, after);
        }
        self.recent[sequence as usize % WINDOW] = (sequence, delay);
    }

    #[inline]
    fn recent(&self, sequence: u64) -> Option<DelayInterval> {
        let (number, delay) = self.recent[sequence as usize % WINDOW];
        (number == sequence).then_some(delay)
    }

    #[inline]
    fn record(&mut self, first: DelayInterval, second: DelayInterval) {
        if second.delay_ns >= first.delay_ns {
            self.rising
                .saturating_record(second.delay_ns - first.delay_ns);
        } else {
            self.falling
                .saturating_record(first.delay_ns - second.delay_ns);
        }
        let by_ns = second.delay_ns as i64 - first.delay_ns as i64;
        let difference = Difference {
            by_ns,
            bound_ns: first.width_ns.max(second.width_ns),
        };
        (self.lowest, self.highest) = (
            self.lowest.lower(difference),
            self.highest.higher(difference),
        );
    }

    /// Returns the summary; `of_median_ns` is the bound of the median.
    fn summary(&self, of_median_ns: u64) -> Option<Ipdv> {
        let pairs = self.falling.len() + self.rising.len();
        (pairs > 0).then(|| Ipdv {
            pairs,
            min_ns: self.lowest.by_ns,
            median_ns: self.median_ns(),
            max_ns: self.highest.by_ns,
            bounds: Some(IpdvBounds {
                min_ns: self.lowest.bound_ns,
                median_ns: of_median_ns,
                max_ns: self.highest.bound_ns,
            }),
        })
    }

    /// Returns the median of all differences, in nanoseconds: first the negative ones from the largest size down, then the positive ones.
    fn median_ns(&self) -> i64 {
        let (falls, rises) = (self.falling.len(), self.rising.len());
        let rank = (falls + rises).div_ceil(2);
        if rank <= falls {
            let from_below = falls - rank + 1;
            -(self
                .falling
                .value_at_quantile(from_below as f64 / falls as f64) as i64)
        } else {
            self.rising
                .value_at_quantile((rank - falls) as f64 / rises as f64) as i64
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::HISTOGRAMS_OCTETS;

    /// The bounds of delays that are all known exactly; no bound is below the resolution of a nanosecond.
    const EXACT: Option<IpdvBounds> = Some(IpdvBounds {
        min_ns: 0,
        median_ns: 1,
        max_ns: 0,
    });

    fn exact(delay_ns: u64) -> DelayInterval {
        DelayInterval {
            delay_ns,
            width_ns: 0,
        }
    }

    #[test]
    fn the_histograms_of_a_receiver_fit_into_what_a_trial_reserves_for_them() {
        let delays = Delays::new(Some((0, 1)), true);
        let tagged = delays.tagged.expect("tagged frames").delays;
        let variation = delays.variation.expect("a variation");
        let all = [
            delays.in_time,
            delays.late,
            delays.widths.histogram,
            tagged,
            variation.rising,
            variation.falling,
        ];
        let counts: usize = all.iter().map(Histogram::distinct_values).sum();
        let octets = (counts * size_of::<u64>() + size_of_val(&*variation.recent)) as u64;
        assert!(
            (HISTOGRAMS_OCTETS / 2..=HISTOGRAMS_OCTETS).contains(&octets),
            "{octets}"
        );
    }

    #[test]
    fn each_quantity_has_the_bound_of_the_frames_that_decide_it() {
        let mut delays = Delays::new(None, true);
        // Every frame is known to 100 ns. Then a poll was 40 us late for 10 of 10,000 frames, and one was 500 us late for 2 of them.
        let width = |i: u64| match i {
            1_000..1_010 => 40_000,
            2_000..2_002 => 500_000,
            _ => 100,
        };
        (0..10_000u64).for_each(|i| {
            delays.take(
                i,
                DelayInterval {
                    delay_ns: 20_000 + i % 7 + width(i),
                    width_ns: width(i),
                },
            );
        });
        let (delay, ipdv) = (
            delays.summary().expect("delays"),
            delays.ipdv().expect("pairs"),
        );
        let bounds = delay.bounds.expect("bounds");
        assert_eq!(
            (delay.min_ns, bounds.min_ns, bounds.median_ns),
            (20_100, 100, 100)
        );
        assert!(
            (40_000..=40_400).contains(&bounds.p999_ns),
            "ten frames in 10,000 are more than half of a thousandth: {bounds:?}"
        );
        assert_eq!((bounds.max_ns, bounds.mean_ns), (500_000, 240));
        let bounds = ipdv.bounds.expect("bounds");
        assert_eq!(
            (bounds.min_ns, bounds.median_ns, bounds.max_ns),
            (500_000, 100, 500_000)
        );
    }

    #[test]
    fn no_bound_is_above_its_delay_and_a_minimum_has_that_of_its_own_frame() {
        let mut delays = Delays::new(None, false);
        (0..1_000u64).for_each(|i| {
            delays.take(
                i,
                DelayInterval {
                    delay_ns: 700_000,
                    width_ns: 100,
                },
            );
        });
        delays.take(
            1_000,
            DelayInterval {
                delay_ns: 600_000,
                width_ns: 800_000,
            },
        );
        let delay = delays.summary().expect("delays");
        assert_eq!(
            (delay.min_ns, delay.bounds.map(|bounds| bounds.min_ns)),
            (600_000, Some(600_000))
        );
    }

    #[test]
    fn buckets_hold_every_frame_and_are_less_than_a_hundredth_wide() {
        let mut delays = Delays::new(None, false);
        (1..=10_000u64).for_each(|i| delays.take(i, exact(i * 997)));
        delays.take_late(5_000_000_000);
        let buckets = delays.buckets();
        assert_eq!(buckets.iter().map(|b| b.frames).sum::<u64>(), 10_001);
        assert!(
            buckets
                .windows(2)
                .all(|pair| pair[0].up_to_ns < pair[1].up_to_ns)
        );
        for value in [1u64, 255, 256, 257, 1000, 123_456_789] {
            let edge = upper_edge(value);
            assert!(
                edge >= value && (edge - value) as f64 <= value as f64 / 100.0,
                "{value} {edge}"
            );
            assert_eq!(upper_edge(edge), edge);
        }
    }

    #[test]
    fn the_average_and_the_standard_deviation_come_from_no_bucket() {
        let mut delays = Delays::new(None, false);
        // In buckets of four digits all of these have the same value.
        [100_000_001, 100_000_003]
            .into_iter()
            .zip(0..)
            .for_each(|(delay, i)| delays.take(i, exact(delay)));
        let delay = delays.summary().expect("delays");
        assert_eq!(
            (delay.mean_ns(), delay.deviation_ns()),
            (Some(100_000_002.0), Some(1.0))
        );
    }

    #[test]
    fn frames_of_one_delay_count_each_wherever_they_stand() {
        let (mut delays, mut others) = (Delays::new(None, false), Delays::new(None, false));
        [7, 7, 7, 9, 7, 0, 0]
            .into_iter()
            .zip(0..)
            .for_each(|(delay, i)| delays.take(i, exact(delay)));
        [9, 9]
            .into_iter()
            .zip(0..)
            .for_each(|(delay, i)| others.take(i, exact(delay)));
        delays.add(&others);
        let delay = delays.summary().expect("delays");
        assert_eq!(
            (delay.count, delay.min_ns, delay.max_ns, delay.mean_ns()),
            (9, 0, 9, Some(55.0 / 9.0))
        );
        assert_eq!(
            delays
                .buckets()
                .iter()
                .map(|bucket| (bucket.up_to_ns, bucket.frames))
                .collect::<Vec<_>>(),
            [(1, 2), (7, 4), (9, 3)]
        );
    }

    #[test]
    fn one_frame_of_every_stride_is_tagged_and_none_before_the_first() {
        let mut delays = Delays::new(Some((100, 10)), false);
        (0..1000u64).for_each(|i| delays.take(i, exact(if i < 100 { 50_000 } else { 2_000 })));
        let tagged = delays.tagged().expect("tagged frames");
        assert_eq!(
            (tagged.count, tagged.min_ns, tagged.max_ns),
            (90, 2_000, 2_000)
        );
        assert_eq!(delays.summary().expect("delays").count, 1000);
    }

    #[test]
    fn tags_do_not_keep_time_with_mixed_traffic() {
        let share = sixbench_method::terms::Share {
            foreground: 9,
            of: 10,
        };
        let mut delays = Delays::new(Some((0, 120)), false);
        (0..1_200_000u64).for_each(|i| {
            delays.take(i, exact(if share.is_foreground(i) { 1_000 } else { 9_000 }));
        });
        let tagged = delays.tagged.expect("tags").delays;
        let foreground = tagged.count_between(1, 2_000) as f64 / tagged.len() as f64;
        assert!((0.88..0.92).contains(&foreground), "{foreground}");
    }

    #[test]
    fn ipdv_is_the_difference_to_the_frame_before() {
        let mut delays = Delays::new(None, true);
        [100, 300, 200, 200]
            .into_iter()
            .zip(0..)
            .for_each(|(delay, i)| delays.take(i, exact(delay)));
        assert_eq!(
            delays.ipdv(),
            Some(Ipdv {
                pairs: 3,
                min_ns: -100,
                median_ns: 0,
                max_ns: 200,
                bounds: EXACT
            })
        );
    }

    #[test]
    fn a_pair_counts_once_whichever_came_first_and_a_lost_frame_breaks_it() {
        let mut delays = Delays::new(None, true);
        for (i, delay) in [(0, 100), (2, 500), (1, 200), (4, 100)] {
            delays.take(i, exact(delay));
        }
        // The pairs are 0-1 and 1-2; 3 is missing.
        assert_eq!(
            delays.ipdv(),
            Some(Ipdv {
                pairs: 2,
                min_ns: 100,
                median_ns: 100,
                max_ns: 300,
                bounds: EXACT
            })
        );
    }
}
