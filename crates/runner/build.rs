//! Passes the commit from which the program is built to the compiler. A source without git, as in a package, has no commit unless SIXBENCH_COMMIT
//! names it. The script runs again when a different commit is checked out. Uncommitted changes are not detected.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=SIXBENCH_COMMIT");
    let named = std::env::var("SIXBENCH_COMMIT")
        .ok()
        .filter(|commit| !commit.is_empty());
    let commit = named
        .or_else(commit)
        .map_or(String::new(), |commit| format!(" ({commit})"));
    println!(
        "cargo::rustc-env=SIXBENCH_VERSION={}{commit}",
        variable("CARGO_PKG_VERSION")
    );
    println!(
        "cargo::rustc-env=SIXBENCH_BUILD={}, {}",
        variable("TARGET"),
        variable("PROFILE")
    );
}

fn variable(name: &str) -> String {
    std::env::var(name).expect("set by cargo")
}

/// Returns the short hash and date of the commit that is checked out, or `None` if this source is not in its own repository.
fn commit() -> Option<String> {
    // A source unpacked inside another repository has a different prefix.
    if git(&["rev-parse", "--show-prefix"])? != "crates/runner/" {
        return None;
    }
    // The log of HEAD gets a line for each change of HEAD. If there is no such log, all references are watched.
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"])?;
    let watched = if std::path::Path::new(&log).exists() {
        ["HEAD", "logs/HEAD"]
    } else {
        ["HEAD", "refs"]
    };
    for path in watched {
        println!(
            "cargo::rerun-if-changed={}",
            git(&["rev-parse", "--git-path", path])?
        );
    }
    git(&["log", "-1", "--format=%h %cs"])
}

/// Returns the output of git, or `None` if it is not installed or fails.
fn git(words: &[&str]) -> Option<String> {
    let output = Command::new("git")
        .args(words)
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}
