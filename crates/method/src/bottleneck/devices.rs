//! Which device of a chain limits it. A dual DUT setup hides that (RFC 8219 section 4.2); the idle time of both shows it.

use super::cores::{Core, cores_of, dut_cores};
use crate::lists::each_once;
use crate::record::{TrialRecord, Watch};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The idleness of the devices of a chain, and the conclusion on which of them limits it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Chain {
    /// The devices, the one with the least idle core first.
    pub devices: Vec<Idleness>,
    /// The device that limits the chain.
    pub weakest: ChainBottleneck,
}

/// The idleness of one device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Idleness {
    /// The name of its recipe; of a DUT that is watched by the host's cores what the caller calls it.
    pub device: String,
    /// The machine that it has for itself, by the name that ssh knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// Its cores.
    pub cores: usize,
    /// The core that was least idle, by the device's own number.
    pub least_idle_core: u32,
    /// The idle time of its least idle core, per cent.
    pub least_percent: f64,
    /// Idle time of all its cores on average, per cent.
    pub mean_percent: f64,
}

/// The bottleneck among the devices of a chain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "verdict", rename_all = "kebab-case")]
pub enum ChainBottleneck {
    /// The first one.
    First {
        /// Percentage points by which its least idle core is less idle than that of the next device.
        margin: f64,
    },
    /// The first two are too close to tell.
    Undecided {
        /// Percentage points between them.
        margin: f64,
    },
    /// No device is short of processor time: the limit is elsewhere.
    Neither,
    /// They have fewer cores of the host than of their own: what one uses the other lacks, and waiting for a core looks idle.
    Shared {
        /// The host's cores for all of them.
        host_cores: Vec<u32>,
    },
}

/// Points of idle time between two devices that make a difference: what repetitions of one device are apart, and more.
const CLEAR_POINTS: f64 = 10.0;

/// A device whose every core is idle for more than this, per cent, does not limit a chain by its processor.
const AMPLE_PERCENT: f64 = 50.0;

/// Returns the devices of the chain and the one that limits it, judged by the trials at the rate that was found, one for each
/// repetition: the device whose busiest core was least idle. That core decides, rather than the mean of all, because the
/// first core that is full is the first to lose frames. Returns `None` where fewer than two devices were watched.
pub fn weakest(records: &[&TrialRecord]) -> Option<Chain> {
    let watches = watches(records);
    let mut devices = of_devices(&watches);
    devices.sort_by(|a, b| a.least_percent.total_cmp(&b.least_percent));
    let [first, second, ..] = &devices[..] else {
        return None;
    };
    let margin = second.least_percent - first.least_percent;
    let host_cores = host_cores(&watches);
    let has_ample = first.least_percent > AMPLE_PERCENT;
    let share_cores = !host_cores.is_empty()
        && host_cores.len() < devices.iter().map(|device| device.cores).sum();
    // Whatever filled the host's cores, a device that waits for one looks idle.
    let wait_for_cores = has_ample && dut_cores(records, None).iter().any(Core::is_saturated);
    let weakest = if share_cores || wait_for_cores {
        ChainBottleneck::Shared { host_cores }
    } else if has_ample {
        ChainBottleneck::Neither
    } else if margin < CLEAR_POINTS {
        ChainBottleneck::Undecided { margin }
    } else {
        ChainBottleneck::First { margin }
    };
    Some(Chain { devices, weakest })
}

/// Returns the idleness of each device in these trials, in the order of the chain. Where no device was watched by itself, it
/// is that of the DUT, under the name `dut`, on the host's cores. Empty where nothing was watched.
pub fn idleness(records: &[&TrialRecord], dut: &str) -> Vec<Idleness> {
    let devices = of_devices(&watches(records));
    if !devices.is_empty() {
        return devices;
    }
    of_cores(dut, None, &dut_cores(records, None))
        .into_iter()
        .collect()
}

/// Returns the device with the least idle core in these trials, where the DUT has no cores of the tester's machine: one on a machine of its own, or
/// one of several in a row on theirs.
pub(super) fn least_idle_elsewhere(records: &[&TrialRecord]) -> Option<Idleness> {
    let watches = watches(records);
    let devices = if host_cores(&watches).is_empty() {
        of_devices(&watches)
    } else {
        Vec::new()
    };
    devices
        .into_iter()
        .min_by(|a, b| a.least_percent.total_cmp(&b.least_percent))
}

