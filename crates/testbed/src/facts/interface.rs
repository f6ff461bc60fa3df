//! The facts about an interface on the path of test traffic: its hardware, where its interrupts go, and what it does to frames by itself.

use super::{Machine, ranges};
use crate::exec::core_list;
use std::collections::{BTreeMap, BTreeSet};

/// Facts about hardware: name, and file below the interface's directory. On a virtual interface, these files exist but mean nothing.
const HARDWARE: [(&str, &str); 6] = [
    ("driver", "device/driver"),
    ("vendor", "device/vendor"),
    ("device", "device/device"),
    ("speed in Mbit/s", "speed"),
    ("MTU", "mtu"),
    ("NUMA node", "device/numa_node"),
];

/// The fields that the hash of received frames may include, as `ethtool -n` prints them, with the letters for `ethtool -N`.
const HASH_FIELDS: [(&str, char); 7] = [
    ("L2DA", 'm'),
    ("VLAN tag", 'v'),
    ("L3 proto", 't'),
    ("IP SA", 's'),
    ("IP DA", 'd'),
    ("L4 bytes 0 & 1", 'f'),
    ("L4 bytes 2 & 3", 'n'),
];

/// The kinds of UDP for which a driver has hash fields.
pub(crate) const UDP_FLOWS: [&str; 2] = ["udp4", "udp6"];

/// The settings of flow control as `ethtool -a` prints them, with their words for `ethtool -A`.
pub(crate) const FLOW_CONTROL: [(&str, &str); 3] =
    [("Autonegotiate", "autoneg"), ("RX", "rx"), ("TX", "tx")];

/// A fact that only hardware has.
const FIRMWARE: &str = "firmware";

/// The queues that send and receive, in the word of `ethtool -L`.
pub(crate) const COMBINED: &str = "combined";

/// The settings of `ethtool -c` on which the delay of a frame depends.
const COALESCING: [&str; 4] = ["rx-usecs", "rx-frames", "tx-usecs", "tx-frames"];

impl Machine {
    /// Returns the facts about an interface by name. Those about its hardware are left out if it has none.
    pub(crate) fn interface_facts(&self, interface: &str) -> BTreeMap<String, String> {
        let file = |file: &str| format!("/sys/class/net/{interface}/{file}");
        let has_hardware = self.line(&file("device/driver")).is_some();
        let hardware = HARDWARE.iter().map(|(name, path)| {
            let known = self
                .line(&file(path))
                .filter(|value| has_hardware && *value != "-1");
            ((*name).to_owned(), known.map(str::to_owned))
        });
        let interrupts = self.lines(&file("interrupts"));
        let interrupts = (!interrupts.is_empty()).then(|| interrupts.join("; "));
        let hashes = UDP_FLOWS.map(|flow| {
            (
                format!("RSS hash fields of {flow}"),
                self.hash_fields(interface, flow),
            )
        });
        let of_kernel = [
            ("cores of its interrupts".to_owned(), interrupts),
            ("ring sizes".to_owned(), self.ring_sizes(interface)),
            ("offloads".to_owned(), self.offloads_on(interface)),
        ];
        let by_itself = self.of_driver(interface).into_iter();
        let by_itself = by_itself
            .filter(|(name, _)| *name != FIRMWARE || has_hardware)
            .map(|(name, fact)| (name.to_owned(), fact));
        let all = hardware.chain(of_kernel).chain(hashes).chain(by_itself);
        all.filter_map(|(name, fact)| Some((format!("{interface}: {name}"), fact?)))
            .collect()
    }

