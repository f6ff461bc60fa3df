//! What `results.json` holds of a test of a DNS server: its parameters, and the trials that decided.

use crate::digest::{Digest, PointDigest, QueryTrial};
use schemars::JsonSchema;
use serde::Serialize;
use sixbench_method::plan::{DnsRole, Names, QueryTransport};
use sixbench_method::trial::DelayBounds;
use sixbench_method::trial::dns::{Answers, AuthorityCounts, Cache, TcpCounts};
use std::collections::BTreeMap;

#[derive(Serialize, JsonSchema)]
pub(crate) struct JsonDns<'a> {
    role: DnsRole,
    /// Per cent, both.
    cached: u8,
    with_aaaa: u8,
    timeout_ns: u64,
    domain: &'a str,
    names: Names,
    cached_names: u32,
    ttl_s: u32,
    ports: u16,
    /// Queries of a burst, sent back to back; 1: each at its own time.
    burst: u32,
    /// A real authoritative server in the place of the tester's.
    authority: Option<&'a str>,
    transport: QueryTransport,
    /// The connections of the client and the queries that wait for their answers on each, at most; `null` over UDP.
    tcp_connections: Option<u16>,
    tcp_outstanding: Option<u16>,
    /// The file of the queries; `null` where they are for `names`.
    queries: Option<JsonQueryFile<'a>>,
    /// Queries per second that the self-test of RFC 8219 section 9.2.1 allows.
    certified: Option<u64>,
    /// The passing trial with the highest rate.
    passing: Option<JsonAsked<'a>>,
    /// The failing one next above it.
    failing: Option<JsonAsked<'a>>,
}

/// A file of queries. Its text is in `resolved.toml`.
#[derive(Serialize, JsonSchema)]
struct JsonQueryFile<'a> {
    file: &'a str,
    /// The number of its queries.
    count: usize,
    /// The 64-bit FNV-1a hash of its text, hexadecimal.
    digest: String,
}

#[derive(Serialize, JsonSchema)]
struct JsonAsked<'a> {
    repetition: u32,
    trial: u32,
    /// Queries per second: intended, and sent.
    rate: u64,
    achieved_rate: Option<f64>,
    worst_lateness_ns: u64,
    answers: &'a Answers,
    /// The mean round trip time of first answers, right or wrong, nanoseconds.
    rtt_mean_ns: Option<f64>,
    /// The most by which this mean may be above the true one.
    rtt_mean_bound_ns: Option<f64>,
    rtt_standard_deviation_ns: Option<f64>,
    /// The median delay of right answers, nanoseconds.
    delay_median_ns: Option<u64>,
    delay_p999_ns: Option<u64>,
    delay_max_ns: Option<u64>,
    /// The most by which each delay may be above the true one.
    delay_bounds: Option<DelayBounds>,
    /// Queries for names with AAAA records.
    existing: u64,
    cache: &'a Cache,
    asked_of_authority: Option<&'a AuthorityCounts>,
    /// First answers to the queries of a file by response code; empty for others.
    rcodes: &'a BTreeMap<String, u64>,
    /// Names of the file whose A records the server did not give before the trial.
    not_looked_up: u64,
    /// `null` over UDP.
    tcp: Option<&'a TcpCounts>,
}

pub(super) fn point<'p>(digest: &Digest, point: &PointDigest<'p>) -> Option<JsonDns<'p>> {
    let dns = point.queries()?;
    let goal = point.first_goal();
    let has_connections = dns.transport.has_connections();
    Some(JsonDns {
        role: dns.role,
        cached: dns.cached,
        with_aaaa: dns.with_aaaa,
        timeout_ns: dns.timeout_ns,
        domain: &dns.domain,
        names: dns.names,
        cached_names: dns.cached_names,
        ttl_s: dns.ttl_s,
        ports: dns.ports,
        burst: dns.burst.get(),
        authority: dns.authority.as_deref(),
        transport: dns.transport,
        tcp_connections: has_connections.then_some(dns.tcp_connections),
        tcp_outstanding: has_connections.then_some(dns.tcp_outstanding),
        queries: dns.queries.as_ref().map(|queries| JsonQueryFile {
            file: queries.file(),
            count: queries.queries().len(),
            digest: queries.digest(),
        }),
        certified: digest.certified(point, dns),
        passing: point.all_answered(goal).map(asked),
        failing: point.not_all_answered(goal).map(asked),
    })
}

fn asked(asked: QueryTrial<'_>) -> JsonAsked<'_> {
    let QueryTrial {
        record,
        dns,
        direction,
    } = asked;
    let delay = direction.delay.as_ref();
    JsonAsked {
        repetition: record.repetition,
        trial: record.trial,
        rate: asked.rate(),
        achieved_rate: asked.achieved(),
        worst_lateness_ns: direction.sending.worst_lateness_ns,
        answers: &dns.answers,
        rtt_mean_ns: dns.rtt.mean_ns(),
        rtt_mean_bound_ns: dns.rtt.mean_bound_ns(),
        rtt_standard_deviation_ns: dns.rtt.deviation_ns(),
        delay_median_ns: delay.map(|delay| delay.median_ns),
        delay_p999_ns: delay.map(|delay| delay.p999_ns),
        delay_max_ns: delay.map(|delay| delay.max_ns),
        delay_bounds: delay.and_then(|delay| delay.bounds),
        existing: dns.existing,
        cache: &dns.cache,
        asked_of_authority: dns.authority.as_ref(),
        rcodes: &dns.rcodes,
        not_looked_up: dns.not_looked_up,
        tcp: dns.tcp.as_ref(),
    }
}
