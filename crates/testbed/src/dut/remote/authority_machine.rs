//! The machine of the authority that a DNS64 server queries, if that is neither the tester's nor the device's: which of its interfaces are used,
//! and which program serves there. All checks here run before anything is touched.

use super::check::{self, InterfacePlace};
use super::machine::RemoteMachine;
use crate::exec::{ExecTarget, Remote, ServerError, Shell, SshConfig, TestbedError};
use crate::recipe::System;
use std::env::consts::ARCH;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// The keys of a plan that name the machine's interfaces.
const KEYS: &str = "[testbed.authority] (interface, self-test)";

/// The machine, and what is used of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthorityMachine {
    remote: Remote,
    /// The interface cabled to the device, and the one cabled to the tester.
    interfaces: [String; 2],
    program: Option<PathBuf>,
    threads: Option<NonZeroUsize>,
}

impl AuthorityMachine {
    /// A machine by the name ssh knows it by; `config` is read instead of the usual ssh_config. The first of `interfaces` is cabled to the device's right, the
    /// second to the tester, for the self-test. Nothing is opened yet: in a rehearsal it can be used as it is.
    pub fn new(destination: &str, config: Option<&SshConfig>, interfaces: [String; 2]) -> Self {
        Self {
            remote: Remote::new(destination, config),
            interfaces,
            program: None,
            threads: None,
        }
    }

    /// Returns the same machine with the path of the program that serves there; `None` copies the running one.
    #[must_use]
    pub fn with_program(self, program: Option<PathBuf>) -> Self {
        Self { program, ..self }
    }

    /// Returns the same machine with the number of threads that serve there. `None` stands for one per core.
    #[must_use]
    pub fn with_threads(self, threads: Option<NonZeroUsize>) -> Self {
        Self { threads, ..self }
    }

    /// Returns its ssh name.
    pub fn name(&self) -> &str {
        self.remote.destination()
    }

    /// Returns the interface cabled to the device, and the one cabled to the tester.
    pub fn interfaces(&self) -> &[String; 2] {
        &self.interfaces
    }

    /// Returns the file that ssh reads in place of its usual configuration.
    pub fn ssh_config(&self) -> Option<&SshConfig> {
        self.remote.config()
    }

    /// Returns the path of the program that serves there, or `None` if the running program is copied there.
    pub fn program(&self) -> Option<&Path> {
        self.program.as_deref()
    }

    pub(super) fn threads(&self) -> Option<NonZeroUsize> {
        self.threads
    }

    /// Returns the machine as ssh reaches it.
    pub fn remote(&self) -> &Remote {
        &self.remote
    }

    /// Opens the connection, unless a stop is requested meanwhile.
    ///
    /// # Errors
    /// The machine cannot be reached, or its user is not root there.
    pub fn reach(&self, shell: &Shell) -> Result<Self, TestbedError> {
        Ok(Self {
            remote: self.remote.reach(shell.context())?,
            ..self.clone()
        })
    }

    /// Refuses configurations that cannot work: the machine of the tester or of a device, another operating system, interfaces in use, a version of
    /// the program other than `version`, or another server on one of the addresses in `listen`.
    ///
    /// # Errors
    /// The first reason for a refusal, with advice.
    pub fn check(
        &self,
        devices: &[RemoteMachine],
        version: &str,
        listen: &[SocketAddr],
        shell: &Shell,
    ) -> Result<(), TestbedError> {
        let (own, name) = (self.shell(shell), self.name());
        let runs = own.look(&["uname", "-s"])?;
        if runs.trim() != System::Linux.title() {
            return Err(ServerError::NotLinux {
                machine: name.to_owned(),
                runs: runs.trim().to_owned(),
            }
            .into());
        }
        let identity = identity(&own)?;
        let here =
            self::identity(&shell.outside()).map(|identity| ("this machine".to_owned(), identity));
        let others = [here]
            .into_iter()
            .chain(devices.iter().map(|device| {
                Ok((
                    device.name().to_owned(),
                    self::identity(&device.shell(shell))?,
                ))
            }))
            .collect::<Result<Vec<_>, TestbedError>>()?;
        if let Some((other, _)) = others.into_iter().find(|(_, other)| *other == identity) {
            let machine = name.to_owned();
            return Err(ServerError::SameMachine { machine, other }.into());
        }
        let place = InterfacePlace {
            machine: name,
            keys: KEYS,
            system: System::Linux,
        };
        self.interfaces
            .iter()
            .try_for_each(|interface| check::check(&own, &place, interface))?;
        match &self.program {
            Some(program) => self.check_version(program, version, &own)?,
            None => self.check_architecture(&own)?,
        }
        for address in listen {
            check_free(*address, name, &own)?;
        }
        Ok(())
    }

