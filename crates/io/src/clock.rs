//! The tester's clock: the processor's time stamp counter, calibrated, in nanoseconds.

/// Nanoseconds since the clock was made. Cheap to read (about 20 ns) and cheap to copy.
#[derive(Clone, Debug)]
pub struct Clock {
    source: quanta::Clock,
    origin: u64,
}

impl Clock {
    /// Calibrates against the system's monotonic clock (once a process, about 0.2 s).
    #[expect(clippy::new_without_default, reason = "it takes time, so it should be seen")]
    pub fn new() -> Self {
        let source = quanta::Clock::new();
        let origin = source.raw();
        Self { source, origin }
    }

    /// Returns the present time, in nanoseconds since the clock was made.
    #[inline]
    pub fn now_ns(&self) -> u64 {
        self.source.delta_as_nanos(self.origin, self.source.raw())
    }

    /// Spins until `time_ns`; returns at once if that has passed.
    #[inline]
    pub fn spin_until(&self, time_ns: u64) {
        while self.now_ns() < time_ns {
            std::hint::spin_loop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn time_goes_forward_and_a_spin_reaches_its_end() {
        let clock = Clock::new();
        let end = clock.now_ns() + 100_000;
        clock.spin_until(end);
        assert!(clock.now_ns() >= end);
    }

    #[test]
    fn the_clock_agrees_with_the_system_within_a_hundredth() {
        let clock = Clock::new();
        let (system, own_ns) = (Instant::now(), clock.now_ns());
        std::thread::sleep(Duration::from_millis(50));
        let own = Duration::from_nanos(clock.now_ns() - own_ns);
        let drift = system.elapsed().abs_diff(own);
        assert!(drift < Duration::from_millis(5), "{drift:?}");
    }
}
