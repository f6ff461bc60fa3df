//! DNS resolution performance, RFC 8219 section 9: the highest rate of queries that are all answered correctly and in time. The same procedure
//! measures an authoritative server and a device that forwards queries.

use super::clauses::is_first_goal_zero;
use super::info::HIGHEST_LOAD_PASSED;
use super::keys::{Keys, MeasureDefaults};
use super::loads::Loads;
use super::{
    Family, Info, Load, Measurement, Procedure, ProcedureContext, SearchedRate, SendingTime, Term,
    TestContext, TrafficRequirements,
};
use crate::clause::Clause;
use crate::clause::numbers::{SECOND_NS, count, repetitions, seconds};
use crate::plan::{
    DOMAIN, DnsRole, DnsTest, Names, Profile, QueryFile, QueryTransport, Stateful, checked_domain,
};
use crate::terms::bounds::{Bounded, NumberBound, TableBounds};
use crate::trial::{TrialKind, TrialSpec};
use crate::units::{self, ValueError, expected};
use std::convert::Infallible;
use std::num::NonZeroU32;

/// Returns everything that is in the configuration of the server of a test.
pub(super) fn server_configuration(test: &DnsTest) -> String {
    let DnsTest {
        domain,
        names,
        with_aaaa,
        ttl_s,
        authority,
        role,
        ..
    } = test;
    match (role, authority) {
        (DnsRole::Dns64, None) => domain.clone(),
        (DnsRole::Dns64, Some(authority)) => {
            format!("{domain} {authority} {names} {with_aaaa} {ttl_s}")
        }
        (DnsRole::Through, _) => "through".to_owned(),
        (DnsRole::Authority, _) => format!("{domain} {names} {with_aaaa} {ttl_s}"),
    }
}

const fn info(term: Term, summary: &'static str, searched: SearchedRate) -> Info {
    Info {
        term,
        summary,
        family: Family::Queries,
        traffic: TrafficRequirements::None,
        demand: None,
        is_steady: true,
        is_of_delay: false,
        finds_a_limit: true,
        searches_phase_one: false,
        repetitions: 20,
        searched: Some(searched),
        quantities: &[],
        headline: None,
        is_averaged: false,
        axis: "answered",
        open_end: HIGHEST_LOAD_PASSED,
    }
}

const SETUP: &str = "RFC 8219 section 9.1";
const PROCEDURE: &str = "RFC 8219 section 9.2";
const TESTER: &str = "RFC 8219 section 9.2.1";
const BURSTS: &str = "Lencse and Bakai 2017 section 4.4";
const SELF_TEST: &str =
    "a self-test, looped back without the DUT, before a DUT is tested at rate r";

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
        SearchedRate::OfAll("DNS64 resolution performance"),
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
        SearchedRate::OfAll("Authoritative DNS performance"),
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
        SearchedRate::Throughput,
    ),
];

/// The default time to live of names in a zone file behind a DNS64 server, seconds.
const SOON_S: u32 = 10;

/// Source ports of the queries.
const PORTS: NumberBound = NumberBound::new(1.0, 4096.0);
/// TCP connections, and queries that wait for their answers on each. The identifiers of a connection are 65,536, of which no more than a half are used at
/// once, so that late answers are told from others.
const CONNECTIONS: NumberBound = NumberBound::new(1.0, 4096.0);
const OUTSTANDING: NumberBound = NumberBound::new(1.0, 32_768.0);
/// Queries that are sent back to back.
const BURST: NumberBound = NumberBound::new(1.0, 1e6);

impl Bounded for DnsTest {
    const BOUNDS: TableBounds = TableBounds {
        numbers: &[
            ("timeout-ns", units::DNS_TIMEOUT_NS),
            ("cached", NumberBound::PERCENT),
            ("with-aaaa", NumberBound::PERCENT),
            ("cached-names", NumberBound::COUNT),
            ("ttl-s", units::TTL_S),
            ("ports", PORTS),
            ("burst", BURST),
            ("tcp-connections", CONNECTIONS),
            ("tcp-outstanding", OUTSTANDING),
        ],
        ..TableBounds::NONE
    };
}

