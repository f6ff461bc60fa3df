//! Ctrl-C, SIGTERM and SIGHUP ask for an orderly end: the trial under way is given up, the testbed undone, results stay. Asking again
//! changes nothing, since the undoing takes a moment and must not be cut short.

use super::error::RunError;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
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

/// Installs the handlers and returns the flag they set.
///
/// # Errors
/// The system refuses a handler.
pub fn install() -> io::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, stop.clone())?;
    }
    Ok(stop)
}
