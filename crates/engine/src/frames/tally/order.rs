//! The order in which frames arrive, by RFC 4737: which of them are reordered, and by how many frames.
//!
//! A frame is reordered if its number is below the next expected one, which is the highest so far plus one (section 3.3). Its extent is the number of
//! frames from the earliest arrival with a higher number (section 4.2.3). That arrival is a sequence discontinuity (section 3.4): the reordered frame is
//! one of those that it skipped. So only discontinuities need to be stored, and a frame that arrives in its turn costs one comparison.

use super::lengths::LengthRecorder;

/// The discontinuities that are stored of all queues that send a direction.
const STORED: usize = 1024;
/// The least of them for each queue.
const LEAST_STORED: usize = 64;

/// The order in which the frames of one kind from one sending queue arrive at a receiver. Its size is a power of two, so that no multiplication finds it.
#[repr(align(128))]
pub(super) struct ArrivalOrder {
    /// The next expected number.
    next: u64,
    /// The distance from one number of the queue to its next one.
    step: u64,
    /// The first number of the queue, and by how much discontinuities have skipped numbers altogether.
    first: u64,
    skipped: u64,
    /// The reordered frames.
    reordered: u64,
    extents: Box<LengthRecorder>,
    /// The most recent discontinuities, the one with index i at i modulo the length, which is a power of two.
    discontinuities: Box<[Discontinuity]>,
    discontinuity_count: u64,
}

/// A frame that arrived before others that were sent earlier.
#[derive(Clone, Copy, Default)]
struct Discontinuity {
    /// The first number that it skipped.
    skipped_from: u64,
    /// Its index among the arrivals, times the step.
    arrival: u64,
}

impl ArrivalOrder {
    /// Returns the orders of foreground and background frames from each of `queues` sending queues.
    pub(super) fn of_queues(queues: usize) -> Box<[[Self; 2]]> {
        (0..queues)
            .map(|queue| [(); 2].map(|()| Self::new(queue, queues)))
            .collect()
    }

    /// Returns the order of frames from one of `queues` sending queues, by its index, before the first has arrived.
    fn new(queue: usize, queues: usize) -> Self {
        let stored = (STORED / queues.next_power_of_two()).max(LEAST_STORED);
        Self {
            next: queue as u64,
            step: queues as u64,
            first: queue as u64,
            skipped: 0,
            reordered: 0,
            extents: Box::default(),
            discontinuities: vec![Discontinuity::default(); stored].into_boxed_slice(),
            discontinuity_count: 0,
        }
    }

    /// Takes the first frame that arrives with its number.
    #[inline(always)]
    pub(super) fn take(&mut self, number: u64) {
        if number == self.next {
            self.next = number + self.step;
        } else {
            self.take_out_of_turn(number);
        }
    }

    /// Takes `frames` frames of the queue that arrive one after another, each with the number after that of the one before.
    #[inline]
    pub(super) fn take_run(&mut self, first: u64, frames: u64) {
        let end = first + frames * self.step;
        self.take(first);
        if self.next == first + self.step {
            self.next = end;
        } else {
            // The run is reordered, or its first part.
            (1..frames).for_each(|nth| self.take(first + nth * self.step));
        }
    }

    /// Takes a frame that is not the next expected one.
    #[inline(never)]
    fn take_out_of_turn(&mut self, number: u64) {
        let arrival = self.arrived();
        if number < self.next {
            if let Some(earliest) = self.earliest_after(number) {
                self.extents.take((arrival - earliest) / self.step);
            }
            self.reordered += 1;
            return;
        }
        let index = self.ring_index(self.discontinuity_count);
        self.discontinuities[index] = Discontinuity {
            skipped_from: self.next,
            arrival,
        };
        self.discontinuity_count += 1;
        self.skipped += number - self.next;
        self.next = number + self.step;
    }

    /// Returns the number of frames that have arrived, which is the index of the next one, times the step: a division for each frame that arrives out of
    /// its turn would take longer than all else.
    fn arrived(&self) -> u64 {
        self.next - self.first - self.skipped + self.reordered * self.step
    }

