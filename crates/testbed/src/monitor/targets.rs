//! The targets of a monitor.

use crate::exec::Remote;

/// The processes and devices to watch in addition to the processors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MonitorTargets {
    /// True if these processes poll for frames, so that their cores are always busy.
    pub polling: bool,
    /// The processes of the DUT, if it has any. Their descendants are watched, too.
    pub processes: Vec<u32>,
    /// A process in each DUT's network namespace through which its counters can be read.
    pub holders: Vec<NetnsHolder>,
    /// The process in whose namespace connections are tracked: of several devices in a row, that of the first stateful one.
    pub tracked: Option<u32>,
    /// Devices with their own processors, in the order in which forward frames pass through them.
    pub devices: Vec<WatchedDevice>,
}

/// A process that exists only to hold a namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetnsHolder {
    /// The name of the device in that namespace if it is one of several. The names of interfaces are prefixed with it.
    pub device: Option<String>,
    /// The process ID.
    pub process: u32,
}

impl MonitorTargets {
    /// Returns true if the devices run on this machine.
    pub(super) fn is_here(&self) -> bool {
        !self.holders.is_empty() || !self.processes.is_empty()
    }

    /// Merges the targets of several devices in a row, labelled with the name of each device.
    pub(crate) fn all(devices: Vec<(&str, Self)>) -> Self {
        let is_one = devices.len() == 1;
        let mut all = Self::default();
        for (name, watched) in devices {
            all.polling |= watched.polling;
            all.processes.extend(watched.processes);
            all.devices.extend(watched.devices);
            all.tracked = all.tracked.or(watched.tracked);
            let device = (!is_one).then(|| name.to_owned());
            all.holders
                .extend(watched.holders.into_iter().map(|holder| NetnsHolder {
                    device: device.clone(),
                    ..holder
                }));
        }
        all
    }
}

/// A device with its own processors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchedDevice {
    /// The name of its recipe.
    pub name: String,
    /// The ssh name of its machine, if that is not this one.
    pub machine: Option<String>,
    /// The means by which it can be watched.
    pub source: WatchSource,
}

/// The means by which a device can be watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WatchSource {
    /// A virtual machine, watched from its host.
    VirtualMachine {
        /// Its main process on this host. That process's descendants are watched, too.
        process: u32,
        /// Its virtual cores.
        cores: usize,
    },
    /// Cores of this machine that only the device uses.
    HostCores(Vec<u32>),
    /// Another machine that runs Linux, watched over ssh with a shell there and one process per sample.
    OtherMachine(Remote),
}
