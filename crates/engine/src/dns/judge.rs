//! Decides whether a message is the expected answer. Right answers take the short path, which compares octets; any that differ are parsed by a
//! library, so that the reason is known. Nothing from the network is trusted: no message may cause a panic here.

use super::query::{AAAA, HEADER, INTERNET};
use domain::base::iana::{Class, Opcode, Rcode};
use domain::base::{Message, ParsedName, ToName};
use domain::rdata::Aaaa;
use sixbench_method::plan::DnsRole;
use std::net::Ipv6Addr;

/// Octets of an AAAA record whose owner is a pointer: pointer, type, class, TTL, length, address.
const RECORD: usize = 2 + 2 + 2 + 4 + 2 + 16;
/// A pointer to the name in the question.
const POINTER: u16 = 0xc000 | HEADER as u16;

/// The verdict on an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AnswerClass {
    Right,
    WrongAddress,
    WrongTtl,
    WrongForm,
    Empty,
    Truncated,
    Servfail,
    Nxdomain,
    Refused,
    OtherRcode,
    Malformed,
}

/// The relation of a message to the query with the same identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MessageClass {
    /// The answer to the query, with the verdict on it.
    Answer(AnswerClass),
    /// The answer to a different question.
    OtherQuestion,
}

/// The expected answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ExpectedAnswer {
    /// The address that the answer must have; `None` for no data (RFC 2308), from an authority whose name has none.
    pub(crate) address: Option<Ipv6Addr>,
    /// The longest right TTL, in seconds.
    pub(crate) most_ttl: u32,
    /// The kind of server that answers.
    pub(crate) role: DnsRole,
}

/// Returns the identifier of a response; `None` if the message is not a response.
#[inline]
pub(crate) fn identifier(reply: &[u8]) -> Option<u16> {
    let is_response = reply.len() >= HEADER && reply[2] & 0x80 != 0;
    is_response.then(|| u16::from_be_bytes([reply[0], reply[1]]))
}

/// Judges a response with the right identifier. `question` is the part of the query after its header.
#[inline]
pub(crate) fn judge(reply: &[u8], question: &[u8], due: &ExpectedAnswer) -> MessageClass {
    match at_a_glance(reply, question, due) {
        Some(class) => MessageClass::Answer(class),
        None => closely(reply, question, due),
    }
}

/// Judges by the short path: exactly one record after exactly the question. Returns `None` if the message must be parsed.
#[inline]
pub(crate) fn at_a_glance(
    reply: &[u8],
    question: &[u8],
    due: &ExpectedAnswer,
) -> Option<AnswerClass> {
    let after = HEADER + question.len();
    let address = due.address?;
    // No error, not truncated, opcode QUERY; recursion desired is copied.
    let is_plain = reply[2] & 0x7b == 0x01 && reply[3].trailing_zeros() >= 4;
    let has_counts = reply.get(4..HEADER)? == [0, 1, 0, 1, 0, 0, 0, 0];
    let has_form = is_plain
        && has_counts
        && reply.len() == after + RECORD
        && reply[HEADER..after] == *question;
    if !has_form {
        return None;
    }
    let record = &reply[after..];
    let word = |at: usize| u16::from_be_bytes([record[at], record[at + 1]]);
    if [word(0), word(2), word(4), word(10)] != [POINTER, AAAA, INTERNET, 16] {
        return None;
    }
    let ttl = u32::from_be_bytes([record[6], record[7], record[8], record[9]]);
    let is_right = record[12..] == address.octets()
        && ttl <= due.most_ttl
        && has_flag(reply[2], reply[3], due.role);
    is_right.then_some(AnswerClass::Right)
}

/// Returns whether the message has the flag of the role: a DNS64 server offers recursion (RA), an authority answers authoritatively (AA).
#[inline]
pub(super) fn has_flag(high: u8, low: u8, role: DnsRole) -> bool {
    match role {
        DnsRole::Dns64 => low & 0x80 != 0,
        DnsRole::Authority | DnsRole::Through => high & 0x04 != 0,
    }
}

/// Judges by the long path, parsing the message.
#[cold]
pub(crate) fn closely(reply: &[u8], question: &[u8], due: &ExpectedAnswer) -> MessageClass {
    let Ok(message) = Message::from_slice(reply) else {
        return MessageClass::Answer(AnswerClass::Malformed);
    };
    let rcode = message.header().rcode();
    match asks(message, question) {
        Ok(true) => {}
        // A server that could not parse the question may leave it out.
        Ok(false) if message.header_counts().qdcount() == 0 && rcode != Rcode::NOERROR => {}
        Ok(false) => return MessageClass::OtherQuestion,
        Err(_) => return MessageClass::Answer(AnswerClass::Malformed),
    }
    MessageClass::Answer(match rcode {
        _ if message.header().tc() => AnswerClass::Truncated,
        Rcode::NOERROR => records(message, question, due).unwrap_or(AnswerClass::Malformed),
        Rcode::SERVFAIL => AnswerClass::Servfail,
        Rcode::NXDOMAIN => AnswerClass::Nxdomain,
        Rcode::REFUSED => AnswerClass::Refused,
        _ => AnswerClass::OtherRcode,
    })
}

