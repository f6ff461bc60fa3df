//! Compares the delays that the tester reports with those of a reference device over real ports.

use super::wire::{add_veth, trial_settings, wire};
use crate::ends::ports::open as open_port;
use crate::{OpenError, RunError};
use serde::Serialize;
use sixbench_engine::frames::delay_line::DelayLine;
use sixbench_engine::frames::profile::TrafficProfile;
use sixbench_engine::{FrameTester, Layout};
use sixbench_io::clock::Clock;
use sixbench_io::thread::{allowed_cores, pin_to, raise_priority};
use sixbench_io::{Backend, PortOptions, PortSpec};
use sixbench_method::isolation::Isolation;
use sixbench_method::terms::{Directions, FrameRate, FrameSize};
use sixbench_method::trial::{Delay, Measurer, Tagging, TrialSettings, TrialSpec, Verdict};
use sixbench_testbed::namespace::{Namespace, name};
use sixbench_testbed::{Shell, sweep};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The delays of the reference device in nanoseconds.
const DELAYS_NS: [u64; 3] = [1_000_000, 100_000, 10_000_000];
/// A rate low enough to avoid queueing.
const RATE: FrameRate = FrameRate(5_000);
const DURATION_NS: u64 = 500_000_000;
const TRIALS: usize = 20;

/// The measurement at one delay, taken from the quietest trial: the one with the shortest longest absence of the tester.
#[derive(Serialize)]
pub struct DelayRow {
    /// The delay of the reference device in nanoseconds.
    pub delay_ns: u64,
    /// The number of trials in which the tester was fit.
    pub quiet: usize,
    /// The number of trials performed.
    pub made: usize,
    /// The result of the quietest trial, or `None` if the tester was not fit in any.
    pub result: Option<QuietestTrial>,
}

/// The tester's report on one trial.
#[derive(Serialize)]
pub struct QuietestTrial {
    /// The tester's longest absence in nanoseconds.
    pub worst_gap_ns: u64,
    /// The median latency of the tagged frames minus the device's delay, in nanoseconds.
    pub median_error_ns: i64,
    /// The packet delay variation in nanoseconds.
    pub pdv_ns: u64,
    /// The number of frames whose delay was measured.
    pub frames: u64,
}

impl fmt::Display for DelayRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let us = |ns: f64| format!("{:.1} us", ns / 1000.0);
        let (delay, made, quiet) = (us(self.delay_ns as f64), self.made, self.quiet);
        let Some(best) = &self.result else {
            return write!(f, "delay {delay:>10}: no quiet trial of {made}");
        };
        let (error, pdv, frames) = (
            us(best.median_error_ns as f64),
            us(best.pdv_ns as f64),
            best.frames,
        );
        let gap = us(best.worst_gap_ns as f64);
        write!(
            f,
            "delay {delay:>10}: typical latency off by {error:>8}, PDV {pdv:>8} ({frames} frames, longest stall of the tester \
             {gap}; {quiet} of {made} trials quiet)"
        )
    }
}

/// Measures at every delay of the reference device, with frames of this size. Needs root.
///
/// # Errors
/// The links or a port cannot be set up, a trial cannot be performed, or `stop` was set.
pub fn accuracy(
    backend: Backend,
    frame_size: FrameSize,
    stop: &Arc<AtomicBool>,
) -> Result<Vec<DelayRow>, RunError> {
    let shell = Shell::new().stopped_by(stop.clone());
    sweep(&shell)?;
    let namespace = Namespace::new(&shell, &name("", "accuracy"))?;
    add_veth(&namespace, ["left", "line-left"], 1)?;
    add_veth(&namespace, ["right", "line-right"], 1)?;
    DELAYS_NS
        .iter()
        .map(|&delay_ns| at_delay(backend, frame_size, &namespace, delay_ns, stop))
        .collect()
}

fn at_delay(
    backend: Backend,
    frame_size: FrameSize,
    namespace: &Namespace,
    delay_ns: u64,
    stop: &Arc<AtomicBool>,
) -> Result<DelayRow, RunError> {
    let open = |end: &str| {
        open_port(
            (Some(namespace.name()), &PortSpec::parse(end)),
            backend,
            PortOptions::new(frame_size.0.into()),
        )
    };
    let cores = allowed_cores()?;
    let line = DelayLine::new(
        open("line-left")?,
        open("line-right")?,
        delay_ns,
        Clock::new(),
    );
    let profile = TrafficProfile {
        directions: Directions::Both,
        ..wire("198.18.0.2", "198.19.0.2", frame_size)
    };
    let layout = Layout {
        cores: cores[..1].to_vec(),
    };
    let settings = TrialSettings {
        residual_ns: 1_000_000_000,
        ..trial_settings()
    };
    let mut tester = FrameTester::new(
        (open("left")?, open("right")?),
        Isolation::Unknown.admit(profile)?,
        settings,
        layout,
        stop.clone(),
    );
    beside_device(line, cores.last().copied(), || {
        trials(&mut tester, delay_ns)
    })
}

/// Makes trials while the device forwards frames in a thread on this core.
fn beside_device(
    line: DelayLine,
    core: Option<u32>,
    trials: impl FnOnce() -> Result<DelayRow, RunError>,
) -> Result<DelayRow, RunError> {
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let device = scope.spawn(|| {
            // The tester's core is the first. On a machine with one core, the two share it, and the row shows the effect.
            let _ = core.map(pin_to);
            let _ = raise_priority();
            line.run(&over)
        });
        let until_here = SetOnDrop(&over);
        let row = trials();
        drop(until_here);
        let ended = device
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        ended
            .map_err(|error| RunError::Port(OpenError::Port(error)))
            .and(row)
    })
}

/// Sets the flag that ends the device when this is dropped, even if the tester panics, because the device's thread is joined.
struct SetOnDrop<'a>(&'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn trials(tester: &mut FrameTester, delay_ns: u64) -> Result<DelayRow, RunError> {
    let tagging = Some(Tagging {
        after_ns: DURATION_NS / 4,
        frames: 2_000,
    });
    let spec = TrialSpec {
        tagging,
        ..TrialSpec::constant(RATE, DURATION_NS)
    };
    let mut row = DelayRow {
        delay_ns,
        quiet: 0,
        made: 0,
        result: None,
    };
    for _ in 0..TRIALS {
        let result = tester.measure(&spec)?;
        row.made += 1;
        if result.delay_verdict() != Verdict::Passed {
            continue;
        }
        row.quiet += 1;
        for direction in &result.directions {
            let (Some(tagged), Some(all)) = (&direction.tagged, &direction.delay) else {
                continue;
            };
            let worst_gap_ns = direction.receiving.worst_gap_ns;
            if row
                .result
                .as_ref()
                .is_none_or(|best| worst_gap_ns < best.worst_gap_ns)
            {
                row.result = Some(quietest(tagged, all, delay_ns, worst_gap_ns));
            }
        }
    }
    Ok(row)
}

fn quietest(tagged: &Delay, all: &Delay, delay_ns: u64, worst_gap_ns: u64) -> QuietestTrial {
    let median_error_ns = tagged.median_ns as i64 - delay_ns as i64;
    QuietestTrial {
        worst_gap_ns,
        median_error_ns,
        pdv_ns: all.pdv_ns(),
        frames: all.count,
    }
}
