//! The numbers of the frames of a direction that left the tester.

use super::broadcast::BroadcastOrder;
use super::size_order::SizeOrder;
use crate::bitmap::Bitmap;
use serde::{Deserialize, Serialize};
use sixbench_method::trial::{DirectionResult, SizeCounts};

/// The frames of a direction that one machine sent to receivers on another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SentShare {
    /// The counts of sending; all others are zero.
    pub(crate) counted: DirectionResult,
    /// The number of frames that each of the sender's queues sent.
    pub(crate) by_queue: Vec<u64>,
}

/// The numbers of the frames that were sent.
pub(crate) enum SentNumbers {
    /// The number of frames that each queue has sent, where queues take turns: queue q of n sends q, q + n, q + 2 n and so on.
    InTurn(Vec<u64>),
    /// The numbers in this bitmap.
    Each(Bitmap),
    /// Those of others but for the broadcast frames.
    WithoutBroadcasts(Box<Self>, BroadcastOrder),
}

impl SentNumbers {
    /// Returns the same numbers without those of broadcast frames, if there are any.
    pub(crate) fn without_broadcasts(self, order: Option<BroadcastOrder>) -> Self {
        match order {
            Some(order) => Self::WithoutBroadcasts(Box::new(self), order),
            None => self,
        }
    }

    /// Returns whether no frame was sent between two of the frames that were.
    pub(crate) fn follows(&self, earlier: u64, later: u64) -> bool {
        !(earlier + 1..later).any(|number| self.has(number))
    }

    /// Returns whether a frame with this number was sent; it is below the highest number that was.
    fn has(&self, number: u64) -> bool {
        match self {
            Self::Each(sent) => sent.has(number),
            Self::InTurn(counts) => is_in_turn(counts, number),
            Self::WithoutBroadcasts(all, order) => !order.has(number) && all.has(number),
        }
    }

    /// Counts these frames as offered, each under its size.
    pub(crate) fn count_sizes(&self, order: &SizeOrder, counts: &mut [SizeCounts]) {
        match self {
            Self::Each(sent) => (0..=sent.highest().unwrap_or(0))
                .filter(|number| sent.has(*number))
                .for_each(|number| order.count_offered(counts, number, 1, 1)),
            Self::InTurn(by_queue) => {
                for (queue, number) in (0..).zip(by_queue) {
                    order.count_offered(counts, queue, by_queue.len() as u64, *number);
                }
            }
            // A trial with broadcast frames has no mix of sizes.
            Self::WithoutBroadcasts(..) => {}
        }
    }

    /// Returns the numbers of the frames that were sent but not seen, ascending.
    pub(crate) fn missing<'a>(&'a self, seen: &'a Bitmap) -> Box<dyn Iterator<Item = u64> + 'a> {
        match self {
            Self::Each(sent) => Box::new(sent.without(seen)),
            Self::InTurn(counts) => {
                let queues = counts.len().max(1) as u64;
                let longest = counts.iter().max().copied().unwrap_or(0);
                let unseen = seen.clear_bits(longest * queues);
                Box::new(unseen.filter(|number| is_in_turn(counts, *number)))
            }
            Self::WithoutBroadcasts(all, order) => {
                Box::new(all.missing(seen).filter(|number| !order.has(*number)))
            }
        }
    }
}

/// Returns whether the queue whose turn it is with this number has sent it; `counts` are the frames that each queue has sent.
fn is_in_turn(counts: &[u64], number: u64) -> bool {
    let queues = counts.len().max(1) as u64;
    counts
        .get((number % queues) as usize)
        .is_some_and(|sent| number / queues < *sent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_queue_did_not_come_to_is_not_missing() {
        let mut seen = Bitmap::new(100);
        for number in [0, 2, 3] {
            assert!(seen.set(number));
        }
        let missing = |counts: &[u64]| {
            SentNumbers::InTurn(counts.to_vec())
                .missing(&seen)
                .collect::<Vec<_>>()
        };
        assert_eq!(missing(&[6]), [1, 4, 5]);
        // Queue 0 has sent 0, 2, 4, 6, and queue 1 only 1.
        assert_eq!(missing(&[4, 1]), [1, 4, 6]);
        assert_eq!(missing(&[0, 0]), [0; 0]);
    }
}
