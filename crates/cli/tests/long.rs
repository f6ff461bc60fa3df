//! The remains of a run with many trials, and of many runs: memory, descriptors, files, namespaces, processes, kernel settings. Needs root and the
//! packages of the testbed. `make long` runs the long forms, and docs/SCALE.md has their results.

#[path = "it/common/mod.rs"]
mod common;

use common::{ONE_AT_A_TIME, Scratch, assert_ran, namespaces_of, start};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Seek as _, SeekFrom};
use std::process::{Child, Output};
use std::thread::{JoinHandle, sleep};
use std::time::{Duration, Instant};

/// A plan of ten trials for each of eight sizes, with `REPETITIONS` repetitions.
const MANY_TRIALS: &str = r#"
name = "many"
[trial]
patience = "0s"
duration = "10ms"
residual = "2ms"
rest = "0s"
stall = "1s"
[[test]]
name = "kernel"
dut = "linux-ipv4"
measure = "frame-loss-rate"
rates = ["1k", "1.1k", "1.2k", "1.3k", "1.4k", "1.5k", "1.6k", "1.7k", "1.8k", "1.9k"]
repetitions = REPETITIONS
"#;

const TRIALS_OF_A_REPETITION: usize = 80;

/// The resources that a process holds at one time.
#[derive(Debug)]
struct Held {
    trials: usize,
    /// Anonymous memory, octets.
    memory: u64,
    /// The targets of its descriptors, with their numbers. Ports and clocks of a device are opened again for each point, so they are counted by kind.
    descriptors: BTreeMap<String, usize>,
    threads: usize,
    files: Vec<String>,
}

impl Held {
    /// Returns what a run that goes on holds, with the least memory of twenty looks: what a trial needs for a moment comes and goes.
    fn settled(child: &Child, trials: usize) -> Self {
        let look = |_| {
            sleep(Duration::from_millis(50));
            Self::of(child, trials).expect("a run that goes on")
        };
        (0..20)
            .map(look)
            .min_by_key(|held| held.memory)
            .expect("twenty looks")
    }

    fn of(child: &Child, trials: usize) -> Option<Self> {
        let process = format!("/proc/{}", child.id());
        let status = fs::read_to_string(format!("{process}/status")).ok()?;
        let memory = status
            .lines()
            .find_map(|line| line.strip_prefix("RssAnon:"))?
            .trim()
            .strip_suffix(" kB")?
            .parse::<u64>()
            .ok()?;
        let mut descriptors = BTreeMap::new();
        for entry in fs::read_dir(format!("{process}/fd")).ok()?.flatten() {
            let Ok(to) = fs::read_link(entry.path()) else {
                continue;
            };
            let kind = to
                .display()
                .to_string()
                .split([':', '['])
                .next()
                .unwrap_or_default()
                .to_owned();
            *descriptors.entry(kind).or_default() += 1;
        }
        let threads = fs::read_dir(format!("{process}/task")).ok()?.count();
        Some(Self {
            trials,
            memory: 1024 * memory,
            descriptors,
            threads,
            files: files_of(child.id()),
        })
    }
}

/// Returns the files with this process's number in the directories for temporary files, namespaces and run-time data.
fn files_of(process: u32) -> Vec<String> {
    let (of_namespace, of_files) = (format!("sb-{process}-"), format!("sb-{process}."));
    let temporary = std::env::temp_dir().display().to_string();
    let directories = [
        &temporary,
        "/run",
        "/run/netns",
        "/run/sixbench",
        "/dev/shm",
        "/sys/fs/cgroup",
    ];
    let entries = directories
        .into_iter()
        .flat_map(|directory| fs::read_dir(directory).into_iter().flatten().flatten());
    let names = entries.map(|entry| entry.path().display().to_string());
    let mut found: Vec<String> = names
        .filter(|name| name.contains(&of_namespace) || name.contains(&of_files))
        .collect();
    found.sort();
    found
}

