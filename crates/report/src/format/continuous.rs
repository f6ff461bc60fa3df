//! Results for continuous integration tools: JUnit for what passed and what did not, and the two formats that Bencher and github-action-benchmark read
//! to track numbers over commits.

use crate::digest::{Digest, PointDigest};
use crate::findings::status::why;
use crate::findings::warning::noun;
use crate::plot::sheet::escaped;
use crate::subject::requirements::{self, VectorRow, answer_frames};
use crate::wording::expectations;
use crate::wording::numbers::{capitalised, title, whole};
use serde_json::{Value, json};
use sixbench_analysis::expectation::{JudgedExpectation, judge};
use sixbench_analysis::gate::Gate;
use sixbench_method::anomaly;
use sixbench_method::measures::Quantity;
use sixbench_method::plan::Measure;
use sixbench_method::status::PointStatus;
use sixbench_method::trial::VectorResult;
use sixbench_stats::Summary;
use std::fmt::Write;

/// Returns `junit.xml`: each planned point is a test case, and each vector of requirements. A missed expectation is a failure; a point without a result, or one at which the tester was
/// not fit to judge the expectation, is an error; a point that was not run is skipped. Of vectors, a violation is a failure unless recipe or plan names it.
pub(crate) fn junit(digest: &Digest<'_>) -> String {
    let judged = judge(digest.input.plan, digest.input.outcomes);
    let cases: Vec<(TestOutcome, String)> = digest
        .all_points()
        .map(|point| case(digest, point, &judged))
        .chain(requirements::rows(digest).map(|row| vector_case(&row)))
        .collect();
    let count = |of: TestOutcome| cases.iter().filter(|(outcome, _)| *outcome == of).count();
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\">\n",
        text(&digest.input.plan.name),
        cases.len(),
        count(TestOutcome::Failure),
        count(TestOutcome::Error),
        count(TestOutcome::Skipped)
    );
    for (_, case) in &cases {
        xml += case;
    }
    xml + "</testsuite>\n</testsuites>\n"
}

/// The result of a test case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TestOutcome {
    Passed,
    Failure,
    Error,
    Skipped,
}

