//! DNS resolution performance, RFC 8219 section 9: the highest rate of queries that are all answered rightly and in time. By the same
//! procedure an authoritative server is measured, and a device that forwards queries.

use super::info::HIGHEST_LOAD_PASSED;
use super::keys::{Keys, MeasureDefaults};
use super::{Info, Measurement, Noun, Procedure, ProcedureContext, Searched, SendingTime, Term};
use crate::conformance::{self, Clause};
use crate::plan::{DOMAIN, DnsRole, DnsTest, Names, Plan, Stateful, Test, checked_domain};
use crate::trial::{TrialKind, TrialSpec};
use crate::units;

const fn info(term: Term, summary: &'static str, searched: Searched) -> Info {
    Info {
        term,
        summary,
        noun: Noun::Queries,
        searched: Some(searched),
        quantities: &[],
        headline: None,
        is_averaged: false,
        axis: "answered",
        open_end: HIGHEST_LOAD_PASSED,
    }
}

pub(super) static INFOS: [Info; 3] = [
    info(
        Term {
            name: "dns64",
            definition: "DNS64 performance: the highest rate of DNS queries that are all answered with the correct AAAA record \
                         in time.",
            clause: "RFC 8219 section 9; DNS64 by RFC 6147",
            here: "A search over the rate. The tester is client and authoritative server: query i is sent at start + i / rate, \
                   whatever happened to earlier ones; the authority has one name for each IPv4 address of a network. A trial \
                   passes only if the first answer to every query came within the timeout and is correct in address, TTL and \
                   form.",
            unit: "queries per second",
        },
        "the highest rate of DNS queries at which a DNS64 server answers all of them correctly and in time (RFC 8219 section \
         9)",
        Searched::OfAll("DNS64 resolution performance"),
    ),
    info(
        Term {
            name: "dns-authority",
            definition: "Performance of an authoritative DNS server: the highest rate of queries at which it answers all of \
                         them correctly from its zone.",
            clause: "the method of RFC 8219 section 9.2, but not part of it: Lencse, Benchmarking authoritative DNS servers, \
                     IEEE Access, 2020",
            here: "As dns64, but the server is the device itself: its zone has the plan's names.",
            unit: "queries per second",
        },
        "the same for an authoritative server, which answers from its zone",
        Searched::OfAll("Authoritative DNS performance"),
    ),
    info(
        Term {
            name: "dns-queries",
            definition: "The highest rate of DNS queries that pass through a device, or several in a row, and are all answered \
                         correctly and in time.",
            clause: "no RFC: Lencse and Nagy, Towards the scalability comparison of the Jool implementation of the 464XLAT \
                     and of the MAP-T IPv4aaS technologies, International Journal of Communication Systems, 2022",
            here: "As dns64, but the tester's own authority is at the right end and is queried directly: the device only \
                   forwards. An answer counts if its address, TTL and form are correct. For the paper's own rule, set `timeout \
                   = \"250ms\"` and a loss goal of 0.01 %.",
            unit: "queries per second",
        },
        "the same through a device that forwards them to the tester's own authority",
        Searched::Throughput,
    ),
];

/// The default time to live of names in a zone file behind a DNS64 server, seconds.
const SOON_S: u32 = 10;

impl DnsTest {
    /// Returns the settings that the keys of a test ask for, of the measure of this name. The reader of plan files checks the recipe of the
    /// authority, which the methodology does not know.
    pub(super) fn read(name: &str, keys: &impl Keys, _: &MeasureDefaults) -> Self {
        let roles = [DnsRole::Dns64, DnsRole::Authority, DnsRole::Through];
        let role = roles.into_iter().find(|role| info_of(*role).term.name == name).unwrap_or_default();
        let standard = Self::required(role);
        let dns = Self {
            domain: keys.text("domain", checked_domain).unwrap_or_else(|| DOMAIN.to_owned()),
            timeout_ns: keys.value("timeout", units::dns_timeout).unwrap_or(standard.timeout_ns),
            ports: keys.number("source-ports", port_count).unwrap_or(standard.ports),
            ..standard
        };
        let dns = match role {
            DnsRole::Dns64 => Self {
                cached_names: keys.value("cached-names", name_count).unwrap_or(dns.cached_names),
                authority: keys.text("authority", |text| Ok(text.to_owned())),
                ..dns
            },
            // A server of its own zone has no cache and sends no queries itself.
            DnsRole::Authority | DnsRole::Through => dns,
        };
        // Of a zone file each name is a line or two; the tester's own authority computes its answers. With another one the
        // content of the cache cannot be observed, so there are few names, and their time to live is short.
        let (names, ttl_s) = match (role, &dns.authority) {
            (DnsRole::Authority, _) => (network("10.0.0.0/16"), dns.ttl_s),
            (DnsRole::Through, _) => (dns.names, dns.ttl_s),
            (DnsRole::Dns64, Some(_)) => (network("10.0.0.0/14"), SOON_S),
            (DnsRole::Dns64, None) => (dns.names, dns.ttl_s),
        };
        Self {
            names: keys.text("names", |text| text.parse::<Names>()).unwrap_or(names),
            ttl_s: keys.value("ttl", units::ttl_s).unwrap_or(ttl_s),
            ..dns
        }
    }
}

fn info_of(role: DnsRole) -> &'static Info {
    match role {
        DnsRole::Dns64 => &INFOS[0],
        DnsRole::Authority => &INFOS[1],
        DnsRole::Through => &INFOS[2],
    }
}

fn network(text: &str) -> Names {
    text.parse().expect("a network")
}

fn name_count(text: &str) -> Result<u32, String> {
    let number = units::rate(text).ok().and_then(|rate| u32::try_from(rate.0).ok()).filter(|number| *number > 0);
    number.ok_or_else(|| format!("expected a number of names such as 100k, not `{text}`"))
}

fn port_count(text: &str) -> Result<u16, String> {
    let ports = text.parse().ok().filter(|ports| (1..=4096).contains(ports));
    ports.ok_or_else(|| format!("expected a number of ports from 1 to 4096, not `{text}`"))
}

impl Measurement for DnsTest {
    fn info(&self) -> &'static Info {
        info_of(self.role)
    }

    fn sending(&self) -> SendingTime {
        SendingTime::AsPlanned
    }

    fn largest_kind(&self, _stateful: Option<Stateful>) -> TrialKind {
        TrialKind::Queries
    }

    fn dns(&self) -> Option<&DnsTest> {
        Some(self)
    }

    fn clauses(&self, plan: &Plan, test: &Test) -> Vec<Clause> {
        conformance::dns::clauses(plan, test, self)
    }

    fn procedure(&self, context: &ProcedureContext<'_>) -> Box<dyn Procedure> {
        Box::new(context.search(|spec| TrialSpec { kind: TrialKind::Queries, ..spec }))
    }
}
