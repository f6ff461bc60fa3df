//! Judges the settings of the machine. A setting that its kernel does not report yields no finding.

use super::finding::Finding;
use crate::facts::{CPU, Machine, ranges};
use crate::net::Cores;

/// An idle state with a longer exit latency in microseconds delays a frame by more than a hardware device takes to forward one.
const DEEP_US: u32 = 10;

/// Returns the findings about a machine, given the cores that sixbench may use.
pub(super) fn findings(machine: &Machine, allowed: &[u32]) -> Vec<Finding> {
    let cores = Cores::divide(allowed);
    let mut used = [cores.tester, cores.dut].concat();
    used.sort_unstable();
    used.dedup();
    let each = [
        clock(machine),
        governor(machine, &used),
        turbo(machine),
        siblings(machine, &used),
        idle_states(machine, &used),
        isolated(machine, allowed),
        nodes(machine, &used),
        host(machine),
        mitigations(machine),
    ];
    each.into_iter().flatten().collect()
}

fn clock(machine: &Machine) -> Option<Finding> {
    let path = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    let available = "/sys/devices/system/clocksource/clocksource0/available_clocksource";
    let other = match machine.line(path)? {
        "tsc" => {
            return Some(Finding::good(
                "the clock is the processor's time stamp counter",
            ));
        }
        other => other,
    };
    let what = format!("the system's clock is `{other}`, not tsc: reading it may be slow");
    let has_tsc = machine
        .line(available)
        .is_none_or(|all| all.split_whitespace().any(|clock| clock == "tsc"));
    let cure = if has_tsc {
        format!("echo tsc > {path}")
    } else {
        "the kernel does not offer tsc here: see `dmesg | grep -i tsc`; in a virtual machine, give it the host's processor (-cpu host)".to_owned()
    };
    Some(Finding::warning(what, cure))
}

fn governor(machine: &Machine, used: &[u32]) -> Option<Finding> {
    let governors = machine.of_cores(used, "cpufreq/scaling_governor");
    let (_, other) = *match governors
        .iter()
        .find(|(_, governor)| *governor != "performance")
    {
        None if governors.is_empty() => return None,
        None => {
            return Some(Finding::good(
                "the frequency governor of the cores is performance",
            ));
        }
        Some(found) => found,
    };
    let slow: Vec<u32> = governors
        .iter()
        .filter(|(_, governor)| *governor == other)
        .map(|(core, _)| *core)
        .collect();
    Some(Finding::warning(
        format!(
            "the frequency governor of cores {} is {other}, not performance: their frequency follows the load, and rates follow it",
            ranges(&slow)
        ),
        format!("echo performance | tee {CPU}/cpu*/cpufreq/scaling_governor"),
    ))
}

fn turbo(machine: &Machine) -> Option<Finding> {
    if !machine.is_turbo_on()? {
        return Some(Finding::good(
            "turbo is off: the frequency does not depend on temperature and idle cores",
        ));
    }
    let (value, file) = match machine.line(&format!("{CPU}/intel_pstate/no_turbo")) {
        Some(_) => ("1", "intel_pstate/no_turbo"),
        None => ("0", "cpufreq/boost"),
    };
    Some(Finding::warning(
        "turbo is on: the frequency depends on temperature and on how many cores are idle, so that repetitions drift",
        format!("echo {value} > {CPU}/{file}"),
    ))
}

/// Finds cores in use that are threads of the same physical core. Other work on an unused sibling shows up as load.
fn siblings(machine: &Machine, used: &[u32]) -> Option<Finding> {
    let pair = |core: u32| {
        Some((
            core,
            machine
                .siblings(core)?
                .into_iter()
                .find(|other| used.contains(other))?,
        ))
    };
    if let Some((core, sibling)) = used.iter().find_map(|core| pair(*core)) {
        return Some(Finding::warning(
            format!(
                "cores {core} and {sibling} are threads of one core, and tester and DUT use both: each slows the other"
            ),
            format!(
                "echo off > {CPU}/smt/control; or name cores that are no siblings (`tester-cores`, `dut-cores` in [testbed])"
            ),
        ));
    }
    let others: Vec<u32> = machine
        .with_siblings(used)
        .into_iter()
        .filter(|core| !used.contains(core))
        .collect();
    let known = used.iter().any(|core| machine.siblings(*core).is_some());
    known.then(|| {
        if others.is_empty() {
            Finding::good("no core in use is an SMT sibling of another")
        } else {
            Finding::good(format!(
                "the SMT siblings of the cores in use are {}: keep other work off them",
                ranges(&others)
            ))
        }
    })
}

