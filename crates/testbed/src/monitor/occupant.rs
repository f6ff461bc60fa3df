//! Looks briefly at the cores that a trial needs, while nothing is sent, to find out who else uses them.

use super::others::RunTimes;
use super::sampling::Monitor;
use super::targets::MonitorTargets;
use crate::exec::family;
use crate::net::Cores;
use serde::{Deserialize, Serialize};
use sixbench_method::record::CoreLoad;
use sixbench_method::record::{CoreRole, CoreWatch, CpuSample, Watch};
use std::fmt;
use std::time::{Duration, Instant};

/// The duration of a look: two intervals of the monitor and a little more.
const LOOK: Duration = Duration::from_millis(220);

/// The duration of a look at how busy the cores are before a run: three intervals of the monitor and a half. It is taken once and not before each trial, so
/// one more interval than in [`LOOK`] costs little.
const LONG_LOOK: Duration = Duration::from_millis(350);

/// The share of a core that the kernel's own housekeeping may take, in per mille.
const HOUSEKEEPING: u64 = 100;

/// The occupant of a core that a trial needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Occupant {
    /// The core, as numbered on its machine.
    core: u32,
    /// The device that the core belongs to, if it has its own cores, or the machine of the tester's other end.
    device: Option<String>,
    /// The share of the core's time, in per cent.
    percent: u64,
    by: Occupation,
}

/// The kind of an occupant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Occupation {
    /// The host of this virtual machine.
    Host,
    /// Processes, with the ID and name of the busiest if it is visible.
    Processes(Option<(u32, String)>),
}

impl Occupant {
    /// Returns true if this is the same occupant as `other`, possibly with a different share.
    pub fn is_still(&self, other: &Self) -> bool {
        (self.core, &self.device, &self.by) == (other.core, &other.device, &other.by)
    }

    /// Returns the same occupant as seen from another machine: its core is one of `machine`.
    pub fn on(self, machine: &str) -> Self {
        Self {
            device: Some(self.device.unwrap_or_else(|| machine.to_owned())),
            ..self
        }
    }

    /// Returns the occupant's name: `rustc (process 41)`.
    pub fn who(&self) -> String {
        self.by.to_string()
    }

    /// Returns the core and its owner: `core 1`, `core 1 of jool`.
    pub fn place(&self) -> String {
        let device = self
            .device
            .as_ref()
            .map_or_else(String::new, |device| format!(" of {device}"));
        format!("core {}{device}", self.core)
    }
}

impl fmt::Display for Occupant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} has {} % of {}", self.by, self.percent, self.place())
    }
}

impl fmt::Display for Occupation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host => f.write_str("the host of this virtual machine"),
            Self::Processes(None) => f.write_str("other work"),
            Self::Processes(Some((number, name))) => write!(f, "{name} (process {number})"),
        }
    }
}

/// Returns who else uses the cores of the tester or device now, or `None` if their use is negligible. Takes a fifth of a second, and must not run
/// during a trial.
pub fn occupant(cores: &Cores, watched: MonitorTargets) -> Option<Occupant> {
    let own: Vec<u32> = watched
        .processes
        .iter()
        .flat_map(|process| family(*process))
        .chain([std::process::id()])
        .collect();
    let before = RunTimes::now();
    let monitor = Monitor::start(cores, watched);
    std::thread::sleep(LOOK);
    let found = in_watch(&monitor.stop())?;
    let Occupation::Processes(_) = found.by else {
        return Some(found);
    };
    let busiest = if found.device.is_none() {
        busiest(&before, &own, found.core)
    } else {
        None
    };
    let busiest = busiest.map(|(process, name, _)| (process, name));
    Some(Occupant {
        by: Occupation::Processes(busiest),
        ..found
    })
}

