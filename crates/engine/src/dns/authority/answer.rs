//! Converts the octets of a query to the octets of its answer. Nothing here uses sockets or clocks.
//!
//! The queries used in measurements - one question for an A or AAAA record of a name in the namespace, with or without EDNS - are answered by
//! copying the question and appending prepared octets, which are cut out of an answer of the general path. All other queries take the general
//! path, through the library.

use super::message::{self, Answer, HEADER, MOST_OCTETS, QueryKind, UDP_SIZE};
use super::zone::{AddressZone, ZoneRecords};
use crate::dns::names::{NamePopulation, read_label, write_label};
use sixbench_method::plan::NAME_LABEL;
use std::net::IpAddr;
use std::sync::Arc;

/// Octets of type and class after a question's name.
const TYPE_AND_CLASS: usize = 4;
/// Octet 2 of a header: the response flag and the opcode. Both are 0 in a query.
const RESPONSE_AND_OPERATION: u8 = 0b1111_1000;
/// Octet 2 of a header.
const RECURSION_DESIRED: u8 = 1;
/// Octet 2 of an answer: a response, authoritative.
const AUTHORITATIVE_RESPONSE: u8 = 0x84;
/// The OPT record of our answers, without and with DO.
const OPT: [[u8; 11]; 2] = [opt(0), opt(0x80)];

/// Answers queries.
#[derive(Debug)]
pub struct Answerer {
    records: ZoneRecords,
    /// Octets of the question for a name in the namespace.
    question: usize,
    a: Tail,
    aaaa: Tail,
    nothing: Tail,
}

/// The part of an answer that follows the question.
#[derive(Debug)]
struct Tail {
    /// The numbers of answer and authority records, in the form of the header.
    counts: [u8; 4],
    octets: Box<[u8]>,
}

impl Answerer {
    /// Creates an answerer for a server with these addresses, which are those of its name's records.
    pub fn new(zone: Arc<AddressZone>, own: &[IpAddr]) -> Self {
        let tail = |with_aaaa, rtype| {
            Tail::cut(
                AddressZone {
                    population: NamePopulation { with_aaaa },
                    ..AddressZone::clone(&zone)
                },
                rtype,
            )
        };
        Self {
            question: 1 + NAME_LABEL + zone.domain.wire().len() + TYPE_AND_CLASS,
            // Type 1 is A and 28 is AAAA; of a name without an AAAA record, the answer to 28 has no data.
            a: tail(0, 1),
            aaaa: tail(100, 28),
            nothing: tail(0, 28),
            records: ZoneRecords::new(zone, own),
        }
    }

    /// Answers one message.
    #[inline]
    pub fn answer(&self, query: &[u8], out: &mut [u8; MOST_OCTETS]) -> Answer {
        match self.answer_at_once(query, out) {
            Some(answer) => answer,
            None => self.answer_in_general(query, out),
        }
    }

    /// Answers one message with the library.
    pub(crate) fn answer_in_general(&self, query: &[u8], out: &mut [u8; MOST_OCTETS]) -> Answer {
        message::answer(&self.records, query, out)
    }

    /// Returns the answer to a query of the kind used in measurements; `None` for any other message.
    #[inline]
    fn answer_at_once(&self, query: &[u8], out: &mut [u8; MOST_OCTETS]) -> Option<Answer> {
        let end = HEADER + self.question;
        let (header, question) = (query.get(..HEADER)?, query.get(HEADER..end)?);
        if header[2] & RESPONSE_AND_OPERATION != 0 || header[4..11] != [0, 1, 0, 0, 0, 0, 0] {
            return None;
        }
        let opt = opt_for(header[11], &query[end..])?;
        let address = self.address(question)?;
        let (tail, kind) = match question[question.len() - TYPE_AND_CLASS..] {
            [0, 1, 0, 1] => (&self.a, QueryKind::A(address)),
            [0, 28, 0, 1] if self.records.zone.population.has_aaaa(address) => {
                (&self.aaaa, QueryKind::Aaaa(address))
            }
            [0, 28, 0, 1] => (&self.nothing, QueryKind::Aaaa(address)),
            _ => return None,
        };
        out[..2].copy_from_slice(&header[..2]);
        out[2..6].copy_from_slice(&[
            AUTHORITATIVE_RESPONSE | header[2] & RECURSION_DESIRED,
            0,
            0,
            1,
        ]);
        out[6..10].copy_from_slice(&tail.counts);
        out[10..12].copy_from_slice(&[0, header[11]]);
        out[HEADER..end].copy_from_slice(question);
        let mut octets = end + tail.octets.len();
        out[end..octets].copy_from_slice(&tail.octets);
        if tail.counts[1] > 0 {
            // An A record ends with the address, and so does an AAAA record of a name's own.
            out[octets - 4..octets].copy_from_slice(&address.to_be_bytes());
        }
        out[octets..octets + opt.len()].copy_from_slice(opt);
        octets += opt.len();
        Some(Answer { octets, kind })
    }

    /// Returns the address for the name in the question, if that is in the namespace.
    #[inline]
    fn address(&self, question: &[u8]) -> Option<u32> {
        let (label, rest) = question.split_first_chunk::<{ 1 + NAME_LABEL }>()?;
        let suffix = &rest[..rest.len() - TYPE_AND_CLASS];
        let ours = self.records.zone.domain.wire();
        // The octets of label lengths are below all letters, so ignoring the case of all octets only affects letters.
        let is_ours = usize::from(label[0]) == NAME_LABEL
            && (suffix == ours || suffix.eq_ignore_ascii_case(ours));
        read_label(label[1..].try_into().ok()?).filter(|_| is_ours)
    }
}

impl Tail {
    /// Cuts the tail out of the answer for a record of 0.0.0.0's name.
    fn cut(zone: AddressZone, rtype: u8) -> Self {
        let mut label = [0; NAME_LABEL];
        write_label(0, &mut label);
        let mut query = vec![0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, NAME_LABEL as u8];
        query.extend_from_slice(&label);
        query.extend_from_slice(zone.domain.wire());
        query.extend_from_slice(&[0, rtype, 0, 1]);
        let mut out = [0; MOST_OCTETS];
        let answer = message::answer(&ZoneRecords::new(Arc::new(zone), &[]), &query, &mut out);
        let counts = [out[6], out[7], out[8], out[9]];
        Self {
            counts,
            octets: out[query.len()..answer.octets].into(),
        }
    }
}

const fn opt(flags: u8) -> [u8; 11] {
    let [high, low] = UDP_SIZE.to_be_bytes();
    [0, 0, 41, high, low, 0, 0, flags, 0, 0, 0]
}

/// Returns the OPT record for the answer to a query with `rest` after the question: either nothing or one OPT record of version 0; `None` for
/// anything else.
#[inline]
fn opt_for(count: u8, rest: &[u8]) -> Option<&'static [u8]> {
    match (count, rest) {
        (0, []) => Some(&[]),
        (1, [0, 0, 41, _, _, _, 0, flags, _, high, low, options @ ..])
            if usize::from(u16::from_be_bytes([*high, *low])) == options.len()
                && are_whole(options) =>
        {
            Some(&OPT[usize::from(flags >> 7)])
        }
        _ => None,
    }
}

/// Returns whether EDNS options fill their room exactly. Their content does not matter, because unknown options are ignored (RFC 6891 section 6.1.2).
#[inline]
fn are_whole(mut options: &[u8]) -> bool {
    while let [_, _, high, low, rest @ ..] = options {
        match rest.get(usize::from(u16::from_be_bytes([*high, *low]))..) {
            Some(next) => options = next,
            None => return false,
        }
    }
    options.is_empty()
}
