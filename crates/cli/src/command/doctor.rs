//! `sixbench doctor` and `sixbench sweep`.

use crate::exit::{Exit, Failed};
use sixbench_io::thread::allowed_cores;
use sixbench_testbed::doctor::{Severity, examine};
use sixbench_testbed::{Shell, namespace};

/// Examines the host.
pub(crate) fn doctor() -> Result<Exit, Failed> {
    let findings = examine(&allowed_cores()?);
    for finding in &findings {
        let mark = match finding.severity {
            Severity::Good => "ok      ",
            Severity::Warning => "warning ",
            Severity::Blocker => "BLOCKER ",
        };
        println!("{mark} {}", finding.what);
        if let Some(cure) = &finding.cure {
            println!("         cure: {cure}");
        }
    }
    let worst = findings.iter().map(|f| f.severity).max();
    Ok(if worst == Some(Severity::Blocker) { Exit::Testbed } else { Exit::Done })
}

/// Removes what killed runs left behind.
pub(crate) fn sweep() -> Result<Exit, Failed> {
    let swept = namespace::sweep(&Shell::new()).map_err(|e| Failed::new(Exit::Testbed, e))?;
    if swept.is_empty() {
        println!("nothing to sweep up");
    }
    swept.iter().for_each(|name| println!("removed {name}"));
    Ok(Exit::Done)
}