/// Returns the outcome of a point, with its element if it did not pass.
fn outcome(
    digest: &Digest<'_>,
    point: &PointDigest<'_>,
    judged: &[JudgedExpectation<'_>],
) -> (TestOutcome, String) {
    let of_point = judged
        .iter()
        .filter(|j| j.test.name == point.test.name && j.frame_size == point.point.frame_size);
    let worst = of_point.max_by_key(|judged| judged.verdict);
    let planned = point.planned(digest);
    let why = planned.map(why).unwrap_or_default();
    let status = planned.map(|planned| &planned.status);
    // The first arm that applies decides: an expectation that is known to be missed is a failure even at a point without a result.
    match (status, worst.map(|judged| (judged.verdict, judged))) {
        (Some(PointStatus::NotRun(_)), _) => (TestOutcome::Skipped, element("skipped", &why)),
        (_, Some((Gate::Worse, judged))) => (
            TestOutcome::Failure,
            element("failure", &expectations::sentence(judged)),
        ),
        (None | Some(PointStatus::NoResult(_)), _) => (TestOutcome::Error, element("error", &why)),
        (_, Some((Gate::TesterUnfit | Gate::Missing | Gate::Inconclusive, judged))) => (
            TestOutcome::Error,
            element("error", &expectations::sentence(judged)),
        ),
        (Some(PointStatus::Result | PointStatus::AtLeast(_)), _) => {
            (TestOutcome::Passed, String::new())
        }
    }
}

fn case(
    digest: &Digest<'_>,
    point: &PointDigest<'_>,
    judged: &[JudgedExpectation<'_>],
) -> (TestOutcome, String) {
    let (outcome, element) = outcome(digest, point, judged);
    let seconds = point
        .records
        .iter()
        .map(|record| record.result.spec.duration_ns)
        .sum::<u64>() as f64
        / 1e9;
    let result = point.result(digest).map_or_else(String::new, |result| {
        result.shown + &point.beside_the_goal()
    });
    let result = result + &anomalies(point);
    let name = point.size().map_or_else(
        || point.test.name.clone(),
        |size| format!("{}/{size}", point.test.name),
    );
    let mut xml = format!(
        "<testcase classname=\"{}\" name=\"{}\" time=\"{seconds:.3}\">",
        text(&title(point.test)),
        text(&name)
    );
    let _ = write!(
        xml,
        "{element}<system-out>{}</system-out></testcase>",
        text(&result)
    );
    (outcome, xml + "\n")
}

/// Returns the case of a vector of requirements. What was found under load decides where it is worse than what was found quietly.
fn vector_case(row: &VectorRow<'_>) -> (TestOutcome, String) {
    let VectorRow { point, vector } = row;
    let message = vector_message(row);
    let (outcome, element) = match row.worst() {
        VectorResult::Wrong | VectorResult::NoAnswer if vector.is_known => (
            TestOutcome::Skipped,
            element("skipped", &format!("known violation: {message}")),
        ),
        VectorResult::Wrong | VectorResult::NoAnswer => {
            (TestOutcome::Failure, element("failure", &message))
        }
        VectorResult::Unknown => (TestOutcome::Error, element("error", &message)),
        VectorResult::NotApplicable => (TestOutcome::Skipped, element("skipped", &message)),
        VectorResult::Right | VectorResult::Allowed => (TestOutcome::Passed, String::new()),
    };
    let xml = format!(
        "<testcase classname=\"{}, RFC {}\" name=\"{}/{}\">{element}</testcase>\n",
        text(&title(point.test)),
        vector.rfc,
        text(&point.test.name),
        text(&vector.name)
    );
    (outcome, xml)
}

/// Returns what was found of a vector with the requirement and the frames; of one with another result under load, that result with its frames first.
fn vector_message(row: &VectorRow<'_>) -> String {
    let vector = row.vector;
    let quietly = vector.result.title();
    let (result, frames) = match row.differing() {
        Some(loaded) => {
            let result = format!("{quietly} quietly, {} under load", loaded.result.title());
            let quiet = capitalised(&row.frames());
            let frames = format!("Under load: {}. Quietly: {quiet}", answer_frames(loaded));
            (result, frames)
        }
        None => (quietly.to_owned(), capitalised(&row.frames())),
    };
    format!(
        "{result} ({}, {}). {} {frames}",
        vector.citation(),
        vector.level.word(),
        vector.sentence,
    )
}

/// Returns the numbers of anomalous frames in all trials of a point: `; in all trials: 4,000 duplicate frames`. Empty if there are none.
fn anomalies(point: &PointDigest<'_>) -> String {
    let counts = anomaly::counts(point.records.iter().copied());
    let words = counts.iter().map(|(kind, frames)| {
        format!(
            "{} {}",
            whole(*frames),
            noun(*kind, *frames, Some(point.test))
        )
    });
    let words = words.collect::<Vec<_>>().join(", ");
    if words.is_empty() {
        words
    } else {
        format!("; in all trials: {words}")
    }
}

fn element(name: &str, message: &str) -> String {
    format!("<{name} message=\"{}\"/>", text(message))
}

/// Returns text escaped for XML, which does not allow control characters.
fn text(text: &str) -> String {
    escaped(
        &text
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect::<String>(),
    )
}

/// The reason why a delay has no number.
const TOO_LONG: &str = "the delay may be shorter: the tester, or other work that kept the device from its processors, may have made it too long";

/// A number of a point, for tools that track numbers over commits.
struct Metric {
    name: String,
    quantity: &'static str,
    unit: &'static str,
    is_higher_better: bool,
    value: f64,
    summary: Option<Summary>,
    /// The number of repetitions of which only a bound is known; the result does not depend on them.
    bounds: usize,
}

impl Metric {
    /// Returns the lowest and the highest repetition; `None` if one of them may be a bound.
    fn extremes(&self) -> Option<(f64, f64)> {
        self.summary
            .filter(|_| self.bounds == 0)
            .map(|summary| (summary.min, summary.max))
    }
}

/// Returns the results that are exact numbers. Bounds are left out, because these formats cannot mark them: a run that was disturbed would look like a
/// change of any size.
fn metrics(digest: &Digest<'_>) -> Vec<Metric> {
    let metric = |point: &PointDigest<'_>| {
        if point.is_bound() {
            return None;
        }
        let result = point.result(digest)?;
        let values: Vec<f64> = point.headlines().iter().map(|(_, value)| *value).collect();
        Some(Metric {
            name: point.name().replace('\u{a0}', " "),
            quantity: result.quantity,
            unit: result.unit,
            is_higher_better: is_higher_better(&point.test.measure),
            value: result.value,
            summary: Summary::of(&values),
            bounds: point.bounds(),
        })
    };
    digest.points.iter().filter_map(metric).collect()
}

fn is_higher_better(measure: &Measure) -> bool {
    !measure.result_kind().has_several_loads()
        && measure
            .info()
            .headline
            .is_none_or(Quantity::is_higher_better)
}

/// Returns `trend-left-out.json`: the points that the files for trends leave out because there is no number for them, each with its name there, the
/// reason, and what is known in words. `None` if they leave out nothing.
pub(crate) fn left_out(digest: &Digest<'_>) -> Option<String> {
    let entry = |point: &PointDigest<'_>| {
        let planned = point.planned(digest)?;
        let is_out = point.is_bound() || !planned.status.has_result();
        let known = point
            .result(digest)
            .map_or_else(|| point.nothing(), |result| result.shown)
            .replace('\u{a0}', " ");
        let name = point.name().replace('\u{a0}', " ");
        let (status, why) = if point.is_result_at_most() {
            ("at-most", TOO_LONG.to_owned())
        } else {
            (planned.status.name(), why(planned))
        };
        is_out.then(|| json!({ "name": name, "status": status, "why": why, "known": known }))
    };
    let entries: Vec<Value> = digest.points.iter().filter_map(entry).collect();
    (!entries.is_empty()).then(|| printed(&Value::Array(entries)))
}

