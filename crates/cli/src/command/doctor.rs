//! `sixbench doctor` and `sixbench sweep`.

use crate::exit::{Exit, Failed};
use crate::output;
use crate::view::list_columns;
use serde_json::{Value, json};
use sixbench_io::thread::allowed_cores;
use sixbench_io::{BACKENDS, Obstacle};
use sixbench_report::layout::aligned;
use sixbench_testbed::Shell;
use sixbench_testbed::doctor::{Finding, Severity, examine};
use std::iter;

/// Examines the host, and prints what was found for people or as JSON.
pub(crate) fn doctor(as_json: bool) -> Result<Exit, Failed> {
    let findings = findings()?;
    output::print(if as_json {
        findings
            .iter()
            .map(|finding| format!("{}\n", object(finding)))
            .collect()
    } else {
        let rows: Vec<Vec<String>> = findings.iter().flat_map(lines).collect();
        aligned(&rows, 0, list_columns())
    })?;
    let worst = findings.iter().map(|finding| finding.severity).max();
    Ok(if worst == Some(Severity::Blocker) {
        Exit::Testbed
    } else {
        Exit::Done
    })
}

/// Returns the findings on the host, on the ways of sending frames, and on the tester's own limit here.
fn findings() -> Result<Vec<Finding>, Failed> {
    let mut findings = examine(&allowed_cores()?);
    let lacking = BACKENDS.iter().filter_map(|backend| (backend.obstacle)());
    findings.extend(lacking.map(|Obstacle { what, cure }| Finding {
        severity: Severity::Warning,
        what,
        cure: Some(cure),
    }));
    findings.push(Finding {
        severity: Severity::Good,
        what: sixbench_runner::selftest::ceiling()?.to_string(),
        cure: None,
    });
    let distance = sixbench_runner::selftest::core_distance()?;
    findings.extend(distance.map(|distance| {
        let cure = distance.cure().map(str::to_owned);
        Finding {
            severity: if cure.is_some() {
                Severity::Warning
            } else {
                Severity::Good
            },
            what: distance.to_string(),
            cure,
        }
    }));
    Ok(findings)
}

/// Returns the lines of a finding: what it is, and how it is mended.
fn lines(finding: &Finding) -> Vec<Vec<String>> {
    let mark = match finding.severity {
        Severity::Good => "ok",
        Severity::Warning => "warning",
        Severity::Blocker => "BLOCKER",
    };
    let fix = finding.cure.iter().map(|cure| format!("fix: {cure}"));
    iter::once([format!("{mark:<7}"), finding.what.clone()])
        .chain(fix.map(|fix| [String::new(), fix]))
        .map(Vec::from)
        .collect()
}

fn object(finding: &Finding) -> Value {
    let severity = match finding.severity {
        Severity::Good => "ok",
        Severity::Warning => "warning",
        Severity::Blocker => "blocker",
    };
    json!({ "severity": severity, "what": finding.what, "fix": finding.cure })
}

/// Removes what runs that were killed left behind.
pub(crate) fn sweep() -> Result<Exit, Failed> {
    let swept =
        sixbench_testbed::sweep(&Shell::new()).map_err(|e| Failed::new(Exit::Testbed, e))?;
    if swept.is_empty() {
        output::line("nothing to remove")?;
    }
    swept
        .iter()
        .try_for_each(|name| output::line(format_args!("removed {name}")))?;
    Ok(Exit::Done)
}
