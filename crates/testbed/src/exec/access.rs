//! Tells a user how to run commands where a part of a testbed is, even from a process other than the one that holds the testbed.

use super::{ExecTarget, Shell, quoted, search_path};
use serde::{Deserialize, Serialize};
use std::process::Command;

/// The command prefix that leads to a part of a testbed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShellAccess {
    /// A description of the place for the user: `namespace sb-1-dut`.
    pub location: String,
    prefix: Vec<String>,
    /// True if the words of a command are passed as a single shell line.
    takes_line: bool,
}

impl ShellAccess {
    /// Returns the command that runs these words there with this process's standard streams. The caller starts it.
    pub fn command(&self, words: &[String]) -> Command {
        let words = self.command_line(words);
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).env("PATH", search_path());
        command
    }

    fn command_line(&self, command: &[String]) -> Vec<String> {
        let command = if self.takes_line {
            vec![quoted(command)]
        } else {
            command.to_vec()
        };
        [self.prefix.clone(), command].concat()
    }
}

impl Shell {
    /// Returns the means to run commands where this shell runs its own.
    pub fn access(&self) -> ShellAccess {
        let mut prefix = self.target().command_line::<&str>(&[]);
        let (location, takes_line) = match self.target() {
            ExecTarget::Here => ("this machine".to_owned(), false),
            ExecTarget::Namespace(name) => (format!("namespace {name}"), false),
            ExecTarget::Lab(_) => ("a virtual machine of the kernel lab".to_owned(), false),
            ExecTarget::Ssh(remote) => {
                // The last word is the line itself, and empty.
                prefix = remote.of_another_process(String::new());
                prefix.pop();
                (format!("{}, over ssh", remote.destination()), true)
            }
        };
        ShellAccess {
            location,
            prefix,
            takes_line,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::Remote;

    fn words(shell: &Shell) -> Vec<String> {
        shell
            .access()
            .command_line(&["echo", "it's"].map(str::to_owned))
    }

    #[test]
    fn a_command_reaches_each_place_with_its_words_unchanged() {
        let shell = Shell::new();
        assert_eq!(words(&shell), ["echo", "it's"]);
        assert_eq!(
            words(&shell.within("sb-x")),
            ["ip", "netns", "exec", "sb-x", "echo", "it's"]
        );
        let remote = shell.at(ExecTarget::Ssh(Remote::new("dut", None)));
        assert_eq!(words(&remote), ["ssh", "dut", "echo 'it'\\''s'"]);
        let lab = shell.at(ExecTarget::Lab("/d/inside".into()));
        assert_eq!(words(&lab), ["sh", "/d/inside", "echo", "it's"]);
    }
}