/// Returns the occupant with the largest share of a core.
fn in_watch(watch: &Watch) -> Option<Occupant> {
    let samples = watch
        .cores
        .iter()
        .map(|core| core.samples.len() as u64)
        .max()
        .unwrap_or(0)
        .max(1);
    let lasted_us = samples * watch.interval_ns / 1000;
    // In per mille of a core. The device's own processes may have run on any of its cores, so this is subtracted from each.
    let own = watch.process_ms.unwrap_or(0) * 1_000_000 / lasted_us.max(1);
    let of_trial = watch
        .cores
        .iter()
        .filter(|core| core.role != CoreRole::Other);
    let here = of_trial.map(|core| (None, core, if core.role == CoreRole::Dut { own } else { 0 }));
    // Of a device with cores of its own, the share of its processes is not known. Those that poll have their cores busy at any load.
    let away = watch.devices.iter().filter(|_| !watch.polling);
    let away = away.flat_map(|device| {
        device
            .cores
            .iter()
            .map(|core| (Some(device.device.clone()), core, 0))
    });
    let shares = here.chain(away).flat_map(|(device, core, own)| {
        let processes = mean(core, |sample| sample.user + sample.system).saturating_sub(own);
        let found = |share: u64, by| Occupant {
            core: core.core,
            device: device.clone(),
            percent: share / 10,
            by,
        };
        let all = [
            (processes, Occupation::Processes(None)),
            (mean(core, |sample| sample.steal), Occupation::Host),
        ];
        all.into_iter()
            .filter(|(share, _)| *share > HOUSEKEEPING)
            .map(|(share, by)| found(share, by))
            .collect::<Vec<_>>()
    });
    shares.max_by_key(|occupant| occupant.percent)
}

/// Returns the mean share of a core's time, in per mille.
fn mean(core: &CoreWatch, of: impl Fn(&CpuSample) -> u16) -> u64 {
    core.samples
        .iter()
        .map(|sample| u64::from(of(sample)))
        .sum::<u64>()
        / core.samples.len().max(1) as u64
}

/// Returns the core with the largest share of its time in use, in per cent, and its largest occupant; `None` if no core is busy. Takes 0.35 s.
pub(crate) fn busiest_core(cores: &[u32]) -> Option<CoreLoad> {
    let before = RunTimes::now();
    let begun = Instant::now();
    let monitor = Monitor::start(
        &Cores {
            tester: cores.to_vec(),
            dut: vec![],
        },
        MonitorTargets::default(),
    );
    std::thread::sleep(LONG_LOOK);
    let watch = monitor.stop();
    let elapsed_ns = begun.elapsed().as_nanos().max(1) as u64;
    let in_use = |core: &&CoreWatch| mean(core, |sample| 1000 - sample.idle.min(1000));
    let core = watch
        .cores
        .iter()
        .filter(|core| core.role == CoreRole::Tester)
        .max_by_key(in_use)?;
    let busy = in_use(&core);
    let of_host = mean(core, |sample| sample.steal);
    let process = busiest(&before, &[std::process::id()], core.core);
    let process = process
        .map(|(number, name, ran_ns)| (number, name, (1000 * ran_ns / elapsed_ns).min(1000)));
    let by = largest(process, of_host);
    (busy > HOUSEKEEPING).then_some(CoreLoad {
        core: core.core,
        busy_percent: busy / 10,
        by,
    })
}

/// Returns who has most of a core: its busiest process, with ID, name and share in per mille, or the host with its share. Many short processes, such as
/// those of a build, have ended when they are looked for; then what is left of them is not the one that keeps the core busy.
fn largest(process: Option<(u32, String, u64)>, of_host: u64) -> String {
    match process {
        Some((number, name, share)) if share >= of_host && share > HOUSEKEEPING => {
            format!("{name}, process {number}: {} %", share / 10)
        }
        _ if of_host > HOUSEKEEPING => format!("{}: {} %", Occupation::Host, of_host / 10),
        Some(_) => "processes that have ended since".to_owned(),
        None => "no process is visible".to_owned(),
    }
}

