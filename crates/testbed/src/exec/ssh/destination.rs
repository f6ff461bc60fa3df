//! The command line of `ssh` for a machine. No connection is opened here.

use crate::exec::quoted;
use std::path::{Path, PathBuf};

/// An ordinary user's PATH lacks the system's tools, and so does that of some servers' sessions.
const PRELUDE: &str = "PATH=$PATH:/usr/local/sbin:/usr/local/bin:/usr/sbin:/sbin LC_ALL=C; export PATH LC_ALL; ";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Destination {
    pub(super) name: String,
    pub(super) config: Option<PathBuf>,
}

impl Destination {
    /// See [`super::Remote::new`].
    pub(super) fn new(name: &str, config: Option<&Path>) -> Self {
        Self { name: name.to_owned(), config: config.map(Path::to_owned) }
    }

    /// Returns the words that run `words` there, as shown in the transcript: without the options that merely save time.
    pub(super) fn words(&self, words: &[String]) -> Vec<String> {
        self.shown(quoted(words))
    }

    /// Returns the same for a line of shell.
    pub(super) fn shown(&self, line: String) -> Vec<String> {
        let config = self.config.iter().flat_map(|file| ["-F".to_owned(), file.display().to_string()]);
        ["ssh".to_owned()].into_iter().chain(config).chain([self.name.clone(), line]).collect()
    }

    /// Returns all words of an `ssh` command. The login shell there may not be a POSIX one (FreeBSD had csh), so it only starts one.
    pub(super) fn ssh(&self, control: Vec<String>, script: &str, arguments: &[String]) -> Vec<String> {
        let config = self.config.iter().flat_map(|file| ["-F".to_owned(), file.display().to_string()]);
        // A hidden prompt would wait forever. Forwardings and commands in the user's ssh_config are disabled.
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
        let tail = [self.name.clone(), format!("exec {}", quoted(&words))];
        head.into_iter().chain(config).chain(options).chain(control).chain(tail).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_the_transcript_a_command_stands_as_somebody_would_type_it() {
        let destination = Destination::new("dut", Some(Path::new("/my/config")));
        let words = destination.words(&["ip", "link", "set", "a b", "up"].map(str::to_owned));
        assert_eq!(quoted(&words), "ssh -F /my/config dut 'ip link set '\\''a b'\\'' up'");
    }

    #[test]
    fn the_login_shell_only_starts_another() {
        let words = Destination::new("dut", None).ssh(vec![], "echo \"$1\"", &["it's".to_owned()]);
        assert_eq!(words[words.len() - 2], "dut");
        let last = words.last().expect("a command");
        assert!(last.starts_with("exec sh -c 'PATH="), "{last}");
        assert!(last.ends_with(r#"echo "$1"' sixbench 'it'\''s'"#), "{last}");
        assert!(words.contains(&"BatchMode=yes".to_owned()), "{words:?}");
    }
}
