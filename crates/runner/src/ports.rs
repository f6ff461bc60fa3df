//! Opens the tester's ports.

use sixbench_io::{Interface, Port, PortError, packet, thread, xdp};
use sixbench_plan::Backend;
use std::io;

/// The reason why a port could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Its network namespace cannot be entered.
    #[error("cannot enter namespace {namespace}: {error}; was it removed meanwhile?")]
    Namespace {
        /// The name of the namespace.
        namespace: String,
        /// The system's answer.
        error: io::Error,
    },
    /// The interface cannot be used.
    #[error(transparent)]
    Port(#[from] PortError),
}

/// Opens `interface`, in `namespace` if one is given.
///
/// # Errors
/// No such namespace or interface, or none that the backend can use.
pub(crate) fn open(namespace: Option<&str>, interface: &str, backend: Backend) -> Result<Port, OpenError> {
    let opened = match namespace {
        Some(namespace) => thread::in_namespace(namespace, || open_here(interface, backend))
            .map_err(|error| OpenError::Namespace { namespace: namespace.to_owned(), error })?,
        None => open_here(interface, backend),
    };
    Ok(opened?)
}

fn open_here(name: &str, backend: Backend) -> Result<Port, PortError> {
    let interface = Interface::open(name)?;
    match backend {
        Backend::Packet => packet::open(&interface),
        Backend::Xdp => xdp::open(&interface),
        // AF_XDP is the faster of the two, on veth (measured) as on NICs; where it does not work, AF_PACKET does.
        Backend::Auto => xdp::open(&interface).or_else(|_| packet::open(&interface)),
    }
}
