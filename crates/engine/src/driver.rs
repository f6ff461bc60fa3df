//! The threads of a trial, whatever it is of: the cores and namespaces they run in, the moment at which they begin, and their end. Frames,
//! queries and connections are driven by loops of their own; nothing here is called between the first frame and the last.

use sixbench_io::clock::Clock;
use sixbench_io::thread;
use std::io;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};

/// Time between choosing the moment of the first frame, query or connection and that moment: threads have only to be told.
pub(crate) const HEAD_START_NS: u64 = 2_000_000;

/// The cores on which the tester's threads run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// One thread for each core named, up to four (two senders, two receivers); one unpinned thread when empty.
    pub cores: Vec<u32>,
}

impl Layout {
    /// Returns what cannot be had of this layout, in words: trials go on, less protected against stalls.
    pub fn warnings(&self) -> Vec<String> {
        let cores = self.cores.clone();
        std::thread::spawn(move || try_layout(&cores)).join().unwrap_or_default()
    }
}

fn try_layout(cores: &[u32]) -> Vec<String> {
    let unpinned = cores.iter().filter_map(|&core| {
        let error = thread::pin_to(core).err()?;
        Some(format!("cannot pin a tester thread to core {core}: {error}; it runs on any core that the system chooses"))
    });
    let unraised = thread::raise_priority().err().map(|error| {
        format!("cannot raise the priority of the tester's threads: {error}; other load on their cores may stall them")
    });
    unpinned.chain(unraised).collect()
}

/// Pins the calling thread to `core`, if any. A failure is ignored: `Layout::warnings` reported it once.
pub(crate) fn pin(core: Option<u32>) {
    let _ = core.map(thread::pin_to);
}

/// Pins the calling thread to `core`, if any, and raises its priority. Failures are ignored: `Layout::warnings` reported them
/// once.
pub(crate) fn pin_and_prioritise(core: Option<u32>) {
    pin(core);
    let _ = thread::raise_priority();
}

/// The start of a trial.
///
/// The threads take their cores first: a new one may begin on a core that the DUT keeps busy, and wait there for a tick of the scheduler or
/// many. Only then is the moment of the first frame chosen, and nothing that takes time comes between.
pub(crate) struct TrialStart<'a> {
    clock: &'a Clock,
    placed: Barrier,
    start_ns: AtomicU64,
}

impl<'a> TrialStart<'a> {
    /// The start of a trial of so many threads, each of which has to [wait](Self::wait) for it.
    pub(crate) fn new(clock: &'a Clock, threads: usize) -> Self {
        Self { clock, placed: Barrier::new(threads), start_ns: AtomicU64::new(0) }
    }

    /// Waits until all threads are on their cores, as the calling one is; returns the moment of the first frame, in nanoseconds.
    pub(crate) fn wait(&self) -> u64 {
        if self.placed.wait().is_leader() {
            self.start_ns.store(self.clock.now_ns() + HEAD_START_NS, Ordering::Release);
        }
        self.placed.wait();
        self.start_ns.load(Ordering::Acquire)
    }
}

/// Runs `work` in a namespace, or right here.
///
/// # Errors
/// Where the namespace cannot be entered.
pub(crate) fn within<T: Send>(namespace: Option<&str>, work: impl FnOnce() -> T + Send) -> io::Result<T> {
    match namespace {
        Some(name) => thread::in_namespace(name, work),
        None => Ok(work()),
    }
}

/// Returns the outcome of a thread that was joined.
///
/// # Panics
/// With the thread's own panic.
pub(crate) fn joined<T>(outcome: std::thread::Result<T>) -> T {
    outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_threads_begin_at_one_moment_after_the_last_has_taken_its_place() {
        let clock = Clock::new();
        let start = TrialStart::new(&clock, 3);
        let begun: Vec<_> = std::thread::scope(|scope| {
            let early: Vec<_> = (0..2).map(|_| scope.spawn(|| start.wait())).collect();
            std::thread::sleep(std::time::Duration::from_millis(20));
            let placed_ns = clock.now_ns();
            let last = start.wait();
            assert!(last >= placed_ns + HEAD_START_NS);
            early.into_iter().map(|thread| joined(thread.join())).chain([last]).collect()
        });
        assert!(begun.iter().all(|start_ns| *start_ns == begun[0]));
    }
}
