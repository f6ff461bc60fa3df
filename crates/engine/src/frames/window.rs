//! The requests that may be in flight in a closed loop. Each has a slot, like each `ping6` of a client has its own request: the slot sends its
//! next request when that is due and the previous one has its reply or has timed out. While it waits, its schedule is suspended, and requests
//! that are left when the time of sending is over are left out. No slot waits for another. Nothing here sends or reads a clock.

use super::profile::TrafficProfile;
use crate::pacing::pacer::{Pacer, ThreadShare};
use crate::pacing::reach::reach;
use sixbench_io::BATCH;
use sixbench_method::trial::{TrialKind, TrialSpec};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// The time without a reply after which a request counts as lost, so that the next one of its slot may leave. It is that of `ping6 -i0`, which
/// sends a hundred requests a second to a host that does not answer.
const PATIENCE_NS: u64 = 10_000_000;

/// The slot from which each request of a trial left, and the replies to each slot: the state that the sender and the receivers of a closed loop
/// share. A request is noted before it leaves, so its receiver, and that of its reply, always find it here.
pub(crate) struct RequestLog {
    clients: u32,
    /// The slot of each request, by its number.
    slots: Box<[AtomicU32]>,
    /// For each slot, one more than the number of its last request that has a reply.
    answered: Box<[AtomicU64]>,
}

impl RequestLog {
    /// Returns the log of a trial by `spec`; `None` if clients do not wait for replies. The requests that may wait are divided among the
    /// subscribers of `profile`.
    pub(crate) fn for_trial(spec: &TrialSpec, profile: &TrafficProfile) -> Option<Arc<Self>> {
        let outstanding = spec
            .outstanding
            .filter(|_| spec.kind == TrialKind::Response)?;
        Some(Arc::new(Self::new(
            clients(profile),
            outstanding,
            reach(&spec.schedule(), 1),
        )))
    }

    /// Returns the octets of the log and of the sender's slots; 0 if clients do not wait for replies.
    pub(crate) fn octets(spec: &TrialSpec, profile: &TrafficProfile) -> u64 {
        let Some(outstanding) = spec.outstanding else {
            return 0;
        };
        let of_slots = u64::from(slots(clients(profile), outstanding)).saturating_mul(SLOT_OCTETS);
        reach(&spec.schedule(), 1)
            .saturating_mul(size_of::<AtomicU32>() as u64)
            .saturating_add(of_slots)
    }