impl DnsTest {
    /// Returns the settings that the keys of a test ask for, for the measure of this name. The recipe of the authority is checked by the plan file
    /// reader, since the methodology does not know recipes.
    pub(super) fn read(name: &str, keys: &impl Keys, _: &MeasureDefaults) -> Self {
        let roles = [DnsRole::Dns64, DnsRole::Authority, DnsRole::Through];
        let role = roles
            .into_iter()
            .find(|role| info_of(*role).term.name == name)
            .unwrap_or_default();
        let standard = Self::required(role);
        let dns = Self {
            domain: keys
                .text("domain", checked_domain)
                .unwrap_or_else(|| DOMAIN.to_owned()),
            timeout_ns: keys
                .value("timeout", units::dns_timeout)
                .unwrap_or(standard.timeout_ns),
            ports: keys
                .number("source-ports", port_count)
                .unwrap_or(standard.ports),
            burst: keys.number("burst", query_burst).unwrap_or(standard.burst),
            at_found_rate: keys.text("rate", found_rate).is_some(),
            queries: keys.text("queries", query_file),
            ..standard
        };
        let dns = dns.with_transport(keys);
        let dns = match role {
            DnsRole::Dns64 => Self {
                cached_names: keys
                    .value("cached-names", name_count)
                    .unwrap_or(dns.cached_names),
                authority: keys.text("authority", |text| Ok::<_, Infallible>(text.to_owned())),
                ..dns
            },
            // A server of its own zone has no cache and sends no queries itself.
            DnsRole::Authority | DnsRole::Through => dns,
        };
        // Each name takes a line or two in a zone file, while the tester's own authority computes its answers. Behind another authority the content
        // of the cache cannot be observed, so there are few names, with a short time to live.
        let (names, ttl_s) = match (role, &dns.authority) {
            (DnsRole::Authority, _) => (network("10.0.0.0/16"), dns.ttl_s),
            (DnsRole::Through, _) => (dns.names, dns.ttl_s),
            (DnsRole::Dns64, Some(_)) => (network("10.0.0.0/14"), SOON_S),
            (DnsRole::Dns64, None) => (dns.names, dns.ttl_s),
        };
        Self {
            names: keys
                .text("names", |text| text.parse::<Names>())
                .unwrap_or(names),
            ttl_s: keys.value("ttl", units::ttl_s).unwrap_or(ttl_s),
            ..dns
        }
    }
}

impl DnsTest {
    /// Returns the test with the transport that the keys ask for.
    fn with_transport(self, keys: &impl Keys) -> Self {
        let read =
            |text: &str| units::word(text, "the transport of queries", &QueryTransport::WORDS);
        let transport = keys.text("transport", read).unwrap_or_default();
        if !transport.has_connections() {
            refuse_tcp_keys(keys);
            return self;
        }
        if self.role == DnsRole::Through {
            keys.mistake_with_help(
                "transport",
                "the tester's own authority answers trials over UDP only",
                "leave `transport` out, or test a server: `measure = \"dns64\"` or `\"dns-authority\"`",
            );
        }
        Self {
            transport,
            tcp_connections: keys
                .number("tcp-connections", connection_count)
                .unwrap_or(self.tcp_connections),
            tcp_outstanding: keys
                .number("tcp-outstanding", outstanding_count)
                .unwrap_or(self.tcp_outstanding),
            ..self
        }
    }
}

