//! Devices with processors that are not this machine's own to look at: how each of them is watched, and nothing else.

use super::{Source, WatchedDevice, other_machine, processor, virtual_machine};
use crate::net::Cores;
use sixbench_method::record::{CoreWatch, DeviceWatch};
use std::time::Instant;

/// One of them while it is watched.
#[derive(Debug)]
pub(super) struct Watcher {
    name: String,
    eye: Eye,
}

#[derive(Debug)]
enum Eye {
    VirtualMachine(virtual_machine::Eye),
    OtherMachine(other_machine::Eye),
    HostCores(Vec<u32>, Vec<processor::Snapshot>),
}

impl Watcher {
    /// Begins to watch. `None` where nothing can be seen: then there will be no watch, and that is no reason to measure nothing.
    pub(super) fn begin(device: &WatchedDevice) -> Option<Self> {
        let eye = match &device.source {
            Source::VirtualMachine { process, cores } => Eye::VirtualMachine(virtual_machine::Eye::new(*process, *cores)),
            Source::HostCores(cores) => Eye::HostCores(cores.clone(), vec![]),
            Source::OtherMachine(remote) => Eye::OtherMachine(other_machine::Eye::open(remote)?),
        };
        Some(Self { name: device.name.clone(), eye })
    }

    /// Looks; never waits.
    pub(super) fn look(&mut self) {
        match &mut self.eye {
            Eye::VirtualMachine(eye) => eye.look(),
            Eye::OtherMachine(eye) => eye.look(),
            Eye::HostCores(_, snapshots) => snapshots.push(processor::snapshot()),
        }
    }

    /// Ends; `moments` are those of all looks. `None` of a device that was not seen.
    pub(super) fn end(self, moments: &[Instant]) -> Option<DeviceWatch> {
        let (cores, memory) = match self.eye {
            Eye::VirtualMachine(eye) => eye.close(),
            Eye::OtherMachine(eye) => eye.close(moments),
            Eye::HostCores(own, snapshots) => Some((of_host(own, &snapshots), vec![])),
        }?;
        Some(DeviceWatch { device: self.name, cores, memory })
    }
}
/// Returns the samples of the host's cores that belong to a device.
fn of_host(own: Vec<u32>, snapshots: &[processor::Snapshot]) -> Vec<CoreWatch> {
    let cores = processor::watched(snapshots, &Cores { tester: vec![], dut: own });
    cores.into_iter().filter(|core| core.role == "dut").collect()
}
