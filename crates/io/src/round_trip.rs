//! The distance between two cores: the time for a cache line to go from one to the other and back. It limits the rate at which two programs can
//! exchange frames through shared memory. A virtual machine's host may move its cores from one chip to another at any time, which changes the
//! distance, and with it the frame rate.

use crate::thread::pin_to;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Round trips that are timed together.
const BATCH: u64 = 200;

/// The number of batches. The shortest one counts, as neither core was interrupted in it.
const BATCHES: usize = 20;

/// The time limit for a measurement: while other programs use the cores, both threads may have to wait.
const PATIENCE: Duration = Duration::from_millis(50);

/// A number in its own cache line; adjacent lines are fetched in pairs.
#[repr(align(128))]
#[derive(Default)]
struct CacheLine(AtomicU64);

/// Returns the shortest mean round-trip time of a cache line between two cores, in nanoseconds; `None` if they are the same core, or were not
/// both free in time.
///
/// # Errors
/// This process must not use one of the cores.
pub fn round_trip_ns([here, there]: [u32; 2]) -> io::Result<Option<u64>> {
    if here == there {
        return Ok(None);
    }
    let (ball, is_over) = (CacheLine::default(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let returning = scope.spawn(|| pin_to(there).map(|()| send_back(&ball, &is_over)));
        let serving = scope.spawn(|| {
            let best = pin_to(here).map(|()| best_batch(&ball, Instant::now() + PATIENCE));
            is_over.store(true, Ordering::Relaxed);
            best
        });
        let (best, returned) = (serving.join(), returning.join());
        returned.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        best.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Answers every odd number with the next number.
fn send_back(ball: &CacheLine, is_over: &AtomicBool) {
    while !is_over.load(Ordering::Relaxed) {
        let number = ball.0.load(Ordering::Acquire);
        if number % 2 == 1 {
            ball.0.store(number + 1, Ordering::Release);
        }
    }
}

/// Returns the mean round-trip time of the shortest batch, in nanoseconds.
fn best_batch(ball: &CacheLine, deadline: Instant) -> Option<u64> {
    let batch = |first: u64| {
        let start = Instant::now();
        let is_whole = (first..first + BATCH).all(|trip| serve(ball, 2 * trip + 1, deadline));
        is_whole.then(|| start.elapsed().as_nanos() as u64 / BATCH)
    };
    (0..BATCHES as u64)
        .map_while(|nth| batch(nth * BATCH))
        .min()
}

/// Sends an odd number and waits for its answer; returns whether it came in time.
fn serve(ball: &CacheLine, number: u64, deadline: Instant) -> bool {
    ball.0.store(number, Ordering::Release);
    let mut looks = 0u64;
    while ball.0.load(Ordering::Acquire) != number + 1 {
        looks += 1;
        // The clock is read rarely, as the time to read it would lengthen the trip.
        if looks.is_multiple_of(1024) && Instant::now() > deadline {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::thread::allowed_cores;

    #[test]
    fn a_cache_line_comes_back_from_another_core_and_one_core_has_no_other() {
        let cores = allowed_cores().expect("affinity");
        assert_eq!(
            round_trip_ns([cores[0], cores[0]]).expect("its own core"),
            None
        );
        let Some(other) = cores.get(1) else { return };
        // On a machine where other tests keep both cores busy all the time there is no result, which is also correct.
        let nanoseconds = round_trip_ns([cores[0], *other]).expect("two cores");
        assert!(
            nanoseconds.is_none_or(|ns| (1..100_000).contains(&ns)),
            "{nanoseconds:?}"
        );
    }

    #[test]
    fn a_core_that_is_not_there_is_an_error() {
        let cores = allowed_cores().expect("affinity");
        assert!(round_trip_ns([cores[0], 1023]).is_err());
    }
}
