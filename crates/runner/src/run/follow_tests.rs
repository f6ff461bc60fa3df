//! Follows a results directory while it grows, after its run was killed in the middle of a line, and when the run is resumed.

use crate::perform_with;
use crate::results::follow::follow;
use crate::results::store::{Store, StoreError, folder, load};
use sixbench_method::event::Event;
use sixbench_method::plan::Plan;
use sixbench_method::record::TrialRecord;
use sixbench_method::simulated::{Behaviour, SimulatedDut};
use sixbench_method::terms::FrameRate;
use sixbench_testbed::Library;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::Duration;

const PLAN: &str = r#"
name = "followed"
[search]
maximum = "1M"
[[test]]
name = "t"
dut = "linux-ipv6"
frame-sizes = [84]
repetitions = 4
"#;

/// A results directory, removed when dropped, with a plan and the trials of a complete run.
struct Directory {
    path: PathBuf,
    plan: Plan,
    records: Vec<TrialRecord>,
}

impl Directory {
    fn new(name: &str) -> Self {
        let library = Library::load::<&Path>(&[]).expect("recipes");
        let Ok(loaded) = sixbench_plan::load(PLAN, &library) else {
            panic!("the plan is right")
        };
        let mut device = SimulatedDut::new(Behaviour::HardLimit, FrameRate(400_000), 1);
        let records = perform_with(&loaded.plan, &mut device, &mut |_| {}).expect("a run");
        assert!(records.len() > 8, "{} trials", records.len());
        let path =
            std::env::temp_dir().join(format!("sixbench-follow-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        Self {
            path,
            plan: loaded.plan,
            records,
        }
    }

    /// Starts the run with its first `trials` trials.
    fn begin(&self, trials: usize) -> Store {
        let mut store =
            Store::create(&self.path, &self.plan, PLAN, &Default::default()).expect("a directory");
        self.records[..trials]
            .iter()
            .for_each(|record| store.append(record).expect("appended"));
        store
    }

    /// Resumes the run after a kill, with the trials starting from this one.
    fn resume(&self, from: usize) -> Store {
        let (mut store, stored) =
            Store::reopen(folder(&self.path).expect("a directory")).expect("a directory");
        assert_eq!(stored.records, self.records[..from]);
        self.records[from..]
            .iter()
            .for_each(|record| store.append(record).expect("appended"));
        store
    }

    /// Appends text to the trials, as a run does that is killed while writing.
    fn write(&self, text: &str) {
        let mut file = OpenOptions::new()
            .append(true)
            .open(self.path.join("trials.jsonl"))
            .expect("trials");
        file.write_all(text.as_bytes()).expect("written");
    }

    fn follow(&self) -> Follower {
        let (stored, path, stop) = (
            load(&self.path).expect("a directory"),
            self.path.clone(),
            Arc::<AtomicBool>::default(),
        );
        let (sender, events) = channel();
        let is_over = stop.clone();
        let thread = std::thread::spawn(move || {
            follow(
                &folder(&path).expect("a directory"),
                stored,
                &is_over,
                &mut |event| drop(sender.send(event.clone())),
            )
        });
        Follower {
            events,
            stop,
            thread,
        }
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

struct Follower {
    events: Receiver<Event>,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Result<(), crate::RunError>>,
}

impl Follower {
    fn next(&self) -> Event {
        self.events
            .recv_timeout(Duration::from_secs(60))
            .expect("an event")
    }

    /// Returns the trials reported before the next event for which `is_it` returns true.
    fn trials_until(&self, is_it: impl Fn(&Event) -> bool) -> Vec<TrialRecord> {
        let mut trials = Vec::new();
        loop {
            match self.next() {
                event if is_it(&event) => return trials,
                Event::TrialEnded { record, .. } => trials.push(*record),
                _ => {}
            }
        }
    }

    /// Stops following, and returns the events that have not been read.
    fn end(self) -> Vec<Event> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().expect("no panic").expect("no error");
        self.events.iter().collect()
    }
}

fn is_start(event: &Event) -> bool {
    matches!(event, Event::RunStarted { plan, .. } if plan == "followed")
}

fn is_end(event: &Event, was_interrupted: bool) -> bool {
    matches!(event, Event::RunEnded { interrupted, .. } if *interrupted == was_interrupted)
}

#[test]
fn each_new_trial_of_a_run_under_way_is_told_once_and_then_its_end() {
    let directory = Directory::new("grows");
    let mut store = directory.begin(3);
    let follower = directory.follow();
    assert!(is_start(&follower.next()), "a run is under way");
    for record in &directory.records[3..] {
        store.append(record).expect("appended");
        std::thread::sleep(Duration::from_millis(50));
    }
    drop(store);
    let mut ended = 0;
    let mut told = Vec::new();
    loop {
        match follower.next() {
            Event::TrialEnded { record, .. } => told.push(*record),
            Event::MeasurementEnded { .. } => ended += 1,
            Event::Progress { .. } | Event::MeasurementStarted { .. } => {}
            event => {
                assert!(is_end(&event, false), "{event:?}");
                break;
            }
        }
    }
    assert_eq!(told, directory.records[3..]);
    assert!(ended >= 2, "repetitions ended: {ended}");
    assert!(
        follower.end().is_empty(),
        "nothing more happens in a directory of a run that has ended"
    );
}

#[test]
fn a_run_that_is_killed_in_the_middle_of_a_line_and_resumed_is_told_as_that() {
    let directory = Directory::new("killed");
    let store = directory.begin(4);
    let follower = directory.follow();
    assert!(is_start(&follower.next()));
    let torn = serde_json::to_string(&directory.records[4]).expect("json");
    directory.write(&torn[..torn.len() / 2]);
    drop(store);
    assert_eq!(
        follower.trials_until(|event| is_end(event, true)),
        [],
        "half a line is no trial"
    );
    let store = directory.resume(4);
    drop(store);
    let told = follower.trials_until(|event| is_end(event, false));
    assert_eq!(
        told,
        directory.records[4..],
        "what was torn was measured again"
    );
    follower.end();
}

#[test]
fn a_line_is_told_when_its_end_is_written() {
    let directory = Directory::new("slow");
    let store = directory.begin(1);
    let follower = directory.follow();
    assert!(is_start(&follower.next()));
    let line = serde_json::to_string(&directory.records[1]).expect("json") + "\n";
    let (early, late) = line.split_at(line.len() / 2);
    directory.write(early);
    assert!(
        follower
            .events
            .recv_timeout(Duration::from_millis(1500))
            .is_err(),
        "half a line is no trial"
    );
    directory.write(late);
    let told = follower.trials_until(|event| matches!(event, Event::Progress { .. }));
    assert_eq!(told, directory.records[1..2]);
    drop(store);
    follower.end();
}

#[test]
fn a_line_that_is_no_trial_ends_the_following_with_its_number() {
    let directory = Directory::new("broken");
    let store = directory.begin(2);
    let follower = directory.follow();
    assert!(is_start(&follower.next()));
    directory.write("nonsense\n");
    let error = follower
        .thread
        .join()
        .expect("no panic")
        .expect_err("an error");
    assert!(
        crate::with_causes(&error).contains("line 3 is not a trial"),
        "{}",
        crate::with_causes(&error)
    );
    drop(store);
}

#[test]
fn lines_of_an_earlier_version_stay_as_they_are_when_a_torn_one_is_cut_off()
-> Result<(), StoreError> {
    let directory = Directory::new("earlier");
    drop(directory.begin(1));
    let spaced = serde_json::to_string(&directory.records[1])
        .expect("json")
        .replace(":{", ": {")
        + "\n";
    directory.write(&spaced);
    let whole = std::fs::read_to_string(directory.path.join("trials.jsonl")).expect("trials");
    directory.write("{\"format\":");
    let (store, stored) = Store::reopen(folder(&directory.path)?)?;
    assert_eq!(stored.records, directory.records[..2]);
    assert_eq!(
        std::fs::read_to_string(directory.path.join("trials.jsonl")).expect("trials"),
        whole
    );
    drop(store);
    Ok(())
}
