//! Combines the counts of several receivers of one direction as if one had seen all frames.

use super::{Example, FrameTally, ReceiverCounts, WrongFields};
use crate::bitmap::Bitmap;

/// The numbers of queues of a direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QueueCounts {
    /// Queues that send it, in turn.
    pub(crate) sending: usize,
    /// Queues on which it arrives.
    pub(crate) receiving: usize,
}

impl QueueCounts {
    /// One sending and one receiving queue.
    pub(crate) const SINGLE: Self = Self {
        sending: 1,
        receiving: 1,
    };
}

/// The possible faults of one of the tester's frames, least severe first. For two copies of a frame on different queues, the order of arrival is
/// unknown: the better one counts, and the other is a duplicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum FrameFault {
    Defective,
    Late,
    Mistranslated,
    Corrupt,
}

/// The frames with a fault, by number, in a bitmap for each fault. The system never allocates parts of them in which there is no fault.
pub(super) struct FaultyFrames([Bitmap; 4]);

const FAULTS: [FrameFault; 4] = [
    FrameFault::Defective,
    FrameFault::Late,
    FrameFault::Mistranslated,
    FrameFault::Corrupt,
];

impl FaultyFrames {
    /// Returns bitmaps for frames with numbers below `frames`.
    pub(super) fn new(frames: u64) -> Self {
        Self([(); 4].map(|()| Bitmap::new(frames)))
    }

    pub(super) fn bitmap_mut(&mut self, fault: FrameFault) -> &mut Bitmap {
        &mut self.0[fault as usize]
    }

    /// Returns the worst fault of a frame that was seen; `None` if it was right.
    fn worst(&self, number: u64) -> Option<FrameFault> {
        FAULTS
            .into_iter()
            .rev()
            .find(|fault| self.0[*fault as usize].has(number))
    }

    /// Adds the faults of frames that other receivers saw.
    fn unite(&mut self, others: &Self) {
        for (own, others) in self.0.iter_mut().zip(&others.0) {
            own.unite(others);
        }
    }

    /// Returns the highest number of a frame that does not count as received.
    fn last_not_received(&self) -> Option<u64> {
        FAULTS
            .into_iter()
            .filter(|fault| fault.is_not_received())
            .filter_map(|fault| self.0[fault as usize].highest())
            .max()
    }
}

impl FrameFault {
    /// Returns whether a frame with this fault does not count as received.
    fn is_not_received(self) -> bool {
        self != Self::Defective
    }
}

impl FrameTally {
    /// Adds the counts of another receiver of the same direction. Each receiver judges order by itself; for a frame that arrived on two queues,
    /// the delays of both copies are kept.
    pub(crate) fn add(&mut self, mut other: Self) {
        // There may be as many frames that both have seen as the trial has, so they are not collected.
        let mut seen = std::mem::replace(&mut self.seen, Bitmap::new(0));
        self.counts.add(&other.counts);
        self.counts.reordered += other.reordered();
        self.extents.add(&other.all_extents());
        self.duplicate_distances.add(&other.duplicate_distances);
        self.bins
            .iter_mut()
            .zip(&other.bins)
            .for_each(|(own, other)| *own += other);
        for (own, other) in self.sizes.iter_mut().zip(&other.sizes) {
            own.not_received += other.not_received;
        }
        self.adopt_examples(&other.examples, &other.kept);
        if let (Some(mut own), Some(mut others)) = (self.faulty.take(), other.faulty.take()) {
            self.wrong_fields.sort();
            other.wrong_fields.sort();
            for number in seen.common(&other.seen) {
                self.settle_copies(number, &mut own, &mut others, &mut other.wrong_fields);
            }
            own.unite(&others);
            self.last_missing = own.last_not_received();
            self.examples
                .retain(|example| own.worst(example.tag.sequence).is_some());
            self.faulty = Some(own);
        }
        seen.unite(&other.seen);
        self.seen = seen;
        self.wrong_fields.add(&other.wrong_fields);
        self.silence = in_both(
            (self.silence, self.last_arrival_ns),
            (other.silence, other.last_arrival_ns),
        );
        self.last_arrival_ns = self.last_arrival_ns.max(other.last_arrival_ns);
        self.expected.delays.add(&other.expected.delays);
    }