    /// Returns what the driver and the card do by themselves.
    fn of_driver(&self, interface: &str) -> [(&'static str, Option<String>); 6] {
        let delays = self.printed(&format!("ethtool -c {interface}"), &COALESCING);
        let coalescing = self
            .adaptive_coalescing(interface)
            .into_iter()
            .chain(delays);
        let coalescing = coalescing.collect::<Vec<_>>().join(", ");
        let sleep = self.printed(&format!("ethtool --show-eee {interface}"), &["EEE status"]);
        let firmware = self.printed(&format!("ethtool -i {interface}"), &["firmware-version"]);
        [
            ("flow control", self.flow_control_in_words(interface)),
            ("queues", self.queues_in_words(interface)),
            ("RSS table", self.rss_table(interface)),
            (
                "interrupt coalescing",
                (!coalescing.is_empty()).then_some(coalescing),
            ),
            ("Energy-Efficient Ethernet", sleep),
            (FIRMWARE, firmware),
        ]
    }

    /// Returns the numbers of an interface's interrupts, ascending.
    pub(crate) fn interrupts_of(&self, interface: &str) -> Vec<u32> {
        let directory = format!("/sys/class/net/{interface}/irq/");
        let mut numbers: Vec<u32> = self
            .below(&directory)
            .filter_map(|(number, _)| number.parse().ok())
            .collect();
        numbers.sort_unstable();
        numbers
    }

    /// Returns the directory of the device that has an interface's interrupts, below `/sys/devices`; `None` if it has none.
    pub(crate) fn device_with_interrupts(&self, interface: &str) -> Option<&str> {
        self.line(&format!("/sys/class/net/{interface}/irq_device"))
    }

    /// Returns the cores by which an interface's interrupts may be served, ascending.
    pub(crate) fn cores_of_interrupts(&self, interface: &str) -> Vec<u32> {
        let lists = self.lines(&format!("/sys/class/net/{interface}/interrupts"));
        let cores = lists.iter().flat_map(|list| core_list(list));
        cores.collect::<BTreeSet<u32>>().into_iter().collect()
    }

    /// Returns whether the link of an interface sleeps between frames (IEEE 802.3az).
    pub(crate) fn sleeps(&self, interface: &str) -> bool {
        let command = format!("ethtool --show-eee {interface}");
        self.printed(&command, &["EEE status"])
            .is_some_and(|status| status.starts_with("enabled"))
    }

    /// Returns the cores of the NUMA node of an interface; none if it is unknown.
    pub(crate) fn node_of_interface(&self, interface: &str) -> Vec<u32> {
        self.line(&format!("/sys/class/net/{interface}/device/numa_node"))
            .and_then(|node| node.parse().ok())
            .and_then(|node: u32| self.nodes().remove(&node))
            .unwrap_or_default()
    }

    /// Returns the settings of flow control from `ethtool -a`, by their words for `ethtool -A`. An interface without it has none.
    pub(crate) fn flow_control(&self, interface: &str) -> Vec<(&'static str, String)> {
        let command = format!("ethtool -a {interface}");
        FLOW_CONTROL
            .iter()
            .filter_map(|(printed, name)| {
                let value = self.field(&command, &format!("{printed}:"))?;
                ["on", "off"]
                    .contains(&value)
                    .then(|| (*name, value.to_owned()))
            })
            .collect()
    }

    fn flow_control_in_words(&self, interface: &str) -> Option<String> {
        let settings = self.flow_control(interface).into_iter();
        let words: Vec<String> = settings
            .map(|(name, value)| format!("{name} {value}"))
            .collect();
        (!words.is_empty()).then(|| words.join(", "))
    }

    /// Returns the numbers of queues in use by kind, such as `combined`, from `ethtool -l`, which prints the largest numbers first.
    fn queues(&self, interface: &str) -> Vec<(String, u32)> {
        let printed = self.lines(&format!("ethtool -l {interface}"));
        let now = printed
            .iter()
            .skip_while(|line| !line.starts_with("Current"))
            .skip(1);
        now.filter_map(|line| {
            let (name, number) = line.split_once(':')?;
            let number: u32 = number.trim().parse().ok()?;
            (number > 0).then(|| (name.to_lowercase(), number))
        })
        .collect()
    }

    fn queues_in_words(&self, interface: &str) -> Option<String> {
        let words: Vec<String> = self
            .queues(interface)
            .into_iter()
            .map(|(name, number)| format!("{name} {number}"))
            .collect();
        (!words.is_empty()).then(|| words.join(", "))
    }

    /// Returns the number of queues that both send and receive; `None` of an interface that has no such queues, or does not tell.
    pub(crate) fn combined_queues(&self, interface: &str) -> Option<u32> {
        let mut queues = self.queues(interface).into_iter();
        queues.find_map(|(name, number)| (name == COMBINED).then_some(number))
    }

    /// Returns what a command printed after these names and a colon: only the value of a single name.
    fn printed(&self, command: &str, names: &[&str]) -> Option<String> {
        let values: Vec<String> = names
            .iter()
            .filter_map(|name| {
                let value = self
                    .lines(command)
                    .iter()
                    .find_map(|line| line.trim_start().strip_prefix(name)?.strip_prefix(':'));
                let value = value?.trim();
                let is_known = !value.is_empty() && value != "n/a";
                is_known.then(|| match names {
                    [_] => value.to_owned(),
                    _ => format!("{name} {value}"),
                })
            })
            .collect();
        (!values.is_empty()).then(|| values.join(", "))
    }

    /// Returns whether a driver adapts the delays of its interrupts to the load, of received (`rx`) and sent frames (`tx`); none where it does not tell.
    fn adaptive(&self, interface: &str) -> Vec<(&'static str, bool)> {
        let printed = self.field(&format!("ethtool -c {interface}"), "Adaptive RX:");
        let states = printed.and_then(|printed| printed.split_once("TX:"));
        let ways = states.map(|(rx, tx)| [("rx", rx.trim()), ("tx", tx.trim())]);
        let told = ways.into_iter().flatten();
        told.filter(|(_, state)| ["on", "off"].contains(state))
            .map(|(way, state)| (way, state == "on"))
            .collect()
    }

    /// Returns the ways in which a driver adapts the delays of its interrupts to the load, as in `adaptive rx`: such delays are not those of its settings.
    fn adaptive_coalescing(&self, interface: &str) -> Option<String> {
        let ways = self.adaptive(interface).into_iter();
        let on: Vec<&str> = ways
            .filter(|(_, is_on)| *is_on)
            .map(|(way, _)| way)
            .collect();
        (!on.is_empty()).then(|| format!("adaptive {}", on.join(" and ")))
    }

    /// Returns the settings of interrupt coalescing that can be set, by their words for `ethtool -C`.
    pub(crate) fn coalescing(&self, interface: &str) -> Vec<(String, String)> {
        let command = format!("ethtool -c {interface}");
        let adaptive = self.adaptive(interface).into_iter();
        let adaptive = adaptive.map(|(way, is_on)| {
            let state = if is_on { "on" } else { "off" };
            (format!("adaptive-{way}"), state.to_owned())
        });
        let delays = ["rx-usecs", "tx-usecs"].into_iter();
        let delays =
            delays.filter_map(|name| Some((name.to_owned(), self.printed(&command, &[name])?)));
        adaptive.chain(delays).collect()
    }

    /// Returns the queues among which received frames are spread by their hash, from `ethtool -x`: `128 entries, of queues 0-3`.
    fn rss_table(&self, interface: &str) -> Option<String> {
        let queues = self.rss_queues(interface);
        let used: BTreeSet<u32> = queues.iter().copied().collect();
        let used: Vec<u32> = used.into_iter().collect();
        (!used.is_empty()).then(|| format!("{} entries, of queues {}", queues.len(), ranges(&used)))
    }

    /// Returns the queue of each entry of the table. Each line of it has the number of its first entry and then the queues of some entries.
    fn rss_queues(&self, interface: &str) -> Vec<u32> {
        let printed = self.lines(&format!("ethtool -x {interface}")).iter();
        let table = printed
            .skip(1)
            .map_while(|line| line.split_once(':'))
            .take_while(|(entry, _)| entry.trim().parse::<u32>().is_ok());
        table
            .flat_map(|(_, queues)| queues.split_whitespace())
            .filter_map(|queue| queue.parse().ok())
            .collect()
    }

    /// Returns the kinds of UDP, `udp4` and `udp6`, whose frames an interface with several queues spreads by their addresses alone: frames that differ in their
    /// ports have all the same queue. (Drivers of Intel begin so, since fragments have no ports.)
    pub(crate) fn spread_by_addresses(&self, interface: &str) -> Vec<&'static str> {
        let queues: BTreeSet<u32> = self.rss_queues(interface).into_iter().collect();
        if queues.len() < 2 {
            return Vec::new();
        }
        let flows = UDP_FLOWS.into_iter().filter(|flow| {
            self.hash_fields(interface, flow)
                .is_some_and(|fields| fields != "none" && !fields.contains(['f', 'n']))
        });
        flows.collect()
    }

