//! The program's information on itself: its version, its manual pages, its completions.

use crate::common::{Scratch, output, sixbench, text};
use std::fs;
use std::process::Command;

/// Returns the output of git in this crate's directory; `None` if this source is not in a repository.
fn git(words: &[&str]) -> Option<String> {
    let directory = env!("CARGO_MANIFEST_DIR");
    let output = Command::new("git")
        .args(["-C", directory])
        .args(words)
        .output()
        .ok()
        .filter(|o| o.status.success())?;
    Some(text(&output.stdout).trim().to_owned())
}

#[test]
fn the_version_says_the_commit_that_is_checked_out_and_the_backends() {
    let lines = text(&output(&["--version"]).stdout);
    let commit = git(&["log", "-1", "--format=%h %cs"])
        .map_or(String::new(), |commit| format!(" ({commit})"));
    assert!(
        lines.starts_with(&format!(
            "sixbench {}{commit}\nbuilt for ",
            env!("CARGO_PKG_VERSION")
        )),
        "{lines}"
    );
    assert!(lines.contains("\nbackends: packet, xdp, "), "{lines}");
    assert_eq!(
        text(&output(&["-V"]).stdout).lines().next(),
        lines.lines().next()
    );
}

#[test]
fn every_command_has_a_manual_page() {
    let scratch = Scratch::new("man");
    let directory = scratch.path("man1");
    assert!(output(&["man", &directory]).status.success());
    for page in [
        "sixbench.1",
        "sixbench-run.1",
        "sixbench-testbed-exec.1",
        "sixbench-lab-build.1",
    ] {
        let text = fs::read_to_string(scratch.0.join("man1").join(page)).expect(page);
        assert!(text.contains(".SH SYNOPSIS"), "{page}: {text}");
    }
    let refused = output(&["man", "/proc/no-such-directory"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        text(&refused.stderr).contains("cannot write to /proc/no-such-directory"),
        "{}",
        text(&refused.stderr)
    );
}

#[test]
fn bash_completes_commands_and_the_other_shells_have_scripts_of_their_own() {
    let scratch = Scratch::new("completions");
    let script = scratch.write("bash", &text(&output(&["completions", "bash"]).stdout));
    let line = ". \"$0\"; COMP_WORDS=('sixbench' testb) COMP_CWORD=1; _sixbench sixbench testb sixbench; echo \"${COMPREPLY[@]}\"";
    let completed = Command::new("bash")
        .args(["-c", line, &script])
        .output()
        .expect("bash");
    assert_eq!(
        text(&completed.stdout),
        "testbed\n",
        "{}",
        text(&completed.stderr)
    );
    assert!(text(&output(&["completions", "zsh"]).stdout).starts_with("#compdef sixbench"));
    assert!(text(&output(&["completions", "fish"]).stdout).contains("complete -c sixbench"));
    assert_eq!(output(&["completions", "sh"]).status.code(), Some(2));
}

#[test]
fn recipes_and_plans_are_in_the_program_wherever_it_is_run_and_without_an_environment() {
    let run = |arguments: &[&str]| {
        let output = sixbench(arguments)
            .env_clear()
            .current_dir("/")
            .output()
            .expect("sixbench");
        assert!(
            output.status.success(),
            "{arguments:?}: {}",
            text(&output.stderr)
        );
        text(&output.stdout)
    };
    assert!(run(&["list", "plans"]).starts_with("plans/quickstart.toml "));
    assert!(run(&["list", "duts"]).contains("linux-ipv4 "));
    assert!(run(&["check", "siit-comparison"]).contains("plans/siit-comparison.toml: good"));
    assert!(run(&["plan", "quickstart", "--shell"]).contains("ip netns add"));
}
