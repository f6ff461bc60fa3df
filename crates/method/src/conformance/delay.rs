//! Latency, PDV and IPDV: RFC 8219 sections 7.2 and 7.3.

use super::clause::Clause;
use super::numbers::{SECOND, count, seconds};
use super::rate::{at_throughput, determined};
use crate::measures::clauses::twenty_times;
use crate::measures::{IpdvStream, Latency, Load, PdvStream, TestContext};

const LATENCY: &str = "RFC 8219 section 7.2";
const PDV: &str = "RFC 8219 section 7.3.1";
const IPDV: &str = "RFC 8219 section 7.3.2";
const DETERMINED: &str = "the throughput is determined at each frame size";

/// Latency.
pub(crate) fn latency(test: &TestContext<'_>, latency: &Latency) -> Vec<Clause> {
    let (how, is_determined) = determined(latency.load);
    let determines = Clause::should(LATENCY, DETERMINED, how, is_determined);
    let mut clauses = at_throughput(test, latency.load, LATENCY, determines);
    clauses.push(lasts(LATENCY, "a stream of at least 120 s", latency.duration_ns, 120));
    clauses.extend(tags(latency));
    clauses.extend([
        Clause::should(LATENCY, "TL = median of the latencies", "median", true),
        Clause::should(LATENCY, "WCL = 99.9th percentile of the latencies", worst_case(latency), true),
        twenty_times(test.repetitions, LATENCY, "at least 20 repetitions, the median of their TL and WCL reported"),
        Clause::must(
            LATENCY,
            "the definition of latency in RFC 1242 is stated",
            "store and forward, by software time stamps",
            true,
        ),
        Clause::may(LATENCY, "1st and 99th percentile of the repetitions", "reported, with their number"),
    ]);
    clauses
}

fn tags(latency: &Latency) -> Vec<Clause> {
    let window_ns = latency.duration_ns.saturating_sub(latency.tag_after_ns);
    let actual = format!("{} after {}", count(latency.tagged, "tag"), seconds(latency.tag_after_ns));
    let is_met = latency.tagged >= 500 && latency.tag_after_ns >= 60 * SECOND && window_ns > 0;
    vec![
        Clause::should(LATENCY, "tags in at least 500 frames after 60 s", actual, is_met),
        Clause::should(LATENCY, "the identifier stands after the UDP header", "in the first octets after it", true),
        Clause::must("RFC 2544 section 26.2", "the receiver recognises the tag", "by its number", true),
    ]
}

fn worst_case(latency: &Latency) -> &'static str {
    if latency.tagged < 1000 { "99.9th percentile: of fewer than 1000 the maximum" } else { "99.9th percentile" }
}

/// Packet delay variation.
pub(crate) fn pdv(test: &TestContext<'_>, pdv: &PdvStream) -> Vec<Clause> {
    let mut clauses = stream(test, pdv.load, pdv.duration_ns, PDV);
    clauses.extend([
        Clause::should("RFC 8219 section 7.3", "PDV is measured", "measured", true),
        Clause::must(PDV, "PDV = D99.9 - Dmin, over all frames of the stream", "as asked, over all frames received", true),
        twenty_times(test.repetitions, PDV, "at least 20 repetitions, their median reported"),
        Clause::should(PDV, "1st and 99th percentile of the repetitions", "reported, with their number", true),
        Clause::should(PDV, "milliseconds", "milliseconds", true),
    ]);
    clauses
}

/// Inter packet delay variation.
pub(crate) fn ipdv(test: &TestContext<'_>, ipdv: &IpdvStream) -> Vec<Clause> {
    let mut clauses = stream(test, ipdv.load, ipdv.duration_ns, IPDV);
    clauses.extend([
        Clause::may("RFC 8219 section 7.3", "IPDV is measured as well", "measured"),
        Clause::must(IPDV, "IPDV(i) = D(i) - D(i-1)", "for each frame received with the one before it", true),
        Clause::should(IPDV, "Dmin, Dmed and Dmax of each measurement", "all three", true),
        twenty_times(test.repetitions, IPDV, "at least 20 repetitions"),
        Clause::should(IPDV, "the median of each of the three values is reported", "all three medians", true),
        Clause::should(IPDV, "milliseconds", "milliseconds", true),
    ]);
    clauses
}

/// Returns the clauses that the two delay variations have in common: a stream of 60 s at the throughput rate, which the RFC
/// words in the imperative there.
fn stream(test: &TestContext<'_>, load: Load, duration_ns: u64, section: &'static str) -> Vec<Clause> {
    let (how, is_determined) = determined(load);
    let determines = Clause::must(section, DETERMINED, how, is_determined);
    let mut clauses = at_throughput(test, load, section, determines);
    clauses.push(lasts(section, "a stream of at least 60 s", duration_ns, 60));
    clauses
}

fn lasts(section: &'static str, requirement: &'static str, duration_ns: u64, least: u64) -> Clause {
    Clause::should(section, requirement, seconds(duration_ns), duration_ns >= least * SECOND)
}
