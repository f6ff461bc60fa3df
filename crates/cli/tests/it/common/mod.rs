//! Helpers for tests of the binary: running it, here or in a namespace, scratch directories, plans, recipes, and the results of a run.

#![allow(dead_code, reason = "`long` uses a part of it")]

#[path = "../../../../testbed/tests/it/common/directories.rs"]
pub(crate) mod directories;
pub(crate) mod plans;

use serde_json::Value;
use sixbench_testbed::{Shell, interfaces};
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Runs use this machine's cores, and each starts by removing what killed runs left, so only one may run at a time.
pub(crate) static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// siitperf's example configuration file.
pub(crate) const SIITPERF: &str = include_str!("../../../../siitperf-import/tests/siitperf.conf");

/// Returns the recipe of a router without any set-up, followed by these lines of TOML.
pub(crate) fn router(name: &str, title: &str, more: &str) -> String {
    format!(
        "name = \"{name}\"\ntitle = \"{title}\"\n{}{more}",
        include_str!("router.toml")
    )
}

/// Returns the variable with the directory of the locks that keep runs apart. Each test has a separate one, so that other tests do not affect it.
pub(crate) fn locks() -> (&'static str, String) {
    let user = fs::metadata("/proc/self").map_or(0, |own| own.uid());
    let test = std::thread::current().name().unwrap_or("none").to_owned();
    (
        "SIXBENCH_LOCKS",
        format!("{}/locks-{user}/{test}", env!("CARGO_TARGET_TMPDIR")),
    )
}

/// Returns a command that runs the program with plain output and with locks of this test only.
pub(crate) fn program() -> Command {
    with_environment(Command::new(env!("CARGO_BIN_EXE_sixbench")))
}

/// Adds the environment variables that the program gets in tests to a command.
pub(crate) fn with_environment(mut command: Command) -> Command {
    // The recipes of whoever runs the tests are no part of them.
    command
        .env("NO_COLOR", "1")
        .env("XDG_CONFIG_HOME", "/nonexistent")
        .envs([locks()]);
    command
}

pub(crate) fn sixbench(arguments: &[&str]) -> Command {
    let mut command = program();
    command.args(arguments).env("COLUMNS", "100");
    command
}

pub(crate) fn output(arguments: &[&str]) -> Output {
    sixbench(arguments).output().expect("sixbench")
}

/// Starts the program with its output captured.
pub(crate) fn start(arguments: &[&str]) -> Child {
    captured(&mut sixbench(arguments))
}

/// Starts the program in a network namespace, with its output captured.
pub(crate) fn start_in(namespace: &str, arguments: &[&str]) -> Child {
    let mut command = with_environment(Command::new("ip"));
    command
        .args(["netns", "exec", namespace, env!("CARGO_BIN_EXE_sixbench")])
        .args(arguments);
    captured(command.stdin(Stdio::null()))
}

/// Starts the program in a network namespace, but with this machine's namespaces visible, and with its output discarded. `ip netns exec` would not do,
/// since the namespaces of a killed tester must outlive it, as they do on a separate machine.
pub(crate) fn start_to_be_killed(namespace: &str, arguments: &[&str]) -> Child {
    let mut command = with_environment(Command::new("nsenter"));
    command
        .arg(format!("--net=/run/netns/{namespace}"))
        .arg(env!("CARGO_BIN_EXE_sixbench"))
        .args(arguments);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("sixbench")
}

fn captured(command: &mut Command) -> Child {
    command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("sixbench")
}

/// Sends a process the signal of this name.
pub(crate) fn signal(child: &Child, name: &str) {
    let status = Command::new("sh")
        .args(["-c", &format!("kill -s {name} {}", child.id())])
        .status();
    assert!(status.expect("sh").success());
}

