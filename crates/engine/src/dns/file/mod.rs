//! Queries of a file: their messages, and what is known of their answers. For a name of the tester's namespace that is everything. For any other name it is
//! less: identifier, question, flags, response code and form of the message are checked, and of AAAA records of a DNS64 server whether each is the name's own or embeds an
//! address of its A record, for which the server was asked before.

mod judge;
mod lookup;
mod probe;

pub(crate) use judge::{FileAnswer, judge};
pub(super) use lookup::LookedUp;
pub(super) use probe::FileProbe;

use super::judge::{MessageClass, judge as judge_exactly};
use super::names::{Domain, read_label};
use super::query::{HEADER, message};
use super::questions::ExpectedAnswers;
use sixbench_method::plan::{FileQuery, NAME_LABEL, Names, QueryFile};
use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;
use std::ops::Range;

/// The knowledge of the answer to a query of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
enum KnownAnswer {
    /// That for a name of the namespace.
    Exact(u32),
    /// AAAA records that embed one of these addresses, or records of the name's own; if there are no such addresses, only those.
    Embedding(Range<usize>),
    /// Any records of the right form.
    Any,
}

/// A query of the file.
struct FileEntry {
    /// The octets of its message among those of all.
    message: Range<usize>,
    known: KnownAnswer,
}

/// The queries of a file, ready to be sent.
pub(crate) struct FileQueries {
    queries: QueryFile,
    messages: Box<[u8]>,
    entries: Box<[FileEntry]>,
    addresses: Box<[Ipv4Addr]>,
    expectation: ExpectedAnswers,
}

/// The names of the tester's namespace, whose answers are known.
#[derive(Clone, Copy)]
pub(super) struct OwnNames<'a> {
    pub(super) domain: &'a Domain,
    pub(super) names: Names,
}

impl OwnNames<'_> {
    /// Returns the address for which a name stands, if it is of the namespace.
    fn address_of(self, query: &FileQuery) -> Option<u32> {
        let (length, rest) = query.name.split_first()?;
        let (label, domain) = rest.split_first_chunk::<NAME_LABEL>()?;
        let is_within = usize::from(*length) == NAME_LABEL
            && domain.eq_ignore_ascii_case(self.domain.wire())
            && query.asks_for_aaaa();
        let address = read_label(label).filter(|_| is_within)?;
        let offset = u64::from(address).checked_sub(u32::from(self.names.first()).into())?;
        (offset < self.names.count()).then_some(address)
    }
}

/// Returns the names of the file of whose answers the A records must be known: those with queries for AAAA records that a DNS64 server may synthesise,
/// each once, in lower case.
pub(super) fn names_to_look_up(
    queries: &QueryFile,
    namespace: OwnNames<'_>,
    expectation: &ExpectedAnswers,
) -> BTreeSet<Box<[u8]>> {
    if expectation.prefix.is_none() {
        return BTreeSet::new();
    }
    queries
        .queries()
        .iter()
        .filter(|query| query.asks_for_aaaa() && namespace.address_of(query).is_none())
        .map(|query| query.name.to_ascii_lowercase().into())
        .collect()
}

impl FileQueries {
    /// Creates the messages. `found` has the addresses of the A records of [`names_to_look_up`].
    pub(super) fn new(
        queries: &QueryFile,
        namespace: OwnNames<'_>,
        expectation: ExpectedAnswers,
        found: &BTreeMap<Box<[u8]>, Vec<Ipv4Addr>>,
    ) -> Self {
        let (mut messages, mut addresses, mut ranges) = (Vec::new(), Vec::new(), BTreeMap::new());
        for (name, of_name) in found {
            let start = addresses.len();
            addresses.extend_from_slice(of_name);
            ranges.insert(name, start..addresses.len());
        }
        let entries = queries.queries().iter().map(|query| {
            let start = messages.len();
            messages.extend_from_slice(&message(&query.name, query.record_type));
            let lower: Box<[u8]> = query.name.to_ascii_lowercase().into();
            let known = match (namespace.address_of(query), ranges.get(&lower)) {
                (Some(address), _) => KnownAnswer::Exact(address),
                (None, Some(range)) if query.asks_for_aaaa() => {
                    KnownAnswer::Embedding(range.clone())
                }
                (None, _) => KnownAnswer::Any,
            };
            FileEntry {
                message: start..messages.len(),
                known,
            }
        });
        let entries = entries.collect();
        Self {
            queries: queries.clone(),
            entries,
            messages: messages.into(),
            addresses: addresses.into(),
            expectation,
        }
    }

    /// Returns the place in the file of a query of the trial: after the last one, the first follows.
    fn place(&self, sequence: u64) -> usize {
        (sequence % self.entries.len().max(1) as u64) as usize
    }

    /// Returns the message of a query of the trial; its identifier is 0.
    #[inline]
    pub(crate) fn message(&self, sequence: u64) -> &[u8] {
        &self.messages[self.entries[self.place(sequence)].message.clone()]
    }

    /// Judges a response with the identifier of a query of the trial.
    pub(crate) fn judge(&self, sequence: u64, reply: &[u8]) -> MessageClass {
        let question = &self.message(sequence)[HEADER..];
        let ExpectedAnswers { role, prefix, .. } = self.expectation;
        let addresses = match &self.entries[self.place(sequence)].known {
            KnownAnswer::Exact(address) => {
                let due = self.expectation.for_address(*address);
                return judge_exactly(reply, question, &due);
            }
            KnownAnswer::Embedding(range) => {
                prefix.map(|prefix| (prefix, &self.addresses[range.clone()]))
            }
            KnownAnswer::Any => None,
        };
        judge(reply, question, &FileAnswer { addresses, role })
    }

    /// Returns whether a response with the identifier of a query is about its question.
    pub(crate) fn is_about(&self, sequence: u64, reply: &[u8]) -> bool {
        self.judge(sequence, reply) != MessageClass::OtherQuestion
    }

    /// Returns a query of the trial as the file could have it.
    pub(crate) fn text(&self, sequence: u64) -> String {
        let query = &self.queries.queries()[self.place(sequence)];
        let name = domain::base::Name::from_slice(&query.name)
            .map_or_else(|_| "?".to_owned(), |name| name.to_string());
        format!("{name} {}", query.type_name())
    }

    /// Returns what is expected of a query of the trial, in words.
    pub(crate) fn expected(&self, sequence: u64) -> String {
        match &self.entries[self.place(sequence)].known {
            KnownAnswer::Exact(address) => self
                .expectation
                .for_address(*address)
                .address
                .map_or_else(|| "no data".to_owned(), |address| format!("AAAA {address}")),
            KnownAnswer::Embedding(range) if range.is_empty() => {
                "AAAA records of its own, no data or NXDOMAIN, as it has no A record".to_owned()
            }
            KnownAnswer::Embedding(range) => {
                let own = self.addresses[range.clone()].iter().take(3);
                let own: Vec<String> = own.map(Ipv4Addr::to_string).collect();
                format!("AAAA records of its own, or of {}", own.join(", "))
            }
            KnownAnswer::Any => "records of this type, no data or NXDOMAIN".to_owned(),
        }
    }
}

/// Returns a query for the A record of a name in wire format.
pub(super) fn a_query(name: &[u8]) -> Vec<u8> {
    const A: u16 = 1;
    message(name, A)
}

#[cfg(test)]
mod tests;
