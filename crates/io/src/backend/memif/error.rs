//! The errors of a link in shared memory, with their messages.

use super::message::VERSION;
use std::io;

/// The reason why a link cannot be set up, or has ended.
#[derive(Debug, thiserror::Error)]
pub(super) enum MemifError {
    /// The address is invalid.
    #[error(
        "{0}; expected a path as in /run/vpp/memif.sock, `@` and a name for an abstract socket, and, if wanted, `,id=` and a number"
    )]
    Address(String),
    /// There is no socket file.
    #[error(
        "there is no socket {0}: start the device, which must be the server there (in VPP `create memif socket` and `create interface memif ... \
         master`, in DPDK `role=server`), or let sixbench be the server with `memif-server:`"
    )]
    NoSocket(String),
    /// There is a socket file, but no server listens on it.
    #[error(
        "nobody listens on the socket {0}: the program that made it has ended; start the device again"
    )]
    NobodyListens(String),
    /// It is a socket of another kind, or not a socket.
    #[error(
        "{path} is no socket of memif ({source}): name the file of `create memif socket`, not that of a command line or an API"
    )]
    OtherSocket {
        /// Its path.
        path: String,
        /// The kernel's answer.
        source: io::Error,
    },
    /// The file belongs to another user.
    #[error(
        "this user may not open the socket {0}: run sixbench as the user of the device, or change the rights of the file"
    )]
    Denied(String),
    /// Another server is there already.
    #[error(
        "cannot listen on {0}: another program listens there, or the file is no socket; choose another path, or use `memif:` to be the client"
    )]
    InUse(String),
    /// Other users could put their own socket in the place of ours.
    #[error(
        "cannot listen on {path} as root: other users can change {part}; choose a directory of root's, such as /run, or one with the sticky bit, \
         such as /tmp"
    )]
    Shared {
        /// The path of our socket.
        path: String,
        /// The part of it that others can change.
        part: String,
    },
    /// No client connected.
    #[error(
        "nobody connected to {path} within {seconds} s: let the device connect to it as a client (in VPP `create interface memif ... slave`, in DPDK \
         `role=client`)"
    )]
    NobodyCame {
        /// The path of our socket.
        path: String,
        /// The time limit.
        seconds: u64,
    },
    /// The peer did not answer in time.
    #[error(
        "the peer sent no {awaited} within {seconds} s: is it still running, and does it speak memif?"
    )]
    Silent {
        /// The expected message.
        awaited: &'static str,
        /// The time limit.
        seconds: u64,
    },
    /// The peer closed the socket instead of answering.
    #[error("the peer closed the connection instead of sending {0}; its log may say why")]
    Closed(&'static str),
    /// The peer refused and gave a reason.
    #[error(
        "the peer refused instead of sending {awaited}: {reason:?}; sixbench wants Ethernet mode and no secret, and the interface 0 unless `,id=` says \
         otherwise: compare that with the device's"
    )]
    Refused {
        /// The expected message.
        awaited: &'static str,
        /// The peer's reason.
        reason: String,
    },
    /// The peer has another version of the protocol.
    #[error(
        "the peer speaks memif {}, and sixbench {}: use a release of VPP or DPDK that speaks it",
        versions(*min, *max),
        versions(VERSION, VERSION)
    )]
    Version {
        /// The lowest version.
        min: u16,
        /// The highest version.
        max: u16,
    },
    /// The client wants an interface or mode other than ours.
    #[error(
        "the peer wants {wanted}, and here is {here}: change the interface of the device, or `id=` in the name of this port"
    )]
    OtherInterface {
        /// The interface or mode that the peer wants.
        wanted: String,
        /// The interface or mode of this end.
        here: String,
    },
    /// The peer's memory may be unsafe to touch, or there is too much of it.
    #[error(
        "the memory of the peer cannot be used: {0}; let the device use none of its own buffers (in VPP `no-zero-copy`, in DPDK `zero-copy=no`), or let \
         it be the server"
    )]
    UnusableMemory(String),
    /// The peer violates the protocol.
    #[error("the peer breaks the rules of memif: {0}; the link cannot be trusted any more")]
    Broken(String),
    /// The link was set up, and the peer has disconnected.
    #[error("the peer has gone away{}: did the device end? The link must be opened again", because(.0))]
    Gone(Option<String>),
    /// A call to the kernel failed.
    #[error("cannot {what}: {source}")]
    System {
        /// The operation that was tried.
        what: &'static str,
        /// The kernel's answer.
        source: io::Error,
    },
}

impl MemifError {
    pub(super) fn broken(what: impl Into<String>) -> Self {
        Self::Broken(what.into())
    }

    /// Returns the conversion of a system error.
    pub(super) fn system(what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::System { what, source }
    }
}

fn versions(min: u16, max: u16) -> String {
    if min == max {
        version(min)
    } else {
        format!("{} to {}", version(min), version(max))
    }
}

/// Returns a version as the peer's documentation writes it: the major number is in the upper octet.
fn version(number: u16) -> String {
    format!("{}.{}", number >> 8, number & 0xff)
}

fn because(reason: &Option<String>) -> String {
    reason
        .as_ref()
        .map_or(String::new(), |reason| format!(" and says {reason:?}"))
}
