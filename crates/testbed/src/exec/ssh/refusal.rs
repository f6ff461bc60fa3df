//! Turns error messages of ssh into advice on what to do.

use super::Destination;
use crate::exec::TestbedError;
use crate::exec::advised::{ssh_copy_id, ssh_true};
use std::time::Duration;

pub(super) fn explain(destination: &Destination, said: &str) -> TestbedError {
    let name = &destination.name;
    let has = |needle: &str| said.contains(needle);
    let last = last_line(said);
    let text = if has("REMOTE HOST IDENTIFICATION HAS CHANGED") {
        format!(
            "{name}: its host key has changed; if the machine was set up anew, forget the old key (ssh-keygen -R HOST) \
             and accept the new one ({})",
            ssh_true(destination)
        )
    } else if has("Host key verification failed") || has("host key is known") {
        format!(
            "{name}: its host key is not known here; check it and accept it once: {}",
            ssh_true(destination)
        )
    } else if has("Permission denied") {
        format!(
            "{name} refused our key ({last}); put it there ({}), name it in ssh_config \
             (IdentityFile), or load it (ssh-add); with sudo, root's own key is used",
            ssh_copy_id(destination)
        )
    } else if has("Could not resolve hostname") {
        format!(
            "{name}: no such name ({last}); is it a `Host` of ssh_config, or a name that can be resolved?"
        )
    } else if UNREACHABLE.iter().any(|needle| has(needle)) {
        format!(
            "cannot reach {name}: {last}; is it up, does sshd run there, and is the port right?"
        )
    } else {
        format!(
            "cannot reach {name} by ssh: {last}; what does `{}` say?",
            ssh_true(destination)
        )
    };
    TestbedError::Other(text)
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

pub(super) fn silent(destination: &Destination, waited: Duration) -> TestbedError {
    let (name, seconds) = (&destination.name, waited.as_secs());
    TestbedError::Other(format!(
        "{name} gave no session within {seconds} s; what does `{}` say?",
        ssh_true(destination)
    ))
}

pub(crate) fn lost(destination: &str, said: &str) -> TestbedError {
    TestbedError::Other(format!(
        "the connection to {destination} is lost: {}; what was set up there is undone as soon as its sshd notices",
        last_line(said)
    ))
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

fn last_line(said: &str) -> &str {
    said.lines()
        .map(str::trim)
        .rfind(|line| !line.is_empty())
        .unwrap_or("it printed nothing")
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
