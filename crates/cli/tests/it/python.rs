//! The Python package reads the results of a run. Needs root, like any run.

use crate::common::plans::KERNEL;
use crate::common::{ONE_AT_A_TIME, Scratch, assert_ran, output, text};
use std::path::Path;
use std::process::Command;
use std::sync::PoisonError;

#[test]
fn the_package_for_python_reads_a_run() {
    let _one = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let scratch = Scratch::new("python");
    let plan = scratch.write("plan.toml", &format!("exports = [\"csv\"]\n{KERNEL}"));
    let results = scratch.path("results");
    assert_ran(&output(&["run", &plan, "-o", &results]));
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/tests");
    let mut python = Command::new("python3");
    python
        .args(["-B", "-m", "unittest", "discover", "-s"])
        .arg(tests)
        .env("SIXBENCH_RESULTS", &results);
    let ran = python.output().expect("python3");
    let told = text(&ran.stderr);
    assert!(
        ran.status.success() && told.contains("Ran 18 tests"),
        "{told}"
    );
}
