//! The state of a run as OpenMetrics text (openmetrics.io, version 1.0.0), for monitoring many machines.

use crate::shown::LastDirection;
use crate::state::{RunState, Stage};
use sixbench_method::lists::by_key;
use sixbench_method::measures::Outcome;
use sixbench_method::plan::Plan;
use sixbench_method::text::visible_lines;
use sixbench_stats::{Censored, Summary};
use std::fmt::Write as _;

pub(crate) const MEDIA_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The results of one point so far.
#[derive(Clone, Debug)]
pub(crate) struct PointResult {
    test: String,
    size: String,
    measure: &'static str,
    unit: &'static str,
    repetitions: usize,
    median: f64,
    /// True if the true median may be higher.
    is_at_least: bool,
    /// True if the true median may be lower.
    is_at_most: bool,
}

/// Returns the median of the repetitions of each point that has results.
pub(crate) fn results(plan: &Plan, outcomes: &[Outcome]) -> Vec<PointResult> {
    let by_point = by_key(
        outcomes
            .iter()
            .map(|outcome| (outcome.point.clone(), outcome)),
    );
    by_point
        .into_iter()
        .filter_map(|(point, outcomes)| {
            let measure = &plan.test(&point.test)?.measure;
            let values: Censored = outcomes
                .iter()
                .filter_map(|outcome| outcome.headline_value(measure))
                .collect();
            let info = measure.info();
            Some(PointResult {
                test: point.test,
                size: point.frame_size.to_string(),
                measure: info.term.name,
                unit: info
                    .headline
                    .map_or(info.family.noun().per_second_and_direction(), |quantity| {
                        quantity.unit().symbol()
                    }),
                repetitions: values.values().len(),
                median: Summary::of(values.values())?.median,
                is_at_least: values.is_median_open(),
                is_at_most: values.is_median_at_most(),
            })
        })
        .collect()
}

/// Returns the metrics as text.
pub(crate) fn text(state: &RunState, results: &[PointResult]) -> String {
    let mut text = Text::default();
    trials(&mut text, state);
    progress(&mut text, state);
    anomalies(&mut text, state);
    last_trial(&mut text, state);
    medians(&mut text, results);
    // OpenMetrics requires this last line, so that a text that was cut off is recognised.
    text.0 + "# EOF\n"
}

fn trials(text: &mut Text, state: &RunState) {
    let trials = state.trials;
    text.family("sixbench_trials", "counter", "Trials by their verdict.");
    for (verdict, trials) in [
        ("passed", trials.passed),
        ("lost", trials.lost),
        ("invalid", trials.invalid),
    ] {
        // The sample of a counter must have this suffix, which its family has not.
        text.sample(
            "sixbench_trials_total",
            &[("verdict", verdict)],
            trials as f64,
        );
    }
}

fn progress(text: &mut Text, state: &RunState) {
    text.single(
        "sixbench_running",
        "1 while the run is under way.",
        f64::from(u8::from(state.stage == Stage::Running)),
    );
    text.single(
        "sixbench_measurements_ended",
        "Measurements that have ended.",
        state.measurements[0].into(),
    );
    text.single(
        "sixbench_measurements_planned",
        "Measurements of the plan.",
        state.measurements[1].into(),
    );
    text.single(
        "sixbench_elapsed_seconds",
        "Time since the run began.",
        state.elapsed_s as f64,
    );
    text.single(
        "sixbench_remaining_seconds",
        "Estimated remaining time in seconds.",
        state.remaining_s as f64,
    );
}

fn anomalies(text: &mut Text, state: &RunState) {
    text.family(
        "sixbench_anomalous_frames",
        "counter",
        "Frames that were neither received as they were sent nor simply lost, by their kind.",
    );
    for ((test, kind), frames) in &state.anomalies {
        text.sample(
            "sixbench_anomalous_frames_total",
            &[("test", test.as_str()), ("kind", kind.name())],
            *frames as f64,
        );
    }
}

