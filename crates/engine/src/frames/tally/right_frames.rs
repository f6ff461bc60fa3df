//! Right frames that arrive in their turn with one time of sending and one arrival, which are counted together. At rates at which the cost of a frame
//! matters, frames leave and arrive in batches, so most belong to such a run.

use crate::delay::arrival::Arrival;
use sixbench_wire::tag::Tag;

/// The most frames of a run: as many as the bits of a word, so that a run is marked as seen in two words at most.
const MOST: u64 = 64;

/// Frames of one stream with consecutive numbers that have been verified and not yet counted.
#[derive(Clone, Copy)]
pub(super) struct RightFrames {
    /// The first frame, and the arrival of all.
    first: Tag,
    arrival: Arrival,
    /// The number of the frame that would continue it, and the number before which it ends.
    next: u64,
    end: u64,
}

impl RightFrames {
    /// The run without frames, which no frame continues.
    pub(super) const EMPTY: Self = Self {
        first: Tag {
            stream: 0,
            sequence: 0,
            time_ns: 0,
        },
        arrival: Arrival {
            since_ns: 0,
            by_ns: 0,
        },
        next: 0,
        end: 0,
    };

    /// Returns a run that begins with this frame. `is_due` says whether a frame, by its number, was due when all frames of the run were sent.
    #[inline]
    pub(super) fn begin(first: Tag, arrival: Arrival, is_due: impl Fn(u64) -> bool) -> Self {
        let mut frames = MOST;
        // Due times ascend: a run in which the last frame was due has none that was sent before it was due.
        while frames > 1 && !is_due(first.sequence + frames - 1) {
            frames /= 2;
        }
        Self {
            first,
            arrival,
            next: first.sequence + 1,
            end: first.sequence + frames,
        }
    }

    /// Adds a right frame if it continues the run; returns whether it does.
    #[inline(always)]
    pub(super) fn take(&mut self, tag: Tag, arrival: Arrival) -> bool {
        let continues = tag.sequence == self.next
            && self.next < self.end
            && tag.time_ns == self.first.time_ns
            && tag.stream == self.first.stream
            && arrival == self.arrival;
        self.next += u64::from(continues);
        continues
    }

    /// Returns the number of frames.
    #[inline]
    pub(super) fn len(&self) -> u64 {
        self.next - self.first.sequence
    }

    /// Returns the first frame.
    #[inline]
    pub(super) fn first(&self) -> Tag {
        self.first
    }

    /// Returns the arrival of all frames.
    #[inline]
    pub(super) fn arrival(&self) -> Arrival {
        self.arrival
    }

    /// Returns each frame.
    pub(super) fn tags(self) -> impl Iterator<Item = Tag> {
        (self.first.sequence..self.next).map(move |sequence| Tag {
            sequence,
            ..self.first
        })
    }
}
