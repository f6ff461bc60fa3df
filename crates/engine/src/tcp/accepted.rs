//! The connections that the server has accepted. Not all need be the trial's own: the device, or a host behind it, can open as many as it likes. So
//! there is a bound on how many are open, and where it is reached, one that has not shown a request of the trial gives way.

use super::http::{HttpRequest, RequestReader};
use super::request_key::RequestKey;
use crate::bitmap::Bitmap;
use mio::net::TcpStream;
use slab::Slab;
use std::collections::VecDeque;
use std::net::IpAddr;

/// One accepted connection.
#[derive(Debug)]
pub(super) struct AcceptedConnection {
    pub stream: TcpStream,
    /// The address it comes from.
    pub from: IpAddr,
    /// Its number among all accepted ones, which tells it from others that had its slot.
    pub number: u64,
    pub reader: RequestReader,
    /// The request being answered, and octets of the response already written.
    pub answering: Option<(HttpRequest, usize)>,
    /// True once a request of this trial has come on it.
    pub is_own: bool,
    /// The time at which it was accepted, in nanoseconds.
    pub since_ns: u64,
    pub deadline_ns: u64,
}

/// The bounds of one trial's server.
#[derive(Clone, Copy, Debug)]
pub(super) struct ServerBounds {
    /// The number of the trial.
    pub trial: u64,
    /// Connections of the trial.
    pub connections: u64,
    /// Connections of the trial that may be open at the same time.
    pub own_open: usize,
    /// Connections that may be open at the same time, with those of others.
    pub most_open: usize,
}

/// Time for which a connection may be silent before it can give way, in nanoseconds. Clients send their request at once, so that one of the trial's own is
/// silent for a round trip.
const SILENCE_NS: u64 = 100_000_000;

/// Descriptors that are left to the rest of the process where they have run out.
const SPARE: usize = 64;

/// An entry of a queue: the number of a connection and its slot. It is of the past where the slot has another connection, or none.
type Entry = (u64, usize);

/// The open connections: at most [`ServerBounds::most_open`], each with at most 4 KiB for a request that is not whole. Beside them, a bit is kept of each
/// connection of the trial, and two queues of at most twice as many entries as connections may be open.
pub(super) struct AcceptedSet {
    pub connections: Slab<AcceptedConnection>,
    bounds: ServerBounds,
    /// The connections of the trial whose first request has come.
    seen: Bitmap,
    /// In the order in which they were accepted: those that are not known to be the trial's own, and all that have a deadline.
    strangers: VecDeque<Entry>,
    deadlines: VecDeque<Entry>,
}

impl AcceptedSet {
    pub(super) fn new(bounds: ServerBounds) -> Self {
        Self {
            connections: Slab::with_capacity(bounds.most_open),
            seen: Bitmap::new(bounds.connections),
            strangers: VecDeque::new(),
            deadlines: VecDeque::new(),
            bounds,
        }
    }

    /// Returns whether no more may be open.
    pub(super) fn is_full(&self) -> bool {
        self.connections.len() >= self.bounds.most_open
    }

    /// Lowers the bound below what is open now, since descriptors have run out at that. The trial's own connections keep their places.
    pub(super) fn lower_bound(&mut self) {
        let lower = self.connections.len().saturating_sub(SPARE);
        self.bounds.most_open = self.bounds.most_open.min(lower).max(self.bounds.own_open);
    }

    /// Takes out the oldest connection that is not known to be the trial's own, while there are more of all than the bound allows.
    pub(super) fn take_surplus(&mut self) -> Option<AcceptedConnection> {
        if self.connections.len() > self.bounds.most_open {
            self.take_stranger()
        } else {
            None
        }
    }

    /// Adds a connection, which gets the slot that is vacant.
    pub(super) fn insert(&mut self, connection: AcceptedConnection) {
        let slot = self.connections.vacant_key();
        let entry = (connection.number, slot);
        let has_deadline = connection.deadline_ns != u64::MAX;
        self.connections.insert(connection);
        self.strangers.push_back(entry);
        if has_deadline {
            self.deadlines.push_back(entry);
        }
        self.forget_past();
    }

    /// Drops entries of the past where there are more of them than of open connections: at most once in as many insertions.
    fn forget_past(&mut self) {
        let most = 2 * self.bounds.most_open;
        let connections = &self.connections;
        if self.strangers.len() > most {
            self.strangers
                .retain(|&entry| is_stranger(connections, entry));
        }
        if self.deadlines.len() > most {
            self.deadlines.retain(|&entry| is_open(connections, entry));
        }
    }

    /// Returns whether this request, the first on the connection in this slot, is one of the trial that came on no other connection. Then the connection
    /// is the trial's own from now on.
    pub(super) fn claim(&mut self, slot: usize, request: HttpRequest) -> bool {
        let key = RequestKey::from_number(request.key);
        let is_own =
            key.is_of(self.bounds.trial, self.bounds.connections) && self.seen.set(key.connection);
        self.connections[slot].is_own = is_own;
        is_own
    }

    /// Returns the slot of the oldest connection that is not known to be the trial's own.
    fn oldest_stranger(&mut self) -> Option<usize> {
        while let Some(&entry) = self.strangers.front() {
            if is_stranger(&self.connections, entry) {
                return Some(entry.1);
            }
            self.strangers.pop_front();
        }
        None
    }

