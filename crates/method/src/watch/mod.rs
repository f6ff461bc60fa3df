//! What was seen of the machine under the DUT during a trial.

pub(crate) mod cause;
mod loss_counter;

pub(crate) use cause::Cause;
pub use loss_counter::{LossCounter, LossSource};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// A [`Watch`] as records hold it: trials of which the same was seen, or of which the same is still to be read, may share it. It is copied where it is
/// changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "Watch", into = "Watch")]
#[schemars(
    rename = "Watch",
    description = "The activity of the machine under the DUT during one trial, sampled out of band (RFC 5180 section 4)."
)]
pub struct SharedWatch(Arc<Watch>);

impl From<Watch> for SharedWatch {
    fn from(watch: Watch) -> Self {
        Self(Arc::new(watch))
    }
}

impl From<SharedWatch> for Watch {
    fn from(SharedWatch(shared): SharedWatch) -> Self {
        Arc::unwrap_or_clone(shared)
    }
}

impl Deref for SharedWatch {
    type Target = Watch;

    fn deref(&self) -> &Watch {
        &self.0
    }
}

impl DerefMut for SharedWatch {
    fn deref_mut(&mut self) -> &mut Watch {
        Arc::make_mut(&mut self.0)
    }
}

/// The activity of the machine under the DUT during one trial, sampled out of band (RFC 5180 section 4).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Watch {
    /// Time between samples, nanoseconds.
    pub interval_ns: u64,
    /// Time from the first sample to the moment at which the first frame was due, nanoseconds; in trials of two phases that of the second one. `None` of
    /// trials without frames, and where it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lead_ns: Option<u64>,
    /// One entry for each core of the host.
    pub cores: Vec<CoreWatch>,
    /// Devices with processors of their own beside the host's: virtual machines, another machine, or several devices in a chain, in the
    /// order of the chain.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<DeviceWatch>,
    /// Resident memory of the DUT's processes at each sample, octets. Empty for a DUT that is the kernel, or out of sight.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub memory: Vec<u64>,
    /// Memory of this machine's kernel that cannot be reclaimed, at each sample, octets: that of the DUT, and of everything else on the machine. Empty
    /// for a DUT on another machine.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kernel_memory: Vec<u64>,
    /// Processor time of the DUT's processes over the trial, milliseconds. `None` where it could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process_ms: Option<u64>,
    /// True if the DUT's processes look for frames without pause: then their cores are busy whatever the load is.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub polling: bool,
    /// The places where frames were dropped, as the DUT's kernel counts it; only counters that moved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drops: Vec<Drops>,
    /// Counters of the DUT's kernel that grew in a trial which lost much, the largest first: why it did not deliver the frames. Empty of other trials.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub losses: Vec<LossCounter>,
    /// Entries of the DUT's connection tracking table at each sample, where its kernel has one and it was not empty all the time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub connections: Vec<u64>,
    /// The time for which the DUT's processes were ready to run and waited for a core, in each interval, microseconds, all of
    /// their threads together; or, where it is longer, the time for which the kernel's thread that hands them their frames waited while they did not
    /// run. Empty for a DUT that is the kernel, or out of sight.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waited_us: Vec<u64>,
    /// The longest time, in each interval, for which others can have held the DUT's cores while it was ready to use them, microseconds: it waited, and
    /// neither its processes nor the kernel's threads that forward frames ran there. Empty where that is not known, and in records of earlier versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held_us: Vec<u64>,
    /// The time for which other programs ran on the DUT's cores, as the scheduler counts it, milliseconds. `None` for a DUT that is the kernel, or out
    /// of sight.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others_ms: Option<u64>,
    /// The time that a cache line takes from a core of the tester to one of the DUT and back, right before and right after the trial, nanoseconds.
    /// Empty where the DUT is on another machine or shares the core, or where there was no time for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub round_trips_ns: Vec<u64>,
}

/// One device over a trial, where it has cores of its own or is one of several.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceWatch {
    /// The name of its recipe.
    pub device: String,
    /// The name by which ssh knows its machine, where it has another one than the tester.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// The cores of the device, in its own numbering, all of the role [`CoreRole::Dut`].
    pub cores: Vec<CoreWatch>,
    /// Memory in use at each sample, octets: of a virtual machine what is resident on its host, of another machine all that is not
    /// available there. Empty where it could not be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub memory: Vec<u64>,
}

/// A drop counter of the DUT over a trial.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Drops {
    /// The place where they were dropped.
    #[serde(rename = "where")]
    pub place: DropPlace,
    /// `received` or `sent`; of the connection tracking table the kernel's name of the counter, such as `early_drop`.
    pub way: String,
    /// Frames dropped in each interval, oldest first.
    pub samples: Vec<u64>,
}

