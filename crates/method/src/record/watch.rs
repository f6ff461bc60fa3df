//! What was seen of the machine under the DUT during a trial.

use serde::{Deserialize, Serialize};

/// The activity of the machine under the DUT during one trial, sampled out of band (RFC 5180 section 4).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Watch {
    /// Time between samples, nanoseconds.
    pub interval_ns: u64,
    /// One entry for each core of the host.
    pub cores: Vec<CoreWatch>,
    /// Devices with processors of their own beside the host's: virtual machines, another machine, or several devices in a chain, in the
    /// order of the chain.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<DeviceWatch>,
    /// Resident memory of the DUT's processes at each sample, octets. Empty for a DUT that is the kernel, or out of sight.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub memory: Vec<u64>,
    /// Processor time of the DUT's processes over the trial, milliseconds. `None` where it could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process_ms: Option<u64>,
    /// The places where frames were dropped, as the DUT's kernel counts it; only counters that moved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drops: Vec<Drops>,
    /// Entries of the DUT's connection tracking table at each sample, where its kernel has one and it was not empty all the time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub connections: Vec<u64>,
    /// The time for which the DUT's processes were ready to run and waited for a core, in each interval, microseconds, all of
    /// their threads together. Empty for a DUT that is the kernel, or out of sight.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waited_us: Vec<u64>,
}

/// One device over a trial, where it has cores of its own or is one of several.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeviceWatch {
    /// The name of its recipe.
    pub device: String,
    /// The cores of the device, in its own numbering, all of the role "dut".
    pub cores: Vec<CoreWatch>,
    /// Memory in use at each sample, octets: of a virtual machine what is resident on its host, of another machine all that is not
    /// available there. Empty where it could not be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub memory: Vec<u64>,
}

/// A drop counter of the DUT over a trial.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drops {
    /// The interface, as in the DUT; `backlog` for the kernel's queue between an interface and the core that works for it; `conntrack` for
    /// its connection tracking table.
    #[serde(rename = "where")]
    pub place: String,
    /// `received` or `sent`; of `conntrack` the kernel's name of the counter, such as `early_drop`.
    pub way: String,
    /// Frames dropped in each interval, oldest first.
    pub samples: Vec<u64>,
}

impl Drops {
    /// Returns whether it counts connections that were not made or were lost, rather than frames at an interface.
    pub fn is_of_the_connection_table(&self) -> bool {
        self.place == "conntrack"
    }
}

impl Watch {
    /// Milliseconds the host of this virtual machine took from the core of this role that lost most, from `since_ns` of the trial on.
    pub fn stolen_ms(&self, role: &str, since_ns: u64) -> u64 {
        let before = (since_ns / self.interval_ns.max(1)) as usize;
        let of_core = |core: &CoreWatch| {
            let per_mille: u64 = core.samples.iter().skip(before).map(|s| u64::from(s.steal)).sum();
            per_mille * self.interval_ns / 1_000_000_000
        };
        self.cores.iter().filter(|core| core.role == role).map(of_core).max().unwrap_or(0)
    }

    /// The host's cores that are the DUT's.
    pub fn dut_cores(&self) -> impl Iterator<Item = &CoreWatch> {
        self.cores.iter().filter(|core| core.role == "dut")
    }

    /// Milliseconds for which other processes than the DUT's had its cores. The kernel's own forwarding is softirq time and none of it.
    /// `None` where the DUT's part is not known.
    pub fn taken_ms(&self) -> Option<u64> {
        let own_ms = self.process_ms?;
        let of_core = |core: &CoreWatch| core.samples.iter().map(|s| u64::from(s.user) + u64::from(s.system)).sum::<u64>();
        let per_mille: u64 = self.dut_cores().map(of_core).sum();
        Some((per_mille * self.interval_ns / 1_000_000_000).saturating_sub(own_ms))
    }
}

/// One core over a trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CoreWatch {
    /// The kernel's number of the core.
    pub core: u32,
    /// The owner of the core: "dut", "tester", or "other".
    pub role: String,
    /// Samples, oldest first.
    pub samples: Vec<CpuSample>,
}

/// Shares of one interval in per mille: their sum is about 1000.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuSample {
    /// User and nice.
    pub user: u16,
    /// Kernel on behalf of processes.
    pub system: u16,
    /// Interrupts and softirqs: where the kernel forwards frames.
    pub softirq: u16,
    /// Idle and waiting.
    pub idle: u16,
    /// Taken by the host of this virtual machine.
    pub steal: u16,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn core(role: &str, steals: &[u16]) -> CoreWatch {
        let sample = |steal: &u16| CpuSample { steal: *steal, ..CpuSample::default() };
        CoreWatch { core: 0, role: role.to_owned(), samples: steals.iter().map(sample).collect() }
    }

    fn unwatched() -> Watch {
        let (memory, drops, connections) = (vec![], vec![], vec![]);
        let waited_us = vec![];
        Watch {
            interval_ns: 100_000_000,
            cores: vec![],
            devices: vec![],
            memory,
            process_ms: None,
            drops,
            connections,
            waited_us,
        }
    }

    #[test]
    fn a_watch_of_before_there_were_several_devices_is_still_read() {
        assert_eq!(toml::from_str::<Watch>("interval_ns = 100000000\ncores = []").expect("a watch"), unwatched());
        assert!(!toml::to_string(&unwatched()).expect("text").contains("devices"));
    }

    #[test]
    fn stolen_time_is_that_of_the_worst_core_of_the_role() {
        let cores = vec![core("tester", &[900]), core("dut", &[100, 0]), core("dut", &[0, 200])];
        let watch = Watch { cores, ..unwatched() };
        assert_eq!(watch.stolen_ms("dut", 0), 20);
        assert_eq!(watch.stolen_ms("dut", 100_000_000), 20, "the first sample is of phase 1");
        assert_eq!(watch.stolen_ms("dut", 200_000_000), 0);
        assert_eq!(watch.stolen_ms("other", 0), 0);
    }

    #[test]
    fn what_the_dut_did_not_use_of_its_busy_cores_others_took() {
        let busy = |user, system| CpuSample { user, system, softirq: 300, ..CpuSample::default() };
        let core = |role: &str| CoreWatch { core: 0, role: role.to_owned(), samples: vec![busy(400, 100), busy(500, 0)] };
        let watch = |process_ms| Watch { cores: vec![core("dut"), core("tester")], process_ms, ..unwatched() };
        assert_eq!([Some(0), Some(70), Some(200), None].map(|own| watch(own).taken_ms()), [Some(100), Some(30), Some(0), None]);
    }
}
