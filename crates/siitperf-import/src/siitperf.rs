//! A siitperf configuration as typed values. Defaults and limits are siitperf's own.

use super::findings::ImportFindings;
use super::options::Options;
use super::setting::{Misread, Reader, Setting, address_part, mac};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ops::RangeInclusive;
use std::sync::LazyLock;

pub(super) struct Config {
    pub(super) left: SideSettings,
    pub(super) right: SideSettings,
    pub(super) forward: SenderSettings,
    pub(super) reverse: SenderSettings,
    /// 0 stateless, 1 Initiator on the left, 2 on the right.
    pub(super) stateful: Setting<u32>,
    pub(super) enumerate_ports: Setting<u32>,
    pub(super) enumerate_ips: Setting<u32>,
    pub(super) responder_tuples: Setting<u32>,
    pub(super) macs: Vec<Setting<String>>,
    pub(super) promisc: Option<Setting<u32>>,
    pub(super) memory_channels: Option<Setting<u32>>,
    misread: Vec<String>,
}

pub(super) struct SideSettings {
    /// `L` or `R`, as in the keys.
    pub(super) letter: char,
    /// The IP version of the foreground frames that this side sends, 4 or 6.
    pub(super) version: Setting<u32>,
    ipv4: SideAddresses,
    ipv6: SideAddresses,
    /// The number of destination networks on this side.
    pub(super) networks: Setting<u32>,
    pub(super) part: AddressPartSettings,
}

pub(super) struct SideAddresses {
    pub(super) real: Option<Setting<IpAddr>>,
    /// The address that represents the tester's address in the other IP version.
    pub(super) virt: Option<Setting<IpAddr>>,
}

pub(super) struct AddressPartSettings {
    /// 0 fixed, 1 increasing, 2 decreasing, 3 pseudorandom.
    pub(super) vary: Setting<u32>,
    pub(super) min: Option<Setting<u32>>,
    pub(super) max: Option<Setting<u32>>,
    pub(super) ipv4_offset: Option<Setting<u32>>,
    pub(super) ipv6_offset: Option<Setting<u32>>,
}

impl AddressPartSettings {
    /// Returns the octet at which the variable part begins in addresses of a version. For IPv4 only 2 is possible, and siitperf's paper leaves the key
    /// out.
    pub(super) fn offset(&self, is_ipv4: bool) -> Option<u32> {
        let given = if is_ipv4 {
            &self.ipv4_offset
        } else {
            &self.ipv6_offset
        };
        given
            .as_ref()
            .map(|offset| offset.value)
            .or(is_ipv4.then_some(2))
    }
}

pub(super) struct SenderSettings {
    /// 1 if frames are sent in this direction, else 0.
    pub(super) active: Setting<u32>,
    pub(super) source: PortSettings,
    pub(super) destination: PortSettings,
    pub(super) cores: Vec<Setting<u32>>,
}

pub(super) struct PortSettings {
    /// 0 fixed, 1 increasing, 2 decreasing, 3 pseudorandom.
    pub(super) vary: Setting<u32>,
    pub(super) min: Setting<u32>,
    pub(super) max: Setting<u32>,
}

/// Every key that siitperf knows, collected from what the reader asks for.
pub(super) static KEYS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let mut findings = ImportFindings::default();
    let mut reader = Reader::new(&[], 0, &mut findings);
    Config::read(&mut reader);
    reader.asked()
});

impl Config {
    pub(super) fn read(reader: &mut Reader<'_, '_>) -> Self {
        let macs = ["MAC-L-Tester", "MAC-R-Tester", "MAC-L-DUT", "MAC-R-DUT"];
        let mut config = Self {
            left: SideSettings::read(reader, 'L', 6),
            right: SideSettings::read(reader, 'R', 4),
            forward: SenderSettings::read(reader, "Forward", "Fwd", ["CPU-L-Send", "CPU-R-Recv"]),
            reverse: SenderSettings::read(reader, "Reverse", "Rev", ["CPU-R-Send", "CPU-L-Recv"]),
            stateful: reader.number("Stateful".to_owned(), 0..=2, 0),
            enumerate_ports: reader.number("Enumerate-ports".to_owned(), 0..=3, 0),
            enumerate_ips: reader.number("Enumerate-ips".to_owned(), 0..=3, 0),
            responder_tuples: reader.number("Responder-tuples".to_owned(), 0..=3, 0),
            macs: macs
                .iter()
                .filter_map(|key| reader.optional((*key).to_owned(), mac))
                .collect(),
            promisc: reader.optional_number("Promisc".to_owned(), 0..=1),
            memory_channels: reader.optional_number("MEM-Channels".to_owned(), 1..=255),
            misread: Vec::new(),
        };
        config.misread = reader.misread().to_vec();
        config
    }

    pub(super) fn sides(&self) -> [&SideSettings; 2] {
        [&self.left, &self.right]
    }

    pub(super) fn other(&self, side: &SideSettings) -> &SideSettings {
        if side.letter == 'L' {
            &self.right
        } else {
            &self.left
        }
    }

    pub(super) fn directions(&self) -> [&SenderSettings; 2] {
        [&self.forward, &self.reverse]
    }

    /// Returns whether frames are sent in this direction. In a test of phase 1 alone no direction is active, and the plan has both.
    pub(super) fn is_used(&self, direction: &SenderSettings) -> bool {
        direction.active.value == 1
            || self
                .directions()
                .iter()
                .all(|direction| direction.active.value == 0)
    }

