//! Errors of the connection to another machine.

use super::super::ProgramCommand;

/// The reason why another machine cannot be reached over ssh, or is not there any more; `machine` is the name ssh knows it by.
#[derive(Debug, thiserror::Error)]
// The message above each variant explains its fields.
#[allow(missing_docs)]
pub enum SshError {
    /// The host key is not the known one.
    #[error(
        "{machine}: its host key has changed; if the machine was set up anew, forget the old key (ssh-keygen -R HOST) and accept the \
         new one ({connect})"
    )]
    HostKeyChanged {
        machine: String,
        connect: ProgramCommand,
    },
    /// No host key is known.
    #[error("{machine}: its host key is not known here; check it and accept it once: {connect}")]
    HostKeyUnknown {
        machine: String,
        connect: ProgramCommand,
    },
    /// The machine does not take the user's key.
    #[error(
        "{machine} refused our key ({said}); put it there ({copy_key}), name it in ssh_config (IdentityFile), or load it (ssh-add); \
         with sudo, root's own key is used"
    )]
    KeyRefused {
        machine: String,
        said: String,
        copy_key: ProgramCommand,
    },
    /// No machine has this name.
    #[error(
        "{machine}: no such name ({said}); is it a `Host` of ssh_config, or a name that can be resolved?"
    )]
    NameUnknown { machine: String, said: String },
    /// The machine does not answer, or does not accept the connection.
    #[error(
        "cannot reach {machine}: {said}; is it up, does sshd run there, and is the port right?"
    )]
    Unreachable { machine: String, said: String },
    /// Any other message of ssh.
    #[error("cannot reach {machine} by ssh: {said}; what does `{connect}` say?")]
    Refused {
        machine: String,
        said: String,
        connect: ProgramCommand,
    },
    /// There is no session in time.
    #[error("{machine} gave no session within {seconds} s; what does `{connect}` say?")]
    NoSession {
        machine: String,
        seconds: u64,
        connect: ProgramCommand,
    },
    /// The user is not root there.
    #[error(
        "{machine}: the user is not root there, but only root can change addresses; log in as root (root@HOST, or `User root` in ssh_config)"
    )]
    NotRoot { machine: String },
    /// The connection has ended.
    #[error(
        "the connection to {machine} is lost: {said}; what was set up there is undone as soon as its sshd notices"
    )]
    Lost { machine: String, said: String },
}
