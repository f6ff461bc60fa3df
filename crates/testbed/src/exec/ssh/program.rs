//! A program on another machine that speaks to this process over its standard input and output. It ends when its input does: when it is told to, when
//! this process is killed, or when the connection breaks.

use super::Remote;
use crate::exec::{Shell, TestbedError, end_by_input};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Stdio};
use std::time::Duration;

/// The program is the session, so that nothing between it and ssh holds its input.
const SCRIPT: &str = r#"exec "$@""#;

/// The time in which a program that says something and ends must do so.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// The program. When this is dropped, its input must have been closed; it then has some time to end by itself.
#[derive(Debug)]
pub struct RemoteProgram {
    ssh: Child,
    remote: Remote,
    time_to_end: Duration,
}

impl RemoteProgram {
    /// Starts the program `words` as root on a machine. Once its input is closed it gets `time_to_end` before the connection is closed.
    ///
    /// # Errors
    /// The machine cannot be reached as root; whether the program runs is known by what it says.
    pub fn start(remote: &Remote, shell: &Shell, words: &[String], time_to_end: Duration) -> Result<Self, TestbedError> {
        let remote = remote.reach(shell.context())?;
        let ssh = remote.start(SCRIPT, words, Stdio::piped())?;
        Ok(Self { ssh, remote, time_to_end })
    }

    /// Returns its standard input, output and error, once.
    pub fn take_pipes(&mut self) -> Option<(ChildStdin, ChildStdout, ChildStderr)> {
        Some((self.ssh.stdin.take()?, self.ssh.stdout.take()?, self.ssh.stderr.take()?))
    }

    /// Runs another program there, over the same connection; returns what it printed.
    ///
    /// # Errors
    /// It is not installed, failed, or does not end; the connection is lost; a stop was requested.
    pub fn ask(&self, shell: &Shell, words: &[String]) -> Result<String, TestbedError> {
        self.remote.capture(words, None, ANSWER_TIMEOUT, shell.context())
    }
}

impl Drop for RemoteProgram {
    fn drop(&mut self) {
        end_by_input(&mut self.ssh, self.time_to_end);
    }
}