/// Reports the keys of connections in a test over UDP, which has none.
fn refuse_tcp_keys(keys: &impl Keys) {
    let connections = keys.number("tcp-connections", connection_count);
    let outstanding = keys.number("tcp-outstanding", outstanding_count);
    for (key, given) in [
        ("tcp-connections", connections),
        ("tcp-outstanding", outstanding),
    ] {
        if given.is_some() {
            let title = format!("`{key}` needs `transport = \"tcp\"` or `\"tls\"`");
            keys.mistake_with_help(
                key,
                title,
                "set `transport`, or leave it out: UDP has no connections",
            );
        }
    }
}

fn query_file(text: &str) -> Result<QueryFile, ValueError> {
    if text.trim().is_empty() {
        return Err(expected(
            "the path of a file with a name and a type on each line",
            text,
        ));
    }
    Ok(QueryFile::unread(text))
}

/// Returns the number of TCP connections that a text means, from 1 to 4096.
///
/// # Errors
/// The text is not such a number.
pub fn connection_count(text: &str) -> Result<u16, ValueError> {
    within(text, CONNECTIONS, "a number of connections from 1 to 4096")
}

/// Returns the number of outstanding queries of a connection that a text means, from 1 to 32768.
///
/// # Errors
/// The text is not such a number.
pub fn outstanding_count(text: &str) -> Result<u16, ValueError> {
    within(text, OUTSTANDING, "a number of queries from 1 to 32768")
}

fn within(text: &str, bound: NumberBound, form: &'static str) -> Result<u16, ValueError> {
    let number = text
        .parse()
        .ok()
        .filter(|number: &u16| bound.contains(f64::from(*number)));
    number.ok_or_else(|| expected(form, text))
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

fn name_count(text: &str) -> Result<u32, ValueError> {
    units::count(text, "names such as 100k").map(|number| number as u32)
}

fn found_rate(text: &str) -> Result<(), ValueError> {
    if text.trim() == "throughput" {
        return Ok(());
    }
    let form = "`throughput`, the rate that the test with the same queries finds";
    Err(expected(form, text))
}

fn port_count(text: &str) -> Result<u16, ValueError> {
    let ports = text
        .parse()
        .ok()
        .filter(|ports: &u16| PORTS.contains(f64::from(*ports)));
    ports.ok_or_else(|| expected(format!("a number of ports {}", PORTS.from_to()), text))
}

/// Returns the number of queries in a burst that a text means, from 1 to a million.
///
/// # Errors
/// The text is not such a number.
pub fn query_burst(text: &str) -> Result<NonZeroU32, ValueError> {
    let burst = text
        .parse()
        .ok()
        .filter(|burst: &NonZeroU32| BURST.contains(f64::from(burst.get())));
    burst.ok_or_else(|| expected(format!("a number of queries {}", BURST.from_to()), text))
}

impl Measurement for DnsTest {
    fn info(&self) -> &'static Info {
        info_of(self.role)
    }

    fn loads(&self) -> Loads<'_> {
        if self.at_found_rate {
            Loads::At(Load::OfThroughput(1.0))
        } else {
            Loads::Searched
        }
    }

    fn sending(&self) -> SendingTime {
        SendingTime::AsPlanned
    }

    fn largest_kind(&self, _stateful: Option<Stateful>) -> TrialKind {
        TrialKind::Queries
    }

    fn follow(&mut self, _profile: Profile, _trial_ns: u64) {}

    fn lengthen(&mut self) {}

    fn clauses(&self, test: &TestContext<'_>) -> Vec<Clause> {
        if self.at_found_rate {
            // The search belongs to another test, and so do its clauses.
            return if self.role == DnsRole::Authority {
                Vec::new()
            } else {
                tester(self)
            };
        }
        let mut clauses = procedure(test, self);
        clauses.extend(bursts(self));
        clauses.extend(transport(self));
        match self.role {
            DnsRole::Dns64 => {
                clauses.extend(tester(self));
                clauses.extend(set_up(self));
                clauses.extend(names(test, self));
                clauses.extend(reporting(test, self));
            }
            DnsRole::Through => {
                clauses.extend(tester(self));
                clauses.push(Clause::may(
                    PROCEDURE,
                    "the procedure for DNS64 servers",
                    "applied to a device that forwards the queries to the tester's own authority and its answers back: the method \
                     of Lencse and Nagy (International Journal of Communication Systems, 2022), which is not part of RFC 8219. \
                     Their method accepts 0.01 % of loss and a timeout of 0.25 s",
                ));
            }
            DnsRole::Authority => clauses.extend([
                Clause::may(
                    PROCEDURE,
                    "the procedure for DNS64 servers",
                    "applied to the authoritative server itself, which answers from a zone: the method of Lencse, Benchmarking \
                     authoritative DNS servers (IEEE Access, 2020), which is not part of RFC 8219",
                ),
                Clause::must(
                    TESTER,
                    SELF_TEST,
                    "none: if the DUT is the authority, there is nothing to which the tester could be looped; the faults of a \
                     trial show where it fell short",
                    false,
                ),
            ]),
        }
        clauses
    }

    fn procedure(&self, context: &ProcedureContext<'_>) -> Box<dyn Procedure> {
        let queries = |spec| TrialSpec {
            kind: TrialKind::Queries,
            ..spec
        };
        match self
            .at_found_rate
            .then(|| context.at_known_rate(queries))
            .flatten()
        {
            Some(repeated) => Box::new(repeated),
            None => Box::new(context.search(queries)),
        }
    }
}

