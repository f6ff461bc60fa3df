//! DNS resolution performance: RFC 8219 section 9. Of an authoritative server it is no part of the RFC, and asks for less.

use super::Clause;
use super::numbers::{SECOND, count, repetitions, seconds};
use super::rate::is_first_goal_zero;
use crate::plan::{DnsRole, DnsTest, Plan, Test};

const SETUP: &str = "RFC 8219 section 9.1";
const PROCEDURE: &str = "RFC 8219 section 9.2";
const TESTER: &str = "RFC 8219 section 9.2.1";
const SELF_TEST: &str = "a self-test, looped back without the DUT, before a DUT is tested at rate r";

/// The clauses of section 9.
pub(crate) fn clauses(plan: &Plan, test: &Test, dns: &DnsTest) -> Vec<Clause> {
    let mut clauses = procedure(plan, test, dns);
    match dns.role {
        DnsRole::Dns64 => {
            clauses.extend(tester(dns));
            clauses.extend(set_up(dns));
            clauses.extend(names(plan, test, dns));
            clauses.extend(reporting(plan, test, dns));
        }
        DnsRole::Through => {
            clauses.extend(tester(dns));
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

fn set_up(dns: &DnsTest) -> Vec<Clause> {
    let both = match &dns.authority {
        None => "the tester is both".to_owned(),
        Some(recipe) => format!("the tester is the client; the authoritative server is {recipe}, on the same machine"),
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
        Clause::may(SETUP, "the tester is client and authoritative server, in one device or in two", both),
        Clause::may(SETUP, "IPv4 or IPv6 between the server and the authority", "as the recipe configures the server"),
    ]
}

fn procedure(plan: &Plan, test: &Test, dns: &DnsTest) -> Vec<Clause> {
    let duration_ns = plan.trial.duration_ns;
    let is_zero = is_first_goal_zero(plan);
    let counted = match is_zero {
        true => "a search; a trial passes only if every query had its correct answer in time",
        false => "the first loss goal of the plan is not zero",
    };
    let actual = repetitions(test);
    vec![
        Clause::must(
            PROCEDURE,
            "the fastest rate at which as many valid replies come in time as queries are sent",
            counted,
            is_zero,
        ),
        Clause::should(PROCEDURE, "trials of at least 60 s", seconds(duration_ns), duration_ns >= 60 * SECOND),
        Clause::should(PROCEDURE, "a timeout of no more than 1 s", seconds(dns.timeout_ns), dns.timeout_ns <= SECOND),
        Clause::should(PROCEDURE, "at least 20 repetitions", actual, test.repetitions.least() >= 20),
        Clause::should(PROCEDURE, "median, 1st and 99th percentile are calculated", "all three, with the number of repetitions", true),
    ]
}

/// Caching, and the existence of AAAA records.
fn names(plan: &Plan, test: &Test, dns: &DnsTest) -> Vec<Clause> {
    let (cached, with_aaaa) = (dns.cached, dns.with_aaaa);
    let (different, are_different) = different(plan, dns);
    let required = required(plan, test);
    let actual = match required {
        Some(other) if other.name == test.name => "this test".to_owned(),
        Some(other) => format!("measured by {}", other.name),
        None => "the plan has no such test of this server".to_owned(),
    };
    let mut clauses =
        vec![Clause::must(PROCEDURE, "0 % cached and 0 % with an AAAA record is tested", actual, required.is_some())];
    clauses.push(match cached {
        0 => Clause::must(PROCEDURE, "all queries contain different names", different, are_different),
        _ => Clause::may(
            PROCEDURE,
            "names that are 20, 40, 60, 80 and 100 % cached",
            format!("{cached} % are resolved before the trial"),
        ),
    });
    clauses.push(match with_aaaa {
        0 => Clause::must(PROCEDURE, "names without an AAAA record and with exactly one A record", "no AAAA, one A each", true),
        _ => Clause::may(
            PROCEDURE,
            "20, 40, 60, 80 and 100 % of the names have an AAAA record",
            format!("{with_aaaa} % have one"),
        ),
    });
    clauses
}

/// "Or domain names MUST NOT be repeated before the cache of the DUT is exhausted": behind an authority that is not the tester's it cannot
/// be observed whether one was, so none may be repeated before its time to live is over.
fn different(plan: &Plan, dns: &DnsTest) -> (String, bool) {
    let names = format!("{} of {}, each asked for once in a trial", count(dns.names.count(), "name"), dns.names);
    let Some(authority) = &dns.authority else {
        return (format!("{names}; the authority sees which of them the server already knew"), true);
    };
    let most = plan.search.maximum.0;
    let lasts = dns.names.count() >= most * u64::from(dns.ttl_s);
    let why = if lasts { "last longer than their time to live" } else { "may be used again while they are cached, without being noticed" };
    (format!("{names}; at {most} queries/s they {why} behind {authority}"), lasts)
}

/// The test of the same server that the RFC requires.
fn required<'a>(plan: &'a Plan, test: &'a Test) -> Option<&'a Test> {
    let is_required = |other: &&Test| {
        let dns = other.measure.dns();
        other.dut == test.dut && dns.is_some_and(|d| (d.role, d.cached, d.with_aaaa) == (DnsRole::Dns64, 0, 0))
    };
    std::iter::once(test).chain(&plan.tests).find(is_required)
}

fn reporting(plan: &Plan, test: &Test, dns: &DnsTest) -> Vec<Clause> {
    let mut clauses = vec![Clause::should(
        PROCEDURE,
        "the median of the 0 % + 0 % combination, with 1st and 99th percentile, is the primary result",
        "it leads the verdict and the table, with both percentiles",
        true,
    )];
    let of_the_dut = plan.tests.iter().filter(|other| other.dut == test.dut).filter_map(|other| other.measure.dns());
    let has_optional = of_the_dut.into_iter().any(|other| (other.cached, other.with_aaaa) != (dns.cached, dns.with_aaaa));
    if has_optional {
        clauses.extend([
            Clause::may(PROCEDURE, "a two-dimensional table, or a graph, of median and percentiles", "both"),
            Clause::should(PROCEDURE, "the headings of the table contain the percentages", "of both dimensions", true),
            Clause::should(PROCEDURE, "the graph shows medians with the percentiles as error bars", "as asked", true),
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
    let quarter = format!("2 (r + 0.1 r) = 2.2 r, every answer within {}", seconds(dns.timeout_ns / 4));
    vec![
        match dns.authority {
            None => Clause::must(TESTER, SELF_TEST, "before the first trial; one at a rate that is not certified is invalid", true),
            // Its zone has the AAAA records of the test, not one for every name.
            Some(_) => Clause::must(
                TESTER,
                SELF_TEST,
                "before the first trial, but the real authority answers as in the test: no data where a name has no AAAA record",
                false,
            )
            .or_in_part(true),
        },
        Clause::should(TESTER, "2 (r + delta) within 0.25 t, delta at least 0.1", quarter, true),
    ]
}
