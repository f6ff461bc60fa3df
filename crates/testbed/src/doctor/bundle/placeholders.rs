//! Replaces what is private in a text by placeholders. The same value has the same placeholder everywhere (`mac-1`, `address-2`), so that those who read the
//! text still see which lines speak of the same thing.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A kind of private value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PrivateKind {
    /// A hardware address of 6, 8 or 20 octets.
    Mac,
    /// An IPv4 or IPv6 address.
    Address,
    /// The name of a machine or of a domain.
    Host,
    /// The name of a user.
    User,
    /// A serial number, or another number that only one machine has.
    Serial,
}

impl PrivateKind {
    /// Returns the word that placeholders of the kind begin with.
    fn word(self) -> &'static str {
        match self {
            Self::Mac => "mac",
            Self::Address => "address",
            Self::Host => "host",
            Self::User => "user",
            Self::Serial => "serial",
        }
    }
}

/// The numbers of octets that hardware addresses have: of Ethernet, EUI-64, InfiniBand. The key of an RSS hash is longer, and not private.
const MAC_OCTETS: [usize; 3] = [6, 8, 20];

/// The length of a hardware address of 20 octets.
const LONGEST_MAC: usize = 20 * 3 - 1;

/// The lengths of the parts of a UUID, in hexadecimal digits.
const UUID_PARTS: [usize; 5] = [8, 4, 4, 4, 12];

/// Words after which a program prints a serial number.
const SERIAL_KEYS: [&str; 3] = ["serial_number", "serial number", "vendor sn"];

/// The ways in which udev names interfaces after their hardware addresses: Ethernet, wireless networks, mobile networks, InfiniBand.
const NAMED_BY_MAC: [&str; 4] = ["enx", "wlx", "wwx", "ibx"];

/// The values that have been replaced, and those that must be.
#[derive(Debug, Default)]
pub(super) struct Placeholders {
    /// Private values without a form of their own, in lower case, the longest first.
    known: Vec<(String, PrivateKind)>,
    /// The placeholder of each value.
    given: BTreeMap<String, String>,
    /// How many values of each kind have a placeholder.
    counts: BTreeMap<PrivateKind, usize>,
}

impl Placeholders {
    /// Makes these values known: they are replaced where they stand as a word.
    pub(super) fn learn(&mut self, values: impl IntoIterator<Item = (String, PrivateKind)>) {
        let values = values.into_iter();
        self.known.extend(
            values
                .map(|(value, kind)| (value.trim().to_lowercase(), kind))
                // `.` is a usual search domain, and 0 a usual serial number, which would replace every 0 of the texts.
                .filter(|(value, _)| {
                    value.chars().filter(|sign| sign.is_alphanumeric()).count() > 1
                }),
        );
        self.known
            .sort_by(|(a, _), (b, _)| b.len().cmp(&a.len()).then(a.cmp(b)));
        self.known.dedup();
    }

    /// Makes known what a text calls a serial number.
    pub(super) fn learn_serials(&mut self, text: &str) {
        let serials = text.lines().filter_map(serial_in);
        self.learn(serials.map(|serial| (serial.to_owned(), PrivateKind::Serial)));
    }

    /// Returns a text with its private values replaced, line by line.
    pub(super) fn replace(&mut self, text: &str) -> String {
        let lines = text.lines().map(|line| self.replace_line(line) + "\n");
        lines.collect()
    }

    fn replace_line(&mut self, line: &str) -> String {
        let (mut replaced, mut rest, mut before) = (String::new(), line, ' ');
        let has_addresses = !is_version(line);
        while let Some(next) = rest.chars().next() {
            let found = (!before.is_alphanumeric())
                .then(|| self.private_at(rest))
                .flatten()
                .or_else(|| has_addresses.then(|| ipv4_at(before, rest)).flatten());
            let length = if let Some((kind, length)) = found {
                replaced.push_str(self.placeholder(kind, &rest[..length]));
                length
            } else {
                // The end of a long key may look like an address.
                let key = Some(octets_length(rest)).filter(|length| *length > LONGEST_MAC);
                let length = key.unwrap_or(next.len_utf8());
                replaced.push_str(&rest[..length]);
                length
            };
            before = rest[..length].chars().next_back().unwrap_or(' ');
            rest = &rest[length..];
        }
        replaced
    }

    /// Returns the kind and the length in octets of the private value that a text begins with, IPv4 addresses apart.
    fn private_at(&self, text: &str) -> Option<(PrivateKind, usize)> {
        let known = self.known.iter().find(|(value, _)| {
            let here = text.get(..value.len());
            here.is_some_and(|here| here.eq_ignore_ascii_case(value))
                && ends_word(&text[value.len()..])
        });
        known
            .map(|(value, kind)| (*kind, value.len()))
            .or_else(|| Some((PrivateKind::Mac, mac_length(text)?)))
            .or_else(|| Some((PrivateKind::Serial, uuid_length(text)?)))
            .or_else(|| Some((PrivateKind::Address, ipv6_length(text)?)))
    }

