//! Tests in separate processes.

use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

/// The variable with the name of the test for which this process was started.
const CHILD: &str = "SB_DPDK_TEST";

/// Returns the path of the shim for this build profile.
pub(crate) fn shim() -> PathBuf {
    let program = std::env::current_exe().expect("a path");
    let profile = program
        .parent()
        .and_then(|deps| deps.parent())
        .expect("target/PROFILE/deps");
    let shim = profile.join("libsixbench-dpdk.so");
    assert!(
        shim.is_file(),
        "{} is missing: scripts/build-dpdk-shim debug",
        shim.display()
    );
    shim
}

/// Returns a command that starts this program for one test.
fn program(test: &str, variables: &[(&str, &str)]) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("a path"));
    command
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .env(CHILD, test)
        .env("SIXBENCH_DPDK", shim());
    command.envs(variables.iter().copied());
    command
}

/// Starts `work` in a separate process, as called by the test with this name; returns that process, with its standard input and output. In that
/// process itself, runs `work` and returns nothing.
pub(crate) fn start(test: &str, work: impl FnOnce()) -> Option<Child> {
    if std::env::var(CHILD).as_deref() == Ok(test) {
        work();
        return None;
    }
    Some(
        program(test, &[])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("this program"),
    )
}

/// Runs `work` in a separate process, as called by the test with this name; fails if it does.
pub(crate) fn alone(test: &str, work: impl FnOnce()) {
    alone_with(test, &[], work);
}

/// Does the same as [`alone`], with these environment variables.
pub(crate) fn alone_with(test: &str, variables: &[(&str, &str)], work: impl FnOnce()) {
    if std::env::var(CHILD).as_deref() == Ok(test) {
        return work();
    }
    let output = program(test, variables).output().expect("this program");
    let Output {
        status,
        stdout,
        stderr,
    } = &output;
    let told = [stdout, stderr].map(|text| String::from_utf8_lossy(text));
    assert!(
        status.success() && told[0].contains("1 passed"),
        "{status}\n{}\n{}",
        told[0],
        told[1]
    );
}
