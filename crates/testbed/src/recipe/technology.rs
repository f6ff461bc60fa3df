//! Technologies, and the `[subscribers]` section of a recipe: the rules that configure the device, from which the tester also derives each
//! subscriber's traffic. Rules are not interpreted here: they are data, which `runner` has checked and evaluated.

use super::plain;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;
use std::net::IpAddr;

/// Kinds of devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Technology {
    /// Forwards IPv4.
    Ipv4Router,
    /// Forwards IPv6.
    Ipv6Router,
    /// Stateless IP/ICMP translation (RFC 7915), with explicit address mappings (RFC 7757) or a prefix (RFC 6052).
    Siit,
    /// Network address and port translation between IPv4 networks (RFC 3022).
    Nat44,
    /// Stateful translation from IPv6 clients to IPv4 servers (RFC 6146).
    Nat64,
    /// Stateful translation between IPv6 networks.
    Nat66,
    /// Stateful translation from IPv4 clients to IPv6 servers.
    Nat46,
    /// The customer side of 464XLAT (RFC 6877): stateless, with IPv4 on the left.
    Clat,
    /// CLAT and PLAT together (RFC 6877).
    #[serde(rename = "464xlat")]
    Xlat464,
    /// Mapping of address and port by translation (RFC 7599): border relay, customer edge, or both.
    MapT,
    /// Mapping of address and port by encapsulation (RFC 7597): border relay, customer edge, or both.
    MapE,
    /// Lightweight 4over6 (RFC 7596).
    Lw4o6,
    /// Dual-Stack Lite (RFC 6333).
    DsLite,
    /// 6to4 relay or router (RFC 3056).
    #[serde(rename = "6to4")]
    SixToFour,
    /// 6rd border relay (RFC 5969).
    #[serde(rename = "6rd")]
    SixRd,
    /// Synthesises IPv6 addresses for names that only have IPv4 ones (RFC 6147).
    Dns64,
    /// An authoritative DNS server.
    DnsAuthority,
    /// Forwards frames unchanged from one port to the other, and has no addresses: a wire, or a device like one.
    Wire,
}

impl Technology {
    /// Returns the usual name of the technology.
    pub fn title(self) -> &'static str {
        match self {
            Self::Ipv4Router => "IPv4 router",
            Self::Ipv6Router => "IPv6 router",
            Self::Siit => "SIIT",
            Self::Nat44 => "stateful NAT44",
            Self::Nat64 => "stateful NAT64",
            Self::Nat66 => "stateful NAT66",
            Self::Nat46 => "stateful NAT46",
            Self::Clat => "464XLAT CLAT",
            Self::Xlat464 => "464XLAT",
            Self::MapT => "MAP-T",
            Self::MapE => "MAP-E",
            Self::Lw4o6 => "lw4o6",
            Self::DsLite => "DS-Lite",
            Self::SixToFour => "6to4",
            Self::SixRd => "6rd",
            Self::Dns64 => "DNS64 server",
            Self::DnsAuthority => "authoritative DNS server",
            Self::Wire => "wire",
        }
    }

    /// Returns true if it answers queries instead of forwarding frames.
    pub fn is_dns(self) -> bool {
        matches!(self, Self::Dns64 | Self::DnsAuthority)
    }
}

/// The subscribers behind the device's left link, all emulated by the tester. The foreground of the recipe is that of the first one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Subscribers {
    /// The default number of subscribers, for plans that do not set it.
    #[serde(default = "one")]
    pub count: u32,
    /// The limit on subscribers if it is below the rule's, because a configuration file lists them one by one.
    #[serde(default)]
    pub most: Option<u32>,
    /// The mapping rules of a MAP-T or MAP-E domain, as one table or several.
    #[serde(default, deserialize_with = "one_or_several")]
    #[schemars(schema_with = "schema_of_one_or_several")]
    pub map: Vec<MapRuleSection>,
    /// The tunnels of lw4o6 or DS-Lite.
    #[serde(default)]
    pub softwires: Option<SoftwiresSection>,
    /// The domain of 6rd or 6to4.
    #[serde(default)]
    pub six_rd: Option<SixRdSection>,
}

