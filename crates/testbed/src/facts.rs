//! Facts of the host that belong into the report (RFC 2544 section 7).

use std::collections::BTreeMap;
use std::fs;

/// Kernel switches that matter to what is measured.
const SWITCHES: [&str; 5] = [
    "net/core/netdev_max_backlog",
    "net/core/netdev_budget",
    "net/core/dev_weight",
    "net/core/rmem_max",
    "net/core/rps_sock_flow_entries",
];

/// The facts, by name.
pub fn host() -> BTreeMap<String, String> {
    let mut facts = BTreeMap::new();
    let mut add = |name: &str, value: Option<String>| {
        if let Some(value) = value.filter(|v| !v.is_empty()) {
            facts.insert(name.to_owned(), value);
        }
    };
    add("kernel", line("/proc/sys/kernel/osrelease"));
    add("system", field("/etc/os-release", "PRETTY_NAME=").map(|v| v.trim_matches('"').to_owned()));
    add("processor", field("/proc/cpuinfo", "model name\t: "));
    add("cores", std::thread::available_parallelism().ok().map(|n| n.to_string()));
    add("memory", field("/proc/meminfo", "MemTotal:").map(|v| v.trim().to_owned()));
    add("clock source", line("/sys/devices/system/clocksource/clocksource0/current_clocksource"));
    add("virtual machine", is_virtual().then(|| "yes: its host may take processor time away".to_owned()));
    for switch in SWITCHES {
        add(&switch.replace('/', "."), line(&format!("/proc/sys/{switch}")));
    }
    facts
}

fn line(path: &str) -> Option<String> {
    Some(fs::read_to_string(path).ok()?.trim().to_owned())
}

/// The rest of the first line of a file that begins so.
fn field(path: &str, prefix: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    text.lines().find_map(|line| line.strip_prefix(prefix)).map(str::to_owned)
}

fn is_virtual() -> bool {
    field("/proc/cpuinfo", "flags\t\t: ").is_some_and(|flags| flags.split_whitespace().any(|f| f == "hypervisor"))
}

/// Memory that can be had without swapping, octets.
pub fn available_memory() -> Option<u64> {
    let text = field("/proc/meminfo", "MemAvailable:")?;
    Some(text.split_whitespace().next()?.parse::<u64>().ok()? * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_has_a_kernel_and_a_backlog() {
        let facts = host();
        assert!(facts["kernel"].contains('.'), "{facts:?}");
        assert!(facts["net.core.netdev_max_backlog"].parse::<u32>().is_ok(), "{facts:?}");
    }
}
