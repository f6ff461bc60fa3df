//! The time at which each frame is due: frame i at start + i / rate, always counted from the start of its stretch, so that errors do not
//! accumulate and a late frame does not delay the next. Time is passed in; nothing here reads a clock.

use sixbench_method::trial::{Schedule, Segment};
use std::num::NonZeroU32;

/// The schedule of one direction, or a thread's share of a schedule.
#[derive(Clone, Debug)]
pub(crate) struct Pacer {
    /// The time at which the first frame of the schedule is due, nanoseconds.
    pub(crate) start_ns: u64,
    stretches: Box<[Stretch]>,
    /// The stretch of the next frame.
    at: usize,
    pub(crate) share: ThreadShare,
    /// Frames of a burst, all of which are due with its first one.
    burst: u64,
    /// The number of the next frame in the schedule.
    next: u64,
    /// The frames of the share that were sent, and all frames that it has.
    sent: u64,
    frames: u64,
}

/// The frames of a schedule that one of several threads sends: each of `of` threads has every `of`-th frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ThreadShare {
    /// The index of the thread, from 0, which is also the number of its first frame in the schedule.
    pub(crate) index: u64,
    pub(crate) of: u64,
}

impl ThreadShare {
    /// The share of a thread that sends everything.
    pub(crate) const WHOLE: Self = Self { index: 0, of: 1 };

    /// Returns the number in the schedule of the thread's frame `own`; both count from 0.
    #[inline]
    pub(crate) fn number(self, own: u64) -> u64 {
        own * self.of + self.index
    }

    /// Returns how many of the first `frames` frames belong to the thread.
    pub(crate) fn part_of(self, frames: u64) -> u64 {
        (frames + self.of - 1 - self.index) / self.of
    }
}

/// Frames at a constant rate.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    first: u64,
    end: u64,
    start_ns: u64,
    /// Time between frames in units of 2^-32 ns: an error of at most 0.25 ns after 10^9 frames.
    period: u64,
}

impl Stretch {
    fn new(segment: &Segment) -> Self {
        let period = ((1_000_000_000u128 << 32) / u128::from(segment.rate.0.max(1))) as u64;
        Self {
            first: segment.first,
            end: segment.first + segment.frames,
            start_ns: segment.start_ns,
            period,
        }
    }

    #[inline]
    fn due_time(&self, sequence: u64) -> u64 {
        self.start_ns + ((u128::from(sequence - self.first) * u128::from(self.period)) >> 32) as u64
    }
}

impl Pacer {
    /// Returns a pacer for the frames of `schedule`, the first of which is due at 0 until [`Pacer::begin`] is called.
    pub(crate) fn new(schedule: &Schedule) -> Self {
        Self::share(schedule, ThreadShare::WHOLE)
    }

    /// Returns a pacer for a thread's share of the frames of `schedule`, whose first frame is due at 0 until [`Pacer::begin`] is called.
    pub(crate) fn share(schedule: &Schedule, share: ThreadShare) -> Self {
        let stretches = schedule.segments().iter().map(Stretch::new).collect();
        let frames = share.part_of(schedule.frames());
        Self {
            start_ns: 0,
            stretches,
            at: 0,
            share,
            burst: 1,
            next: share.index,
            sent: 0,
            frames,
        }
    }

    /// Returns the pacer with `burst` frames due at once each time: frame i with frame i - i mod `burst`. Bursts are those of the schedule, whatever
    /// thread sends their frames, so the mean rate is the schedule's.
    pub(crate) fn in_bursts_of(self, burst: NonZeroU32) -> Self {
        Self {
            burst: u64::from(burst.get()),
            ..self
        }
    }

    /// Moves the first frame of the schedule to `start_ns`, before any was sent.
    pub(crate) fn begin(&mut self, start_ns: u64) {
        debug_assert_eq!(self.sent, 0);
        self.start_ns = start_ns;
    }

