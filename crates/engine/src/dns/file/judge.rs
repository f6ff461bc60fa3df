//! Decides whether a message is an answer to a query of a file. Nothing from the network is trusted: no message may cause a panic here.

use super::super::judge::{AnswerClass, MessageClass, ParseError, answers_a_query, asks};
use domain::base::iana::{Class, Rcode, Rtype};
use domain::base::{Message, ParsedName, ParsedRecord, ToName};
use domain::rdata::{Aaaa, Cname};
use sixbench_method::plan::DnsRole;
use sixbench_wire::Prefix6052;
use std::net::{Ipv4Addr, Ipv6Addr};

/// The knowledge of an answer before it comes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FileAnswer<'a> {
    /// For the AAAA record of a DNS64 server: its prefix, and the addresses of the name's A record.
    pub(crate) addresses: Option<(Prefix6052, &'a [Ipv4Addr])>,
    /// The kind of server that answers.
    pub(crate) role: DnsRole,
}

/// Judges a response with the right identifier. `question` is the part of the query after its header.
pub(crate) fn judge(reply: &[u8], question: &[u8], due: &FileAnswer<'_>) -> MessageClass {
    let Ok(message) = Message::from_slice(reply) else {
        return MessageClass::Answer(AnswerClass::Malformed);
    };
    let rcode = message.header().rcode();
    match asks(message, question) {
        Ok(true) => {}
        // A server that could not parse the question may leave it out.
        Ok(false) if message.header_counts().qdcount() == 0 && rcode != Rcode::NOERROR => {
            return MessageClass::Answer(without_question(rcode));
        }
        Ok(false) => return MessageClass::OtherQuestion,
        Err(_) => return MessageClass::Answer(AnswerClass::Malformed),
    }
    MessageClass::Answer(match rcode {
        _ if message.header().tc() => AnswerClass::Truncated,
        Rcode::NOERROR | Rcode::NXDOMAIN => records(message, due).unwrap_or(AnswerClass::Malformed),
        other => of_error(other),
    })
}

/// Returns the class of an error without a question. That a name does not exist can be said of a question only.
fn without_question(rcode: Rcode) -> AnswerClass {
    match rcode {
        Rcode::NXDOMAIN => AnswerClass::WrongForm,
        other => of_error(other),
    }
}

fn of_error(rcode: Rcode) -> AnswerClass {
    match rcode {
        Rcode::SERVFAIL => AnswerClass::Servfail,
        Rcode::REFUSED => AnswerClass::Refused,
        _ => AnswerClass::OtherRcode,
    }
}

/// The records of an answer section, as they were found.
#[derive(Default)]
struct FoundRecords {
    /// Those of the asked type, or any if all types are asked for.
    asked: usize,
    /// Those that belong to no name of the chain of aliases.
    others: usize,
    synthesised: usize,
    own: usize,
    /// Addresses that embed none of the name's, or that no answer may have.
    wrong: usize,
}

/// Judges a message with or without data by its records, parsing all sections to their ends.
fn records(message: &Message<[u8]>, due: &FileAnswer<'_>) -> Result<AnswerClass, ParseError> {
    let mut found = FoundRecords::default();
    walk(message, |record, is_asked| {
        if is_asked {
            found.asked += 1;
            found.look_at(record, due)
        } else {
            found.others += 1;
            Ok(())
        }
    })?;
    if !ends_with_its_records(message)? {
        return Ok(AnswerClass::Malformed);
    }
    let has_form = answers_a_query(message, due.role) && found.others == 0;
    let exists = due
        .addresses
        .is_some_and(|(_, addresses)| !addresses.is_empty());
    let denies = message.header().rcode() == Rcode::NXDOMAIN;
    Ok(
        if found.wrong > 0 || found.synthesised > 0 && found.own > 0 {
            AnswerClass::WrongAddress
        } else if denies && exists {
            AnswerClass::Nxdomain
        } else if found.asked == 0 && exists {
            AnswerClass::Empty
        } else if !has_form || denies && found.asked > 0 {
            AnswerClass::WrongForm
        } else {
            AnswerClass::Right
        },
    )
}

impl FoundRecords {
    /// Looks at the address of an AAAA record of a DNS64 server. Records of its own and synthesised ones must not be mixed: with the former, nothing is
    /// synthesised (RFC 6147 section 5.1.1). Addresses of ::ffff:0:0/96 are to be taken as none (section 5.1.4).
    fn look_at(
        &mut self,
        record: &ParsedRecord<'_, [u8]>,
        due: &FileAnswer<'_>,
    ) -> Result<(), ParseError> {
        let Some((prefix, addresses)) = due.addresses else {
            return Ok(());
        };
        let Some(aaaa) = record.to_record::<Aaaa>()? else {
            return Ok(());
        };
        let address: Ipv6Addr = aaaa.data().addr();
        if prefix.prefix().contains(address) {
            self.synthesised += 1;
            let is_right = addresses.iter().any(|own| prefix.embed(*own) == address);
            self.wrong += usize::from(!is_right);
        } else {
            self.own += 1;
            self.wrong += usize::from(address.to_ipv4_mapped().is_some());
        }
        Ok(())
    }
}

/// Hands each record of the answer section to `take`: whether it is of the asked type and belongs to the name at the end of the chain of aliases, or to none. Aliases,
/// and what goes with any record (RRSIG, DNAME), are followed or passed over.
pub(super) fn walk(
    message: &Message<[u8]>,
    mut take: impl FnMut(&ParsedRecord<'_, [u8]>, bool) -> Result<(), ParseError>,
) -> Result<(), ParseError> {
    let question = message.sole_question()?;
    let asked = question.qtype();
    let mut current: ParsedName<&[u8]> = *question.qname();
    for record in message.answer()? {
        let record = record?;
        let (kind, is_here) = (record.rtype(), record.owner().name_eq(&current));
        let is_in = record.class() == Class::IN;
        if is_here && is_in && (kind == asked || asked == Rtype::ANY) {
            take(&record, true)?;
        } else if is_here && is_in && kind == Rtype::CNAME {
            if let Some(alias) = record.to_record::<Cname<_>>()? {
                current = *alias.data().cname();
            }
        } else if !matches!(kind, Rtype::RRSIG | Rtype::DNAME) {
            take(&record, false)?;
        }
    }
    Ok(())
}

/// Returns whether the octets of the message end with its last record, after parsing the two other sections.
fn ends_with_its_records(message: &Message<[u8]>) -> Result<bool, ParseError> {
    for record in message.authority()? {
        record?;
    }
    let mut additional = message.additional()?;
    for record in additional.by_ref() {
        record?;
    }
    Ok(additional.pos() == message.as_slice().len())
}
