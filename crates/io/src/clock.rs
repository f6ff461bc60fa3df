//! The tester's clock: the processor's time stamp counter, calibrated to nanoseconds. It can be set by the clock of another machine.

use std::sync::Arc;

/// Nanoseconds since the clock was created. It is cheap to read (about 20 ns) and to copy.
#[derive(Clone, Debug)]
pub struct Clock {
    source: quanta::Clock,
    origin: u64,
    /// The number of nanoseconds, modulo 2^64, that is added to the time since the clock was created.
    set_forward_ns: u64,
}

impl Clock {
    /// Calibrates the clock against the system's monotonic clock (once per process, about 0.2 s).
    #[expect(
        clippy::new_without_default,
        reason = "it takes time, so it should be seen"
    )]
    pub fn new() -> Self {
        let source = quanta::Clock::new();
        let origin = source.raw();
        Self {
            source,
            origin,
            set_forward_ns: 0,
        }
    }

    /// Returns a clock that stands still, and the hand that moves it on: for tests of what depends on times, on a machine of any speed.
    pub fn moved_by_hand() -> (Self, ClockHand) {
        let (source, mock) = quanta::Clock::mock();
        let origin = source.raw();
        (
            Self {
                source,
                origin,
                set_forward_ns: 0,
            },
            ClockHand(mock),
        )
    }

    /// Returns the same clock, set forward by this many nanoseconds (or back, if negative), so that it approximates the clock of another machine. The offset
    /// replaces that of a clock that was set before.
    pub fn set_forward(&self, by_ns: i64) -> Self {
        Self {
            set_forward_ns: by_ns as u64,
            ..self.clone()
        }
    }

    /// Returns the current time, in nanoseconds since the clock was created, or of the clock by which it was set.
    #[inline]
    pub fn now_ns(&self) -> u64 {
        self.source
            .delta_as_nanos(self.origin, self.source.raw())
            .wrapping_add(self.set_forward_ns)
    }
}

/// The hand of a clock that stands still otherwise.
#[derive(Clone, Debug)]
pub struct ClockHand(Arc<quanta::Mock>);

impl ClockHand {
    /// Moves the clock on by this many nanoseconds.
    pub fn move_on(&self, by_ns: u64) {
        self.0.increment(by_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn the_clock_agrees_with_the_system_within_a_hundredth() {
        let clock = Clock::new();
        // The system's clock is read before and after each reading, because this thread may lose its core in between.
        let read = || (Instant::now(), clock.now_ns(), Instant::now());
        let begin = read();
        // The interval that both clocks measure.
        std::thread::sleep(Duration::from_millis(50));
        let end = read();
        let own = Duration::from_nanos(end.1 - begin.1);
        let (least, most) = (end.0.duration_since(begin.2), end.2.duration_since(begin.0));
        assert!(
            own >= least.mul_f64(0.99) && own <= most.mul_f64(1.01),
            "{least:?} {own:?} {most:?}"
        );
    }

    #[test]
    fn a_clock_is_set_forward_and_back() {
        let clock = Clock::new();
        let hour_ns = 3_600_000_000_000;
        let ahead = clock.set_forward(hour_ns);
        let (before, shown, after) = (clock.now_ns(), ahead.now_ns(), clock.now_ns());
        assert!((before..=after).contains(&(shown - hour_ns as u64)));
        assert!(
            ahead.set_forward(0).now_ns() < hour_ns as u64,
            "the setting replaces the one before"
        );
        let negative = clock
            .set_forward(-hour_ns)
            .now_ns()
            .wrapping_add(hour_ns as u64);
        assert!(negative >= after);
    }
}