    /// Returns the index of the earliest arrival with a higher number than this reordered one; `None` if that discontinuity is no longer stored.
    fn earliest_after(&self, number: u64) -> Option<u64> {
        let stored = self.discontinuities.len() as u64;
        let (mut from, mut to) = (
            self.discontinuity_count.saturating_sub(stored),
            self.discontinuity_count,
        );
        // The last one that skipped the number or a lower one; the numbers ascend.
        let first = from;
        while from < to {
            let middle = from.midpoint(to);
            if self.discontinuities[self.ring_index(middle)].skipped_from <= number {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        (from > first).then(|| self.discontinuities[self.ring_index(from - 1)].arrival)
    }

    /// Returns the index in the ring of the discontinuity with this number.
    fn ring_index(&self, index: u64) -> usize {
        index as usize & (self.discontinuities.len() - 1)
    }

    /// Returns by how many numbers the newest frame that has arrived is ahead of a duplicate.
    pub(super) fn distance(&self, number: u64) -> u64 {
        self.next.saturating_sub(self.step).saturating_sub(number)
    }

    /// Returns the number of reordered frames.
    pub(super) fn reordered(&self) -> u64 {
        self.reordered
    }

    /// Returns the extents of the reordered frames.
    pub(super) fn extents(&self) -> &LengthRecorder {
        &self.extents
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixbench_stats::SplitMix64;

    /// Returns how many frames are reordered, and their extents in the order of their arrival, by the definitions alone.
    fn by_definition(arrivals: &[u64]) -> (u64, Vec<u64>) {
        let (mut next, mut extents) = (0, Vec::new());
        for (i, &number) in arrivals.iter().enumerate() {
            if number >= next {
                next = number + 1;
                continue;
            }
            let earliest = arrivals[..i].iter().position(|earlier| *earlier > number);
            extents.extend(earliest.map(|j| (i - j) as u64));
        }
        (extents.len() as u64, extents)
    }

    fn counted(arrivals: &[u64], queue: usize, queues: usize) -> (u64, LengthRecorder) {
        let mut order = ArrivalOrder::new(queue, queues);
        for number in arrivals {
            order.take(number * queues as u64 + queue as u64);
        }
        (order.reordered(), order.extents().clone())
    }

    fn assert_same(arrivals: &[u64]) {
        let (reordered, extents) = by_definition(arrivals);
        let mut expected = LengthRecorder::default();
        for extent in extents {
            expected.take(extent);
        }
        for (queue, queues) in [(0, 1), (1, 3)] {
            let (found, recorded) = counted(arrivals, queue, queues);
            assert_eq!(found, reordered, "{arrivals:?}");
            assert_eq!(
                recorded.distribution(),
                expected.distribution(),
                "{arrivals:?}"
            );
        }
    }

    #[test]
    fn the_examples_of_rfc_4737_section_7_have_the_extents_that_it_states() {
        let extents = |sent: &[u64]| {
            let numbers: Vec<u64> = sent.iter().map(|number| number - 1).collect();
            assert_same(&numbers);
            by_definition(&numbers).1
        };
        assert_eq!(extents(&[1, 2, 3, 5, 6, 7, 8, 4, 9, 10]), [4]);
        assert_eq!(extents(&[1, 2, 3, 4, 7, 5, 6, 8, 9, 10]), [1, 2]);
    }

    #[test]
    fn extents_are_those_of_the_definition_whatever_the_order_and_whatever_is_lost() {
        let mut random = SplitMix64::new(7);
        let mut below = |end: u64| random.next_u64() % end;
        for length in [3, 5, 40, 300] {
            for _ in 0..50 {
                let mut arrivals: Vec<u64> = (0..length).filter(|_| below(5) > 0).collect();
                if arrivals.is_empty() {
                    continue;
                }
                for _ in 0..below(length) {
                    let from = below(arrivals.len() as u64) as usize;
                    let to = (from + below(9) as usize).min(arrivals.len() - 1);
                    let moved = arrivals.remove(from);
                    arrivals.insert(to, moved);
                }
                assert_same(&arrivals);
            }
        }
    }

    #[test]
    fn a_frame_that_fills_a_gap_of_long_ago_is_reordered_without_an_extent() {
        // Every second frame is missing, so each that arrives is a discontinuity.
        let mut arrivals: Vec<u64> = (0..2_100).map(|i| 2 * i + 1).collect();
        arrivals.push(0);
        arrivals.push(4_198);
        let (reordered, extents) = counted(&arrivals, 0, 1);
        let extents = extents.distribution().expect("an extent");
        assert_eq!((reordered, extents.count, extents.longest), (2, 1, 2));
    }

    #[test]
    fn a_duplicate_is_as_far_behind_as_the_newest_frame_is_ahead() {
        let mut order = ArrivalOrder::new(0, 1);
        for number in 0..10 {
            order.take(number);
        }
        assert_eq!([9, 4].map(|number| order.distance(number)), [0, 5]);
    }
}