    /// Returns the placeholder of a value, a new one if it has none.
    fn placeholder(&mut self, kind: PrivateKind, value: &str) -> &str {
        let (value, counts) = (canonical(kind, value), &mut self.counts);
        self.given.entry(value).or_insert_with(|| {
            let count = counts.entry(kind).or_default();
            *count += 1;
            format!("{}-{count}", kind.word())
        })
    }

    /// Returns how many values of each kind were replaced: `2 of mac, 1 of host`.
    pub(super) fn counts(&self) -> String {
        let counts = self.counts.iter();
        let words: Vec<String> = counts
            .map(|(kind, count)| format!("{count} of {}", kind.word()))
            .collect();
        if words.is_empty() {
            "none".to_owned()
        } else {
            words.join(", ")
        }
    }
}

/// Returns one form for the ways in which a value may be written.
fn canonical(kind: PrivateKind, value: &str) -> String {
    let lower = value.to_lowercase();
    match kind {
        PrivateKind::Mac => digits_of_name(&lower)
            .unwrap_or(&lower)
            .replace([':', '-'], ""),
        PrivateKind::Address => match lower.parse::<IpAddr>() {
            Ok(address) => address.to_string(),
            Err(_) => lower,
        },
        _ => lower,
    }
}

/// Returns whether the word before this text ends there.
fn ends_word(text: &str) -> bool {
    !text.chars().next().is_some_and(char::is_alphanumeric)
}

/// Returns whether a line has the version of a driver or of firmware, which may look like an IPv4 address (`230.0.157.0`).
fn is_version(line: &str) -> bool {
    let of_facts = line.split_once(": firmware: ");
    line.starts_with("ethtool -i ")
        || of_facts.is_some_and(|(interface, _)| !interface.contains([' ', '=', ':']))
}

/// Returns the serial number that a line has after a word for one.
fn serial_in(line: &str) -> Option<&str> {
    let lower = line.to_ascii_lowercase();
    let ends = SERIAL_KEYS.iter();
    let end = ends
        .filter_map(|key| Some(lower.find(key)? + key.len()))
        .min()?;
    let value = line[end..].trim_start_matches([' ', '\t', ':', '=']).trim();
    (!value.is_empty()).then_some(value)
}

/// Returns the number of hexadecimal digits that a text begins with.
fn hex_digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_hexdigit).count()
}

/// Returns what follows the way in which udev names an interface after its hardware address.
fn digits_of_name(text: &str) -> Option<&str> {
    NAMED_BY_MAC.iter().find_map(|way| text.strip_prefix(way))
}

/// Returns the length of the hardware address that a text begins with: pairs of digits with the same sign between them, or an interface's name that has one.
fn mac_length(text: &str) -> Option<usize> {
    if let Some(digits) = digits_of_name(text)
        && hex_digits(digits) == 12
        && ends_word(&digits[12..])
    {
        return Some(text.len() - digits.len() + 12);
    }
    let length = octets_length(text);
    let is_address = length > 0 && MAC_OCTETS.contains(&length.div_ceil(3));
    (is_address && ends_word(&text[length..])).then_some(length)
}

/// Returns the length of the octets that a text begins with: pairs of hexadecimal digits with the same sign between them.
fn octets_length(text: &str) -> usize {
    let separator = text.chars().nth(2);
    let Some(separator) = separator.filter(|sign| [':', '-'].contains(sign)) else {
        return 0;
    };
    let (mut rest, mut length) = (text, 0);
    while hex_digits(rest) == 2 {
        length += if length == 0 { 2 } else { 3 };
        match rest[2..].strip_prefix(separator) {
            Some(further) => rest = further,
            None => break,
        }
    }
    length
}

/// Returns the length of the UUID that a text begins with.
fn uuid_length(text: &str) -> Option<usize> {
    let mut rest = text;
    for (number, part) in UUID_PARTS.iter().enumerate() {
        if number > 0 {
            rest = rest.strip_prefix('-')?;
        }
        if hex_digits(rest) != *part {
            return None;
        }
        rest = &rest[*part..];
    }
    ends_word(rest).then_some(text.len() - rest.len())
}

/// Returns the length of the IPv6 address that a text begins with. The loopback address and that of no host are everybody's.
fn ipv6_length(text: &str) -> Option<usize> {
    let run = text
        .bytes()
        .take_while(|octet| octet.is_ascii_hexdigit() || b":.".contains(octet));
    let run = text[..run.count()].trim_end_matches('.');
    let without_colon = run.strip_suffix(':').unwrap_or(run);
    let written = [run, without_colon].into_iter().find_map(|written| {
        let address = written.parse::<Ipv6Addr>().ok()?;
        Some((address, written.len()))
    });
    let (address, length) = written?;
    let is_private = !address.is_loopback() && !address.is_unspecified();
    (is_private && ends_word(&text[length..])).then_some(length)
}

