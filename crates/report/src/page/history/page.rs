//! The page of a history.

use super::requirements::{BrokenRequirements, broken};
use super::tested::{HistoryRun, TestedHistory};
use super::words::{ChangeRow, changes, headline, id, name};
use super::{figure, json};
use crate::ReportError;
use crate::format::html::{STYLE, strict_environment};
use crate::layout::cell::Cell;
use crate::layout::table::{Column, Table};
use crate::wording::amount;
use crate::wording::bound::Bound;
use crate::wording::numbers;
use minijinja::value::Serde;
use serde::Serialize;
use sixbench_analysis::history::{HistorySeries, SeriesPoint};
use std::collections::BTreeMap;

const TEMPLATE: &str = include_str!("../../format/templates/history.html.jinja");
const OWN_STYLE: &str = include_str!("../../format/templates/history.css");
const SCRIPT: &str = include_str!("../../format/templates/history.js");

/// Everything the template prints. Only the style sheet, the script, its data and the figures are markup; everything else is text, and is escaped.
#[derive(Serialize)]
struct HistoryPage<'a> {
    title: &'a str,
    kicker: String,
    generated: &'a str,
    headline: String,
    style: [&'static str; 2],
    script: &'static str,
    data: String,
    /// True if any run asked for requirements.
    has_requirements: bool,
    broken: Vec<BrokenRequirements>,
    /// True if any series is tested for changes.
    has_tested: bool,
    changes: Vec<ChangeRow>,
    runs: Vec<RunRow<'a>>,
    figures: Vec<SeriesFigure>,
    skipped: &'a [String],
    facts: Option<&'a BTreeMap<String, String>>,
    /// The run whose facts are shown.
    last: &'a str,
}

/// A row of the table of runs.
#[derive(Serialize)]
struct RunRow<'a> {
    index: usize,
    name: &'a str,
    started: &'a str,
    link: Option<&'a str>,
    directory: &'a str,
    /// The labels, except the one that gives the run its name.
    labels: String,
    results: usize,
    changed: &'a [String],
    is_first: bool,
    is_second: bool,
}

/// A series with its drawing and its table.
#[derive(Serialize)]
struct SeriesFigure {
    id: String,
    name: String,
    unit: &'static str,
    svg: String,
    table: Table,
}

/// Returns the page.
///
/// # Errors
/// The template does not match its context: a bug in this crate.
pub(super) fn html(document: &TestedHistory<'_>) -> Result<String, ReportError> {
    let mut environment = strict_environment();
    environment.add_template("history.html", TEMPLATE)?;
    Ok(environment
        .get_template("history.html")?
        .render(Serde(&page(document)))?)
}

fn page<'d>(document: &'d TestedHistory<'_>) -> HistoryPage<'d> {
    let input = document.input;
    let by = input
        .label
        .map_or_else(|| "over time".to_owned(), |key| format!("by {key}"));
    let last = input.runs.last();
    HistoryPage {
        title: input.title,
        kicker: format!(
            "{} · {} {by} · sixbench {}",
            input.title,
            numbers::count(input.runs.len() as u64, "run"),
            input.sixbench
        ),
        generated: input.generated,
        headline: headline(document),
        style: [STYLE, OWN_STYLE],
        script: SCRIPT,
        data: embedded(document),
        has_requirements: !document.requirements.is_empty(),
        broken: broken(document),
        has_tested: document.series.iter().any(HistorySeries::is_tested),
        changes: changes(document),
        runs: input
            .runs
            .iter()
            .enumerate()
            .map(|(index, run)| run_row(document, index, run))
            .collect(),
        figures: document
            .series
            .iter()
            .enumerate()
            .map(|(index, series)| series_figure(input.runs, index, series))
            .collect(),
        skipped: input.skipped,
        facts: last.map(|run| &run.facts.host),
        last: last.map_or("", |run| &run.name),
    }
}

/// Returns the script's data as text that cannot close the element around it.
fn embedded(document: &TestedHistory<'_>) -> String {
    json::value(document).to_string().replace('<', "\\u003c")
}

/// Returns the row of a run. The page initially compares the last two runs.
fn run_row<'d>(
    document: &'d TestedHistory<'_>,
    index: usize,
    run: &'d HistoryRun<'_>,
) -> RunRow<'d> {
    let labels = run
        .facts
        .labels
        .iter()
        .filter(|(key, _)| Some(key.as_str()) != document.input.label);
    let results = document
        .series
        .iter()
        .filter(|series| series.points.iter().any(|point| point.entry == index))
        .count();
    let count = document.input.runs.len();
    RunRow {
        index,
        name: &run.name,
        started: &run.started,
        link: run.link.as_deref(),
        directory: &run.directory,
        labels: labels
            .map(|(key, value)| format!("{key}={value}"))
            .collect::<Vec<_>>()
            .join(", "),
        results,
        changed: &run.changed,
        is_first: index + 2 == count,
        is_second: index + 1 == count,
    }
}

fn series_figure(
    runs: &[HistoryRun<'_>],
    index: usize,
    series: &HistorySeries<'_>,
) -> SeriesFigure {
    let name = name(series);
    let table = Table::new(name.clone(), columns(series, runs), &series.points);
    SeriesFigure {
        id: id(index),
        svg: figure::draw(&name, series, runs),
        name,
        unit: series.subject.unit(),
        table,
    }
}

fn columns<'s>(
    series: &'s HistorySeries<'_>,
    runs: &'s [HistoryRun<'_>],
) -> Vec<Column<'s, &'s SeriesPoint>> {
    let shown = |value| amount::show(&series.subject, value);
    let shown_bound = |value, point: &SeriesPoint| {
        amount::show_bound(
            &series.subject,
            value,
            Bound::of_value(point.is_at_least, point.is_at_most),
        )
    };
    vec![
        Column::text("Run", |point: &&SeriesPoint| runs[point.entry].name.clone()),
        Column::number("Median", move |point: &&SeriesPoint| {
            shown_bound(point.summary.median, point)
        }),
        Column::number("95 % interval", move |point: &&SeriesPoint| {
            point
                .interval
                .map(|(low, high)| format!("{} to {}", shown(low), shown(high)))
        }),
        Column::number("Lowest", move |point: &&SeriesPoint| {
            shown_bound(point.summary.min, point)
        }),
        Column::number("Highest", move |point: &&SeriesPoint| {
            shown_bound(point.summary.max, point)
        }),
        Column::number("n", |point: &&SeriesPoint| {
            Cell::Number(point.summary.n as u64)
        }),
    ]
}
