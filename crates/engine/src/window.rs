//! The requests that may be under way in a closed loop. While there are so many the schedule stands still, and what it still holds when the time of
//! sending is over is left out. Nothing here sends or reads a clock.

use crate::pacer::Pacer;

/// After so long without a reply the requests under way count as lost, and new ones may leave: that of `ping6 -i0`, which sends a hundred requests a
/// second to a host that does not answer.
const PATIENCE_NS: u64 = 10_000_000;

/// The requests of a direction that wait for their replies, and the number that may.
pub(crate) struct RequestWindow {
    size: u64,
    /// True if there was no room for all that was due.
    is_full: bool,
    /// Requests, counted from the first, that are waited for no longer.
    given_up: u64,
    /// The requests that were done with, and sent, when that changed last, and the time of it, nanoseconds.
    progress: (u64, u64),
    progress_ns: u64,
    /// The time at which the last request of the schedule was due before the sender waited, nanoseconds.
    end_ns: u64,
    /// Requests of the schedule that were left out.
    pub(crate) left_out: u64,
}

impl RequestWindow {
    /// The largest number of requests that may be under way.
    pub(crate) fn new(size: u64) -> Self {
        Self { size, is_full: false, given_up: 0, progress: (0, 0), progress_ns: 0, end_ns: 0, left_out: 0 }
    }

    /// The first request is due at `start_ns`, and the last at `end_ns`.
    pub(crate) fn begin(&mut self, start_ns: u64, end_ns: u64) {
        (self.progress_ns, self.end_ns) = (start_ns, end_ns);
    }

    /// Returns how many requests of `pacer` may leave at `now_ns`, at most `most`. Those for which there was no room are due later, or never. The
    /// requests of the schedule before number `answered` have replies, or were overtaken by the reply to a later one and count as lost.
    #[inline]
    pub(crate) fn admit(&mut self, pacer: &mut Pacer, most: usize, answered: u64, now_ns: u64) -> usize {
        let room = self.room(pacer.sent(), pacer.share.part_of(answered), now_ns);
        if self.is_full {
            pacer.postpone(now_ns);
        }
        if pacer.next_due_time() > self.end_ns {
            self.left_out = pacer.cut_off();
            return 0;
        }
        let due = pacer.due(now_ns, most);
        self.is_full = room < due as u64;
        due.min(room as usize)
    }

    fn room(&mut self, sent: u64, done: u64, now_ns: u64) -> u64 {
        if self.progress != (done, sent) {
            (self.progress, self.progress_ns) = ((done, sent), now_ns);
        }
        if now_ns.saturating_sub(self.progress_ns) > PATIENCE_NS {
            self.given_up = sent;
        }
        self.size.saturating_sub(sent - done.max(self.given_up).min(sent))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixbench_method::terms::FrameRate;
    use sixbench_method::trial::Schedule;

    const MS: u64 = 1_000_000;

    /// A request each millisecond, for a tenth of a second.
    fn pacer() -> Pacer {
        Pacer::new(&Schedule::constant(FrameRate(1000), 100))
    }

    fn window(size: u64) -> RequestWindow {
        let mut window = RequestWindow::new(size);
        window.begin(0, 99 * MS);
        window
    }

    /// Sends what may leave at `now_ns` and returns how many that are.
    fn sent(window: &mut RequestWindow, pacer: &mut Pacer, answered: u64, now_ns: u64) -> usize {
        let admitted = window.admit(pacer, 64, answered, now_ns);
        pacer.advance(admitted);
        admitted
    }

    #[test]
    fn no_more_requests_leave_than_may_wait_and_each_reply_lets_one_follow() {
        let (mut window, mut pacer) = (window(2), pacer());
        let sent: Vec<_> = [(0, 5), (0, 6), (1, 7), (1, 8), (3, 12)]
            .map(|(answered, ms)| sent(&mut window, &mut pacer, answered, ms * MS))
            .into();
        assert_eq!(sent, [2, 0, 1, 0, 1]);
    }

    #[test]
    fn what_was_waited_for_makes_later_requests_late_and_not_many_at_once() {
        let (mut window, mut pacer) = (window(64), pacer());
        assert_eq!(sent(&mut window, &mut pacer, 0, 80 * MS), 64);
        assert_eq!(sent(&mut window, &mut pacer, 0, 85 * MS), 0);
        assert_eq!(sent(&mut window, &mut pacer, 64, 86 * MS), 1);
        assert_eq!(pacer.next_due_time(), 87 * MS, "the schedule goes on where it stood");
    }

    #[test]
    fn requests_without_a_reply_count_as_lost_after_ten_milliseconds() {
        let (mut window, mut pacer) = (window(1), pacer());
        let sent: Vec<_> = [0, 1, 11, 12, 13].map(|ms| sent(&mut window, &mut pacer, 0, ms * MS)).into();
        assert_eq!(sent, [1, 0, 0, 1, 0]);
    }

    #[test]
    fn what_is_left_when_the_time_is_over_is_left_out_and_no_fault_of_the_sender() {
        let (mut window, mut pacer) = (window(10), pacer());
        assert_eq!(sent(&mut window, &mut pacer, 0, 50 * MS), 10);
        assert_eq!(sent(&mut window, &mut pacer, 0, 51 * MS), 0);
        assert_eq!(sent(&mut window, &mut pacer, 0, 99 * MS), 1, "the first ten are lost");
        assert_eq!(sent(&mut window, &mut pacer, 0, 100 * MS), 0);
        assert_eq!((window.left_out, pacer.frames(), pacer.is_done()), (89, 11, true));
    }

    #[test]
    fn a_relay_that_keeps_up_gets_the_whole_schedule_on_time() {
        let (mut window, mut pacer) = (window(8), pacer());
        let sent = |ms: u64| sent(&mut window, &mut pacer, ms, ms * MS);
        assert!((0..100).map(sent).all(|sent| sent == 1));
        assert_eq!((window.left_out, pacer.start_ns), (0, 0));
    }
}