fn idle_states(machine: &Machine, used: &[u32]) -> Option<Finding> {
    let states = used
        .iter()
        .map(|core| (*core, machine.idle_states(*core)))
        .find(|(_, states)| !states.is_empty());
    let deepest = used.iter().flat_map(|core| {
        let states = machine.idle_states(*core).into_iter().enumerate();
        states
            .filter(|(_, state)| !state.is_disabled)
            .map(|(number, state)| (state.latency_us, number, state.name, *core))
    });
    let deep: Vec<_> = deepest
        .filter(|(latency_us, ..)| *latency_us > DEEP_US)
        .collect();
    let Some((latency_us, _, name, core)) = deep.iter().max() else {
        return states.map(|_| {
            Finding::good(format!(
                "cores leave every state in which they wait within {DEEP_US} us"
            ))
        });
    };
    let mut numbers: Vec<String> = deep
        .iter()
        .map(|(_, number, ..)| number.to_string())
        .collect();
    numbers.sort_unstable();
    numbers.dedup();
    Some(Finding::warning(
        format!(
            "core {core} may wait in the state {name}, which takes {latency_us} us to leave: delays at low rates include it"
        ),
        format!(
            "echo 1 | tee {CPU}/cpu*/cpuidle/state[{}]/disable",
            numbers.concat()
        ),
    ))
}

fn isolated(machine: &Machine, allowed: &[u32]) -> Option<Finding> {
    let isolated = machine.listed_cores("isolated")?;
    let (inside, outside): (Vec<u32>, Vec<u32>) =
        isolated.iter().partition(|core| allowed.contains(core));
    if !outside.is_empty() {
        let all = ranges(&machine.online());
        return Some(Finding::warning(
            format!(
                "cores {} are reserved for the test (isolcpus), but sixbench may not use them",
                ranges(&outside)
            ),
            format!(
                "start it with `taskset -c {all}`, and name them in [testbed] (`tester-cores`, `dut-cores`)"
            ),
        ));
    }
    Some(if inside.is_empty() {
        Finding {
            cure: Some("isolcpus=CORES nohz_full=CORES on the kernel command line, if other work disturbs trials".to_owned()),
            ..Finding::good("no core is reserved for the test (isolcpus)")
        }
    } else {
        Finding::good(format!(
            "cores {} are reserved for the test (isolcpus)",
            ranges(&inside)
        ))
    })
}

fn nodes(machine: &Machine, used: &[u32]) -> Option<Finding> {
    let nodes: Vec<u32> = machine.nodes_of(used).into_iter().collect();
    match (machine.nodes().len(), nodes.len()) {
        (0 | 1, _) | (_, 0) => None,
        (_, 1) => Some(Finding::good(format!(
            "the cores are all on NUMA node {}",
            nodes[0]
        ))),
        _ => Some(Finding::warning(
            format!(
                "the cores are on NUMA nodes {}: frames and memory cross between processors",
                ranges(&nodes)
            ),
            "name cores of one node in [testbed] (`tester-cores`, `dut-cores`), that of the NIC if there is one",
        )),
    }
}

fn host(machine: &Machine) -> Option<Finding> {
    let name = machine
        .hypervisor()
        .map(|name| format!(" ({name})"))
        .unwrap_or_default();
    machine.is_virtual()?.then(|| {
        Finding::warning(
            format!("this is a virtual machine{name}: its host may take time from its cores (steal), and move them"),
            "use a machine of its own; or have the host pin the cores to ones that nothing else uses (virsh vcpupin)",
        )
    })
}

