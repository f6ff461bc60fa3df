//! TCP connections: RFC 3511 sections 5.2 and 5.3, which RFC 8219 section 8 asks for. RFC 3511 is obsolete by RFC 9411.

use super::Clause;
use super::numbers::seconds;
use crate::plan::{Plan, Tcp, TcpCapacity};
use crate::trial::tcp::Close;

const CAPACITY: &str = "RFC 3511 section 5.2.3";
const RATE: &str = "RFC 3511 section 5.3.3";

/// The maximum TCP connection establishment rate.
pub(crate) fn rate(plan: &Plan, tcp: &Tcp) -> Vec<Clause> {
    let number = format!("the rate times {}", seconds(plan.trial.duration_ns));
    let mut clauses = vec![
        Clause::must(RATE, "an iterative search for the highest rate at which all connections succeed", "a search", true),
        Clause::must("RFC 3511 section 5.3.2.1", "the number of connections is defined", number, true),
    ];
    clauses.extend(common(RATE, "RFC 3511 section 5.3.2.2", tcp));
    clauses
}

/// The concurrent TCP connection capacity.
pub(crate) fn capacity(capacity: &TcpCapacity) -> Vec<Clause> {
    let steps = format!("doubling from {} to {}, then halving, known to {}", capacity.start, capacity.most, capacity.error);
    let rate = format!("{} connections/s", capacity.rate.0);
    let asked = "one GET when a connection is established, one more when all are: the procedure for proxies, used for all";
    let mut clauses = vec![
        Clause::must(CAPACITY, "an iterative search for the number of concurrent connections", steps, true),
        Clause::should("RFC 3511 section 5.2.2.1", "an attempt rate at or below what the DUT accepts", rate, true),
        Clause::must(CAPACITY, "a GET on each connection after all are established", asked, true),
    ];
    clauses.extend(common(CAPACITY, "RFC 3511 section 5.2.2.2", &capacity.tcp));
    clauses
}

fn common(procedure: &'static str, validation: &'static str, tcp: &Tcp) -> Vec<Clause> {
    let object =
        format!("a GET of HTTP/1.1 on every connection, an object of {} octets, compared octet by octet", tcp.object_octets);
    let closed = match tcp.close {
        Close::Reset => "a RST on each",
        Close::ServerFirst => {
            "each is closed in order, by the server first; the DUT's table is emptied by its recipe's command"
        }
        Close::ClientFirst => {
            "each is closed in order, by the client first; the DUT's table is emptied by its recipe's command"
        }
    };
    vec![
        Clause::must(validation, "HTTP 1.1 or higher, a stated object size", object, true),
        Clause::should(
            procedure,
            "a RST on each connection between iterations, and a wait for the aging time",
            closed,
            tcp.close == Close::Reset,
        ),
        Clause::must(
            "RFC 8219 section 8",
            "tests of stateful translation by RFC 3511",
            "as RFC 8219 cites it; RFC 9411 has obsoleted RFC 3511 and has different tests",
            true,
        ),
    ]
}
