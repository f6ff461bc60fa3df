//! Explains why a single query had no right answer, and what to do about it.

use super::judge::AnswerClass;
use super::resolve::ResolvedNames;
use super::settings::DnsSettings;
use sixbench_method::plan::DnsRole;
use sixbench_method::trial::dns::TcpCounts;
use sixbench_method::units::counted;
use std::net::{Ipv4Addr, SocketAddr};

/// Explains the failure of the query for the name of `address`: the expected answer, the actual one, and the remedy.
pub(super) fn diagnose(
    settings: &DnsSettings,
    server: SocketAddr,
    resolved: &ResolvedNames,
    address: u32,
) -> String {
    let name = settings.domain.name(Ipv4Addr::from(address));
    let expected = match settings.expectation.for_address(address).address {
        Some(address) => format!("AAAA {address}"),
        None => "no data".to_owned(),
    };
    let (class, came) = resolved
        .wrong
        .clone()
        .unwrap_or((None, "nothing".to_owned()));
    let Some(class) = class else {
        return silent(&format!("AAAA {name}"), server, resolved);
    };
    let hint = match (class, settings.expectation.role) {
        (AnswerClass::Refused, DnsRole::Dns64) => {
            "it refuses recursion for this client: allow it, and forward the domain to the authority"
        }
        (AnswerClass::Refused | AnswerClass::Nxdomain, DnsRole::Authority) => {
            "is the zone loaded, with all names of the plan?"
        }
        (AnswerClass::Servfail, _) => {
            "does it reach the authority, and is DNSSEC validation off for the domain?"
        }
        (AnswerClass::Nxdomain, DnsRole::Dns64) => {
            "is the domain forwarded to the authority, and does that know the name?"
        }
        (AnswerClass::Empty, DnsRole::Dns64) => {
            "is DNS64 enabled for this client? The server finds no AAAA record and does not synthesise one from the A record"
        }
        (AnswerClass::WrongAddress, DnsRole::Dns64) => {
            "is its DNS64 prefix the one that is expected?"
        }
        (AnswerClass::WrongTtl, _) => "its answer has a longer TTL than the authority's",
        (AnswerClass::Truncated, _) => {
            "the answer does not fit into a datagram; what else does it contain?"
        }
        (AnswerClass::WrongForm, DnsRole::Dns64) => {
            "an answer without recursion available (RA), or with records that do not belong there"
        }
        (AnswerClass::WrongForm, DnsRole::Authority) => {
            "an answer without authority (AA), or with records that do not belong there"
        }
        _ => "the answer is not the expected one",
    };
    format!("query for AAAA {name}: expected {expected}, got {came}; {hint}")
}

/// Explains why nothing has answered a query.
pub(super) fn silent(query: &str, server: SocketAddr, resolved: &ResolvedNames) -> String {
    let (ip, port, errors) = (server.ip(), server.port(), resolved.errors);
    let connections = resolved.tcp.as_ref();
    if let Some(why) = connections.and_then(|tcp| over_tcp(query, server, tcp)) {
        return why;
    }
    if errors.port_unreachable > 0 {
        return format!(
            "query for {query}: the answer was ICMP port unreachable: nothing listens at {ip} port {port}, or a firewall rejects the \
             query; is the server up, and does it listen on that address and port?"
        );
    }
    if errors.host_unreachable > 0 {
        return format!(
            "query for {query}: {ip} cannot be reached, so nothing is known about its port {port}; is the machine up, and is there a \
             route to it?"
        );
    }
    if errors.other > 0 {
        return format!(
            "query for {query}: the network reports an error other than an unreachable port, address or network; does a \
             firewall reject queries to {ip} port {port}?"
        );
    }
    format!(
        "no answer to the query for {query}, sent {} times; is the server up, does it listen on that address and port, \
         does it allow this client, and does it reach its authority?",
        resolved.queries
    )
}

/// Explains it by what became of the connections; `None` if they do not.
fn over_tcp(query: &str, server: SocketAddr, tcp: &TcpCounts) -> Option<String> {
    let (ip, port) = (server.ip(), server.port());
    let tls_error = tcp.tls.as_ref().and_then(|tls| tls.first_error.as_deref());
    if let Some(error) = tls_error {
        return Some(format!(
            "query for {query}: {ip} port {port} accepts connections over TCP, but TLS fails there: {error}; does the server speak TLS 1.2 or 1.3 on \
             that port, usually 853, and has it the certificate that is expected?"
        ));
    }
    if tcp.opened == 0 {
        return Some(format!(
            "query for {query}: no connection over TCP was established with {ip} port {port}; is the server up, and does it serve TCP there?"
        ));
    }
    (tcp.closed > 0).then(|| {
        format!(
            "query for {query}: the server has closed {} over TCP without an answer; may this client query it over TCP?",
            counted(tcp.closed, "connection")
        )
    })
}
