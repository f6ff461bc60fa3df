//! Queries of a file, and answers to them, right and hostile.

use super::super::judge::AnswerClass;
use super::*;
use domain::base::iana::{Rcode, Rtype};
use domain::base::message_builder::AnswerBuilder;
use domain::base::{Message, MessageBuilder, Name};
use domain::rdata::{A, Aaaa, Cname, Mx};
use proptest::prelude::*;
use sixbench_method::plan::DnsRole;
use std::str::FromStr as _;

use crate::dns::names::NamePopulation;

const FILE: &str = "www.example AAAA\nNone.example AAAA\nexample MX\n010-000-000-001.DNS64perf.test AAAA\nwww.example A\n";

fn file_of(role: DnsRole) -> FileQueries {
    let queries = QueryFile::read("queries", FILE).expect("queries");
    let domain = Domain::new("dns64perf.test").expect("a domain");
    let namespace = OwnNames {
        domain: &domain,
        names: "10.0.0.0/8".parse().expect("names"),
    };
    let prefix = (role == DnsRole::Dns64).then(|| "64:ff9b::/96".parse().expect("a prefix"));
    let expectation = ExpectedAnswers {
        role,
        prefix,
        population: NamePopulation::default(),
        most_ttl: 60,
    };
    let names = names_to_look_up(&queries, namespace, &expectation);
    let of_prefix = if role == DnsRole::Dns64 { 2 } else { 0 };
    assert_eq!(names.len(), of_prefix, "{names:?}");
    let found = names.into_iter().map(|name| {
        let has_one = name.starts_with(b"\x03www");
        let own = ["192.0.2.1", "192.0.2.2"].map(|own| own.parse().expect("an address"));
        (name, if has_one { own.to_vec() } else { Vec::new() })
    });
    FileQueries::new(&queries, namespace, expectation, &found.collect())
}

fn name(text: &str) -> Name<Vec<u8>> {
    Name::from_str(text).expect("a name")
}

/// Returns an answer to a query of the file, built by another library.
fn answer(
    file: &FileQueries,
    sequence: u64,
    rcode: Rcode,
    fill: impl FnOnce(&mut AnswerBuilder<Vec<u8>>),
) -> Vec<u8> {
    let message = Message::from_octets(file.message(sequence)).expect("a query");
    let mut answer = MessageBuilder::from_target(Vec::new())
        .expect("a builder")
        .start_answer(&message, rcode)
        .expect("an answer");
    answer.header_mut().set_ra(true);
    answer.header_mut().set_aa(true);
    fill(&mut answer);
    answer.finish()
}

fn aaaa(owner: &str, addresses: &[&str]) -> impl FnOnce(&mut AnswerBuilder<Vec<u8>>) {
    let (owner, addresses): (_, Vec<Aaaa>) = (
        name(owner),
        addresses
            .iter()
            .map(|address| Aaaa::new(address.parse().expect("an address")))
            .collect(),
    );
    move |answer| {
        for address in addresses {
            answer.push((&owner, 600, address)).expect("room");
        }
    }
}

fn class(file: &FileQueries, sequence: u64, reply: &[u8]) -> AnswerClass {
    match file.judge(sequence, reply) {
        MessageClass::Answer(class) => class,
        MessageClass::OtherQuestion => panic!("the question is the same"),
    }
}

#[test]
fn queries_are_sent_as_the_file_has_them_and_from_the_start_again() {
    let file = file_of(DnsRole::Dns64);
    for (sequence, (text, kind)) in [
        ("www.example", Rtype::AAAA),
        ("None.example", Rtype::AAAA),
        ("example", Rtype::MX),
        ("010-000-000-001.DNS64perf.test", Rtype::AAAA),
        ("www.example", Rtype::A),
        ("www.example", Rtype::AAAA),
    ]
    .into_iter()
    .enumerate()
    {
        let message = Message::from_octets(file.message(sequence as u64)).expect("a query");
        let question = message.sole_question().expect("a question");
        assert!(question.qname() == &name(text) && question.qtype() == kind);
        assert!(message.header().rd() && !message.header().qr());
    }
    assert_eq!(file.text(6), "None.example AAAA");
}

#[test]
fn a_synthesised_address_must_embed_one_of_the_a_record_and_the_names_own_is_taken() {
    let file = file_of(DnsRole::Dns64);
    let of = |sequence, owner: &str, addresses: &[&str]| {
        let reply = answer(&file, sequence, Rcode::NOERROR, aaaa(owner, addresses));
        class(&file, sequence, &reply)
    };
    for (addresses, expected) in [
        (&["64:ff9b::192.0.2.1"][..], AnswerClass::Right),
        (
            &["64:ff9b::192.0.2.2", "64:ff9b::192.0.2.1"],
            AnswerClass::Right,
        ),
        (&["2001:db8::1"], AnswerClass::Right),
        (&["64:ff9b::192.0.2.3"], AnswerClass::WrongAddress),
        (
            &["64:ff9b::192.0.2.1", "2001:db8::1"],
            AnswerClass::WrongAddress,
        ),
        (&["::ffff:192.0.2.1"], AnswerClass::WrongAddress),
        (&[], AnswerClass::Empty),
    ] {
        assert_eq!(of(0, "www.example", addresses), expected, "{addresses:?}");
    }
    assert_eq!(of(0, "other.example", &["2001:db8::1"]), AnswerClass::Empty);
    // A name without an A record: nothing may be synthesised, and no data is right.
    assert_eq!(of(1, "none.example", &[]), AnswerClass::Right);
    assert_eq!(of(1, "none.example", &["2001:db8::1"]), AnswerClass::Right);
    assert_eq!(
        of(1, "none.example", &["64:ff9b::192.0.2.1"]),
        AnswerClass::WrongAddress
    );
    // A name of the tester's namespace: everything is known.
    let own = "010-000-000-001.dns64perf.test";
    let exact = |address: &str, ttl: u32| {
        let address = Aaaa::new(address.parse().expect("an address"));
        let reply = answer(&file, 3, Rcode::NOERROR, |answer| {
            answer.push((name(own), ttl, address)).expect("room");
        });
        class(&file, 3, &reply)
    };
    assert_eq!(exact("64:ff9b::a00:1", 60), AnswerClass::Right);
    assert_eq!(exact("64:ff9b::a00:1", 61), AnswerClass::WrongTtl);
    assert_eq!(exact("64:ff9b::a00:2", 60), AnswerClass::WrongAddress);
}

