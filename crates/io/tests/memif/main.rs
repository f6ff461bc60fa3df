//! Links in shared memory: with ourselves, with peers that refuse, disappear or violate the protocol, and with `dpdk-testpmd`. They need no root;
//! `testpmd` needs the package dpdk-dev.

mod device;
mod errors;
mod lies;
mod link;
mod lying_client;
mod peer;
mod testpmd;

use sixbench_io::{Backend, Halves, Port, PortError, PortOptions, PortSpec};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// A time limit that no machine needs here.
const PATIENCE: Duration = Duration::from_secs(60);

/// A directory used only by this test, removed when dropped.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("sb-{}-memif-{name}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a directory");
        Self(path)
    }

    fn socket(&self, name: &str) -> String {
        self.0.join(name).to_str().expect("a plain path").to_owned()
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Opens a port by its name in plan files, for frames of up to `longest` octets.
fn open_port(name: &str, longest: u32) -> Result<Port, PortError> {
    PortSpec::parse(name).open(Backend::Auto, PortOptions::new(longest))
}

fn open(name: &str, longest: u32) -> Result<Halves, PortError> {
    open_port(name, longest).map(Port::into_single_queue)
}

/// Opens a port that connects to a server that is about to listen.
fn open_when_there(name: &str, longest: u32) -> Port {
    let end = Instant::now() + PATIENCE;
    loop {
        match open_port(name, longest) {
            Err(error) if Instant::now() < end && is_not_there(&error) => std::thread::yield_now(),
            port => return port.unwrap_or_else(|error| panic!("{name}: {error}")),
        }
    }
}

fn is_not_there(error: &PortError) -> bool {
    let text = error.to_string();
    // A DPDK server listens before its interface exists.
    ["there is no socket", "nobody listens", "ID not found"]
        .iter()
        .any(|known| text.contains(known))
}

/// Returns the error of an attempt that must fail.
fn failed<T>(outcome: Result<T, PortError>) -> String {
    let error = outcome.err().expect("an error");
    assert!(matches!(error, PortError::Peer { .. }), "{error}");
    error.to_string()
}

/// Fails unless `work` ends in time, whatever it waits for.
fn in_time(what: &str, work: impl FnOnce() + Send + 'static) {
    let (done, ended) = std::sync::mpsc::channel();
    let worker = std::thread::spawn(move || {
        work();
        let _ = done.send(());
    });
    assert!(
        ended.recv_timeout(PATIENCE) != Err(std::sync::mpsc::RecvTimeoutError::Timeout),
        "it waits for ever: {what}"
    );
    worker.join().expect("no panic");
}

/// Waits until something is so.
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < end, "{what}");
        std::thread::yield_now();
    }
}

/// Repeats a step until it fails; returns that error.
fn until_error<T>(mut step: impl FnMut() -> Result<T, PortError>) -> String {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Err(error) = step() {
            return failed::<T>(Err(error));
        }
        assert!(Instant::now() < end, "it goes on for ever");
    }
}
