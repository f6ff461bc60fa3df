//! Octets of queries and of the authority's answers, read by a program that shares no code with this crate: scapy. Without Debian's python3-scapy the
//! test fails.

use super::{NamedExchange, WELL_KNOWN, authority, exchanges};
use crate::dns::{AuthorityReply, DnsMessage, DnsQuery, DnsRecord, HeaderFlag};
use std::process::{Command, Stdio};

/// Returns a message as the script prints it.
fn line(message: &DnsMessage) -> String {
    let bit = |flag| u8::from(message.has(flag));
    let (name, rtype, class) = message.question.as_ref().expect("a question");
    let edns = message.edns.map_or("none".to_owned(), |edns| {
        format!("{}/{}", edns.size, u8::from(edns.is_dnssec_ok))
    });
    let records = [&message.answer, &message.authority, &message.additional];
    let records = records.map(|section| section.iter().map(record).collect::<Vec<_>>().join(","));
    format!(
        "{} qr={} aa={} tc={} rd={} ad={} cd={} rcode={} {name}. {} {} edns={edns} {}",
        message.id,
        bit(HeaderFlag::Response),
        bit(HeaderFlag::Authoritative),
        bit(HeaderFlag::Truncated),
        bit(HeaderFlag::RecursionDesired),
        bit(HeaderFlag::AuthenticData),
        bit(HeaderFlag::CheckingDisabled),
        message.rcode.to_int(),
        rtype.to_int(),
        class.to_int(),
        records.join(" | "),
    )
}

fn record(record: &DnsRecord) -> String {
    let owner = record.owner();
    format!(
        "{owner}. {} {}",
        record.rtype().to_int(),
        record.ttl().as_secs()
    )
}

fn hexadecimal(octets: &[u8]) -> String {
    octets.iter().map(|octet| format!("{octet:02x}")).collect()
}

/// Returns the line of a query from what the vector says, not from its octets.
fn query_line(id: u16, query: &DnsQuery) -> String {
    let DnsQuery {
        name, rtype, class, ..
    } = query;
    let edns = query.edns.map_or("none".to_owned(), |edns| {
        format!("{}/{}", edns.size, u8::from(edns.is_dnssec_ok))
    });
    format!(
        "{id} qr=0 aa=0 tc=0 rd=1 ad={} cd={} rcode=0 {name}. {} {} edns={edns}  |  | ",
        u8::from(query.is_authentic_data),
        u8::from(query.is_checking_disabled),
        rtype.to_int(),
        class.to_int(),
    )
}

#[test]
fn scapy_reads_the_same_in_queries_and_in_answers_of_the_authority() {
    let exchanges = exchanges(WELL_KNOWN);
    let authority = authority(&exchanges);
    let (mut octets, mut expected) = (Vec::new(), Vec::new());
    for (NamedExchange { exchange, .. }, id) in exchanges.iter().zip(1..) {
        let query = exchange.query.octets(id).expect("a query");
        expected.push(query_line(id, &exchange.query));
        octets.push(hexadecimal(&query));
        if let AuthorityReply::Answer(answer) = authority.reply(&query, exchange.query.transport) {
            expected.push(line(&DnsMessage::parse(&answer).expect("an answer")));
            octets.push(hexadecimal(&answer));
        }
    }
    let script = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/src/tests/dns/read_messages.py"
    );
    let output = Command::new("/usr/bin/python3")
        .arg(script)
        .args(&octets)
        .stdin(Stdio::null())
        .output()
        .expect("/usr/bin/python3 of Debian's python3");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "is Debian's python3-scapy installed? (scripts/install-dependencies) {error}"
    );
    let read = String::from_utf8(output.stdout).expect("text");
    let read: Vec<&str> = read.lines().collect();
    assert_eq!(read.len(), expected.len());
    for (ours, scapys) in expected.iter().zip(read) {
        assert_eq!(ours, scapys);
    }
}
