//! When to suspect the link of a port whose queue stays full.

/// The number of times in a row that a queue may be full before its link is suspected: a queue that drains has room again long before. Checking the
/// link is a system call, and a full queue is no reason to be slower still.
const FULL_BEFORE_CHECK: u32 = 256;

/// Counts how often in a row a queue was full.
#[derive(Debug, Default)]
pub(super) struct FullCounter {
    in_a_row: u32,
}

impl FullCounter {
    /// Notes whether the queue was full; returns whether the link is to be checked now.
    #[inline]
    pub(super) fn note(&mut self, is_full: bool) -> bool {
        self.in_a_row = if is_full { self.in_a_row + 1 } else { 0 };
        let is_suspect = self.in_a_row >= FULL_BEFORE_CHECK;
        if is_suspect {
            self.in_a_row = 0;
        }
        is_suspect
    }

    /// Has the link checked again the next time that the queue is full, because the check has found it down.
    pub(super) fn check_next_time(&mut self) {
        self.in_a_row = FULL_BEFORE_CHECK - 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_checked_after_256_full_queues_in_a_row() {
        let mut counter = FullCounter::default();
        assert!((1..256).all(|_| !counter.note(true)));
        assert!(!counter.note(false), "not in a row");
        assert!((1..256).all(|_| !counter.note(true)));
        assert!(counter.note(true));
        assert!(!counter.note(true), "it begins again");
        counter.check_next_time();
        assert!(counter.note(true));
    }
}
