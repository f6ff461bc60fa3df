//! The sending of a schedule by one thread, for frames and queries alike: how late it is, when it gives up, and when its last frame is so close
//! that nothing else may come before it. Nothing here sends or reads a clock.

use crate::pacing::pacer::Pacer;
use sixbench_method::trial::Sending;

/// The lateness at which a sender gives up, as the trial is invalid anyway.
pub(crate) const GIVE_UP_LATENESS_NS: u64 = 500_000_000;

/// The time before the last frame in which its core does nothing else, in nanoseconds.
const LAST_FRAME_WATCH_NS: u64 = 50_000;

/// The state of a schedule that is being sent, or of a thread's share of one.
pub(crate) struct PacedSending {
    pub(crate) pacer: Pacer,
    stall_ns: u64,
    /// The time at which something was last sent, in nanoseconds; 0 if nothing was sent yet.
    pub(crate) last_ns: u64,
    /// True if nothing more will be sent, although not everything was.
    pub(crate) gave_up: bool,
    worst_lateness_ns: u64,
    late_frames: u64,
}

impl PacedSending {
    /// Returns the state before anything of `pacer` was sent; a frame more than `stall_ns` behind its due time counts as late.
    pub(crate) fn new(pacer: Pacer, stall_ns: u64) -> Self {
        Self {
            pacer,
            stall_ns,
            last_ns: 0,
            gave_up: false,
            worst_lateness_ns: 0,
            late_frames: 0,
        }
    }

    /// Notes that the next `count` frames were sent at `now_ns`, when at least the first of them was due.
    #[inline]
    pub(crate) fn note_sent(&mut self, count: usize, now_ns: u64) {
        let lateness_ns = self.pacer.next_lateness(now_ns);
        self.gave_up = lateness_ns > GIVE_UP_LATENESS_NS;
        self.worst_lateness_ns = self.worst_lateness_ns.max(lateness_ns);
        if lateness_ns > self.stall_ns {
            self.late_frames += count as u64;
        }
        self.pacer.advance(count);
        if count > 0 {
            self.last_ns = now_ns;
        }
    }

    /// Returns whether nothing more will be sent.
    #[inline]
    pub(crate) fn has_sent_all(&self) -> bool {
        self.gave_up || self.pacer.is_done()
    }

    /// Returns whether the last frame is due so soon that nothing else may come before it: the time at which it is sent decides the trial's
    /// duration. Once it is overdue, that is decided, and receiving is more important.
    #[inline]
    pub(crate) fn is_about_to_end(&self, now_ns: u64) -> bool {
        !self.has_sent_all()
            && (now_ns..now_ns + LAST_FRAME_WATCH_NS).contains(&self.pacer.last_due_time())
    }

    /// Returns the time from the first to the last frame, and the lateness of frames.
    pub(crate) fn finish(&self) -> Sending {
        Sending {
            nominal_ns: self.pacer.nominal_ns(),
            took_ns: self.pacer.took_ns(self.last_ns),
            worst_lateness_ns: self.worst_lateness_ns,
            late_frames: self.late_frames,
        }
    }
}

/// Returns how well several threads together kept a schedule: it took as long as the share of the slowest.
pub(crate) fn together(shares: &[Sending]) -> Sending {
    let slowest = shares
        .iter()
        .max_by_key(|share| share.took_ns.saturating_sub(share.nominal_ns));
    Sending {
        nominal_ns: slowest.map_or(0, |share| share.nominal_ns),
        took_ns: slowest.map_or(0, |share| share.took_ns),
        worst_lateness_ns: shares
            .iter()
            .map(|share| share.worst_lateness_ns)
            .max()
            .unwrap_or(0),
        late_frames: shares.iter().map(|share| share.late_frames).sum(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixbench_method::terms::FrameRate;
    use sixbench_method::trial::Schedule;

    const MS: u64 = 1_000_000;

    fn sending(frames: u64) -> PacedSending {
        PacedSending::new(
            Pacer::new(&Schedule::constant(FrameRate(1000), frames)),
            10 * MS,
        )
    }

    #[test]
    fn only_frames_later_than_a_stall_count_as_late() {
        let mut sending = sending(40);
        sending.note_sent(10, 10 * MS);
        sending.note_sent(30, 39 * MS);
        assert!(sending.has_sent_all());
        let Sending {
            nominal_ns,
            took_ns,
            worst_lateness_ns,
            late_frames,
        } = sending.finish();
        assert_eq!(
            (nominal_ns, took_ns, worst_lateness_ns, late_frames),
            (39 * MS, 39 * MS, 29 * MS, 30)
        );
    }

    #[test]
    fn a_burst_that_takes_a_while_is_late_only_if_it_falls_behind_the_mean_rate() {
        let paced = Pacer::new(&Schedule::constant(FrameRate(1000), 40));
        let mut sending =
            PacedSending::new(paced.in_bursts_of(20.try_into().expect("not zero")), MS);
        sending.note_sent(10, 0);
        sending.note_sent(10, 10 * MS);
        sending.note_sent(10, 20 * MS);
        sending.note_sent(10, 32 * MS);
        let Sending {
            nominal_ns,
            took_ns,
            worst_lateness_ns,
            late_frames,
        } = sending.finish();
        assert_eq!(
            (nominal_ns, took_ns, worst_lateness_ns, late_frames),
            (39 * MS, 39 * MS, 2 * MS, 10)
        );
    }

    #[test]
    fn a_sender_half_a_second_behind_gives_up() {
        let mut sending = sending(1000);
        sending.note_sent(1, 500 * MS);
        assert!(!sending.has_sent_all());
        sending.note_sent(0, 502 * MS);
        assert!(
            sending.has_sent_all() && sending.last_ns == 500 * MS,
            "also where nothing could be sent"
        );
    }

    #[test]
    fn the_last_frame_is_watched_for_until_it_is_due() {
        let mut sending = sending(2);
        let watched = |sending: &PacedSending| {
            [950_000, 950_001, MS, MS + 1].map(|now_ns| sending.is_about_to_end(now_ns))
        };
        assert_eq!(watched(&sending), [false, true, true, false]);
        sending.note_sent(2, MS);
        assert_eq!(watched(&sending), [false; 4]);
    }
}
