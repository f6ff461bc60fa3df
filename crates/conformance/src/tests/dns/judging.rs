//! The result of a vector for a DNS server, from the answer and from the control queries.

use super::{WELL_KNOWN, setting};
use crate::dns::{DnsMessage, ResolvedExchange};
use crate::judge::{DnsAnswer, DnsOutcome, judge_dns};
use crate::notation::read;
use crate::{ControlFrames, VectorJudgement, VectorResult};
use domain::base::iana::{Class, Rcode};
use domain::base::message_builder::MessageBuilder;
use domain::base::name::Name;
use domain::base::{Message, Ttl};
use domain::rdata::{A, Aaaa};
use std::str::FromStr;

const FILE: &str = r#"rfc = 6147
title = "DNS64"
read = "a text"
technologies = ["dns64"]

[[vector]]
name = "one"
clause = "5.1.6"
level = "MUST"
sentence = "A record is synthesised."
query = "host AAAA"
expect = """
;; status: NOERROR, flags: ra
;; ANSWER SECTION:
host  300  AAAA  pref64::192.31.196.1
"""
[[vector.allowed]]
name = "refused"
clause = "5.4"
expect = ";; status: REFUSED"
"#;

fn exchange() -> ResolvedExchange {
    let file = read("f", FILE).unwrap_or_else(|error| panic!("{error}"));
    let exchange = file.vectors[0].dns.as_deref().expect("an exchange");
    exchange.resolve("one", &setting(WELL_KNOWN)).expect("one")
}

/// The answer that is expected, with changes.
struct Answer {
    rcode: Rcode,
    is_truncated: bool,
    ttl: u32,
    address: &'static str,
    class: Class,
    /// The number of A records after the AAAA record.
    more: u8,
}

const RIGHT: Answer = Answer {
    rcode: Rcode::NOERROR,
    is_truncated: false,
    ttl: 300,
    address: "64:ff9b::c01f:c401",
    class: Class::IN,
    more: 0,
};

impl Answer {
    fn octets(&self) -> Vec<u8> {
        let query = exchange().query.octets(7).expect("a query");
        let query = Message::from_slice(&query).expect("a query");
        let builder = MessageBuilder::new_vec();
        let mut answer = builder.start_answer(query, self.rcode).expect("room");
        answer.header_mut().set_ra(true);
        answer.header_mut().set_tc(self.is_truncated);
        let host: Name<Vec<u8>> = Name::from_str("host.one.sixbench.test.").expect("a name");
        if self.rcode == Rcode::NOERROR {
            let data = Aaaa::new(self.address.parse().expect("an address"));
            let ttl = Ttl::from_secs(self.ttl);
            answer.push((&host, self.class, ttl, data)).expect("room");
        }
        for last in 0..self.more {
            let data = A::from_octets(192, 31, 196, last);
            answer
                .push((&host, Class::IN, Ttl::from_secs(1), data))
                .expect("room");
        }
        answer.finish()
    }
}

fn judged(answer: DnsAnswer, age: u32, control: ControlFrames) -> VectorJudgement {
    let outcome = DnsOutcome {
        answer,
        age,
        control,
        forbidden_questions: Vec::new(),
    };
    judge_dns(&exchange(), &outcome)
}

fn judged_answer(answer: &Answer, age: u32) -> VectorJudgement {
    let message = DnsMessage::parse(&answer.octets()).expect("a message");
    judged(DnsAnswer::Message(message), age, ControlFrames::Came)
}

/// Returns the fields that differ.
fn fields(answer: &Answer) -> Vec<String> {
    let judgement = judged_answer(answer, 1);
    assert_eq!(judgement.result, VectorResult::Wrong);
    let differences = judgement.frames.iter().flat_map(|frame| &frame.differences);
    differences
        .map(|difference| difference.field.clone())
        .collect()
}

#[test]
fn silence_is_no_answer_and_without_control_queries_unknown() {
    let silent = |control| judged(DnsAnswer::Nothing, 1, control).result;
    assert_eq!(silent(ControlFrames::Came), VectorResult::NoAnswer);
    assert_eq!(silent(ControlFrames::Lost), VectorResult::Unknown);
}

#[test]
fn an_answer_counts_whatever_the_control_queries() {
    let message = DnsMessage::parse(&RIGHT.octets()).expect("a message");
    let answer = DnsAnswer::Message(message);
    assert_eq!(
        judged(answer, 1, ControlFrames::Lost).result,
        VectorResult::Right
    );
}

