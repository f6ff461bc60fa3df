//! What a test of a DNS server sets: the parameters of RFC 8219 section 9.

use super::QueryFile;
use crate::units::{ValueError, expected};
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;
use std::net::Ipv4Addr;
use std::num::NonZeroU32;
use std::str::FromStr;
use thiserror::Error;

/// A test of a DNS server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct DnsTest {
    /// The kind of server.
    pub role: DnsRole,
    /// The domain in which all names are.
    #[serde(deserialize_with = "domain")]
    pub domain: String,
    /// The names of the namespace that are asked for.
    pub names: Names,
    /// A query without the right answer after this time has failed, nanoseconds. RFC 8219 section 9.2: 1 s, and no more.
    pub timeout_ns: u64,
    /// Queries for names that the server has resolved before, per cent (RFC 8219 section 9.2: 0; optionally 20 to 100).
    pub cached: u8,
    /// Names that have an AAAA record of their own, per cent (RFC 8219 section 9.2: 0; optionally 20 to 100).
    pub with_aaaa: u8,
    /// Different names that are resolved before a trial, at most, where some are to be cached.
    pub cached_names: u32,
    /// The time to live of the authority's records, seconds: longer than a trial takes with what goes before it.
    pub ttl_s: u32,
    /// Source ports of the client.
    pub ports: u16,
    /// Queries of a burst, which are sent back to back, each burst at the time of its first query; 1: each query at its own time.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub burst: NonZeroU32,
    /// A real authoritative server in the place of the tester's own: the name of its recipe.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authority: Option<String>,
    /// The machine of the authoritative server, by the name that ssh knows it by, where it is neither the tester's nor the device's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authority_on: Option<String>,
    /// True if each repetition is one trial at the rate that the test with the same queries has found.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_found_rate: bool,
    /// The transport of queries.
    #[serde(default, skip_serializing_if = "is_default")]
    pub transport: QueryTransport,
    /// TCP connections of the client in all, with TLS on them or without; each thread has one at least.
    #[serde(default = "one_connection", skip_serializing_if = "is_one_connection")]
    pub tcp_connections: u16,
    /// Queries that a TCP connection carries at once at most; others wait for an answer to one of them.
    #[serde(
        default = "usual_outstanding",
        skip_serializing_if = "is_usual_outstanding"
    )]
    pub tcp_outstanding: u16,
    /// Queries of a file in the place of those for the names above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queries: Option<QueryFile>,
}

/// The transport of queries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum QueryTransport {
    /// Each in a datagram.
    #[default]
    Udp,
    /// Over connections that are kept open, each message after its length (RFC 7766).
    Tcp,
    /// The same over TLS (RFC 7858).
    Tls,
}

impl QueryTransport {
    /// Every transport with the word that plans and the command line have for it.
    pub const WORDS: [(&'static str, Self); 3] =
        [("udp", Self::Udp), ("tcp", Self::Tcp), ("tls", Self::Tls)];

    /// Returns the word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Udp => "udp",
            Self::Tcp => "tcp",
            Self::Tls => "tls",
        }
    }

    /// Returns whether queries share connections, which UDP does not have.
    pub fn has_connections(self) -> bool {
        self != Self::Udp
    }

    /// Returns the port on which servers listen for it: that of RFC 1035 section 4.2, or of RFC 7858 section 3.1.
    pub fn default_port(self) -> u16 {
        match self {
            Self::Udp | Self::Tcp => 53,
            Self::Tls => 853,
        }
    }
}

/// The default number of TCP connections: that of dnsperf.
pub const TCP_CONNECTIONS: u16 = 1;
/// The default number of queries that wait for their answers on a connection: that of dnsperf.
pub const TCP_OUTSTANDING: u16 = 100;

/// The kind of server that is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DnsRole {
    /// It synthesises AAAA records of A records (RFC 6147).
    #[default]
    Dns64,
    /// It answers for a zone of its own.
    Authority,
    /// The tester's own, asked through a device that forwards frames, translated or encapsulated on their way: queries instead of test
    /// frames, as Lencse and Nagy measured two devices in a row.
    Through,
}

impl DnsRole {
    /// Returns whether the server under test has a cache, which may already hold a name.
    pub fn has_cache(self) -> bool {
        self == Self::Dns64
    }

    /// Returns whether the tester's own authority answers where the plan names no other.
    pub fn asks_tester(self) -> bool {
        self != Self::Authority
    }
}

impl DnsTest {
    /// Returns the settings that RFC 8219 section 9.2 requires: nothing cached, no AAAA record, timeout 1 s.
    pub fn required(role: DnsRole) -> Self {
        Self {
            role,
            domain: DOMAIN.to_owned(),
            names: Names::ALL,
            timeout_ns: 1_000_000_000,
            cached: 0,
            with_aaaa: if role == DnsRole::Dns64 { 0 } else { 100 },
            cached_names: 100_000,
            ttl_s: 3600,
            ports: 32,
            burst: NonZeroU32::MIN,
            authority: None,
            authority_on: None,
            at_found_rate: false,
            transport: QueryTransport::Udp,
            tcp_connections: TCP_CONNECTIONS,
            tcp_outstanding: TCP_OUTSTANDING,
            queries: None,
        }
    }

    /// Returns the queries alone, at whatever rate: those of a search for the rate.
    pub fn searched(&self) -> Self {
        Self {
            at_found_rate: false,
            ..self.clone()
        }
    }
}

fn one() -> NonZeroU32 {
    NonZeroU32::MIN
}

fn is_default(transport: &QueryTransport) -> bool {
    *transport == QueryTransport::default()
}

fn one_connection() -> u16 {
    TCP_CONNECTIONS
}

