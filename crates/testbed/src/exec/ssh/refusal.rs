//! Turns error messages of ssh into advice on what to do.

use super::Destination;
use crate::exec::advised::{ssh_copy_id, ssh_true};
use crate::exec::{SshError, TestbedError};
use std::time::Duration;

pub(super) fn explain(destination: &Destination, printed: &str) -> SshError {
    let machine = destination.name.clone();
    let has = |needle: &str| printed.contains(needle);
    let (said, connect) = (last_line(printed), ssh_true(destination));
    if has("REMOTE HOST IDENTIFICATION HAS CHANGED") {
        SshError::HostKeyChanged { machine, connect }
    } else if has("Host key verification failed") || has("host key is known") {
        SshError::HostKeyUnknown { machine, connect }
    } else if has("Permission denied") {
        let copy_key = ssh_copy_id(destination);
        SshError::KeyRefused {
            machine,
            said,
            copy_key,
        }
    } else if has("Could not resolve hostname") {
        SshError::NameUnknown { machine, said }
    } else if UNREACHABLE.iter().any(|needle| has(needle)) {
        SshError::Unreachable { machine, said }
    } else {
        SshError::Refused {
            machine,
            said,
            connect,
        }
    }
}

/// Error messages of ssh for a machine that does not answer or does not accept the connection.
const UNREACHABLE: [&str; 7] = [
    "Connection refused",
    "Connection timed out",
    "Operation timed out",
    "No route to host",
    "Network is unreachable",
    "Connection closed by",
    "Connection reset",
];

pub(super) fn silent(destination: &Destination, waited: Duration) -> SshError {
    SshError::NoSession {
        machine: destination.name.clone(),
        seconds: waited.as_secs(),
        connect: ssh_true(destination),
    }
}

pub(crate) fn lost(machine: &str, printed: &str) -> TestbedError {
    SshError::Lost {
        machine: machine.to_owned(),
        said: last_line(printed),
    }
    .into()
}

/// Returns true if a message on standard error comes from ssh itself rather than from a command that exited with the same status.
pub(crate) fn is_of_ssh(said: &str) -> bool {
    let starts = [
        "ssh: ",
        "mux_client",
        "client_loop",
        "Connection to ",
        "Connection closed",
        "Timeout, server",
        "Host key",
    ];
    said.lines().any(|line| {
        starts.iter().any(|start| line.starts_with(start)) || line.contains("Permission denied (")
    })
}

fn last_line(printed: &str) -> String {
    printed
        .lines()
        .map(str::trim)
        .rfind(|line| !line.is_empty())
        .unwrap_or("it printed nothing")
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::SshConfig;
    use super::*;

    fn told(said: &str) -> String {
        explain(&Destination::new("dut", None), said).to_string()
    }

    #[test]
    fn each_refusal_of_ssh_says_what_next() {
        let refused = told("root@10.0.0.1: Permission denied (publickey).\n");
        assert!(
            refused.contains("dut refused our key") && refused.contains("ssh-copy-id dut"),
            "{refused}"
        );
        let unknown = told("Host key verification failed.\n");
        assert!(
            unknown.contains("not known here") && unknown.contains("ssh dut true"),
            "{unknown}"
        );
        let changed = "@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\nHost key verification failed.\n";
        assert!(told(changed).contains("ssh-keygen -R"), "{}", told(changed));
        let name = told("ssh: Could not resolve hostname dut: Name or service not known\n");
        assert!(
            name.starts_with("dut: no such name") && name.contains("ssh_config"),
            "{name}"
        );
        let port = told("ssh: connect to host 10.0.0.1 port 23: Connection refused\n");
        assert!(
            port.contains("port 23: Connection refused; is it up, does sshd run there"),
            "{port}"
        );
        let other = told("Can't open user config file /none: No such file or directory\n");
        assert!(
            other.contains("/none") && other.contains("what does `ssh dut true` say?"),
            "{other}"
        );
    }

    #[test]
    fn advice_about_a_machine_names_the_configuration_that_it_is_reached_by() {
        let destination = Destination::new("dut", Some(&SshConfig::new("/my own/config")));
        let key = explain(
            &destination,
            "root@10.0.0.1: Permission denied (publickey).\n",
        )
        .to_string();
        assert!(key.contains("ssh-copy-id -F '/my own/config' dut"), "{key}");
        let silent = silent(&destination, Duration::from_secs(30)).to_string();
        assert!(
            silent.contains("what does `ssh -F '/my own/config' dut true` say?"),
            "{silent}"
        );
    }

    #[test]
    fn words_of_a_command_are_not_those_of_ssh() {
        assert!(is_of_ssh(
            "mux_client_request_session: read from master failed: Broken pipe\n"
        ));
        assert!(is_of_ssh(
            "ssh: connect to host 10.0.0.1 port 22: No route to host\n"
        ));
        assert!(!is_of_ssh("tayga: cannot open /etc/tayga.conf\n"));
    }
}
