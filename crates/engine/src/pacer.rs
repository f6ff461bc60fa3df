//! When each frame is due: frame i at start + i / rate, always counted from the start, so that no error adds up and a late frame
//! does not move the next. Time is passed in; nothing here reads a clock.

use sixbench_method::terms::FrameRate;

/// The schedule of one direction.
#[derive(Clone, Debug)]
pub(crate) struct Pacer {
    start_ns: u64,
    /// Time between frames in units of 2^-32 ns: an error of at most 0.25 ns after 10^9 frames.
    period: u64,
    next: u64,
    frames: u64,
}

impl Pacer {
    /// `frames` frames at `rate` (at least 1 frame/s), the first at `start_ns`.
    pub(crate) fn new(rate: FrameRate, frames: u64, start_ns: u64) -> Self {
        let period = ((1_000_000_000u128 << 32) / u128::from(rate.0.max(1))) as u64;
        Self { start_ns, period, next: 0, frames }
    }

    /// When frame `sequence` is due, nanoseconds.
    #[inline]
    pub(crate) fn due_time(&self, sequence: u64) -> u64 {
        self.start_ns + ((u128::from(sequence) * u128::from(self.period)) >> 32) as u64
    }

    /// How many unsent frames are due at `now_ns`, counted up to `most`.
    #[inline]
    pub(crate) fn due(&self, now_ns: u64, most: usize) -> usize {
        let left = self.frames - self.next;
        let most = left.min(most as u64);
        (0..most).take_while(|i| self.due_time(self.next + i) <= now_ns).count()
    }

    /// Frames sent so far: also the sequence number of the next.
    #[inline]
    pub(crate) fn sent(&self) -> u64 {
        self.next
    }

    /// Frames the schedule holds.
    pub(crate) fn frames(&self) -> u64 {
        self.frames
    }

    /// Takes note that `count` more frames were sent.
    #[inline]
    pub(crate) fn advance(&mut self, count: usize) {
        self.next += count as u64;
        debug_assert!(self.next <= self.frames);
    }

    /// Whether every frame was sent.
    #[inline]
    pub(crate) fn is_done(&self) -> bool {
        self.next == self.frames
    }

    /// Time from the first to the last frame by the schedule, nanoseconds.
    pub(crate) fn nominal_ns(&self) -> u64 {
        self.due_time(self.frames.saturating_sub(1)) - self.start_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_frame_of_a_minute_at_line_rate_is_due_to_the_nanosecond() {
        let rate = FrameRate(14_880_952);
        let frames = rate.frames_in(60_000_000_000);
        let pacer = Pacer::new(rate, frames, 0);
        let exact = u128::from(frames - 1) * 1_000_000_000 / 14_880_952;
        assert!(u128::from(pacer.due_time(frames - 1)).abs_diff(exact) <= 1);
    }

    #[test]
    fn frames_become_due_one_by_one() {
        let mut pacer = Pacer::new(FrameRate(1000), 3, 5_000_000);
        assert_eq!(pacer.due(4_999_999, 64), 0);
        assert_eq!(pacer.due(5_000_000, 64), 1);
        pacer.advance(1);
        assert_eq!(pacer.due(5_999_999, 64), 0);
        assert_eq!(pacer.due(60_000_000, 64), 2, "no more than the schedule holds");
        assert_eq!(pacer.due(60_000_000, 1), 1);
    }

    #[test]
    fn a_late_frame_does_not_move_the_next() {
        let mut pacer = Pacer::new(FrameRate(1000), 10, 0);
        pacer.advance(pacer.due(3_500_000, 64));
        assert_eq!(pacer.sent(), 4);
        assert_eq!(pacer.due_time(pacer.sent()), 4_000_000);
    }

    #[test]
    fn one_frame_has_no_nominal_duration() {
        assert_eq!(Pacer::new(FrameRate(10), 1, 7).nominal_ns(), 0);
    }
}