/// The place of a drop.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DropPlace {
    /// The kernel's queue between an interface and the core that works for it.
    Backlog,
    /// The connection tracking table, which counts connections that were not made or were lost, not frames.
    Conntrack,
    /// An interface, as in the DUT.
    #[serde(untagged)]
    Interface(String),
}

impl fmt::Display for DropPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Backlog => "backlog",
            Self::Conntrack => "conntrack",
            Self::Interface(name) => name,
        })
    }
}

impl DeviceWatch {
    /// Returns the name of the device, with that of its machine where it has one for itself: `jool-clat on ce`.
    pub fn place(&self) -> String {
        let machine = self
            .machine
            .as_ref()
            .map_or_else(String::new, |machine| format!(" on {machine}"));
        format!("{}{machine}", self.device)
    }
}

impl Watch {
    /// Returns the memory of the device at each sample, octets: of its own machines where it has some, else of its processes.
    pub fn device_memory(&self) -> Vec<u64> {
        let own: Vec<&Vec<u64>> = self
            .devices
            .iter()
            .map(|device| &device.memory)
            .filter(|memory| !memory.is_empty())
            .collect();
        let length = own.iter().map(|memory| memory.len()).min();
        length.map_or_else(
            || self.memory.clone(),
            |length| {
                (0..length)
                    .map(|i| own.iter().map(|memory| memory[i]).sum())
                    .collect()
            },
        )
    }

    /// Returns the milliseconds that the host of a virtual machine took from the DUT's core that lost most, from `since_ns` of the trial on: of this
    /// machine's cores, or of those of a device that has a machine for itself.
    pub fn stolen_ms(&self, since_ns: u64) -> u64 {
        let elsewhere = self.devices.iter().flat_map(|device| &device.cores);
        self.stolen_from_ms(self.dut_cores().chain(elsewhere), since_ns)
    }

    /// Returns the milliseconds that the host took from the tester's core that lost most, over the whole trial.
    pub fn stolen_from_tester_ms(&self) -> u64 {
        self.stolen_from_ms(
            self.cores
                .iter()
                .filter(|core| core.role == CoreRole::Tester),
            0,
        )
    }

    fn stolen_from_ms<'a>(&self, cores: impl Iterator<Item = &'a CoreWatch>, since_ns: u64) -> u64 {
        let before = (since_ns / self.interval_ns.max(1)) as usize;
        cores
            .map(|core| {
                let per_mille: u64 = core
                    .samples
                    .iter()
                    .skip(before)
                    .map(|s| u64::from(s.steal))
                    .sum();
                per_mille * self.interval_ns / 1_000_000_000
            })
            .max()
            .unwrap_or(0)
    }

    /// Returns the host's cores that are the DUT's.
    pub fn dut_cores(&self) -> impl Iterator<Item = &CoreWatch> {
        self.cores.iter().filter(|core| core.role == CoreRole::Dut)
    }

    /// Microseconds for which others had the DUT's cores while it was ready to use them, as far as that is known: other programs while its processes
    /// waited, as the scheduler counts it, or the host of a virtual
    /// machine.
    pub fn held_in_all_us(&self) -> u64 {
        let waited_us = self
            .waited_us
            .iter()
            .fold(0, |sum: u64, us| sum.saturating_add(*us));
        let by_others_us = self
            .others_ms
            .unwrap_or(0)
            .saturating_mul(1000)
            .min(waited_us);
        by_others_us.max(self.stolen_ms(0).saturating_mul(1000))
    }

    /// Milliseconds for which other processes than the DUT's had its cores. The kernel's own forwarding is softirq time and none of it.
    /// `None` where the DUT's part is not known.
    pub fn taken_ms(&self) -> Option<u64> {
        let own_ms = self.process_ms?;
        let per_mille: u64 = self
            .dut_cores()
            .map(|core| {
                core.samples
                    .iter()
                    .map(|s| u64::from(s.user) + u64::from(s.system))
                    .sum::<u64>()
            })
            .sum();
        let by_ticks_ms = (per_mille * self.interval_ns / 1_000_000_000).saturating_sub(own_ms);
        // What others ran on the same cores matters as far as the DUT's processes waited meanwhile.
        let by_scheduler_ms = self
            .others_ms
            .unwrap_or(0)
            .min(self.waited_us.iter().sum::<u64>() / 1000);
        Some(by_ticks_ms.max(by_scheduler_ms))
    }
}

