//! Examines whether this host is fit to measure. Each problem comes with the command that fixes it.

mod bundle;
mod cards;
mod confinement;
mod finding;
mod machine;
mod probe;

pub use crate::exec::is_root;
pub use bundle::{Bundle, bundle};
pub use finding::{Finding, Severity};

use crate::availability::{has_module, module_cure};
use crate::exec::{Shell, has_program};
use crate::facts::Machine;
use crate::lab::{self, KernelLab, Manifest};
use crate::monitor::busiest_core;
use crate::net::namespace;
use crate::net::stale_directories;
use sixbench_method::record::CoreLoad;

/// Runs all examinations, which takes about a second.
pub fn examine(allowed_cores: &[u32]) -> Vec<Finding> {
    let mut findings = vec![root()];
    findings.extend(programs());
    // Without a program nothing can be built, and its package was named.
    if findings
        .iter()
        .all(|finding| finding.severity != Severity::Blocker)
    {
        findings.extend(probe::findings(allowed_cores));
    }
    findings.push(cores(allowed_cores));
    let machine = Machine::read(&Shell::new(), &[]);
    findings.push(load(&machine.with_siblings(allowed_cores)));
    findings.extend(machine::findings(&machine, allowed_cores));
    findings.extend(cards::findings(allowed_cores));
    findings.push(leftovers());
    findings.push(kernel_lab());
    findings.push(jool());
    findings
}

fn root() -> Finding {
    let confinement = confinement::Confinement::read();
    if is_root() && confinement.is_in_user_namespace {
        return Finding::warning(
            "running as root of a user namespace only, not as root of the machine",
            confinement.cure(),
        );
    }
    if is_root() {
        return Finding::good("running as root");
    }
    Finding::bad(
        Severity::Blocker,
        "not running as root, which namespaces and raw sockets need",
        "run it with sudo",
    )
}

fn programs() -> Vec<Finding> {
    let wanted = [
        ("ip", "iproute2"),
        ("ethtool", "ethtool"),
        ("setpriv", "util-linux"),
        ("taskset", "util-linux"),
    ];
    let mut missing: Vec<_> = wanted
        .iter()
        .filter(|(program, _)| !has_program(program))
        .collect();
    missing.dedup_by_key(|(_, package)| *package);
    if missing.is_empty() {
        return vec![Finding::good(
            "ip, ethtool, setpriv and taskset are installed",
        )];
    }
    missing
        .into_iter()
        .map(|(program, package)| {
            Finding::bad(
                Severity::Blocker,
                format!("{program} is not installed"),
                format!("apt-get install {package}"),
            )
        })
        .collect()
}

fn cores(allowed: &[u32]) -> Finding {
    match allowed.len() {
        0 | 1 => Finding::bad(
            Severity::Warning,
            "only one core: tester and DUT must share it",
            "use a machine with two cores or more, or real interfaces to another machine",
        ),
        2 => Finding::good("two cores: one for the tester, one for the DUT"),
        n => Finding::good(format!("{n} cores: tester and DUT each have their own")),
    }
}

/// Returns the load that [`examine`] finds on these cores, or `None` if it finds nothing wrong. Takes 0.35 s.
pub fn look_at_load(allowed_cores: &[u32]) -> Option<CoreLoad> {
    busiest_core(allowed_cores)
}

/// Measures for 0.35 s how busy other work keeps the cores.
fn load(allowed: &[u32]) -> Finding {
    match busiest_core(allowed) {
        Some(load) => Finding::warning(load.to_string(), CoreLoad::FIX),
        None => Finding::good("no other work on the cores"),
    }
}

/// Looks for the kernel lab. Only devices that do not run in a namespace need it.
fn kernel_lab() -> Finding {
    match KernelLab::find(&lab::cache(), &[]) {
        Ok(lab) => {
            let Manifest {
                kernel,
                jool,
                modules,
            } = lab.manifest();
            Finding::good(format!(
                "the kernel lab is ready: Linux {kernel}, Jool {jool} ({})",
                modules.join(", ")
            ))
        }
        Err(_) => Finding {
            severity: Severity::Good,
            what:
                "there is no kernel lab: only devices with `host = \"lab\"`, such as Jool, need one"
                    .to_owned(),
            cure: Some("sixbench lab build".to_owned()),
        },
    }
}

/// The module of Jool in this machine's own kernel, for `jool-nat64@netns` and its like.
fn jool() -> Finding {
    match (has_module("jool"), has_program("jool")) {
        (true, true) => Finding::good("this machine's own kernel has Jool: `jool-nat64@netns` runs here"),
        (true, false) => Finding {
            severity: Severity::Good,
            what: "this machine's own kernel has Jool, but its program is not installed".to_owned(),
            cure: Some("apt-get install jool-tools".to_owned()),
        },
        (false, _) => Finding {
            severity: Severity::Good,
            what: "this machine's own kernel has no Jool: only devices such as `jool-nat64@netns` need it".to_owned(),
            cure: Some(module_cure("jool")),
        },
    }
}

fn leftovers() -> Finding {
    let stale = [namespace::stale(), stale_directories()].concat();
    if stale.is_empty() {
        return Finding::good("earlier runs left nothing behind");
    }
    Finding::bad(
        Severity::Warning,
        format!("left by a killed run: {}", stale.join(", ")),
        "sixbench sweep",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_is_not_good_has_a_cure() {
        let findings = examine(&[0, 1]);
        assert!(findings.len() >= 7);
        assert!(
            findings
                .iter()
                .all(|f| f.severity == Severity::Good || f.cure.is_some())
        );
    }
}
