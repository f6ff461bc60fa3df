//! Devices whose processors are not simply this machine's: the way to watch each of them.

use super::other_machine::RemoteProbe;
use super::processor::{self, CoreTicks};
use super::virtual_machine::VmProbe;
use super::{WatchSource, WatchedDevice};
use crate::net::Cores;
use sixbench_method::record::{CoreRole, CoreWatch, DeviceWatch};
use std::time::Instant;

#[derive(Debug)]
pub(super) struct Watcher {
    name: String,
    machine: Option<String>,
    probe: Probe,
}

#[derive(Debug)]
enum Probe {
    VirtualMachine(VmProbe),
    OtherMachine(RemoteProbe),
    HostCores(Vec<u32>, Vec<CoreTicks>),
}

impl Watcher {
    /// Starts to watch. Returns `None` if nothing can be watched, which does not prevent a measurement.
    pub(super) fn begin(device: &WatchedDevice) -> Option<Self> {
        let probe = match &device.source {
            WatchSource::VirtualMachine { process, cores } => {
                Probe::VirtualMachine(VmProbe::new(*process, *cores))
            }
            WatchSource::HostCores(cores) => Probe::HostCores(cores.clone(), vec![]),
            WatchSource::OtherMachine(remote) => Probe::OtherMachine(RemoteProbe::open(remote)?),
        };
        Some(Self {
            name: device.name.clone(),
            machine: device.machine.clone(),
            probe,
        })
    }

    /// Takes a sample without blocking.
    pub(super) fn look(&mut self) {
        match &mut self.probe {
            Probe::VirtualMachine(probe) => probe.look(),
            Probe::OtherMachine(probe) => probe.look(),
            Probe::HostCores(_, snapshots) => snapshots.push(processor::snapshot()),
        }
    }

    /// Stops watching. `moments` are the times of all samples. Returns `None` if the device was not seen.
    pub(super) fn end(self, moments: &[Instant]) -> Option<DeviceWatch> {
        let (cores, memory) = match self.probe {
            Probe::VirtualMachine(probe) => probe.close(),
            Probe::OtherMachine(probe) => probe.close(moments),
            Probe::HostCores(own, snapshots) => Some((of_host(own, &snapshots), vec![])),
        }?;
        Some(DeviceWatch {
            device: self.name,
            machine: self.machine,
            cores,
            memory,
        })
    }
}

fn of_host(own: Vec<u32>, snapshots: &[CoreTicks]) -> Vec<CoreWatch> {
    let cores = processor::watched(
        snapshots,
        &Cores {
            tester: vec![],
            dut: own,
        },
    );
    cores
        .into_iter()
        .filter(|core| core.role == CoreRole::Dut)
        .collect()
}
