//! The Responder's state table (RFC 9693), with the source to which the DUT translated each connection's. It takes eight octets per connection
//! for either IP version, because a translated source differs from the pool's own address in only 16 bits.

use sixbench_method::plan::ValueOrder;
use std::sync::atomic::{AtomicU64, Ordering};

/// A translated source: the variable 16 bits of its address, and its port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Mapped {
    /// The last 16 bits of the address.
    pub(crate) part: u16,
    pub(crate) port: u16,
}

/// A ring of the last M connections that were opened. It is written in phase 1 by the receivers, and read in phase 2 by several threads.
#[derive(Debug)]
pub(crate) struct StateTable {
    /// For connection c at c modulo M: the round of the ring (from 1; 0 for an empty entry), then the source.
    entries: Box<[AtomicU64]>,
    /// N, the number of connections.
    connections: u64,
}

impl StateTable {
    /// Creates a table with room for `entries` of `connections` connections; both are at least 1.
    pub(crate) fn new(entries: u64, connections: u64) -> Self {
        let entries = entries.clamp(1, connections.max(1));
        Self {
            entries: (0..entries).map(|_| AtomicU64::new(0)).collect(),
            connections: connections.max(1),
        }
    }

    /// Returns M, the number of entries.
    pub(crate) fn len(&self) -> u64 {
        self.entries.len() as u64
    }

    /// Returns the octets of the table.
    pub(crate) fn octets(&self) -> u64 {
        self.len() * 8
    }

    /// Stores the source of a connection, unless a later one already has its place.
    #[inline]
    pub(crate) fn learn(&self, connection: u64, source: Mapped) {
        let (round, slot) = self.place_of(connection);
        let Some(entry) = self.entries.get(slot) else {
            return;
        };
        let learnt = round << 32 | u64::from(source.part) << 16 | u64::from(source.port);
        // Each queue has a receiver: one that sees an earlier connection must not undo what another has learnt meanwhile.
        let _ = entry.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |held| {
            (held >> 32 <= round).then_some(learnt)
        });
    }

    /// Returns the source of a connection; `None` if it was not seen, or has lost its place.
    #[inline]
    pub(crate) fn get(&self, connection: u64) -> Option<Mapped> {
        let (round, slot) = self.place_of(connection);
        let entry = self.entries.get(slot)?.load(Ordering::Relaxed);
        (entry >> 32 == round).then_some(Mapped {
            part: (entry >> 16) as u16,
            port: entry as u16,
        })
    }

    /// Returns the connection's round of the ring, from 1, and its place there. There is usually room for all, which saves a division.
    #[inline]
    fn place_of(&self, connection: u64) -> (u64, usize) {
        if connection < self.len() {
            (1, connection as usize)
        } else {
            (
                connection / self.len() + 1,
                (connection % self.len()) as usize,
            )
        }
    }

    /// Returns the connection at a place of the ring after all were opened: the last one of those that share it.
    #[inline]
    pub(crate) fn connection_at(&self, place: u64) -> u64 {
        if self.len() == self.connections {
            return place;
        }
        place + (self.connections - 1 - place) / self.len() * self.len()
    }

    /// Returns the place of the ring to read for frame `index`, which is given 64 uniform bits.
    #[inline]
    pub(crate) fn place(&self, order: ValueOrder, index: u64, random: u64) -> u64 {
        place(self.len(), order, index, random)
    }

    /// Returns every stored connection with its source.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, Mapped)> + '_ {
        (0..self.len())
            .map(|place| self.connection_at(place))
            .filter_map(|connection| Some((connection, self.get(connection)?)))
    }
}

/// Returns one of `count` places, in turn or drawn with 64 uniform bits.
#[inline]
pub(crate) fn place(count: u64, order: ValueOrder, index: u64, random: u64) -> u64 {
    match order {
        ValueOrder::Fixed => 0,
        ValueOrder::Increasing => index % count,
        ValueOrder::Decreasing => count - 1 - index % count,
        ValueOrder::Pseudorandom => ((u128::from(random) * u128::from(count)) >> 64) as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(port: u16) -> Mapped {
        Mapped { part: 7, port }
    }

    #[test]
    fn what_was_learned_is_found_again_and_nothing_else() {
        let table = StateTable::new(10, 10);
        table.learn(3, source(99));
        assert_eq!(table.get(3), Some(source(99)));
        assert_eq!(table.get(4), None);
        assert_eq!(table.iter().collect::<Vec<_>>(), [(3, source(99))]);
    }

    #[test]
    fn a_ring_keeps_the_last_connections() {
        let table = StateTable::new(4, 10);
        (0..10).for_each(|connection| table.learn(connection, source(connection as u16)));
        // A straggler of an earlier round must not replace a later connection.
        table.learn(2, source(1000));
        let kept: Vec<u64> = table.iter().map(|(connection, _)| connection).collect();
        assert_eq!(kept, [8, 9, 6, 7]);
        assert_eq!((table.get(2), table.get(6)), (None, Some(source(6))));
    }

    #[test]
    fn receivers_that_learn_at_the_same_time_keep_the_last_connections() {
        let (table, connections) = (StateTable::new(2, 100_000), 100_000);
        std::thread::scope(|scope| {
            for receiver in 0..2 {
                let table = &table;
                scope.spawn(move || {
                    (receiver..connections)
                        .step_by(2)
                        .for_each(|c| table.learn(c ^ 2, source(c as u16)));
                });
            }
        });
        assert_eq!(
            table
                .iter()
                .map(|(connection, _)| connection)
                .collect::<Vec<_>>(),
            [99_998, 99_999]
        );
    }

    #[test]
    fn a_table_is_no_larger_than_the_connections_there_are() {
        assert_eq!(StateTable::new(100, 7).len(), 7);
        assert_eq!(StateTable::new(0, 0).len(), 1);
    }

    #[test]
    fn places_are_read_in_the_order_asked_for() {
        let table = StateTable::new(3, 3);
        let read = |order| {
            (0..4)
                .map(|index| table.place(order, index, u64::MAX))
                .collect::<Vec<_>>()
        };
        assert_eq!(read(ValueOrder::Fixed), [0, 0, 0, 0]);
        assert_eq!(read(ValueOrder::Increasing), [0, 1, 2, 0]);
        assert_eq!(read(ValueOrder::Decreasing), [2, 1, 0, 2]);
        assert_eq!(read(ValueOrder::Pseudorandom), [2, 2, 2, 2]);
    }
}
