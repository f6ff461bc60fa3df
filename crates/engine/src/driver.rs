//! The threads of any kind of trial: the cores and namespaces they run in, their common start, and their end. Frames, queries and connections
//! have their own loops; nothing here is called between the first frame and the last.
//!
//! # Threads and cores
//!
//! `driver` has what frames, queries and connections have in common: threads take their cores and priority first, and only then is the
//! time of the first frame chosen (`TrialStart`). A thread's panic is the trial's. `pacing::pacer` determines when each frame, query or connection is
//! due, and each thread's share of them. `pacing::sending` determines how late senders of frames and queries are, and when they give up.
//!
//! With one core for the tester, both senders and both receivers run to completion in one loop; with more, up to four threads share them. On
//! two cores the DUT owns the second: RPS hands the frames that its interfaces receive to that core, and its processes are pinned there. Otherwise a
//! veth's receiver would run on the sender's time, and an overloaded DUT would look like a slow tester.

use sixbench_io::clock::Clock;
use sixbench_io::thread;
use sixbench_method::record::{ThreadAbility, Warning};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The time between choosing the moment of the first frame, query or connection and that moment itself, in which threads only have to be notified.
pub(crate) const HEAD_START_NS: u64 = 2_000_000;

/// The cores on which the tester's threads run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// One thread for each of these cores, up to four (two senders, two receivers); one unpinned thread if empty.
    pub cores: Vec<u32>,
}

impl Layout {
    /// Returns a warning for each part of this layout that is not available. Trials continue, but are less protected against stalls.
    pub fn warnings(&self) -> Vec<Warning> {
        let cores = self.cores.clone();
        std::thread::spawn(move || try_layout(&cores))
            .join()
            .unwrap_or_default()
    }
}

fn try_layout(cores: &[u32]) -> Vec<Warning> {
    let pinned = cores
        .iter()
        .map(|&core| (ThreadAbility::Core(core), thread::pin_to(core)));
    let mut warnings: Vec<Warning> = pinned
        .filter_map(|(ability, outcome)| refused(ability, outcome))
        .collect();
    warnings.extend(refused(ThreadAbility::Priority, thread::raise_priority()));
    // This must be the last action of this thread.
    warnings.extend(refused(
        ThreadAbility::FewPrivileges,
        thread::give_up_privileges(),
    ));
    warnings
}

/// Returns the warning that the system refused an ability, if it did.
fn refused(lacking: ThreadAbility, outcome: io::Result<()>) -> Option<Warning> {
    let error = outcome.err()?.to_string();
    Some(Warning::TesterThreads {
        machine: None,
        lacking,
        error,
    })
}

/// Pins the calling thread to `core`, if there is one. A failure is ignored, as `Layout::warnings` has reported it.
pub(crate) fn pin(core: Option<u32>) {
    let _ = core.map(thread::pin_to);
}

/// Pins the calling thread to `core`, if there is one, and raises its priority. Failures are ignored, as `Layout::warnings` has reported them.
pub(crate) fn pin_and_prioritise(core: Option<u32>) {
    pin(core);
    let _ = thread::raise_priority();
}

/// The start of a trial.
///
/// The threads move to their cores first: a new thread may begin on a core that the DUT keeps busy, and wait there for one or more scheduler
/// ticks. Only then is the moment of the first frame chosen, with nothing slow in between.
pub(crate) struct TrialStart<'a> {
    clock: &'a Clock,
    /// Returns the moment of the first frame, or `None` to call the trial off; by default the trial starts soon.
    choice: Option<&'a StartChoice<'a>>,
    state: Mutex<StartState>,
    decided: Condvar,
    /// The longest time since then for which one of the threads was ready but had no core, nanoseconds.
    kept_off_ns: AtomicU64,
}

/// Chooses the moment of the first frame, in nanoseconds, once all threads are on their cores; `None` calls the trial off.
pub(crate) type StartChoice<'a> = dyn Fn() -> Option<u64> + Sync + 'a;

/// When dropped, notes for how long the calling thread was ready to run but had no core during the note's lifetime.
pub(crate) struct WaitNote<'a> {
    longest_ns: &'a AtomicU64,
    before_ns: u64,
}

impl Drop for WaitNote<'_> {
    fn drop(&mut self) {
        self.longest_ns.fetch_max(
            thread::waited_ns().saturating_sub(self.before_ns),
            Ordering::Relaxed,
        );
    }
}

/// The threads of a trial that are not yet on their cores, or the decision.
enum StartState {
    Waiting { missing: usize },
    At { start_ns: u64 },
    CalledOff,
}

impl<'a> TrialStart<'a> {
    /// Returns the start of a trial with this number of threads, each of which has to [wait](Self::wait) for it.
    pub(crate) fn new(clock: &'a Clock, threads: usize) -> Self {
        Self {
            clock,
            choice: None,
            state: Mutex::new(StartState::Waiting { missing: threads }),
            decided: Condvar::new(),
            kept_off_ns: AtomicU64::new(0),
        }
    }

