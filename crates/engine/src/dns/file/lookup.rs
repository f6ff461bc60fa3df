//! Asks a DNS64 server for the A records of the names in a file, before the first trial: without them it could not be said whether a synthesised address is right.

use super::super::closed_loop::{ClosedLoop, Inquiry, Reception};
use super::super::judge::asks;
use super::super::query::HEADER;
use super::super::transport::ClientTransport;
use super::a_query;
use super::judge::walk;
use domain::base::Message;
use domain::base::iana::Rcode;
use domain::rdata::A;
use std::collections::{BTreeMap, BTreeSet, btree_set};
use std::net::Ipv4Addr;

/// The addresses of each name; none if it has no A record, or if the server did not say.
#[derive(Default)]
pub(crate) struct LookedUp {
    pub(crate) addresses: BTreeMap<Box<[u8]>, Vec<Ipv4Addr>>,
    /// The names about which there was no answer, or an error.
    pub(crate) failed: u64,
}

impl LookedUp {
    /// Asks for the addresses of all names; ends early if the user asks to stop.
    pub(crate) fn ask(
        names: BTreeSet<Box<[u8]>>,
        closed_loop: &ClosedLoop<'_>,
        transport: &mut ClientTransport,
    ) -> Self {
        let mut lookup = AddressLookup {
            names: names.into_iter(),
            found: Self::default(),
        };
        closed_loop.ask(&mut lookup, transport);
        lookup.found
    }
}

/// The names whose addresses are being asked for.
struct AddressLookup {
    names: btree_set::IntoIter<Box<[u8]>>,
    found: LookedUp,
}

impl Inquiry for AddressLookup {
    type Question = Box<[u8]>;

    fn next_question(&mut self) -> Option<Box<[u8]>> {
        self.names.next()
    }

    fn message(&self, name: &Box<[u8]>) -> Vec<u8> {
        a_query(name)
    }

    fn receive(&mut self, name: &Box<[u8]>, query: &[u8], octets: &[u8]) -> Reception {
        match addresses_in(octets, &query[HEADER..]) {
            AddressAnswer::OtherQuestion => Reception::OtherQuestion,
            AddressAnswer::Unusable => Reception::Unusable,
            AddressAnswer::Addresses(addresses) => {
                self.found.addresses.insert(name.clone(), addresses);
                Reception::Answered
            }
        }
    }

    fn time_out(&mut self, _: &Box<[u8]>) {}

    /// A name without an answer has no address that could be embedded.
    fn give_up(&mut self, name: Box<[u8]>) {
        self.found.failed += 1;
        self.found.addresses.insert(name, Vec::new());
    }
}

/// The content of a message about the addresses of a name.
enum AddressAnswer {
    /// It is not the answer to this question.
    OtherQuestion,
    /// It is cut off or cannot be read, or it has an error that may be over when it is asked again.
    Unusable,
    /// The addresses of its A records, sorted: none if the name has none.
    Addresses(Vec<Ipv4Addr>),
}

fn addresses_in(reply: &[u8], question: &[u8]) -> AddressAnswer {
    let message = match Message::from_slice(reply) {
        Ok(message) if matches!(asks(message, question), Ok(true)) => message,
        _ => return AddressAnswer::OtherQuestion,
    };
    let rcode = message.header().rcode();
    if rcode == Rcode::NXDOMAIN {
        return AddressAnswer::Addresses(Vec::new());
    }
    if rcode != Rcode::NOERROR || message.header().tc() {
        return AddressAnswer::Unusable;
    }
    let mut addresses = Vec::new();
    let walked = walk(message, |record, is_asked| {
        if let Some(address) = record.to_record::<A>()?.filter(|_| is_asked) {
            addresses.push(address.data().addr());
        }
        Ok(())
    });
    if walked.is_err() {
        return AddressAnswer::Unusable;
    }
    addresses.sort_unstable();
    AddressAnswer::Addresses(addresses)
}
