//! Answers to our queries. The comparison of octets and the library must agree (which `engine::fuzzing` checks), and an answer judged right must
//! also be right according to another library, simple-dns.

use crate::input::Input;
use simple_dns::rdata::RData;
use simple_dns::{OPCODE, Packet, PacketFlag, QCLASS, QTYPE, RCODE, TYPE};
use sixbench_engine::dns::names::Domain;
use sixbench_engine::fuzzing::AnswerJudge;
use sixbench_method::plan::DnsRole;
use std::net::Ipv6Addr;

const ADDRESS: u32 = 0x0a00_0001;
const NAME: &str = "010-000-000-001.dns64perf.test";
const EXPECTED: Ipv6Addr = Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0x0a00, 1);

thread_local! {
    static JUDGES: [AnswerJudge; 3] = judges();
}

fn judges() -> [AnswerJudge; 3] {
    let domain = Domain::new("dns64perf.test").expect("a domain");
    [
        (Some(EXPECTED), DnsRole::Dns64),
        (Some(EXPECTED), DnsRole::Authority),
        (None, DnsRole::Authority),
    ]
    .map(|(expected, role)| AnswerJudge::new(&domain, ADDRESS, expected, role))
}

/// The first octet selects the expected answer, and whether the right answer is changed or the rest is the message.
pub(crate) fn run(octets: &[u8]) {
    let mut input = Input(octets);
    let how = input.octet();
    JUDGES.with(|judges| {
        let nth = usize::from(how >> 1) % judges.len();
        let judge = &judges[nth];
        if how & 0xe0 == 0xe0 {
            assert!(!judge.describe(input.0).is_empty());
        }
        if how & 1 == 0 {
            return check(judge, input.0, nth);
        }
        let mut answer = right_answer(judge, nth);
        input.change(&mut answer);
        check(judge, &answer, nth);
    });
}

/// Returns the right answer to the query of the `nth` judge.
fn right_answer(judge: &AnswerJudge, nth: usize) -> Vec<u8> {
    let mut answer = judge.query().to_vec();
    // A response; recursion is available, or the answer is authoritative.
    answer[2] |= if nth == 0 { 0x80 } else { 0x84 };
    answer[3] |= if nth == 0 { 0x80 } else { 0 };
    if nth < 2 {
        answer[7] = 1;
        answer.extend_from_slice(&[0xc0, 12, 0, 28, 0, 1, 0, 0, 0, 60, 0, 16]);
        answer.extend_from_slice(&EXPECTED.octets());
    }
    answer
}

fn check(judge: &AnswerJudge, message: &[u8], nth: usize) {
    if judge.is_right(message) {
        // If simple-dns cannot parse a message, for example because of obscure record types, it cannot judge it.
        if let Ok(packet) = Packet::parse(message) {
            check_packet(&packet, nth);
        }
    }
}

fn check_packet(packet: &Packet<'_>, nth: usize) {
    assert!(
        packet.has_flags(PacketFlag::RESPONSE) && !packet.has_flags(PacketFlag::TRUNCATION),
        "a whole response"
    );
    assert!(
        packet.has_flags(PacketFlag::RECURSION_DESIRED),
        "recursion was desired"
    );
    let needed = if nth == 0 {
        PacketFlag::RECURSION_AVAILABLE
    } else {
        PacketFlag::AUTHORITATIVE_ANSWER
    };
    assert!(
        packet.has_flags(needed),
        "a server of this kind has a flag of its own"
    );
    assert_eq!(
        (packet.opcode(), packet.rcode()),
        (OPCODE::StandardQuery, RCODE::NoError)
    );
    let [question] = &packet.questions[..] else {
        panic!("{} questions", packet.questions.len())
    };
    assert!(
        question.qname.to_string().eq_ignore_ascii_case(NAME),
        "another name: {}",
        question.qname
    );
    assert!(matches!(
        (question.qtype, question.qclass),
        (
            QTYPE::TYPE(TYPE::AAAA),
            QCLASS::CLASS(simple_dns::CLASS::IN)
        )
    ));
    match &packet.answers[..] {
        [] => assert_eq!(nth, 2, "no address"),
        [record] => {
            let RData::AAAA(found) = &record.rdata else {
                panic!("no address")
            };
            assert_eq!((nth < 2, Ipv6Addr::from(found.address)), (true, EXPECTED));
            assert!(record.ttl <= 3600 && record.name.to_string().eq_ignore_ascii_case(NAME));
        }
        more => panic!("{} records", more.len()),
    }
}
