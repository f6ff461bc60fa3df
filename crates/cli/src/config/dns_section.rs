//! What a `[[test]]` of a DNS server sets beside its measure (RFC 8219 section 9).

use super::reader::Section;
use super::test_section::Surroundings;
use super::units;
use super::words::known_dut;
use sixbench_engine::dns::names::Domain;
use sixbench_method::plan::{DOMAIN, Dns, DnsRole, Measure, Names};

/// What was read: the test, and what may be lists.
pub(super) struct Read {
    /// Shares of queries for names resolved before, per cent.
    pub(super) cached: Vec<u8>,
    /// Shares of names that have an AAAA record of their own, per cent.
    pub(super) with_aaaa: Vec<u8>,
}

/// Reads the keys of a DNS test; those of other tests stay unknown.
pub(super) fn read_dns(section: &Section<'_>, around: &Surroundings<'_>, role: DnsRole) -> Dns {
    let standard = Dns::required(role);
    // Of a zone file each name is two lines; the tester's own authority computes its answers.
    let names = if role == DnsRole::Authority { small() } else { standard.names };
    let dns = Dns {
        domain: section.value("domain", domain).unwrap_or_else(|| DOMAIN.to_owned()),
        names: section.value("names", |text| text.parse::<Names>()).unwrap_or(names),
        timeout_ns: section.value("timeout", units::dns_timeout).unwrap_or(standard.timeout_ns),
        cached_names: section.value("cached-names", number).unwrap_or(standard.cached_names),
        ttl_s: section.value("ttl", units::ttl_s).unwrap_or(standard.ttl_s),
        ports: section.value("source-ports", port_count).unwrap_or(standard.ports),
        authority: section.value("authority", |text| known_dut(text, around.duts)),
        ..standard
    };
    check_zone_file(section, &dns);
    dns
}

/// Reads what may be lists. A server of its own zone has no cache.
pub(super) fn read_steps(section: &Section<'_>, measure: &Measure) -> Read {
    let Some(dns) = measure.dns() else { return Read { cached: Vec::new(), with_aaaa: Vec::new() } };
    let cached = match dns.role {
        DnsRole::Dns64 => section.list("cached", units::per_cent).unwrap_or_default(),
        DnsRole::Authority => Vec::new(),
    };
    Read { cached, with_aaaa: section.list("with-aaaa", units::per_cent).unwrap_or_default() }
}

fn small() -> Names {
    "10.0.0.0/16".parse().expect("a network")
}

/// A zone file of more names takes minutes to load.
const MOST_IN_FILE: u64 = 1 << 22;

fn check_zone_file(section: &Section<'_>, dns: &Dns) {
    let is_in_a_file = dns.role == DnsRole::Authority || dns.authority.is_some();
    if is_in_a_file && dns.names.count() > MOST_IN_FILE {
        let title = format!("{} names are too many for a zone file", dns.names.count());
        let key = if section.is_given("names") { "names" } else { "authority" };
        section.mistake_with_help(key, title, "choose fewer, such as `names = \"10.0.0.0/14\"`: 262144");
    }
}

fn domain(text: &str) -> Result<String, String> {
    Domain::new(text).map(|domain| domain.to_string())
}

fn number(text: &str) -> Result<u32, String> {
    let number = units::rate(text).ok().and_then(|rate| u32::try_from(rate.0).ok()).filter(|number| *number > 0);
    number.ok_or_else(|| format!("expected a number of names such as 100k, not `{text}`"))
}

fn port_count(text: &str) -> Result<u16, String> {
    let ports = text.parse().ok().filter(|ports| (1..=4096).contains(ports));
    ports.ok_or_else(|| format!("expected a number of ports from 1 to 4096, not `{text}`"))
}