pub(super) type ParseError = domain::base::wire::ParseError;

/// Returns whether the message has exactly this one question. Domain names are compared without case.
pub(super) fn asks(message: &Message<[u8]>, question: &[u8]) -> Result<bool, ParseError> {
    if message.header_counts().qdcount() != 1 {
        return Ok(false);
    }
    let asked = message.sole_question()?;
    let kind = question
        .last_chunk::<4>()
        .map(|&[high, low, ..]| u16::from_be_bytes([high, low]));
    Ok(kind == Some(asked.qtype().to_int())
        && asked.qclass() == Class::IN
        && is_the_name(asked.qname(), question))
}

/// Returns whether a name is that of the question, which is not compressed.
fn is_the_name(name: &ParsedName<&[u8]>, question: &[u8]) -> bool {
    let name_in_question = &question[..question.len().saturating_sub(4)];
    domain::base::Name::from_slice(name_in_question).is_ok_and(|own| own.name_eq(name))
}

/// Judges a message without error by its records, parsing all sections to their ends.
fn records(
    message: &Message<[u8]>,
    question: &[u8],
    due: &ExpectedAnswer,
) -> Result<AnswerClass, ParseError> {
    let (mut addresses, mut others) = (Vec::new(), 0);
    for record in message.answer()? {
        let record = record?;
        match record.to_record::<Aaaa>()? {
            Some(aaaa) if is_the_name(aaaa.owner(), question) && aaaa.class() == Class::IN => {
                addresses.push((aaaa.data().addr(), aaaa.ttl().as_secs()));
            }
            _ => others += 1,
        }
    }
    for record in message.authority()? {
        record?;
    }
    let mut additional = message.additional()?;
    for record in additional.by_ref() {
        record?;
    }
    if additional.pos() != message.as_slice().len() {
        return Ok(AnswerClass::Malformed);
    }
    let has_form = answers_a_query(message, due.role) && others == 0;
    Ok(match (&addresses[..], due.address) {
        ([], Some(_)) => AnswerClass::Empty,
        ([(address, _)], Some(expected)) if *address != expected => AnswerClass::WrongAddress,
        ([(_, ttl)], Some(_)) if *ttl > due.most_ttl => AnswerClass::WrongTtl,
        ([], None) | ([_], Some(_)) if has_form => AnswerClass::Right,
        ([], None) | ([_], Some(_)) => AnswerClass::WrongForm,
        _ => AnswerClass::WrongAddress,
    })
}

/// Returns whether the header is that of an answer of a server in this role to a query of the client.
pub(super) fn answers_a_query(message: &Message<[u8]>, role: DnsRole) -> bool {
    let header = message.header();
    let octets = header.as_slice();
    header.opcode() == Opcode::QUERY && header.rd() && has_flag(octets[2], octets[3], role)
}

/// Returns a description of a message in one line, as an example of a wrong answer.
pub(crate) fn describe(reply: &[u8]) -> String {
    let Ok(message) = Message::from_slice(reply) else {
        return match reply.len() {
            1 => "1 octet that is not a DNS message".to_owned(),
            octets => format!("{octets} octets that are not a DNS message"),
        };
    };
    let header = message.header();
    let name = message.first_question().map_or_else(
        || "no question".to_owned(),
        |question| question.qname().to_string(),
    );
    let answers = message.answer().into_iter().flatten().flatten();
    let answers: Vec<String> = answers
        .take(3)
        .map(|record| match record.to_record::<Aaaa>() {
            Ok(Some(aaaa)) => format!("AAAA {} TTL {}", aaaa.data().addr(), aaaa.ttl().as_secs()),
            _ => record.rtype().to_string(),
        })
        .collect();
    let answers = if answers.is_empty() {
        "no answer".to_owned()
    } else {
        answers.join(", ")
    };
    format!(
        "{name}: {}{}, {answers}",
        header.rcode(),
        if header.tc() { ", truncated" } else { "" }
    )
}

#[cfg(test)]
mod tests {
    use super::super::names::Domain;
    use super::super::query::Query;
    use super::*;
    use domain::base::iana::Rcode;
    use domain::base::{MessageBuilder, Name, Ttl};
    use domain::rdata::{A, Cname, Ns};
    use proptest::prelude::*;

