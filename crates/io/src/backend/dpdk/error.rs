//! What can go wrong with a port of DPDK, in words.

/// The reason why a port of DPDK cannot be opened or used.
#[derive(Debug, thiserror::Error)]
pub(super) enum DpdkError {
    /// The address is none.
    #[error(
        "{0}; expected a PCI device as in 0000:3b:00.0, or a virtual device as in net_memif0,role=client,socket=/run/x.sock"
    )]
    Address(String),
    /// This machine lacks something.
    #[error("{what}: {cure}")]
    Lacking {
        /// A description of what is missing.
        what: String,
        /// The action that helps.
        cure: String,
    },
    /// The environment of DPDK does not start.
    #[error("DPDK does not start: {0}")]
    Start(String),
    /// This process uses the device already.
    #[error("the device {0} is open already: left and right must be two devices")]
    InUse(String),
    /// The link has not come up.
    #[error(
        "the link did not come up within {seconds} s: is the device's interface at its other end up, and the cable in? A virtual device that \
         connects to a server, such as net_memif with role=client, tries only once: start the server first"
    )]
    NoLink {
        /// The time that was waited.
        seconds: u64,
    },
    /// There is too little memory for the buffers of a port.
    #[error(
        "there is too little memory for its buffers: reserve more hugepages on the NUMA node of the NIC, or use fewer queues"
    )]
    Memory,
    /// A call of DPDK failed.
    #[error("DPDK cannot {what}: {why}")]
    Call {
        /// The operation that was tried.
        what: String,
        /// What DPDK says of it.
        why: String,
    },
}
