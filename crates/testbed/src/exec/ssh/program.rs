//! A program on another machine that communicates with this process over standard input and output. It ends when its input is closed: when asked
//! to, when this process is killed, or when the connection breaks.

use super::Remote;
use crate::exec::{Shell, TestbedError, end_by_input};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Stdio};
use std::time::Duration;

/// The program replaces the session's shell, so that nothing else keeps its input open.
const SCRIPT: &str = r#"exec "$@""#;

/// The timeout for a program that prints something and ends.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// The program. Its input must have been closed before this is dropped. It then has some time to end by itself.
#[derive(Debug)]
pub struct RemoteProgram {
    ssh: Child,
    remote: Remote,
    time_to_end: Duration,
}

impl RemoteProgram {
    /// Starts the program `words` as root on a machine. After its input is closed, it has `time_to_end` before the connection is closed.
    ///
    /// # Errors
    /// The machine cannot be reached as root. Only the program's output shows whether it runs.
    pub fn start(
        remote: &Remote,
        shell: &Shell,
        words: &[String],
        time_to_end: Duration,
    ) -> Result<Self, TestbedError> {
        let remote = remote.reach(shell.context())?;
        let ssh = remote.start(SCRIPT, words, Stdio::piped())?;
        Ok(Self {
            ssh,
            remote,
            time_to_end,
        })
    }

    /// Returns its standard input, output and error, once only.
    pub fn take_pipes(&mut self) -> Option<(ChildStdin, ChildStdout, ChildStderr)> {
        Some((
            self.ssh.stdin.take()?,
            self.ssh.stdout.take()?,
            self.ssh.stderr.take()?,
        ))
    }

    /// Runs another program there over the same connection, and returns its output.
    ///
    /// # Errors
    /// The program is not installed, failed, or does not end; the connection is lost; or a stop was requested.
    pub fn ask(&self, shell: &Shell, words: &[String]) -> Result<String, TestbedError> {
        self.remote
            .capture(words, None, ANSWER_TIMEOUT, shell.context())
    }
}

impl Drop for RemoteProgram {
    fn drop(&mut self) {
        end_by_input(&mut self.ssh, self.time_to_end);
    }
}
