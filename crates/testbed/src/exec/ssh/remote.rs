//! Another machine, reached over ssh: the same commands, files and processes as in a namespace of this one.

use super::connection::Connection;
use super::refusal;
use crate::exec::{Shell, TestbedError, WaitContext, command, command_line, failed, feed, given_up, missing, quoted, wait};
use std::path::{Path, PathBuf};
use std::process::{Child, Output, Stdio};
use std::sync::Arc;
use std::time::Duration;

/// An ordinary user's PATH lacks the system's tools, and so does that of some servers' sessions.
const PRELUDE: &str = "PATH=$PATH:/usr/local/sbin:/usr/local/bin:/usr/sbin:/sbin LC_ALL=C; export PATH LC_ALL; ";

/// The exit status of a shell that does not find a program (POSIX, Shell Command Language, section 2.8.2).
const NOT_FOUND: i32 = 127;

/// The exit status of ssh for a failure of its own.
const OF_SSH: i32 = 255;

/// A machine as `ssh` finds it; clones share one connection.
#[derive(Clone, Debug)]
pub struct Remote {
    destination: String,
    config: Option<PathBuf>,
    /// None before it is reached, and in a rehearsal.
    connection: Option<Arc<Connection>>,
}

impl PartialEq for Remote {
    fn eq(&self, other: &Self) -> bool {
        self.destination == other.destination && self.config == other.config
    }
}

impl Eq for Remote {}

impl Remote {
    /// A machine by the name ssh knows it by, a `Host` of ssh_config or `user@host`; `config` is read instead of the usual ssh_config.
    /// Nothing is opened yet.
    pub fn new(destination: &str, config: Option<&Path>) -> Self {
        Self { destination: destination.to_owned(), config: config.map(Path::to_owned), connection: None }
    }

    /// The name ssh knows it by.
    pub fn destination(&self) -> &str {
        &self.destination
    }

    /// Opens the connection, unless a stop is requested meanwhile by what stops `shell`.
    ///
    /// # Errors
    /// A name that is not known, a machine that does not answer, a host key that is not known or not the same any more, a key that is
    /// refused, a user who is not root: each with what to do about it.
    pub fn reach(&self, shell: &Shell) -> Result<Self, TestbedError> {
        let connection = Some(Arc::new(Connection::open(self, shell.context())?));
        let reached = Self { connection, ..self.clone() };
        let user = reached.capture(&["id", "-u"].map(str::to_owned), None, Duration::from_secs(30), shell.context())?;
        if user.trim() != "0" {
            let text = format!(
                "{}: the user is not root there, who alone may change addresses; name one (root@HOST, or `User root` in ssh_config)",
                self.destination
            );
            return Err(TestbedError::Other(text));
        }
        Ok(reached)
    }

    /// The words that run `words` there, as they stand in the transcript: without what is only for the speed of it.
    pub(crate) fn words(&self, words: &[String]) -> Vec<String> {
        self.shown(quoted(words))
    }

    /// The same of a line of shell.
    pub(crate) fn shown(&self, line: String) -> Vec<String> {
        let config = self.config.iter().flat_map(|file| ["-F".to_owned(), file.display().to_string()]);
        ["ssh".to_owned()].into_iter().chain(config).chain([self.destination.clone(), line]).collect()
    }

    /// Runs a command to its end; returns what it printed on standard output.
    pub(crate) fn capture(
        &self,
        words: &[String],
        input: Option<&str>,
        patience: Duration,
        context: &WaitContext,
    ) -> Result<String, TestbedError> {
        let mut child = self.start(&quoted(words), &[], if input.is_some() { Stdio::piped() } else { Stdio::null() })?;
        feed(&mut child, input.unwrap_or_default());
        let shown = self.words(words);
        let output = wait(child, patience, context, &|| command_line(&shown)).map_err(|why| given_up(&shown, why))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        Err(self.failure(words, &output))
    }

