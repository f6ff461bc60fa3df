//! How far two cores are from each other: the time that a cache line takes from one to the other and back. It bounds what two programs can do through
//! shared memory. A virtual machine's cores may be moved by its host at any time, from one chip to another: then it changes, and with it the rate of
//! frames.

use crate::thread::pin_to;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Round trips that are timed together.
const BATCH: u64 = 200;

/// Batches, of which the shortest counts: in it nothing interrupted either core.
const BATCHES: usize = 20;

/// The longest time that a measurement takes: where other programs have the cores, both threads may wait for them.
const PATIENCE: Duration = Duration::from_millis(50);

/// A number in a cache line of its own; neighbouring lines are fetched in pairs.
#[repr(align(128))]
#[derive(Default)]
struct CacheLine(AtomicU64);

/// Returns the shortest mean time of a cache line's round trip between two cores, nanoseconds; `None` if the cores are one, or had no time for it
/// together.
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

/// Answers every odd number with the next.
fn send_back(ball: &CacheLine, is_over: &AtomicBool) {
    while !is_over.load(Ordering::Relaxed) {
        let number = ball.0.load(Ordering::Acquire);
        if number % 2 == 1 {
            ball.0.store(number + 1, Ordering::Release);
        }
    }
}

/// Returns the mean time of a round trip in the shortest of some batches, nanoseconds.
fn best_batch(ball: &CacheLine, deadline: Instant) -> Option<u64> {
    let batch = |first: u64| {
        let start = Instant::now();
        let is_whole = (first..first + BATCH).all(|trip| serve(ball, 2 * trip + 1, deadline));
        is_whole.then(|| start.elapsed().as_nanos() as u64 / BATCH)
    };
    (0..BATCHES as u64).map_while(|nth| batch(nth * BATCH)).min()
}

/// Sends an odd number and waits for its answer; returns whether it came in time.
fn serve(ball: &CacheLine, number: u64, deadline: Instant) -> bool {
    ball.0.store(number, Ordering::Release);
    let mut looks = 0u64;
    while ball.0.load(Ordering::Acquire) != number + 1 {
        looks += 1;
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
        assert_eq!(round_trip_ns([cores[0], cores[0]]).expect("its own core"), None);
        let Some(other) = cores.get(1) else { return };
        // A machine on which other tests have both cores all the time gives no answer, which is an answer, too.
        let nanoseconds = round_trip_ns([cores[0], *other]).expect("two cores");
        assert!(nanoseconds.is_none_or(|ns| (1..100_000).contains(&ns)), "{nanoseconds:?}");
    }

    #[test]
    fn a_core_that_is_not_there_is_an_error() {
        let cores = allowed_cores().expect("affinity");
        assert!(round_trip_ns([cores[0], 1023]).is_err());
    }
}
