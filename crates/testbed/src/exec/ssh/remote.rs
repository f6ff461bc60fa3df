//! Another machine, reached over ssh, with the same commands, files and processes as in a namespace of this one.

use super::{Destination, SshConfig, SshConnection, refusal};
use crate::exec::advised::scp;
use crate::exec::{
    ProgramCommand, SshError, TestbedError, WaitContext, command, command_line, failed, feed,
    given_up, missing, quoted, wait,
};
use std::fs::File;
use std::path::Path;
use std::process::{Child, Output, Stdio};
use std::sync::Arc;
use std::time::Duration;

/// The exit status of a shell that cannot find a program (POSIX, Shell Command Language, section 2.8.2).
const NOT_FOUND: i32 = 127;

/// The exit status of ssh if ssh itself fails.
const OF_SSH: i32 = 255;

/// The words for a command that ended with 255 and printed nothing: ssh itself failed, or the command returned 255.
const NOTHING_SAID: &str = "it printed nothing; over ssh, this status means that the connection was lost: does the machine still answer?";

/// The timeout for a machine to show that it still responds.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
/// Writes its input to the file `$1`.
const COPY_SCRIPT: &str = r#"umask 077; cat > "$1" && chmod 700 "$1""#;

/// The timeout for copying a program: some megabytes over a slow network.
const COPYING: Duration = Duration::from_secs(600);

/// A machine as `ssh` reaches it. Clones share one connection.
#[derive(Clone, Debug)]
pub struct Remote {
    destination: Destination,
    /// `None` before the machine is reached, and in a rehearsal.
    connection: Option<Arc<SshConnection>>,
}

impl PartialEq for Remote {
    fn eq(&self, other: &Self) -> bool {
        self.destination == other.destination
    }
}

impl Eq for Remote {}

impl Remote {
    /// Returns a machine by its ssh name, a `Host` of ssh_config or `user@host`; `config` is read instead of the usual ssh_config.
    /// Nothing is opened yet.
    pub fn new(destination: &str, config: Option<&SshConfig>) -> Self {
        Self {
            destination: Destination::new(destination, config),
            connection: None,
        }
    }

    /// Returns the file that ssh reads in place of its usual configuration.
    pub fn config(&self) -> Option<&SshConfig> {
        self.destination.config.as_ref()
    }

    /// Returns its ssh name.
    pub fn destination(&self) -> &str {
        &self.destination.name
    }

    /// Returns the command by which a person copies a file there.
    pub fn scp(&self, file: &Path, target: &Path) -> ProgramCommand {
        scp(file, &self.destination, target)
    }

    /// Opens the connection, unless a stop is requested meanwhile.
    ///
    /// # Errors
    /// The name is unknown, the machine does not answer, its host key is unknown or has changed, our key is refused, or the user is not root. Each
    /// error comes with advice.
    pub(crate) fn reach(&self, context: &WaitContext) -> Result<Self, TestbedError> {
        let connection = Some(Arc::new(SshConnection::open(&self.destination, context)?));
        let reached = Self {
            connection,
            ..self.clone()
        };
        let user = reached.capture(
            &["id", "-u"].map(str::to_owned),
            None,
            Duration::from_secs(30),
            context,
        )?;
        if user.trim() != "0" {
            let machine = self.destination().to_owned();
            return Err(SshError::NotRoot { machine }.into());
        }
        Ok(reached)
    }

    /// Returns the words that run `words` there, as shown in the transcript: without the options that merely save time.
    pub(crate) fn command_line(&self, words: &[String]) -> Vec<String> {
        self.destination.command_line(words)
    }

    /// Returns the same for a line of shell.
    pub(crate) fn shown(&self, line: String) -> Vec<String> {
        self.destination.shown(line)
    }

    /// Returns the same words for another process; they work as long as this process lives.
    pub(crate) fn of_another_process(&self, line: String) -> Vec<String> {
        self.destination.of_another_process(line)
    }

    /// Runs a command to its end; returns what it printed on standard output.
    pub(crate) fn capture(
        &self,
        words: &[String],
        input: Option<&str>,
        timeout: Duration,
        context: &WaitContext,
    ) -> Result<String, TestbedError> {
        let mut child = self.start(
            &quoted(words),
            &[],
            if input.is_some() {
                Stdio::piped()
            } else {
                Stdio::null()
            },
        )?;
        feed(&mut child, input.unwrap_or_default());
        let shown = self.destination.command_line(words);
        let output = wait(child, timeout, context, &|| command_line(&shown))
            .map_err(|why| given_up(&shown, why))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        Err(self.failure(words, &output))
    }

