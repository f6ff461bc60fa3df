//! A device of a recipe under malformed frames: its testbed with the tester on it, and what is seen of it from outside.

use super::ProbedRecord;
use crate::error::{RunError, TrialError};
use crate::request::Site;
use crate::run::built::BuiltTestbed;
use crate::run::conformance::sides::DeviceSides;
use crate::run::conformance::small_pool::without_privileges;
use crate::run::conformance::{
    VectorTimers, built, device_facts, isolation_of_links, set_timers, vector_ports,
};
use sixbench_conformance::DeviceSetting;
use sixbench_conformance::robustness::{
    BatchOutcome, CrashSign, DeviceMemory, MalformedFrame, MemoryOwner, ProbeOutcome,
    RobustnessTarget,
};
use sixbench_engine::MeasureError;
use sixbench_engine::conformance::{BatchReport, VectorTester};
use sixbench_io::pcap::TimedFrame;
use sixbench_method::record::DutFacts;
use sixbench_method::units::counted;
use sixbench_testbed::monitor::KernelLog;
use sixbench_testbed::{Devices, Recipe, TestbedError};

/// A device that is up. Fields are dropped in the order of declaration: first the ports, then the device with its links.
struct RunningDevice {
    tester: VectorTester,
    kernel_logs: Vec<KernelLog>,
    testbed: BuiltTestbed,
}

/// A device of a recipe, to be brought up as often as it crashes.
pub(super) struct RestartedDevice<'a> {
    site: &'a Site<'a>,
    recipe: &'a Recipe,
    sides: &'a DeviceSides<'a>,
    setting: DeviceSetting,
    notice: &'a dyn Fn(&str),
    running: Option<RunningDevice>,
    facts: DutFacts,
    /// The number of times that it was brought up.
    starts: u32,
    /// The frames that were sent since it was brought up last, if it was so again.
    capture: Vec<TimedFrame>,
}

impl<'a> RestartedDevice<'a> {
    /// Returns a device that is not up yet.
    pub(super) fn new(
        site: &'a Site<'a>,
        recipe: &'a Recipe,
        sides: &'a DeviceSides<'a>,
        setting: DeviceSetting,
        notice: &'a dyn Fn(&str),
    ) -> Self {
        Self {
            site,
            recipe,
            sides,
            setting,
            notice,
            running: None,
            facts: DutFacts::default(),
            starts: 0,
            capture: Vec::new(),
        }
    }

    /// Takes the device down, and returns what became of it.
    pub(super) fn record(self, outcome: ProbeOutcome) -> ProbedRecord {
        ProbedRecord {
            facts: self.facts,
            outcome,
            capture: self.capture,
        }
    }

    fn started(&self) -> Result<RunningDevice, RunError> {
        let mut testbed = built(self.site, self.recipe)?;
        let ports = vector_ports(self.site.links.io, &testbed, self.sides, &self.setting)?;
        set_timers(&testbed, VectorTimers::Short)?;
        let mut tester = VectorTester::new(ports, self.setting.clone(), self.site.stop.clone())
            .within(isolation_of_links(self.site));
        let found = without_privileges(|| tester.find_device())?;
        match found {
            Ok(()) => {}
            Err(MeasureError::Interrupted) => return Err(RunError::Interrupted),
            Err(error) => {
                // The device may have ended: that error names the cause.
                testbed.check_alive()?;
                return Err(TrialError::from(error).into());
            }
        }
        let devices = testbed.dut.as_ref();
        let kernel_logs = devices.map_or(Vec::new(), Devices::kernel_logs);
        Ok(RunningDevice {
            tester,
            kernel_logs,
            testbed,
        })
    }
}

