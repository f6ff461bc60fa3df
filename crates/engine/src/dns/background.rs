//! The authority between trials: the server under test may query it at any time, and would mark its upstream as unreachable without an answer.

use super::authority::Authority;
use crate::driver::{joined, pin_and_prioritise};
use sixbench_io::thread::keep_low_ports_only;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The sleep of an authority without queries.
const NAP: Duration = Duration::from_micros(100);

/// The time without queries after which the server under test is considered idle.
const QUIET: Duration = Duration::from_millis(20);
/// The time limit for waiting until it is idle: a server that still asks after this has other reasons.
const LONGEST_SETTLING: Duration = Duration::from_secs(5);

/// Holds the authorities, and has a thread answer for them until they are needed.
#[derive(Default)]
pub(super) struct BackgroundAuthority {
    resting: Option<BackgroundThread>,
}

/// The authorities and the thread that answers for them.
struct BackgroundThread {
    /// True when the authorities are needed again.
    wanted: Arc<AtomicBool>,
    /// Queries answered in the meantime.
    answered: Arc<AtomicU64>,
    serving: JoinHandle<Vec<Authority>>,
}

impl BackgroundAuthority {
    /// Takes the authorities over. The thread runs on `core`, where the trials also run.
    pub(super) fn keep(&mut self, authorities: Vec<Authority>, core: Option<u32>) {
        if authorities.is_empty() {
            return;
        }
        let wanted = Arc::new(AtomicBool::new(false));
        let answered = Arc::new(AtomicU64::new(0));
        let (seen, counter) = (wanted.clone(), answered.clone());
        let serving = std::thread::spawn(move || serve(authorities, &seen, &counter, core));
        self.resting = Some(BackgroundThread {
            wanted,
            answered,
            serving,
        });
    }

    /// Waits until the authorities have had no queries for a while: a server that was overloaded still works on the previous trial.
    pub(super) fn settle(&self, stop: &AtomicBool) {
        let Some(resting) = &self.resting else { return };
        let end = Instant::now() + LONGEST_SETTLING;
        loop {
            let before = resting.answered.load(Ordering::Relaxed);
            std::thread::sleep(QUIET);
            let is_quiet = resting.answered.load(Ordering::Relaxed) == before;
            if is_quiet || stop.load(Ordering::Relaxed) || Instant::now() > end {
                return;
            }
        }
    }

    /// Returns the authorities; none if none were kept.
    pub(super) fn take(&mut self) -> Vec<Authority> {
        let Some(BackgroundThread {
            wanted, serving, ..
        }) = self.resting.take()
        else {
            return Vec::new();
        };
        wanted.store(true, Ordering::Relaxed);
        joined(serving.join())
    }
}

impl Drop for BackgroundAuthority {
    fn drop(&mut self) {
        drop(self.take());
    }
}

fn serve(
    mut authorities: Vec<Authority>,
    wanted: &AtomicBool,
    counter: &AtomicU64,
    core: Option<u32>,
) -> Vec<Authority> {
    pin_and_prioritise(core);
    // If the kernel refuses, the thread merely keeps more rights than it needs.
    let _ = keep_low_ports_only();
    while !wanted.load(Ordering::Relaxed) {
        let answered: usize = authorities
            .iter_mut()
            .map(|authority| authority.turn(None))
            .sum();
        counter.fetch_add(answered as u64, Ordering::Relaxed);
        if answered == 0 {
            std::thread::sleep(NAP);
        }
    }
    authorities
}
