//! The general path from query to answer, with the library.

use super::zone::{Data, NameLocation, ZoneRecords};
use domain::base::iana::{Class, Opcode, OptRcode, Rtype};
use domain::base::message_builder::{MessageBuilder, PushError, TreeCompressor};
use domain::base::name::ParsedName;
use domain::base::opt::{Opt, OptRecord};
use domain::base::{Message, Question, Ttl};
use domain::dep::octseq::Array;
use domain::rdata::ZoneRecordData;

/// The most octets of an answer: every client accepts this size (RFC 1035 section 4.2.1), and none of our answers needs more.
pub const MOST_OCTETS: usize = 512;
/// The size of UDP messages that we announce with EDNS: what fits into an IPv6 datagram of minimum size.
pub(super) const UDP_SIZE: u16 = 1232;

/// Octets of a message's header.
pub(super) const HEADER: usize = 12;

/// The kind of a query, for counting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueryKind {
    /// A query for the AAAA record of an address's name.
    Aaaa(u32),
    /// A query for the A record of an address's name.
    A(u32),
    /// Any other query.
    Other,
    /// Not a well-formed query.
    Malformed,
}

/// The outcome of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Octets of the answer; 0 if there must be none.
    pub octets: usize,
    /// The kind of the query.
    pub kind: QueryKind,
}

/// No answer, for a message that was not a query.
const SILENCE: Answer = Answer {
    octets: 0,
    kind: QueryKind::Malformed,
};
/// The TC bit in octet 2 of a header (RFC 1035 section 4.1.1).
const TRUNCATED: u8 = 2;

type Octets = Array<MOST_OCTETS>;

/// A query that was parsed.
struct ParsedQuery<'a> {
    message: &'a Message<[u8]>,
    question: Question<ParsedName<&'a [u8]>>,
    edns: Option<Edns>,
}

/// The EDNS parameters that the client sent.
#[derive(Clone, Copy)]
struct Edns {
    version: u8,
    dnssec_ok: bool,
}

struct AnswerContent {
    rcode: OptRcode,
    /// True if the name is in our zone.
    is_ours: bool,
    record: Option<Data>,
}

impl AnswerContent {
    fn error(rcode: OptRcode) -> Self {
        Self {
            rcode,
            is_ours: false,
            record: None,
        }
    }
}

/// Answers any message.
pub(super) fn answer(records: &ZoneRecords, query: &[u8], out: &mut [u8; MOST_OCTETS]) -> Answer {
    let Ok(message) = Message::from_slice(query) else {
        return SILENCE;
    };
    if message.header().qr() {
        // Two servers that answered each other's answers would never stop.
        return SILENCE;
    }
    if message.header().opcode() != Opcode::QUERY {
        return bare(query, OptRcode::NOTIMP, 0, QueryKind::Other, out);
    }
    let Some(asked) = ParsedQuery::read(message) else {
        return bare(query, OptRcode::FORMERR, 0, QueryKind::Malformed, out);
    };
    let (finding, kind) = asked.look_up(records);
    match asked.compose(records, finding) {
        Ok(octets) => {
            out[..octets.len()].copy_from_slice(&octets);
            Answer {
                octets: octets.len(),
                kind,
            }
        }
        // Names are too short for this to happen.
        Err(_) => bare(query, OptRcode::NOERROR, TRUNCATED, kind, out),
    }
}

/// Returns an answer that is only a header.
fn bare(
    query: &[u8],
    rcode: OptRcode,
    flags: u8,
    kind: QueryKind,
    out: &mut [u8; MOST_OCTETS],
) -> Answer {
    const KEPT: u8 = 0b0111_1001; // operation and RD
    out[..HEADER].fill(0);
    out[..2].copy_from_slice(&query[..2]);
    out[2] = 0x80 | query[2] & KEPT | flags;
    out[3] = rcode.rcode().to_int();
    Answer {
        octets: HEADER,
        kind,
    }
}

