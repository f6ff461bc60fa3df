//! Tests a user-space forwarder that halts for some milliseconds of a trial, because another program has its core or because it stops by itself.
//! Either way, the losses are confined to one moment, but only the first can be distinguished from a pause of the device itself. Performance does not matter: the
//! device's queue is so short, and the load so low, that only the halt loses frames. They need root, and fail rather than skip without it.

use super::rigged_tests::{ONE_AT_A_TIME, recipe};
use super::session::Session;
use crate::ends::cores::cores;
use crate::profile;
use crate::request::{SessionRequest, Site};
use sixbench_io::thread::keep_to;
use sixbench_method::bottleneck::{Cause, explain};
use sixbench_method::disturbance::weighed;
use sixbench_method::isolation::Isolation;
use sixbench_method::plan::{Point, Profile, Test};
use sixbench_method::record::{CpuSample, FORMAT, TrialRecord};
use sixbench_method::search::{Bracket, Limit};
use sixbench_method::terms::{FrameRate, FrameSize, LossRatio};
use sixbench_method::trial::{Fault, TrialResult, TrialSettings, TrialSpec, Verdict};
use sixbench_plan::{Links, standard_trial};
use sixbench_testbed::Shell;
use sixbench_testbed::namespace::name;
use sixbench_testbed::recipe::RecipeCommand;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The rate in each direction. TAYGA is scheduled for every frame of both.
const RATE: FrameRate = FrameRate(500);
const LASTS: Duration = Duration::from_secs(4);
/// The queue holds the frames that arrive in 100 ms, and the burst from a tester that was absent for as long.
const QUEUE: &str = "ip link set nat64 txqueuelen 100";
/// A smaller part of the trial than the share above which other work is noticed anyway.
const HALT: Duration = Duration::from_millis(160);
/// The maximum number of trials until one is only disturbed by the test itself.
const TRIES: u32 = 20;

fn open() -> Session {
    let (shell, links) = (Shell::new(), Links::default());
    let site = Site {
        shell,
        links: &links,
        stop: Arc::default(),
        isolation: Isolation::Unknown,
        pcap: None,
    };
    let mut recipe = recipe("tayga-siit", &[]);
    recipe.setup.push(RecipeCommand {
        run: QUEUE.to_owned(),
    });
    let settings = TrialSettings {
        stall_ns: 5_000_000_000,
        ..standard_trial(Profile::Smoke)
    };
    let test = Test::new("t", &recipe.name);
    let job = profile::job(&recipe, &test, FrameSize::MINIMUM, 42, settings).expect("a job");
    let session = Session::open(
        &site,
        &SessionRequest::alone(&recipe, FrameSize::MINIMUM),
        job,
    )
    .expect("a session (these tests need root)");
    // Other work on this machine must not halt it.
    for process in &processes() {
        make_real_time(process, "10");
    }
    session
}

/// Returns the device's processes.
fn processes() -> Vec<String> {
    let listed = Shell::new()
        .look(&["ip", "netns", "pids", &name("", "dut")])
        .expect("processes");
    listed.split_whitespace().map(str::to_owned).collect()
}

/// Gives a thread precedence over all ordinary ones and those with a lower real-time priority.
fn make_real_time(thread: &str, priority: &str) {
    Shell::new()
        .look(&["chrt", "-f", "-p", priority, thread])
        .expect("a real-time class (needs root)");
}

/// Performs a trial with an event in its middle.
fn trial(session: &mut Session, happens: &(impl Fn() + Sync)) -> TrialRecord {
    let spec = TrialSpec::constant(RATE, LASTS.as_nanos() as u64);
    let (result, watch) = std::thread::scope(|scope| {
        scope.spawn(|| {
            // The time is what is tested: the middle of the trial.
            std::thread::sleep(LASTS / 2);
            happens();
        });
        session.measure(&spec).expect("a trial")
    });
    let point = Point {
        test: "t".to_owned(),
        frame_size: FrameSize::MINIMUM,
    };
    let started = String::new();
    TrialRecord {
        format: FORMAT,
        point,
        repetition: 1,
        trial: 1,
        load: None,
        started,
        result,
        watch: Some(watch.into()),
    }
}

/// Returns a trial that was sent completely, in which at least 20 frames of one direction were lost within `most_bins` consecutive bins of 100 ms, and
/// of which `is_as_wanted` holds. Disturbances of the tester, or of the device at other times, say nothing about the halt.
fn halted(
    session: &mut Session,
    most_bins: usize,
    halt: impl Fn() + Sync,
    is_as_wanted: impl Fn(&TrialRecord) -> bool,
) -> TrialRecord {
    let is_fit = |record: &TrialRecord| {
        let directions = &record.result.directions;
        directions
            .iter()
            .all(|one| one.offered == one.intended && bins_with_loss(&one.lost_by_bin) <= most_bins)
            && directions
                .iter()
                .any(|one| one.lost_by_bin.iter().sum::<u64>() >= 20)
    };
    let mut seen_of_unwanted = Vec::new();
    for _ in 0..TRIES {
        let record = trial(session, &halt);
        if is_fit(&record) && is_as_wanted(&record) {
            return record;
        }
        let taken = taken_where_lost(&record);
        seen_of_unwanted.push(format!("{taken:?} {}", seen(&record)));
    }
    panic!("no trial of {TRIES} lost frames as wanted: {seen_of_unwanted:#?}")
}

