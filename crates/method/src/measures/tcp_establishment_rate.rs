//! TCP connection establishment rate, RFC 3511 section 5.3 and RFC 8219 section 8: the highest rate of connections that all succeed.

use super::info::HIGHEST_LOAD_PASSED;
use super::loads::Loads;
use super::tcp::{Tcp, common_clauses};
use super::{
    Family, Info, Measurement, Procedure, ProcedureContext, SearchedRate, SendingTime, Term,
    TestContext, TrafficRequirements,
};
use crate::clause::Clause;
use crate::clause::numbers::seconds;
use crate::plan::{Profile, Stateful};
use crate::trial::{TrialKind, TrialSpec};

const RATE: &str = "RFC 3511 section 5.3.3";

pub(super) static INFOS: [Info; 1] = [Info {
    term: Term {
        name: "tcp-establishment-rate",
        definition: "Maximum TCP connection establishment rate: the highest rate of connections that all succeed.",
        clause: "RFC 3511 section 5.3, cited by RFC 8219 section 8; RFC 9411 has obsoleted RFC 3511",
        here: "A search over the rate. Connection i is attempted at start + i / rate, whatever happened to earlier ones, with \
               the kernel's own sockets; each carries a GET of HTTP/1.1, whose object is compared octet by octet, and is then \
               closed.",
        unit: "connections per second",
    },
    summary: "the highest rate of TCP connections with a GET on each (RFC 3511 section 5.3, RFC 8219 section 8)",
    family: Family::Tcp,
    traffic: TrafficRequirements::None,
    demand: None,
    is_steady: true,
    is_of_delay: false,
    finds_a_limit: false,
    searches_phase_one: false,
    repetitions: 20,
    searched: Some(SearchedRate::OfAll("TCP connection establishment rate")),
    quantities: &[],
    headline: None,
    is_averaged: false,
    axis: "TCP establishment rate",
    open_end: HIGHEST_LOAD_PASSED,
}];

impl Measurement for Tcp {
    fn info(&self) -> &'static Info {
        &INFOS[0]
    }

    fn loads(&self) -> Loads<'_> {
        Loads::Searched
    }

    fn sending(&self) -> SendingTime {
        SendingTime::AsPlanned
    }

    fn largest_kind(&self, _stateful: Option<Stateful>) -> TrialKind {
        TrialKind::TcpRate
    }

    fn follow(&mut self, _profile: Profile, _trial_ns: u64) {}

    fn lengthen(&mut self) {}

    fn clauses(&self, test: &TestContext<'_>) -> Vec<Clause> {
        let number = format!("the rate times {}", seconds(test.trial.duration_ns));
        let search = format!("a search; {}", test.search.start.phrase());
        let mut clauses = vec![
            Clause::must(
                RATE,
                "an iterative search for the highest rate at which all connections succeed",
                search,
                true,
            ),
            Clause::must(
                "RFC 3511 section 5.3.2.1",
                "the number of connections is defined",
                number,
                true,
            ),
        ];
        clauses.extend(common_clauses(RATE, "RFC 3511 section 5.3.2.2", self));
        clauses
    }

    fn procedure(&self, context: &ProcedureContext<'_>) -> Box<dyn Procedure> {
        Box::new(context.search(|spec| TrialSpec {
            kind: TrialKind::TcpRate,
            ..spec
        }))
    }
}
