//! The vectors for DNS servers against a server written from the RFCs, and against rigs of it that break one rule each.

mod fault;
mod judging;
mod mistakes;
mod octets;
mod reference;
mod table;

use crate::dns::{DnsMessage, DnsName, DnsSetting, ResolvedExchange, Rtype, VectorAuthority};
use crate::judge::{DnsAnswer, DnsOutcome, judge_dns};
use crate::notation::{RequirementFile, read};
use crate::tests::patterns::names_meant;
use crate::{ControlFrames, VectorJudgement, VectorResult};
use fault::DnsFault;
use reference::Reference;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use table::{DNS_RIGS, DnsRigRow};

const FILES: [&str; 3] = ["rfc6147.toml", "rfc7050.toml", "rfc8880.toml"];

fn setting(prefix: &str) -> DnsSetting {
    DnsSetting {
        prefix: prefix.parse().expect("a prefix"),
        domain: "sixbench.test".to_owned(),
        authority: Ipv4Addr::new(198, 18, 0, 2),
    }
}

fn files() -> Vec<RequirementFile> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../conformance");
    let read_file = |name: &&str| {
        let text = std::fs::read_to_string(folder.join(name)).expect("the file");
        read(name, &text).unwrap_or_else(|error| panic!("{error}"))
    };
    FILES.iter().map(read_file).collect()
}

/// A vector for one server.
struct NamedExchange {
    name: String,
    exchange: ResolvedExchange,
}

/// Returns the vectors that apply to a server with this prefix.
fn exchanges(prefix: &str) -> Vec<NamedExchange> {
    let setting = setting(prefix);
    let files = files();
    let vectors = files.iter().flat_map(|file| &file.vectors);
    let applicable = vectors.filter_map(|vector| {
        let written = vector.dns.as_deref().expect("a vector for DNS servers");
        written.applies_to(&setting).then(|| NamedExchange {
            name: vector.name.clone(),
            exchange: written
                .resolve(&vector.name, &setting)
                .expect("read before"),
        })
    });
    applicable.collect()
}

fn authority(exchanges: &[NamedExchange]) -> VectorAuthority {
    VectorAuthority::new(exchanges.iter().map(|named| &named.exchange))
}

/// Returns the judgement of each vector on the reference server, or on a rig.
fn judgements(
    prefix: &str,
    exchanges: &[NamedExchange],
    authority: &VectorAuthority,
    fault: Option<DnsFault>,
) -> Vec<VectorJudgement> {
    let judged = exchanges
        .iter()
        .map(|named| judgement(prefix, authority, &named.exchange, fault));
    judged.collect()
}

fn judgement(
    prefix: &str,
    authority: &VectorAuthority,
    exchange: &ResolvedExchange,
    fault: Option<DnsFault>,
) -> VectorJudgement {
    let server = Reference {
        authority,
        prefix: prefix.parse().expect("a prefix"),
        fault,
        asked: RefCell::new(Vec::new()),
    };
    let query = exchange.query.octets(0x1234).expect("a query");
    let answer = match server.answer(&query, exchange.query.transport) {
        Some(octets) => DnsAnswer::Message(DnsMessage::parse(&octets).expect("a message")),
        None => DnsAnswer::Nothing,
    };
    let asked: Vec<(DnsName, Rtype)> = server.asked.into_inner();
    let outcome = DnsOutcome {
        answer,
        age: 0,
        control: ControlFrames::Came,
        forbidden_questions: exchange.forbidden_questions(&asked),
    };
    judge_dns(exchange, &outcome)
}

const WELL_KNOWN: &str = "64:ff9b::/96";

#[test]
fn the_reference_server_is_right_in_every_vector_with_every_length_of_prefix() {
    let prefixes = [
        WELL_KNOWN,
        "2001:db8::/32",
        "2001:db8:100::/40",
        "2001:db8:122::/48",
        "2001:db8:122:300::/56",
        "2001:db8:122:344::/64",
        "2001:db8:122:344::/96",
    ];
    for prefix in prefixes {
        let exchanges = exchanges(prefix);
        assert!(exchanges.len() > 75, "{}", exchanges.len());
        let judged = judgements(prefix, &exchanges, &authority(&exchanges), None);
        let wrong: Vec<String> = exchanges
            .iter()
            .zip(judged)
            .filter(|(_, judgement)| judgement.result != VectorResult::Right)
            .map(|(named, judgement)| format!("{} with {prefix}: {judgement:#?}", named.name))
            .collect();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}

fn meant_by(patterns: &[&str], exchanges: &[NamedExchange]) -> BTreeSet<String> {
    names_meant(patterns, exchanges.iter().map(|named| named.name.as_str()))
}

/// Returns the names of the vectors with one of these results on a rig.
fn with_result(
    exchanges: &[NamedExchange],
    judged: &[VectorJudgement],
    is_counted: fn(VectorResult) -> bool,
) -> BTreeSet<String> {
    exchanges
        .iter()
        .zip(judged)
        .filter(|(_, judgement)| is_counted(judgement.result))
        .map(|(named, _)| named.name.clone())
        .collect()
}

#[test]
fn each_rig_fails_the_vectors_of_its_rule_and_no_other() {
    let exchanges = exchanges(WELL_KNOWN);
    let authority = authority(&exchanges);
    let mut mistakes = Vec::new();
    for DnsRigRow {
        fault,
        fails,
        chooses,
    } in DNS_RIGS
    {
        let judged = judgements(WELL_KNOWN, &exchanges, &authority, Some(*fault));
        let seen = [
            with_result(&exchanges, &judged, VectorResult::is_violation),
            with_result(&exchanges, &judged, |result| {
                result == VectorResult::Allowed
            }),
        ];
        let meant = [meant_by(fails, &exchanges), meant_by(chooses, &exchanges)];
        if seen != meant {
            mistakes.push(format!("{fault:?}: {seen:?} instead of {meant:?}"));
        }
    }
    assert!(mistakes.is_empty(), "{}", mistakes.join("\n"));
}

#[test]
fn every_vector_is_failed_by_a_rig() {
    let exchanges = exchanges(WELL_KNOWN);
    let caught: BTreeSet<String> = DNS_RIGS
        .iter()
        .flat_map(|row| meant_by(row.fails, &exchanges))
        .collect();
    let free = exchanges
        .iter()
        .map(|named| named.name.as_str())
        .filter(|name| !caught.contains(*name));
    assert_eq!(free.collect::<Vec<_>>(), Vec::<&str>::new());
}
