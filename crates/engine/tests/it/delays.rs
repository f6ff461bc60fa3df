//! The tester's delays against a line of known delay, while other threads take the core of the tester again and again: no delay is below the true one.
//! The links are of memory, and of the kernel by every backend for them. Needs root; without it these tests fail, they do not skip.
//! `SIXBENCH_LONG=1` (`make long`) makes a thousand trials of each.

use crate::common::veth::Row;
use crate::common::{ONE_AT_A_TIME, ipv4};
use sixbench_engine::frames::delay_line::DelayLine;
use sixbench_engine::{FrameTester, Layout};
use sixbench_io::clock::Clock;
use sixbench_io::{Port, loopback, thread};
use sixbench_method::isolation::Isolation;
use sixbench_method::terms::{Directions, FrameRate};
use sixbench_method::trial::{Measurer, Tagging, TrialResult, TrialSettings, TrialSpec};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const DELAY_NS: u64 = 1_000_000;
/// The time by which the clocks of two cores may differ.
const CLOCKS_APART_NS: u64 = 1_000;

/// Returns the number of trials.
fn trials() -> usize {
    if std::env::var_os("SIXBENCH_LONG").is_some() {
        1_000
    } else {
        5
    }
}

/// Takes the core of the tester for up to 2 ms at a time, several hundred times in a second, at the tester's own priority.
fn take_the_core(core: u32, is_over: &AtomicBool) {
    thread::pin_to(core).expect("this core");
    let _ = thread::raise_priority();
    let mut turn = 0u64;
    while !is_over.load(Ordering::Relaxed) {
        turn += 1;
        let (begun, busy) = (Instant::now(), Duration::from_micros(turn * 7919 % 2_000));
        while begun.elapsed() < busy && !is_over.load(Ordering::Relaxed) {
            std::hint::spin_loop();
        }
        std::thread::sleep(Duration::from_micros(turn * 104_729 % 3_000));
    }
}

/// Sets the flag when it is dropped, even by a panic, so that threads which wait for it end.
struct SetWhenDropped<'a>(&'a AtomicBool);

impl Drop for SetWhenDropped<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Makes the trials between `ends` of the tester, with the delay line between `line`, and hands each to `judge`.
fn through_the_line(ends: (Port, Port), line: (Port, Port), judge: impl Fn(usize, &TrialResult)) {
    let cores = thread::allowed_cores().expect("cores");
    let (tester_core, line_core) = (cores[0], *cores.last().expect("a core"));
    let tagging = Some(Tagging {
        after_ns: 0,
        frames: 100,
    });
    let spec = TrialSpec {
        tagging,
        ..TrialSpec::constant(FrameRate(5_000), 100_000_000)
    };
    let profile = sixbench_engine::frames::profile::TrafficProfile {
        directions: Directions::Both,
        ipdv: true,
        ..ipv4()
    };
    let settings = TrialSettings {
        duration_ns: spec.duration_ns,
        residual_ns: 30_000_000_000,
        rest_ns: 0,
        frame_timeout_ns: 0,
        stall_ns: 10_000_000_000,
    };
    let layout = Layout {
        cores: vec![tester_core],
    };
    let profile = Isolation::Unknown
        .admit(profile)
        .expect("a profile for any link");
    let mut tester = FrameTester::new(ends, profile, settings, layout, Arc::default());
    let (line, is_over) = (
        DelayLine::new(line.0, line.1, DELAY_NS, Clock::new()),
        AtomicBool::new(false),
    );
    std::thread::scope(|scope| {
        let device = scope.spawn(|| {
            thread::pin_to(line_core).expect("this core");
            let _ = thread::raise_priority();
            line.run(&is_over)
        });
        scope.spawn(|| take_the_core(tester_core, &is_over));
        let until_here = SetWhenDropped(&is_over);
        (0..trials()).for_each(|trial| judge(trial, &tester.measure(&spec).expect("a trial")));
        drop(until_here);
        device.join().expect("the line").expect("the line's ports");
    });
}

/// Checks that no delay is below that of the line, and that each says by how much it may be too long.
fn judge(link: &str, trial: usize, result: &TrialResult) {
    for direction in &result.directions {
        let at = format!("{link}, trial {trial}, {}", direction.direction);
        assert_eq!(direction.corrupt, 0, "{at}: {:?}", direction.examples);
        let (Some(all), Some(tagged)) = (&direction.delay, &direction.tagged) else {
            panic!("{at}: nothing came")
        };
        for delay in [all, tagged] {
            assert!(
                delay.min_ns + CLOCKS_APART_NS >= DELAY_NS,
                "{at}: {delay:?} is below {DELAY_NS} ns"
            );
            let bounds = delay.bounds.expect("bounds");
            assert!(
                bounds.min_ns <= delay.min_ns && bounds.max_ns <= delay.max_ns,
                "{at}: {delay:?}"
            );
        }
        assert!(
            direction.ipdv.is_some_and(|ipdv| ipdv.bounds.is_some()),
            "{at}"
        );
    }
}

#[test]
fn no_delay_through_memory_is_below_that_of_the_line() {
    let _one = ONE_AT_A_TIME.lock();
    let ((left, line_left), (line_right, right)) = (loopback::pair(), loopback::pair());
    through_the_line((left, right), (line_left, line_right), |trial, result| {
        judge("memory", trial, result);
    });
}

#[test]
fn no_delay_over_links_of_the_kernel_is_below_that_of_the_line() {
    let _one = ONE_AT_A_TIME.lock();
    for backend in ["packet", "xdp"] {
        let row = Row::new(&format!("delay-{backend}"));
        let judge = |trial: usize, result: &TrialResult| judge(backend, trial, result);
        through_the_line(row.open(backend), row.open_device("packet"), judge);
    }
}
