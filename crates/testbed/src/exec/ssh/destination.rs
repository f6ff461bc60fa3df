//! The command line of `ssh` for a machine. No connection is opened here.

use super::SshConfig;
use crate::exec::{TestbedError, quoted};
use std::path::Path;

/// An ordinary user's PATH lacks the system's tools, and so does that of some servers' sessions.
const PRELUDE: &str =
    "PATH=$PATH:/usr/local/sbin:/usr/local/bin:/usr/sbin:/sbin LC_ALL=C; export PATH LC_ALL; ";

/// A machine by the name ssh knows it by, and what ssh reads in place of its usual configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::exec) struct Destination {
    pub(in crate::exec) name: String,
    pub(in crate::exec) config: Option<SshConfig>,
}

impl Destination {
    /// See [`super::Remote::new`].
    pub(in crate::exec) fn new(name: &str, config: Option<&SshConfig>) -> Self {
        Self {
            name: name.to_owned(),
            config: config.cloned(),
        }
    }

    /// Returns the words that run `words` there, as shown in the transcript: without the options that merely save time.
    pub(super) fn command_line(&self, words: &[String]) -> Vec<String> {
        self.shown(quoted(words))
    }

    /// Returns the same for a line of shell.
    pub(super) fn shown(&self, line: String) -> Vec<String> {
        self.typed(self.config.as_ref().map(SshConfig::path), line)
    }

    /// Returns the same words for another process, which must not read the configuration again: it gets the copy.
    pub(super) fn of_another_process(&self, line: String) -> Vec<String> {
        self.typed(self.config.as_ref().map(SshConfig::in_use).as_deref(), line)
    }

    fn typed(&self, config: Option<&Path>, line: String) -> Vec<String> {
        let config = config.into_iter().flat_map(file_option);
        ["ssh".to_owned()]
            .into_iter()
            .chain(config)
            .chain([self.name.clone(), line])
            .collect()
    }

    /// All words of an `ssh`. The login shell there may be none of POSIX (on FreeBSD it was csh), so it is only to start one.
    ///
    /// # Errors
    /// The configuration cannot be read or copied.
    pub(super) fn ssh(
        &self,
        control: Vec<String>,
        script: &str,
        arguments: &[String],
    ) -> Result<Vec<String>, TestbedError> {
        let config = self.config.as_ref().map(SshConfig::copy).transpose()?;
        let config = config.iter().flat_map(|file| file_option(file));
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
        let options = options
            .into_iter()
            .flat_map(|option| ["-o".to_owned(), option.to_owned()]);
        let words = [
            &[
                "sh".to_owned(),
                "-c".to_owned(),
                format!("{PRELUDE}{script}"),
                "sixbench".to_owned(),
            ],
            arguments,
        ]
        .concat();
        let head = ["ssh", "-T", "-x", "-a"].map(str::to_owned);
        let tail = [self.name.clone(), format!("exec {}", quoted(&words))];
        Ok(head
            .into_iter()
            .chain(config)
            .chain(options)
            .chain(control)
            .chain(tail)
            .collect())
    }
}

/// The words that name a configuration.
fn file_option(file: &Path) -> [String; 2] {
    ["-F".to_owned(), file.display().to_string()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_the_transcript_a_command_stands_as_somebody_would_type_it() {
        let destination = Destination::new("dut", Some(&SshConfig::new("/my/config")));
        let words =
            destination.command_line(&["ip", "link", "set", "a b", "up"].map(str::to_owned));
        assert_eq!(
            quoted(&words),
            "ssh -F /my/config dut 'ip link set '\\''a b'\\'' up'"
        );
    }

    #[test]
    fn the_login_shell_only_starts_another() {
        let words = Destination::new("dut", None)
            .ssh(vec![], "echo \"$1\"", &["it's".to_owned()])
            .expect("words");
        assert_eq!(words[words.len() - 2], "dut");
        let last = words.last().expect("a command");
        assert!(last.starts_with("exec sh -c 'PATH="), "{last}");
        assert!(last.ends_with(r#"echo "$1"' sixbench 'it'\''s'"#), "{last}");
        assert!(words.contains(&"BatchMode=yes".to_owned()), "{words:?}");
    }
}
