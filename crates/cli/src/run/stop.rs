//! Ctrl-C, SIGTERM and SIGHUP ask for an orderly end: the trial under way is given up, the testbed undone, results stay. Asking again
//! changes nothing, since the undoing takes a moment and must not be cut short.

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Installs the handlers and returns the flag they set.
pub(crate) fn install() -> io::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, stop.clone())?;
    }
    Ok(stop)
}