    fn new(clients: u32, outstanding: u32, requests: u64) -> Self {
        let slots = slots(clients, outstanding);
        let slots_of_requests = (0..requests).map(|_| AtomicU32::new(0)).collect();
        Self {
            clients,
            slots: slots_of_requests,
            answered: (0..slots).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    /// Returns the client that sent a request, by its number among all; 0 for a number that no request has.
    #[inline]
    pub(crate) fn client(&self, sequence: u64) -> u32 {
        self.slot(sequence).unwrap_or(0) % self.clients
    }

    /// Notes a right reply to request `sequence`.
    #[inline]
    pub(crate) fn note_reply(&self, sequence: u64) {
        if let Some(slot) = self.slot(sequence) {
            self.answered[slot as usize].fetch_max(sequence + 1, Ordering::Relaxed);
        }
    }

    #[inline]
    fn slot(&self, sequence: u64) -> Option<u32> {
        Some(
            self.slots
                .get(usize::try_from(sequence).ok()?)?
                .load(Ordering::Relaxed),
        )
    }

    #[inline]
    fn note_request(&self, sequence: u64, slot: usize) {
        if let Some(noted) = self.slots.get(sequence as usize) {
            noted.store(slot as u32, Ordering::Relaxed);
        }
    }
}

fn clients(profile: &TrafficProfile) -> u32 {
    profile
        .subscribers
        .as_ref()
        .map_or(1, |groups| groups.count().max(1))
}

/// Returns the number of slots: each client has at least one, and all have the same number.
fn slots(clients: u32, outstanding: u32) -> u32 {
    (outstanding / clients).max(1) * clients
}

/// Octets of a slot, in the log and in the sender.
const SLOT_OCTETS: u64 = (size_of::<AtomicU64>() + size_of::<Slot>()) as u64;

/// A slot, which has one request in flight at a time.
#[derive(Clone, Copy, Default)]
struct Slot {
    /// Requests sent.
    sent: u64,
    /// The time at which its next request is due, and by how much that is later than in the schedule because it waited, in nanoseconds.
    due_ns: u64,
    waited_ns: u64,
    /// One more than the number of its last request, and the time at which that left, in nanoseconds.
    last: u64,
    last_ns: u64,
}

/// The slots of all clients, as their sender sees them.
pub(crate) struct RequestSlots {
    pub(crate) log: Arc<RequestLog>,
    slots: Box<[Slot]>,
    /// The schedule if no slot waits: slot s of S has every S-th request, starting with number s.
    schedule: Pacer,
    /// The time at which the last request of the schedule is due, nanoseconds.
    end_ns: u64,
    /// The slot that is checked first, as all take turns.
    first: usize,
    /// The slots whose requests may leave next, in this order.
    admitted: Vec<usize>,
    /// The number of requests in the schedule that were left out.
    pub(crate) left_out: u64,
}

impl RequestSlots {
    /// Returns the slots of `log`, for the requests of `pacer`.
    pub(crate) fn new(log: Arc<RequestLog>, pacer: &Pacer) -> Self {
        let slots = vec![Slot::default(); log.answered.len()].into_boxed_slice();
        let admitted = Vec::with_capacity(BATCH);
        let mut new = Self {
            log,
            slots,
            schedule: pacer.clone(),
            end_ns: 0,
            first: 0,
            admitted,
            left_out: 0,
        };
        new.begin(0);
        new
    }

    /// Sets the time at which the first request is due.
    pub(crate) fn begin(&mut self, start_ns: u64) {
        self.schedule.begin(start_ns);
        self.end_ns = self.schedule.last_due_time();
        for index in 0..self.slots.len() {
            self.slots[index].due_ns = self.schedule.due_time(self.share(index).number(0));
        }
    }

    fn share(&self, slot: usize) -> ThreadShare {
        ThreadShare {
            index: slot as u64,
            of: self.slots.len() as u64,
        }
    }

    /// Returns how many requests of `pacer` may leave at `now_ns`, at most a batch, and notes their slots. The next request of `pacer` becomes
    /// due when the earliest of them is. Requests whose slot waits are due later, or never.
    #[inline]
    pub(crate) fn admit(&mut self, pacer: &mut Pacer, now_ns: u64) -> usize {
        self.admitted.clear();
        let most = (pacer.frames() - pacer.sent()).min(BATCH as u64) as usize;
        let (count, mut earliest_ns) = (self.slots.len(), u64::MAX);
        for index in (self.first..count).chain(0..self.first) {
            if self.admitted.len() == most {
                break;
            }
            if self.is_free(index, now_ns) {
                earliest_ns = earliest_ns.min(self.slots[index].due_ns);
                self.log
                    .note_request(pacer.next_number() + self.admitted.len() as u64, index);
                self.admitted.push(index);
            }
        }
        match self.admitted.is_empty() {
            false => pacer.move_next_to(earliest_ns),
            true if now_ns > self.end_ns => self.left_out = pacer.cut_off(),
            true => {}
        }
        self.admitted.len()
    }

    /// Returns whether the next request of a slot may leave at `now_ns`. If it is due but must wait, its due time becomes now.
    #[inline]
    fn is_free(&mut self, index: usize, now_ns: u64) -> bool {
        let slot = &mut self.slots[index];
        if slot.due_ns > now_ns || slot.due_ns > self.end_ns {
            return false;
        }
        let is_answered = self.log.answered[index].load(Ordering::Relaxed) >= slot.last;
        let waits = !is_answered && now_ns.saturating_sub(slot.last_ns) <= PATIENCE_NS;
        if waits {
            slot.waited_ns += now_ns - slot.due_ns;
            slot.due_ns = now_ns;
        }
        !waits
    }

    /// Notes that the first `count` of the admitted requests have left at `now_ns`, the first one with number `sequence`.
    #[inline]
    pub(crate) fn note_sent(&mut self, count: usize, sequence: u64, now_ns: u64) {
        for nth in 0..count {
            let index = self.admitted[nth];
            let number = self.share(index).number(self.slots[index].sent + 1);
            let due_ns = self.schedule.due_time(number);
            let slot = &mut self.slots[index];
            (slot.sent, slot.last, slot.last_ns) =
                (slot.sent + 1, sequence + nth as u64 + 1, now_ns);
            slot.due_ns = due_ns + slot.waited_ns;
            self.first = index + 1;
        }
        self.first %= self.slots.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixbench_method::terms::FrameRate;
    use sixbench_method::trial::Schedule;

    const MS: u64 = 1_000_000;

    /// A closed loop with a request each millisecond, for a tenth of a second.
    struct Loop {
        slots: RequestSlots,
        pacer: Pacer,
    }

    impl Loop {
        fn of(clients: u32, outstanding: u32) -> Self {
            let pacer = Pacer::new(&Schedule::constant(FrameRate(1000), 100));
            let log = Arc::new(RequestLog::new(clients, outstanding, 100));
            Self {
                slots: RequestSlots::new(log, &pacer),
                pacer,
            }
        }

        /// Sends the requests that may leave at this millisecond; returns their number.
        fn sent(&mut self, ms: u64) -> usize {
            let (admitted, next) = (
                self.slots.admit(&mut self.pacer, ms * MS),
                self.pacer.next_number(),
            );
            self.slots.note_sent(admitted, next, ms * MS);
            self.pacer.advance(admitted);
            admitted
        }

        fn answer(&self, requests: impl IntoIterator<Item = u64>) {
            requests
                .into_iter()
                .for_each(|request| self.slots.log.note_reply(request));
        }

        /// Returns the requests that each client has sent.
        fn by_client(&self) -> Vec<usize> {
            let mut sent = vec![0; self.slots.log.clients as usize];
            (0..self.pacer.sent())
                .for_each(|request| sent[self.slots.log.client(request) as usize] += 1);
            sent
        }
    }

    #[test]
    fn no_more_requests_leave_than_may_wait_and_each_reply_lets_one_follow() {
        let mut two = Loop::of(1, 2);
        assert_eq!((two.sent(5), two.sent(6)), (2, 0));
        two.answer([0]);
        assert_eq!((two.sent(7), two.sent(8)), (1, 0));
        two.answer([1, 2]);
        assert_eq!(two.sent(12), 2);
    }

    #[test]
    fn a_client_whose_reply_is_missing_waits_ten_milliseconds_and_the_others_do_not() {
        let mut three = Loop::of(3, 3);
        let answers = |three: &Loop, of: u64| {
            three.answer(
                (0..three.pacer.sent()).filter(|n| three.slots.log.client(*n) != of as u32),
            );
        };
        for ms in 0..=12 {
            three.sent(ms);
            answers(&three, 1);
        }
        // The first request of the second client left at 1 ms, and its next one at 12 ms; those of the others leave every 3 ms.
        assert_eq!(three.by_client(), [5, 2, 4]);
        assert_eq!(three.pacer.next_number(), 11);
    }

    #[test]
    fn of_eight_requests_of_a_client_a_lost_one_holds_up_itself_alone() {
        let mut eight = Loop::of(1, 8);
        let sent: usize = (0..=16)
            .map(|ms| {
                let sent = eight.sent(ms);
                eight.answer((0..eight.pacer.sent()).filter(|request| *request != 3));
                sent
            })
            .sum();
        // The slot of request 3 would have sent again at 11 ms and waits until 14 ms.
        assert_eq!(
            sent, 17,
            "one a millisecond, but that of 11 ms left three later"
        );
        assert_eq!(
            eight.slots.slots[3].waited_ns,
            2 * MS,
            "it was seen to wait until 13 ms"
        );
        assert!(
            eight
                .slots
                .slots
                .iter()
                .enumerate()
                .all(|(index, slot)| index == 3 || slot.waited_ns == 0)
        );
    }

    #[test]
    fn what_was_waited_for_makes_later_requests_late_and_not_many_at_once() {
        let mut four = Loop::of(1, 4);
        assert_eq!((four.sent(10), four.sent(21)), (4, 4), "all were lost");
        assert_eq!(four.sent(25), 0);
        four.answer(4..8);
        assert_eq!(
            (four.sent(26), four.sent(27)),
            (4, 0),
            "the schedule goes on where it stood"
        );
    }

    #[test]
    fn requests_without_a_reply_count_as_lost_after_ten_milliseconds() {
        let mut one = Loop::of(1, 1);
        let sent: Vec<_> = [0, 1, 10, 11, 12, 21, 22].map(|ms| one.sent(ms)).into();
        assert_eq!(sent, [1, 0, 0, 1, 0, 0, 1]);
        one.answer([0]);
        assert_eq!(
            one.sent(23),
            0,
            "a reply that comes late answers the request before"
        );
    }

    #[test]
    fn what_is_left_when_the_time_is_over_is_left_out_and_no_fault_of_the_sender() {
        let mut ten = Loop::of(10, 10);
        assert_eq!((ten.sent(50), ten.sent(51)), (10, 0));
        assert_eq!(ten.sent(99), 10, "the first ten are lost");
        assert_eq!(ten.sent(100), 0);
        assert_eq!(
            (ten.slots.left_out, ten.pacer.frames(), ten.pacer.is_done()),
            (80, 20, true)
        );
    }

    #[test]
    fn a_relay_that_keeps_up_gets_the_whole_schedule_on_time() {
        let mut eight = Loop::of(4, 8);
        for ms in 0..100 {
            assert_eq!(eight.sent(ms), 1);
            eight.answer([ms]);
        }
        assert_eq!(
            (
                eight.slots.left_out,
                eight.pacer.start_ns,
                eight.by_client()
            ),
            (0, 0, vec![25; 4])
        );
    }

    #[test]
    fn fewer_requests_than_clients_still_leave_each_one() {
        assert_eq!(Loop::of(4, 3).slots.slots.len(), 4);
        assert_eq!(Loop::of(3, 8).slots.slots.len(), 6, "all have as many");
    }
}
