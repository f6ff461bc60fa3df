//! Reads a machine's description of itself from its files and, about its interfaces, from ethtool. The same script reads this machine and others.

use crate::exec::{Shell, core_list};
use sixbench_method::text::visible_lines;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

const SCRIPT: &str = include_str!("machine.sh");
/// Prints what ethtool prints, in the lines of the script above.
const ETHTOOL: &str =
    r#"for what; do ethtool $what 2>/dev/null | sed "s|^|ethtool $what:|"; done; exit 0"#;
/// The directory of the processor's settings.
pub(crate) const CPU: &str = "/sys/devices/system/cpu";

/// The state of a machine at one time: the lines of each file by its path, and the output lines of ethtool by its command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Machine(BTreeMap<String, Vec<String>>);

/// A state in which a core waits for work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IdleState {
    pub(crate) name: String,
    /// The exit latency in microseconds.
    pub(crate) latency_us: u32,
    pub(crate) is_disabled: bool,
}

impl fmt::Display for IdleState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} {} us{}",
            self.name,
            self.latency_us,
            if self.is_disabled { " (disabled)" } else { "" }
        )
    }
}

/// Prints the lines as the script has printed them, without the directory of the files.
impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, lines) in &self.0 {
            for line in lines {
                writeln!(f, "{name}:{line}")?;
            }
        }
        Ok(())
    }
}

impl Machine {
    /// Reads the machine on which the shell runs its commands, and these interfaces. The result is empty if the machine does not answer.
    pub fn read(shell: &Shell, interfaces: &[&str]) -> Self {
        Self::read_below("", shell, interfaces)
    }

    /// Reads what ethtool prints with these arguments, such as `-k eth0`, and nothing else: a fraction of the time that [`Machine::read`] takes.
    pub(crate) fn read_ethtool(shell: &Shell, arguments: &[String]) -> Self {
        let words = ["sh", "-c", ETHTOOL, "sh"].into_iter();
        let words = words.chain(arguments.iter().map(String::as_str));
        Self::parse(
            "",
            &shell.look(&words.collect::<Vec<_>>()).unwrap_or_default(),
        )
    }

    /// Reads a file tree at `root`.
    pub(crate) fn read_below(root: &str, shell: &Shell, interfaces: &[&str]) -> Self {
        let words = ["sh", "-c", SCRIPT, "sh", root]
            .into_iter()
            .chain(interfaces.iter().copied());
        Self::parse(
            root,
            &shell.look(&words.collect::<Vec<_>>()).unwrap_or_default(),
        )
    }

    /// Parses the output of the script.
    pub(crate) fn parse(root: &str, printed: &str) -> Self {
        let mut lines = BTreeMap::<String, Vec<String>>::new();
        for (name, line) in printed.lines().filter_map(|line| line.split_once(':')) {
            // Tabs are kept, because ethtool separates its columns with them.
            lines
                .entry(name.strip_prefix(root).unwrap_or(name).to_owned())
                .or_default()
                .push(visible_lines(line).into_owned());
        }
        Self(lines)
    }

    /// Returns all lines of a file or of the output of a command.
    pub(super) fn lines(&self, name: &str) -> &[String] {
        self.0.get(name).map_or(&[], Vec::as_slice)
    }

    /// Returns the first line of a file, or `None` if there is none or it is empty.
    pub(crate) fn line(&self, path: &str) -> Option<&str> {
        self.lines(path)
            .first()
            .map(|line| line.trim())
            .filter(|line| !line.is_empty())
    }

    /// Returns the rest of the first line in a file that begins with `prefix`.
    pub(super) fn field(&self, path: &str, prefix: &str) -> Option<&str> {
        self.lines(path)
            .iter()
            .find_map(|line| line.strip_prefix(prefix))
            .map(str::trim)
    }

