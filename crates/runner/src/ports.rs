//! Opens the tester's ports.

use sixbench_io::packet::PacketPort;
use sixbench_io::xdp::XdpPort;
use sixbench_io::{Interface, Port, PortError, thread};
use sixbench_plan::Backend;
use std::io;

/// An open port, and a description of how it sends and receives.
pub(crate) struct Opened {
    pub(crate) port: Box<dyn Port>,
    pub(crate) how: String,
}

/// The reason why a port could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Its network namespace cannot be entered.
    #[error("cannot enter namespace {namespace}: {error}; was it removed in the meantime?")]
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
pub(crate) fn open(namespace: Option<&str>, interface: &str, backend: Backend) -> Result<Opened, OpenError> {
    let opened = match namespace {
        Some(namespace) => thread::in_namespace(namespace, || open_here(interface, backend))
            .map_err(|error| OpenError::Namespace { namespace: namespace.to_owned(), error })?,
        None => open_here(interface, backend),
    };
    Ok(opened?)
}

fn open_here(name: &str, backend: Backend) -> Result<Opened, PortError> {
    let interface = Interface::open(name)?;
    match backend {
        Backend::Packet => packet(&interface),
        Backend::Xdp => xdp(&interface),
        // AF_XDP is the faster of the two, on veth (measured) as on NICs; where it does not work, AF_PACKET does.
        Backend::Auto => xdp(&interface).or_else(|_| packet(&interface)),
    }
}

fn packet(interface: &Interface) -> Result<Opened, PortError> {
    let port = PacketPort::open(interface)?;
    Ok(Opened { port: Box::new(port), how: "AF_PACKET (sendmmsg past the qdisc, TPACKET_V2 ring)".to_owned() })
}

fn xdp(interface: &Interface) -> Result<Opened, PortError> {
    let port = XdpPort::open(interface)?;
    let how = format!("AF_XDP ({})", port.mode());
    Ok(Opened { port: Box::new(port), how })
}