fn watches<'a>(records: &[&'a TrialRecord]) -> Vec<&'a Watch> {
    records
        .iter()
        .filter_map(|record| record.watch.as_deref())
        .collect()
}

fn of_devices(watches: &[&Watch]) -> Vec<Idleness> {
    let names = each_once(
        watches
            .iter()
            .flat_map(|watch| &watch.devices)
            .map(|device| device.device.as_str()),
    );
    names
        .into_iter()
        .filter_map(|name| {
            let watched = || {
                watches
                    .iter()
                    .flat_map(|watch| &watch.devices)
                    .filter(|device| device.device == name)
            };
            let machine = watched().find_map(|device| device.machine.as_deref());
            of_cores(
                name,
                machine,
                &cores_of(watched().flat_map(|device| &device.cores)),
            )
        })
        .collect()
}

fn of_cores(name: &str, machine: Option<&str>, cores: &[Core]) -> Option<Idleness> {
    let idle: Vec<f64> = cores.iter().map(Core::idle_percent).collect();
    let (least, core) = idle.iter().zip(cores).min_by(|a, b| a.0.total_cmp(b.0))?;
    Some(Idleness {
        device: name.to_owned(),
        machine: machine.map(str::to_owned),
        cores: cores.len(),
        least_idle_core: core.number,
        least_percent: *least,
        mean_percent: idle.iter().sum::<f64>() / idle.len() as f64,
    })
}

/// Returns the host's cores that are the devices'; empty where the devices run on hosts of their own.
fn host_cores(watches: &[&Watch]) -> Vec<u32> {
    let cores = watches.iter().flat_map(|watch| watch.dut_cores());
    cores
        .map(|core| core.core)
        .collect::<std::collections::BTreeSet<_>>()
        .into_iter()
        .collect()
}

impl fmt::Display for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let idle: Vec<String> = self.devices.iter().map(ToString::to_string).collect();
        let first = self
            .devices
            .first()
            .map(Idleness::place)
            .unwrap_or_default();
        match &self.weakest {
            ChainBottleneck::First { margin } => {
                write!(
                    f,
                    "the bottleneck is {first}: its busiest core was less idle by {margin:.0} points ({})",
                    idle.join("; ")
                )
            }
            ChainBottleneck::Undecided { margin } => {
                let names = self.names();
                let why = format!(
                    "their busiest cores are {margin:.0} points apart, but a difference of {CLEAR_POINTS:.0} is needed"
                );
                write!(
                    f,
                    "it is undecided which of {names} is the bottleneck: {why} ({})",
                    idle.join("; ")
                )
            }
            ChainBottleneck::Neither => {
                write!(
                    f,
                    "no device is short of processor time: look elsewhere, for example at queues and links ({})",
                    idle.join("; ")
                )
            }
            ChainBottleneck::Shared { host_cores } => {
                let used: Vec<String> = self
                    .devices
                    .iter()
                    .map(Idleness::use_of_its_cores)
                    .collect();
                let cores = super::cores::numbered(host_cores.iter().copied());
                let why = format!(
                    "they share {cores} of the host, so a device that waits for a core looks idle"
                );
                write!(
                    f,
                    "it is undecided which of {} is the bottleneck: {why} ({})",
                    self.names(),
                    used.join("; ")
                )
            }
        }
    }
}

impl Chain {
    fn names(&self) -> String {
        let names: Vec<String> = self.devices.iter().map(Idleness::place).collect();
        names.join(" and ")
    }
}

impl fmt::Display for Idleness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            cores,
            least_idle_core,
            least_percent,
            mean_percent,
            ..
        } = self;
        let place = self.place();
        match cores {
            1 => write!(f, "{place}: {least_percent:.0} % idle"),
            _ => write!(
                f,
                "{place}: {least_percent:.0} % idle on core {least_idle_core}, {mean_percent:.0} % on all {cores}"
            ),
        }
    }
}

impl Idleness {
    /// Returns the name of the device, with that of its machine where it has one for itself.
    pub fn place(&self) -> String {
        let machine = self
            .machine
            .as_ref()
            .map_or_else(String::new, |machine| format!(" on {machine}"));
        format!("{}{machine}", self.device)
    }

    fn use_of_its_cores(&self) -> String {
        format!(
            "{} used {:.0} % of a core",
            self.place(),
            (100.0 - self.mean_percent) * self.cores as f64
        )
    }
}
