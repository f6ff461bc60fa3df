//! TCP connection establishment rate, RFC 3511 section 5.3 and RFC 8219 section 8: the highest rate of connections that all succeed.

use super::info::HIGHEST_LOAD_PASSED;
use super::keys::{Keys, MeasureDefaults, time};
use super::{Info, Measurement, Noun, Procedure, ProcedureContext, Searched, SendingTime, Term};
use crate::conformance::{self, Clause};
use crate::plan::{Plan, Stateful, Test};
use crate::trial::tcp::Close;
use crate::trial::{TrialKind, TrialSpec};
use crate::units;
use serde::{Deserialize, Serialize};

/// The way TCP connections are made (RFC 3511 sections 5.2.2 and 5.3.2).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Tcp {
    /// Octets of the object that each GET brings.
    pub object_octets: u32,
    /// The time limit of each connection, nanoseconds. Linux repeats a lost SYN after one second.
    pub time_limit_ns: u64,
    /// The way connections are closed.
    pub close: Close,
    /// First and last port the server listens on.
    pub server_ports: (u16, u16),
}

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
    noun: Noun::Connections,
    searched: Some(Searched::OfAll("TCP connection establishment rate")),
    quantities: &[],
    headline: None,
    is_averaged: false,
    axis: "TCP establishment rate",
    open_end: HIGHEST_LOAD_PASSED,
}];

impl Tcp {
    /// Returns the settings that the keys of a test ask for. RFC 3511: a small object, closed as most connections of HTTP are. Linux
    /// repeats a lost SYN after one second: a connection that needs that was lost.
    pub(super) fn read(keys: &impl Keys, _: &MeasureDefaults) -> Self {
        let closes = [("server-first", Close::ServerFirst), ("client-first", Close::ClientFirst), ("reset", Close::Reset)];
        Self {
            object_octets: keys.number("object-size", object_octets).unwrap_or(64),
            time_limit_ns: time(keys, "time-limit", 900_000_000),
            close: keys.text("close", |text| units::word(text, "who closes", &closes)).unwrap_or_default(),
            server_ports: keys.value("server-ports", units::range).unwrap_or((80, 80)),
        }
    }
}

fn object_octets(text: &str) -> Result<u32, String> {
    let octets = text.replace('_', "").parse().ok().filter(|octets| (1..=1_000_000).contains(octets));
    octets.ok_or_else(|| format!("expected octets from 1 to 1000000, not `{text}`"))
}

impl Measurement for Tcp {
    fn info(&self) -> &'static Info {
        &INFOS[0]
    }

    fn sending(&self) -> SendingTime {
        SendingTime::AsPlanned
    }

    fn largest_kind(&self, _stateful: Option<Stateful>) -> TrialKind {
        TrialKind::TcpRate
    }

    fn tcp(&self) -> Option<&Tcp> {
        Some(self)
    }

    fn clauses(&self, plan: &Plan, _test: &Test) -> Vec<Clause> {
        conformance::tcp::rate(plan, self)
    }

    fn procedure(&self, context: &ProcedureContext<'_>) -> Box<dyn Procedure> {
        Box::new(context.search(|spec| TrialSpec { kind: TrialKind::TcpRate, ..spec }))
    }
}
