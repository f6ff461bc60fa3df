//! The control socket. It carries one message after the other, each within a time limit. Closing it ends the link.

use super::error::MemifError;
use super::listener::MemifListener;
use super::message::{MESSAGE_OCTETS, MemifMessage};
use crate::sys::seqpacket::{self, ReceivedMessage};
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::fs::FileTypeExt as _;
use std::sync::OnceLock;
use std::time::Duration;

/// The time limit for each step of the peer. A program that forwards frames answers within milliseconds.
pub(super) const STEP_LIMIT: Duration = Duration::from_secs(3);
/// The time limit for a client to connect to us: VPP retries every three seconds.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);

/// The control socket of one link.
pub(super) struct ControlChannel {
    socket: OwnedFd,
    /// The peer's reason for disconnecting, once it has done so.
    gone: OnceLock<Option<String>>,
}

impl ControlChannel {
    /// Connects to the server at `path`.
    pub(super) fn connect(path: &str) -> Result<Self, MemifError> {
        let socket =
            seqpacket::connect(path, STEP_LIMIT).map_err(|source| match source.raw_os_error() {
                Some(libc::ENOENT) => MemifError::NoSocket(path.to_owned()),
                // There are no files in the abstract namespace, so no socket with this name exists.
                Some(libc::ECONNREFUSED) if path.starts_with('@') => {
                    MemifError::NoSocket(path.to_owned())
                }
                Some(libc::ECONNREFUSED) if is_socket(path) => {
                    MemifError::NobodyListens(path.to_owned())
                }
                Some(libc::EACCES | libc::EPERM) => MemifError::Denied(path.to_owned()),
                Some(libc::EPROTOTYPE | libc::ECONNREFUSED | libc::ENOTDIR) => {
                    MemifError::OtherSocket {
                        path: path.to_owned(),
                        source,
                    }
                }
                _ if source.kind() == io::ErrorKind::InvalidFilename => too_long(path),
                _ if is_time_over(&source) => MemifError::Silent {
                    awaited: "HELLO",
                    seconds: STEP_LIMIT.as_secs(),
                },
                _ => MemifError::System {
                    what: "connect to the socket",
                    source,
                },
            })?;
        Ok(Self::of_socket(socket))
    }

    pub(super) fn of_socket(socket: OwnedFd) -> Self {
        Self {
            socket,
            gone: OnceLock::new(),
        }
    }

    /// Waits for the only client at `path`. The socket's file is removed again.
    pub(super) fn accept(path: &str) -> Result<Self, MemifError> {
        let listener = MemifListener::new(path)?;
        let socket =
            seqpacket::accept(listener.socket(), CONNECT_LIMIT, STEP_LIMIT).map_err(|source| {
                match source.kind() {
                    io::ErrorKind::TimedOut => MemifError::NobodyCame {
                        path: path.to_owned(),
                        seconds: CONNECT_LIMIT.as_secs(),
                    },
                    _ => MemifError::System {
                        what: "accept a connection",
                        source,
                    },
                }
            })?;
        Ok(Self::of_socket(socket))
    }

