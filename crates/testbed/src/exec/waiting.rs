//! The waits of the testbed. Each has its own timeout, is ended by a stop request, and is reported once if it takes long.

use super::TestbedError;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// The time after which a wait is reported to the listener.
const WORTH_TELLING: Duration = Duration::from_secs(4);

/// The longest time between two checks for a stop request.
const LONGEST_REST: Duration = Duration::from_millis(100);

type Listener = dyn Fn(&str) + Send + Sync;

/// The conditions of a wait other than its own end: a flag that requests a stop, and a listener to which a long wait is reported. By default there
/// is neither. Clones share both.
#[derive(Clone)]
pub(crate) struct WaitContext {
    stop: Option<Arc<AtomicBool>>,
    listener: Option<Arc<Listener>>,
    /// The purpose reported instead of that of each wait.
    purpose: Option<Arc<str>>,
    worth_telling: Duration,
    waits_for_other_runs: bool,
}

impl Default for WaitContext {
    fn default() -> Self {
        Self {
            stop: None,
            listener: None,
            purpose: None,
            worth_telling: WORTH_TELLING,
            waits_for_other_runs: false,
        }
    }
}

impl fmt::Debug for WaitContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WaitContext")
            .field("stop", &self.stop)
            .finish_non_exhaustive()
    }
}

impl WaitContext {
    /// Returns the same context with a flag that is set to request a stop.
    pub(crate) fn stopped_by(self, stop: Arc<AtomicBool>) -> Self {
        Self {
            stop: Some(stop),
            ..self
        }
    }

    /// Returns the same context with a listener that gets a sentence about each long wait.
    pub(crate) fn told_to(self, listener: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self {
            listener: Some(Arc::new(listener)),
            ..self
        }
    }

    /// Returns the same context, whose waits are reported as waits for `purpose`.
    pub(crate) fn for_purpose(self, purpose: &str) -> Self {
        Self {
            purpose: Some(purpose.into()),
            ..self
        }
    }

    /// Returns the same context for a run that waits, or does not wait, until other runs release what it needs.
    pub(crate) fn waiting_for_other_runs(self, waits: bool) -> Self {
        Self {
            waits_for_other_runs: waits,
            ..self
        }
    }

    pub(crate) fn waits_for_other_runs(&self) -> bool {
        self.waits_for_other_runs
    }

    pub(crate) fn unstoppable(self) -> Self {
        Self { stop: None, ..self }
    }

    pub(crate) fn check(&self) -> Result<(), TestbedError> {
        if self
            .stop
            .as_ref()
            .is_some_and(|stop| stop.load(Ordering::Relaxed))
        {
            Err(TestbedError::Interrupted)
        } else {
            Ok(())
        }
    }

    /// Sleeps for `pause`, in parts after each of which it looks for a stop.
    fn sleep(&self, pause: Duration) -> Result<(), TestbedError> {
        let mut left = pause;
        while !left.is_zero() {
            let part = left.min(LONGEST_REST);
            std::thread::sleep(part);
            left -= part;
            self.check()?;
        }
        Ok(())
    }

    /// Starts a wait that is over after `timeout` and sleeps for `pause` between two polls.
    pub(crate) fn wait(&self, timeout: Duration, pause: Duration) -> Wait<'_> {
        Wait {
            context: self,
            start: Instant::now(),
            timeout,
            pause,
            longest: pause,
            is_told: false,
        }
    }
}

/// A wait that has begun. `pause` is the next pause between two polls, `longest` the limit of its doubling.
#[derive(Debug)]
pub(crate) struct Wait<'a> {
    context: &'a WaitContext,
    start: Instant,
    timeout: Duration,
    pause: Duration,
    longest: Duration,
    is_told: bool,
}

