//! Tracks the gaps between two polls of a loop, to detect that the tester itself has fallen behind.

/// Gaps in one polling loop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gaps {
    bound_ns: u64,
    last_ns: u64,
    /// The longest gap, nanoseconds.
    pub(crate) worst_ns: u64,
    /// The sum of the gaps above the bound, nanoseconds.
    pub(crate) stalled_ns: u64,
}

impl Gaps {
    /// Returns a tracker for which gaps longer than `bound_ns` are stalls; the first gap is counted from `start_ns`.
    pub(crate) fn new(bound_ns: u64, start_ns: u64) -> Self {
        Self {
            bound_ns,
            last_ns: start_ns,
            worst_ns: 0,
            stalled_ns: 0,
        }
    }

    /// Restarts the count of the first gap at `start_ns`.
    pub(crate) fn begin(&mut self, start_ns: u64) {
        self.last_ns = start_ns;
    }

    /// Notes that the loop polls at `now_ns`.
    #[inline]
    pub(crate) fn look(&mut self, now_ns: u64) {
        let gap = now_ns.saturating_sub(self.last_ns);
        self.last_ns = self.last_ns.max(now_ns);
        if gap > self.worst_ns {
            self.worst_ns = gap;
        }
        if gap > self.bound_ns {
            self.stalled_ns += gap;
        }
    }

    /// Adds the gaps of another loop of the same trial.
    pub(crate) fn add(&mut self, other: &Self) {
        self.worst_ns = self.worst_ns.max(other.worst_ns);
        self.stalled_ns += other.stalled_ns;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_gaps_above_the_bound_are_stalls() {
        let mut gaps = Gaps::new(1000, 0);
        for now in [500, 1500, 4000, 4100] {
            gaps.look(now);
        }
        assert_eq!(gaps.worst_ns, 2500);
        assert_eq!(gaps.stalled_ns, 2500);
    }

    #[test]
    fn time_before_the_start_is_no_gap() {
        let mut gaps = Gaps::new(1000, 10_000);
        gaps.look(5_000);
        gaps.look(10_100);
        assert_eq!(gaps.worst_ns, 100);
    }
}
