//! A build under way: its directory, its log, the steps that are done.

use super::jool::OwnJool;
use crate::exec::{TestbedError, quoted};
use crate::lab::cache::make_directories;
use crate::lab::inputs::Inputs;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const LAST: usize = 5;

/// Environment variables that the user who builds sixbench may have set, and that would mean something else to the build of a
/// kernel.
const FOREIGN: [&str; 5] = ["MAKEFLAGS", "MFLAGS", "MAKELEVEL", "CROSS_COMPILE", "LD_PRELOAD"];

/// The progress of a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuildProgress<'a> {
    /// It is there already; nothing is done.
    Present,
    /// Another process builds or removes labs in the same cache; what follows waits for its end.
    Waits,
    /// A step that an earlier build has done.
    Kept(&'a str),
    /// A step begins.
    Begins(&'a str),
    /// It has ended well, after so long.
    Ended(Duration),
    /// It has not.
    Failed,
}

pub(super) struct BuildStep {
    /// The action of the step, worded so that `cannot {name}` makes sense.
    pub(super) name: &'static str,
    pub(super) run: fn(&mut BuildWork) -> Result<(), TestbedError>,
    /// True if the step is skipped for Debian's Jool.
    pub(super) is_of_own_jool: bool,
}

#[derive(Debug)]
pub(super) struct BuildWork {
    pub(super) inputs: Inputs,
    /// The user's own Jool, if it is used instead of Debian's.
    pub(super) own_jool: Option<OwnJool>,
    directory: PathBuf,
    log: File,
}

impl BuildWork {
    /// Begins a build, or continues one that did not come to its end.
    pub(super) fn begin(directory: &Path, inputs: Inputs, own_jool: Option<OwnJool>) -> Result<Self, TestbedError> {
        make_directories(directory)?;
        let path = directory.join("log");
        let log = OpenOptions::new().create(true).append(true).open(&path);
        let log = log.map_err(TestbedError::file("write", &path))?;
        let work = Self { inputs, own_jool, directory: directory.to_owned(), log };
        make_directories(&work.sources())?;
        Ok(work)
    }

    /// Performs all steps that are not done yet, in their order.
    pub(super) fn perform(&mut self, steps: &[BuildStep], tell: &mut dyn FnMut(BuildProgress<'_>)) -> Result<(), TestbedError> {
        let has_own_jool = self.own_jool.is_some();
        for step in steps.iter().filter(|step| has_own_jool || !step.is_of_own_jool) {
            if self.is_done(step.name) {
                tell(BuildProgress::Kept(step.name));
                continue;
            }
            let start = Instant::now();
            tell(BuildProgress::Begins(step.name));
            if let Err(error) = (step.run)(self) {
                tell(BuildProgress::Failed);
                return Err(self.failed(step.name, &error));
            }
            self.note_done(step.name)?;
            tell(BuildProgress::Ended(start.elapsed()));
        }
        Ok(())
    }

    fn failed(&self, step: &str, error: &TestbedError) -> TestbedError {
        let log = self.path("log");
        TestbedError::Other(format!(
            "cannot {step}: {error}\nthe whole log: {}; `sixbench lab build` continues with this step",
            log.display()
        ))
    }

    fn is_done(&self, step: &str) -> bool {
        let done = std::fs::read_to_string(self.path("steps")).unwrap_or_default();
        done.lines().any(|line| line == step)
    }

    fn note_done(&self, step: &str) -> Result<(), TestbedError> {
        let path = self.path("steps");
        let file = OpenOptions::new().create(true).append(true).open(&path);
        let noted = file.and_then(|mut file| writeln!(file, "{step}"));
        noted.map_err(TestbedError::file("write", &path))
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    pub(super) fn sources(&self) -> PathBuf {
        self.path("sources")
    }

    /// Returns a directory of the lab that is being built, and makes it if it is not there.
    pub(super) fn folder(&self, name: &str) -> Result<PathBuf, TestbedError> {
        let path = self.path(name);
        make_directories(&path).map(|()| path)
    }

    pub(super) fn write(&self, name: &str, content: &str) -> Result<(), TestbedError> {
        let path = self.path(name);
        std::fs::write(&path, content).map_err(TestbedError::file("write", &path))
    }

    /// Runs a command among the sources; all it prints goes to the log.
    pub(super) fn run(&mut self, words: &[&str]) -> Result<(), TestbedError> {
        self.run_in(&self.sources(), words)
    }

    /// Runs a command in a directory; all it prints goes to the log.
    pub(super) fn run_in(&mut self, directory: &Path, words: &[&str]) -> Result<(), TestbedError> {
        let line = quoted(&words.iter().map(ToString::to_string).collect::<Vec<_>>());
        let broken = |error: std::io::Error| TestbedError::Other(format!("cannot run `{line}`: {error}"));
        writeln!(self.log, "$ {line}").map_err(broken)?;
        let path = format!("{}:/usr/sbin:/sbin", std::env::var("PATH").unwrap_or_default());
        let (out, err) = (self.log.try_clone().map_err(broken)?, self.log.try_clone().map_err(broken)?);
        let mut command = Command::new(words[0]);
        for name in FOREIGN {
            command.env_remove(name);
        }
        command.args(&words[1..]).current_dir(directory).env("LC_ALL", "C").env("PATH", path);
        let status = command.stdin(Stdio::null()).stdout(out).stderr(err).status().map_err(broken)?;
        if status.success() {
            return Ok(());
        }
        Err(TestbedError::Failed { command: line, status: status.to_string(), output: self.last_lines() })
    }

    /// Returns the last lines of the last command's output, joined with semicolons.
    fn last_lines(&self) -> String {
        let log = std::fs::read(self.path("log")).unwrap_or_default();
        let log = String::from_utf8_lossy(&log);
        let log = log.rsplit_once("\n$ ").map_or(log.as_ref(), |(_, last)| last.split_once('\n').unwrap_or_default().1);
        let lines: Vec<&str> = log.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        lines[lines.len().saturating_sub(LAST)..].join("; ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(name: &str) -> BuildWork {
        let directory = std::env::temp_dir().join(format!("sixbench-work-{name}-{}", std::process::id()));
        let inputs = Inputs { kernel_package: "6.1.176-1".to_owned(), jool_package: "4.1.9-1".to_owned() };
        BuildWork::begin(&directory, inputs, None).expect("a directory")
    }

    fn step(name: &'static str, run: fn(&mut BuildWork) -> Result<(), TestbedError>) -> BuildStep {
        BuildStep { name, run, is_of_own_jool: false }
    }

    #[test]
    fn a_build_goes_on_behind_the_steps_that_were_done() {
        let mut work = work("resume");
        let (first, second) = (step("begin", |work| work.run(&["true"])), step("go on", |work| work.run(&["ls", "/nosuch"])));
        let error = work.perform(&[first, second], &mut |_| {}).expect_err("it fails").to_string();
        assert!(error.starts_with("cannot go on: `ls /nosuch` failed (exit status: 2): "), "{error}");
        assert!(error.contains("No such file") && error.contains("/log; `sixbench lab build` continues"), "{error}");
        let mut told = Vec::new();
        let mended = step("go on", |work| work.run(&["true"]));
        let first = step("begin", |_| panic!("it was done"));
        work.perform(&[first, mended], &mut |progress| told.push(format!("{progress:?}"))).expect("it goes on");
        assert_eq!(told[..2], ["Kept(\"begin\")", "Begins(\"go on\")"]);
        std::fs::remove_dir_all(work.directory).expect("removed");
    }

    #[test]
    fn a_step_of_somebody_s_own_jool_is_left_out_without_one() {
        let mut work = work("own");
        let only = BuildStep { name: "build", run: |_| panic!("not wanted"), is_of_own_jool: true };
        work.perform(&[only], &mut |_| panic!("nothing to tell")).expect("nothing to do");
        std::fs::remove_dir_all(work.directory).expect("removed");
    }
}