#[test]
fn a_field_that_differs_is_named() {
    assert_eq!(judged_answer(&RIGHT, 1).result, VectorResult::Right);
    let address = "64:ff9b::c01f:c402";
    assert_eq!(fields(&Answer { address, ..RIGHT }), ["data"]);
    assert_eq!(
        fields(&Answer {
            class: Class::CH,
            ..RIGHT
        }),
        ["class"]
    );
    assert_eq!(
        fields(&Answer {
            is_truncated: true,
            ..RIGHT
        }),
        ["flag tc"]
    );
    assert_eq!(
        fields(&Answer {
            rcode: Rcode::SERVFAIL,
            ..RIGHT
        }),
        ["status"]
    );
    // 40 records after the first: more than the 512 octets of a client without EDNS.
    assert_eq!(fields(&Answer { more: 40, ..RIGHT }), ["size"]);
    assert!(
        fields(&Answer { more: 1, ..RIGHT }).is_empty(),
        "a record too many has no counterpart"
    );
}

#[test]
fn a_ttl_may_have_run_down_in_a_cache_for_as_long_as_the_exchange_took() {
    let result = |ttl, age| judged_answer(&Answer { ttl, ..RIGHT }, age).result;
    assert_eq!(result(299, 1), VectorResult::Right);
    assert_eq!(result(298, 1), VectorResult::Wrong);
    assert_eq!(result(298, 2), VectorResult::Right);
    assert_eq!(result(301, 2), VectorResult::Wrong);
}

#[test]
fn an_allowed_answer_is_named_and_a_malformed_one_is_wrong() {
    let allowed = judged_answer(
        &Answer {
            rcode: Rcode::REFUSED,
            ..RIGHT
        },
        1,
    );
    assert_eq!(allowed.result, VectorResult::Allowed);
    assert_eq!(allowed.alternative.as_deref(), Some("refused"));
    let octets = RIGHT.octets();
    assert!(DnsMessage::parse(&octets[..octets.len() - 1]).is_err());
    let malformed = DnsAnswer::Malformed("short".to_owned());
    assert_eq!(
        judged(malformed, 1, ControlFrames::Came).result,
        VectorResult::Wrong
    );
}

#[test]
fn what_came_is_shown_as_a_line_of_a_zone() {
    let judgement = judged_answer(&Answer { ttl: 7, ..RIGHT }, 1);
    let came: Vec<&str> = judgement
        .frames
        .iter()
        .filter_map(|frame| frame.came.as_deref())
        .collect();
    assert_eq!(
        came,
        [
            "status: NOERROR, flags: qr rd ra",
            "host 7 AAAA pref64::192.31.196.1"
        ]
    );
}

#[test]
fn a_forbidden_question_is_wrong_even_without_an_answer() {
    for control in [ControlFrames::Came, ControlFrames::Lost] {
        let outcome = DnsOutcome {
            answer: DnsAnswer::Nothing,
            age: 1,
            control,
            forbidden_questions: vec!["h.example A".to_owned()],
        };
        let judgement = judge_dns(&exchange(), &outcome);
        assert_eq!(judgement.result, VectorResult::Wrong);
        let reason = judgement.reason.unwrap_or_default();
        assert!(reason.contains("h.example A"), "{reason}");
    }
}

#[test]
fn a_flag_that_is_always_compared_may_be_named_otherwise() {
    let with = |flags: &str| {
        let file = read("f", &FILE.replace("flags: ra", flags));
        let file = file.unwrap_or_else(|error| panic!("{error}"));
        let exchange = file.vectors[0].dns.as_deref().expect("an exchange");
        let exchange = exchange.resolve("one", &setting(WELL_KNOWN)).expect("one");
        let message = DnsMessage::parse(&RIGHT.octets()).expect("a message");
        let outcome = DnsOutcome {
            answer: DnsAnswer::Message(message),
            age: 1,
            control: ControlFrames::Came,
            forbidden_questions: Vec::new(),
        };
        judge_dns(&exchange, &outcome).result
    };
    assert_eq!(with("flags: ra rd"), VectorResult::Right);
    assert_eq!(with("flags: ra !rd"), VectorResult::Wrong);
}