/// Returns an IPv4 address at the beginning of a text, given the sign before it. Numbers of a longer row, such as those of a version, are none.
fn ipv4_at(before: char, text: &str) -> Option<(PrivateKind, usize)> {
    let run = text
        .bytes()
        .take_while(|octet| octet.is_ascii_digit() || *octet == b'.');
    let run = text[..run.count()].trim_end_matches('.');
    let address = run.parse::<Ipv4Addr>().ok()?;
    let is_private = !address.is_loopback() && !address.is_unspecified();
    let is_whole = !before.is_alphanumeric() && before != '.' && ends_word(&text[run.len()..]);
    (is_private && is_whole).then_some((PrivateKind::Address, run.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placeholders() -> Placeholders {
        let mut placeholders = Placeholders::default();
        placeholders.learn([
            ("lab7".to_owned(), PrivateKind::Host),
            ("lab7.example.net".to_owned(), PrivateKind::Host),
            ("alice".to_owned(), PrivateKind::User),
        ]);
        placeholders
    }

    #[test]
    fn each_private_value_has_one_placeholder_everywhere() {
        for (line, expected) in [
            (
                "Permanent address: 00:1b:21:AA:BB:cc",
                "Permanent address: mac-1",
            ),
            ("enx001b21aabbcc: 00-1b-21-aa-bb-cc", "mac-1: mac-1"),
            ("8: 00:1b:21:ff:ff:aa:bb:cc.", "8: mac-1."),
            (
                "ip=10.1.2.3::10.1.2.1:255.255.255.0:LAB7:eno1",
                "ip=address-1::address-2:address-3:host-1:eno1",
            ),
            (
                "x:2001:db8::1/64, 2001:DB8:0::1%eno1",
                "x:address-1/64, address-1%eno1",
            ),
            (
                "fe80::1: [::ffff:192.0.2.1]:80 10.0.0.1.",
                "address-1: [address-2]:80 address-3.",
            ),
            (
                "root=UUID=6B29FC40-CA47-1067-B31D-00DD010662DA",
                "root=UUID=serial-1",
            ),
            (
                "/home/alice/x lab7.example.net lab7-root slab7 alices",
                "/home/user-1/x host-1 host-2-root slab7 alices",
            ),
        ] {
            assert_eq!(placeholders().replace(line), format!("{expected}\n"));
        }
    }

    #[test]
    fn what_is_not_private_stays() {
        for line in [
            "/sys/bus/pci/devices/0000:5e:00.0/class:0x020000",
            "ethtool -i e0:firmware-version: 230.0.157.0/pkg 230.1.116.0",
            "e0: firmware: 20.5.13.0",
            "listens on 127.0.0.1, ::1, ::, 0.0.0.0 since 12:34:56",
            "Linux 6.1.0-18-amd64, 1.2.3.4.5, v1.2.3.4, mask 00000000,0000ffff",
            "RSS key 6d:5a:56:da:25:5b:0e:c2:41:67:25:3d:43:a3:8f:b0:d0:ca:2b:cb:ae:7b:30:b4:77:cb:2d:a3:80:30:f2:0c:6a:42:b7:3b:be:ac:01:fa",
        ] {
            assert_eq!(placeholders().replace(line), format!("{line}\n"));
        }
    }

    #[test]
    fn a_value_of_one_sign_is_nobodys() {
        let mut placeholders = placeholders();
        placeholders.learn([
            (".".to_owned(), PrivateKind::Host),
            ("0".to_owned(), PrivateKind::Serial),
        ]);
        let text = "0000:5e:00.0 . rx_errors: 0\n";
        assert_eq!(placeholders.replace(text), text);
        let wireless = placeholders.replace("wlx001b21aabbcc 00:1b:21:aa:bb:cc");
        assert_eq!(wireless, "mac-1 mac-1\n");
    }

    #[test]
    fn a_serial_number_is_known_by_the_word_before_it() {
        let text = "    Vendor SN        : ABC 123\npci/0000:01:00.0:\n  serial_number MT2041X\nboard.serial_number: Q-9";
        let mut placeholders = placeholders();
        placeholders.learn_serials(text);
        let replaced = placeholders.replace(text);
        assert!(
            !["ABC", "MT2041X", "Q-9"]
                .iter()
                .any(|serial| replaced.contains(serial)),
            "{replaced}"
        );
        assert_eq!(placeholders.counts(), "3 of serial");
    }
}