/// Returns the number of bins from the first with loss to the last.
fn bins_with_loss(lost_by_bin: &[u64]) -> usize {
    let is_lossy = |lost: &u64| *lost > 0;
    let first = lost_by_bin.iter().position(is_lossy);
    let last = lost_by_bin.iter().rposition(is_lossy);
    first.zip(last).map_or(0, |(first, last)| last - first + 1)
}

/// Occupies every core of the device, above its processes.
fn take_cores() {
    let cores = cores(&Links::default()).expect("cores").dut;
    std::thread::scope(|scope| {
        for core in &cores {
            drop(scope.spawn(move || burn(*core)));
        }
    });
}

fn burn(core: u32) {
    keep_to(&[core]).expect("its core");
    make_own_thread_real_time();
    let end = Instant::now() + HALT;
    while Instant::now() < end {
        std::hint::spin_loop();
    }
}

/// Puts this thread and its children above the device's processes.
fn make_own_thread_real_time() {
    let thread = std::fs::read_link("/proc/thread-self").expect("its number");
    make_real_time(
        &thread.file_name().expect("a number").to_string_lossy(),
        "50",
    );
}

/// Halts the device's own processes, whose cores are idle meanwhile.
fn stop_device() {
    make_own_thread_real_time();
    // Not on the device's cores, which sending the signals would occupy for tens of milliseconds.
    keep_to(&cores(&Links::default()).expect("cores").tester).expect("its cores");
    let processes = processes();
    let signal = |signal: &str| {
        Shell::new()
            .look(
                &[
                    vec!["kill".to_owned(), signal.to_owned()],
                    processes.clone(),
                ]
                .concat(),
            )
            .expect("a signal")
    };
    signal("-STOP");
    // The halt itself.
    std::thread::sleep(HALT);
    signal("-CONT");
}

fn limit_of(record: &TrialRecord) -> Limit {
    let bracket = Bracket {
        goal: LossRatio::ZERO,
        lower: Some(FrameRate(1)),
        upper: Some(RATE),
        limit: Limit::Dut,
        exceed_ratio: 0.0,
        conditional_throughput: None,
    };
    weighed(bracket, &[record]).limit
}

/// Returns when frames were lost, and when the device waited for a core.
fn seen(record: &TrialRecord) -> String {
    let lost: Vec<_> = record
        .result
        .directions
        .iter()
        .map(|direction| &direction.lost_by_bin)
        .collect();
    format!(
        "{lost:?} {:?}",
        record.watch.as_ref().map(|watch| &watch.waited_us)
    )
}

/// Returns the time for which, according to the watch, others had the device's cores while it lost frames.
fn taken_where_lost(record: &TrialRecord) -> Option<u64> {
    record
        .watch
        .as_ref()
        .and_then(|watch| watch.taken_where_lost_ms(&record.result))
}

#[test]
fn loss_while_another_program_has_the_devices_core_is_not_the_devices() {
    let _guard = ONE_AT_A_TIME.lock();
    let record = halted(&mut open(), 3, take_cores, |_| true);
    let taken = taken_where_lost(&record);
    assert!(
        taken.is_some_and(|taken| (100..=400).contains(&taken)),
        "{taken:?} {}",
        seen(&record)
    );
    assert!(record.is_disturbed());
    assert_eq!(
        record.result.verdict(LossRatio::ZERO),
        Verdict::Invalid,
        "{:?}",
        record.result
    );
}

#[test]
fn a_device_that_stops_by_itself_has_lost_and_its_rate_is_a_lower_bound() {
    let _guard = ONE_AT_A_TIME.lock();
    // The search for a cause considers two bins to be one moment. A busy machine may take the device's core just before or after it stops; if its own
    // standing still were counted as taken, there would be no trial with as little as this.
    let was_left_alone = |record: &TrialRecord| taken_where_lost(record).unwrap_or(0) < 40;
    let record = halted(&mut open(), 2, stop_device, was_left_alone);
    let taken = taken_where_lost(&record);
    // Other events on this machine during the four seconds could excuse the trial, but not what was seen at the moment of the loss.
    let faults = taken
        .map(|milliseconds| Fault::CpuTaken { milliseconds })
        .into_iter()
        .collect();
    let mut record = TrialRecord {
        result: TrialResult {
            faults,
            ..record.result.clone()
        },
        ..record
    };
    assert_eq!(
        record.result.verdict(LossRatio::ZERO),
        Verdict::Lost,
        "the loss is its own: {}",
        seen(&record)
    );
    // Other work on the cores must not explain the loss either. On an undisturbed machine, they are idle.
    let cores = record.watch.iter_mut().flat_map(|watch| &mut watch.cores);
    cores.flat_map(|core| &mut core.samples).for_each(|sample| {
        *sample = CpuSample {
            idle: 1000,
            ..CpuSample::default()
        }
    });
    let cause = explain(&[&record], LossRatio::ZERO).map(|found| found.cause);
    assert_eq!(
        (cause, limit_of(&record)),
        (Some(Cause::Event), Limit::Disturbed),
        "and no limit of its speed"
    );
}