    /// Returns the same start with its moment chosen by `choice`.
    pub(crate) fn chosen_by(self, choice: &'a StartChoice<'a>) -> Self {
        Self {
            choice: Some(choice),
            ..self
        }
    }

    /// Notes the time for which the calling thread has no core from now on, until the returned value is dropped.
    pub(crate) fn note_waits(&self) -> WaitNote<'_> {
        WaitNote {
            longest_ns: &self.kept_off_ns,
            before_ns: thread::waited_ns(),
        }
    }

    /// Returns the longest time for which a thread was ready but had no core, nanoseconds, once all threads have ended.
    pub(crate) fn kept_off_ns(&self) -> u64 {
        self.kept_off_ns.load(Ordering::Relaxed)
    }

    /// Waits until all threads, like the calling one, are on their cores; returns the moment of the first frame, in nanoseconds, or `None` if the
    /// trial was called off.
    pub(crate) fn wait(&self) -> Option<u64> {
        if self.arrives_last() {
            let chosen = self.choice.map_or_else(
                || Some(self.clock.now_ns() + HEAD_START_NS),
                |choice| choice(),
            );
            *self.state() = chosen.map_or(StartState::CalledOff, |start_ns| StartState::At {
                start_ns,
            });
            self.decided.notify_all();
        }
        let state = self.state();
        match *self
            .decided
            .wait_while(state, |state| matches!(state, StartState::Waiting { .. }))
            .unwrap_or_else(PoisonError::into_inner)
        {
            StartState::At { start_ns } => Some(start_ns),
            StartState::Waiting { .. } | StartState::CalledOff => None,
        }
    }

    /// Notes that the calling thread is on its core; returns whether it was the last one.
    fn arrives_last(&self) -> bool {
        match &mut *self.state() {
            StartState::Waiting { missing } => {
                *missing -= 1;
                *missing == 0
            }
            StartState::At { .. } | StartState::CalledOff => false,
        }
    }

    fn state(&self) -> MutexGuard<'_, StartState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Calls the trial off if the calling thread panics, which it does if the system refuses to create another thread: the threads that were already
/// started would otherwise wait for that one forever.
pub(crate) struct CallsOff<'s, 'a>(pub(crate) &'s TrialStart<'a>);

impl Drop for CallsOff<'_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            *self.0.state.lock().unwrap_or_else(PoisonError::into_inner) = StartState::CalledOff;
            self.0.decided.notify_all();
        }
    }
}

/// Ends the other threads of a trial if its own thread panics: they would otherwise wait forever.
pub(crate) struct EndsOthers<'a>(pub(crate) &'a AtomicBool);

impl Drop for EndsOthers<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}

/// Runs `work` in a namespace, or in the current one if there is none.
///
/// # Errors
/// The namespace cannot be entered.
pub(crate) fn within<T: Send>(
    namespace: Option<&str>,
    work: impl FnOnce() -> T + Send,
) -> io::Result<T> {
    match namespace {
        Some(name) => thread::in_namespace(name, work),
        None => Ok(work()),
    }
}

/// Returns a description of a namespace, or of the place where the tester runs.
pub(crate) fn place(namespace: Option<&str>) -> String {
    namespace.map_or_else(
        || "this machine".to_owned(),
        |name| format!("namespace {name}"),
    )
}

/// Returns the outcome of a thread that was joined.
///
/// # Panics
/// The thread has panicked; its panic is resumed.
pub(crate) fn joined<T>(outcome: std::thread::Result<T>) -> T {
    outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;

    #[test]
    fn all_threads_begin_at_one_moment_after_the_last_has_taken_its_place() {
        let clock = Clock::new();
        let start = TrialStart::new(&clock, 3);
        let arrived = AtomicU64::new(0);
        let wait = || {
            arrived.fetch_add(1, Ordering::Relaxed);
            start.wait()
        };
        let begun: Vec<_> = std::thread::scope(|scope| {
            let early: Vec<_> = (0..2).map(|_| scope.spawn(wait)).collect();
            while arrived.load(Ordering::Relaxed) < 2 {
                std::thread::yield_now();
            }
            let placed_ns = clock.now_ns();
            let last = start.wait();
            assert!(last >= Some(placed_ns + HEAD_START_NS));
            early
                .into_iter()
                .map(|thread| joined(thread.join()))
                .chain([last])
                .collect()
        });
        assert!(begun.iter().all(|start_ns| *start_ns == begun[0]));
    }

    #[test]
    fn threads_do_not_wait_for_one_that_cannot_be_started() {
        let clock = Clock::new();
        let start = TrialStart::new(&clock, 3);
        let (told, begun) = std::sync::mpsc::channel();
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            std::thread::scope(|scope| {
                let _calls_off = CallsOff(&start);
                for _ in 0..2 {
                    let (start, told) = (&start, told.clone());
                    scope.spawn(move || told.send(start.wait()));
                }
                panic!("no further thread");
            });
        }));
        assert!(outcome.is_err());
        assert_eq!(begun.try_iter().collect::<Vec<_>>(), [None, None]);
    }
}