    const ADDRESS: u32 = 0x0a00_0001;

    fn query() -> Vec<u8> {
        let query = Query::new(&Domain::new("dns64perf.test").expect("a domain"));
        let mut octets = vec![0; query.len()];
        query.write(&mut octets, 7, ADDRESS);
        octets
    }

    fn due() -> ExpectedAnswer {
        let address = Some("64:ff9b::a00:1".parse().expect("an address"));
        ExpectedAnswer {
            address,
            most_ttl: 3600,
            role: DnsRole::Dns64,
        }
    }

    fn name() -> Name<Vec<u8>> {
        "010-000-000-001.dns64perf.test".parse().expect("a name")
    }

    /// Returns an answer built by another library, with these AAAA records and changes to the header.
    fn answer(addresses: &[(&str, u32)], change: impl Fn(&mut domain::base::Header)) -> Vec<u8> {
        let query = query();
        let query = Message::from_octets(&query[..]).expect("a query");
        let mut answer =
            MessageBuilder::from_target(domain::base::StaticCompressor::new(Vec::new()))
                .expect("a builder")
                .start_answer(&query, Rcode::NOERROR)
                .expect("an answer");
        answer.header_mut().set_ra(true);
        change(answer.header_mut());
        for (address, ttl) in addresses {
            let aaaa = Aaaa::new(address.parse().expect("an address"));
            answer
                .push((name(), Ttl::from_secs(*ttl), aaaa))
                .expect("room");
        }
        answer.finish().into_target()
    }

    fn class(reply: &[u8]) -> AnswerClass {
        match judge(reply, &query()[HEADER..], &due()) {
            MessageClass::Answer(class) => class,
            MessageClass::OtherQuestion => panic!("the question is the same"),
        }
    }

    #[test]
    fn the_right_answer_of_another_library_takes_the_short_way() {
        let reply = answer(&[("64:ff9b::a00:1", 3600)], |_| {});
        assert_eq!(
            at_a_glance(&reply, &query()[HEADER..], &due()),
            Some(AnswerClass::Right)
        );
    }

    #[test]
    fn each_thing_that_is_wrong_has_its_own_fate() {
        let right = ("64:ff9b::a00:1", 60);
        let rcode = |rcode| answer(&[], move |header| header.set_rcode(rcode));
        let cases = [
            (answer(&[right], |_| {}), AnswerClass::Right),
            (
                answer(&[("64:ff9b::a00:2", 60)], |_| {}),
                AnswerClass::WrongAddress,
            ),
            (
                answer(&[right, ("64:ff9b::a00:2", 60)], |_| {}),
                AnswerClass::WrongAddress,
            ),
            (answer(&[right, right], |_| {}), AnswerClass::WrongAddress),
            (
                answer(&[("64:ff9b::a00:1", 3601)], |_| {}),
                AnswerClass::WrongTtl,
            ),
            (
                answer(&[right], |header| header.set_ra(false)),
                AnswerClass::WrongForm,
            ),
            (
                answer(&[right], |header| header.set_rd(false)),
                AnswerClass::WrongForm,
            ),
            (
                answer(&[right], |header| header.set_tc(true)),
                AnswerClass::Truncated,
            ),
            (answer(&[], |_| {}), AnswerClass::Empty),
            (rcode(Rcode::SERVFAIL), AnswerClass::Servfail),
            (rcode(Rcode::NXDOMAIN), AnswerClass::Nxdomain),
            (rcode(Rcode::REFUSED), AnswerClass::Refused),
            (rcode(Rcode::NOTIMP), AnswerClass::OtherRcode),
        ];
        for (reply, expected) in cases {
            assert_eq!(class(&reply), expected);
        }
    }

    #[test]
    fn no_data_is_right_where_the_name_has_none_and_only_from_an_authority() {
        let none = ExpectedAnswer {
            address: None,
            role: DnsRole::Authority,
            ..due()
        };
        let judged = |reply: &[u8]| judge(reply, &query()[HEADER..], &none);
        let authoritative = answer(&[], |header| header.set_aa(true));
        assert_eq!(
            judged(&authoritative),
            MessageClass::Answer(AnswerClass::Right)
        );
        assert_eq!(
            judged(&answer(&[], |_| {})),
            MessageClass::Answer(AnswerClass::WrongForm)
        );
        assert_eq!(
            judged(&answer(&[("64:ff9b::a00:1", 1)], |h| h.set_aa(true))),
            MessageClass::Answer(AnswerClass::WrongAddress)
        );
    }

