//! Writes what is derived from the records: report, tables, figures.

use super::store::{Store, Stored, load};
use anyhow::{Context, Result};
use sixbench_method::budget;
use sixbench_method::plan::{Plan, Profile};
use sixbench_method::record::{Facts, Outcome, TrialRecord};
use sixbench_method::search::replay;
use sixbench_report as report;
use std::path::{Path, PathBuf};

/// Everything a report needs, held together.
pub(crate) struct Findings<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) records: &'a [TrialRecord],
    pub(crate) facts: &'a Facts,
    pub(crate) commands: &'a str,
    pub(crate) interrupted: bool,
}

/// Writes all derived files; returns the path of report.html.
pub(crate) fn write(store: &Store, findings: &Findings<'_>) -> Result<PathBuf> {
    let directory = store.directory();
    let outcomes = replay::outcomes(findings.plan, findings.records);
    let generated = now();
    let input = input(findings, &outcomes, &generated);
    store.write("report.html", &report::html(&input)?)?;
    store.write("results.csv", &report::csv(&input))?;
    store.write("results.md", &report::markdown(&input))?;
    store.write("results.json", &report::json(&input))?;
    for (name, figure) in report::figures(&input) {
        store.write(&name, &figure)?;
    }
    Ok(directory.join("report.html"))
}

/// The summary for the terminal.
pub(crate) fn terminal(findings: &Findings<'_>, color: bool) -> String {
    let outcomes = replay::outcomes(findings.plan, findings.records);
    let generated = now();
    let width = std::env::var("COLUMNS").ok().and_then(|c| c.parse().ok()).unwrap_or(100);
    report::terminal(&input(findings, &outcomes, &generated), width, color)
}

/// Writes the derived files of a stored run again; returns the path of report.html and the terminal's summary.
pub(crate) fn again(directory: &Path, color: bool) -> Result<(PathBuf, String)> {
    let Stored { plan, records, facts, commands, .. } = load(directory)?;
    let replayed = replay::replay(&plan, &records);
    if let Some(mismatch) = replayed.mismatches.first() {
        return Err(anyhow::Error::new(mismatch.clone())).context(directory.display().to_string());
    }
    let wanted: u32 = plan.tests.iter().map(|t| t.frame_sizes.len() as u32 * t.repetitions).sum();
    let interrupted = (replayed.finished.len() as u32) < wanted;
    let findings = Findings { plan: &plan, records: &records, facts: &facts, commands: &commands, interrupted };
    let (store, _) = Store::reopen(directory)?;
    Ok((write(&store, &findings)?, terminal(&findings, color)))
}

fn input<'a>(findings: &Findings<'a>, outcomes: &'a [Outcome], generated: &'a str) -> report::Input<'a> {
    let rfc = (findings.plan.profile != Profile::Rfc).then(|| budget::estimate_rfc(findings.plan));
    report::Input {
        plan: findings.plan,
        records: findings.records,
        outcomes,
        facts: findings.facts,
        commands: findings.commands,
        generated,
        interrupted: findings.interrupted,
        rfc_budget: rfc.map(|b| report::Budget { trials: b.trials, seconds: b.seconds }),
    }
}

/// The time of day as reports print it.
fn now() -> String {
    jiff::Zoned::now().strftime("%Y-%m-%d %H:%M %Z").to_string()
}
