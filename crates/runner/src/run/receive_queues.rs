//! Looks for interfaces of the tester that give all received frames of a test to one queue, though they have several.

use super::session::Session;
use sixbench_method::measures::Family;
use sixbench_method::plan::Test;
use sixbench_method::record::Warning;
use std::collections::BTreeSet;

/// Returns a warning for each interface of a session that gives all received frames of some of these tests to one queue.
pub(super) fn warnings<'t>(
    session: &Session,
    tests: impl Iterator<Item = &'t Test>,
) -> Vec<Warning> {
    let sent: BTreeSet<&str> = tests.flat_map(unspread_flows).copied().collect();
    let mut warnings = Vec::new();
    for (interface, flows) in session.spread_by_addresses() {
        let flows = flows.into_iter().filter(|flow| sent.contains(flow));
        let flows: Vec<String> = flows.map(str::to_owned).collect();
        if !flows.is_empty() {
            warnings.push(Warning::OneReceiveQueue { interface, flows });
        }
    }
    warnings
}

/// Returns the kinds of UDP that a test sends without varying addresses, in the words of `ethtool -N`.
fn unspread_flows(test: &Test) -> &'static [&'static str] {
    let has_one_pair = test.traffic.has_one_address_pair() && test.traffic.clients() == 1;
    match test.measure.family() {
        Family::Frames | Family::Requests | Family::PhaseOne if !has_one_pair => &[],
        Family::Frames | Family::Requests | Family::PhaseOne if test.ipv4_only => &["udp4"],
        Family::Frames | Family::Requests | Family::PhaseOne if test.ipv6_forwarded => &["udp6"],
        Family::Frames | Family::Requests | Family::PhaseOne => &["udp4", "udp6"],
        Family::Tcp | Family::Queries | Family::Vectors => &[],
    }
}