/// Returns the process, other than our own, that has run longest on this core since `before`, and for how many nanoseconds.
fn busiest(before: &RunTimes, own: &[u32], core: u32) -> Option<(u32, String, u64)> {
    let (process, ran_ns) = RunTimes::now()
        .since(before, own, &[core])
        .into_iter()
        .max_by_key(|(_, ran_ns)| *ran_ns)?;
    let name = std::fs::read_to_string(format!("/proc/{process}/comm")).ok()?;
    Some((process, name.trim().to_owned(), ran_ns))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixbench_method::record::DeviceWatch;
    use std::process::{Command, Stdio};

    fn core(core: u32, role: CoreRole, user: u16, steal: u16) -> CoreWatch {
        CoreWatch {
            core,
            role,
            samples: vec![
                CpuSample {
                    user,
                    steal,
                    idle: 1000 - user - steal,
                    ..CpuSample::default()
                };
                2
            ],
        }
    }

    fn watch(cores: Vec<CoreWatch>) -> Watch {
        Watch {
            interval_ns: 100_000_000,
            cores,
            ..Watch::default()
        }
    }

    fn told(watch: &Watch) -> String {
        in_watch(watch).map_or_else(String::new, |occupant| occupant.to_string())
    }

    #[test]
    fn who_has_most_of_a_core_that_the_trial_needs_is_named() {
        let (tester, device) = (
            |user, steal| core(0, CoreRole::Tester, user, steal),
            |user| core(1, CoreRole::Dut, user, 0),
        );
        assert_eq!(
            told(&watch(vec![
                tester(90, 0),
                device(100),
                core(2, CoreRole::Other, 990, 0)
            ])),
            "",
            "housekeeping, and a core of others"
        );
        assert_eq!(
            told(&watch(vec![tester(0, 0), device(980)])),
            "other work has 98 % of core 1"
        );
        assert_eq!(
            told(&watch(vec![tester(150, 400), device(0)])),
            "the host of this virtual machine has 40 % of core 0"
        );
        let polls = Watch {
            process_ms: Some(196),
            ..watch(vec![tester(0, 0), device(980)])
        };
        assert_eq!(told(&polls), "", "the device's own process has it");
    }

    #[test]
    fn a_process_that_hardly_ran_is_not_the_one_that_keeps_a_core_busy() {
        let process = |share| Some((41, "bash".to_owned(), share));
        assert_eq!(largest(process(600), 100), "bash, process 41: 60 %");
        assert_eq!(largest(process(2), 0), "processes that have ended since");
        assert_eq!(
            largest(process(2), 300),
            "the host of this virtual machine: 30 %"
        );
        assert_eq!(largest(None, 0), "no process is visible");
    }

    #[test]
    fn an_occupant_on_the_machine_of_an_agent_is_told_with_that_machine() {
        let here = in_watch(&watch(vec![core(3, CoreRole::Tester, 0, 300)])).expect("the host");
        let there = here.clone().on("far");
        assert_eq!(
            there.to_string(),
            "the host of this virtual machine has 30 % of core 3 of far"
        );
        assert_eq!(
            (there.place().as_str(), there.is_still(&here)),
            ("core 3 of far", false)
        );
    }

    #[test]
    fn the_cores_of_another_machine_are_looked_at_unless_its_device_polls() {
        let router = DeviceWatch {
            device: "router".into(),
            machine: None,
            cores: vec![core(3, CoreRole::Dut, 500, 0)],
            memory: vec![],
        };
        let watch = Watch {
            devices: vec![router],
            ..watch(vec![])
        };
        assert_eq!(told(&watch), "other work has 50 % of core 3 of router");
        assert_eq!(
            told(&Watch {
                polling: true,
                ..watch
            }),
            ""
        );
    }

    #[test]
    fn a_program_that_has_a_core_is_found_by_its_name() {
        let program = Command::new("sh")
            .args(["-c", "while :; do :; done"])
            .stdout(Stdio::null())
            .spawn();
        let mut program = program.expect("a shell");
        let end = Instant::now() + Duration::from_secs(300);
        let allowed = crate::exec::allowed_cores(program.id()).concat();
        let named = format!("sh, process {}: ", program.id());
        let of_doctor = loop {
            let who = busiest_core(&allowed).map_or_else(String::new, |load| load.by);
            if who.starts_with(&named) || Instant::now() > end {
                break who;
            }
        };
        let end = Instant::now() + Duration::from_secs(300);
        let seen = loop {
            let cores = Cores {
                tester: allowed.clone(),
                dut: vec![],
            };
            let seen = occupant(&cores, MonitorTargets::default())
                .map(|occupant| occupant.to_string())
                .unwrap_or_default();
            // On a busy machine, another process may have more, or this one may have moved.
            if seen.contains(&format!("(process {})", program.id())) || Instant::now() > end {
                break seen;
            }
        };
        program.kill().and_then(|()| program.wait()).expect("ended");
        assert!(seen.starts_with("sh (process "), "{seen}");
        assert!(
            of_doctor.starts_with(&named) && of_doctor.ends_with(" %"),
            "{of_doctor}"
        );
    }
}