    /// Returns whether no more may be open, and none gives way by now: those to come have to wait.
    pub(super) fn must_wait(&mut self, now_ns: u64) -> bool {
        let is_full = self.is_full();
        is_full
            && self
                .oldest_stranger()
                .is_some_and(|slot| self.connections[slot].since_ns + SILENCE_NS > now_ns)
    }

    /// Takes out the oldest connection that is not known to be the trial's own.
    pub(super) fn take_stranger(&mut self) -> Option<AcceptedConnection> {
        let slot = self.oldest_stranger()?;
        self.strangers.pop_front();
        Some(self.connections.remove(slot))
    }

    /// Takes out the oldest connection whose deadline is not after `by_ns`.
    pub(super) fn take_expired(&mut self, by_ns: u64) -> Option<AcceptedConnection> {
        while let Some(&entry) = self.deadlines.front() {
            let is_open = is_open(&self.connections, entry);
            if is_open && self.connections[entry.1].deadline_ns > by_ns {
                return None;
            }
            self.deadlines.pop_front();
            if is_open {
                return Some(self.connections.remove(entry.1));
            }
        }
        None
    }

    /// Returns the time at which the next connection may expire, in nanoseconds.
    pub(super) fn next_deadline_ns(&self) -> u64 {
        let oldest = self.deadlines.front();
        oldest.map_or(u64::MAX, |&(_, slot)| {
            self.connections
                .get(slot)
                .map_or(0, |connection| connection.deadline_ns)
        })
    }
}

fn is_open(connections: &Slab<AcceptedConnection>, (number, slot): Entry) -> bool {
    connections
        .get(slot)
        .is_some_and(|connection| connection.number == number)
}

fn is_stranger(connections: &Slab<AcceptedConnection>, entry: Entry) -> bool {
    is_open(connections, entry) && !connections[entry.1].is_own
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    const TRIAL: u64 = 7;

    fn set() -> AcceptedSet {
        AcceptedSet::new(ServerBounds {
            trial: TRIAL,
            connections: 100,
            own_open: 2,
            most_open: 4,
        })
    }

    /// Adds a connection to `listener`, and returns its slot.
    fn add(set: &mut AcceptedSet, listener: &TcpListener, number: u64, deadline_ns: u64) -> usize {
        let stream = TcpStream::connect(listener.local_addr().expect("address")).expect("a socket");
        let from = "127.0.0.1".parse().expect("address");
        let slot = set.connections.vacant_key();
        let reader = RequestReader::default();
        set.insert(AcceptedConnection {
            stream,
            from,
            number,
            reader,
            answering: None,
            is_own: false,
            since_ns: number,
            deadline_ns,
        });
        slot
    }

    fn request(trial: u64, connection: u64) -> HttpRequest {
        HttpRequest {
            key: RequestKey {
                trial,
                connection,
                phase: 1,
            }
            .number(),
            closes: false,
        }
    }

    fn listener() -> TcpListener {
        TcpListener::bind("127.0.0.1:0").expect("a listener")
    }

    #[test]
    fn a_request_is_the_trials_own_once_and_its_connection_gives_way_to_none() {
        let (mut set, listener) = (set(), listener());
        let slots = [1, 2, 3, 4].map(|number| add(&mut set, &listener, number, u64::MAX));
        assert!(set.is_full());
        assert!(set.claim(slots[0], request(TRIAL, 5)));
        assert!(
            !set.claim(slots[1], request(TRIAL, 5)),
            "somebody says it again"
        );
        assert!(
            !set.claim(slots[1], request(TRIAL + 1, 6)),
            "another trial's"
        );
        assert!(
            !set.claim(slots[1], request(TRIAL, 100)),
            "one more than there are"
        );
        assert!(
            set.must_wait(SILENCE_NS + 1) && !set.must_wait(SILENCE_NS + 2),
            "the first is the trial's own"
        );
        let given_way: Vec<u64> = std::iter::from_fn(|| set.take_stranger())
            .map(|stranger| stranger.number)
            .collect();
        assert_eq!((given_way, set.connections.len()), (vec![2, 3, 4], 1));
        assert!(!set.must_wait(0));
    }

    #[test]
    fn where_descriptors_run_out_the_bound_falls_to_no_less_than_the_trials_own_connections() {
        let (mut set, listener) = (set(), listener());
        let _slots = [1, 2, 3, 4].map(|number| add(&mut set, &listener, number, u64::MAX));
        assert!(set.take_surplus().is_none());
        set.lower_bound();
        assert_eq!(std::iter::from_fn(|| set.take_surplus()).count(), 2);
        assert!(set.is_full());
    }

    #[test]
    fn queues_hold_at_most_twice_as_many_entries_as_connections_may_be_open() {
        let (mut set, listener) = (set(), listener());
        for number in 1..=100 {
            let slot = add(&mut set, &listener, number, 1_000 + number);
            assert!(set.strangers.len() <= 8 && set.deadlines.len() <= 8);
            if number < 100 {
                set.connections.remove(slot);
            }
        }
        assert_eq!(set.next_deadline_ns(), 1_100);
        assert!(set.take_expired(1_099).is_none());
        assert_eq!(
            set.take_expired(1_100).map(|connection| connection.number),
            Some(100)
        );
        assert!(set.take_expired(u64::MAX).is_none() && set.take_stranger().is_none());
    }
}
