//! Explains why a single query had no right answer, and what to do about it.

use super::judge::AnswerClass;
use super::resolve::ResolvedNames;
use super::settings::DnsSettings;
use sixbench_method::plan::DnsRole;
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
        return silent(&name, server, resolved);
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

fn silent(name: &str, server: SocketAddr, resolved: &ResolvedNames) -> String {
    let (ip, port, errors) = (server.ip(), server.port(), resolved.errors);
    if errors.port_unreachable > 0 {
        return format!(
            "query for AAAA {name}: the answer was ICMP port unreachable: nothing listens at {ip} port {port}, or a firewall rejects the \
             query; is the server up, and does it listen on that address and port?"
        );
    }
    if errors.host_unreachable > 0 {
        return format!(
            "query for AAAA {name}: {ip} cannot be reached, so nothing is known about its port {port}; is the machine up, and is there a \
             route to it?"
        );
    }
    if errors.other > 0 {
        return format!(
            "query for AAAA {name}: the network reports an error other than an unreachable port, address or network; does a \
             firewall reject queries to {ip} port {port}?"
        );
    }
    format!(
        "no answer to the query for AAAA {name}, sent {} times; is the server up, does it listen on that address and port, \
         does it allow this client, and does it reach its authority?",
        resolved.queries
    )
}
