//! The address of a port: a PCI device or a virtual one, in DPDK's notation, with its arguments.

use super::error::DpdkError;

/// The kind of device behind a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum DeviceKind {
    /// A NIC, by its address with the domain: `0000:3b:00.0`.
    Pci(String),
    /// A device without hardware, by its name: `net_memif0`.
    Virtual(String),
}

/// An address, as it follows `dpdk:`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DeviceAddress {
    pub(super) kind: DeviceKind,
    /// Its name and its arguments, separated by commas.
    pub(super) devargs: String,
}

/// Drivers of virtual devices whose ring is the receive queue of the program at the other end, or that have no other end. The queue of any other
/// device is one of ours, in front of a medium that takes frames at its own rate.
const DIRECT: [&str; 6] = [
    "net_memif",
    "net_vhost",
    "eth_vhost",
    "net_virtio_user",
    "net_ring",
    "net_null",
];
/// Drivers that use kernel interfaces, and do not control their settings.
const ON_INTERFACES: [&str; 3] = ["net_af_packet", "net_af_xdp", "net_pcap"];

impl DeviceAddress {
    /// Parses `DDDD:BB:DD.F`, `BB:DD.F` or the name of a virtual device, optionally followed by arguments for its driver.
    pub(super) fn parse(text: &str) -> Result<Self, DpdkError> {
        let (name, arguments) = text
            .split_once(',')
            .map_or((text, None), |(name, arguments)| (name, Some(arguments)));
        if text.contains(|c: char| c.is_whitespace() || c.is_control()) {
            return Err(DpdkError::Address(format!("{text:?} has a blank")));
        }
        let kind = match pci_address(name) {
            Some(address) => DeviceKind::Pci(address),
            None if is_virtual(name) => DeviceKind::Virtual(name.to_owned()),
            None => return Err(DpdkError::Address(format!("{name:?} is no device"))),
        };
        let name = match &kind {
            DeviceKind::Pci(name) | DeviceKind::Virtual(name) => name,
        };
        let devargs =
            arguments.map_or_else(|| name.clone(), |arguments| format!("{name},{arguments}"));
        Ok(Self { kind, devargs })
    }

    /// Returns whether a full ring for sending is the full receive queue of the DUT.
    pub(super) fn full_is_dut(&self) -> bool {
        self.has_driver(&DIRECT)
    }

    /// Returns whether it uses a kernel interface.
    pub(super) fn is_on_interface(&self) -> bool {
        self.has_driver(&ON_INTERFACES)
    }

    /// Returns the name of the kernel interface that it uses.
    pub(super) fn interface(&self) -> Option<&str> {
        let arguments = self.is_on_interface().then_some(&self.devargs)?;
        arguments
            .split(',')
            .find_map(|argument| argument.strip_prefix("iface="))
    }

    fn has_driver(&self, drivers: &[&str]) -> bool {
        let DeviceKind::Virtual(name) = &self.kind else {
            return false;
        };
        drivers.iter().any(|driver| name.starts_with(driver))
    }
}

/// Returns the address of a PCI device with its domain, in lower case; `None` if the text is not an address.
fn pci_address(text: &str) -> Option<String> {
    let parts: Vec<&str> = text.split(':').collect();
    let (domain, bus, rest) = match parts[..] {
        [bus, rest] => ("0000", bus, rest),
        [domain, bus, rest] => (domain, bus, rest),
        _ => return None,
    };
    let (device, function) = rest.split_once('.')?;
    let is_good = is_hex(domain, 4) && is_hex(bus, 2) && is_hex(device, 2) && is_hex(function, 1);
    is_good.then(|| format!("{domain}:{bus}:{device}.{function}").to_ascii_lowercase())
}

fn is_hex(text: &str, digits: usize) -> bool {
    text.len() == digits && text.chars().all(|c| c.is_ascii_hexdigit())
}

/// Returns whether this can be the name of a virtual device. DPDK finds its driver by the letters before the number.
fn is_virtual(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.contains('_')
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> DeviceAddress {
        DeviceAddress::parse(text).expect("an address")
    }

    #[test]
    fn a_nic_is_named_with_or_without_its_domain() {
        let nic = DeviceAddress {
            kind: DeviceKind::Pci("0000:3b:00.1".to_owned()),
            devargs: "0000:3b:00.1".to_owned(),
        };
        assert_eq!(parsed("0000:3b:00.1"), nic);
        assert_eq!(parsed("3B:00.1"), nic);
        assert_eq!(
            parsed("3b:00.1,representor=0").devargs,
            "0000:3b:00.1,representor=0"
        );
        assert!(!nic.full_is_dut() && !nic.is_on_interface());
    }

    #[test]
    fn a_virtual_device_keeps_its_arguments() {
        let memif = parsed("net_memif0,role=client,socket=/tmp/a:b.sock");
        assert_eq!(memif.kind, DeviceKind::Virtual("net_memif0".to_owned()));
        assert_eq!(memif.devargs, "net_memif0,role=client,socket=/tmp/a:b.sock");
        assert!(memif.full_is_dut() && !memif.is_on_interface());
        let packet = parsed("net_af_packet1,iface=e0");
        assert!(!packet.full_is_dut() && packet.is_on_interface());
        assert_eq!((packet.interface(), memif.interface()), (Some("e0"), None));
    }

    #[test]
    fn what_is_no_device_is_refused() {
        for text in [
            "",
            ",",
            "eth0",
            "0000:3b:00",
            "0:3b:00.0",
            "0000:3b:00.g",
            "0000:0000:3b:00.0",
            "Net_null0",
            "net_ null",
        ] {
            let error = DeviceAddress::parse(text)
                .expect_err("no address")
                .to_string();
            assert!(
                error.contains("expected a PCI device as in 0000:3b:00.0, or a virtual device"),
                "{error}"
            );
        }
    }
}
