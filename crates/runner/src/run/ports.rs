//! Opens the tester's ports.

use sixbench_io::{Backend, Port, PortError, PortOptions, PortSpec, thread};
use std::io;

/// The reason why a port could not be opened.
#[derive(Debug, thiserror::Error)]
// The message above each variant explains its fields.
#[allow(missing_docs)]
pub enum OpenError {
    /// Its network namespace cannot be entered.
    #[error("cannot enter namespace {namespace}: {error}; was it removed in the meantime?")]
    Namespace { namespace: String, error: io::Error },
    /// The port cannot be used.
    #[error(transparent)]
    Port(#[from] PortError),
}

/// Opens a port with these settings, in `namespace` if one is given.
///
/// # Errors
/// There is no such namespace, interface or address, or the backend cannot use it.
pub(crate) fn open(
    (namespace, port): (Option<&str>, &PortSpec),
    backend: Backend,
    settings: PortOptions,
) -> Result<Port, OpenError> {
    let open = || port.open(backend, settings);
    let opened = match namespace {
        Some(namespace) => thread::in_namespace(namespace, open)
            .map_err(|error| OpenError::Namespace { namespace: namespace.to_owned(), error })?,
        None => open(),
    };
    Ok(opened?)
}

/// The length of the Ethernet header in octets, without a VLAN tag.
pub(crate) const ETHERNET_HEADER_OCTETS: u32 = 14;
