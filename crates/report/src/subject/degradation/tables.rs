//! Network performance degradation (RFC 8219 section 10): a table for each benchmark, with a column for each frame size.

use crate::digest::Digest;
use crate::layout::cell::Cell;
use crate::layout::table::{Column, Table};
use crate::subject::series::{
    Curve, CurveSubject, TestSeries, curves, quantities, series, unit_of,
};
use crate::wording::numbers::{
    grouped, in_a_sentence, seconds, short, three_digits, three_digits_bound,
};
use sixbench_method::lists::each_once;
use sixbench_method::measures::Family;
use sixbench_method::plan::{SeriesBy, Test};
use sixbench_method::terms::Directions;

pub(super) fn tables(digest: &Digest, by: SeriesBy) -> Vec<Table> {
    series(digest, by)
        .iter()
        .flat_map(|steps| of_series(digest, steps))
        .collect()
}

fn of_series(digest: &Digest, steps: &TestSeries) -> Vec<Table> {
    let curves = curves(digest, steps);
    let curves_of = |quantity: &str| {
        curves
            .iter()
            .filter(|c| c.subject.quantity == quantity)
            .collect::<Vec<_>>()
    };
    quantities(&curves)
        .into_iter()
        .map(|quantity| table(steps, quantity, &curves_of(quantity)))
        .collect()
}

/// A step of a series, compared with the first.
struct StepRow<'s> {
    at: f64,
    test: &'s Test,
    subject: &'s CurveSubject,
}

fn table(steps: &TestSeries, quantity: &str, curves: &[&Curve]) -> Table {
    let subjects = each_once(curves.iter().map(|c| &c.subject));
    let first = steps.steps.first().map_or(1.0, |(at, _)| *at);
    let later = steps.steps.iter().filter(|(at, _)| *at > first);
    let rows = later.flat_map(|(at, test)| {
        subjects.iter().map(|subject| StepRow {
            at: *at,
            test,
            subject,
        })
    });
    let title = format!("Degradation of {}: {}", in_a_sentence(quantity), steps.name);
    let table = Table::new(title, columns(steps, curves), rows);
    let formula = subjects
        .first()
        .map(|subject| formula(steps.by, first, subject))
        .unwrap_or_default();
    table.with_note(format!(
        "{formula}{} –: not measured, nothing to compare with, or the true values of both may be higher.",
        start(steps)
    ))
}

fn columns<'s>(steps: &TestSeries, curves: &'s [&Curve]) -> Vec<Column<'s, StepRow<'s>>> {
    let mut columns = vec![
        Column::number(counted(steps.by), |row: &StepRow| Cell::Rate(row.at)),
        Column::text("Direction", StepRow::direction),
    ];
    if curves.iter().any(|c| c.subject.rate.is_some()) {
        columns.push(Column::number("Rate", |row: &StepRow| {
            row.subject.rate.map(|rate| Cell::Count(rate.0))
        }));
    }
    columns.extend(steps.sizes().into_iter().map(|size| {
        Column::number(size.to_string(), move |row: &StepRow| {
            let curve = curves
                .iter()
                .find(|c| c.size == size && c.subject == *row.subject);
            curve.and_then(|curve| cell(curve, row.at))
        })
    }));
    columns
}

fn cell(curve: &Curve, at: f64) -> Option<String> {
    let step = curve.steps.iter().find(|s| s.at == at)?;
    let load = step
        .load
        .filter(|_| curve.subject.rate.is_none())
        .map(|rate| format!(" ({})", short(rate.0 as f64)))
        .unwrap_or_default();
    let bound = curve.bound(step);
    Some(format!(
        "{}{}\u{a0}%{load}",
        bound.sign()?,
        three_digits_bound(curve.degradation(step)?, bound)
    ))
}

fn counted(by: SeriesBy) -> &'static str {
    match by {
        SeriesBy::Connections => "Connections N",
        SeriesBy::TableSize => "Table size",
        SeriesBy::Subscribers => "Subscribers",
        _ => "Flows n",
    }
}

impl StepRow<'_> {
    /// Returns the direction of the curve; none for connections, which only the Initiator opens.
    fn direction(&self) -> Option<String> {
        match self.test.measure.family() {
            Family::PhaseOne => return None,
            Family::Frames | Family::Requests | Family::Tcp | Family::Queries | Family::Vectors => {
            }
        }
        Some(self.subject.direction.map_or_else(
            || match self.test.directions {
                Directions::Both => "both".to_owned(),
                single => single.each().iter().map(ToString::to_string).collect(),
            },
            |d| d.to_string(),
        ))
    }
}

fn formula(by: SeriesBy, first: f64, subject: &CurveSubject) -> String {
    // For flows, use the RFC's index; a number of connections would be too long, so the note states it instead.
    let (n, least) = if by == SeriesBy::Flows {
        (three_digits(first), three_digits(first))
    } else {
        ("1".into(), grouped(first))
    };
    let noun = unit_of(by);
    let (formula, load) = if subject.is_higher_better {
        (format!("(X{n} - Xn) / X{n} * 100"), "")
    } else {
        (
            format!("(Xn - X{n}) / X{n} * 100"),
            " In brackets: the applied frame rate, frames/s per direction.",
        )
    };
    let load = if subject.direction.is_some() && subject.rate.is_none() {
        load
    } else {
        ""
    };
    format!(
        "RFC 8219 section 10.2: {formula} of the medians at {least} and n {noun}; above 0 is worse.{load}"
    )
}

/// Returns a sentence on the start of the flows in a series; empty if the series does not vary flows.
fn start(steps: &TestSeries) -> String {
    let step_ns = steps
        .steps
        .iter()
        .filter_map(|(_, test)| test.traffic.flows)
        .map(|f| f.step_ns)
        .max()
        .unwrap_or(0);
    match step_ns {
        _ if steps.by != SeriesBy::Flows => String::new(),
        0 => " All flows start at once (section 10.2.1).".to_owned(),
        ns => format!(
            " Flows start one after the other, T = {} apart (section 10.2.2).",
            seconds(ns)
        ),
    }
}