    fn ring_sizes(&self, interface: &str) -> Option<String> {
        let sizes = self
            .rings(interface)
            .into_iter()
            .map(|Ring { name, now, most }| format!("{name} {now} of {most}"));
        Some(sizes.collect::<Vec<_>>().join(", ")).filter(|sizes| !sizes.is_empty())
    }

    fn offloads_on(&self, interface: &str) -> Option<String> {
        let all = self.offloads(interface);
        let on: Vec<&str> = all
            .iter()
            .filter(|offload| offload.is_on)
            .map(|offload| offload.name.as_str())
            .collect();
        let text = if on.is_empty() {
            "none".to_owned()
        } else {
            on.join(", ")
        };
        (!all.is_empty()).then_some(text)
    }

    /// Returns the fields of the hash that selects the queue of a received frame, as letters for `ethtool -N`.
    pub(crate) fn hash_fields(&self, interface: &str, flow: &str) -> Option<String> {
        let printed = self.lines(&format!("ethtool -n {interface} rx-flow-hash {flow}"));
        let fields: String = HASH_FIELDS
            .iter()
            .filter(|(name, _)| printed.iter().any(|line| line.starts_with(name)))
            .map(|(_, letter)| letter)
            .collect();
        match (printed.is_empty(), fields.is_empty()) {
            (true, _) => None,
            (false, true) => Some("none".to_owned()),
            (false, false) => Some(fields),
        }
    }