fn is_one_connection(connections: &u16) -> bool {
    *connections == TCP_CONNECTIONS
}

fn usual_outstanding() -> u16 {
    TCP_OUTSTANDING
}

fn is_usual_outstanding(outstanding: &u16) -> bool {
    *outstanding == TCP_OUTSTANDING
}

fn is_one(burst: &NonZeroU32) -> bool {
    *burst == NonZeroU32::MIN
}

/// The domain of dns64perf++'s names.
pub const DOMAIN: &str = "dns64perf.test";

/// Octets of a name's own label: four numbers of three digits, with hyphens between.
pub const NAME_LABEL: usize = 15;

/// Octets a name may have in a message (RFC 1035 section 2.3.4).
const LONGEST_NAME: usize = 255;

/// The reason why a text is not a domain for names.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DomainError {
    /// A label is empty, too long, or has other characters than letters, digits, hyphens and underscores.
    #[error("expected a domain such as dns64perf.test, not `{domain}`: `{label}` is no label")]
    NoLabel {
        /// The text.
        domain: String,
        /// The part of it between two dots.
        label: String,
    },
    /// The names in the domain would have more than [`LONGEST_NAME`] octets.
    #[error("the domain `{0}` is too long: its names have more than 255 octets")]
    TooLong(String),
}

/// Returns a domain for names in lower case, without the final dot.
///
/// # Errors
/// The text has a part that is no label, or leaves no room for names.
pub fn checked_domain(text: &str) -> Result<String, DomainError> {
    let text = text.trim().trim_end_matches('.').to_ascii_lowercase();
    for label in text.split('.') {
        let is_plain = label
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
        if label.is_empty() || label.len() > 63 || !is_plain {
            return Err(DomainError::NoLabel {
                label: label.to_owned(),
                domain: text,
            });
        }
    }
    // In a message each label has its length before it, and the root is one octet.
    let octets = text.len() + 2;
    if octets + 1 + NAME_LABEL > LONGEST_NAME {
        return Err(DomainError::TooLong(text));
    }
    Ok(text)
}

/// Reads the domain of a resolved plan, which is untrusted: it is put into the configuration of servers.
fn domain<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    checked_domain(&String::deserialize(deserializer)?).map_err(D::Error::custom)
}

/// The reason why a text is not a part of the namespace.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum NamesError {
    /// The text is no network.
    #[error(transparent)]
    Form(#[from] ValueError),
    /// The prefix has more bits than an address.
    #[error("an IPv4 prefix has up to 32 bits, not {0}")]
    PrefixTooLong(u8),
    /// The address has bits outside its prefix.
    #[error("{first}/{length} has bits outside its prefix; did you mean {network}/{length}?")]
    OutsidePrefix {
        /// The address.
        first: Ipv4Addr,
        /// The bits of the prefix.
        length: u8,
        /// The address without the bits outside.
        network: Ipv4Addr,
    },
}

/// A part of the namespace of dns64perf++: one name for each IPv4 address of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
pub struct Names {
    first: Ipv4Addr,
    length: u8,
}

impl Names {
    /// 0.0.0.0/0, the whole namespace: it is so large that no name repeats in a run.
    pub const ALL: Self = Self {
        first: Ipv4Addr::UNSPECIFIED,
        length: 0,
    };

    /// Returns the names of a network.
    ///
    /// # Errors
    /// A length above 32, or an address with bits outside the prefix.
    pub fn new(first: Ipv4Addr, length: u8) -> Result<Self, NamesError> {
        if length > 32 {
            return Err(NamesError::PrefixTooLong(length));
        }
        let network = Ipv4Addr::from(u32::from(first) & mask(length));
        if network != first {
            return Err(NamesError::OutsidePrefix {
                first,
                length,
                network,
            });
        }
        Ok(Self { first, length })
    }

    /// Returns the first address.
    pub fn first(self) -> Ipv4Addr {
        self.first
    }

    /// Returns the number of names: 1 to 2^32.
    pub fn count(self) -> u64 {
        1 << (32 - self.length)
    }
}

fn mask(length: u8) -> u32 {
    u32::MAX.checked_shl(32 - u32::from(length)).unwrap_or(0)
}

impl FromStr for Names {
    type Err = NamesError;

    fn from_str(text: &str) -> Result<Self, NamesError> {
        let wrong = || expected("an IPv4 network such as 10.0.0.0/8", text);
        let (first, length) = text.trim().split_once('/').ok_or_else(wrong)?;
        Self::new(
            first.parse().map_err(|_| wrong())?,
            length.parse().map_err(|_| wrong())?,
        )
    }
}

impl TryFrom<String> for Names {
    type Error = NamesError;

    fn try_from(text: String) -> Result<Self, NamesError> {
        text.parse()
    }
}

impl From<Names> for String {
    fn from(names: Names) -> Self {
        names.to_string()
    }
}

impl fmt::Display for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.first, self.length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_namespace_has_2_to_the_32_names_and_a_host_has_one() {
        let count = |text: &str| text.parse::<Names>().expect("names").count();
        assert_eq!(
            [
                count("0.0.0.0/0"),
                count("10.0.0.0/8"),
                count("10.1.2.3/32")
            ],
            [1 << 32, 1 << 24, 1]
        );
    }

    #[test]
    fn bits_outside_the_prefix_are_refused_with_what_was_meant() {
        let error = "10.1.0.0/8".parse::<Names>().expect_err("an error");
        let told = error.to_string();
        assert!(told.contains("did you mean 10.0.0.0/8?"), "{told}");
        assert!("10.0.0.0".parse::<Names>().is_err());
        assert!("10.0.0.0/33".parse::<Names>().is_err());
    }
}
