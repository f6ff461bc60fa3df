//! Why a single query had no right answer, in words, and what to do about it.

use super::judge::Fate;
use super::resolve::Resolved;
use super::settings::DnsSettings;
use sixbench_method::plan::DnsRole;
use std::net::Ipv4Addr;

/// Explains the failure of the query for the name of `address`: the answer expected, what came instead, and what to do.
pub(super) fn explain(settings: &DnsSettings, resolved: &Resolved, address: u32) -> String {
    let name = settings.domain.name(Ipv4Addr::from(address));
    let expected = match settings.expectation.of(address).address {
        Some(address) => format!("AAAA {address}"),
        None => "no data".to_owned(),
    };
    let (fate, came) = resolved.wrong.clone().unwrap_or((None, "nothing".to_owned()));
    let Some(fate) = fate else { return silent(&name, resolved) };
    let hint = match (fate, settings.expectation.role) {
        (Fate::Refused, DnsRole::Dns64) => {
            "it refuses recursion for this client: allow it, and forward the domain to the authority"
        }
        (Fate::Refused | Fate::Nxdomain, DnsRole::Authority) => "is the zone loaded, with all names the plan asks for?",
        (Fate::Servfail, _) => "does it reach the authority, and is DNSSEC validation off for the domain?",
        (Fate::Nxdomain, DnsRole::Dns64) => "is the domain forwarded to the authority, and does that know the name?",
        (Fate::Empty, DnsRole::Dns64) => {
            "is DNS64 enabled, and for this client? It finds no AAAA record and makes none of the A record"
        }
        (Fate::WrongAddress, DnsRole::Dns64) => "is its DNS64 prefix the one that is expected?",
        (Fate::WrongTtl, _) => "its answer is to be kept longer than the authority says",
        (Fate::Truncated, _) => "the answer does not fit: what else does it hold?",
        (Fate::WrongForm, DnsRole::Dns64) => {
            "an answer without recursion available (RA), or with records that do not belong there"
        }
        (Fate::WrongForm, DnsRole::Authority) => "an answer without authority (AA), or with records that do not belong there",
        _ => "the answer is not what was due",
    };
    format!("asked for AAAA {name}, expected {expected}, got {came}; {hint}")
}

fn silent(name: &str, resolved: &Resolved) -> String {
    if resolved.unreachable > 0 {
        return format!(
            "asked for AAAA {name}: the network says unreachable or refused; is the server up, and does it listen on that port?"
        );
    }
    format!(
        "asked for AAAA {name} {} times and nobody answered; is the server up, does it listen on that address and port, does it allow this \
         client, and does it reach its authority?",
        resolved.queries
    )
}