/// Adds the medians. Each result is in one family, or in none if it bounds nothing.
fn medians(text: &mut Text, results: &[PointResult]) {
    text.family(
        "sixbench_result",
        "gauge",
        "Median of the repetitions that have ended, in the unit of the label.",
    );
    for result in results
        .iter()
        .filter(|result| !result.is_at_least && !result.is_at_most)
    {
        text.sample("sixbench_result", &labels(result), result.median);
    }
    for (name, help, is_of) in BOUNDS {
        text.family(name, "gauge", help);
        for result in results.iter().filter(|result| is_of(result)) {
            text.sample(name, &labels(result), result.median);
        }
    }
    text.family(
        "sixbench_result_repetitions",
        "gauge",
        "Repetitions that the median is of.",
    );
    for result in results {
        text.sample(
            "sixbench_result_repetitions",
            &labels(result),
            result.repetitions as f64,
        );
    }
}

/// A metric of results that are bounds: the name, the help text, and which results belong there.
type BoundMetric = (&'static str, &'static str, fn(&PointResult) -> bool);

/// A median that may be too low as well as too high bounds nothing, so it is in neither, nor is it in `sixbench_result`.
const BOUNDS: [BoundMetric; 2] = [
    (
        "sixbench_result_at_least",
        "Medians that are only lower bounds: the tester, the plan or other work ended the search.",
        |result| result.is_at_least && !result.is_at_most,
    ),
    (
        "sixbench_result_at_most",
        "Medians that are only upper bounds: the tester or other work may have made delays too long.",
        |result| result.is_at_most && !result.is_at_least,
    ),
];

/// A metric of each direction of the last trial: its name, its help text, and its value.
type DirectionMetric = (&'static str, &'static str, fn(&LastDirection) -> f64);

const OF_DIRECTIONS: [DirectionMetric; 5] = [
    (
        "sixbench_last_intended",
        "Frames that the last trial was to send.",
        |d| d.intended as f64,
    ),
    (
        "sixbench_last_offered",
        "Frames that left the tester in the last trial.",
        |d| d.offered as f64,
    ),
    (
        "sixbench_last_received",
        "Frames that came back in the last trial.",
        |d| d.received as f64,
    ),
    (
        "sixbench_last_missing",
        "Frames that did not come back in the last trial.",
        |d| d.missing as f64,
    ),
    (
        "sixbench_last_lateness_seconds",
        "The most that the tester was late in the last trial.",
        |d| d.lateness_ns as f64 / 1e9,
    ),
];

fn last_trial(text: &mut Text, state: &RunState) {
    let Some(last) = &state.last else { return };
    for (name, help, number) in OF_DIRECTIONS {
        text.family(name, "gauge", help);
        last.directions
            .iter()
            .for_each(|d| text.sample(name, &[("direction", &d.direction)], number(d)));
    }
    text.family(
        "sixbench_last_busy_ratio",
        "gauge",
        "Share of the last trial for which a core was busy.",
    );
    for processors in &last.processors {
        for core in &processors.cores {
            let labels = [
                ("owner", processors.owner.clone()),
                ("core", core.core.to_string()),
            ];
            text.sample(
                "sixbench_last_busy_ratio",
                &labels,
                core.busy_percent / 100.0,
            );
        }
    }
}

/// Returns the labels of the samples of a result.
fn labels(result: &PointResult) -> [(&'static str, &str); 4] {
    [
        ("test", &result.test),
        ("size", &result.size),
        ("measure", result.measure),
        ("unit", result.unit),
    ]
}

/// Returns a value as it stands between the quotes of a label.
fn label_escaped(value: &str) -> String {
    visible_lines(value)
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

#[derive(Default)]
struct Text(String);

impl Text {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.0, "# TYPE {name} {kind}\n# HELP {name} {help}");
    }

    fn sample<T: AsRef<str>>(&mut self, name: &str, labels: &[(&str, T)], value: f64) {
        let labels: Vec<String> = labels
            .iter()
            .map(|(name, value)| format!("{name}=\"{}\"", label_escaped(value.as_ref())))
            .collect();
        let labels = if labels.is_empty() {
            String::new()
        } else {
            format!("{{{}}}", labels.join(","))
        };
        let _ = writeln!(self.0, "{name}{labels} {value}");
    }

    /// Writes a gauge that has one value.
    fn single(&mut self, name: &str, help: &str, value: f64) {
        self.family(name, "gauge", help);
        self.sample::<&str>(name, &[], value);
    }
}
