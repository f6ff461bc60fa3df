//! A user-space forwarder that comes to a halt for some milliseconds of a trial: because another program has its core, and because it stops by
//! itself. What is lost meanwhile stands in one moment either way; only the first can be told from the device's own doing. Nothing here
//! depends on speed: the device's queue is so short, and the load so low, that the halt alone loses frames. Needs root; without it these
//! tests fail, they do not skip.

use super::cores::cores;
use super::request::{SessionRequest, Site};
use super::rigged_tests::{ONE_AT_A_TIME, recipe};
use super::session::Session;
use crate::profile;
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

/// Of each direction; TAYGA has a turn for every frame of both.
const RATE: FrameRate = FrameRate(500);
const LASTS: Duration = Duration::from_secs(4);
/// The queue before it takes what comes in 100 ms, and what a tester that was away for as long sends at once.
const QUEUE: &str = "ip link set nat64 txqueuelen 100";
/// Of the trial less than the share above which others are noticed anyway.
const HALT: Duration = Duration::from_millis(160);
/// Until this machine leaves a trial alone but for what is done to it here.
const TRIES: u32 = 20;

fn open() -> Session {
    let (shell, links) = (Shell::new(), Links::default());
    let site = Site { shell, links: &links, stop: Arc::default(), isolation: Isolation::Unknown, pcap: None };
    let mut recipe = recipe("tayga-siit", &[]);
    recipe.setup.push(RecipeCommand { run: QUEUE.to_owned() });
    let settings = TrialSettings { stall_ns: 5_000_000_000, ..standard_trial(Profile::Smoke) };
    let test = Test::of("t", &recipe.name);
    let job = profile::job(&recipe, &test, FrameSize::MINIMUM, 42, settings).expect("a job");
    let session = Session::open(&site, &SessionRequest::alone(&recipe, FrameSize::MINIMUM), job)
        .expect("a session (these tests need root)");
    // Whatever else runs on this machine does not halt it.
    processes().iter().for_each(|process| make_real_time(process, "10"));
    session
}

/// The device's own.
fn processes() -> Vec<String> {
    let listed = Shell::new().look(&["ip", "netns", "pids", &name("", "dut")]).expect("processes");
    listed.split_whitespace().map(str::to_owned).collect()
}

/// Puts a thread above all ordinary ones, and above those of a lower real-time priority.
fn make_real_time(thread: &str, priority: &str) {
    Shell::new().look(&["chrt", "-f", "-p", priority, thread]).expect("a real-time class (needs root)");
}

/// A trial in the middle of which something happens.
fn trial(session: &mut Session, happens: &(impl Fn() + Sync)) -> TrialRecord {
    let spec = TrialSpec::constant(RATE, LASTS.as_nanos() as u64);
    let (result, watch) = std::thread::scope(|scope| {
        scope.spawn(|| {
            // The moment is what is tested: the middle of the trial.
            std::thread::sleep(LASTS / 2);
            happens();
        });
        session.measure(&spec).expect("a trial")
    });
    let point = Point { test: "t".to_owned(), frame_size: FrameSize::MINIMUM };
    let started = String::new();
    TrialRecord { format: FORMAT, point, repetition: 1, trial: 1, load: None, started, result, watch: Some(watch.into()) }
}

/// A trial sent whole that lost frames in one moment of so many bins of 100 ms at most, at least 20 of one direction: what the machine does
/// to the tester, or to the device at another time, says nothing of the halt.
fn halted(session: &mut Session, most_bins: usize, halt: impl Fn() + Sync) -> TrialRecord {
    let is_fit = |record: &TrialRecord| {
        let directions = &record.result.directions;
        let lossy = |bins: &[u64]| bins.iter().filter(|lost| **lost > 0).count();
        directions.iter().all(|one| one.offered == one.intended && lossy(&one.lost_by_bin) <= most_bins)
            && directions.iter().any(|one| one.lost_by_bin.iter().sum::<u64>() >= 20)
    };
    (0..TRIES).map(|_| trial(session, &halt)).find(is_fit).expect("a trial that lost frames in one moment alone")
}