    /// Refuses another version, which might serve another zone or expect other arguments.
    pub(super) fn check_version(
        &self,
        program: &Path,
        version: &str,
        own: &Shell,
    ) -> Result<(), TestbedError> {
        let path = program.display().to_string();
        let here = std::env::current_exe().unwrap_or_default();
        let cure = || match self.program {
            Some(_) => format!(
                "install this one there ({}), or leave `program` out of [testbed.authority], and it is copied there for the run",
                self.remote.scp(&here, program)
            ),
            None => {
                "install sixbench there, and name it as `program` in [testbed.authority]".to_owned()
            }
        };
        let printed = own.look(&[path.as_str(), "--version"]).map_err(|error| {
            error.restated(|cause| ServerError::NotStarted {
                program: path.clone(),
                machine: self.name().to_owned(),
                cause,
                cure: cure(),
            })
        })?;
        let first = printed.lines().next().unwrap_or_default();
        match first.strip_prefix("sixbench ") {
            Some(theirs) if theirs == version => Ok(()),
            theirs => Err(ServerError::OtherVersion {
                machine: self.name().to_owned(),
                theirs: theirs.map_or_else(
                    || format!("no sixbench (it says `{first}`)"),
                    |theirs| format!("sixbench {theirs}"),
                ),
                program: path,
                version: version.to_owned(),
                cure: cure().into(),
            }
            .into()),
        }
    }

    fn check_architecture(&self, own: &Shell) -> Result<(), TestbedError> {
        let theirs = own.look(&["uname", "-m"])?;
        if theirs.trim() == ARCH {
            return Ok(());
        }
        Err(ServerError::OtherArchitecture {
            machine: self.name().to_owned(),
            theirs: theirs.trim().to_owned(),
        }
        .into())
    }

    pub(super) fn shell(&self, shell: &Shell) -> Shell {
        shell.at(ExecTarget::Ssh(self.remote.clone()))
    }
}

/// Returns a text that identifies a machine: the boot ID of its kernel, and its network namespace, since containers on one kernel have interfaces of
/// their own.
fn identity(shell: &Shell) -> Result<String, TestbedError> {
    shell.look(&[
        "sh",
        "-c",
        "cat /proc/sys/kernel/random/boot_id; readlink /proc/self/ns/net",
    ])
}

/// Refuses an address on which another server already listens, also on the wildcard address.
fn check_free(address: SocketAddr, machine: &str, shell: &Shell) -> Result<(), ServerError> {
    // Without `ss`, a conflict shows up as the server's own error.
    let Ok(listening) = shell.look(&["ss", "-Hlnutp"]) else {
        return Ok(());
    };
    let Some(taken) = listening.lines().find(|line| is_at(line, address)) else {
        return Ok(());
    };
    let who = taken
        .split_whitespace()
        .last()
        .filter(|word| word.starts_with("users:"))
        .unwrap_or("no process that can be seen");
    let local = local_end(taken).unwrap_or_default();
    Err(ServerError::PortTaken {
        address,
        machine: machine.to_owned(),
        who: who.to_owned(),
        local: local.to_owned(),
    })
}

/// Returns the local address in a line of `ss -lnutp`: the fifth word, after the protocol, the state and two queues.
fn local_end(line: &str) -> Option<&str> {
    line.split_whitespace().nth(4)
}

fn is_at(line: &str, address: SocketAddr) -> bool {
    let Some((host, port)) = local_end(line).and_then(|end| end.rsplit_once(':')) else {
        return false;
    };
    let host = host
        .split('%')
        .next()
        .unwrap_or(host)
        .trim_start_matches('[')
        .trim_end_matches(']');
    let wildcard = if address.is_ipv4() { "0.0.0.0" } else { "::" };
    port == address.port().to_string()
        && (host == "*" || host == wildcard || host == address.ip().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_taken_at_its_address_or_at_all_of_its_family() {
        let at = |line: &str, address: &str| is_at(line, address.parse().expect("an address"));
        for line in [
            r#"udp   UNCONN 0      0            0.0.0.0:53         0.0.0.0:*    users:(("named",pid=7,fd=4))"#,
            r"tcp   LISTEN 0      10                 *:53               *:*",
            r"udp   UNCONN 0      0      198.18.0.2%e0:53         0.0.0.0:*",
        ] {
            assert!(at(line, "198.18.0.2:53"), "{line}");
            assert!(!at(line, "198.18.0.2:5300"), "{line}");
        }
        let resolved = r#"udp   UNCONN 0      0      127.0.0.53%lo:53         0.0.0.0:*    users:(("systemd-resolve",pid=7,fd=4))"#;
        assert!(!at(resolved, "198.18.0.2:53"));
        let six = "udp   UNCONN 0      0               [::]:53            [::]:*";
        assert!(at(six, "[2001:2::2]:53") && !at(six, "198.18.0.2:53"));
    }
}