    /// Returns the error for a failed command, which tells three causes apart: the command itself, a missing program, or ssh.
    fn failure(&self, words: &[String], output: &Output) -> TestbedError {
        let said = String::from_utf8_lossy(&output.stderr);
        match output.status.code() {
            Some(NOT_FOUND) if words[0] != "sh" => self.not_installed(&words[0]),
            Some(OF_SSH) if refusal::is_of_ssh(&said) => refusal::lost(&self.destination, &said),
            _ => {
                let printed = format!("{said}{}", String::from_utf8_lossy(&output.stdout));
                failed(&self.words(words), &output.status.to_string(), &printed)
            }
        }
    }

    fn not_installed(&self, program: &str) -> TestbedError {
        TestbedError::Missing { program: program.to_owned(), cure: Some(format!("install it on {}", self.destination)) }
    }

    /// An error when a program is not installed there.
    pub(crate) fn require(&self, program: &str, context: &WaitContext) -> Result<(), TestbedError> {
        let asked = self.capture(&["command", "-v", program].map(str::to_owned), None, Duration::from_secs(30), context);
        match asked {
            // Whatever the shell answers: a program of that name it would not run.
            Err(TestbedError::Failed { .. } | TestbedError::Missing { .. }) => Err(self.not_installed(program)),
            other => other.map(drop),
        }
    }

    /// Writes a file.
    pub(crate) fn write(&self, path: &Path, content: &str, context: &WaitContext) -> Result<(), TestbedError> {
        let script = format!("cat > {}", quoted(&[path.display().to_string()]));
        let words = ["sh", "-c", &script].map(str::to_owned);
        self.capture(&words, Some(content), Duration::from_secs(60), context).map(drop)
    }

    /// Starts a script there, with words it knows as `$1` and so on.
    pub(crate) fn start(&self, script: &str, arguments: &[String], input: Stdio) -> Result<Child, TestbedError> {
        let control = self.connection.iter().flat_map(|connection| connection.options());
        let mut command = command(&self.ssh(control.collect(), script, arguments));
        command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().map_err(|error| missing("ssh", &error))
    }

    /// All words of an `ssh`. The login shell there may be none of POSIX (on FreeBSD it was csh), so it is only to start one.
    pub(super) fn ssh(&self, control: Vec<String>, script: &str, arguments: &[String]) -> Vec<String> {
        let config = self.config.iter().flat_map(|file| ["-F".to_owned(), file.display().to_string()]);
        // A prompt that is not shown would wait for ever. What the user's ssh_config forwards or runs is switched off.
        let options = [
            "BatchMode=yes",
            "ConnectTimeout=5",
            "ServerAliveInterval=5",
            "ServerAliveCountMax=3",
            "ClearAllForwardings=yes",
            "PermitLocalCommand=no",
            "RemoteCommand=none",
            "ControlPersist=no",
            "LogLevel=ERROR",
        ];
        let options = options.into_iter().flat_map(|option| ["-o".to_owned(), option.to_owned()]);
        let words =
            [&["sh".to_owned(), "-c".to_owned(), format!("{PRELUDE}{script}"), "sixbench".to_owned()], arguments].concat();
        let head = ["ssh", "-T", "-x", "-a"].map(str::to_owned);
        let tail = [self.destination.clone(), format!("exec {}", quoted(&words))];
        head.into_iter().chain(config).chain(options).chain(control).chain(tail).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_the_transcript_a_command_stands_as_somebody_would_type_it() {
        let remote = Remote::new("dut", Some(Path::new("/my/config")));
        let words = remote.words(&["ip", "link", "set", "a b", "up"].map(str::to_owned));
        assert_eq!(quoted(&words), "ssh -F /my/config dut 'ip link set '\\''a b'\\'' up'");
    }

    #[test]
    fn the_login_shell_only_starts_another() {
        let words = Remote::new("dut", None).ssh(vec![], "echo \"$1\"", &["it's".to_owned()]);
        assert_eq!(words[words.len() - 2], "dut");
        let last = words.last().expect("a command");
        assert!(last.starts_with("exec sh -c 'PATH="), "{last}");
        assert!(last.ends_with(r#"echo "$1"' sixbench 'it'\''s'"#), "{last}");
        assert!(words.contains(&"BatchMode=yes".to_owned()), "{words:?}");
    }
}
