//! `sixbench doctor` and `sixbench sweep`.

use crate::exit::{Exit, Failed};
use crate::output::{self, tell};
use crate::view::list_columns;
use serde_json::{Value, json};
use sixbench_io::thread::allowed_cores;
use sixbench_io::{BACKENDS, Obstacle};
use sixbench_report::layout::aligned;
use sixbench_runner::archive::{self, ArchiveError};
use sixbench_runner::version_with_features;
use sixbench_testbed::doctor::{Bundle, Finding, Severity, bundle, examine};
use sixbench_testbed::{Shell, quoted_path};
use std::iter;
use std::path::Path;

/// The folder in a bundle.
const BUNDLE: &str = "sixbench-doctor";

/// Examines the host, and prints what was found for people or as JSON; writes a bundle of it to a file, if there is to be one.
pub(crate) fn doctor(as_json: bool, bundle: Option<&Path>) -> Result<Exit, Failed> {
    // The examination takes a while.
    if let Some(path) = bundle {
        archive::check_place(path).map_err(unfit)?;
    }
    let findings = findings()?;
    let objects: String = findings
        .iter()
        .map(|finding| format!("{}\n", object(finding)))
        .collect();
    if as_json {
        output::print(&objects)?;
    } else {
        let rows: Vec<Vec<String>> = findings.iter().flat_map(lines).collect();
        output::print(aligned(&rows, 0, list_columns()))?;
    }
    if let Some(path) = bundle {
        write_bundle(path, objects)?;
    }
    let worst = findings.iter().map(|finding| finding.severity).max();
    Ok(if worst == Some(Severity::Blocker) {
        Exit::Testbed
    } else {
        Exit::Done
    })
}

fn unfit(error: ArchiveError) -> Failed {
    Failed::new(Exit::Usage, error)
}

/// Writes a bundle of these findings and of the machine, and tells how to read it before it is sent to others.
fn write_bundle(path: &Path, findings: String) -> Result<(), Failed> {
    let Bundle {
        mut texts,
        replaced,
    } = bundle(vec![("findings.jsonl", findings)]);
    texts.insert(0, ("README.txt", read_me(&replaced)));
    archive::write_texts(path, BUNDLE, &texts).map_err(unfit)?;
    let file = quoted_path(path);
    tell!("wrote {file}; private values that were replaced: {replaced}");
    tell!("to read it before you send it: tar --zstd -xOf {file} | less");
    Ok(())
}

/// Returns what the bundle says of itself.
fn read_me(replaced: &str) -> String {
    format!(
        "A machine as `sixbench doctor --bundle` found it.\n\nsixbench {}\n\nfindings.jsonl  what doctor says of it\nfacts.txt       the facts that a report \
         would have\nmachine.txt     what these were read from, as NAME:LINE\nmore.txt        links, counters, interrupts, PCI, sysctls, modules and versions, \
         likewise\n\nHardware and IP addresses, names of hosts and users, serial numbers and UUIDs are replaced by placeholders such as mac-1; the same value \
         has the same one everywhere. Replaced: {replaced}.\nNames of interfaces stay, unless they are made of a hardware address.\n",
        version_with_features().replace('\n', ", ")
    )
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