    /// Returns the first line of each file whose path begins with `directory`, by the rest of the path.
    pub(super) fn below(&self, directory: &str) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().filter_map(move |(path, lines)| {
            Some((path.strip_prefix(directory)?, lines.first()?.trim()))
        })
    }

    /// Returns the cores that are online, in ascending order.
    pub fn online(&self) -> Vec<u32> {
        self.line(&format!("{CPU}/online"))
            .map(core_list)
            .unwrap_or_default()
    }

    /// Returns the first line of a per-core file for each of `cores` that has it.
    pub(crate) fn of_cores<'m>(&'m self, cores: &[u32], file: &str) -> Vec<(u32, &'m str)> {
        cores
            .iter()
            .filter_map(|core| Some((*core, self.line(&format!("{CPU}/cpu{core}/{file}"))?)))
            .collect()
    }

    /// Returns the other hardware threads of a core's physical core, each of which the kernel counts as a core.
    pub(crate) fn siblings(&self, core: u32) -> Option<Vec<u32>> {
        let all = core_list(self.line(&format!("{CPU}/cpu{core}/topology/thread_siblings_list"))?);
        Some(all.into_iter().filter(|other| *other != core).collect())
    }

    /// Returns these cores and the siblings of each, in ascending order.
    pub(crate) fn with_siblings(&self, cores: &[u32]) -> Vec<u32> {
        let siblings = cores
            .iter()
            .flat_map(|core| self.siblings(*core).unwrap_or_default());
        siblings
            .chain(cores.iter().copied())
            .collect::<BTreeSet<u32>>()
            .into_iter()
            .collect()
    }

    /// Returns true if the processor may exceed its nominal frequency, or `None` if the kernel does not report it.
    pub(crate) fn is_turbo_on(&self) -> Option<bool> {
        let is =
            |file: &str, on: &str| self.line(&format!("{CPU}/{file}")).map(|value| value == on);
        is("intel_pstate/no_turbo", "0").or_else(|| is("cpufreq/boost", "1"))
    }

    /// Returns the states in which a core may wait for work, the shallowest first.
    pub(crate) fn idle_states(&self, core: u32) -> Vec<IdleState> {
        (0..)
            .map_while(|number| {
                let file =
                    |name| self.line(&format!("{CPU}/cpu{core}/cpuidle/state{number}/{name}"));
                let latency_us = file("latency")?.parse().ok()?;
                Some(IdleState {
                    name: file("name")?.to_owned(),
                    latency_us,
                    is_disabled: file("disable") == Some("1"),
                })
            })
            .collect()
    }

    /// Returns the cores in a list such as `isolated`, or `None` if the kernel has no such list.
    pub(crate) fn listed_cores(&self, list: &str) -> Option<Vec<u32>> {
        Some(core_list(self.lines(&format!("{CPU}/{list}")).first()?))
    }

    /// Returns the cores of each NUMA node, by its number.
    pub(crate) fn nodes(&self) -> BTreeMap<u32, Vec<u32>> {
        let nodes = self.below("/sys/devices/system/node/node");
        nodes
            .filter_map(|(rest, cores)| {
                Some((
                    rest.strip_suffix("/cpulist")?.parse().ok()?,
                    core_list(cores),
                ))
            })
            .collect()
    }

    /// Returns the numbers of the NUMA nodes that these cores are on.
    pub(crate) fn nodes_of(&self, cores: &[u32]) -> BTreeSet<u32> {
        let nodes = self.nodes();
        nodes
            .iter()
            .filter(|(_, own)| own.iter().any(|core| cores.contains(core)))
            .map(|(number, _)| *number)
            .collect()
    }

    /// Returns true if the machine is virtual, so that a host may take time from it, or `None` if its processor does not report it.
    pub(crate) fn is_virtual(&self) -> Option<bool> {
        let flags = self.field("/proc/cpuinfo", "flags\t\t: ")?;
        Some(flags.split_whitespace().any(|flag| flag == "hypervisor"))
    }

    /// Returns the name by which the host of a virtual machine identifies itself.
    pub(crate) fn hypervisor(&self) -> Option<String> {
        let vendor = || {
            let names = ["sys_vendor", "product_name"]
                .map(|file| self.line(&format!("/sys/class/dmi/id/{file}")));
            let names: Vec<&str> = names.into_iter().flatten().collect();
            (!names.is_empty()).then(|| names.join(" "))
        };
        self.is_virtual()?
            .then(|| {
                self.line("/sys/hypervisor/type")
                    .map(str::to_owned)
                    .or_else(vendor)
            })
            .flatten()
    }
}
