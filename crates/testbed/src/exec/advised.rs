//! Commands of other programs that are offered to a user with a path or a name in them. Each can be pasted into a shell; no other file prints such a
//! command.

use super::quoting::ProgramCommand;
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// Connects to a machine and does nothing there, so that ssh asks or tells whatever it has to.
pub(crate) fn ssh_true(destination: &str) -> ProgramCommand {
    ProgramCommand::of("ssh").word(destination).words("true")
}

/// Has a machine accept the user's key.
pub(crate) fn ssh_copy_id(destination: &str) -> ProgramCommand {
    ProgramCommand::of("ssh-copy-id").word(destination)
}

/// Copies a file to a machine.
pub fn scp(file: &Path, destination: &str, target: &Path) -> ProgramCommand {
    let mut to = OsString::from(format!("{destination}:"));
    to.push(target);
    ProgramCommand::of("scp").path(file).word(to)
}

/// Changes an interface of this machine: `change` has plain words only.
pub(crate) fn ip_link_set(interface: impl AsRef<OsStr>, change: &str) -> ProgramCommand {
    ProgramCommand::of("ip").words("link set").word(interface).words(change)
}

/// Removes an interface of this machine.
pub(crate) fn ip_link_del(interface: impl AsRef<OsStr>) -> ProgramCommand {
    ProgramCommand::of("ip").words("link del").word(interface)
}

#[cfg(test)]
mod tests {
    use super::super::quoting::tests::read_by_a_shell;
    use super::*;

    #[test]
    fn a_shell_reads_every_name_in_an_advised_command_as_it_is() {
        for name in ["dut", "two words", "it's", "a;b", "$(id) `id`", "line\nend"] {
            let colon = format!("{name}:/opt/{name}");
            let file = format!("/tmp/{name}");
            let expected: [(ProgramCommand, Vec<&str>); 5] = [
                (ssh_true(name), vec!["ssh", name, "true"]),
                (ssh_copy_id(name), vec!["ssh-copy-id", name]),
                (scp(file.as_ref(), name, format!("/opt/{name}").as_ref()), vec!["scp", &file, &colon]),
                (ip_link_set(name, "mtu 9000"), vec!["ip", "link", "set", name, "mtu", "9000"]),
                (ip_link_del(name), vec!["ip", "link", "del", name]),
            ];
            for (command, words) in expected {
                let words: String = words.iter().map(|word| format!("{word}\0")).collect();
                assert_eq!(String::from_utf8_lossy(&read_by_a_shell(&command.to_string())), words, "{command}");
            }
        }
    }
}
