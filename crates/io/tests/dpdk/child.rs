//! Tests in processes of their own.

use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

/// Names the test that this process was started for.
const CHILD: &str = "SB_DPDK_TEST";

/// Returns the path of the shim of this profile.
pub(crate) fn shim() -> PathBuf {
    let program = std::env::current_exe().expect("a path");
    let profile = program.parent().and_then(|deps| deps.parent()).expect("target/PROFILE/deps");
    let shim = profile.join("libsixbench-dpdk.so");
    assert!(shim.is_file(), "{} is missing: scripts/build-dpdk-shim debug", shim.display());
    shim
}

/// Returns this program, to be started for one test.
fn program(test: &str, variables: &[(&str, &str)]) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("a path"));
    command.args([test, "--exact", "--nocapture", "--test-threads=1"]).env(CHILD, test).env("SIXBENCH_DPDK", shim());
    command.envs(variables.iter().copied());
    command
}

/// Starts `work` in a process of its own, which the test of this name calls; returns that process, with its standard input and output. In
/// that process itself, `work` is done, and nothing is returned.
pub(crate) fn start(test: &str, work: impl FnOnce()) -> Option<Child> {
    if std::env::var(CHILD).as_deref() == Ok(test) {
        work();
        return None;
    }
    Some(program(test, &[]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("this program"))
}

/// Runs `work` in a process of its own, which the test of this name calls; fails as it does.
pub(crate) fn alone(test: &str, work: impl FnOnce()) {
    alone_with(test, &[], work);
}

/// The same, with these variables in its environment.
pub(crate) fn alone_with(test: &str, variables: &[(&str, &str)], work: impl FnOnce()) {
    if std::env::var(CHILD).as_deref() == Ok(test) {
        return work();
    }
    let output = program(test, variables).output().expect("this program");
    let Output { status, stdout, stderr } = &output;
    let told = [stdout, stderr].map(|text| String::from_utf8_lossy(text));
    assert!(status.success() && told[0].contains("1 passed"), "{status}\n{}\n{}", told[0], told[1]);
}