    /// Returns the receive and transmit rings from `ethtool -g`, which prints the largest sizes first.
    pub(crate) fn rings(&self, interface: &str) -> Vec<Ring> {
        let printed = self.lines(&format!("ethtool -g {interface}"));
        ["RX", "TX"]
            .into_iter()
            .filter_map(|name| {
                let mut sizes = printed.iter().filter_map(|line| {
                    line.strip_prefix(name)?
                        .strip_prefix(':')?
                        .trim()
                        .parse()
                        .ok()
                });
                let (most, now) = (sizes.next()?, sizes.next()?);
                Some(Ring { name, now, most })
            })
            .collect()
    }

    /// Returns the offloads from `ethtool -k`, without those that summarise the indented ones below them.
    pub(crate) fn offloads(&self, interface: &str) -> Vec<Offload> {
        let printed = self.lines(&format!("ethtool -k {interface}"));
        let is_sum = |line: usize| {
            printed
                .get(line + 1)
                .is_some_and(|next| next.starts_with('\t'))
                && !printed[line].starts_with('\t')
        };
        let lines = printed
            .iter()
            .enumerate()
            .filter(|(number, _)| !is_sum(*number));
        let parted = lines.filter_map(|(_, line)| line.trim().split_once(": "));
        parted
            .map(|(name, state)| Offload {
                name: name.to_owned(),
                is_on: state.starts_with("on"),
                is_fixed: state.ends_with("[fixed]"),
            })
            .collect()
    }
}

/// A ring of descriptors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ring {
    /// `RX` or `TX`.
    pub(crate) name: &'static str,
    /// The number of frames that it holds.
    pub(crate) now: u32,
    /// The largest number of frames that it could hold.
    pub(crate) most: u32,
}

/// A task that an interface or its driver may perform on frames instead of the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Offload {
    pub(crate) name: String,
    pub(crate) is_on: bool,
    /// True if it cannot be changed.
    pub(crate) is_fixed: bool,
}
