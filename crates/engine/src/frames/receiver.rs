//! The receiver of one port: it judges every frame, counts by sequence number, and answers neighbours.

use super::neighbour::NeighbourAnswerer;
use super::tally::{FrameTally, IcmpErrorTable};
use super::verify::FrameClass;
use crate::delay::arrival::Polls;
use crate::pacing::stall::Gaps;
use sixbench_io::clock::Clock;
use sixbench_io::{BATCH, PortError, Receive};
use sixbench_wire::tag::Tag;
use std::net::IpAddr;

/// Full batches received in one poll: receiving is cheaper than sending, and must never be what falls behind.
const BATCHES: usize = 4;
/// The most frames received in one poll.
pub(crate) const MOST_AT_A_LOOK: usize = BATCHES * BATCH;
/// The time for which to keep listening for duplicates after the last frame, in nanoseconds.
pub(crate) const LINGER_NS: u64 = 5_000_000;

/// One port being received from. Everything it needs is allocated when it is created.
pub(crate) struct Receiver<'a> {
    port: &'a mut dyn Receive,
    answerer: NeighbourAnswerer,
    tally: FrameTally,
    polls: Polls,
    gaps: Gaps,
}

impl<'a> Receiver<'a> {
    /// Returns a receiver; gaps between polls that are longer than `stall_ns` count as stalls.
    pub(crate) fn new(
        port: &'a mut dyn Receive,
        answerer: NeighbourAnswerer,
        tally: FrameTally,
        stall_ns: u64,
    ) -> Self {
        Self {
            port,
            answerer,
            tally,
            polls: Polls::default(),
            gaps: Gaps::new(stall_ns, 0),
        }
    }

    /// Sets the time at which the first frame is due.
    pub(crate) fn begin(&mut self, start_ns: u64) {
        self.gaps.begin(start_ns);
        self.tally.begin(start_ns);
        self.polls.begin(start_ns);
    }

    /// Receives the frames that have arrived; `is_sending` is true while frames are still being sent.
    #[inline]
    pub(crate) fn poll(&mut self, clock: &Clock, is_sending: bool) -> Result<(), PortError> {
        self.poll_each(clock, is_sending, &mut |_| ())
    }

    /// Does the same as [`Self::poll`], and hands the first right frame with each number to `on_first`, even if it is late; at most
    /// [`MOST_AT_A_LOOK`] frames.
    #[inline]
    pub(crate) fn poll_each(
        &mut self,
        clock: &Clock,
        is_sending: bool,
        on_first: &mut impl FnMut(Tag),
    ) -> Result<(), PortError> {
        let now_ns = clock.now_ns();
        if is_sending {
            self.gaps.look(now_ns);
        }
        let (tally, answerer) = (&mut self.tally, &mut self.answerer);
        self.polls
            .receive(&mut *self.port, now_ns, BATCHES, clock, |frame, arrival| {
                if tally.take(frame, arrival, on_first) == FrameClass::Foreign
                    && !answerer.consider(frame, arrival.by_ns)
                {
                    tally.take_foreign(frame);
                }
            })?;
        tally.end_poll(on_first);
        while let Some(answer) = self.answerer.next_answer() {
            self.port.answer(&answer)?;
        }
        Ok(())
    }

    /// Returns the time at which the last frame of this trial so far was received, in nanoseconds; 0 if there was none yet.
    #[inline]
    pub(crate) fn last_arrival_ns(&self) -> u64 {
        self.tally.last_arrival_ns()
    }

    /// Returns the number of different frames that were seen.
    #[inline]
    pub(crate) fn distinct(&self) -> u64 {
        self.tally.distinct()
    }

    /// Returns how many different frames this receiver and others of its direction have seen together.
    pub(crate) fn seen_together(&self, others: &[&Self]) -> u64 {
        let mut seen = self.tally.seen().clone();
        for other in others {
            seen.unite(other.tally.seen());
        }
        seen.count()
    }

    /// Returns the ICMP errors that arrived at the port, and leaves none.
    pub(crate) fn take_icmp_errors(&mut self) -> IcmpErrorTable {
        self.tally.take_icmp_errors()
    }

    /// Returns the counts, including the frames for which the receive ring had no room.
    pub(crate) fn finish(self) -> Result<ReceiverResult, PortError> {
        let overruns = self.port.overruns()?;
        let lost_neighbours = self.answerer.asked_by_all().to_vec();
        Ok(ReceiverResult {
            tally: self.tally,
            gaps: self.gaps,
            overruns,
            lost_neighbours,
        })
    }
}

pub(crate) struct ReceiverResult {
    pub(crate) tally: FrameTally,
    /// The stalls of its loop.
    pub(crate) gaps: Gaps,
    /// Frames for which the receive ring had no room.
    pub(crate) overruns: u64,
    /// Addresses that the DUT requested by broadcast or multicast during the trial, because it had lost them.
    pub(crate) lost_neighbours: Vec<IpAddr>,
}

impl ReceiverResult {
    /// Adds the results of another receiver of the same direction.
    pub(crate) fn add(&mut self, other: Self) {
        self.tally.add(other.tally);
        self.gaps.add(&other.gaps);
        self.overruns += other.overruns;
        let new = other
            .lost_neighbours
            .into_iter()
            .filter(|address| !self.lost_neighbours.contains(address));
        let new: Vec<_> = new.collect();
        self.lost_neighbours.extend(new);
    }
}
