//! Checks before the first SYN whether the tester itself can perform a trial, so that a lack of resources is not counted as a failure of the DUT.

use super::addresses::ConnectionDemand;
use super::connection::socket;
use super::error::{TcpError, try_within};
use super::settings::TcpEnds;
use crate::driver::place;
use sixbench_io::limit;
use sixbench_method::trial::tcp::TcpSpec;
use std::net::SocketAddr;

/// Descriptors in addition to those of connections: listeners, epoll, namespaces, and others that the process may open meanwhile.
const SPARE: u64 = 64;

/// Connections of others that the server keeps open at most, beside the trial's own: a peer that opens one can open any number.
const MOST_STRANGERS: u64 = 1024;

/// Checks what was asked, and what this process has for it. Returns how many connections the server may have open at the same time: the trial's own, and
/// of others as many as there are descriptors left for.
pub(super) fn check(
    ends: &TcpEnds,
    spec: &TcpSpec,
    need: ConnectionDemand,
) -> Result<usize, TcpError> {
    check_asked(ends, spec)?;
    let left = check_descriptors(need.at_once, ends.listen.is_some())?;
    Ok((need.at_once + left.min(MOST_STRANGERS)) as usize)
}

/// Checks that the client's namespace has every address, and that no socket there uses one of the ports. This takes half a second for all ports,
/// so once is enough.
pub(super) fn check_local_addresses(ends: &TcpEnds) -> Result<(), TcpError> {
    let namespace = ends.client_namespace.as_deref();
    let addresses = ends
        .client_addresses
        .iter()
        .map(|&address| SocketAddr::new(address, 0));
    // A socket that listens on a port usually does so on all addresses.
    let ports = ends
        .source_ports
        .clone()
        .map(|port| SocketAddr::new(ends.client_addresses[0], port));
    try_within(namespace, || {
        addresses.chain(ports).try_for_each(|address| {
            socket(address)
                .map(drop)
                .map_err(|source| TcpError::NotHere {
                    address,
                    place: place(namespace),
                    source,
                })
        })
    })
}

fn check_asked(ends: &TcpEnds, spec: &TcpSpec) -> Result<(), TcpError> {
    let wrong = [
        (
            spec.connections == 0,
            "no connection would be opened: rate and duration give less than one",
        ),
        (spec.rate == 0, "the rate is 0"),
        (spec.time_limit_ns == 0, "the time limit is 0"),
        (
            ends.client_addresses.is_empty(),
            "the client has no address",
        ),
        (
            ends.source_ports.is_empty() || ends.server_ports.is_empty(),
            "a range of ports is empty",
        ),
        (
            *ends.source_ports.start() == 0 || *ends.server_ports.start() == 0,
            "port 0 cannot be used",
        ),
        (
            ends.client_addresses
                .iter()
                .any(|address| address.is_ipv4() != ends.server.is_ipv4()),
            "the client's addresses and the server's are of different IP versions",
        ),
    ];
    wrong
        .into_iter()
        .find(|(is_wrong, _)| *is_wrong)
        .map_or(Ok(()), |(_, what)| Err(TcpError::Asked(what)))
}

/// Both ends are in this process, so that a connection takes two descriptors. The server may hold one as long as the client does. Returns how many
/// descriptors the trial leaves.
fn check_descriptors(at_once: u64, has_server: bool) -> Result<u64, TcpError> {
    let allowed = limit::raise_open_files()?;
    let needed = at_once.saturating_mul(1 + u64::from(has_server)) + limit::open_files()? + SPARE;
    allowed
        .checked_sub(needed)
        .ok_or(TcpError::Descriptors { needed, allowed })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_sockets_than_the_process_may_have_are_an_error_with_both_numbers() {
        let allowed = limit::raise_open_files().expect("limit");
        let error = check_descriptors(allowed, false).expect_err("too many");
        assert!(
            matches!(error, TcpError::Descriptors { needed, allowed: found } if found == allowed && needed > allowed)
        );
        assert!(
            check_descriptors(allowed / 2, true).is_err(),
            "both ends count"
        );
        assert!(check_descriptors(10, true).is_ok());
    }
}