fn set_up(dns: &DnsTest) -> Vec<Clause> {
    let both = match (&dns.authority, &dns.authority_on) {
        (None, None) => "the tester is both".to_owned(),
        (None, Some(machine)) => {
            format!(
                "the tester is the client here, and the authoritative server on the machine {machine}"
            )
        }
        (Some(recipe), _) => format!(
            "the tester is the client; the authoritative server is {recipe}, on the same machine"
        ),
    };
    vec![
        Clause::must(
            SETUP,
            "IPv6 between the client and the DNS64 server",
            "IPv6: a recipe with another address is refused",
            true,
        ),
        Clause::should(
            SETUP,
            "AAAA query, AAAA query to the authority, empty answer, A query, valid A record, synthesised AAAA record",
            "as required; which queries the server sends is its own matter, and the authority counts them",
            true,
        ),
        Clause::may(
            SETUP,
            "the tester is client and authoritative server, in one device or in two",
            both,
        ),
        Clause::may(
            SETUP,
            "IPv4 or IPv6 between the server and the authority",
            "as the recipe configures the server",
        ),
    ]
}

fn procedure(test: &TestContext<'_>, dns: &DnsTest) -> Vec<Clause> {
    let duration_ns = test.trial.duration_ns;
    let is_zero = is_first_goal_zero(test);
    let counted = if is_zero {
        "a search; a trial passes only if every query had its correct answer in time"
    } else {
        "the first loss goal of the plan is not zero"
    };
    let actual = format!(
        "{}; {}",
        repetitions(test.repetitions),
        test.search.start.phrase()
    );
    vec![
        Clause::must(
            PROCEDURE,
            "the fastest rate at which as many valid replies come in time as queries are sent",
            counted,
            is_zero,
        ),
        Clause::should(
            PROCEDURE,
            "trials of at least 60 s",
            seconds(duration_ns),
            duration_ns >= 60 * SECOND_NS,
        ),
        Clause::should(
            PROCEDURE,
            "a timeout of no more than 1 s",
            seconds(dns.timeout_ns),
            dns.timeout_ns <= SECOND_NS,
        ),
        Clause::should(
            PROCEDURE,
            "at least 20 repetitions",
            actual,
            test.repetitions.least() >= 20,
        ),
        Clause::should(
            PROCEDURE,
            "median, 1st and 99th percentile are calculated",
            "all three, with the number of repetitions",
            true,
        ),
    ]
}