/// A mapping rule (RFC 7597 section 5).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    rename_all = "kebab-case",
    deny_unknown_fields,
    expecting = "a table with the keys of a mapping rule"
)]
pub struct MapRuleSection {
    /// The rule's IPv6 prefix.
    #[serde(deserialize_with = "plain::prefix6")]
    pub ipv6_prefix: String,
    /// The rule's IPv4 prefix.
    #[serde(deserialize_with = "plain::prefix4")]
    pub ipv4_prefix: String,
    /// The length of the embedded address bits.
    pub ea_bits: u8,
    /// The offset of the port set identifier in a port. The default of 6 excludes the system ports.
    #[serde(default = "six")]
    pub psid_offset: u8,
}

/// Tunnels whose subscriber ends have consecutive prefixes or addresses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    rename_all = "kebab-case",
    deny_unknown_fields,
    expecting = "a table with the keys of [softwires]"
)]
pub struct SoftwiresSection {
    /// The prefix that contains the subscribers' ends.
    #[serde(deserialize_with = "plain::prefix6")]
    pub ipv6_prefix: String,
    /// The length of each subscriber's own prefix.
    #[serde(default = "sixty_four")]
    pub ipv6_length: u8,
    /// The lower 64 bits of the subscribers' addresses.
    #[serde(default = "interface")]
    pub interface: u64,
    /// The public addresses that they share (lw4o6). Without it, all have the same private address (DS-Lite).
    #[serde(default, deserialize_with = "plain::optional_prefix4")]
    pub ipv4_prefix: Option<String>,
    /// The private address common to all subscribers (RFC 6333 section 5.7).
    #[serde(default)]
    pub ipv4: Option<IpAddr>,
    /// The length of the port set identifier: 2^n subscribers share an address.
    #[serde(default)]
    pub psid_length: u8,
    /// The offset of the port set identifier.
    #[serde(default = "six")]
    pub psid_offset: u8,
}

/// A 6rd domain (RFC 5969), of which 6to4 is a special case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    rename_all = "kebab-case",
    deny_unknown_fields,
    expecting = "a table with the keys of [six-rd]"
)]
pub struct SixRdSection {
    /// The 6rd prefix, which is 2002::/16 for 6to4.
    #[serde(deserialize_with = "plain::prefix6")]
    pub ipv6_prefix: String,
    /// The prefix of the subscribers' IPv4 addresses.
    #[serde(deserialize_with = "plain::prefix4")]
    pub ipv4_prefix: String,
    /// The number of leading bits that all their IPv4 addresses share and that the IPv6 prefix leaves out.
    #[serde(default)]
    pub ipv4_mask_length: u8,
    /// The position of the first subscriber's address within the prefix.
    #[serde(default = "first")]
    pub first: u64,
}

/// Returns the schema of what [`one_or_several`] reads.
fn schema_of_one_or_several(generator: &mut SchemaGenerator) -> Schema {
    let rule = generator.subschema_for::<MapRuleSection>();
    json_schema!({ "anyOf": [rule, { "type": "array", "items": rule }] })
}

/// Reads a table or an array of tables.
fn one_or_several<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<MapRuleSection>, D::Error> {
    struct OneOrSeveral;

    impl<'de> Visitor<'de> for OneOrSeveral {
        type Value = Vec<MapRuleSection>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a mapping rule, or a list of them ([[subscribers.map]])")
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
            MapRuleSection::deserialize(MapAccessDeserializer::new(map)).map(|rule| vec![rule])
        }

        fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
            Deserialize::deserialize(SeqAccessDeserializer::new(list))
        }
    }

    deserializer.deserialize_any(OneOrSeveral)
}

fn one() -> u32 {
    1
}

fn first() -> u64 {
    1
}

fn interface() -> u64 {
    1
}

fn six() -> u8 {
    6
}

fn sixty_four() -> u8 {
    64
}

impl Subscribers {
    pub(super) fn problems(&self) -> Vec<String> {
        let rules = [
            !self.map.is_empty(),
            self.softwires.is_some(),
            self.six_rd.is_some(),
        ];
        let given = rules.into_iter().filter(|is_given| *is_given).count();
        let mut problems = Vec::new();
        if given != 1 {
            problems.push(format!("[subscribers]: expected one rule, `map`, `softwires` or `six-rd`; there are {given}"));
        }
        if self.count == 0 {
            problems.push("[subscribers]: `count` must be at least 1".to_owned());
        }
        if let Some(most) = self.most.filter(|most| *most < self.count) {
            problems.push(format!(
                "[subscribers]: `count` is {}, but the device is set up for `most` = {most}",
                self.count
            ));
        }
        problems
    }

