//! The facts about an interface on the path of test traffic: its hardware, where its interrupts go, and what it does to frames by itself.

use super::Machine;
use std::collections::BTreeMap;

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
        let hashes = ["udp4", "udp6"].map(|flow| {
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
        let all = hardware.chain(of_kernel).chain(hashes);
        all.filter_map(|(name, fact)| Some((format!("{interface}: {name}"), fact?)))
            .collect()
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
        let ring = |name: &'static str| {
            let mut sizes = printed.iter().filter_map(|line| {
                line.strip_prefix(name)?
                    .strip_prefix(':')?
                    .trim()
                    .parse()
                    .ok()
            });
            let (most, now) = (sizes.next()?, sizes.next()?);
            Some(Ring { name, now, most })
        };
        ["RX", "TX"].into_iter().filter_map(ring).collect()
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
        let offload = |(name, state): (&str, &str)| Offload {
            name: name.to_owned(),
            is_on: state.starts_with("on"),
            is_fixed: state.ends_with("[fixed]"),
        };
        parted.map(offload).collect()
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
