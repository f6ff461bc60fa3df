//! Words in lines that stand for names and addresses: `pref64::192.31.196.1`, `arpa(192.31.196.1)`, `long(255)`, `{authority}`.

use super::lines::{DnsName, parse_name};
use super::mistake::DnsMistake;
use domain::base::name::{Name, ToLabelIter};
use sixbench_wire::Prefix6052;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// The length of the longest label, in octets.
const LONGEST_LABEL: usize = 63;
/// The length of the longest name in a message, in octets.
const LONGEST_NAME: usize = 255;

/// The properties of a DNS64 server that vectors refer to.
#[derive(Clone, Debug)]
pub struct DnsSetting {
    /// The prefix in which it synthesises addresses.
    pub prefix: Prefix6052,
    /// The domain in which each vector has a zone of its own, without a dot at its end.
    pub domain: String,
    /// The address of the tester's authority.
    pub authority: Ipv4Addr,
}

impl DnsSetting {
    /// Returns the setting by which files are checked: any server's would do.
    pub(crate) fn sample() -> Self {
        Self {
            prefix: well_known_prefix(),
            domain: "sixbench.test".to_owned(),
            authority: Ipv4Addr::new(192, 0, 2, 53),
        }
    }

    /// Returns true if the server synthesises under the Well-Known Prefix.
    pub(super) fn has_well_known_prefix(&self) -> bool {
        self.prefix == well_known_prefix()
    }

    /// Returns the origin of a vector's zone.
    pub(super) fn origin(&self, vector: &str) -> Result<DnsName, DnsMistake> {
        let text = format!("{vector}.{}.", self.domain);
        Name::from_str(&text).map_err(|_| DnsMistake::Name(text))
    }

    /// Replaces the words of a line.
    pub(super) fn expand(&self, line: &str, origin: &DnsName) -> Result<String, DnsMistake> {
        let line = line.replace("{authority}", &self.authority.to_string());
        let line = replace_each(&line, "pref64::", is_of_ipv4, |address| {
            let ipv4: Ipv4Addr = address.parse().ok()?;
            Some(self.prefix.embed(ipv4).to_string())
        })?;
        let line = replace_each(&line, "arpa(", is_before_closing, |address| {
            Some(reverse_name(address.parse().ok()?))
        })?;
        let line = replace_each(&line, "long(", is_before_closing, |octets| {
            long_name(octets.parse().ok()?, origin)
        })?;
        Ok(line)
    }

    /// Returns the IPv4 address that an address under the prefix represents.
    pub(super) fn embedded(&self, address: Ipv6Addr) -> Option<Ipv4Addr> {
        let ipv4 = self.prefix.extract(address)?;
        (self.prefix.embed(ipv4) == address).then_some(ipv4)
    }
}

fn well_known_prefix() -> Prefix6052 {
    let prefix = Prefix6052::WELL_KNOWN.parse();
    prefix.expect("the Well-Known Prefix has one of the lengths")
}

fn is_of_ipv4(sign: char) -> bool {
    sign.is_ascii_digit() || sign == '.'
}

fn is_before_closing(sign: char) -> bool {
    sign != ')'
}

/// Replaces every `word` with its argument, the signs after it that `is_argument` accepts, and a closing parenthesis if the word has an opening one.
fn replace_each(
    line: &str,
    word: &str,
    is_argument: fn(char) -> bool,
    value: impl Fn(&str) -> Option<String>,
) -> Result<String, DnsMistake> {
    let mut replaced = String::new();
    let mut rest = line;
    while let Some(at) = rest.find(word) {
        let argument = &rest[at + word.len()..];
        let end = argument
            .find(|sign| !is_argument(sign))
            .unwrap_or(argument.len());
        replaced += &rest[..at];
        replaced += &value(&argument[..end]).ok_or_else(|| symbol_mistake(word, argument))?;
        rest = &argument[end..];
        if word.ends_with('(') {
            rest = rest
                .strip_prefix(')')
                .ok_or_else(|| symbol_mistake(word, argument))?;
        }
    }
    Ok(replaced + rest)
}

fn symbol_mistake(word: &str, argument: &str) -> DnsMistake {
    let written = argument.split_whitespace().next().unwrap_or_default();
    DnsMistake::Symbol(format!("{word}{written}"))
}