    /// Sends a message, optionally with a descriptor. If the peer has closed its end, it may have given a reason, which the next
    /// [`receive`](Self::receive) finds.
    pub(super) fn send(
        &self,
        message: &MemifMessage,
        descriptor: Option<BorrowedFd<'_>>,
    ) -> Result<(), MemifError> {
        loop {
            match seqpacket::send(&self.socket, &message.encode(), descriptor) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error)
                    if matches!(error.raw_os_error(), Some(libc::EPIPE | libc::ECONNRESET)) =>
                {
                    return Ok(());
                }
                Err(error) if is_time_over(&error) => return Err(self.silent(message.name())),
                sent => return sent.map_err(MemifError::system("send a message to the peer")),
            }
        }
    }

    /// Returns the next message, which errors call `awaited`, and the descriptors that came with it.
    ///
    /// # Errors
    /// The peer refuses, does not answer in time, has closed its end, or sends an invalid message.
    pub(super) fn receive(
        &self,
        awaited: &'static str,
    ) -> Result<(MemifMessage, Vec<OwnedFd>), MemifError> {
        match self.take(true) {
            Ok(Some((MemifMessage::Disconnect { reason }, _))) => {
                Err(MemifError::Refused { awaited, reason })
            }
            Ok(Some(received)) => Ok(received),
            Ok(None) => Err(MemifError::Closed(awaited)),
            Err(TakeError::System(error)) if is_time_over(&error) => Err(self.silent(awaited)),
            Err(TakeError::System(error)) => Err(MemifError::System {
                what: "receive a message from the peer",
                source: error,
            }),
            Err(TakeError::Peer(error)) => Err(error),
        }
    }

    /// Returns the next message, which must come without a descriptor.
    pub(super) fn receive_plain(&self, awaited: &'static str) -> Result<MemifMessage, MemifError> {
        match self.receive(awaited)? {
            (message, descriptors) if descriptors.is_empty() => Ok(message),
            (message, _) => Err(MemifError::broken(format!(
                "a descriptor came with {}, which has none",
                message.name()
            ))),
        }
    }

    /// Waits for an ACK.
    pub(super) fn receive_ack(&self) -> Result<(), MemifError> {
        match self.receive_plain("ACK")? {
            MemifMessage::Ack => Ok(()),
            other => Err(unexpected("ACK", &other)),
        }
    }

    /// Fails if the peer has disconnected. This is one system call, which does not block.
    pub(super) fn check(&self) -> Result<(), MemifError> {
        if let Some(reason) = self.gone.get() {
            return Err(MemifError::Gone(reason.clone()));
        }
        let system = MemifError::system("look for the peer");
        match seqpacket::is_readable(&self.socket, Duration::ZERO) {
            Ok(false) => return Ok(()),
            Ok(true) => {}
            Err(error) => return Err(system(error)),
        }
        match self.take(false) {
            Ok(Some((MemifMessage::Disconnect { reason }, _))) => Err(self.note_gone(Some(reason))),
            Ok(None) => Err(self.note_gone(None)),
            Ok(Some((other, _))) => Err(MemifError::broken(format!(
                "a {} in the middle of a link",
                other.name()
            ))),
            // The other half of the port took it first.
            Err(TakeError::System(error)) if is_time_over(&error) => Ok(()),
            Err(TakeError::System(error)) => Err(system(error)),
            Err(TakeError::Peer(error)) => Err(error),
        }
    }

    /// Tells the peer why the link cannot be set up.
    pub(super) fn refuse(&self, reason: String) {
        let _ = self.send(&MemifMessage::Disconnect { reason }, None);
        let _ = self.gone.set(None);
    }

    fn note_gone(&self, reason: Option<String>) -> MemifError {
        MemifError::Gone(self.gone.get_or_init(|| reason).clone())
    }

    fn silent(&self, awaited: &'static str) -> MemifError {
        MemifError::Silent {
            awaited,
            seconds: STEP_LIMIT.as_secs(),
        }
    }

    /// Takes one message; `None` if the peer has closed its end.
    fn take(&self, may_wait: bool) -> Result<Option<(MemifMessage, Vec<OwnedFd>)>, TakeError> {
        let (mut room, mut was_reset) = ([0; MESSAGE_OCTETS], false);
        let ReceivedMessage {
            octets,
            descriptors,
            is_cut,
        } = loop {
            match seqpacket::receive(&self.socket, &mut room, may_wait) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // A peer that closes its end without reading everything resets the connection. The kernel reports that once, before the messages
                // the peer has sent.
                Err(error) if error.raw_os_error() == Some(libc::ECONNRESET) && !was_reset => {
                    was_reset = true;
                }
                received => break received.map_err(TakeError::System)?,
            }
        };
        if is_cut {
            let what = format!(
                "a message of more than {MESSAGE_OCTETS} octets, or with too many descriptors"
            );
            return Err(TakeError::Peer(MemifError::broken(what)));
        }
        if octets == 0 {
            return Ok(None);
        }
        let message = MemifMessage::decode(&room[..octets]).map_err(TakeError::Peer)?;
        Ok(Some((message, descriptors)))
    }
}

impl Drop for ControlChannel {
    /// Disconnects explicitly, so that the peer does not have to detect it.
    fn drop(&mut self) {
        if self.gone.get().is_none() {
            let _ = self.send(
                &MemifMessage::Disconnect {
                    reason: "sixbench is done".to_owned(),
                },
                None,
            );
        }
    }
}

/// The reason why no message was taken.
enum TakeError {
    System(io::Error),
    Peer(MemifError),
}

/// Returns the error for a message other than the expected one.
pub(super) fn unexpected(awaited: &str, message: &MemifMessage) -> MemifError {
    MemifError::broken(format!("{} where {awaited} is due", message.name()))
}

fn is_socket(path: &str) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|file| file.file_type().is_socket())
}

pub(super) fn too_long(path: &str) -> MemifError {
    MemifError::Address(format!(
        "the path {path:?} is too long for a socket, which has room for 107 octets"
    ))
}

fn is_time_over(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
    )
}
