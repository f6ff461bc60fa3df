//! The places where commands run: here, in a network namespace of this machine, in a virtual machine of the lab, or on another machine over ssh.
//! Everything that differs between them is in this module.

use super::{
    Daemon, Remote, RemoteProcess, TestbedError, WaitContext, command, command_line, failed,
    given_up, missing, own_directory, quoted, require, unguessable, wait,
};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ExecTarget {
    /// This machine, outside of our namespaces.
    Here,
    /// A network namespace of this machine, with the same files.
    Namespace(String),
    /// Another machine, with its own files and processes.
    Ssh(Remote),
    /// A virtual machine of the lab, given by the script that runs commands in it. It sees this machine's files, but its processes have no ID here.
    Lab(PathBuf),
}

impl ExecTarget {
    /// Returns true if a command continues there after our process that waits for it has been killed.
    pub(crate) fn commands_outlive_us(&self) -> bool {
        matches!(self, Self::Ssh(_))
    }

    /// Returns the words that run `words` there, as given on this machine and shown in the transcript.
    pub(crate) fn command_line<S: AsRef<str>>(&self, words: &[S]) -> Vec<String> {
        let prefix = match self {
            Self::Here => vec![],
            Self::Namespace(name) => ["ip", "netns", "exec", name].map(str::to_owned).to_vec(),
            Self::Lab(inside) => vec!["sh".to_owned(), inside.display().to_string()],
            Self::Ssh(remote) => return remote.command_line(&owned(words)),
        };
        prefix
            .into_iter()
            .chain(words.iter().map(|word| word.as_ref().to_owned()))
            .collect()
    }

    /// Runs a command to its end, and returns its standard output.
    pub(crate) fn capture<S: AsRef<str>>(
        &self,
        words: &[S],
        timeout: Duration,
        context: &WaitContext,
    ) -> Result<String, TestbedError> {
        if let Self::Ssh(remote) = self {
            return remote.capture(&owned(words), None, timeout, context);
        }
        // Checked here, because `ip netns exec` would only report a failure. A machine of the lab has its own programs, too.
        if !matches!(self, Self::Lab(_)) {
            require(words[0].as_ref())?;
        }
        capture(&self.command_line(words), timeout, context)
    }

    /// Returns an error that names the package if a program is not installed there.
    pub(crate) fn require(&self, program: &str, context: &WaitContext) -> Result<(), TestbedError> {
        if let Self::Ssh(remote) = self {
            remote.require(program, context)
        } else {
            require(program)
        }
    }

    /// Returns the line, for the transcript, that writes its input to a file.
    pub(crate) fn write_line(&self, path: &Path) -> String {
        let line = format!("cat > {}", quoted(&[path.display().to_string()]));
        if let Self::Ssh(remote) = self {
            quoted(&remote.shown(line))
        } else {
            line
        }
    }

    pub(crate) fn write(
        &self,
        path: &Path,
        content: &str,
        context: &WaitContext,
    ) -> Result<(), TestbedError> {
        if let Self::Ssh(remote) = self {
            return remote.write(path, content, context);
        }
        std::fs::write(path, content).map_err(TestbedError::file("write", path))
    }

    pub(crate) fn directory(&self, name: &str) -> PathBuf {
        match self {
            Self::Here | Self::Namespace(_) | Self::Lab(_) => own_directory(name),
            // Every system has /tmp, wherever ours is.
            Self::Ssh(_) => Path::new("/tmp").join(unguessable(name)),
        }
    }

    /// Removes a directory of ours. A directory on another machine is removed by the undo record, in its turn.
    pub(crate) fn remove(&self, directory: &Path) {
        if !matches!(self, Self::Ssh(_)) {
            let _ = std::fs::remove_dir_all(directory);
        }
    }

    pub(crate) fn last_lines(
        &self,
        log: &Path,
        count: usize,
        context: &WaitContext,
    ) -> Vec<String> {
        let text = match self {
            Self::Here | Self::Namespace(_) | Self::Lab(_) => {
                std::fs::read_to_string(log).unwrap_or_default()
            }
            Self::Ssh(remote) => {
                let words = [
                    "tail".to_owned(),
                    format!("-{count}"),
                    log.display().to_string(),
                ];
                remote
                    .capture(&words, None, Duration::from_secs(10), context)
                    .unwrap_or_default()
            }
        };
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines[lines.len().saturating_sub(count)..].to_vec()
    }

    /// Returns the line that starts a daemon there, confined to `cores`, as shown in the transcript.
    pub(crate) fn daemon_line(&self, cores: &str, words: &[String], log: &Path) -> String {
        let log = quoted(&[log.display().to_string()]);
        match self {
            Self::Here | Self::Namespace(_) | Self::Lab(_) => {
                format!(
                    "{} > {log} 2>&1 &",
                    quoted(&self.daemon_words(cores, words))
                )
            }
            Self::Ssh(remote) => {
                quoted(&remote.shown(format!("{} </dev/null > {log} 2>&1 &", quoted(words))))
            }
        }
    }

    /// Returns the line that ends a daemon, for the transcript.
    pub(crate) fn kill_line(&self, number: u32) -> String {
        let Self::Ssh(remote) = self else {
            return format!("kill -KILL {number}");
        };
        quoted(&remote.shown(format!("kill -KILL -- -{number}")))
    }

    /// Starts a daemon. It ends with the thread that started it or, over ssh, when this process ends or the connection breaks.
    pub(crate) fn spawn(
        &self,
        cores: &str,
        words: &[String],
        log: &Path,
        context: &WaitContext,
    ) -> Result<Daemon, TestbedError> {
        if let Self::Ssh(remote) = self {
            return RemoteProcess::start(remote, words, log, context)
                .map(|(ssh, process)| Daemon::remote(ssh, process));
        }
        let full = self.daemon_words(cores, words);
        let file = TestbedError::file("write", log);
        let out = std::fs::File::create(log).map_err(&file)?;
        let err = std::fs::File::options()
            .append(true)
            .open(log)
            .map_err(file)?;
        let mut command = command(&full);
        command.stdout(out).stderr(err);
        command
            .spawn()
            .map(Daemon::here)
            .map_err(|error| missing(&full[0], error))
    }

    fn daemon_words(&self, cores: &str, words: &[String]) -> Vec<String> {
        // `taskset` comes first: in the middle of a trial, not even the programs that lead to the daemon may run on the tester's core.
        let prefix = ["taskset", "-c", cores, "setpriv", "--pdeathsig", "KILL"];
        prefix
            .into_iter()
            .map(str::to_owned)
            .chain(self.command_line(words))
            .collect()
    }
}

fn owned<S: AsRef<str>>(words: &[S]) -> Vec<String> {
    words.iter().map(|word| word.as_ref().to_owned()).collect()
}

fn capture(
    words: &[String],
    timeout: Duration,
    context: &WaitContext,
) -> Result<String, TestbedError> {
    let mut command = command(words);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().map_err(|error| missing(&words[0], error))?;
    let output = wait(child, timeout, context, &|| command_line(words))
        .map_err(|why| given_up(words, why))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let printed = [output.stderr, output.stdout].concat();
    Err(failed(
        words,
        &output.status.to_string(),
        &String::from_utf8_lossy(&printed),
    ))
}
