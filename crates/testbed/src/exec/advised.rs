//! Commands of other programs that are offered to a user with a path or a name in them. Each can be pasted into a shell; no other file prints such a
//! command.

use super::quoting::ProgramCommand;
use super::ssh::Destination;
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// Returns the command that connects to a machine and does nothing there, so that ssh asks or tells whatever it has to.
pub(super) fn ssh_true(destination: &Destination) -> ProgramCommand {
    of_ssh("ssh", destination)
        .word(&destination.name)
        .args("true")
}

/// Returns the command that has a machine accept the user's key.
pub(super) fn ssh_copy_id(destination: &Destination) -> ProgramCommand {
    of_ssh("ssh-copy-id", destination).word(&destination.name)
}

/// Returns the command that copies a file to a machine.
pub(super) fn scp(file: &Path, destination: &Destination, target: &Path) -> ProgramCommand {
    let mut to = OsString::from(format!("{}:", destination.name));
    to.push(target);
    of_ssh("scp", destination).path(file).word(to)
}

/// Returns the command without arguments of a program of OpenSSH, which reads the configuration of this destination.
fn of_ssh(program: &str, destination: &Destination) -> ProgramCommand {
    let command = ProgramCommand::new(program);
    match &destination.config {
        Some(config) => command.args("-F").path(config.path()),
        None => command,
    }
}

/// Returns the command that changes an interface of this machine; `change` has only plain words.
pub(crate) fn ip_link_set(interface: impl AsRef<OsStr>, change: &str) -> ProgramCommand {
    ProgramCommand::new("ip")
        .args("link set")
        .word(interface)
        .args(change)
}

/// Returns the command that removes an interface of this machine.
pub(crate) fn ip_link_del(interface: impl AsRef<OsStr>) -> ProgramCommand {
    ProgramCommand::new("ip").args("link del").word(interface)
}

#[cfg(test)]
mod tests {
    use super::super::quoting::tests::read_by_a_shell;
    use super::super::ssh::SshConfig;
    use super::*;
    use std::path::PathBuf;

    #[test]
    fn a_shell_reads_every_name_in_an_advised_command_as_it_is() {
        for name in ["dut", "two words", "it's", "a;b", "$(id) `id`", "line\nend"] {
            let colon = format!("{name}:/opt/{name}");
            let file = format!("/tmp/{name}");
            let usual = Destination::new(name, None);
            let target = PathBuf::from(format!("/opt/{name}"));
            let config = "/my own/it's a config";
            let own = Destination::new(name, Some(&SshConfig::new(config)));
            let expected: [(ProgramCommand, Vec<&str>); 8] = [
                (ssh_true(&usual), vec!["ssh", name, "true"]),
                (ssh_copy_id(&usual), vec!["ssh-copy-id", name]),
                (
                    scp(file.as_ref(), &usual, &target),
                    vec!["scp", &file, &colon],
                ),
                (ssh_true(&own), vec!["ssh", "-F", config, name, "true"]),
                (ssh_copy_id(&own), vec!["ssh-copy-id", "-F", config, name]),
                (
                    scp(file.as_ref(), &own, &target),
                    vec!["scp", "-F", config, &file, &colon],
                ),
                (
                    ip_link_set(name, "mtu 9000"),
                    vec!["ip", "link", "set", name, "mtu", "9000"],
                ),
                (ip_link_del(name), vec!["ip", "link", "del", name]),
            ];
            for (command, words) in expected {
                let words: String = words.iter().map(|word| format!("{word}\0")).collect();
                assert_eq!(
                    String::from_utf8_lossy(&read_by_a_shell(&command.to_string())),
                    words,
                    "{command}"
                );
            }
        }
    }
}