/// Returns what the authors of the burst size say of results with one; nothing of queries that are sent each at its own time.
fn bursts(dns: &DnsTest) -> Option<Clause> {
    let actual = format!(
        "bursts of {}, sent back to back: the result is an estimate",
        dns.burst
    );
    let is_asked_for = dns.burst.get() > 1;
    is_asked_for.then(|| {
        Clause::should(
            BURSTS,
            "every query is sent at its own time, or the result is no benchmark",
            actual,
            false,
        )
    })
}

/// Returns what is said of queries over connections; nothing of those over UDP.
fn transport(dns: &DnsTest) -> Option<Clause> {
    let over = match dns.transport {
        QueryTransport::Udp => return None,
        QueryTransport::Tcp => "TCP (RFC 7766)",
        QueryTransport::Tls => "TLS (RFC 7858), any certificate accepted",
    };
    let actual = format!(
        "over {over}: {}, up to {} outstanding on each. RFC 8219 does not name the transport; results over UDP are another quantity",
        count(u64::from(dns.tcp_connections), "connection"),
        count(u64::from(dns.tcp_outstanding), "query")
    );
    Some(Clause::may(
        PROCEDURE,
        "the procedure for DNS64 servers",
        actual,
    ))
}

/// Returns the clauses on names that come from a file, of which neither the number nor the records are the tester's.
fn names_of_file(queries: &QueryFile) -> Vec<Clause> {
    vec![
        Clause::must(
            PROCEDURE,
            "all queries contain different names",
            format!(
                "{}, asked in order and again from the start: names may be repeated while they are cached",
                queries.description()
            ),
            false,
        ),
        Clause::must(
            PROCEDURE,
            "names without an AAAA record and with exactly one A record",
            "whatever the names of the file have",
            false,
        ),
    ]
}

/// Returns the clauses on caching and on the existence of AAAA records.
fn names(test: &TestContext<'_>, dns: &DnsTest) -> Vec<Clause> {
    if let Some(queries) = &dns.queries {
        return names_of_file(queries);
    }
    let (cached, with_aaaa) = (dns.cached, dns.with_aaaa);
    let (different, are_different) = different(test, dns);
    let required = required(test, dns);
    let actual = match required {
        Some(name) if name == test.name => "this test".to_owned(),
        Some(name) => format!("measured by {name}"),
        None => "the plan has no such test of this server".to_owned(),
    };
    let mut clauses = vec![Clause::must(
        PROCEDURE,
        "0 % cached and 0 % with an AAAA record is tested",
        actual,
        required.is_some(),
    )];
    clauses.push(match cached {
        0 => Clause::must(
            PROCEDURE,
            "all queries contain different names",
            different,
            are_different,
        ),
        _ => Clause::may(
            PROCEDURE,
            "names that are 20, 40, 60, 80 and 100 % cached",
            format!("{cached} % are resolved before the trial"),
        ),
    });
    clauses.push(match with_aaaa {
        0 => Clause::must(
            PROCEDURE,
            "names without an AAAA record and with exactly one A record",
            "no AAAA, one A each",
            true,
        ),
        _ => Clause::may(
            PROCEDURE,
            "20, 40, 60, 80 and 100 % of the names have an AAAA record",
            format!("{with_aaaa} % have one"),
        ),
    });
    clauses
}

/// Returns how the names of the queries differ, and whether none is repeated while it may be cached. "Or domain names MUST NOT be repeated before the
/// cache of the DUT is exhausted": behind an authority other than the tester's, a repeated name would go unnoticed, so none may be repeated before
/// its time to live has expired.
fn different(test: &TestContext<'_>, dns: &DnsTest) -> (String, bool) {
    let names = format!(
        "{} of {}, each asked for once in a trial",
        count(dns.names.count(), "name"),
        dns.names
    );
    let elsewhere = dns
        .authority_on
        .as_ref()
        .map(|machine| format!("the authority on {machine}"));
    let Some(authority) = dns.authority.clone().or(elsewhere) else {
        return (
            format!("{names}; the authority sees which of them the server already knew"),
            true,
        );
    };
    let most = test.search.maximum.0;
    let lasts = dns.names.count() >= most * u64::from(dns.ttl_s);
    let why = if lasts {
        "last longer than their time to live"
    } else {
        "may be used again while they are cached, without being noticed"
    };
    (
        format!("{names}; at {most} queries/s they {why} behind {authority}"),
        lasts,
    )
}

