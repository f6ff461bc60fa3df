//! The facts about a machine that belong in the report (RFC 2544 section 7), read by the same code from this machine and from others.

mod clock;
mod interface;
mod machine;

pub use clock::{ClockAccuracy, NoClockBound};
pub(crate) use interface::{COMBINED, FLOW_CONTROL, UDP_FLOWS};
pub(crate) use machine::CPU;
pub use machine::Machine;

use std::collections::BTreeMap;
use std::fmt::Display;
use std::fs;

const NET_CORE_SYSCTLS: [&str; 5] = [
    "netdev_max_backlog",
    "netdev_budget",
    "dev_weight",
    "rmem_max",
    "rps_sock_flow_entries",
];

const IN_VIRTUAL_MACHINE: &str = "yes: its host may take processor time away";

/// Facts that are the only line of a file.
const SINGLE_LINE_FACTS: [(&str, &str); 8] = [
    ("host name", "/proc/sys/kernel/hostname"),
    ("kernel", "/proc/sys/kernel/osrelease"),
    ("kernel command line", "/proc/cmdline"),
    (
        "clock source",
        "/sys/devices/system/clocksource/clocksource0/current_clocksource",
    ),
    (
        "simultaneous multithreading",
        "/sys/devices/system/cpu/smt/control",
    ),
    (
        "frequency driver",
        "/sys/devices/system/cpu/cpu0/cpufreq/scaling_driver",
    ),
    (
        "cpuidle driver",
        "/sys/devices/system/cpu/cpuidle/current_driver",
    ),
    (
        "cpuidle governor",
        "/sys/devices/system/cpu/cpuidle/current_governor_ro",
    ),
];

/// Facts that are the rest of a line in a file: name, path and prefix of the line.
const PREFIXED_LINE_FACTS: [(&str, &str, &str); 4] = [
    ("system", "/etc/os-release", "PRETTY_NAME="),
    // Only x86 has this line and the next one.
    ("processor", "/proc/cpuinfo", "model name\t: "),
    ("microcode", "/proc/cpuinfo", "microcode\t: "),
    ("memory", "/proc/meminfo", "MemTotal:"),
];

impl Machine {
    /// Returns the facts about the machine, these interfaces and the cores in use, by name. An empty `used` stands for all cores. Facts that the
    /// system does not report are left out.
    pub fn facts(&self, used: &[u32], interfaces: &[&str]) -> BTreeMap<String, String> {
        let online = self.online();
        let used = if used.is_empty() { &online } else { used };
        let lines = SINGLE_LINE_FACTS
            .iter()
            .map(|(name, path)| (*name, self.line(path).map(str::to_owned)));
        let fields = PREFIXED_LINE_FACTS
            .iter()
            .map(|(name, path, prefix)| (*name, self.field(path, prefix).map(unquoted)));
        let mut facts: BTreeMap<String, String> = lines
            .chain(fields)
            .chain(self.of_processor(used))
            .filter_map(|(name, fact)| Some((name.to_owned(), fact?)))
            .collect();
        facts.extend(NET_CORE_SYSCTLS.iter().filter_map(|sysctl| {
            let value = self.line(&format!("/proc/sys/net/core/{sysctl}"))?;
            Some((format!("net.core.{sysctl}"), value.to_owned()))
        }));
        facts.extend(
            interfaces
                .iter()
                .flat_map(|interface| self.interface_facts(interface)),
        );
        facts.retain(|_, fact| !fact.is_empty());
        facts
    }

