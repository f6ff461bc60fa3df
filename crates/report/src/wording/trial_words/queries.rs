//! A trial of DNS queries, with the figures that dns64perf++ prints.

use super::counts::delays;
use crate::wording::bound::Bound;
use crate::wording::event_words::word;
use sixbench_method::terms::LossRatio;
use sixbench_method::trial::dns::{AuthorityCounts, DnsResult, TlsCounts};
use sixbench_method::trial::{TrialResult, is_upper_bound};
use sixbench_method::units::{counted, show_ns, show_rate};
use std::fmt::Write;

/// Returns a trial of DNS queries, on several lines.
pub fn queries(result: &TrialResult) -> String {
    let spec = result.spec;
    let verdict = word(result.verdict(LossRatio::ZERO));
    let mut text = format!(
        "{} queries/s for {}: {verdict}\n",
        show_rate(spec.rate),
        show_ns(spec.duration_ns)
    );
    if let Some(dns) = result.dns() {
        text += &answers(dns);
    }
    result.directions.iter().for_each(|direction| {
        if let Some(delay) = &direction.delay {
            let _ = writeln!(text, "  delay          {}", delays(delay));
        }
        let sending = &direction.sending;
        let seconds = [sending.took_ns, sending.nominal_ns].map(|ns| ns as f64 / 1e9);
        let _ = writeln!(
            text,
            "  sending        {:.6} s instead of {:.6} s ({:.2} queries/s), worst lateness {} us",
            seconds[0],
            seconds[1],
            direction.achieved_rate().unwrap_or(0.0),
            sending.worst_lateness_ns / 1000
        );
        direction
            .examples
            .iter()
            .for_each(|example| text += &format!("  {example}\n"));
    });
    result
        .faults
        .iter()
        .for_each(|fault| text += &format!("  tester: {fault}\n"));
    text
}

/// Returns the figures that dns64perf++ prints, then further ones.
fn answers(dns: &DnsResult) -> String {
    let answers = &dns.answers;
    let mut text = format!(
        "  sent {}, received {}, valid {}; round-trip time {} on average, standard deviation {}\n",
        answers.sent,
        answers.received(),
        answers.right,
        mean_round_trip(dns),
        milliseconds(dns.rtt.deviation_ns())
    );
    let beside = [
        ("duplicate", answers.duplicate),
        ("mismatched", answers.mismatched),
        ("unasked", answers.unasked),
    ];
    let odd: Vec<String> = answers
        .failures()
        .chain(beside)
        .filter(|(_, queries)| *queries > 0)
        .map(|(what, queries)| format!("{what} {queries}"))
        .collect();
    if !odd.is_empty() {
        let _ = writeln!(text, "  of these       {}", odd.join(", "));
    }
    text += &file_and_connections(dns);
    dns.network_errors()
        .iter()
        .for_each(|errors| text += &format!("  network        {errors}\n"));
    if let (true, Some(observed)) = (
        dns.cache.intended > 0 || dns.cache.preloaded > 0,
        dns.cache.observed,
    ) {
        let _ = writeln!(
            text,
            "  cache          {} answers expected from the cache, {observed} received from it",
            dns.cache.intended
        );
    }
    if let Some(AuthorityCounts {
        aaaa,
        a,
        other,
        names,
        ..
    }) = dns.authority
    {
        let _ = writeln!(
            text,
            "  authority      {aaaa} AAAA, {a} A, {other} other queries for {names} names"
        );
    }
    text
}

/// Returns what is said of the queries of a file and of connections, a line each.
fn file_and_connections(dns: &DnsResult) -> String {
    let mut text = String::new();
    if !dns.rcodes.is_empty() {
        let codes = dns.rcodes.iter();
        let codes: Vec<String> = codes
            .map(|(code, answers)| format!("{code} {answers}"))
            .collect();
        let _ = writeln!(text, "  response codes {}", codes.join(", "));
    }
    if dns.not_looked_up > 0 {
        let _ = writeln!(
            text,
            "  not looked up  {}: the server gave no A record before the trial, so that no synthesised address is right",
            counted(dns.not_looked_up, "name")
        );
    }
    if let Some(tcp) = &dns.tcp {
        let kinds = [
            ("opened", tcp.opened),
            ("refused", tcp.refused),
            ("closed by the server", tcp.closed),
            ("queries interrupted", tcp.interrupted),
            ("queries held back", tcp.held_back),
            ("misframed", tcp.misframed),
        ];
        let kinds: Vec<String> = kinds
            .iter()
            .map(|(what, count)| format!("{what} {count}"))
            .collect();
        let _ = writeln!(
            text,
            "  TCP            {}: {}",
            counted(tcp.connections, "connection"),
            kinds.join(", ")
        );
    }
    if let Some(tls) = dns.tcp.as_ref().and_then(|tcp| tcp.tls.as_ref()) {
        text += &sessions(tls);
    }
    text
}

/// Returns what is said of TLS sessions, in one line or two.
fn sessions(tls: &TlsCounts) -> String {
    let suites = if tls.suites.is_empty() {
        "no session".to_owned()
    } else {
        tls.suite_list()
    };
    let verified = if tls.is_verified {
        "verified"
    } else {
        "not verified"
    };
    let mut text = format!(
        "  TLS            {suites}; resumed {}, handshakes failed {}, broken {}; certificate {verified}\n",
        tls.resumed, tls.handshakes_failed, tls.broken
    );
    if let Some(error) = &tls.first_error {
        let _ = writeln!(text, "  first error    {error}");
    }
    text
}

/// Returns the mean of the round-trip times, with its sign where it is a bound.
fn mean_round_trip(dns: &DnsResult) -> String {
    let mean_ns = dns.rtt.mean_ns().unwrap_or_default();
    let bound_ns = dns.rtt.mean_bound_ns().unwrap_or_default();
    let sign = Bound::of_value(false, is_upper_bound(mean_ns, bound_ns))
        .sign()
        .unwrap_or_default();
    format!("{sign}{}", milliseconds(dns.rtt.mean_ns()))
}

/// Returns a time in milliseconds, or a dash if there is none.
fn milliseconds(ns: Option<f64>) -> String {
    ns.map_or_else(|| "–".to_owned(), |ns| format!("{:.3} ms", ns / 1e6))
}