    /// Checks that the machine still runs commands.
    ///
    /// # Errors
    /// The connection is lost, there was no answer in time, or a stop was requested.
    pub(crate) fn check_answers(&self, context: &WaitContext) -> Result<(), TestbedError> {
        match self.capture(&["true".to_owned()], None, ANSWER_TIMEOUT, context) {
            Err(TestbedError::Failed { status, .. }) => {
                let seconds = ANSWER_TIMEOUT.as_secs();
                let why = format!("it did not answer within {seconds} s ({status})");
                Err(refusal::lost(self.destination(), &why))
            }
            asked => asked.map(drop),
        }
    }

    /// Returns the error of a failed command, which distinguishes three causes: the command itself, a missing program, or ssh.
    fn failure(&self, words: &[String], output: &Output) -> TestbedError {
        let said = String::from_utf8_lossy(&output.stderr);
        match output.status.code() {
            Some(NOT_FOUND) if words[0] != "sh" => self.not_installed(&words[0]),
            Some(OF_SSH) if refusal::is_of_ssh(&said) => refusal::lost(self.destination(), &said),
            code => {
                let mut printed = format!("{said}{}", String::from_utf8_lossy(&output.stdout));
                if code == Some(OF_SSH) && printed.trim().is_empty() {
                    NOTHING_SAID.clone_into(&mut printed);
                }
                failed(
                    &self.destination.command_line(words),
                    &output.status.to_string(),
                    &printed,
                )
            }
        }
    }

    fn not_installed(&self, program: &str) -> TestbedError {
        TestbedError::Missing {
            program: program.to_owned(),
            cure: Some(format!("install it on {}", self.destination())),
        }
    }

    pub(crate) fn require(&self, program: &str, context: &WaitContext) -> Result<(), TestbedError> {
        let asked = self.capture(
            &["command", "-v", program].map(str::to_owned),
            None,
            Duration::from_secs(30),
            context,
        );
        match asked {
            // Any failure counts: this shell would not be able to run a program of that name.
            Err(TestbedError::Failed { .. } | TestbedError::Missing { .. }) => {
                Err(self.not_installed(program))
            }
            other => other.map(drop),
        }
    }

    pub(crate) fn write(
        &self,
        path: &Path,
        content: &str,
        context: &WaitContext,
    ) -> Result<(), TestbedError> {
        let script = format!("cat > {}", quoted(&[path.display().to_string()]));
        let words = ["sh", "-c", &script].map(str::to_owned);
        self.capture(&words, Some(content), Duration::from_secs(60), context)
            .map(drop)
    }

    /// Copies a program of this machine to a file there that only its owner can run.
    pub(crate) fn copy_program(
        &self,
        from: &Path,
        to: &Path,
        context: &WaitContext,
    ) -> Result<(), TestbedError> {
        let file = File::open(from).map_err(TestbedError::file("read", from))?;
        let to = to.display().to_string();
        let child = self.start(COPY_SCRIPT, std::slice::from_ref(&to), Stdio::from(file))?;
        let words = ["cat".to_owned(), to];
        let what = || format!("the copy of this program to {}", self.destination());
        let output = wait(child, COPYING, context, &what)
            .map_err(|why| given_up(&self.destination.command_line(&words), why))?;
        if output.status.success() {
            Ok(())
        } else {
            Err(self.failure(&words, &output))
        }
    }

    /// Starts a script there with arguments, which it refers to as `$1` and so on.
    pub(crate) fn start(
        &self,
        script: &str,
        arguments: &[String],
        input: Stdio,
    ) -> Result<Child, TestbedError> {
        let control = self
            .connection
            .iter()
            .flat_map(|connection| connection.options());
        let mut command = command(&self.destination.ssh(control.collect(), script, arguments)?);
        command
            .stdin(input)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command.spawn().map_err(|error| missing("ssh", error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::ExitStatus;

    fn told(code: i32, said: &str) -> String {
        let output = Output {
            status: ExitStatus::from_raw(code << 8),
            stdout: Vec::new(),
            stderr: said.as_bytes().to_vec(),
        };
        let remote = Remote::new("dut", None);
        remote.failure(&["ip".to_owned()], &output).to_string()
    }

    #[test]
    fn an_ssh_that_ended_without_a_word_has_lost_the_connection_and_a_command_has_not() {
        assert!(told(OF_SSH, " \n").contains("the connection was lost"));
        assert!(told(1, "").ends_with("(exit status: 1): it printed nothing"));
        assert!(told(OF_SSH, "no route\n").ends_with("(exit status: 255): no route"));
    }
}