impl Wait<'_> {
    /// Returns the same wait with pauses that double up to `longest`.
    pub(crate) fn backing_off(self, longest: Duration) -> Self {
        Self { longest, ..self }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.elapsed() > self.timeout
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    /// Sleeps until the next poll. `what` completes "waiting for ...".
    ///
    /// # Errors
    /// A stop was requested.
    pub(crate) fn rest(&mut self, what: impl FnOnce() -> String) -> Result<(), TestbedError> {
        self.context.check()?;
        self.tell(what);
        self.context.sleep(self.pause)?;
        self.pause = (self.pause * 2).min(self.longest);
        self.context.check()
    }

    /// Receives a message before the wait is over.
    ///
    /// # Errors
    /// A stop was requested before a message arrived.
    pub(crate) fn receive<T>(
        &mut self,
        from: &Receiver<T>,
        what: &dyn Fn() -> String,
    ) -> Result<Result<T, RecvTimeoutError>, TestbedError> {
        loop {
            let left = self.timeout.saturating_sub(self.elapsed());
            match from.recv_timeout(left.min(LONGEST_REST)) {
                Err(RecvTimeoutError::Timeout) if !self.is_over() => self.context.check()?,
                received => return Ok(received),
            }
            self.tell(what);
        }
    }

    fn tell(&mut self, what: impl FnOnce() -> String) {
        if self.is_told || self.elapsed() < self.context.worth_telling {
            return;
        }
        self.is_told = true;
        if let Some(listener) = &self.context.listener {
            let what = self
                .context
                .purpose
                .as_ref()
                .map_or_else(what, |purpose| purpose.to_string());
            listener(&format!("waiting for {}", brief(&what)));
        }
    }
}

/// Characters of a message about a wait.
const BRIEF: usize = 120;

/// Returns a description as one short line: a command may be a whole script.
fn brief(what: &str) -> String {
    if what.chars().count() <= BRIEF {
        what.to_owned()
    } else {
        what.chars().take(BRIEF).chain("...".chars()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Mutex, mpsc};

    /// Far longer than any test takes.
    const LONG: Duration = Duration::from_secs(600);

    fn stopped() -> WaitContext {
        WaitContext::default().stopped_by(Arc::new(AtomicBool::new(true)))
    }

    #[test]
    fn a_request_to_stop_ends_every_kind_of_wait() {
        let context = stopped();
        let mut wait = context.wait(LONG, LONG);
        assert!(matches!(
            wait.rest(String::new),
            Err(TestbedError::Interrupted)
        ));
        let (_send, receive) = mpsc::channel::<()>();
        assert!(matches!(
            wait.receive(&receive, &String::new),
            Err(TestbedError::Interrupted)
        ));
        assert!(wait.elapsed() < LONG / 10);
        assert!(context.unstoppable().check().is_ok());
    }

    #[test]
    fn what_has_come_is_received_although_a_stop_was_requested() {
        let context = stopped();
        let (send, receive) = mpsc::channel();
        send.send(7).expect("sent");
        assert_eq!(
            context
                .wait(LONG, LONG)
                .receive(&receive, &String::new)
                .expect("no stop"),
            Ok(7)
        );
    }

    #[test]
    fn a_wait_that_lasts_is_told_of_once() {
        let told = Arc::new(Mutex::new(Vec::new()));
        let listener = told.clone();
        let context = WaitContext {
            worth_telling: Duration::from_millis(5),
            ..WaitContext::default()
        }
        .told_to(move |text| listener.lock().expect("no panic").push(text.to_owned()));
        let mut short = context.wait(LONG, Duration::ZERO);
        short.start += LONG;
        short.rest(|| "nothing".to_owned()).expect("no stop");
        let mut wait = context.wait(LONG, Duration::from_millis(10));
        (0..4).for_each(|count| wait.rest(|| format!("a device: {count}")).expect("no stop"));
        assert_eq!(*told.lock().expect("no panic"), ["waiting for a device: 1"]);
    }

    #[test]
    fn a_wait_for_a_script_is_told_in_a_line() {
        assert_eq!(brief("`ip link`"), "`ip link`");
        assert_eq!(brief(&"é".repeat(500)), "é".repeat(BRIEF) + "...");
    }

    #[test]
    fn rests_double_up_to_the_longest() {
        let context = WaitContext::default();
        let mut wait = context
            .wait(LONG, Duration::from_millis(1))
            .backing_off(Duration::from_millis(5));
        let mut pauses = Vec::new();
        for _ in 0..5 {
            pauses.push(wait.pause.as_millis());
            wait.rest(String::new).expect("no stop");
        }
        assert_eq!(pauses, [1, 2, 4, 5, 5]);
    }
}
