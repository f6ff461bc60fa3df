//! Allocates names that were not yet asked for, and tracks those that a server may still have cached: domain names "MUST NOT be repeated before
//! the cache of the DUT is exhausted" (RFC 8219 section 9.2). Numbers never wrap around here; the namespace does.

use super::questions::NameRange;
use std::collections::VecDeque;
use std::time::Instant;

/// Names by their numbers, used in turn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct NameAllocator {
    next: u64,
    /// The first names of ranges that a cache may hold, with the expiry time.
    known: VecDeque<(u64, Instant)>,
}

impl NameAllocator {
    /// Returns the number of the next name.
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// Returns the next `count` names, which a server that is asked for them may have cached until then.
    pub(super) fn take(&mut self, count: u64, now: Instant, until: Instant) -> NameRange {
        while self.known.front().is_some_and(|(_, until)| *until <= now) {
            self.known.pop_front();
        }
        let taken = NameRange {
            first: self.next,
            count,
        };
        self.known.push_back((taken.first, until));
        self.next += count;
        taken
    }

    /// Returns the number of names that a cache may hold after another `count`. If it exceeds the size of the namespace, a name is repeated too early.
    pub(super) fn known_after(&self, count: u64, now: Instant) -> u64 {
        let oldest = self
            .known
            .iter()
            .find(|(_, until)| *until > now)
            .map_or(self.next, |(first, _)| *first);
        self.next + count - oldest
    }

    /// Notes that no name is cached any more, because there is another server or its cache was emptied.
    pub(super) fn forget(&mut self) {
        self.known.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn names_are_known_until_their_time_is_over() {
        let (mut allocator, start) = (NameAllocator::default(), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        assert_eq!(allocator.known_after(100, at(0)), 100);
        assert_eq!(
            allocator.take(100, at(0), at(60)),
            NameRange {
                first: 0,
                count: 100
            }
        );
        assert_eq!(
            allocator.take(50, at(10), at(70)),
            NameRange {
                first: 100,
                count: 50
            }
        );
        assert_eq!(
            (
                allocator.known_after(10, at(59)),
                allocator.known_after(10, at(60)),
                allocator.known_after(10, at(70))
            ),
            (160, 60, 10)
        );
        allocator.take(1, at(61), at(121));
        assert_eq!((allocator.next(), allocator.known.len()), (151, 2));
        allocator.forget();
        assert_eq!(allocator.known_after(7, at(61)), 7);
    }
}
