//! The errors of a DPDK port, with their messages.

/// The reason why a DPDK port cannot be opened or used.
#[derive(Debug, thiserror::Error)]
pub(super) enum DpdkError {
    /// The address is invalid.
    #[error(
        "{0}; expected a PCI device as in 0000:3b:00.0, or a virtual device as in net_memif0,role=client,socket=/run/x.sock"
    )]
    Address(String),
    /// This machine lacks something.
    #[error("{what}: {cure}")]
    Lacking {
        /// A description of what is missing.
        what: String,
        /// The remedy.
        cure: String,
    },
    /// The environment of DPDK cannot be started.
    #[error("DPDK does not start: {0}")]
    Start(String),
    /// This process already uses the device.
    #[error("the device {0} is open already: left and right must be two devices")]
    InUse(String),
    /// The link has not come up.
    #[error(
        "the link did not come up within {seconds} s: is the device's interface at its other end up, and the cable in? A virtual device that \
         connects to a server, such as net_memif with role=client, tries only once: start the server first"
    )]
    NoLink {
        /// The time limit.
        seconds: u64,
    },
    /// There is too little memory for the buffers of a port.
    #[error(
        "there is too little memory for its buffers: reserve more hugepages on the NUMA node of the NIC, or use fewer queues"
    )]
    Memory,
    /// A call to DPDK failed.
    #[error("DPDK cannot {what}: {why}")]
    Call {
        /// The operation that was tried.
        what: String,
        /// DPDK's own explanation.
        why: String,
    },
}
