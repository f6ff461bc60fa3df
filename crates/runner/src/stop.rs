//! Ctrl-C, SIGTERM and SIGHUP request an orderly end: the trial in progress is abandoned, the testbed undone, and results are kept. Repeating the
//! request has no effect, because the teardown must not be interrupted.

use crate::error::RunError;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Waits for `time`. Ends early if a stop is requested.
///
/// # Errors
/// A stop was requested.
pub fn rest(stop: &AtomicBool, time: Duration) -> Result<(), RunError> {
    let end = Instant::now() + time;
    loop {
        if stop.load(Ordering::Relaxed) {
            return Err(RunError::Interrupted);
        }
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(());
        }
        std::thread::sleep(left.min(Duration::from_millis(20)));
    }
}

/// The flag set by the handlers. There is only one, because signals are delivered to the process as a whole.
static STOP: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// Keeps this process alive where a file would exceed the limit on its size (`ulimit -f`): the write fails instead, and is reported as on a full disk.
/// Programs that this one starts get the signal's default action.
///
/// # Errors
/// The system refuses the handler.
pub fn survive_file_size_limit() -> io::Result<()> {
    static EXCEEDED: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    signal_hook::flag::register(SIGXFSZ, EXCEEDED.get_or_init(Arc::default).clone()).map(drop)
}

/// Installs the handlers and returns the flag that they set, the same one for each call.
///
/// # Errors
/// The system refuses a handler.
pub fn install() -> io::Result<Arc<AtomicBool>> {
    let stop = STOP.get_or_init(Arc::default).clone();
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, stop.clone())?;
    }
    Ok(stop)
}
