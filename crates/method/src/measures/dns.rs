//! DNS resolution performance, RFC 8219 section 9: the highest rate of queries that are all answered rightly and in time. By the same
//! procedure an authoritative server is measured, and a device that forwards queries.

use super::info::HIGHEST_LOAD_PASSED;
use super::{Info, Measurement, Noun, Procedure, ProcedureContext, Searched, SendingTime, Term};
use crate::conformance::{self, Clause};
use crate::plan::{DnsTest, DnsRole, Plan, Stateful, Test};
use crate::trial::{TrialKind, TrialSpec};

const fn info(term: Term, summary: &'static str, searched: Searched) -> Info {
    Info { term, summary, noun: Noun::Queries, searched: Some(searched), quantities: &[], headline: None, is_averaged: false, axis: "answered", open_end: HIGHEST_LOAD_PASSED }
}

pub(super) static INFOS: [Info; 3] = [
    info(
        Term {
            name: "dns64",
            definition: "DNS64 performance: the highest rate of DNS queries that are all answered with the right AAAA record \
                         in time.",
            clause: "RFC 8219 section 9; DNS64 by RFC 6147",
            here: "A search over the rate. The tester is client and authoritative server: query i is sent at start + i / \
                   rate, whatever became of those before; the authority has one name for each IPv4 address of a network. A \
                   trial passes only if the first answer to every query came within the timeout and is right in address, TTL \
                   and form.",
            unit: "queries per second",
        },
        "the highest rate of DNS queries that a DNS64 server answers all, rightly and in time (RFC 8219 section 9)",
        Searched::OfAll("DNS64 resolution performance"),
    ),
    info(
        Term {
            name: "dns-authority",
            definition: "Performance of an authoritative DNS server: the highest rate of queries that it all answers rightly \
                         from its zone.",
            clause: "the method of RFC 8219 section 9.2, but no part of it: Lencse, Benchmarking authoritative DNS servers, \
                     IEEE Access, 2020",
            here: "As dns64, but the server is the device itself: its zone has the plan's names.",
            unit: "queries per second",
        },
        "the same of an authoritative server, which answers from its zone",
        Searched::OfAll("Authoritative DNS performance"),
    ),
    info(
        Term {
            name: "dns-queries",
            definition: "The highest rate of DNS queries that pass through a device, or several in a row, and are all \
                         answered rightly in time.",
            clause: "no RFC: Lencse and Nagy, Towards the scalability comparison of the Jool implementation of the 464XLAT \
                     and of the MAP-T IPv4aaS technologies, International Journal of Communication Systems, 2022",
            here: "As dns64, but the tester's own authority stands at the right end and is asked directly: the device only \
                   forwards. An answer counts once its address, TTL and form are right. For the paper's own rule set `timeout \
                   = \"250ms\"` and a loss goal of 0.01 %.",
            unit: "queries per second",
        },
        "the same through a device that forwards them to the tester's own authority",
        Searched::Throughput,
    ),
];

impl Measurement for DnsTest {
    fn info(&self) -> &'static Info {
        match self.role {
            DnsRole::Dns64 => &INFOS[0],
            DnsRole::Authority => &INFOS[1],
            DnsRole::Through => &INFOS[2],
        }
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
