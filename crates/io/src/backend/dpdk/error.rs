//! What can go wrong with a port of DPDK, in words.

use super::shim::SHIM_FILE;
use std::path::PathBuf;

/// The reason why a port of DPDK cannot be opened or used.
#[derive(Debug, thiserror::Error)]
pub(super) enum DpdkError {
    /// The address is none.
    #[error(
        "{0}; expected a PCI device as in 0000:3b:00.0, or a virtual device as in net_memif0,role=client,socket=/run/x.sock"
    )]
    Address(String),
    /// Our own part that is compiled against DPDK is missing.
    #[error(
        "{SHIM_FILE} is not in {}: `make build` puts it beside the binary if DPDK's development files are there (apt-get install libdpdk-dev pkg-config), \
         and SIXBENCH_DPDK names another place",
        places(.0)
    )]
    NoShim(Vec<PathBuf>),
    /// It is there, and cannot be loaded.
    #[error(
        "{path} cannot be loaded: {why}; it needs the libraries of the DPDK that it was built with: install them (apt-get install dpdk-dev), or build it \
         for those that are there (make build)"
    )]
    Libraries {
        /// The path of the shared object.
        path: PathBuf,
        /// The loader's answer.
        why: String,
    },
    /// It was built for another version of sixbench.
    #[error("{path} is of another version of sixbench ({found}, and {expected} is needed): build it again (make build)")]
    OtherVersion {
        /// The path of the shared object.
        path: PathBuf,
        /// The number of its interface.
        found: u32,
        /// The number that is needed.
        expected: u32,
    },
    /// The environment of DPDK does not start.
    #[error("DPDK does not start: {0}")]
    Start(String),
    /// This process uses the device already.
    #[error("the device {0} is open already: left and right must be two devices")]
    InUse(String),
    /// A call of DPDK failed.
    #[error("DPDK cannot {what}: {why}")]
    Call {
        /// The operation that was tried.
        what: String,
        /// What DPDK says of it.
        why: String,
    },
}

fn places(places: &[PathBuf]) -> String {
    places.iter().map(|place| place.display().to_string()).collect::<Vec<_>>().join(" or ")
}
