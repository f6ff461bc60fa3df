//! `sixbench doctor` and `sixbench sweep`.

use crate::exit::{Exit, Failed};
use crate::output;
use sixbench_io::thread::allowed_cores;
use sixbench_io::{BACKENDS, Obstacle};
use sixbench_testbed::Shell;
use sixbench_testbed::doctor::{Finding, Severity, examine};

/// Examines the host.
pub(crate) fn doctor() -> Result<Exit, Failed> {
    let mut findings = examine(&allowed_cores()?);
    let lacking = BACKENDS.iter().filter_map(|backend| (backend.obstacle)());
    findings.extend(lacking.map(|Obstacle { what, cure }| Finding {
        severity: Severity::Warning,
        what,
        cure: Some(cure),
    }));
    let what = sixbench_runner::selftest::ceiling()?.to_string();
    findings.push(Finding {
        severity: Severity::Good,
        what,
        cure: None,
    });
    findings.extend(sixbench_runner::selftest::core_distance()?.map(|distance| {
        let cure = distance.cure();
        let severity = if cure.is_some() {
            Severity::Warning
        } else {
            Severity::Good
        };
        Finding {
            severity,
            what: distance.to_string(),
            cure: cure.map(str::to_owned),
        }
    }));
    for finding in &findings {
        let mark = match finding.severity {
            Severity::Good => "ok      ",
            Severity::Warning => "warning ",
            Severity::Blocker => "BLOCKER ",
        };
        output::line(format_args!("{mark} {}", finding.what))?;
        if let Some(cure) = &finding.cure {
            output::line(format_args!("         fix: {cure}"))?;
        }
    }
    let worst = findings.iter().map(|f| f.severity).max();
    Ok(if worst == Some(Severity::Blocker) {
        Exit::Testbed
    } else {
        Exit::Done
    })
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
