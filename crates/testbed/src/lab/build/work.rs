//! A build in progress: its directory, its log, and the steps already done.

use crate::exec::{LabError, TestbedError, quoted};
use crate::lab::cache::make_directories;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const LAST: usize = 5;

/// Environment variables that the user may have set for building sixbench and that would have a different effect on the build of a kernel.
const FOREIGN: [&str; 5] = [
    "MAKEFLAGS",
    "MFLAGS",
    "MAKELEVEL",
    "CROSS_COMPILE",
    "LD_PRELOAD",
];

/// The progress of a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuildProgress<'a> {
    /// The result exists already, so nothing is done.
    Present,
    /// Another process builds or removes labs in the same cache. The build waits for it.
    Waits,
    /// An earlier build has already completed this step.
    Kept(&'a str),
    /// A step begins.
    Begins(&'a str),
    /// The step succeeded after this time.
    Ended(Duration),
    /// The step failed.
    Failed,
}

pub(super) struct BuildStep<C> {
    /// The name of the step, worded to complete the error message `cannot {name}`.
    pub(super) name: &'static str,
    pub(super) run: fn(&mut BuildWork<C>) -> Result<(), TestbedError>,
    /// Returns true if the step is part of a build with these inputs.
    pub(super) is_wanted: fn(&C) -> bool,
}

#[derive(Debug)]
pub(super) struct BuildWork<C> {
    /// The inputs of the build.
    pub(super) made_of: C,
    directory: PathBuf,
    log: File,
}

impl<C> BuildWork<C> {
    /// Starts a build, or resumes an unfinished one.
    pub(super) fn begin(directory: &Path, made_of: C) -> Result<Self, TestbedError> {
        make_directories(directory)?;
        let path = directory.join("log");
        let log = OpenOptions::new().create(true).append(true).open(&path);
        let log = log.map_err(TestbedError::file("write", &path))?;
        let work = Self {
            made_of,
            directory: directory.to_owned(),
            log,
        };
        make_directories(&work.sources())?;
        Ok(work)
    }

    /// Performs all remaining steps in order.
    pub(super) fn perform(
        &mut self,
        steps: &[BuildStep<C>],
        tell: &mut dyn FnMut(BuildProgress<'_>),
    ) -> Result<(), TestbedError> {
        for step in steps {
            if !(step.is_wanted)(&self.made_of) {
                continue;
            }
            if self.is_done(step.name) {
                tell(BuildProgress::Kept(step.name));
                continue;
            }
            let start = Instant::now();
            tell(BuildProgress::Begins(step.name));
            if let Err(error) = (step.run)(self) {
                tell(BuildProgress::Failed);
                return Err(LabError::Step {
                    step: step.name.to_owned(),
                    cause: error.to_string(),
                    log: self.path("log"),
                }
                .into());
            }
            self.note_done(step.name)?;
            tell(BuildProgress::Ended(start.elapsed()));
        }
        Ok(())
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

    /// Returns a directory of the lab being built, creating it if necessary.
    pub(super) fn folder(&self, name: &str) -> Result<PathBuf, TestbedError> {
        let path = self.path(name);
        make_directories(&path).map(|()| path)
    }

    pub(super) fn write(&self, name: &str, content: &str) -> Result<(), TestbedError> {
        let path = self.path(name);
        std::fs::write(&path, content).map_err(TestbedError::file("write", &path))
    }

    /// Runs a command in the sources' directory with its output going to the log.
    pub(super) fn run(&mut self, words: &[&str]) -> Result<(), TestbedError> {
        self.run_in(&self.sources(), words)
    }

    /// Runs a command in a directory with its output going to the log.
    pub(super) fn run_in(&mut self, directory: &Path, words: &[&str]) -> Result<(), TestbedError> {
        let line = quoted(&words.iter().map(ToString::to_string).collect::<Vec<_>>());
        let broken = |error| LabError::NotStarted {
            command: line.clone(),
            error,
        };
        writeln!(self.log, "$ {line}").map_err(broken)?;
        let path = format!(
            "{}:/usr/sbin:/sbin",
            std::env::var("PATH").unwrap_or_default()
        );
        let (out, err) = (
            self.log.try_clone().map_err(broken)?,
            self.log.try_clone().map_err(broken)?,
        );
        let mut command = Command::new(words[0]);
        for name in FOREIGN {
            command.env_remove(name);
        }
        command
            .args(&words[1..])
            .current_dir(directory)
            .env("LC_ALL", "C")
            .env("PATH", path);
        let status = command
            .stdin(Stdio::null())
            .stdout(out)
            .stderr(err)
            .status()
            .map_err(broken)?;
        if status.success() {
            return Ok(());
        }
        Err(TestbedError::Failed {
            command: line,
            status: status.to_string(),
            output: self.last_lines(),
        })
    }

    /// Removes the sources.
    pub(super) fn clear(&mut self) -> Result<(), TestbedError> {
        let path = self.sources();
        std::fs::remove_dir_all(&path).map_err(TestbedError::file("remove", &path))
    }

    /// Returns the last lines of the last command's output, joined with semicolons.
    fn last_lines(&self) -> String {
        let log = std::fs::read(self.path("log")).unwrap_or_default();
        let log = String::from_utf8_lossy(&log);
        let log = log.rsplit_once("\n$ ").map_or(log.as_ref(), |(_, last)| {
            last.split_once('\n').unwrap_or_default().1
        });
        let lines: Vec<&str> = log
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .collect();
        lines[lines.len().saturating_sub(LAST)..].join("; ")
    }
}

/// Returns the make and ninja option for one job per processor that this process may use.
pub(super) fn jobs() -> String {
    format!(
        "-j{}",
        std::thread::available_parallelism().map_or(1, usize::from)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(name: &str) -> BuildWork<bool> {
        let directory =
            std::env::temp_dir().join(format!("sixbench-work-{name}-{}", std::process::id()));
        BuildWork::begin(&directory, false).expect("a directory")
    }

    fn step(
        name: &'static str,
        run: fn(&mut BuildWork<bool>) -> Result<(), TestbedError>,
    ) -> BuildStep<bool> {
        BuildStep {
            name,
            run,
            is_wanted: |_| true,
        }
    }

    #[test]
    fn a_build_goes_on_behind_the_steps_that_were_done() {
        let mut work = work("resume");
        let (first, second) = (
            step("begin", |work| work.run(&["true"])),
            step("go on", |work| work.run(&["ls", "/nosuch"])),
        );
        let error = work
            .perform(&[first, second], &mut |_| {})
            .expect_err("it fails")
            .to_string();
        assert!(
            error.starts_with("cannot go on: `ls /nosuch` failed (exit status: 2): "),
            "{error}"
        );
        assert!(
            error.contains("No such file") && error.contains("/log; the same command continues"),
            "{error}"
        );
        let mut told = Vec::new();
        let mended = step("go on", |work| work.run(&["true"]));
        let first = step("begin", |_| panic!("it was done"));
        work.perform(&[first, mended], &mut |progress| {
            told.push(format!("{progress:?}"));
        })
        .expect("it goes on");
        assert_eq!(told[..2], ["Kept(\"begin\")", "Begins(\"go on\")"]);
        std::fs::remove_dir_all(work.directory).expect("removed");
    }

    #[test]
    fn a_step_that_is_not_part_of_this_build_is_left_out() {
        let mut work = work("own");
        let only = BuildStep {
            name: "build",
            run: |_| panic!("not wanted"),
            is_wanted: |is_wanted| *is_wanted,
        };
        work.perform(&[only], &mut |_| panic!("nothing to tell"))
            .expect("nothing to do");
        std::fs::remove_dir_all(work.directory).expect("removed");
    }
}