    /// Returns the time at which frame `sequence` of the schedule is due, nanoseconds.
    #[inline]
    pub(crate) fn due_time(&self, sequence: u64) -> u64 {
        self.paced_time(if self.burst == 1 {
            sequence
        } else {
            sequence - sequence % self.burst
        })
    }

    /// Returns the time at which frame `sequence` would be due outside of a burst, nanoseconds: a burst that is sent more slowly than this is late.
    #[inline]
    fn paced_time(&self, sequence: u64) -> u64 {
        let current = &self.stretches[self.at];
        let stretch = if (current.first..current.end).contains(&sequence) {
            current
        } else {
            self.stretch_of(sequence)
        };
        self.start_ns + stretch.due_time(sequence)
    }

    #[cold]
    fn stretch_of(&self, sequence: u64) -> &Stretch {
        let after = self
            .stretches
            .partition_point(|stretch| stretch.first <= sequence);
        &self.stretches[after.saturating_sub(1)]
    }

    /// Moves the schedule so that the next frame is due at `due_ns`.
    #[inline]
    pub(crate) fn move_next_to(&mut self, due_ns: u64) {
        self.start_ns = (self.start_ns + due_ns).saturating_sub(self.next_due_time());
    }

    /// Leaves out the frames that were not yet sent; returns their number.
    pub(crate) fn cut_off(&mut self) -> u64 {
        let left_out = self.frames - self.sent;
        self.frames = self.sent;
        left_out
    }

    /// Returns how many unsent frames are due at `now_ns`, at most `most`.
    #[inline]
    pub(crate) fn due(&self, now_ns: u64, most: usize) -> usize {
        let most = (self.frames - self.sent).min(most as u64);
        let is_due = |nth: u64| self.due_time(self.next + nth * self.share.of) <= now_ns;
        // Due times ascend: the cases of none and all are checked first, and a binary search finds the end of the due frames otherwise.
        if most == 0 || !is_due(0) {
            return 0;
        }
        if is_due(most - 1) {
            return most as usize;
        }
        let (mut due, mut not_due) = (1, most);
        while not_due - due > 1 {
            let middle = due.midpoint(not_due);
            if is_due(middle - 1) {
                due = middle;
            } else {
                not_due = middle;
            }
        }
        due as usize
    }

    /// Returns the number of frames sent so far, which without sharing is also the sequence number of the next one.
    #[inline]
    pub(crate) fn sent(&self) -> u64 {
        self.sent
    }

    /// Returns the number of the next frame in the schedule.
    #[inline]
    pub(crate) fn next_number(&self) -> u64 {
        self.next
    }

    /// Returns the number of frames in the schedule, or in the thread's share of it.
    pub(crate) fn frames(&self) -> u64 {
        self.frames
    }

    /// Returns the time at which the next frame is due, nanoseconds.
    #[inline]
    pub(crate) fn next_due_time(&self) -> u64 {
        self.due_time(self.next)
    }

    /// Returns the time by which the next frame is late, nanoseconds: from when it is due, or in a burst from when it would be due outside of it.
    #[inline]
    pub(crate) fn next_lateness(&self, now_ns: u64) -> u64 {
        now_ns.saturating_sub(self.paced_time(self.next))
    }

    /// Returns the time from the first frame to the last one sent at `last_ns`, nanoseconds. After a whole schedule, the wait that follows the last
    /// frame of a burst belongs to it, as it belongs to the mean rate.
    pub(crate) fn took_ns(&self, last_ns: u64) -> u64 {
        let until_ns = if self.burst > 1 && self.is_done() {
            last_ns.max(self.last_paced_time())
        } else {
            last_ns
        };
        until_ns.saturating_sub(self.first_paced_time())
    }

    fn first_paced_time(&self) -> u64 {
        self.paced_time(self.share.number(0))
    }

    fn last_paced_time(&self) -> u64 {
        self.paced_time(self.share.number(self.frames.saturating_sub(1)))
    }

