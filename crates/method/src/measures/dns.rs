//! DNS resolution performance, RFC 8219 section 9: the highest rate of queries that are all answered rightly and in time. By the same
//! procedure an authoritative server is measured, and a device that forwards queries.

use super::{Info, Measurement, Noun, Procedure, ProcedureContext, Searched};
use crate::plan::{Dns, DnsRole, Stateful};
use crate::trial::{Shape, TrialSpec};

const fn info(name: &'static str, searched: Searched) -> Info {
    Info { name, noun: Noun::Queries, searched: Some(searched), quantities: &[], headline: None }
}

pub(super) static INFOS: [Info; 3] = [
    info("dns64", Searched::OfAll("DNS64 resolution performance")),
    info("dns-authority", Searched::OfAll("Authoritative DNS performance")),
    info("dns-queries", Searched::Throughput),
];

impl Measurement for Dns {
    fn info(&self) -> &'static Info {
        match self.role {
            DnsRole::Dns64 => &INFOS[0],
            DnsRole::Authority => &INFOS[1],
            DnsRole::Through => &INFOS[2],
        }
    }

    fn largest_shape(&self, _stateful: Option<Stateful>) -> Shape {
        Shape::Queries
    }

    fn dns(&self) -> Option<&Dns> {
        Some(self)
    }

    fn procedure(&self, context: &ProcedureContext<'_>) -> Box<dyn Procedure> {
        Box::new(context.search(|spec| TrialSpec { shape: Shape::Queries, ..spec }))
    }
}