impl RobustnessTarget for RestartedDevice<'_> {
    type Error = RunError;

    fn bring_up(&mut self) -> Result<(), RunError> {
        // The names of the links are the same each time: the earlier ones must be gone.
        self.running = None;
        self.capture.clear();
        let running = self.started()?;
        self.facts = device_facts(&running.testbed, self.recipe);
        self.running = Some(running);
        self.starts += 1;
        Ok(())
    }

    fn send(&mut self, frames: &[MalformedFrame]) -> Result<BatchOutcome, RunError> {
        if self.running.is_none() {
            self.bring_up()?;
        }
        let Some(running) = &mut self.running else {
            return Ok(BatchOutcome::default());
        };
        let report = running.send(frames)?;
        let ended = running.ended()?;
        let report = match (report, &ended) {
            (Ok(report), _) => report,
            (Err(MeasureError::Interrupted), _) => return Err(RunError::Interrupted),
            (Err(_), Some(_)) => BatchReport::default(),
            (Err(error), None) => return Err(TrialError::from(error).into()),
        };
        let crash = match (ended, silence(&report)) {
            (Some(sign), _) => Some(sign),
            // What the kernel says of it tells more than silence.
            (None, Some(silence)) => Some(running.kernel_defects()?.unwrap_or(silence)),
            (None, None) => None,
        };
        if self.starts > 1 {
            self.capture.extend(report.sent);
        }
        Ok(BatchOutcome {
            came: report.came,
            crash,
        })
    }

    fn crash_seen(&mut self, sign: &CrashSign, after: u64) {
        (self.notice)(&format!(
            "a crash after {}: {}; looking for the fewest frames that make it",
            counted(after, "frame"),
            sign.sentence()
        ));
    }

    fn read_kernel_log(&mut self) -> Result<Option<CrashSign>, RunError> {
        let running = self.running.as_mut();
        running.map_or(Ok(None), RunningDevice::kernel_defects)
    }

    fn memory(&mut self) -> Option<DeviceMemory> {
        let devices = self.running.as_ref()?.testbed.dut.as_ref()?;
        // There is one device: no row has vectors of its own.
        let found = *devices.memory_use().first()?;
        let (owner, octets) = match (found.guest, found.processes) {
            (Some(octets), _) => (MemoryOwner::Guest, octets),
            (None, Some(octets)) => (MemoryOwner::Processes, octets),
            (None, None) => (MemoryOwner::ThisKernel, found.this_kernel),
        };
        Some(DeviceMemory { owner, octets })
    }

    fn has_kernel_log(&self) -> bool {
        let running = self.running.as_ref();
        running.is_some_and(|running| !running.kernel_logs.is_empty())
    }
}

impl RunningDevice {
    fn send(
        &mut self,
        frames: &[MalformedFrame],
    ) -> Result<Result<BatchReport, MeasureError>, RunError> {
        let tester = &mut self.tester;
        without_privileges(|| tester.send_malformed(frames))
    }

    /// Returns how the device has ended, if it has.
    fn ended(&mut self) -> Result<Option<CrashSign>, RunError> {
        sign_of(self.testbed.check_alive())
    }

    /// Returns the lines in which a kernel reports a defect of its own, if there are some. A machine that runs no commands any more has crashed, too.
    fn kernel_defects(&mut self) -> Result<Option<CrashSign>, RunError> {
        for log in &mut self.kernel_logs {
            match log.new_defects() {
                Ok(lines) if lines.is_empty() => {}
                Ok(lines) => return Ok(Some(CrashSign::KernelLog { lines })),
                Err(error) if log.is_own() => return sign_of(Err(error)),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(None)
    }
}

/// Returns the sign of a crash in what a device could not do, unless it was a request to stop.
fn sign_of(done: Result<(), TestbedError>) -> Result<Option<CrashSign>, RunError> {
    match done {
        Ok(()) => Ok(None),
        Err(TestbedError::Interrupted) => Err(RunError::Interrupted),
        Err(error) => Ok(Some(CrashSign::Ended {
            how: error.to_string(),
        })),
    }
}

fn silence(report: &BatchReport) -> Option<CrashSign> {
    (!report.silent.is_empty()).then(|| CrashSign::Silent {
        from: report.silent.clone(),
    })
}
