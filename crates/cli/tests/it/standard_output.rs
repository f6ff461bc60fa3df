//! The behaviour of commands when the reader of their output has closed the pipe, or when the output cannot be written.

use crate::common::plans::KERNEL;
use crate::common::{SIITPERF, Scratch, sixbench, text};
use std::fs::OpenOptions;
use std::process::{Output, Stdio};

/// Creates the files that the commands need.
fn scratch(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    scratch.write("plan.toml", KERNEL);
    scratch.write("siitperf.conf", SIITPERF);
    scratch
}

/// Every command that only prints and does not measure.
const QUIET: [&[&str]; 13] = [
    &["--help"],
    &["--version"],
    &["trial", "--help"],
    &["list", "duts"],
    &["list", "measures"],
    &["list", "plans"],
    &["explain"],
    &["explain", "throughput"],
    &["check", "plan.toml"],
    &["plan", "plan.toml"],
    &["plan", "plan.toml", "--shell"],
    &["authority", "--zone-file", "10.0.0.0/16"],
    &["lab", "list", "--dir", "no-lab"],
];

fn into(scratch: &Scratch, arguments: &[&str], stdout: impl Into<Stdio>) -> Output {
    sixbench(arguments)
        .current_dir(&scratch.0)
        .stdout(stdout)
        .output()
        .expect("sixbench")
}

fn into_closed_pipe(scratch: &Scratch, arguments: &[&str]) -> Output {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    into(scratch, arguments, writer)
}

fn into_full_disk(scratch: &Scratch, arguments: &[&str]) -> Output {
    into(
        scratch,
        arguments,
        OpenOptions::new()
            .write(true)
            .open("/dev/full")
            .expect("/dev/full"),
    )
}

fn assert_quiet(output: &Output, arguments: &[&str]) {
    let error = text(&output.stderr);
    assert!(
        !error.contains("error") && !error.contains("panicked"),
        "{arguments:?}: {error}"
    );
}

fn assert_full(output: &Output, arguments: &[&str]) {
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{arguments:?}: {error}");
    assert!(
        error.contains("cannot write to standard output: No space left on device"),
        "{arguments:?}: {error}"
    );
    assert!(!error.contains("panicked"), "{arguments:?}: {error}");
}

#[test]
fn a_reader_that_has_seen_enough_ends_no_command_with_an_error() {
    let scratch = scratch("pipe");
    for arguments in QUIET {
        let output = into_closed_pipe(&scratch, arguments);
        assert_quiet(&output, arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
    }
    // Its exit code is its finding, even if nothing reads the output.
    assert_quiet(&into_closed_pipe(&scratch, &["doctor"]), &["doctor"]);
    let import = ["import", "siitperf.conf"];
    let output = into_closed_pipe(&scratch, &import);
    assert_quiet(&output, &import);
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn what_cannot_be_written_is_an_error_that_is_told() {
    let scratch = scratch("dev-full");
    for arguments in QUIET {
        assert_full(&into_full_disk(&scratch, arguments), arguments);
    }
    for arguments in [&["doctor"][..], &["import", "siitperf.conf"]] {
        assert_full(&into_full_disk(&scratch, arguments), arguments);
    }
}

#[test]
fn a_reader_of_standard_error_that_went_away_ends_nothing() {
    let scratch = scratch("stderr");
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let output = sixbench(&["run", "no-such-plan.toml"])
        .current_dir(&scratch.0)
        .stderr(writer)
        .output()
        .expect("sixbench");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn commands_that_measure_keep_their_results_whoever_reads() {
    let scratch = scratch("measured");
    // 4 if the tester was never valid on this machine, which is reported and leaves results, too.
    let fit = |output: &Output| matches!(output.status.code(), Some(0 | 4));
    for (name, more) in [("a", None), ("b", Some("--json"))] {
        let run: Vec<&str> = ["run", "plan.toml", "-o", name]
            .into_iter()
            .chain(more)
            .collect();
        let output = into_closed_pipe(&scratch, &run);
        assert_quiet(&output, &run);
        assert!(
            fit(&output) && scratch.0.join(name).join("report.html").exists(),
            "{}",
            text(&output.stderr)
        );
        let copy = format!("copy-{name}");
        let copied = std::process::Command::new("cp")
            .args(["-r", "a", &copy])
            .current_dir(&scratch.0)
            .status();
        assert!(copied.expect("cp").success());
        let compare: Vec<&str> = ["compare", "a", &copy].into_iter().chain(more).collect();
        let report = ["report", name];
        for arguments in [&compare[..], &report[..]] {
            assert_quiet(&into_closed_pipe(&scratch, arguments), arguments);
            // Without a valid trial there is nothing to compare, which is then the error.
            if output.status.code() == Some(0) || arguments[0] == "report" {
                assert_full(&into_full_disk(&scratch, arguments), arguments);
            }
        }
    }
    for (name, more) in [("c", None), ("d", Some("--json"))] {
        let run: Vec<&str> = ["run", "plan.toml", "-o", name]
            .into_iter()
            .chain(more)
            .collect();
        let output = into_full_disk(&scratch, &run);
        assert!(
            matches!(output.status.code(), Some(1 | 4)),
            "{}",
            text(&output.stderr)
        );
        assert!(
            text(&output.stderr).contains("cannot write to standard output"),
            "{}",
            text(&output.stderr)
        );
        assert!(scratch.0.join(name).join("report.html").exists());
    }
    let trial = ["trial", "linux-ipv4", "--rate", "1k", "--for", "50ms"];
    assert_full(&into_full_disk(&scratch, &trial), &trial);
    assert_quiet(&into_closed_pipe(&scratch, &trial), &trial);
}
