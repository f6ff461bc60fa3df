//! Tells the program which commit it is built from. A source without git, as from a package, has none, unless SIXBENCH_COMMIT names it. This is run
//! again when the commit that is checked out is another; changes that are in no commit are not told.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=SIXBENCH_COMMIT");
    let named = std::env::var("SIXBENCH_COMMIT").ok().filter(|commit| !commit.is_empty());
    let commit = named.or_else(commit).map_or(String::new(), |commit| format!(" ({commit})"));
    println!("cargo::rustc-env=SIXBENCH_VERSION={}{commit}", variable("CARGO_PKG_VERSION"));
    println!("cargo::rustc-env=SIXBENCH_BUILD={}, {}", variable("TARGET"), variable("PROFILE"));
}

fn variable(name: &str) -> String {
    std::env::var(name).expect("set by cargo")
}

/// Returns the commit that is checked out, short, with its date; `None` where this source is in no repository of its own.
fn commit() -> Option<String> {
    // A source that was unpacked inside of another repository has another place in it.
    if git(&["rev-parse", "--show-prefix"])? != "crates/runner/" {
        return None;
    }
    // The log of HEAD has a line for each change of it. Without such a log, every reference counts.
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"])?;
    let watched = if std::path::Path::new(&log).exists() { ["HEAD", "logs/HEAD"] } else { ["HEAD", "refs"] };
    for path in watched {
        println!("cargo::rerun-if-changed={}", git(&["rev-parse", "--git-path", path])?);
    }
    git(&["log", "-1", "--format=%h %cs"])
}

/// Returns the output of git, or `None` where it is not installed or fails.
fn git(words: &[&str]) -> Option<String> {
    let output = Command::new("git").args(words).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}