#[test]
fn aliases_are_followed_and_records_of_no_name_on_the_way_are_wrong() {
    let file = file_of(DnsRole::Dns64);
    let alias = |target: &str, address: &str| {
        let address = Aaaa::new(address.parse().expect("an address"));
        let reply = answer(&file, 0, Rcode::NOERROR, |answer| {
            answer
                .push((name("WWW.example"), 60, Cname::new(name("a.example"))))
                .expect("room");
            answer.push((name(target), 60, address)).expect("room");
        });
        class(&file, 0, &reply)
    };
    assert_eq!(alias("a.example", "64:ff9b::192.0.2.1"), AnswerClass::Right);
    assert_eq!(alias("b.example", "64:ff9b::192.0.2.1"), AnswerClass::Empty);
    let reply = answer(&file, 2, Rcode::NOERROR, |answer| {
        answer
            .push((name("example"), 60, Mx::new(10, name("mx.example"))))
            .expect("room");
        answer
            .push((name("other"), 60, A::from_octets(192, 0, 2, 1)))
            .expect("room");
    });
    assert_eq!(class(&file, 2, &reply), AnswerClass::WrongForm);
}

#[test]
fn what_is_right_of_other_types_is_the_form_and_a_response_code_of_an_answer() {
    let file = file_of(DnsRole::Authority);
    let of = |sequence, rcode, change: fn(&mut domain::base::Header)| {
        let reply = answer(&file, sequence, rcode, |answer| change(answer.header_mut()));
        class(&file, sequence, &reply)
    };
    let keep = |_: &mut domain::base::Header| {};
    for sequence in [0, 2, 4] {
        assert_eq!(of(sequence, Rcode::NOERROR, keep), AnswerClass::Right);
        assert_eq!(of(sequence, Rcode::NXDOMAIN, keep), AnswerClass::Right);
        assert_eq!(of(sequence, Rcode::SERVFAIL, keep), AnswerClass::Servfail);
        assert_eq!(of(sequence, Rcode::REFUSED, keep), AnswerClass::Refused);
        assert_eq!(of(sequence, Rcode::NOTIMP, keep), AnswerClass::OtherRcode);
        assert_eq!(
            of(sequence, Rcode::NOERROR, |h| h.set_tc(true)),
            AnswerClass::Truncated
        );
        for wrong in [
            (|h| h.set_aa(false)) as fn(&mut domain::base::Header),
            |h| h.set_rd(false),
            |h| h.set_opcode(domain::base::iana::Opcode::STATUS),
        ] {
            assert_eq!(of(sequence, Rcode::NOERROR, wrong), AnswerClass::WrongForm);
        }
    }
    let dns64 = file_of(DnsRole::Dns64);
    let denied = answer(&dns64, 0, Rcode::NXDOMAIN, |_| ());
    assert_eq!(
        class(&dns64, 0, &denied),
        AnswerClass::Nxdomain,
        "it has an A record"
    );
    let denied = answer(&dns64, 1, Rcode::NXDOMAIN, |_| ());
    assert_eq!(class(&dns64, 1, &denied), AnswerClass::Right);
}

#[test]
fn an_answer_to_the_next_query_is_none_to_this_one() {
    let file = file_of(DnsRole::Dns64);
    for (sent, answered) in [(0, 1), (0, 4), (4, 0), (2, 3), (3, 2)] {
        let reply = answer(&file, answered, Rcode::NOERROR, |_| ());
        assert_eq!(file.judge(sent, &reply), MessageClass::OtherQuestion);
    }
}

proptest! {
    #[test]
    fn no_message_causes_a_panic(octets in prop::collection::vec(any::<u8>(), 12..300), sequence in 0u64..5) {
        for role in [DnsRole::Dns64, DnsRole::Authority] {
            file_of(role).judge(sequence, &octets);
        }
    }

    #[test]
    fn an_answer_in_which_octets_were_changed_is_judged_without_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        cut in any::<prop::sample::Index>(),
        sequence in 0u64..5,
    ) {
        let file = file_of(DnsRole::Dns64);
        let mut reply = answer(&file, sequence, Rcode::NOERROR, |answer| {
            answer.push((name("www.example"), 60, Cname::new(name("a.example")))).expect("room");
            answer.push((name("a.example"), 60, Aaaa::new("64:ff9b::192.0.2.1".parse().expect("an address")))).expect("room");
        });
        for (at, octet) in changes {
            let at = at.index(reply.len());
            reply[at] = octet;
        }
        file.judge(sequence, &reply);
        file.judge(sequence, &reply[..12 + cut.index(reply.len() - 12)]);
    }
}
