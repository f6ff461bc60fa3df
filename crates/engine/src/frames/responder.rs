//! The right end of the tester when it answers requests: it answers each right request once, with the reply of the same number, on the thread
//! that received it.
//!
//! # Tasks of such a trial
//!
//! `TrialKind::Response` has three tasks instead of four: the forward sender, the reverse receiver, and `frames::responder` between them, which
//! receives requests and sends replies on one thread, so that no reply waits for another thread. A reply is a function of its request's number
//! (`stream`: the forward pattern, ends swapped), so it is verified like any frame. It carries the time at which its request was sent, so the reverse
//! delay is the response time. Each number is answered once. The time that the tester itself took is recorded, and judged like a sender's stall.

use super::receiver::{MOST_AT_A_LOOK, Receiver};
use super::sender::Writer;
use super::stream::Stream;
use crate::bitmap::Bitmap;
use crate::pacing::sending::GIVE_UP_LATENESS_NS;
use sixbench_io::clock::Clock;
use sixbench_io::{BATCH, PortError, Transmit};
use sixbench_method::trial::Sending;
use sixbench_wire::template::StampedTime;
use std::collections::VecDeque;

/// Requests that may wait for their replies to be sent. If there is no room for those of one more poll, the port is not polled: the requests then
/// wait in its ring, and overruns there count as the tester's.
const MOST_WAITING: usize = 16 * MOST_AT_A_LOOK;

/// Receives requests and sends replies.
pub(crate) struct Responder<'a> {
    pub(crate) receiver: Receiver<'a>,
    replies: Replies<'a>,
    /// The time at which the port was last polled, in nanoseconds.
    looked_ns: u64,
}

/// A request that was received.
#[derive(Clone, Copy)]
struct PendingRequest {
    sequence: u64,
    /// The time at which it left the tester, in nanoseconds.
    time_ns: u64,
    /// The time of the last poll before it was seen, before which it cannot have arrived.
    since_ns: u64,
}

/// The replies to be sent, and the counts of those that were sent.
struct Replies<'a> {
    port: &'a mut dyn Transmit,
    stream: Stream,
    writer: Writer,
    /// Requests that are not answered yet, in a queue of constant capacity.
    waiting: VecDeque<PendingRequest>,
    /// The numbers of the replies that left.
    sent: Bitmap,
    counts: ResponderCounts,
    stall_ns: u64,
    gave_up: bool,
    is_flushed: bool,
}

#[derive(Default)]
struct ResponderCounts {
    due: u64,
    sent: u64,
    refused: u64,
    /// The times at which the first and the last reply left, in nanoseconds.
    first_ns: u64,
    last_ns: u64,
    /// The longest time from the poll before a request was seen to the sending of its reply, in nanoseconds.
    worst_ns: u64,
    late: u64,
}

impl<'a> Responder<'a> {
    /// Returns a responder that answers the requests of `receiver` with frames of `stream`, of which there are at most `frames`. A reply more
    /// than `stall_ns` behind its request counts as late.
    pub(crate) fn new(
        receiver: Receiver<'a>,
        port: &'a mut dyn Transmit,
        stream: Stream,
        frames: u64,
        stall_ns: u64,
    ) -> Self {
        let replies = Replies {
            writer: Writer::new(&stream, port.slots()),
            port,
            stream,
            waiting: VecDeque::with_capacity(MOST_WAITING),
            sent: Bitmap::new(frames),
            counts: ResponderCounts::default(),
            stall_ns,
            gave_up: false,
            is_flushed: false,
        };
        Self {
            receiver,
            replies,
            looked_ns: 0,
        }
    }

    /// Sets the time at which the first request is due.
    pub(crate) fn begin(&mut self, start_ns: u64) {
        self.receiver.begin(start_ns);
        self.looked_ns = start_ns;
    }

    /// Receives and answers the requests that have arrived; `is_sending` is true while requests are still being sent.
    #[inline]
    pub(crate) fn poll(&mut self, clock: &Clock, is_sending: bool) -> Result<(), PortError> {
        let replies = &mut self.replies;
        if replies.waiting.len() + MOST_AT_A_LOOK <= MOST_WAITING {
            let (since_ns, now_ns) = (self.looked_ns, clock.now_ns());
            self.looked_ns = now_ns.max(since_ns);
            self.receiver.poll_each(clock, is_sending, &mut |tag| {
                replies.take(PendingRequest {
                    sequence: tag.sequence,
                    time_ns: tag.time_ns,
                    since_ns,
                });
            })?;
        }
        replies.send(clock)
    }