/// Returns the name under which the PTR record of an address is (RFC 1035 section 3.5, RFC 3596 section 2.5).
fn reverse_name(address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) => {
            let [a, b, c, d] = address.octets();
            format!("{d}.{c}.{b}.{a}.in-addr.arpa.")
        }
        IpAddr::V6(address) => {
            let octets = address.octets();
            let nibbles = octets.iter().rev();
            let labels: String = nibbles
                .map(|octet| format!("{:x}.{:x}.", octet & 15, octet >> 4))
                .collect();
            labels + "ip6.arpa."
        }
    }
}

/// Returns the address of a name in IN-ADDR.ARPA or IP6.ARPA.
pub(super) fn address_of_reverse(name: &DnsName) -> Option<IpAddr> {
    let text = name.to_string().to_ascii_lowercase();
    if let Some(digits) = text.strip_suffix(".in-addr.arpa") {
        let reversed: Vec<&str> = digits.split('.').rev().collect();
        return reversed.join(".").parse().ok().map(IpAddr::V4);
    }
    let nibbles: Vec<&str> = text.strip_suffix(".ip6.arpa")?.split('.').rev().collect();
    if nibbles.len() != 32 || nibbles.iter().any(|nibble| nibble.len() != 1) {
        return None;
    }
    let bits = u128::from_str_radix(&nibbles.concat(), 16).ok()?;
    Some(IpAddr::V6(bits.into()))
}

/// Returns a relative name with which the origin has this many octets in a message.
fn long_name(octets: usize, origin: &DnsName) -> Option<String> {
    let mut left = octets.checked_sub(usize::from(origin.compose_len()))?;
    if octets > LONGEST_NAME || left < 2 {
        return None;
    }
    let mut labels = Vec::new();
    while left > 0 {
        // Each label has an octet for its length, and what is left must not be a single octet.
        let label = match left - 1 {
            length if length <= LONGEST_LABEL => length,
            length if length == LONGEST_LABEL + 1 => LONGEST_LABEL - 1,
            _ => LONGEST_LABEL,
        };
        labels.push("x".repeat(label));
        left -= label + 1;
    }
    let name = labels.join(".");
    parse_name(&name, origin).ok().map(|_| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(line: &str) -> Result<String, DnsMistake> {
        let setting = DnsSetting::sample();
        setting.expand(line, &setting.origin("v").expect("an origin"))
    }

    #[test]
    fn words_become_addresses_and_names() {
        let cases = [
            ("h AAAA pref64::192.31.196.1", "h AAAA 64:ff9b::c01f:c401"),
            ("ns A {authority}", "ns A 192.0.2.53"),
            (
                "arpa(192.31.196.1) PTR h",
                "1.196.31.192.in-addr.arpa. PTR h",
            ),
            (
                "arpa(pref64::192.31.196.1)",
                "1.0.4.c.f.1.0.c.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.b.9.f.f.4.6.0.0.ip6.arpa.",
            ),
        ];
        for (line, expected) in cases {
            assert_eq!(expanded(line).as_deref(), Ok(expected));
        }
        for wrong in [
            "h AAAA pref64::",
            "arpa(1.2.3) PTR h",
            "long(256)",
            "arpa(::1",
        ] {
            assert!(
                matches!(expanded(wrong), Err(DnsMistake::Symbol(_))),
                "{wrong}"
            );
        }
    }

    #[test]
    fn a_long_name_has_as_many_octets_as_are_asked_for() {
        let origin = DnsSetting::sample().origin("v").expect("an origin");
        for octets in [30, 81, 82, 83, 145, 146, 147, 148, 254, 255] {
            let name = expanded(&format!("long({octets})")).expect("a name");
            let name = parse_name(&name, &origin).expect("a name");
            assert_eq!(usize::from(name.compose_len()), octets);
        }
    }

    #[test]
    fn the_address_of_a_reverse_name_is_found_again() {
        for address in ["192.31.196.1", "64:ff9b::c01f:c401", "2001:db8::1"] {
            let address: IpAddr = address.parse().expect("an address");
            let name = Name::from_str(&reverse_name(address)).expect("a name");
            assert_eq!(address_of_reverse(&name), Some(address));
        }
        let short = Name::from_str("f.f.ip6.arpa.").expect("a name");
        assert_eq!(address_of_reverse(&short), None);
    }
}
