//! What a monitor watches.

use crate::exec::Remote;

/// The processes and devices to watch beside the processors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Watched {
    /// True if these processes look for frames without pause, so that their cores are always busy.
    pub polling: bool,
    /// The processes that are the DUT, if it is one or several; what they have started is watched with them.
    pub processes: Vec<u32>,
    /// A process in each DUT's network namespace, by which its counters can be read.
    pub holders: Vec<NetnsHolder>,
    /// The one in whose namespace connections are tracked.
    pub tracked: Option<u32>,
    /// Devices with processors of their own, in the order frames of the forward direction pass them.
    pub devices: Vec<WatchedDevice>,
}

/// A process that does nothing but live in a namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetnsHolder {
    /// The name of the device in that namespace, where it is one of several; it is put before the names of interfaces.
    pub device: Option<String>,
    /// Its number.
    pub process: u32,
}

impl Watched {
    /// Returns whether the devices run on this machine.
    pub(super) fn is_here(&self) -> bool {
        !self.holders.is_empty() || !self.processes.is_empty()
    }

    /// Returns all that is watched of several devices in a row, with the name of each device.
    pub(crate) fn all(devices: Vec<(&str, Self)>) -> Self {
        let is_one = devices.len() == 1;
        let mut all = Self::default();
        for (name, watched) in devices {
            all.polling |= watched.polling;
            all.processes.extend(watched.processes);
            all.devices.extend(watched.devices);
            all.tracked = all.tracked.or(watched.tracked);
            let device = (!is_one).then(|| name.to_owned());
            all.holders.extend(watched.holders.into_iter().map(|holder| NetnsHolder { device: device.clone(), ..holder }));
        }
        all
    }
}

/// A device with processors of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchedDevice {
    /// The name of its recipe.
    pub name: String,
    /// The name by which ssh knows its machine, where it is another one than this.
    pub machine: Option<String>,
    /// The source by which it can be watched.
    pub source: WatchSource,
}

/// The source by which a device can be watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WatchSource {
    /// A virtual machine, from its host.
    VirtualMachine {
        /// Its main process on this host; what that has started is watched with it.
        process: u32,
        /// Its virtual cores.
        cores: usize,
    },
    /// Cores of this machine that are the device's alone.
    HostCores(Vec<u32>),
    /// Another machine that runs Linux, over ssh: a shell there, and one process each time it is looked at.
    OtherMachine(Remote),
}
