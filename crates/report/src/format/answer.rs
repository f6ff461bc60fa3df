//! The first screen of the page: every result next to those it may be compared with, on one scale, with a dot for each repetition.

use crate::digest::{Digest, GoalDigest, PointDigest, RepeatedRate, common_goal};
use crate::plot::answer_bar::{RepetitionDot, bar, share_bar};
use crate::wording::bound::Bound;
use crate::wording::numbers::{
    capitalised, commonly_searched, full_rate_unit, loss_goal, printed_scale, share_in_column,
    subject, supported, unit,
};
use crate::wording::requirements::{loaded_in_words, met_in_words, violated_in_words};
use serde::Serialize;
use sixbench_method::measures::{Outcome, Quantity};
use sixbench_method::plan::Measure;
use sixbench_method::search::AcceptedLoss;
use sixbench_method::search::{Bracket, Limit};
use sixbench_method::terms::FrameSize;
use sixbench_method::trial::RequirementResults;
use sixbench_stats::Summary;

/// The most results of a group on the first screen; of a larger group, it shows those of the smallest frame size.
const MOST_ROWS: usize = 12;

/// Results that may be compared with each other.
#[derive(Serialize)]
pub(crate) struct AnswerGroup {
    /// The quantity, with its unit if all results have the same one.
    title: String,
    rows: Vec<AnswerRow>,
    /// A note on what is not shown here and where to find it; empty if everything is shown.
    note: String,
}

/// One result.
#[derive(Serialize)]
struct AnswerRow {
    /// The rows of its test from this one on, if it is the first of them; else 0.
    lines: usize,
    name: String,
    /// The device, if the name of the test does not mention it.
    device: String,
    size: String,
    /// The number, as precise as the spread of its repetitions supports.
    value: String,
    /// The results for the further loss goals, each with its goal; and what the goal says nothing about.
    others: Vec<String>,
    /// SVG; empty if there is no number, or a curve.
    bar: String,
    n: u32,
    spread: String,
    ended_by: String,
}

/// Returns the groups, in the order of the measures. Devices connected by shared memory form separate groups, and so does each host.
pub(crate) fn groups(digest: &Digest) -> Vec<AnswerGroup> {
    let on_host = |host: &str, group: AnswerGroup| match host {
        "" => group,
        host => AnswerGroup {
            title: format!("{}, on {host}", group.title),
            ..group
        },
    };
    let of_hosts = digest.of_each_host(groups_of_host).into_iter();
    of_hosts
        .flat_map(|(host, groups)| groups.into_iter().map(move |group| on_host(&host, group)))
        .collect()
}

fn groups_of_host(digest: &Digest) -> Vec<AnswerGroup> {
    let of_measure = |name: &'static str, in_memory: bool| {
        let points = digest
            .points
            .iter()
            .filter(|p| p.test.measure.name() == name && digest.is_compared(p.test));
        let points = points.filter(|p| !p.repeats_a_rate());
        points
            .filter(|p| digest.is_in_memory(p.test) == in_memory)
            .collect::<Vec<_>>()
    };
    let kinds = Measure::infos()
        .flat_map(|info| [false, true].map(|in_memory| (info.term.name, in_memory)));
    let groups = kinds
        .filter_map(|(name, in_memory)| group(digest, &of_measure(name, in_memory), in_memory));
    groups.chain(repeated(digest)).collect()
}

/// Returns the group of tests that repeat a rate, with the share of their trials that passed.
fn repeated(digest: &Digest) -> Option<AnswerGroup> {
    let row = |(point, repeated): (&PointDigest, RepeatedRate)| {
        let passed = 100.0 * repeated.passed as f64 / repeated.trials.len().max(1) as f64;
        AnswerRow {
            lines: 1,
            device: format!(
                "{} queries/s, found by {}",
                repeated.rate(),
                repeated.found_by()
            ),
            size: String::new(),
            value: repeated.passed_of(),
            others: vec![],
            bar: share_bar(
                &format!("{}: {} passed", subject(point.test), repeated.passed_of()),
                passed,
            ),
            n: repeated.trials.len() as u32,
            spread: "–".to_owned(),
            ended_by: "–".to_owned(),
            name: subject(point.test),
        }
    };
    let shown = digest
        .repeated_points()
        .filter(|(point, _)| digest.is_compared(point.test));
    let rows: Vec<AnswerRow> = shown.map(row).collect();
    let title = "Trials that passed when the rate that was found was repeated".to_owned();
    (!rows.is_empty()).then_some(AnswerGroup {
        title,
        rows,
        note: String::new(),
    })
}