/// Returns the processes started by the run with this number, which have the names of its namespaces or directories in their commands.
fn processes_of(process: u32) -> Vec<String> {
    let marks = [format!("sb-{process}-"), format!("sb-{process}.")];
    let commands = fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let command = fs::read(entry.path().join("cmdline")).ok()?;
            Some(String::from_utf8_lossy(&command).replace('\0', " "))
        });
    commands
        .filter(|command| marks.iter().any(|mark| command.contains(mark)))
        .collect()
}

/// The trials that a run has stored; only new lines are read.
struct KeptTrials {
    path: String,
    octets: u64,
    lines: usize,
}

impl KeptTrials {
    fn count(&mut self) -> usize {
        let mut new = Vec::new();
        let read = File::open(&self.path).and_then(|mut file| {
            file.seek(SeekFrom::Start(self.octets))?;
            file.read_to_end(&mut new)
        });
        self.octets += read.unwrap_or(0) as u64;
        self.lines += new.iter().filter(|octet| **octet == b'\n').count();
        self.lines
    }
}

/// Reads a run's output while it runs, so that it never waits for a reader.
fn read_all(mut pipe: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut all = Vec::new();
        pipe.read_to_end(&mut all).expect("what it said");
        all
    })
}

/// Waits for the end of a run, and fails if anything of it remains.
fn end(mut child: Child) {
    let (output, error) = (
        child.stdout.take().map(read_all),
        child.stderr.take().map(read_all),
    );
    let said = |reader: Option<JoinHandle<Vec<u8>>>| {
        reader.map_or_else(Vec::new, |reader| reader.join().expect("a reader"))
    };
    let (stdout, stderr, process) = (said(output), said(error), child.id());
    let status = child.wait().expect("an end");
    assert_ran(&Output {
        status,
        stdout,
        stderr,
    });
    assert_eq!(namespaces_of(process), Vec::<String>::new());
    assert_eq!(files_of(process), Vec::<String>::new());
    assert_eq!(processes_of(process), Vec::<String>::new());
}

/// Makes a run with this many repetitions. Returns its resources after `early` trials, and after `late` trials.
fn watched(repetitions: usize, early: usize, late: usize) -> [Held; 2] {
    let _alone = ONE_AT_A_TIME.lock();
    let scratch = Scratch::new(&format!("long-{repetitions}"));
    let plan = scratch.write(
        "plan.toml",
        &MANY_TRIALS.replace("REPETITIONS", &repetitions.to_string()),
    );
    let results = scratch.path("results");
    let mut child = start(&["run", &plan, "-o", &results, "--json"]);
    // The output does not matter here.
    let mut output = child.stdout.take().expect("an output");
    let reader = std::thread::spawn(move || io::copy(&mut output, &mut io::sink()));
    let error = child.stderr.take().map(read_all);
    let mut trials = KeptTrials {
        path: format!("{results}/trials.jsonl"),
        octets: 0,
        lines: 0,
    };
    let held = [early, late].map(|least| {
        while trials.count() < least {
            assert!(
                child.try_wait().expect("a state").is_none(),
                "it ended before {least} trials"
            );
            sleep(Duration::from_millis(20));
        }
        Held::settled(&child, trials.lines)
    });
    end(child);
    reader.join().expect("a reader").expect("an output");
    drop(error);
    held
}

/// The memory that a run may need in addition for each trial, octets: its record takes about half of it.
const OCTETS_OF_A_TRIAL: u64 = 3_072;

fn assert_same([early, late]: &[Held; 2]) {
    println!(
        "after {} trials {early:?}\nafter {} trials {late:?}",
        early.trials, late.trials
    );
    let most = early.memory + OCTETS_OF_A_TRIAL * (late.trials - early.trials) as u64 + (2 << 20);
    assert!(
        late.memory <= most,
        "{} octets, expected at most {most}",
        late.memory
    );
    assert_eq!(late.files, early.files);
    assert!(
        late.threads <= early.threads + 4,
        "{} threads after {}",
        late.threads,
        early.threads
    );
    // The descriptors of the trial under way come and go.
    let count = |held: &Held| held.descriptors.values().sum::<usize>();
    assert!(
        count(late) <= count(early) + 16,
        "{:?}, earlier {:?}",
        late.descriptors,
        early.descriptors
    );
}

