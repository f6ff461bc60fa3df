//! Writes what is derived from the records: report, tables, figures.

use super::store::{self, Stored, load};
use anyhow::{Context, Result, bail};
use sixbench_method::budget;
use sixbench_method::measures::Outcome;
use sixbench_method::plan::{Plan, Profile};
use sixbench_method::record::{Facts, TrialRecord};
use sixbench_method::replay;
use sixbench_report as report;
use std::path::{Path, PathBuf};

/// All data that a report needs.
pub(crate) struct ReportInputs<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) records: &'a [TrialRecord],
    pub(crate) facts: &'a Facts,
    pub(crate) commands: &'a str,
    pub(crate) interrupted: bool,
}

/// Writes all derived files; returns the path of report.html.
pub(crate) fn write(directory: &Path, findings: &ReportInputs<'_>) -> Result<PathBuf> {
    let outcomes = replay::outcomes(findings.plan, findings.records);
    let generated = now();
    let input = input(findings, &outcomes, &generated);
    store::write(directory, "report.html", &report::html(&input)?)?;
    store::write(directory, "results.csv", &report::csv(&input))?;
    store::write(directory, "points.csv", &report::points_csv(&input))?;
    store::write(directory, "results-values.csv", &report::values_csv(&input))?;
    store::write(directory, "warnings.csv", &report::warnings_csv(&input))?;
    if let Some(scaling) = report::scaling_csv(&input) {
        store::write(directory, "results-scaling.csv", &scaling)?;
    }
    store::write(directory, "results.tex", &report::latex(&input))?;
    store::write(directory, "results.md", &report::markdown(&input))?;
    store::write(directory, "results.json", &report::json(&input))?;
    for (name, figure) in report::figures(&input) {
        store::write(directory, &name, &figure)?;
    }
    Ok(directory.join("report.html"))
}

/// Returns the summary for the terminal.
pub(crate) fn terminal(findings: &ReportInputs<'_>, color: bool) -> String {
    let outcomes = replay::outcomes(findings.plan, findings.records);
    let generated = now();
    let width = std::env::var("COLUMNS").ok().and_then(|c| c.parse().ok()).unwrap_or(100);
    report::terminal(&input(findings, &outcomes, &generated), width, color)
}

/// Writes the derived files of a stored run again; returns the path of report.html and the terminal's summary.
pub(crate) fn again(directory: &Path, color: bool) -> Result<(PathBuf, String)> {
    let Stored { plan, records, facts, commands, .. } = load(directory)?;
    // A run whose set-up failed has something to report: the status of every point.
    if records.is_empty() && facts.runs.is_empty() {
        let name = directory.display();
        bail!("{name} holds no trial yet, so there is nothing to report; go on with: sixbench run --resume {name}");
    }
    let replayed = replay::replay(&plan, &records);
    // Single points that an earlier version judged otherwise have a status that says so.
    if let Some(mismatch) =
        replayed.mismatches.first().filter(|_| replayed.finished.is_empty() && replayed.unfinished.is_empty())
    {
        return Err(anyhow::Error::new(mismatch.clone())).context(directory.display().to_string());
    }
    let interrupted = !replay::is_complete(&plan, &replayed.finished);
    let findings = ReportInputs { plan: &plan, records: &records, facts: &facts, commands: &commands, interrupted };
    Ok((write(directory, &findings)?, terminal(&findings, color)))
}

fn input<'a>(findings: &ReportInputs<'a>, outcomes: &'a [Outcome], generated: &'a str) -> report::Input<'a> {
    let rfc = (findings.plan.profile != Profile::Rfc).then(|| budget::estimate_rfc(findings.plan));
    report::Input {
        plan: findings.plan,
        records: findings.records,
        outcomes,
        facts: findings.facts,
        commands: findings.commands,
        generated,
        interrupted: findings.interrupted,
        rfc_budget: rfc.map(|b| report::RunCost { trials: b.trials, seconds: b.seconds }),
    }
}

/// Returns the time of day as reports print it.
fn now() -> String {
    jiff::Zoned::now().strftime("%Y-%m-%d %H:%M %Z").to_string()
}
