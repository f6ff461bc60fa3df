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
    pub(super) fn interface_facts(&self, interface: &str) -> BTreeMap<String, String> {
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
            ("ring sizes".to_owned(), self.rings(interface)),
            ("offloads".to_owned(), self.offloads(interface)),
        ];
        let all = hardware.chain(of_kernel).chain(hashes);
        all.filter_map(|(name, fact)| Some((format!("{interface}: {name}"), fact?))).collect()
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

    /// Returns the frames that each ring holds and could hold.
    fn rings(&self, interface: &str) -> Option<String> {
        let printed = self.lines(&format!("ethtool -g {interface}"));
        let ring = |name: &str| {
            let mut sizes =
                printed.iter().filter_map(|line| line.strip_prefix(name)?.strip_prefix(':')?.trim().parse::<u32>().ok());
            let (most, now) = (sizes.next()?, sizes.next()?);
            Some(format!("{name} {now} of {most}"))
        };
        let rings: Vec<String> = ["RX", "TX"].into_iter().filter_map(ring).collect();
        (!rings.is_empty()).then(|| rings.join(", "))
    }

    /// Returns the names of the offloads that are on, by `ethtool -k`.
    fn offloads(&self, interface: &str) -> Option<String> {
        let printed = self.lines(&format!("ethtool -k {interface}"));
        let is_on = |line: &&str| line.split_once(": ").is_some_and(|(_, state)| state.starts_with("on"));
        let lines = printed.iter().map(|line| line.trim());
        let on: Vec<&str> = lines.filter(is_on).filter_map(|line| Some(line.split_once(':')?.0)).collect();
        match (printed.is_empty(), on.is_empty()) {
            (true, _) => None,
            (false, true) => Some("none".to_owned()),
            (false, false) => Some(on.join(", ")),
        }
    }
}