    /// Returns the facts about the cores in use, and about how other work is kept off them.
    fn of_processor(&self, used: &[u32]) -> [(&'static str, Option<String>); 12] {
        let listed = |list| Some(ranges(&self.listed_cores(list)?));
        let governors = self.of_cores(used, "cpufreq/scaling_governor");
        let idle = used
            .iter()
            .map(|core| (*core, self.idle_states(*core)))
            .filter(|(_, states)| !states.is_empty());
        let idle: Vec<(u32, String)> = idle
            .map(|(core, states)| (core, joined(&states, ", ")))
            .collect();
        [
            (
                "cores",
                Some(self.online().len().to_string()).filter(|count| count != "0"),
            ),
            ("mitigations", self.mitigations()),
            (
                "virtual machine",
                self.is_virtual().map(|is_virtual| {
                    if is_virtual { IN_VIRTUAL_MACHINE } else { "no" }.to_owned()
                }),
            ),
            ("hypervisor", self.hypervisor()),
            ("frequency governor", grouped(&governors)),
            (
                "turbo",
                self.is_turbo_on()
                    .map(|is_on| if is_on { "on" } else { "off" }.to_owned()),
            ),
            ("C-states", grouped(&idle)),
            (
                "SMT siblings of the cores in use",
                self.sibling_groups(used),
            ),
            ("isolated cores", listed("isolated")),
            ("nohz_full cores", listed("nohz_full")),
            (
                "NUMA nodes",
                Some(self.nodes())
                    .filter(|nodes| !nodes.is_empty())
                    .map(|nodes| nodes.len().to_string()),
            ),
            (
                "NUMA nodes of the cores in use",
                Some(joined(self.nodes_of(used), ", ")),
            ),
        ]
    }

    fn sibling_groups(&self, used: &[u32]) -> Option<String> {
        let siblings: Option<Vec<(u32, Vec<u32>)>> = used
            .iter()
            .map(|core| Some((*core, self.siblings(*core)?)))
            .collect();
        let with = siblings?
            .into_iter()
            .filter(|(_, others)| !others.is_empty());
        let groups: Vec<String> = with
            .map(|(core, others)| format!("{core} with {}", ranges(&others)))
            .collect();
        Some(if groups.is_empty() {
            "none".to_owned()
        } else {
            groups.join("; ")
        })
    }

    /// Returns `meltdown: Mitigation: PTI; ...`, sorted by name, without the vulnerabilities that do not affect the processor.
    fn mitigations(&self) -> Option<String> {
        let all: Vec<_> = self
            .below("/sys/devices/system/cpu/vulnerabilities/")
            .collect();
        let affected: Vec<String> = all
            .iter()
            .filter(|(_, state)| *state != "Not affected")
            .map(|(name, state)| format!("{name}: {state}"))
            .collect();
        match (all.is_empty(), affected.is_empty()) {
            (true, _) => None,
            (false, true) => Some("none needed".to_owned()),
            (false, false) => Some(affected.join("; ")),
        }
    }
}

/// Returns the value that all cores have in common, or each value with its cores.
fn grouped(of_cores: &[(u32, impl Display)]) -> Option<String> {
    let mut groups = BTreeMap::<String, Vec<u32>>::new();
    for (core, value) in of_cores {
        groups.entry(value.to_string()).or_default().push(*core);
    }
    match groups.len() {
        0 | 1 => groups.into_keys().next(),
        _ => Some(
            groups
                .iter()
                .map(|(value, cores)| format!("{value} on {}", ranges(cores)))
                .collect::<Vec<_>>()
                .join("; "),
        ),
    }
}

/// Returns ascending numbers in the kernel's notation, such as `0-2,5`, or `none` if there are none.
pub(crate) fn ranges(numbers: &[u32]) -> String {
    let starts = numbers.chunk_by(|a, b| a + 1 == *b).map(|run| match run {
        [first, .., last] => format!("{first}-{last}"),
        _ => run[0].to_string(),
    });
    let text = starts.collect::<Vec<_>>().join(",");
    if text.is_empty() {
        "none".to_owned()
    } else {
        text
    }
}

fn joined(items: impl IntoIterator<Item = impl Display>, separator: &str) -> String {
    items
        .into_iter()
        .map(|item| item.to_string())
        .collect::<Vec<_>>()
        .join(separator)
}

fn unquoted(text: &str) -> String {
    text.trim_matches('"').to_owned()
}

/// Returns the name of this host.
pub fn host_name() -> String {
    fs::read_to_string("/proc/sys/kernel/hostname")
        .unwrap_or_default()
        .trim()
        .to_owned()
}

/// Returns the memory available without swapping, in octets.
pub fn available_memory() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let field = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    Some(field.split_whitespace().next()?.parse::<u64>().ok()? * 1024)
}

#[cfg(test)]
pub(crate) mod tests;
