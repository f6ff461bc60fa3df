//! Queries to the authority, over UDP and over TCP. The answer that is assembled from copies and the one composed by the library must be the
//! same; another library, simple-dns, must be able to parse it; and over TCP the result must not depend on how the queries are divided into
//! pieces.

use crate::input::Input;
use simple_dns::{Packet, PacketFlag, SimpleDnsError};
use sixbench_engine::dns::authority::{AddressZone, Answerer};
use sixbench_engine::dns::names::{Domain, NamePopulation};
use sixbench_engine::fuzzing::{answer_both_ways, answers_over_tcp};
use std::net::IpAddr;
use std::sync::{Arc, LazyLock};

static ANSWERER: LazyLock<Answerer> = LazyLock::new(|| {
    let domain = Domain::new("dns64perf.test").expect("a domain");
    let zone = AddressZone {
        domain,
        population: NamePopulation { with_aaaa: 50 },
        ttl_s: 3600,
    };
    Answerer::new(
        Arc::new(zone),
        &[IpAddr::from([192, 0, 2, 53]), IpAddr::from([0xfd; 16])],
    )
});

/// A query for an AAAA record with an OPT record.
const QUERY: &[u8] =
    b"\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x01\x0f010-000-255-001\x09dns64perf\x04test\x00\x00\x1c\x00\x01\
    \x00\x00\x29\x10\x00\x00\x00\x80\x00\x00\x0c\x00\x0a\x00\x08abcdefgh";

/// The first octet decides whether a query is changed or the rest is the message.
pub(crate) fn run(octets: &[u8]) {
    let mut input = Input(octets);
    if input.octet() & 1 == 0 {
        return check(input.0);
    }
    let mut query = QUERY.to_vec();
    input.change(&mut query);
    check(&query);
}

fn check(query: &[u8]) {
    let answer = answer_both_ways(&ANSWERER, query);
    if answer.is_empty() {
        assert!(
            query.len() < 12 || query[2] & 0x80 != 0,
            "a query without an answer"
        );
        return;
    }
    assert_eq!(answer[..2], query[..2], "the answer to another query");
    let packet = match Packet::parse(&answer) {
        Ok(packet) => packet,
        // A question is copied, even if its type or class is unknown.
        Err(
            SimpleDnsError::InvalidQType(_)
            | SimpleDnsError::InvalidQClass(_)
            | SimpleDnsError::InvalidClass(_),
        ) => return,
        Err(error) => panic!("another library cannot read the answer {answer:02x?}: {error:?}"),
    };
    assert!(packet.has_flags(PacketFlag::RESPONSE));
    assert!(
        packet.answers.len() <= 1
            && packet.name_servers.len() <= 1
            && packet.additional_records.is_empty()
    );
}

/// Takes the octets of a connection in pieces, each preceded by its length.
pub(crate) fn run_stream(octets: &[u8]) {
    let pieces = || Input(octets).pieces();
    let answers = answers_over_tcp(&ANSWERER, pieces());
    let whole: Vec<u8> = pieces().flatten().copied().collect();
    assert_eq!(
        answers,
        answers_over_tcp(&ANSWERER, std::iter::once(&whole[..])),
        "pieces matter"
    );
    assert_eq!(
        answers,
        one_by_one(&whole),
        "the answers over TCP are not those over UDP"
    );
}

/// Returns the answers to the messages of a connection (RFC 1035 section 4.2.2), each with its length.
fn one_by_one(mut octets: &[u8]) -> Vec<u8> {
    let mut answers = Vec::new();
    while let [high, low, rest @ ..] = octets {
        let length = usize::from(u16::from_be_bytes([*high, *low]));
        let Some((query, after)) = rest.split_at_checked(length) else {
            break;
        };
        let answer = answer_both_ways(&ANSWERER, query);
        if !answer.is_empty() {
            answers.extend_from_slice(&(answer.len() as u16).to_be_bytes());
            answers.extend_from_slice(&answer);
        }
        octets = after;
    }
    answers
}
