//! The reasons why a trial of connections could not be performed.

use crate::driver::{place, within};
use crate::memory::OutOfMemory;
use std::io;
use std::net::SocketAddr;

/// The reason why no trial could be performed.
#[derive(Debug, thiserror::Error)]
pub enum TcpError {
    /// The request is invalid.
    #[error("cannot make TCP connections: {0}")]
    Asked(&'static str),
    /// The tester does not have enough addresses and ports.
    #[error(
        "{needed} pairs of addresses and ports are needed{}, but there are only {has}; give the client more addresses or ports or the server more ports, or have connections closed by \
        the server or by reset",
        waiting_part(*.waiting)
    )]
    Addresses {
        /// The pairs that the trial needs.
        needed: u64,
        /// The existing pairs.
        has: u64,
        /// The number of needed pairs that earlier trials still occupy.
        waiting: u64,
    },
    /// The process may not open that many sockets.
    #[error(
        "{needed} open sockets and files are needed, but this process may only have {allowed}; raise the hard limit of the \
         shell (ulimit -Hn), or use fewer connections or, in a trial of a rate, a shorter time limit"
    )]
    Descriptors {
        /// The most descriptors that the trial may need, including those already open.
        needed: u64,
        /// The number of descriptors allowed.
        allowed: u64,
    },
    /// A client's address is not configured where the client is, or another process uses the port.
    #[error(
        "cannot make connections from {address} ({place}): {source}; is the address set on an interface there, and the port free?"
    )]
    NotHere {
        /// The address and port; port 0 means any.
        address: SocketAddr,
        /// A description of the namespace.
        place: String,
        /// The kernel's answer.
        source: io::Error,
    },
    /// The server cannot listen.
    #[error("cannot listen on {address} ({place}): {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// A description of the namespace.
        place: String,
        /// The kernel's answer.
        source: io::Error,
    },
    /// A namespace cannot be entered.
    #[error("cannot enter {place}: {source}")]
    Namespace {
        /// A description of the namespace.
        place: String,
        /// The kernel's answer.
        source: io::Error,
    },
    /// The trial's tables do not fit into memory.
    #[error(transparent)]
    Memory(#[from] OutOfMemory),
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
    /// Another call to the system failed.
    #[error("cannot run the TCP tester: {0}")]
    System(#[from] io::Error),
}

/// Returns the part of the sentence on needed pairs that tells how many of them earlier trials still occupy.
fn waiting_part(waiting: u64) -> String {
    match waiting {
        0 => String::new(),
        _ => {
            format!(", {waiting} of them because earlier trials left connections in TIME-WAIT")
        }
    }
}

/// Does the same as [`within`] for work that returns its own errors.
pub(super) fn try_within<T: Send>(
    namespace: Option<&str>,
    work: impl FnOnce() -> Result<T, TcpError> + Send,
) -> Result<T, TcpError> {
    within(namespace, work).map_err(|source| TcpError::Namespace {
        place: place(namespace),
        source,
    })?
}