fn group(digest: &Digest, points: &[&PointDigest], in_memory: bool) -> Option<AnswerGroup> {
    let measure = &points.first()?.test.measure;
    let smallest = points.iter().filter_map(|point| point.size()).min();
    let shown: Vec<&PointDigest> = if points.len() > MOST_ROWS {
        points
            .iter()
            .copied()
            .filter(|point| point.size() == smallest)
            .collect()
    } else {
        points.to_vec()
    };
    let end = shown
        .iter()
        .flat_map(|point| repetitions(point))
        .map(|repetition| repetition.value)
        .fold(0.0, f64::max);
    let note = if shown.len() < points.len() {
        left_out(points.len(), smallest)
    } else {
        String::new()
    };
    let place = if in_memory {
        ", devices in shared memory (not to be compared with the others)"
    } else {
        ""
    };
    let rows = shown
        .chunk_by(|a, b| a.test.name == b.test.name)
        .flat_map(|of_test| rows_of_test(digest, of_test, end))
        .collect();
    Some(AnswerGroup {
        title: format!(
            "{}{place}",
            heading(measure, common_goal(points.iter().copied()))
        ),
        rows,
        note,
    })
}

fn left_out(all: usize, smallest: Option<FrameSize>) -> String {
    let size = smallest.map_or_else(String::new, |size| format!(" of {size}\u{a0}bytes"));
    format!("These are the results{size}; all {all} are under “Every planned point”.")
}

/// Returns the heading of a group: the quantity and, if it is the same for all, its unit.
fn heading(measure: &Measure, goal: Option<AcceptedLoss>) -> String {
    match measure.info().headline {
        Some(_) if !measure.result_kind().varies() => {
            "Requirements of RFCs that are met and violated".to_owned()
        }
        Some(quantity) => {
            let way = if quantity.is_higher_better() {
                ""
            } else {
                " (less is better)"
            };
            format!("{}, {}{way}", quantity.title(), unit(quantity))
        }
        None if measure.result_kind().has_several_loads() => {
            "Frame loss rate at the highest rate".to_owned()
        }
        None => capitalised(&format!(
            "{}, {}",
            commonly_searched(measure, goal),
            full_rate_unit(measure)
        )),
    }
}

/// Returns the row of a device that was asked for requirements: each is met or violated, so there is no number with a spread.
fn row_of_requirements(point: &PointDigest, name: String, device: String) -> AnswerRow {
    let results = point.requirements();
    AnswerRow {
        lines: 1,
        name,
        device,
        size: String::new(),
        value: results.map_or_else(|| point.nothing(), met_in_words),
        others: results.map_or_else(Vec::new, beside_met),
        bar: String::new(),
        n: point.outcomes.len() as u32,
        spread: "–".to_owned(),
        ended_by: "–".to_owned(),
    }
}

/// Returns what stands beside the number of requirements that are met: what is violated quietly, and what a load changes.
fn beside_met(results: &RequirementResults) -> Vec<String> {
    let loaded = loaded_in_words(results).map(|words| format!("under load {words}"));
    [violated_in_words(results)]
        .into_iter()
        .chain(loaded)
        .collect()
}

/// Returns the results of one test, which share a heading.
fn rows_of_test(digest: &Digest, points: &[&PointDigest], end: f64) -> Vec<AnswerRow> {
    let mut rows: Vec<AnswerRow> = points.iter().map(|point| row(digest, point, end)).collect();
    for (i, row) in rows.iter_mut().enumerate() {
        row.lines = if i == 0 { points.len() } else { 0 };
    }
    rows
}

/// Returns the title of a device where the name of the row does not mention it.
fn device_beside(name: &str, device: &str) -> String {
    // Users who write a title mention the device, but seldom by its full name.
    let first_word = device
        .split(|c: char| !c.is_alphanumeric())
        .next()
        .unwrap_or(device)
        .to_lowercase();
    if name.to_lowercase().contains(&first_word) {
        String::new()
    } else {
        device.to_owned()
    }
}

