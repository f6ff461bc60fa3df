//! The receiver of one port: judges every frame, counts by sequence number, answers neighbours.

use crate::bitmap::Bitmap;
use crate::neighbour::NeighbourAnswerer;
use crate::stall::Gaps;
use crate::tally::{ExpectedFrames, FrameTally};
use crate::verify::FrameClass;
use sixbench_io::clock::Clock;
use sixbench_io::{BATCH, PortError, Receive};
use sixbench_method::trial::{DirectionResult, Receiving};
use sixbench_wire::tag::Tag;

/// Full batches taken in at one look: receiving is cheaper than sending, and must never be what falls behind.
const BATCHES: usize = 4;
/// Frames taken in at one look at most.
pub(crate) const MOST_AT_A_LOOK: usize = BATCHES * BATCH;
/// Time to listen on after the last frame, for duplicates, in nanoseconds.
pub(crate) const LINGER_NS: u64 = 5_000_000;

/// One port being received from. Everything it needs is allocated when it is made.
pub(crate) struct Receiver<'a> {
    port: &'a mut dyn Receive,
    answerer: NeighbourAnswerer,
    tally: FrameTally,
    gaps: Gaps,
}

impl<'a> Receiver<'a> {
    /// Ready to receive; gaps between looks count as stalls above `stall_ns`.
    pub(crate) fn new(port: &'a mut dyn Receive, answerer: NeighbourAnswerer, expected: ExpectedFrames, stall_ns: u64) -> Self {
        Self { port, answerer, tally: FrameTally::new(expected), gaps: Gaps::new(stall_ns, 0) }
    }

    /// The first frame is due at `start_ns`.
    pub(crate) fn begin(&mut self, start_ns: u64) {
        self.gaps.begin(start_ns);
        self.tally.begin(start_ns);
    }

    /// Takes in what has arrived; `is_sending` while frames are still being sent.
    #[inline]
    pub(crate) fn poll(&mut self, clock: &Clock, is_sending: bool) -> Result<(), PortError> {
        self.poll_each(clock, is_sending, &mut |_| ())
    }

    /// The same, and hands every right frame that is the first of its number to `on_first`, late or not; at most [`MOST_AT_A_LOOK`].
    #[inline]
    pub(crate) fn poll_each(
        &mut self,
        clock: &Clock,
        is_sending: bool,
        on_first: &mut impl FnMut(Tag),
    ) -> Result<(), PortError> {
        let mut now_ns = clock.now_ns();
        if is_sending {
            self.gaps.look(now_ns);
        }
        let (tally, answerer) = (&mut self.tally, &mut self.answerer);
        for _ in 0..BATCHES {
            let batch = self.port.receive(&mut |frame| {
                if tally.take(frame, now_ns, on_first) == FrameClass::Foreign && !answerer.consider(frame) {
                    tally.take_foreign(frame);
                }
            })?;
            if batch < BATCH {
                break;
            }
            now_ns = clock.now_ns();
        }
        while let Some(answer) = self.answerer.next_answer() {
            self.port.answer(&answer)?;
        }
        Ok(())
    }

    /// Returns the time at which a frame of this trial was received last, in nanoseconds; 0: none yet.
    #[inline]
    pub(crate) fn last_arrival_ns(&self) -> u64 {
        self.tally.last_arrival_ns()
    }

    /// Returns whether every frame of the schedule was seen.
    #[inline]
    pub(crate) fn has_all(&self) -> bool {
        self.tally.has_all()
    }

    /// Returns whether at least `frames` different frames were seen.
    #[inline]
    pub(crate) fn has(&self, frames: u64) -> bool {
        self.tally.distinct() >= frames
    }

    /// Addresses the DUT asked for by broadcast or multicast during the trial: it had lost them.
    pub(crate) fn lost_neighbours(&self) -> &[std::net::IpAddr] {
        self.answerer.asked_by_all()
    }

    /// The stalled time of the loop, nanoseconds, and the longest gap.
    pub(crate) fn gaps(&self) -> Gaps {
        self.gaps
    }

    /// Writes what was counted into `result`, whose `offered` is already known. `sent` are the numbers of the frames that were sent, where
    /// they are not all from the first on.
    pub(crate) fn finish(self, result: &mut DirectionResult, sent: Option<&Bitmap>) -> Result<(), PortError> {
        let overruns = self.port.overruns()?;
        result.receiving = Receiving { worst_gap_ns: self.gaps.worst_ns, overruns };
        self.tally.finish(result, sent);
        Ok(())
    }
}