    /// Returns whether every reply that will be sent has left, once no more requests arrive.
    #[inline]
    pub(crate) fn has_answered_all(&mut self, now_ns: u64) -> Result<bool, PortError> {
        let replies = &mut self.replies;
        if !replies.is_flushed && replies.waiting.is_empty() {
            let flushed = replies.port.flush()?;
            replies.counts.refused += flushed.refused as u64;
            // A port that keeps holding the last replies is given up, like that of a sender.
            replies.is_flushed = flushed.is_empty
                || now_ns.saturating_sub(replies.counts.last_ns) > GIVE_UP_LATENESS_NS;
        }
        Ok(replies.is_flushed)
    }

    /// Returns the number of replies that have left so far.
    pub(crate) fn sent(&self) -> u64 {
        self.replies.counts.sent
    }

    /// Returns the time at which the last of them left, in nanoseconds; 0 if there is none.
    pub(crate) fn last_sent_ns(&self) -> u64 {
        self.replies.counts.last_ns
    }

    /// Returns the receiver of the requests, and the replies that were sent.
    pub(crate) fn finish(self) -> (Receiver<'a>, SentReplies) {
        let ResponderCounts {
            due,
            sent,
            refused,
            first_ns,
            last_ns,
            worst_ns,
            late,
        } = self.replies.counts;
        // Replies have no schedule of their own: each is judged by how soon it follows its request.
        let took_ns = last_ns.saturating_sub(first_ns);
        let sending = Sending {
            nominal_ns: took_ns,
            took_ns,
            worst_lateness_ns: worst_ns,
            late_frames: late,
        };
        (
            self.receiver,
            SentReplies {
                due,
                sent,
                refused,
                sending,
                numbers: self.replies.sent,
            },
        )
    }
}

/// The replies of a responder.
pub(crate) struct SentReplies {
    /// Requests that were received.
    pub(crate) due: u64,
    /// Replies that left.
    pub(crate) sent: u64,
    /// Replies for which the DUT had no room.
    pub(crate) refused: u64,
    /// Their timing relative to the requests.
    pub(crate) sending: Sending,
    /// The numbers of the replies that left.
    pub(crate) numbers: Bitmap,
}

impl Replies<'_> {
    #[inline]
    fn take(&mut self, request: PendingRequest) {
        self.counts.due += 1;
        if !self.gave_up {
            self.waiting.push_back(request);
        }
    }

    /// Sends waiting replies, batch by batch, as long as the port takes whole batches.
    #[inline]
    fn send(&mut self, clock: &Clock) -> Result<(), PortError> {
        while let Some(oldest) = self.waiting.front() {
            let now_ns = clock.now_ns();
            if now_ns.saturating_sub(oldest.since_ns) > GIVE_UP_LATENESS_NS {
                self.give_up();
                return Ok(());
            }
            let wanted = self.waiting.len().min(BATCH);
            let mut requests = self
                .waiting
                .iter()
                .map(|request| (request.sequence, StampedTime::new(request.time_ns)));
            let next = || {
                requests
                    .next()
                    .expect("a port takes no more than is wanted")
            };
            let sent = self
                .writer
                .transmit(&self.stream, next, wanted, self.port)?;
            self.note(sent.taken, now_ns);
            self.counts.refused += sent.refused as u64;
            if sent.taken < wanted {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Notes that the oldest `count` requests were answered.
    #[inline]
    fn note(&mut self, count: usize, now_ns: u64) {
        for request in self.waiting.drain(..count) {
            let after_ns = now_ns.saturating_sub(request.since_ns);
            self.counts.worst_ns = self.counts.worst_ns.max(after_ns);
            self.counts.late += u64::from(after_ns > self.stall_ns);
            self.sent.set(request.sequence);
        }
        if count > 0 {
            self.counts.first_ns = if self.counts.sent == 0 {
                now_ns
            } else {
                self.counts.first_ns
            };
            self.counts.last_ns = now_ns;
            self.counts.sent += count as u64;
        }
    }

    /// Stops sending, because the responder is too far behind and the trial is invalid anyway.
    #[cold]
    fn give_up(&mut self) {
        self.gave_up = true;
        self.counts.worst_ns = self.counts.worst_ns.max(GIVE_UP_LATENESS_NS);
        self.waiting.clear();
    }
}