/// Waits until `is_so`, for at most two minutes, and fails if the process ends earlier.
pub(crate) fn wait_until(child: &mut Child, what: &str, is_so: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(120);
    while !is_so() {
        assert!(
            child.try_wait().expect("a state").is_none(),
            "it ended, and there is no {what}"
        );
        assert!(Instant::now() < end, "no {what} within two minutes");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Fails unless a run was completed. On a noisy machine the tester may never have been valid (4), but there are results then, too.
pub(crate) fn assert_ran(output: &Output) {
    assert!(
        matches!(output.status.code(), Some(0 | 4)),
        "{:?}: {}",
        output.status,
        text(&output.stderr)
    );
}

/// The files and folders that a run leaves in its results directory, in the order of their names.
#[allow(dead_code, reason = "`long` uses a part of it")]
pub(crate) const ROOT: [&str; 9] = [
    "commands.sh",
    "facts.json",
    "plan.toml",
    "recipes",
    "report.html",
    "resolved.toml",
    "results.csv",
    "results.json",
    "trials.jsonl",
];

/// Returns the names of everything in a directory, in their order.
#[allow(dead_code, reason = "`long` uses a part of it")]
pub(crate) fn names_in(directory: impl AsRef<Path>) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("a directory");
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("an entry").file_name().into_string())
        .map(|name| name.expect("UTF-8"))
        .collect();
    names.sort();
    names
}

/// Exports a format, and returns one of its files.
#[allow(dead_code, reason = "`long` uses a part of it")]
pub(crate) fn exported(results: &str, format: &str, file: &str) -> String {
    let export = output(&["export", results, "--to", format]);
    assert!(export.status.success(), "{}", text(&export.stderr));
    fs::read_to_string(format!("{results}/exports/{format}/{file}")).expect(file)
}

/// Returns the complete lines of `trials.jsonl`, which may belong to a run in progress or to one that was killed.
pub(crate) fn records(results: &str) -> Vec<Value> {
    let trials = fs::read_to_string(Path::new(results).join("trials.jsonl")).unwrap_or_default();
    let whole = trials
        .split_inclusive('\n')
        .filter(|line| line.ends_with('\n'));
    whole
        .map(|line| serde_json::from_str(line).expect("a record"))
        .collect()
}

/// Returns `facts.json`.
pub(crate) fn facts(results: &str) -> Value {
    let text = fs::read_to_string(Path::new(results).join("facts.json")).expect("facts");
    serde_json::from_str(&text).expect("JSON")
}

/// Returns the namespaces of a process that is or was a run.
pub(crate) fn namespaces_of(pid: u32) -> Vec<String> {
    let entries = fs::read_dir("/run/netns")
        .into_iter()
        .flatten()
        .filter_map(|e| e.ok()?.file_name().into_string().ok());
    entries
        .filter(|name| name.starts_with(&format!("sb-{pid}-")))
        .collect()
}

/// Gives back and removes what a killed run left behind, as the next run would: its interfaces, its namespaces, and the directories of its ssh
/// connections. A run that starts at the same time may have been faster.
pub(crate) fn sweep_after(killed: &Child) {
    interfaces::give_back_stale(&Shell::new());
    for left in &namespaces_of(killed.id()) {
        drop(Shell::new().look(&["ip", "netns", "del", left]));
    }
    for left in &directories::of_process(killed.id(), |role| role.starts_with("ssh-")) {
        drop(fs::remove_dir(left));
    }
}

/// Waits until a run that is measuring has stored its first trial.
pub(crate) fn until_the_first_trial(child: &mut Child, results: &str) {
    wait_until(child, "first trial", || !records(results).is_empty());
}

/// Ends a run immediately, as a power failure would.
pub(crate) fn kill(child: &mut Child) {
    child.kill().expect("killed");
    child.wait().expect("ended");
}

pub(crate) fn text(octets: &[u8]) -> String {
    String::from_utf8_lossy(octets).into_owned()
}

/// A directory for this test, removed when dropped.
pub(crate) struct Scratch(pub(crate) PathBuf);

impl Scratch {
    pub(crate) fn new(name: &str) -> Self {
        let path =
            std::env::temp_dir().join(format!("sixbench-test-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a directory");
        Self(path)
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }

    /// Writes a file, creating its directory if necessary; returns its path.
    pub(crate) fn write(&self, name: &str, content: &str) -> String {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().expect("a directory above")).expect("a directory");
        fs::write(&path, content).expect("a file");
        path.display().to_string()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Checks values that the program has written against its JSON Schema with this name.
pub(crate) fn assert_valid(name: &str, values: &[Value]) {
    let schema = text(&output(&["schema", name]).stdout);
    let schema =
        jsonschema::validator_for(&serde_json::from_str(&schema).expect("JSON")).expect("a schema");
    for value in values {
        let mistakes: Vec<String> = schema
            .iter_errors(value)
            .map(|mistake| mistake.to_string())
            .collect();
        assert!(mistakes.is_empty(), "{name}: {mistakes:?} in {value}");
    }
}