fn row(digest: &Digest, point: &PointDigest, end: f64) -> AnswerRow {
    let name = subject(point.test);
    let device = device_beside(&name, digest.dut_title(point.test));
    if !point.test.measure.result_kind().varies() {
        return row_of_requirements(point, name, device);
    }
    let repetitions = repetitions(point);
    let values: Vec<f64> = repetitions
        .iter()
        .map(|repetition| repetition.value)
        .collect();
    let summary = Summary::of(&values);
    let is_open = point.is_result_open();
    AnswerRow {
        lines: 1,
        device,
        size: point
            .size()
            .map_or_else(String::new, |size| size.to_string()),
        bar: summary.map_or_else(String::new, |summary| {
            bar(&name, summary.median, is_open, &repetitions, end)
        }),
        value: number(digest, point, summary),
        others: point
            .goals
            .iter()
            .skip(1)
            .filter(|_| point.is_searched())
            .filter_map(of_goal)
            .chain(beside(point))
            .collect(),
        n: point
            .planned(digest)
            .map_or(0, |planned| planned.repetitions.with_result),
        spread: summary
            .filter(|s| s.n > 1)
            .and_then(|s| s.dispersion_percent())
            .map_or("–".to_owned(), |p| share_in_column(p / 100.0)),
        ended_by: point
            .rated()
            .map_or("–".to_owned(), |rated| rated.limits.describe()),
        name,
    }
}

/// Returns what passing trials had beside frames that were received as they were sent: `but with duplicate frames (100 % of those received)`.
fn beside(point: &PointDigest) -> Option<String> {
    point
        .beside_the_goal()
        .strip_prefix(", ")
        .map(str::to_owned)
}

/// Returns the result for a further loss goal: `45.1 k with at most 0.01 % loss`.
fn of_goal(found: &GoalDigest) -> Option<String> {
    let summary = found.summary.as_ref()?;
    let number = supported(
        summary.median,
        summary.max - summary.min,
        found.limits.bound(),
    );
    Some(format!(
        "{}{number} {}",
        found.limits.sign(),
        loss_goal(found.goal)
    ))
}

/// Returns a result as a number in the unit of its group.
fn number(digest: &Digest, point: &PointDigest, summary: Option<Summary>) -> String {
    let Some(result) = point.result(digest) else {
        return point.nothing();
    };
    let Some(summary) = summary else {
        return result.shown;
    };
    let scale = point
        .test
        .measure
        .info()
        .headline
        .map_or(1.0, printed_scale);
    let bound = Bound::at_least_if(point.is_result_open());
    let number = supported(
        result.value * scale,
        (summary.max - summary.min) * scale,
        bound,
    );
    format!("{}{number}", bound.sign().unwrap_or_default())
}

/// Returns the value of each repetition, and whether the device ended it. A search in which even the lowest load did not pass counts as zero.
fn repetitions(point: &PointDigest) -> Vec<RepetitionDot> {
    let measure = &point.test.measure;
    let dot = |outcome: &&Outcome| {
        let is_zero =
            measure.is_searched_rate() && outcome.brackets.first().is_some_and(is_below_minimum);
        let value = outcome.headline(measure).or(is_zero.then_some(0.0))?;
        let is_by_device = is_ended_by_device(outcome, measure.info().headline);
        Some(RepetitionDot {
            number: outcome.repetition,
            value,
            is_by_device,
            words: point.show_value(value, Bound::at_least_if(!is_by_device)),
        })
    };
    point.outcomes.iter().filter_map(dot).collect()
}

fn is_below_minimum(bracket: &Bracket) -> bool {
    bracket.lower.is_none() && bracket.value().is_some()
}

fn is_ended_by_device(outcome: &Outcome, quantity: Option<Quantity>) -> bool {
    match quantity {
        Some(quantity) => !outcome
            .values
            .iter()
            .any(|value| value.quantity == quantity && value.is_at_least),
        None => outcome
            .brackets
            .first()
            .is_none_or(|bracket| bracket.limit == Limit::Dut),
    }
}