/// Takes every core of the device, above its processes.
fn take_cores() {
    let cores = cores(&Links::default()).expect("cores").dut;
    std::thread::scope(|scope| cores.iter().for_each(|core| drop(scope.spawn(move || burn(*core)))));
}

fn burn(core: u32) {
    keep_to(&[core]).expect("its core");
    make_own_thread_real_time();
    let end = Instant::now() + HALT;
    while Instant::now() < end {
        std::hint::spin_loop();
    }
}

/// Above the device's processes, with all that it starts.
fn make_own_thread_real_time() {
    let thread = std::fs::read_link("/proc/thread-self").expect("its number");
    make_real_time(&thread.file_name().expect("a number").to_string_lossy(), "50");
}

/// Halts the device's own processes, whose cores are idle meanwhile.
fn stop_device() {
    make_own_thread_real_time();
    // Not on the device's own cores, which what sends the signals would hold for tens of milliseconds.
    keep_to(&cores(&Links::default()).expect("cores").tester).expect("its cores");
    let processes = processes();
    let signal = |signal: &str| {
        Shell::new().look(&[vec!["kill".to_owned(), signal.to_owned()], processes.clone()].concat()).expect("a signal")
    };
    signal("-STOP");
    // The halt itself.
    std::thread::sleep(HALT);
    signal("-CONT");
}

fn limit_of(record: &TrialRecord) -> Limit {
    let bracket = Bracket { goal: LossRatio::ZERO, lower: Some(FrameRate(1)), upper: Some(RATE), limit: Limit::Dut };
    weighed(bracket, &[record]).limit
}

/// When frames were lost, and when the device waited for a core.
fn seen(record: &TrialRecord) -> String {
    let lost: Vec<_> = record.result.directions.iter().map(|direction| &direction.lost_by_bin).collect();
    format!("{lost:?} {:?}", record.watch.as_ref().map(|watch| &watch.waited_us))
}

/// For how long the watch says that others had the device's cores while it lost frames.
fn taken_where_lost(record: &TrialRecord) -> Option<u64> {
    record.watch.as_ref().and_then(|watch| watch.taken_where_lost_ms(&record.result))
}

#[test]
fn loss_while_another_program_has_the_devices_core_is_not_the_devices() {
    let _guard = ONE_AT_A_TIME.lock();
    let record = halted(&mut open(), 3, take_cores);
    let taken = taken_where_lost(&record);
    assert!(taken.is_some_and(|taken| (100..=400).contains(&taken)), "{taken:?} {}", seen(&record));
    assert!(record.is_disturbed());
    assert_eq!(record.result.verdict(LossRatio::ZERO), Verdict::Invalid, "{:?}", record.result);
}

#[test]
fn a_device_that_stops_by_itself_has_lost_and_its_rate_is_a_lower_bound() {
    let _guard = ONE_AT_A_TIME.lock();
    // Two bins are a moment for the search for a cause.
    let record = halted(&mut open(), 2, stop_device);
    let taken = taken_where_lost(&record);
    assert!(taken.unwrap_or(0) < 40, "nobody had its core for as long as it stood still: {taken:?} ms, {}", seen(&record));
    // What else this machine did in the four seconds may excuse the trial; what was seen at the moment of the loss does not.
    let faults = taken.map(|milliseconds| Fault::CpuTaken { milliseconds }).into_iter().collect();
    let mut record = TrialRecord { result: TrialResult { faults, ..record.result.clone() }, ..record };
    assert_eq!(record.result.verdict(LossRatio::ZERO), Verdict::Lost, "the loss is its own: {}", seen(&record));
    // Nor does what else ran on the cores explain it: on a machine that is left alone they are idle.
    let cores = record.watch.iter_mut().flat_map(|watch| &mut watch.cores);
    cores.flat_map(|core| &mut core.samples).for_each(|sample| *sample = CpuSample { idle: 1000, ..CpuSample::default() });
    let cause = explain(&[&record], LossRatio::ZERO).map(|found| found.cause);
    assert_eq!((cause, limit_of(&record)), (Some(Cause::Event), Limit::Disturbed), "and no limit of its speed");
}