impl<'a> ParsedQuery<'a> {
    /// Returns the query; `None` if it is malformed: not exactly one question (RFC 9619), answers, two OPT records, or too few or too many octets.
    fn read(message: &'a Message<[u8]>) -> Option<Self> {
        let counts = message.header_counts();
        if (counts.qdcount(), counts.ancount()) != (1, 0) {
            return None;
        }
        let question = message
            .question()
            .next()?
            .ok()
            .filter(|question| !question.qname().is_compressed())?;
        let mut authority = message.authority().ok()?;
        authority
            .by_ref()
            .try_for_each(|record| record.map(drop))
            .ok()?;
        let mut additional = authority.next_section().ok()??;
        let mut edns = None;
        for record in additional.by_ref() {
            let record = record.ok()?;
            if record.rtype() == Rtype::OPT {
                let is_first_at_root = edns.is_none() && record.owner().is_root();
                let opt = OptRecord::from_record(record.to_record::<Opt<_>>().ok()??);
                edns = is_first_at_root.then_some(Edns {
                    version: opt.version(),
                    dnssec_ok: opt.dnssec_ok(),
                });
                // A second OPT record, or one with an owner, makes the query malformed (RFC 6891 section 6.1.1).
                edns?;
            }
        }
        (additional.pos() == message.as_slice().len()).then_some(Self {
            message,
            question,
            edns,
        })
    }

    fn look_up(&self, records: &ZoneRecords) -> (AnswerContent, QueryKind) {
        let (name, rtype) = (self.question.qname(), self.question.qtype());
        if self.edns.is_some_and(|edns| edns.version > 0) {
            return (AnswerContent::error(OptRcode::BADVERS), QueryKind::Other);
        }
        let place = records.place(name);
        let is_transfer = rtype == Rtype::AXFR || rtype == Rtype::IXFR;
        if place == NameLocation::Outside || is_transfer || self.question.qclass() != Class::IN {
            return (AnswerContent::error(OptRcode::REFUSED), QueryKind::Other);
        }
        let rcode = if place == NameLocation::Nowhere {
            OptRcode::NXDOMAIN
        } else {
            OptRcode::NOERROR
        };
        let finding = AnswerContent {
            rcode,
            is_ours: true,
            record: records.record(place, rtype),
        };
        match (place, rtype) {
            (NameLocation::Address(address), Rtype::A) => (finding, QueryKind::A(address)),
            (NameLocation::Address(address), Rtype::AAAA) => (finding, QueryKind::Aaaa(address)),
            _ => (finding, QueryKind::Other),
        }
    }

    fn compose(&self, records: &ZoneRecords, finding: AnswerContent) -> Result<Octets, PushError> {
        let AnswerContent {
            rcode,
            is_ours,
            record,
        } = finding;
        let ttl = Ttl::from_secs(records.zone.ttl_s);
        let builder = MessageBuilder::from_target(TreeCompressor::new(Octets::default()))?;
        // The header has four bits for the code. The upper bits of an extended one, such as BADVERS, go into the OPT record below.
        let mut answer = builder.start_answer(self.message, rcode.rcode())?;
        answer.header_mut().set_aa(is_ours);
        let has_record = record.is_some();
        if let Some(record) = record {
            answer.push((self.question.qname(), Class::IN, ttl, record))?;
        }
        let mut authority = answer.authority();
        if is_ours && !has_record {
            // RFC 2308 section 3: the SOA record gives the time for which a negative answer may be cached.
            authority.push((
                &records.apex,
                Class::IN,
                ttl,
                ZoneRecordData::<Vec<u8>, _>::from(records.soa()),
            ))?;
        }
        let mut additional = authority.additional();
        if let Some(edns) = self.edns {
            additional.opt(|opt| {
                opt.set_udp_payload_size(UDP_SIZE);
                opt.set_dnssec_ok(edns.dnssec_ok);
                opt.set_rcode(rcode);
                Ok(())
            })?;
        }
        Ok(additional.finish().into_target())
    }
}
