//! The time in a run. The system's clock is read once, when the run begins; from then on time passes as the monotonic clock counts it. So the times of
//! two trials are as far apart as they were, even if somebody sets the system's clock in between. Such a step is reported.

use jiff::{SignedDuration, Timestamp};
use sixbench_method::record::Warning;
use std::time::{Duration, Instant};

/// The least change of the system's clock against the monotonic one between two readings that is reported, in seconds. A clock that is slewed at the kernel's
/// limit of 500 ppm changes by less in half an hour, and a run looks at least once for every trial.
const LEAST_STEP_S: i64 = 1;

/// The clocks of the machine.
pub(crate) trait Clocks {
    /// Returns the time of the system's clock, which can be set at any moment.
    fn wall(&self) -> Timestamp;

    /// Returns the time since an arbitrary moment, which only grows.
    fn monotonic(&self) -> Duration;
}

/// The clocks of this machine.
pub(crate) struct SystemClocks(Instant);

impl Clocks for SystemClocks {
    fn wall(&self) -> Timestamp {
        Timestamp::now()
    }

    fn monotonic(&self) -> Duration {
        self.0.elapsed()
    }
}

/// The time in one run, or in one part of a run that was resumed.
pub(crate) struct RunClock<C = SystemClocks> {
    clocks: C,
    /// The time of the system's clock when the run began, and of the monotonic one.
    began: (Timestamp, Duration),
    /// The distance of the system's clock from the time of the run, when it was last looked at.
    ahead: SignedDuration,
}

impl RunClock {
    /// Returns the clock of a run that begins now.
    pub(crate) fn start() -> Self {
        Self::with(SystemClocks(Instant::now()))
    }
}

impl<C: Clocks> RunClock<C> {
    fn with(clocks: C) -> Self {
        let began = (clocks.wall(), clocks.monotonic());
        Self {
            clocks,
            began,
            ahead: SignedDuration::ZERO,
        }
    }

    /// Returns the time since the run began.
    pub(crate) fn elapsed(&self) -> Duration {
        self.clocks.monotonic().saturating_sub(self.began.1)
    }

    /// Returns the current time: that of the system's clock, unless it was set since the run began.
    pub(crate) fn now(&self) -> Timestamp {
        self.began
            .0
            .saturating_add(self.elapsed())
            .unwrap_or(self.began.0)
    }

    /// Returns a warning if the system's clock was set since the last call, or if the machine slept, during which the monotonic clock stands still.
    pub(crate) fn step(&mut self) -> Option<Warning> {
        let ahead = self.clocks.wall().duration_since(self.now());
        let step = ahead.saturating_sub(self.ahead);
        if step.as_secs().abs() < LEAST_STEP_S {
            return None;
        }
        self.ahead = ahead;
        Some(Warning::ClockSet {
            step_s: step.as_secs(),
            noticed: in_facts(self.now()),
        })
    }

    /// Returns a warning if the run goes on with one whose last trial, at this time, is later than now: the clock was set back in between.
    pub(crate) fn step_since(&self, last: &str) -> Option<Warning> {
        let last: Timestamp = last.parse().ok()?;
        let back = last.duration_since(self.began.0);
        (back.as_secs() >= LEAST_STEP_S).then(|| Warning::ClockSetBackBeforeResume {
            at_least_s: back.as_secs().unsigned_abs(),
        })
    }
}

/// Returns a time as facts have it.
pub(crate) fn in_facts(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Returns the current time, formatted as in the facts.
pub(crate) fn now() -> String {
    in_facts(Timestamp::now())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// Clocks that a test sets: the system's one in seconds after 2026-11-21T09:00:00Z, the monotonic one in seconds.
    struct SetClocks {
        wall_s: Cell<i64>,
        monotonic_s: Cell<u64>,
    }

    impl SetClocks {
        fn new() -> Self {
            Self {
                wall_s: Cell::new(0),
                monotonic_s: Cell::new(1_000),
            }
        }

        /// Lets this many seconds pass.
        fn pass(&self, seconds: u64) {
            self.wall_s.set(self.wall_s.get() + seconds as i64);
            self.monotonic_s.set(self.monotonic_s.get() + seconds);
        }

        /// Sets the system's clock forward, or back.
        fn set(&self, by_s: i64) {
            self.wall_s.set(self.wall_s.get() + by_s);
        }
    }

    impl Clocks for SetClocks {
        fn wall(&self) -> Timestamp {
            let start: Timestamp = "2026-11-21T09:00:00Z".parse().expect("a time");
            start
                .checked_add(SignedDuration::from_secs(self.wall_s.get()))
                .expect("a time")
        }

        fn monotonic(&self) -> Duration {
            Duration::from_secs(self.monotonic_s.get())
        }
    }

    #[test]
    fn the_time_between_two_trials_is_that_of_the_monotonic_clock_whatever_the_system_clock_does() {
        for by_s in [-7_200, 86_400, 0] {
            let clock = RunClock::with(SetClocks::new());
            let first = clock.now();
            clock.clocks.pass(11);
            clock.clocks.set(by_s);
            clock.clocks.pass(11);
            assert_eq!(
                clock.now().duration_since(first),
                SignedDuration::from_secs(22),
                "{by_s} s"
            );
            assert_eq!(clock.elapsed(), Duration::from_secs(22), "{by_s} s");
        }
    }

    #[test]
    fn a_step_is_told_once_with_its_size() {
        let mut clock = RunClock::with(SetClocks::new());
        clock.clocks.pass(10);
        assert_eq!(clock.step(), None);
        clock.clocks.set(-7_200);
        clock.clocks.pass(12);
        let said = clock.step().expect("a step").to_string();
        assert!(
            said.starts_with(
                "the system's clock was set back by 2.0 h during the run, at 2026-11-21T09:00:22Z: "
            ),
            "{said}"
        );
        clock.clocks.pass(60);
        assert_eq!(clock.step(), None, "it was told");
        clock.clocks.set(86_400);
        let said = clock.step().expect("another step").to_string();
        assert!(
            said.contains("set forward by 24.0 h") && said.contains("or the machine slept"),
            "{said}"
        );
    }

    #[test]
    fn a_clock_that_is_slewed_is_no_step() {
        let mut clock = RunClock::with(SetClocks::new());
        clock.clocks.pass(1_800);
        assert_eq!(clock.step(), None);
        assert_eq!(in_facts(clock.now()), "2026-11-21T09:30:00Z");
    }

    #[test]
    fn a_run_that_is_resumed_before_its_last_trial_says_so() {
        let clock = RunClock::with(SetClocks::new());
        assert_eq!(clock.step_since("2026-11-21T08:59:59Z"), None);
        assert_eq!(
            clock.step_since(""),
            None,
            "results of an early version have no times"
        );
        let said = clock
            .step_since("2026-11-21T11:00:00Z")
            .expect("a step")
            .to_string();
        assert!(
            said.starts_with(
                "the system's clock was set back by at least 2.0 h before the run was resumed"
            ),
            "{said}"
        );
    }
}