/// Returns the name of the test of the same server that the RFC requires.
fn required<'a>(test: &TestContext<'a>, dns: &'a DnsTest) -> Option<&'a str> {
    let is_required = |(_, dns): &(&str, &DnsTest)| {
        let is_usual = dns.queries.is_none() && dns.transport == QueryTransport::Udp;
        is_usual
            && (dns.role, dns.cached, dns.with_aaaa, dns.at_found_rate)
                == (DnsRole::Dns64, 0, 0, false)
    };
    std::iter::once((test.name, dns))
        .chain(of_the_device(test))
        .find(is_required)
        .map(|(name, _)| name)
}

/// Returns the tests of the same server by name.
fn of_the_device<'a>(test: &TestContext<'a>) -> impl Iterator<Item = (&'a str, &'a DnsTest)> {
    test.peers
        .iter()
        .filter(|other| other.has_same_device)
        .filter_map(|other| Some((other.name, other.dns?)))
}

fn reporting(test: &TestContext<'_>, dns: &DnsTest) -> Vec<Clause> {
    let mut clauses = vec![Clause::should(
        PROCEDURE,
        "the median of the 0 % + 0 % combination, with 1st and 99th percentile, is the primary result",
        "it leads the verdict and the table, with both percentiles",
        true,
    )];
    let has_optional = of_the_device(test)
        .any(|(_, other)| (other.cached, other.with_aaaa) != (dns.cached, dns.with_aaaa));
    if has_optional {
        clauses.extend([
            Clause::may(
                PROCEDURE,
                "a two-dimensional table, or a graph, of median and percentiles",
                "both",
            ),
            Clause::should(
                PROCEDURE,
                "the headings of the table contain the percentages",
                "of both dimensions",
                true,
            ),
            Clause::should(
                PROCEDURE,
                "the graph shows medians with the percentiles as error bars",
                "as asked",
                true,
            ),
            Clause::must(
                PROCEDURE,
                "an excerpt gives the fixed percentage of the other dimension",
                "every line and row names it",
                true,
            ),
        ]);
    }
    clauses
}

fn tester(dns: &DnsTest) -> Vec<Clause> {
    let quarter = format!(
        "2 (r + 0.1 r) = 2.2 r, every answer within {}",
        seconds(dns.timeout_ns / 4)
    );
    vec![
        looped(dns).or_in_part(true),
        Clause::should(
            TESTER,
            "2 (r + delta) within 0.25 t, delta at least 0.1",
            quarter,
            true,
        ),
    ]
}

/// Returns the clause on the self-test.
fn looped(dns: &DnsTest) -> Clause {
    let must = |actual: &str, is_met| Clause::must(TESTER, SELF_TEST, actual, is_met);
    match (&dns.authority, &dns.authority_on) {
        _ if dns.transport == QueryTransport::Tcp => must(
            "before the first trial, but over UDP: the client's connections over TCP are not looped; the faults of a trial show where it fell short",
            false,
        ),
        (None, None) => must(
            "before the first trial; one at a rate that is not certified is invalid",
            true,
        ),
        (None, Some(machine)) => {
            let actual = format!(
                "before the first trial, over a link of its own to the machine {machine}, where every name has an AAAA record for it; a \
                 trial at a rate that is not certified is invalid"
            );
            must(&actual, true)
        }
        // Its zone contains the AAAA records of the test, not one for every name.
        (Some(_), _) => must(
            "before the first trial, but the real authority answers as in the test: no data where a name has no AAAA record",
            false,
        ),
    }
}