    /// Returns the values of a rule's placeholders in steps and files. Those of the second mapping rule end in `-2`, and so on.
    pub(crate) fn placeholders(&self) -> Vec<(String, String)> {
        let map = self.map.iter().enumerate().flat_map(|(index, map)| {
            let suffix = if index == 0 {
                String::new()
            } else {
                format!("-{}", index + 1)
            };
            [
                ("ipv6-prefix", map.ipv6_prefix.clone()),
                ("ipv4-prefix", map.ipv4_prefix.clone()),
                ("ea-bits", map.ea_bits.to_string()),
                ("psid-offset", map.psid_offset.to_string()),
            ]
            .map(|(word, value)| (format!("{word}{suffix}"), value))
        });
        let softwires = self.softwires.iter().flat_map(|softwires| {
            [
                ("ipv6-prefix", softwires.ipv6_prefix.clone()),
                (
                    "ipv4-prefix",
                    softwires.ipv4_prefix.clone().unwrap_or_default(),
                ),
                ("psid-length", softwires.psid_length.to_string()),
                ("psid-offset", softwires.psid_offset.to_string()),
            ]
        });
        let six_rd = self.six_rd.iter().flat_map(|six_rd| {
            [
                ("ipv6-prefix", six_rd.ipv6_prefix.clone()),
                ("ipv4-prefix", six_rd.ipv4_prefix.clone()),
                ("ipv4-mask-length", six_rd.ipv4_mask_length.to_string()),
            ]
        });
        let others = softwires
            .chain(six_rd)
            .map(|(word, value)| (word.to_owned(), value));
        map.chain(others).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(text: &str) -> Result<Subscribers, toml::de::Error> {
        toml::from_str(text)
    }

    const RULE: &str =
        "ipv6-prefix = \"2001:db8:ce::/51\"\nipv4-prefix = \"192.0.2.0/24\"\nea-bits = 13\n";

    #[test]
    fn one_mapping_rule_is_a_table_and_several_are_a_list() {
        let one = section(&format!("[map]\n{RULE}")).expect("one");
        let second = RULE
            .replace(":ce:", ":cf:")
            .replace("13", "12\npsid-offset = 0");
        let two = section(&format!("[[map]]\n{RULE}[[map]]\n{second}")).expect("two");
        assert_eq!((one.map.len(), two.map.len()), (1, 2));
        assert_eq!(one.map[0], two.map[0]);
        let words = two.placeholders();
        let word = |name: &str| {
            words
                .iter()
                .find(|(word, _)| word == name)
                .map(|(_, value)| value.as_str())
        };
        assert_eq!(
            (word("ipv6-prefix"), word("ipv6-prefix-2")),
            (Some("2001:db8:ce::/51"), Some("2001:db8:cf::/51"))
        );
        assert_eq!(
            (
                word("ea-bits-2"),
                word("psid-offset"),
                word("psid-offset-2")
            ),
            (Some("12"), Some("6"), Some("0"))
        );
        assert_eq!((one.problems(), two.problems()), (vec![], vec![]));
    }

    #[test]
    fn what_is_kept_of_a_recipe_can_be_read_again() {
        for text in [
            format!("[map]\n{RULE}"),
            "[six-rd]\nipv6-prefix = \"2002::/16\"\nipv4-prefix = \"198.18.0.0/16\"".to_owned(),
        ] {
            let section = section(&text).expect("a section");
            let kept = toml::to_string(&section).expect("TOML");
            assert_eq!(self::section(&kept).expect("the same"), section);
        }
    }

    #[test]
    fn an_unknown_key_and_a_rule_that_is_none_are_told_with_their_lines() {
        let unknown = section(&format!("[[map]]\n{RULE}psid-lenght = 5\n"))
            .expect_err("a typing mistake")
            .to_string();
        assert!(
            unknown.contains("line 5") && unknown.contains("unknown field `psid-lenght`"),
            "{unknown}"
        );
        let number = section("map = 13\n").expect_err("a number").to_string();
        assert!(
            number.contains("expected a mapping rule, or a list of them ([[subscribers.map]])"),
            "{number}"
        );
    }

    #[test]
    fn a_section_has_rules_of_one_kind() {
        let none = section("count = 5").expect("a section").problems();
        assert_eq!(
            none,
            ["[subscribers]: expected one rule, `map`, `softwires` or `six-rd`; there are 0"]
        );
    }
}
