//! Ctrl-C, SIGTERM and SIGHUP ask for an orderly end: the trial under way is given up, the testbed undone, results stay. Asking again
//! changes nothing, since the undoing takes a moment and must not be cut short.

use super::error::RunError;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Waits for `time`; ends early when a stop is requested.
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

/// The flag that the handlers set: signals are those of the process, whichever part of it asks first.
static STOP: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// Installs the handlers and returns the flag they set, the same one each time.
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
