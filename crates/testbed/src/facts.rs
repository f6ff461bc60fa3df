//! Facts of the host that belong into the report (RFC 2544 section 7).

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

const SYSCTLS: [&str; 5] = [
    "net/core/netdev_max_backlog",
    "net/core/netdev_budget",
    "net/core/dev_weight",
    "net/core/rmem_max",
    "net/core/rps_sock_flow_entries",
];

/// Facts that are the only line of a file.
const LINES: [(&str, &str); 6] = [
    ("host name", "/proc/sys/kernel/hostname"),
    ("kernel", "/proc/sys/kernel/osrelease"),
    ("kernel command line", "/proc/cmdline"),
    ("clock source", "/sys/devices/system/clocksource/clocksource0/current_clocksource"),
    ("frequency governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
    ("simultaneous multithreading", "/sys/devices/system/cpu/smt/control"),
];

/// Facts that are the rest of a line in a file: name, path, beginning of the line.
const FIELDS: [(&str, &str, &str); 4] = [
    ("system", "/etc/os-release", "PRETTY_NAME="),
    ("processor", "/proc/cpuinfo", "model name\t: "),
    ("microcode", "/proc/cpuinfo", "microcode\t: "),
    ("memory", "/proc/meminfo", "MemTotal:"),
];

/// Facts of a network interface: name, path below that of the interface. Links count by what they point to.
const OF_INTERFACE: [(&str, &str); 5] = [
    ("driver", "device/driver"),
    ("vendor", "device/vendor"),
    ("device", "device/device"),
    ("speed in Mbit/s", "speed"),
    ("MTU", "mtu"),
];

/// The directory that holds the kernel's mitigations of processor vulnerabilities, one file each.
const MITIGATIONS: &str = "/sys/devices/system/cpu/vulnerabilities";

/// Returns the facts of this host by name. Those that the system does not tell are left out.
pub fn host() -> BTreeMap<String, String> {
    let mut facts = BTreeMap::new();
    let mut add = |name: &str, value: Option<String>| {
        if let Some(value) = value.filter(|v| !v.is_empty()) {
            facts.insert(name.to_owned(), value);
        }
    };
    LINES.iter().for_each(|(name, path)| add(name, line(path)));
    FIELDS.iter().for_each(|(name, path, prefix)| add(name, field(path, prefix).map(|v| unquoted(&v))));
    add("cores", std::thread::available_parallelism().ok().map(|n| n.to_string()));
    add("mitigations", mitigations(Path::new(MITIGATIONS)));
    add("virtual machine", is_virtual().then(|| "yes: its host may take processor time away".to_owned()));
    for sysctl in SYSCTLS {
        add(&sysctl.replace('/', "."), line(format!("/proc/sys/{sysctl}")));
    }
    facts
}

/// The facts of an interface that test traffic passes, by name; none of one that has no hardware.
pub fn interface(name: &str) -> BTreeMap<String, String> {
    let folder = Path::new("/sys/class/net").join(name);
    if !folder.join("device").exists() {
        return BTreeMap::new();
    }
    let fact = |(what, path): &(&str, &str)| {
        let path = folder.join(path);
        let target = fs::read_link(&path).ok().and_then(|to| Some(to.file_name()?.to_string_lossy().into_owned()));
        Some((format!("{name}: {what}"), target.or_else(|| line(path))?))
    };
    OF_INTERFACE.iter().filter_map(fact).collect()
}

/// The name of this host.
pub fn host_name() -> String {
    line("/proc/sys/kernel/hostname").unwrap_or_default()
}

/// Returns `meltdown: Mitigation: PTI; ...`, by name. Vulnerabilities that do not affect the processor are left out.
fn mitigations(folder: &Path) -> Option<String> {
    let entries = fs::read_dir(folder).ok()?.filter_map(|entry| {
        let path = entry.ok()?.path();
        Some((path.file_name()?.to_string_lossy().into_owned(), line(&path)?))
    });
    let affected: BTreeMap<String, String> = entries.filter(|(_, state)| state != "Not affected").collect();
    let all: Vec<String> = affected.iter().map(|(name, state)| format!("{name}: {state}")).collect();
    Some(if all.is_empty() { "none needed".to_owned() } else { all.join("; ") })
}

fn unquoted(text: &str) -> String {
    text.trim().trim_matches('"').to_owned()
}

fn line(path: impl AsRef<Path>) -> Option<String> {
    Some(fs::read_to_string(path).ok()?.trim().to_owned())
}

fn field(path: &str, prefix: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    text.lines().find_map(|line| line.strip_prefix(prefix)).map(str::to_owned)
}

fn is_virtual() -> bool {
    field("/proc/cpuinfo", "flags\t\t: ").is_some_and(|flags| flags.split_whitespace().any(|f| f == "hypervisor"))
}

/// Returns the memory that is available without swapping, octets.
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
        assert_eq!(facts["host name"], host_name());
        assert!(!facts["kernel command line"].is_empty(), "{facts:?}");
    }

    #[test]
    fn what_the_system_tells_of_clock_governor_threads_and_microcode_is_among_the_facts() {
        let facts = host();
        let files = [
            ("clock source", "/sys/devices/system/clocksource/clocksource0/current_clocksource"),
            ("frequency governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
            ("simultaneous multithreading", "/sys/devices/system/cpu/smt/control"),
        ];
        for (name, path) in files {
            let told = fs::read_to_string(path).ok().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
            assert_eq!(facts.get(name), told.as_ref(), "{name}");
        }
        let processor = fs::read_to_string("/proc/cpuinfo").expect("cpuinfo");
        assert_eq!(facts.contains_key("microcode"), processor.contains("microcode\t: "));
    }

    #[test]
    fn only_what_affects_the_processor_is_among_the_mitigations() {
        let folder = std::env::temp_dir().join(format!("sixbench-mitigations-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a directory");
        fs::write(folder.join("meltdown"), "Mitigation: PTI\n").expect("a file");
        fs::write(folder.join("mds"), "Not affected\n").expect("a file");
        let found = mitigations(&folder);
        fs::remove_dir_all(&folder).expect("removed");
        assert_eq!(found.as_deref(), Some("meltdown: Mitigation: PTI"));
        assert_eq!(mitigations(&folder), None, "this system does not tell");
    }

    #[test]
    fn an_interface_without_hardware_has_no_facts() {
        assert!(interface("lo").is_empty() && interface("sb-none").is_empty());
    }
}