/// Returns true if `make long` asks for the long forms: 20,000 trials, as many as a day has of four seconds, and 300 runs, in 20 minutes.
fn is_long() -> bool {
    std::env::var_os("SIXBENCH_LONG").is_some()
}

#[test]
fn a_run_of_many_trials_has_after_them_what_it_had_after_the_first() {
    let held = if is_long() {
        watched(250, 400, 19_900)
    } else {
        watched(2, 40, TRIALS_OF_A_REPETITION + 60)
    };
    assert_same(&held);
}

/// Returns the settings of this machine's kernel that testbeds change in their namespaces and must not change anywhere else.
fn sysctls() -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut open = vec![
        std::path::PathBuf::from("/proc/sys/net/core"),
        "/proc/sys/net/ipv4/conf/all".into(),
        "/proc/sys/net/ipv6/conf/all".into(),
    ];
    open.push("/proc/sys/kernel".into());
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            let path = entry.path();
            // Counters and random numbers are not settings.
            let is_counter = ["random", "ns_last_pid", "pty", "keys", "perf_event"]
                .iter()
                .any(|part| path.to_string_lossy().contains(part));
            match path.is_dir() {
                true => open.extend((!is_counter).then_some(path)),
                false if !is_counter => drop(
                    fs::read_to_string(&path)
                        .map(|text| found.insert(path.display().to_string(), text)),
                ),
                false => {}
            }
        }
    }
    found
}

/// Returns the settings that have changed.
fn changed(settings: &BTreeMap<String, String>) -> Vec<(String, String)> {
    sysctls()
        .into_iter()
        .filter(|(name, value)| settings.get(name).is_some_and(|before| before != value))
        .collect()
}

/// Returns the interfaces of this machine's own namespace.
fn interfaces() -> Vec<String> {
    let entries = fs::read_dir("/sys/class/net")
        .into_iter()
        .flatten()
        .flatten();
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    names
}

/// Makes this many short runs, each of which must leave nothing behind; returns how long each took.
fn runs(count: usize) -> Vec<Duration> {
    let _alone = ONE_AT_A_TIME.lock();
    let scratch = Scratch::new(&format!("runs-{count}"));
    let plan = scratch.write("plan.toml", common::plans::KERNEL);
    let (settings, links) = (sysctls(), interfaces());
    let took = (0..count).map(|number| {
        let begin = Instant::now();
        let results = scratch.path(&format!("results-{number}"));
        end(start(&["run", &plan, "-o", &results, "--json"]));
        begin.elapsed()
    });
    let took = took.collect();
    let left = || {
        (
            interfaces()
                .into_iter()
                .filter(|name| !links.contains(name))
                .collect::<Vec<_>>(),
            changed(&settings),
        )
    };
    // Another test on this machine may have changed something temporarily.
    let deadline = Instant::now() + Duration::from_secs(60);
    while left() != (vec![], vec![]) && Instant::now() < deadline {
        sleep(Duration::from_millis(200));
    }
    assert_eq!(left(), (vec![], vec![]));
    took
}

#[test]
fn many_runs_leave_nothing_behind_and_the_last_take_no_longer_than_the_first() {
    if !is_long() {
        // Too few to compare how long they take.
        runs(3);
        return;
    }
    let took = runs(300);
    let median = |runs: &[Duration]| {
        let mut sorted = runs.to_vec();
        sorted.sort_unstable();
        sorted[sorted.len() / 2]
    };
    let (first, last) = (median(&took[..50]), median(&took[250..]));
    println!("the median of the first 50 runs is {first:?}, of the last 50 {last:?}");
    assert!(last < 2 * first, "{last:?} after {first:?}");
}