/// One core over a trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CoreWatch {
    /// The kernel's number of the core.
    pub core: u32,
    /// The owner of the core.
    pub role: CoreRole,
    /// Samples, oldest first.
    pub samples: Vec<CpuSample>,
}

/// The owner of a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CoreRole {
    /// The DUT.
    Dut,
    /// The tester.
    Tester,
    /// Neither of them.
    Other,
}

/// Shares of one interval in per mille: their sum is about 1000.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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

    fn core(role: CoreRole, steals: &[u16]) -> CoreWatch {
        let sample = |steal: &u16| CpuSample {
            steal: *steal,
            ..CpuSample::default()
        };
        CoreWatch {
            core: 0,
            role,
            samples: steals.iter().map(sample).collect(),
        }
    }

    fn unwatched() -> Watch {
        Watch {
            interval_ns: 100_000_000,
            ..Watch::default()
        }
    }

    #[test]
    fn roles_and_places_are_the_words_that_earlier_records_have() {
        let core = r#"{"core":1,"role":"tester","samples":[]}"#;
        assert_eq!(
            serde_json::to_string(&serde_json::from_str::<CoreWatch>(core).expect("a core"))
                .expect("text"),
            core
        );
        let places = [
            ("backlog", DropPlace::Backlog),
            ("conntrack", DropPlace::Conntrack),
            ("left", DropPlace::Interface("left".into())),
        ];
        for (word, place) in places {
            let drops = format!(r#"{{"where":"{word}","way":"sent","samples":[3]}}"#);
            let read: Drops = serde_json::from_str(&drops).expect("drops");
            assert_eq!(
                (&read.place, read.place.to_string().as_str()),
                (&place, word)
            );
            assert_eq!(serde_json::to_string(&read).expect("text"), drops);
        }
    }

    #[test]
    fn a_watch_of_before_there_were_several_devices_is_still_read() {
        assert_eq!(
            toml::from_str::<Watch>("interval_ns = 100000000\ncores = []").expect("a watch"),
            unwatched()
        );
        assert!(
            !toml::to_string(&unwatched())
                .expect("text")
                .contains("devices")
        );
    }

    #[test]
    fn stolen_time_is_that_of_the_worst_core_of_the_dut() {
        let cores = vec![
            core(CoreRole::Tester, &[900]),
            core(CoreRole::Dut, &[100, 0]),
            core(CoreRole::Dut, &[0, 200]),
        ];
        let watch = Watch {
            cores,
            ..unwatched()
        };
        assert_eq!(watch.stolen_ms(0), 20);
        assert_eq!(
            watch.stolen_ms(100_000_000),
            20,
            "the first sample is of phase 1"
        );
        assert_eq!(watch.stolen_ms(200_000_000), 0);
        assert_eq!(
            Watch {
                cores: vec![core(CoreRole::Other, &[900])],
                ..watch
            }
            .stolen_ms(0),
            0
        );
    }

    #[test]
    fn what_its_host_takes_from_a_device_on_another_machine_is_stolen_too() {
        let device = |steals: &[u16]| {
            let cores = vec![core(CoreRole::Dut, steals)];
            DeviceWatch {
                device: "plat".to_owned(),
                machine: Some("plat".to_owned()),
                cores,
                memory: vec![],
            }
        };
        let watch = Watch {
            devices: vec![device(&[0, 0]), device(&[950, 990])],
            ..unwatched()
        };
        assert_eq!(
            (watch.stolen_ms(0), watch.stolen_from_tester_ms()),
            (194, 0)
        );
    }

    #[test]
    fn what_the_dut_did_not_use_of_its_busy_cores_others_took() {
        let busy = |user, system| CpuSample {
            user,
            system,
            softirq: 300,
            ..CpuSample::default()
        };
        let core = |role| CoreWatch {
            core: 0,
            role,
            samples: vec![busy(400, 100), busy(500, 0)],
        };
        let watch = |process_ms| Watch {
            cores: vec![core(CoreRole::Dut), core(CoreRole::Tester)],
            process_ms,
            ..unwatched()
        };
        assert_eq!(
            [Some(0), Some(70), Some(200), None].map(|own| watch(own).taken_ms()),
            [Some(100), Some(30), Some(0), None]
        );
        // A program that had the core while frames were handled in its time.
        let hidden = Watch {
            others_ms: Some(60),
            waited_us: vec![20_000, 25_000],
            ..watch(Some(200))
        };
        assert_eq!(
            (hidden.taken_ms(), hidden.held_in_all_us()),
            (Some(45), 45_000)
        );
        assert_eq!(
            Watch {
                others_ms: Some(7),
                ..hidden
            }
            .held_in_all_us(),
            7_000,
            "it waited for threads of its own, too"
        );
    }
}
