//! The way TCP connections are made, in each measurement that makes some (RFC 3511).

use super::keys::{Keys, MeasureDefaults, time};
use crate::clause::Clause;
use crate::terms::bounds::{Bounded, NumberBound, TableBounds};
use crate::trial::tcp::Close;
use crate::units::{self, ValueError, expected};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The way TCP connections are made (RFC 3511 sections 5.2.2 and 5.3.2).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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

impl Bounded for Tcp {
    const BOUNDS: TableBounds = TableBounds {
        numbers: &[
            ("object-octets", OBJECT_OCTETS),
            ("time-limit-ns", NumberBound::TIME_NS),
            ("server-ports", NumberBound::UINT16),
        ],
        ..TableBounds::NONE
    };
}

const OBJECT_OCTETS: NumberBound = NumberBound::new(1.0, 1e6);

impl Tcp {
    /// Returns the settings that the keys of a test ask for. RFC 3511: a small object, closed as most connections of HTTP are. Linux
    /// repeats a lost SYN after one second: a connection that needs that was lost.
    pub(super) fn read(keys: &impl Keys, _: &MeasureDefaults) -> Self {
        let closes = [
            ("server-first", Close::ServerFirst),
            ("client-first", Close::ClientFirst),
            ("reset", Close::Reset),
        ];
        Self {
            object_octets: keys.number("object-size", object_octets).unwrap_or(64),
            time_limit_ns: time(keys, "time-limit", 900_000_000),
            close: keys
                .text("close", |text| units::word(text, "who closes", &closes))
                .unwrap_or_default(),
            server_ports: keys.value("server-ports", units::range).unwrap_or((80, 80)),
        }
    }
}

fn object_octets(text: &str) -> Result<u32, ValueError> {
    let octets = text
        .replace('_', "")
        .parse()
        .ok()
        .filter(|octets: &u32| OBJECT_OCTETS.contains(f64::from(*octets)));
    octets.ok_or_else(|| expected(format!("octets {}", OBJECT_OCTETS.from_to()), text))
}

fn closed_in_order(first: &str) -> String {
    format!(
        "each is closed in order, by the {first} first; the DUT's table is emptied by its recipe's command"
    )
}

/// Returns the clauses that concern every measurement of TCP connections.
pub(super) fn common_clauses(
    procedure: &'static str,
    validation: &'static str,
    tcp: &Tcp,
) -> Vec<Clause> {
    let object = format!(
        "a GET of HTTP/1.1 on every connection, an object of {} octets, compared octet by octet",
        tcp.object_octets
    );
    let closed = match tcp.close {
        Close::Reset => "a RST on each".to_owned(),
        Close::ServerFirst => closed_in_order("server"),
        Close::ClientFirst => closed_in_order("client"),
    };
    vec![
        Clause::must(
            validation,
            "HTTP 1.1 or higher, a stated object size",
            object,
            true,
        ),
        Clause::should(
            procedure,
            "a RST on each connection between iterations, and a wait for the aging time",
            closed,
            tcp.close == Close::Reset,
        ),
        Clause::should(
            "RFC 8219 section 8",
            "tests of stateful translation by RFC 3511",
            "as RFC 8219 cites it; RFC 9411 has obsoleted RFC 3511 and has different tests",
            true,
        ),
    ]
}
