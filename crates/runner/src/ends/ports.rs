//! Opens the tester's ports.

use crate::error::ports::OpenError;
use sixbench_io::{Backend, Port, PortOptions, PortSpec, thread};

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
        Some(namespace) => {
            thread::in_namespace(namespace, open).map_err(|error| OpenError::Namespace {
                namespace: namespace.to_owned(),
                error,
            })?
        }
        None => open(),
    };
    Ok(opened?)
}

/// The length of the Ethernet header in octets, without a VLAN tag.
pub(crate) const ETHERNET_HEADER_OCTETS: u32 = 14;
