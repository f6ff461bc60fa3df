//! Facts of an interface that test traffic passes: what it is, where its interrupts go, what it does on its own with frames.

use super::Machine;
use std::collections::BTreeMap;

/// Facts of hardware: name, file below the directory of the interface. A virtual interface has them too, and they mean nothing there.
const HARDWARE: [(&str, &str); 6] = [
    ("driver", "device/driver"),
    ("vendor", "device/vendor"),
    ("device", "device/device"),
    ("speed in Mbit/s", "speed"),
    ("MTU", "mtu"),
    ("NUMA node", "device/numa_node"),
];

/// What a hash of received frames may be made of, as `ethtool -n` prints it, and the letter by which `ethtool -N` takes it.
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
    /// Returns the facts of an interface by name. Those of its hardware are left out where it has none.
    pub(crate) fn interface_facts(&self, interface: &str) -> BTreeMap<String, String> {
        let file = |file: &str| format!("/sys/class/net/{interface}/{file}");
        let has_hardware = self.line(&file("device/driver")).is_some();
        let hardware = HARDWARE.iter().map(|(name, path)| {
            let known = self.line(&file(path)).filter(|value| has_hardware && *value != "-1");
            ((*name).to_owned(), known.map(str::to_owned))
        });
        let interrupts = self.lines(&file("interrupts"));
        let interrupts = (!interrupts.is_empty()).then(|| interrupts.join("; "));
        let hashes = ["udp4", "udp6"].map(|flow| (format!("RSS hash fields of {flow}"), self.hash_fields(interface, flow)));
        let of_kernel = [
            ("cores of its interrupts".to_owned(), interrupts),
            ("ring sizes".to_owned(), self.ring_sizes(interface)),
            ("offloads".to_owned(), self.offloads_on(interface)),
        ];
        let all = hardware.chain(of_kernel).chain(hashes);
        all.filter_map(|(name, fact)| Some((format!("{interface}: {name}"), fact?))).collect()
    }

    fn ring_sizes(&self, interface: &str) -> Option<String> {
        let sizes = self.rings(interface).into_iter().map(|Ring { name, now, most }| format!("{name} {now} of {most}"));
        Some(sizes.collect::<Vec<_>>().join(", ")).filter(|sizes| !sizes.is_empty())
    }

    fn offloads_on(&self, interface: &str) -> Option<String> {
        let all = self.offloads(interface);
        let on: Vec<&str> = all.iter().filter(|offload| offload.is_on).map(|offload| offload.name.as_str()).collect();
        let text = if on.is_empty() { "none".to_owned() } else { on.join(", ") };
        (!all.is_empty()).then_some(text)
    }

    /// Returns what the hash that chooses the queue of a received frame is made of, in the letters of `ethtool -N`.
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

    /// Returns the rings of received frames and of those to be sent, by `ethtool -g`, which prints the largest sizes first.
    pub(crate) fn rings(&self, interface: &str) -> Vec<Ring> {
        let printed = self.lines(&format!("ethtool -g {interface}"));
        let ring = |name: &'static str| {
            let mut sizes = printed.iter().filter_map(|line| line.strip_prefix(name)?.strip_prefix(':')?.trim().parse().ok());
            let (most, now) = (sizes.next()?, sizes.next()?);
            Some(Ring { name, now, most })
        };
        ["RX", "TX"].into_iter().filter_map(ring).collect()
    }

    /// Returns the offloads by `ethtool -k`, without those that sum up the indented ones below them.
    pub(crate) fn offloads(&self, interface: &str) -> Vec<Offload> {
        let printed = self.lines(&format!("ethtool -k {interface}"));
        let is_sum =
            |line: usize| printed.get(line + 1).is_some_and(|next| next.starts_with('\t')) && !printed[line].starts_with('\t');
        let lines = printed.iter().enumerate().filter(|(number, _)| !is_sum(*number));
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
    /// The frames that it holds.
    pub(crate) now: u32,
    /// The frames that it could hold.
    pub(crate) most: u32,
}

/// Work on frames that an interface or its driver may do in the kernel's place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Offload {
    pub(crate) name: String,
    pub(crate) is_on: bool,
    /// True if it cannot be changed.
    pub(crate) is_fixed: bool,
}
