//! Writes what is derived from the records: report, tables, figures.

use super::RunError;
use super::store::{self, StoreError, Stored, load};
use sixbench_method::budget;
use sixbench_method::measures::Outcome;
use sixbench_method::plan::{Plan, Profile};
use sixbench_method::record::{Facts, TrialRecord};
use sixbench_method::replay;
use sixbench_report as report;
use std::path::{Path, PathBuf};

/// All data that a report needs.
pub struct Findings<'a> {
    /// The plan that was run.
    pub plan: &'a Plan,
    /// The trials, in the order in which they were made.
    pub records: &'a [TrialRecord],
    /// The facts of the run.
    pub facts: &'a Facts,
    /// Every command that the testbed ran, as a shell script.
    pub commands: &'a str,
    /// True if the run has not come to its end.
    pub interrupted: bool,
}

/// Writes all derived files; returns the path of report.html.
///
/// # Errors
/// A file that cannot be written, or records of a newer version.
pub(crate) fn write(directory: &Path, findings: &Findings<'_>) -> Result<PathBuf, RunError> {
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

/// Returns the summary for a terminal of `width` columns.
pub fn terminal(findings: &Findings<'_>, width: usize, color: bool) -> String {
    let outcomes = replay::outcomes(findings.plan, findings.records);
    let generated = now();
    report::terminal(&input(findings, &outcomes, &generated), width, color)
}

/// Writes the derived files of a stored run again; returns the path of report.html, and the summary for a terminal of `width` columns.
///
/// # Errors
/// No results directory, one without anything to report, or one that cannot be written.
pub fn again(directory: &Path, width: usize, color: bool) -> Result<(PathBuf, String), RunError> {
    let Stored { plan, records, facts, commands, .. } = load(directory)?;
    // A run whose set-up failed has something to report: the status of every point.
    if records.is_empty() && facts.runs.is_empty() {
        return Err(StoreError::NoTrial(directory.to_owned()).into());
    }
    let replayed = replay::replay(&plan, &records);
    // Single points that an earlier version judged otherwise have a status that says so.
    if let Some(mismatch) =
        replayed.mismatches.first().filter(|_| replayed.finished.is_empty() && replayed.unfinished.is_empty())
    {
        return Err(StoreError::Mismatch { directory: directory.to_owned(), source: mismatch.clone() }.into());
    }
    let interrupted = !replay::is_complete(&plan, &replayed.finished);
    let findings = Findings { plan: &plan, records: &records, facts: &facts, commands: &commands, interrupted };
    Ok((write(directory, &findings)?, terminal(&findings, width, color)))
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

/// Returns the time of day as reports print it.
fn now() -> String {
    jiff::Zoned::now().strftime("%Y-%m-%d %H:%M %Z").to_string()
}