    /// Returns the time at which the last frame is due, nanoseconds.
    #[inline]
    pub(crate) fn last_due_time(&self) -> u64 {
        self.due_time(self.share.number(self.frames.saturating_sub(1)))
    }

    /// Notes that `count` more frames were sent.
    #[inline]
    pub(crate) fn advance(&mut self, count: usize) {
        self.sent += count as u64;
        self.next += count as u64 * self.share.of;
        debug_assert!(self.sent <= self.frames);
        while self.at + 1 < self.stretches.len() && self.next >= self.stretches[self.at].end {
            self.at += 1;
        }
    }

    /// Returns whether every frame was sent.
    #[inline]
    pub(crate) fn is_done(&self) -> bool {
        self.sent == self.frames
    }

    /// Returns the time from the first to the last frame in the schedule at its mean rate, nanoseconds.
    pub(crate) fn nominal_ns(&self) -> u64 {
        self.last_paced_time() - self.first_paced_time()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixbench_method::terms::FrameRate;
    use sixbench_method::trial::{TrialKind, TrialSpec};

    fn pacer(rate: u64, frames: u64, start_ns: u64) -> Pacer {
        let mut pacer = Pacer::new(&TrialSpec::burst(FrameRate(rate), frames).schedule());
        pacer.begin(start_ns);
        pacer
    }

    #[test]
    fn the_last_frame_of_a_minute_at_line_rate_is_due_to_the_nanosecond() {
        let spec = TrialSpec::constant(FrameRate(14_880_952), 60_000_000_000);
        let (frames, pacer) = (spec.frames(), Pacer::new(&spec.schedule()));
        let exact = u128::from(frames - 1) * 1_000_000_000 / 14_880_952;
        assert!(u128::from(pacer.due_time(frames - 1)).abs_diff(exact) <= 1);
    }

    #[test]
    fn frames_become_due_one_by_one() {
        let mut pacer = pacer(1000, 3, 5_000_000);
        assert_eq!(pacer.due(4_999_999, 64), 0);
        assert_eq!(pacer.due(5_000_000, 64), 1);
        pacer.advance(1);
        assert_eq!(pacer.due(5_999_999, 64), 0);
        assert_eq!(
            pacer.due(60_000_000, 64),
            2,
            "no more than the schedule holds"
        );
        assert_eq!(pacer.due(60_000_000, 1), 1);
    }

    /// Returns the times at which the frames of a thread are sent if it looks once a microsecond.
    fn sent_at(mut pacer: Pacer) -> Vec<(u64, u64)> {
        let mut sent = Vec::new();
        for now_ns in (0..pacer.last_due_time() + 1000).step_by(1000) {
            let due = pacer.due(now_ns, usize::MAX);
            sent.extend(
                (0..due as u64).map(|nth| (pacer.share.number(pacer.sent() + nth), now_ns)),
            );
            pacer.advance(due);
        }
        assert!(pacer.is_done());
        sent
    }

    #[test]
    fn a_burst_is_sent_at_once_and_then_waits_so_that_the_mean_rate_holds() {
        let schedule = Schedule::constant(FrameRate(10_000), 1000);
        let burst = NonZeroU32::new(4).expect("not zero");
        let whole = Pacer::new(&schedule).in_bursts_of(burst);
        let sent = sent_at(whole.clone());
        assert!(
            sent.iter()
                .copied()
                .eq((0..1000).map(|number| (number, number / 4 * 400_000)))
        );
        assert_eq!(
            whole.nominal_ns(),
            Pacer::new(&schedule).nominal_ns(),
            "also the mean rate"
        );
        let of_threads = (0..3).flat_map(|index| {
            sent_at(Pacer::share(&schedule, ThreadShare { index, of: 3 }).in_bursts_of(burst))
        });
        let mut of_threads: Vec<_> = of_threads.collect();
        of_threads.sort_unstable();
        assert_eq!(
            of_threads, sent,
            "the same bursts, whatever thread sends their frames"
        );
    }

    #[test]
    fn bursts_of_one_frame_are_the_exact_pace() {
        let paced = Pacer::new(&Schedule::constant(FrameRate(777), 500));
        assert_eq!(
            sent_at(paced.clone().in_bursts_of(NonZeroU32::MIN)),
            sent_at(paced)
        );
    }

    #[test]
    fn a_late_frame_does_not_move_the_next() {
        let mut pacer = pacer(1000, 10, 0);
        pacer.advance(pacer.due(3_500_000, 64));
        assert_eq!(pacer.sent(), 4);
        assert_eq!(pacer.due_time(pacer.sent()), 4_000_000);
    }

    #[test]
    fn threads_send_every_frame_of_a_schedule_once_and_when_it_is_due() {
        let schedule = Schedule::constant(FrameRate(1000), 100);
        let sent_by = |index| {
            let mut pacer = Pacer::share(&schedule, ThreadShare { index, of: 3 });
            pacer.begin(7);
            let mut sent = Vec::new();
            while !pacer.is_done() {
                let number = pacer.share.number(pacer.sent());
                assert_eq!(
                    (
                        pacer.due(number * 1_000_000 + 6, 64),
                        pacer.due(number * 1_000_000 + 7, 64)
                    ),
                    (0, 1)
                );
                sent.push(number);
                pacer.advance(1);
            }
            assert_eq!(
                pacer.nominal_ns(),
                (sent[sent.len() - 1] - index) * 1_000_000
            );
            sent
        };
        let mut all: Vec<_> = (0..3).flat_map(sent_by).collect();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..100));
    }

    #[test]
    fn a_share_of_fewer_frames_than_threads_may_be_empty() {
        let shares = [0, 1, 2].map(|index| {
            Pacer::share(
                &Schedule::constant(FrameRate(10), 2),
                ThreadShare { index, of: 3 },
            )
        });
        assert_eq!(
            shares.map(|pacer| (pacer.frames(), pacer.nominal_ns())),
            [(1, 0), (1, 0), (0, 0)]
        );
    }

    #[test]
    fn the_nominal_time_begins_with_the_first_frame_even_if_that_is_in_a_later_stretch() {
        let kind = TrialKind::Ramp {
            flows: 1000,
            step_ns: 1_000_000,
        };
        let spec = TrialSpec {
            kind,
            ..TrialSpec::constant(FrameRate(1000), 1_499_000_000)
        };
        let nominal_ns =
            |index| Pacer::share(&spec.schedule(), ThreadShare { index, of: 4 }).nominal_ns();
        assert_eq!([0, 3].map(nominal_ns), [496_000_000; 2]);
    }

    #[test]
    fn one_frame_has_no_nominal_duration() {
        assert_eq!(pacer(10, 1, 7).nominal_ns(), 0);
    }

    #[test]
    fn a_drop_of_the_rate_is_a_stretch_of_its_own() {
        let kind = TrialKind::Drop {
            at_ns: 1_000_000_000,
            to: FrameRate(10),
        };
        let spec = TrialSpec {
            kind,
            ..TrialSpec::constant(FrameRate(1000), 2_000_000_000)
        };
        let mut pacer = Pacer::new(&spec.schedule());
        pacer.begin(5);
        assert_eq!(pacer.frames(), 1010);
        assert_eq!(pacer.due(1_000_000_004, 2000), 1000);
        pacer.advance(1000);
        assert_eq!(pacer.due_time(1000), 1_000_000_005);
        assert_eq!(pacer.due_time(1001), 1_100_000_005);
        assert_eq!(
            pacer.due_time(999),
            999_000_005,
            "also what was sent before"
        );
        assert_eq!(pacer.nominal_ns(), 1_900_000_000);
    }
}