    #[test]
    fn records_of_other_types_and_names_are_no_answer() {
        let query = query();
        let message = Message::from_octets(&query[..]).expect("a query");
        let build = |fill: &dyn Fn(&mut domain::base::message_builder::AnswerBuilder<Vec<u8>>)| {
            let builder = MessageBuilder::from_target(Vec::new()).expect("a builder");
            let mut answer = builder
                .start_answer(&message, Rcode::NOERROR)
                .expect("an answer");
            answer.header_mut().set_ra(true);
            fill(&mut answer);
            answer.finish()
        };
        let other: Name<Vec<u8>> = "other.test".parse().expect("a name");
        let right = || Aaaa::new("64:ff9b::a00:1".parse().expect("an address"));
        let of_another = build(&|a| a.push((&other, 60, right())).expect("room"));
        assert_eq!(class(&of_another), AnswerClass::Empty);
        let of_ipv4 = build(&|a| {
            a.push((name(), 60, A::from_octets(10, 0, 0, 1)))
                .expect("room");
        });
        assert_eq!(class(&of_ipv4), AnswerClass::Empty);
        let by_alias = build(&|a| {
            a.push((name(), 60, Cname::new(&other))).expect("room");
            a.push((name(), 60, right())).expect("room");
        });
        assert_eq!(class(&by_alias), AnswerClass::WrongForm);
        let mut with_authority = MessageBuilder::from_target(Vec::new())
            .expect("a builder")
            .start_answer(&message, Rcode::NOERROR)
            .expect("an answer");
        with_authority.header_mut().set_ra(true);
        with_authority.push((name(), 60, right())).expect("room");
        let mut with_authority = with_authority.authority();
        with_authority
            .push((name(), 60, Ns::new(&other)))
            .expect("room");
        assert_eq!(class(&with_authority.finish()), AnswerClass::Right);
    }

    #[test]
    fn the_answer_to_another_question_is_told_apart() {
        let mut reply = answer(&[("64:ff9b::a00:1", 60)], |_| {});
        reply[HEADER + 15] = b'2';
        assert_eq!(
            judge(&reply, &query()[HEADER..], &due()),
            MessageClass::OtherQuestion
        );
        // Names that differ in case are equal.
        let mut reply = answer(&[("64:ff9b::a00:1", 60)], |_| {});
        reply[HEADER + 17] = reply[HEADER + 17].to_ascii_uppercase();
        assert_eq!(class(&reply), AnswerClass::Right);
    }

    #[test]
    fn compression_loops_and_wrong_counts_are_malformed() {
        let mut reply = answer(&[("64:ff9b::a00:1", 60)], |_| {});
        let after = query().len();
        // The owner of the record points to itself.
        reply[after..after + 2].copy_from_slice(&(0xc000 | after as u16).to_be_bytes());
        assert_eq!(class(&reply), AnswerClass::Malformed);
        let mut reply = answer(&[("64:ff9b::a00:1", 60)], |_| {});
        reply[7] = 9;
        assert_eq!(class(&reply), AnswerClass::Malformed);
        let reply = answer(&[("64:ff9b::a00:1", 60)], |_| {});
        assert_eq!(class(&reply[..reply.len() - 1]), AnswerClass::Malformed);
    }

    #[test]
    fn a_reply_of_one_octet_is_described_in_the_singular() {
        assert_eq!(describe(&[0]), "1 octet that is not a DNS message");
        assert_eq!(describe(&[0; 2]), "2 octets that are not a DNS message");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        /// Fuzzing: no change to a right answer causes a panic, and any answer still judged right has the right address.
        #[test]
        fn no_mutation_makes_the_judge_panic(
            changes in prop::collection::vec((0usize..200, any::<u8>()), 0..8),
            cut in 0usize..200,
            tail in prop::collection::vec(any::<u8>(), 0..20),
        ) {
            let mut reply = answer(&[("64:ff9b::a00:1", 60), ("64:ff9b::a00:1", 60)][..=(tail.len() % 2)], |_| {});
            for (at, octet) in changes {
                let length = reply.len();
                reply[at % length] = octet;
            }
            reply.truncate(cut.max(1));
            reply.extend(tail);
            let _ = describe(&reply);
            if identifier(&reply).is_some() && judge(&reply, &query()[HEADER..], &due()) == MessageClass::Answer(AnswerClass::Right) {
                let address = due().address.expect("an address").octets();
                prop_assert!(reply.windows(16).any(|octets| octets == address));
            }
        }

        #[test]
        fn no_octets_at_all_make_the_judge_panic(reply in prop::collection::vec(any::<u8>(), 0..600)) {
            let _ = describe(&reply);
            if identifier(&reply).is_some() {
                let _ = judge(&reply, &query()[HEADER..], &due());
            }
        }
    }
}