    pub(super) fn translates(&self) -> bool {
        self.left.version.value != self.right.version.value
    }

    /// Returns whether there are background frames that differ from the foreground ones: native IPv6 alongside IPv4 or translated frames.
    pub(super) fn has_background(&self, options: &Options) -> bool {
        options.has_background() && self.sides().iter().any(|side| side.version.value == 4)
    }

    /// Returns the roles in a stateful test: the side of the Initiator, the side of the Responder, and the direction in which connections are opened.
    /// `None` for a stateless test.
    pub(super) fn roles(&self) -> Option<(&SideSettings, &SideSettings, &SenderSettings)> {
        match self.stateful.value {
            1 => Some((&self.left, &self.right, &self.forward)),
            2 => Some((&self.right, &self.left, &self.reverse)),
            _ => None,
        }
    }

    pub(super) fn is_initiator(&self, side: &SideSettings) -> bool {
        self.roles()
            .is_some_and(|(initiator, ..)| initiator.letter == side.letter)
    }

    /// Returns whether only phase 1 is sent; the measure is then the connection establishment rate.
    pub(super) fn is_phase_1_alone(&self) -> bool {
        self.roles().is_some()
            && self
                .directions()
                .iter()
                .all(|direction| direction.active.value == 0)
    }

    /// Returns whether the sender chooses the ports in this direction. A Responder takes them from its state table.
    pub(super) fn has_own_ports(&self, direction: &SenderSettings) -> bool {
        match self.roles() {
            Some((_, _, opens)) => opens.active.key == direction.active.key,
            None => self.is_used(direction),
        }
    }

    /// Returns whether the key is given with an invalid value.
    pub(super) fn is_misread(&self, key: &str) -> bool {
        self.misread.iter().any(|misread| misread == key)
    }
}

impl SideSettings {
    fn read(reader: &mut Reader<'_, '_>, letter: char, version: u32) -> Self {
        Self {
            letter,
            version: reader
                .optional(format!("IP-{letter}-Vers"), ip_version)
                .unwrap_or_else(|| reader.default(format!("IP-{letter}-Vers"), version)),
            ipv4: SideAddresses::read::<Ipv4Addr>(reader, 4, letter),
            ipv6: SideAddresses::read::<Ipv6Addr>(reader, 6, letter),
            networks: reader.number(format!("Num-{letter}-Nets"), 1..=256, 1),
            part: AddressPartSettings {
                vary: reader.number(format!("IP-{letter}-var"), 0..=3, 0),
                min: reader.optional(format!("IP-{letter}-min"), address_part),
                max: reader.optional(format!("IP-{letter}-max"), address_part),
                ipv4_offset: reader.optional_number(format!("IPv4-{letter}-offset"), 1..=2),
                ipv6_offset: reader.optional_number(format!("IPv6-{letter}-offset"), 6..=14),
            },
        }
    }

    pub(super) fn addresses(&self, version: u32) -> &SideAddresses {
        if version == 4 { &self.ipv4 } else { &self.ipv6 }
    }

    pub(super) fn name(&self) -> &'static str {
        if self.letter == 'L' { "left" } else { "right" }
    }
}

fn ip_version(text: &str) -> Result<u32, Misread> {
    let version = text.parse().ok().filter(|version| matches!(version, 4 | 6));
    version.ok_or(Misread::IpVersion)
}

impl SideAddresses {
    fn read<A: std::str::FromStr + Into<IpAddr>>(
        reader: &mut Reader<'_, '_>,
        version: u32,
        letter: char,
    ) -> Self {
        Self {
            real: reader.address::<A>(format!("IPv{version}-{letter}-Real")),
            virt: reader.address::<A>(format!("IPv{version}-{letter}-Virt")),
        }
    }
}

/// Returns the address, unless it is `::` or `0.0.0.0`, which siitperf's users write to mean that there is none.
pub(super) fn specified(setting: &Option<Setting<IpAddr>>) -> Option<IpAddr> {
    setting
        .as_ref()
        .map(|setting| setting.value)
        .filter(|address| !address.is_unspecified())
}

impl SenderSettings {
    fn read(reader: &mut Reader<'_, '_>, name: &str, short: &str, cores: [&str; 2]) -> Self {
        Self {
            active: reader.number(name.to_owned(), 0..=1, 1),
            // The ranges of RFC 4814 section 4.5.
            source: PortSettings::read(reader, short, "sport", 1024..=65535),
            destination: PortSettings::read(reader, short, "dport", 1..=49151),
            cores: cores
                .iter()
                .filter_map(|key| reader.optional_number((*key).to_owned(), 0..=1023))
                .collect(),
        }
    }
}

impl PortSettings {
    fn read(
        reader: &mut Reader<'_, '_>,
        direction: &str,
        which: &str,
        usual: RangeInclusive<u32>,
    ) -> Self {
        let all = 0..=u32::from(u16::MAX);
        Self {
            vary: reader.number(format!("{direction}-var-{which}"), 0..=3, 0),
            min: reader.number(
                format!("{direction}-{which}-min"),
                all.clone(),
                *usual.start(),
            ),
            max: reader.number(format!("{direction}-{which}-max"), all, *usual.end()),
        }
    }
}

/// Returns the plan's word for siitperf's number for an order.
pub(super) fn order(vary: u32) -> &'static str {
    match vary {
        0 => "fixed",
        1 => "increasing",
        2 => "decreasing",
        // 3: the reader refuses higher numbers.
        _ => "pseudorandom",
    }
}