/// The cost of the mitigations is part of a device's performance, so they are reported but not judged.
fn mitigations(machine: &Machine) -> Option<Finding> {
    let facts = machine.facts(&[], &[]);
    Some(Finding::good(format!(
        "mitigations of the processor's vulnerabilities: {}",
        facts.get("mitigations")?
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Severity;
    use crate::facts::tests::{FakeMachine, SERVER};

    const ALL: [u32; 4] = [0, 1, 2, 3];

    /// Returns the finding whose text contains `words`.
    fn found(fake: &FakeMachine, allowed: &[u32], words: &str) -> Finding {
        let all = findings(&fake.read(), allowed);
        let mut fitting = all.iter().filter(|finding| finding.what.contains(words));
        fitting
            .next()
            .unwrap_or_else(|| panic!("{words}: {all:#?}"))
            .clone()
    }

    fn cured(fake: &FakeMachine, allowed: &[u32], words: &str) -> String {
        let Finding {
            severity,
            cure,
            what,
        } = found(fake, allowed, words);
        assert_eq!(severity, Severity::Warning, "{what}");
        cure.expect("a cure")
    }

    #[test]
    fn a_server_as_it_comes_is_warned_of_with_what_cures_it() {
        let server = FakeMachine::new("doctor", &SERVER);
        let cures = [
            (
                "clock is `hpet`",
                "echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource",
            ),
            (
                "governor of cores 1-3 is powersave",
                "echo performance | tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor",
            ),
            (
                "turbo is on",
                "echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo",
            ),
            (
                "cores 0 and 2 are threads of one core",
                "echo off > /sys/devices/system/cpu/smt/control; or name cores",
            ),
            (
                "core 1 may wait in the state C6, which takes 133 us",
                "echo 1 | tee /sys/devices/system/cpu/cpu*/cpuidle/state[1]/disable",
            ),
            ("on NUMA nodes 0-1", "name cores of one node"),
        ];
        for (words, cure) in cures {
            assert!(cured(&server, &ALL, words).starts_with(cure), "{words}");
        }
        assert!(
            found(&server, &ALL, "mitigations")
                .what
                .ends_with("meltdown: Mitigation: PTI")
        );
        assert_eq!(found(&server, &ALL, "mitigations").severity, Severity::Good);
        assert_eq!(
            found(&server, &ALL, "isolcpus").what,
            "cores 2-3 are reserved for the test (isolcpus)"
        );
    }

    #[test]
    fn a_machine_that_was_cured_is_good() {
        let server = FakeMachine::new("cured", &SERVER);
        for (file, content) in [
            (
                "sys/devices/system/clocksource/clocksource0/current_clocksource",
                "tsc",
            ),
            ("sys/devices/system/cpu/intel_pstate/no_turbo", "1"),
            ("sys/devices/system/cpu/cpu1/cpuidle/state1/disable", "1"),
            ("sys/devices/system/node/node0/cpulist", "0-3"),
            ("sys/devices/system/node/node1/cpulist", "4-7"),
        ] {
            server.write(file, content);
        }
        for core in ALL {
            server.write(
                &format!("sys/devices/system/cpu/cpu{core}/cpufreq/scaling_governor"),
                "performance",
            );
            server.write(
                &format!("sys/devices/system/cpu/cpu{core}/topology/thread_siblings_list"),
                &format!("{core},{}", core + 4),
            );
        }
        let findings = findings(&server.read(), &ALL);
        assert_eq!(findings.len(), 8, "{findings:#?}");
        assert!(
            findings
                .iter()
                .all(|finding| finding.severity == Severity::Good),
            "{findings:#?}"
        );
        assert!(
            found(&server, &ALL, "siblings")
                .what
                .contains("are 4-7: keep other work off them")
        );
    }

    #[test]
    fn a_clock_that_the_kernel_does_not_offer_is_not_advised() {
        let server = FakeMachine::new("no tsc", &SERVER);
        server.write(
            "sys/devices/system/clocksource/clocksource0/available_clocksource",
            "hpet acpi_pm",
        );
        let cure = cured(&server, &ALL, "clock is `hpet`");
        assert!(cure.starts_with("the kernel does not offer tsc"), "{cure}");
    }

    #[test]
    fn isolated_cores_that_may_not_be_used_are_told() {
        let cure = cured(
            &FakeMachine::new("isolated", &SERVER),
            &[0, 1],
            "cores 2-3 are reserved for the test (isolcpus), but",
        );
        assert!(cure.contains("taskset -c 0-3"), "{cure}");
    }

    #[test]
    fn a_host_that_may_take_time_is_named_and_of_what_is_unknown_nothing_is_said() {
        let files = [
            ("proc/cpuinfo", "flags\t\t: hypervisor"),
            ("sys/hypervisor/type", "xen"),
        ];
        let guest = FakeMachine::new("doctor of a guest", &files);
        assert!(
            cured(
                &guest,
                &ALL,
                "virtual machine (xen): its host may take time"
            )
            .contains("pin")
        );
        assert_eq!(findings(&guest.read(), &ALL).len(), 1);
    }
}
