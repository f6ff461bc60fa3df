//! The state of a run as its events describe it: small and complete, so that a browser that comes late or reconnects needs nothing from before.

use crate::shown::{InvalidTrial, LastTrial, SearchTrace};
use serde::Serialize;
use sixbench_method::budget;
use sixbench_method::event::Event;
use sixbench_method::plan::{Plan, Point};
use sixbench_method::record::TrialRecord;
use sixbench_method::replay;
use sixbench_method::trial::{AnomalyKind, Verdict};
use sixbench_report::event_words::{self, Narrowing};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The most invalid trials, and the most warnings, that the page lists; it lists the latest.
const MOST_LISTED: usize = 50;

/// The stage a run is in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Stage {
    /// No event has come yet.
    #[default]
    Waiting,
    /// Devices are being set up and measured.
    Running,
    /// Every measurement was made.
    Complete,
    /// The run ended early, or was killed.
    Interrupted,
}

/// All that the page shows, except the results.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct RunState {
    plan: String,
    pub(crate) results: String,
    pub(crate) stage: Stage,
    /// The number of measurements that have ended, and of all measurements.
    pub(crate) measurements: [u32; 2],
    pub(crate) elapsed_s: u64,
    pub(crate) remaining_s: u64,
    /// The expected end, milliseconds since 1970; `None` while it is unknown.
    ends_ms: Option<u64>,
    /// The device that was set up last, with its version, or the result of the self-test that was made for it.
    device: String,
    /// The measurement under way, and its trial.
    measurement: String,
    trial: String,
    next: Option<String>,
    pub(crate) search: SearchTrace,
    pub(crate) last: Option<LastTrial>,
    pub(crate) trials: VerdictCounts,
    invalid: VecDeque<InvalidTrial>,
    warnings: VecDeque<String>,
    /// The wait under way, in words.
    wait: Option<String>,
    /// The number of events dropped because the queue was full.
    pub(crate) dropped: u64,
    /// True if this server ends with the run, after which the page cannot be loaded again.
    pub(crate) is_last: bool,
    /// The frames of each test that were neither received as they were sent nor simply lost, by their kind; every kind from the first trial of a test on.
    #[serde(skip)]
    pub(crate) anomalies: BTreeMap<(String, AnomalyKind), u64>,
    #[serde(skip)]
    ended: BTreeSet<(Point, u32)>,
    #[serde(skip)]
    narrowing: Narrowing,
}

/// Trials by their verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct VerdictCounts {
    pub(crate) passed: u64,
    pub(crate) lost: u64,
    pub(crate) invalid: u64,
}

impl RunState {
    /// Returns the state after the trials of `records`.
    pub(crate) fn new(plan: &Plan, records: &[TrialRecord], results: String) -> Self {
        let all = budget::estimate(plan).measurements;
        let mut state = Self {
            plan: plan.name.clone(),
            results,
            measurements: [0, all],
            ..Self::default()
        };
        for event in &replay::events(plan, records, 0) {
            state.note(event);
        }
        state
    }

    /// Updates the state with an event.
    pub(crate) fn note(&mut self, event: &Event) {
        self.narrowing.note(event);
        // Any other event ends the wait. A warning may come during one, and progress is told by a clock.
        if !matches!(event, Event::Warning { .. } | Event::Progress { .. }) {
            self.wait = None;
        }
        match event {
            Event::RunStarted {
                plan,
                measurements,
                estimate_s,
                ..
            } => self.run_started(plan, *measurements, *estimate_s),
            Event::DutReady { dut, version } => self.device = format!("{dut} ({version})"),
            Event::SelfTested { .. } => self.device = event_words::event(event).unwrap_or_default(),
            Event::MeasurementStarted {
                point,
                repetition,
                of,
                next,
            } => {
                self.next = next.as_ref().map(ToString::to_string);
                self.measurement_started(measurement(point, *repetition, *of));
            }
            Event::TrialStarted { .. } => self.trial_started(event),
            Event::TrialEnded { record, verdict } => self.trial_ended(record, *verdict),
            Event::MeasurementEnded { outcome, .. } => {
                self.measurement_ended(&outcome.point, outcome.repetition);
            }
            Event::Progress {
                elapsed_s,
                remaining_s,
            } => self.expect(*elapsed_s, *remaining_s),
            Event::Waiting { text } => self.wait = Some(text.clone()),
            Event::Warning { text } => keep_latest(&mut self.warnings, text.clone()),
            Event::RunEnded { interrupted, .. } => self.run_ended(*interrupted),
        }
    }

    fn measurement_started(&mut self, measurement: String) {
        self.measurement = measurement;
        self.search = SearchTrace::default();
        self.trial.clear();
    }

    fn measurement_ended(&mut self, point: &Point, repetition: u32) {
        // A resumed run repeats the events of measurements that had ended before.
        self.ended.insert((point.clone(), repetition));
        self.measurements[0] = self.ended.len() as u32;
    }

    fn run_ended(&mut self, is_interrupted: bool) {
        self.stage = if is_interrupted {
            Stage::Interrupted
        } else {
            Stage::Complete
        };
        self.ends_ms = None;
    }

    fn run_started(&mut self, plan: &str, measurements: u32, estimate_s: u64) {
        self.stage = Stage::Running;
        plan.clone_into(&mut self.plan);
        // The run may measure a part of the plan only, so its own number replaces that of the whole plan.
        self.measurements[1] = measurements;
        self.expect(0, estimate_s);
    }

    fn trial_started(&mut self, event: &Event) {
        let words = event_words::event(event).unwrap_or_default();
        // The page shows the point above this line. The words begin with the point and a colon (`event_words::event`); names of tests have no colon, so
        // the first one ends it.
        let words = words
            .split_once(": ")
            .map_or(words.as_str(), |(_, words)| words);
        self.trial = format!("{words}; {}", self.narrowing.describe());
    }

    fn trial_ended(&mut self, record: &TrialRecord, verdict: Verdict) {
        self.trial.clear();
        self.search.note(record, verdict);
        self.last = Some(LastTrial::new(record, verdict));
        for kind in AnomalyKind::ALL {
            let frames = self
                .anomalies
                .entry((record.point.test.clone(), *kind))
                .or_default();
            *frames = frames.saturating_add(kind.in_trial(&record.result));
        }
        match verdict {
            Verdict::Passed => self.trials.passed += 1,
            Verdict::Lost => self.trials.lost += 1,
            Verdict::Invalid => {
                self.trials.invalid += 1;
                keep_latest(&mut self.invalid, InvalidTrial::new(record));
            }
        }
    }

    fn expect(&mut self, elapsed_s: u64, remaining_s: u64) {
        (self.elapsed_s, self.remaining_s) = (elapsed_s, remaining_s);
        self.ends_ms = SystemTime::now()
            .checked_add(Duration::from_secs(remaining_s))
            .and_then(|end| end.duration_since(UNIX_EPOCH).ok())
            .map(|since| since.as_millis() as u64);
    }
}

fn measurement(point: &Point, repetition: u32, of: u32) -> String {
    format!(
        "{}, {} bytes, repetition {repetition} of {of}",
        point.test, point.frame_size
    )
}

fn keep_latest<T>(list: &mut VecDeque<T>, new: T) {
    list.push_front(new);
    list.truncate(MOST_LISTED);
}