    /// Counts the worse of two copies of a frame as a duplicate.
    fn settle_copies(
        &mut self,
        number: u64,
        own: &mut FaultyFrames,
        others: &mut FaultyFrames,
        others_fields: &mut WrongFields,
    ) {
        let (worse, fields) = if others.worst(number) >= own.worst(number) {
            (others, others_fields)
        } else {
            (own, &mut self.wrong_fields)
        };
        if worse.worst(number) >= Some(FrameFault::Mistranslated) {
            fields.take_back(number);
        }
        let mut was_received = true;
        for fault in FAULTS {
            if !worse.0[fault as usize].has(number) {
                continue;
            }
            worse.bitmap_mut(fault).clear(number);
            *self.counts.count_mut(fault) -= 1;
            if fault.is_not_received() {
                was_received = false;
                let bin = self.bin_of(number);
                self.bins[bin] -= 1;
                if let Some(counts) = self.counts_of_size(number) {
                    counts.not_received -= 1;
                }
            }
        }
        self.counts.received -= u64::from(was_received);
        self.counts.distinct -= 1;
        self.counts.duplicate += 1;
    }

    fn adopt_examples(&mut self, examples: &[Example], kept: &[u8]) {
        for example in examples {
            self.keep(
                &kept[example.octets.clone()],
                example.tag,
                example.mismatch,
                example.arrived_ns,
            );
        }
    }
}

impl ReceiverCounts {
    fn count_mut(&mut self, fault: FrameFault) -> &mut u64 {
        match fault {
            FrameFault::Defective => &mut self.defective,
            FrameFault::Late => &mut self.late,
            FrameFault::Mistranslated => &mut self.mistranslated,
            FrameFault::Corrupt => &mut self.corrupt,
        }
    }

    fn add(&mut self, other: &Self) {
        self.distinct += other.distinct;
        self.received += other.received;
        self.late += other.late;
        self.mistranslated += other.mistranslated;
        self.corrupt += other.corrupt;
        self.duplicate += other.duplicate;
        self.reordered += other.reordered;
        self.foreign += other.foreign;
        self.broadcast += other.broadcast;
        self.icmp += other.icmp;
        self.fragments += other.fragments;
        self.misdirected += other.misdirected;
        self.defective += other.defective;
        self.before_sent += other.before_sent;
        self.before_sent_ns = self.before_sent_ns.max(other.before_sent_ns);
    }
}

/// A time without arrivals, and the last arrival, in nanoseconds; the last arrival is 0 if there was none.
type Quiet = ((u64, u64), u64);

/// Returns the time in which neither of two queues received anything: the overlap of their longest silences. Without overlap nothing is known.
fn in_both((one, one_last_ns): Quiet, (other, other_last_ns): Quiet) -> (u64, u64) {
    match (one_last_ns, other_last_ns) {
        (0, _) => other,
        (_, 0) => one,
        _ => {
            let (from_ns, to_ns) = (one.0.max(other.0), one.1.min(other.1));
            if from_ns < to_ns {
                (from_ns, to_ns)
            } else {
                (0, 0)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_silence_of_two_queues_is_what_they_have_in_common() {
        assert_eq!(in_both(((10, 50), 90), ((20, 60), 80)), (20, 50));
        assert_eq!(
            in_both(((10, 20), 90), ((20, 60), 80)),
            (0, 0),
            "nothing in common"
        );
        assert_eq!(
            in_both(((10, 20), 90), ((0, 0), 0)),
            (10, 20),
            "a queue on which nothing came says nothing"
        );
        assert_eq!(in_both(((0, 0), 0), ((20, 60), 80)), (20, 60));
    }
}
