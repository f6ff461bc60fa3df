//! Queries in flight: the time at which each was sent and its outcome, in a ring, until its time is over. Memory depends on the rate and the
//! waiting time, not on the length of the trial.

use super::judge::AnswerClass;

/// The state of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QueryState {
    /// The time at which it was sent, in nanoseconds.
    pub(crate) sent_ns: u64,
    pub(crate) answer: Option<QueryAnswer>,
}

/// The first answer to a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QueryAnswer {
    /// The time from sending to the answer, in nanoseconds; negative if the answer came before the query was sent, which is a fault of the tester.
    pub(crate) delay_ns: i64,
    /// The verdict on it.
    pub(crate) class: AnswerClass,
    /// True if it came after the timeout.
    pub(crate) is_late: bool,
}

/// Octets of an entry of the ring.
pub(super) const ENTRY_OCTETS: u64 = size_of::<QueryState>() as u64;

/// The ring.
pub(crate) struct Flight {
    entries: Box<[QueryState]>,
    /// The oldest query that is not over yet.
    oldest: u64,
    /// The next query to be sent.
    next: u64,
    /// The number of queries in flight that are not answered.
    open: u64,
}

impl Flight {
    /// Creates a ring with room for `queries` in flight at once.
    pub(crate) fn new(queries: u64) -> Self {
        let empty = QueryState {
            sent_ns: 0,
            answer: None,
        };
        Self {
            entries: vec![empty; queries.max(64).next_power_of_two() as usize].into(),
            oldest: 0,
            next: 0,
            open: 0,
        }
    }

    #[inline]
    fn slot(&self, sequence: u64) -> usize {
        sequence as usize & (self.entries.len() - 1)
    }

    /// Returns how many more queries may be sent.
    #[inline]
    pub(crate) fn room(&self) -> usize {
        self.entries.len() - (self.next - self.oldest) as usize
    }

    /// Adds the next `count` queries as sent; there is room for them.
    #[inline]
    pub(crate) fn launch(&mut self, count: usize, sent_ns: u64) {
        debug_assert!(count <= self.room());
        for sequence in self.next..self.next + count as u64 {
            let slot = self.slot(sequence);
            self.entries[slot] = QueryState {
                sent_ns,
                answer: None,
            };
        }
        self.next += count as u64;
        self.open += count as u64;
    }

    /// Returns the last query sent whose number ends with these 32 bits.
    #[inline]
    pub(crate) fn number(&self, low: u32) -> Option<u64> {
        // The distance from the last query.
        let before = (self.next as u32).wrapping_sub(1).wrapping_sub(low);
        self.next.checked_sub(1)?.checked_sub(before.into())
    }

    /// Returns the state of a query; `None` if it is not in flight.
    #[inline]
    pub(crate) fn get(&self, sequence: u64) -> Option<&QueryState> {
        (self.oldest..self.next)
            .contains(&sequence)
            .then(|| &self.entries[self.slot(sequence)])
    }

    /// Records the first answer to a query in flight: the caller has seen with [`Self::get`] that there was none yet.
    #[inline]
    pub(crate) fn answer(&mut self, sequence: u64, answer: QueryAnswer) {
        let slot = self.slot(sequence);
        self.entries[slot].answer = Some(answer);
        self.open -= 1;
    }

    /// Returns whether all queries in flight are answered.
    #[inline]
    pub(crate) fn is_settled(&self) -> bool {
        self.open == 0
    }

    /// Returns the number of queries sent, which is also the next query to be sent.
    #[inline]
    pub(crate) fn sent(&self) -> u64 {
        self.next
    }

    /// Removes the oldest query if it was sent before `sent_before_ns`.
    #[inline]
    pub(crate) fn retire(&mut self, sent_before_ns: u64) -> Option<(u64, QueryState)> {
        let sequence = self.oldest;
        let entry = *self.get(sequence)?;
        if entry.sent_ns >= sent_before_ns {
            return None;
        }
        self.open -= u64::from(entry.answer.is_none());
        self.oldest += 1;
        Some((sequence, entry))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_over_when_its_time_is_and_in_order() {
        let mut flight = Flight::new(64);
        flight.launch(2, 10);
        flight.launch(1, 20);
        let right = QueryAnswer {
            delay_ns: 5,
            class: AnswerClass::Right,
            is_late: false,
        };
        flight.answer(1, right);
        assert!(!flight.is_settled());
        assert_eq!(flight.retire(10), None);
        assert_eq!(
            flight.retire(20),
            Some((
                0,
                QueryState {
                    sent_ns: 10,
                    answer: None
                }
            ))
        );
        assert_eq!(
            flight.retire(20),
            Some((
                1,
                QueryState {
                    sent_ns: 10,
                    answer: Some(right)
                }
            ))
        );
        assert_eq!(flight.retire(20), None);
        assert_eq!(
            (
                flight.get(1),
                flight.get(2).map(|e| e.sent_ns),
                flight.get(3)
            ),
            (None, Some(20), None)
        );
        flight.answer(
            2,
            QueryAnswer {
                class: AnswerClass::Empty,
                ..right
            },
        );
        assert!(flight.is_settled());
    }

    #[test]
    fn numbers_are_told_by_their_last_32_bits() {
        let mut flight = Flight::new(64);
        assert_eq!((flight.number(0), flight.number(u32::MAX)), (None, None));
        flight.launch(2, 1);
        assert_eq!(
            (
                flight.number(0),
                flight.number(1),
                flight.number(2),
                flight.number(u32::MAX)
            ),
            (Some(0), Some(1), None, None)
        );
        let round = 1 << 32;
        (flight.oldest, flight.next) = (round - 1, round + 2);
        assert_eq!(
            (flight.number(1), flight.number(0), flight.number(u32::MAX)),
            (Some(round + 1), Some(round), Some(round - 1))
        );
        assert_eq!(flight.number(2), Some(2), "long over");
        assert_eq!(flight.get(2), None);
    }

    #[test]
    fn the_ring_takes_no_more_than_it_holds() {
        let mut flight = Flight::new(64);
        flight.launch(64, 1);
        assert_eq!(flight.room(), 0);
        flight.retire(2);
        assert_eq!(flight.room(), 1);
    }
}