/// Returns `bencher.json` in the Bencher Metric Format: the result of each point, with the lowest and the highest repetition. `None` without results.
pub(crate) fn bencher(digest: &Digest<'_>) -> Option<String> {
    let mut all = serde_json::Map::new();
    for metric in metrics(digest) {
        let mut value = json!({ "value": metric.value });
        if let (Some((least, most)), Some(object)) = (metric.extremes(), value.as_object_mut()) {
            object.insert("lower_value".to_owned(), json!(least));
            object.insert("upper_value".to_owned(), json!(most));
        }
        all.insert(metric.name, json!({ metric.quantity: value }));
    }
    (!all.is_empty()).then(|| printed(&Value::Object(all)))
}

/// Returns `benchmark-bigger.json`, for the tool `customBiggerIsBetter` of github-action-benchmark. `None` without such results.
pub(crate) fn bigger_is_better(digest: &Digest<'_>) -> Option<String> {
    benchmark(digest, true)
}

/// Returns `benchmark-smaller.json`, for its tool `customSmallerIsBetter`. `None` without such results.
pub(crate) fn smaller_is_better(digest: &Digest<'_>) -> Option<String> {
    benchmark(digest, false)
}

fn benchmark(digest: &Digest<'_>, is_higher_better: bool) -> Option<String> {
    let wanted = metrics(digest)
        .into_iter()
        .filter(|metric| metric.is_higher_better == is_higher_better);
    let entry = |metric: Metric| {
        let range = metric
            .extremes()
            .map_or_else(String::new, |(least, most)| format!("{least} to {most}"));
        let bounds = if metric.bounds > 0 {
            format!(", {} of them bounds", metric.bounds)
        } else {
            String::new()
        };
        let extra = metric
            .summary
            .map_or_else(String::new, |s| format!("n = {}{bounds}", s.n));
        let name = format!("{}, {}", metric.name, metric.quantity);
        json!({ "name": name, "unit": metric.unit, "value": metric.value, "range": range, "extra": extra })
    };
    let entries: Vec<Value> = wanted.map(entry).collect();
    (!entries.is_empty()).then(|| printed(&Value::Array(entries)))
}

fn printed(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default() + "\n"
}
