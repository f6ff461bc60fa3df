//! `sixbench doctor` and `sixbench sweep`.

use crate::exit::{Exit, Failed};
use crate::output;
use sixbench_io::thread::allowed_cores;
use sixbench_io::{BACKENDS, Obstacle};
use sixbench_runner::selftest::CoreDistance;
use sixbench_testbed::Shell;
use sixbench_testbed::doctor::{Finding, Severity, examine};

/// Examines the host.
pub(crate) fn doctor() -> Result<Exit, Failed> {
    let mut findings = examine(&allowed_cores()?);
    let lacking = BACKENDS.iter().filter_map(|backend| (backend.obstacle)());
    findings.extend(lacking.map(|Obstacle { what, cure }| Finding { severity: Severity::Warning, what, cure: Some(cure) }));
    let what = sixbench_runner::selftest::ceiling()?.to_string();
    findings.push(Finding { severity: Severity::Good, what, cure: None });
    findings.extend(core_distance()?);
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
    Ok(if worst == Some(Severity::Blocker) { Exit::Testbed } else { Exit::Done })
}

/// Returns what is to be said of the way between the tester's core and a device's.
fn core_distance() -> Result<Option<Finding>, Failed> {
    let finding = |distance: CoreDistance| {
        let cure = "pin the virtual machine's cores to ones that share a cache (virsh vcpupin), or compare turn by turn and with more repetitions";
        let (severity, cure) = match distance.is_steady() {
            true => (Severity::Good, None),
            false => (Severity::Warning, Some(cure.to_owned())),
        };
        Finding { severity, what: distance.to_string(), cure }
    };
    Ok(sixbench_runner::selftest::core_distance()?.map(finding))
}

/// Removes what killed runs left behind.
pub(crate) fn sweep() -> Result<Exit, Failed> {
    let swept = sixbench_testbed::sweep(&Shell::new()).map_err(|e| Failed::new(Exit::Testbed, e))?;
    if swept.is_empty() {
        output::line("nothing to remove")?;
    }
    swept.iter().try_for_each(|name| output::line(format_args!("removed {name}")))?;
    Ok(Exit::Done)
}
