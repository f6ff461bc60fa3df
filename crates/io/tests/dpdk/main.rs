//! DPDK's virtual devices as ports: the null device, a ring, our own memif, AF_PACKET on a veth pair. They need the shim
//! (`scripts/build-dpdk-shim debug`, which `make test` calls) and Debian's package dpdk-dev, and no hugepages; `interface` needs root.
//!
//! DPDK's environment starts once per process and remains: each test runs in a separate process, which is this program started again.

#[path = "../veth/pair.rs"]
mod pair;

mod child;
mod errors;
mod interface;
mod links;
mod processes;

use sixbench_io::{Backend, Port, PortError, PortOptions, PortSpec};
use std::num::NonZeroU32;

/// Octets of most frames here.
const LENGTH: usize = 60;

fn open(name: &str) -> Result<Port, PortError> {
    open_for(name, LENGTH as u32)
}

/// Opens a port by its name in plan files, for frames of up to `longest` octets.
fn open_for(name: &str, longest: u32) -> Result<Port, PortError> {
    PortSpec::parse(name).open(Backend::Auto, PortOptions::new(longest))
}

/// Opens a port with this number of queues.
fn open_queues(name: &str, queues: u32) -> Result<Port, PortError> {
    PortSpec::parse(name).open(
        Backend::Auto,
        PortOptions {
            queues: NonZeroU32::new(queues),
            ..PortOptions::new(LENGTH as u32)
        },
    )
}

fn opened(name: &str) -> Port {
    open(name).unwrap_or_else(|error| panic!("{name}: {error}"))
}
