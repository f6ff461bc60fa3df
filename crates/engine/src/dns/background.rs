//! The authority between trials: the server under test may send it a query at any time, and without an answer would
//! mark its upstream as unreachable.

use super::authority::Authority;
use crate::driver::{joined, pin_and_prioritise};
use sixbench_io::thread::keep_low_ports_only;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Sleep of an authority that is asked nothing.
const NAP: Duration = Duration::from_micros(100);

/// Time without a query after which the server under test has nothing to do any more.
const QUIET: Duration = Duration::from_millis(20);
/// The longest wait for quiet: a server that still asks after this asks for reasons of its own.
const LONGEST_SETTLING: Duration = Duration::from_secs(5);

/// Holds the authorities, and lets a thread answer for them until they are wanted.
#[derive(Default)]
pub(super) struct BackgroundAuthority {
    resting: Option<Resting>,
}

/// Authorities with the thread that answers for them.
struct Resting {
    /// True when the authorities are wanted back.
    wanted: Arc<AtomicBool>,
    /// Queries answered meanwhile.
    answered: Arc<AtomicU64>,
    serving: JoinHandle<Vec<Authority>>,
}

impl BackgroundAuthority {
    /// Takes them over. The thread runs on `core`, where the trials do.
    pub(super) fn keep(&mut self, authorities: Vec<Authority>, core: Option<u32>) {
        if authorities.is_empty() {
            return;
        }
        let wanted = Arc::new(AtomicBool::new(false));
        let answered = Arc::new(AtomicU64::new(0));
        let (seen, counter) = (wanted.clone(), answered.clone());
        let serving = std::thread::spawn(move || serve(authorities, &seen, &counter, core));
        self.resting = Some(Resting { wanted, answered, serving });
    }

    /// Waits until the authorities have been asked nothing for a while: a server that was overloaded still works on the trial before.
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

    /// Gives them back; none where none were kept.
    pub(super) fn take(&mut self) -> Vec<Authority> {
        let Some(Resting { wanted, serving, .. }) = self.resting.take() else { return Vec::new() };
        wanted.store(true, Ordering::Relaxed);
        joined(serving.join())
    }
}

impl Drop for BackgroundAuthority {
    fn drop(&mut self) {
        drop(self.take());
    }
}

fn serve(mut authorities: Vec<Authority>, wanted: &AtomicBool, counter: &AtomicU64, core: Option<u32>) -> Vec<Authority> {
    pin_and_prioritise(core);
    let _ = keep_low_ports_only();
    while !wanted.load(Ordering::Relaxed) {
        let answered: usize = authorities.iter_mut().map(|authority| authority.turn(None)).sum();
        counter.fetch_add(answered as u64, Ordering::Relaxed);
        if answered == 0 {
            std::thread::sleep(NAP);
        }
    }
    authorities
}
