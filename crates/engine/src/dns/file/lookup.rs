//! Asks a DNS64 server for the A records of the names in a file, before the first trial: without them it could not be said whether a synthesised address is right.
//! It is a closed loop with a few queries in flight, which repeats unanswered ones.

use super::super::carrier::QueryCarrier;
use super::super::judge::asks;
use super::super::query::HEADER;
use super::a_query;
use super::judge::walk;
use domain::base::Message;
use domain::base::iana::Rcode;
use domain::rdata::A;
use sixbench_io::clock::Clock;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The most queries in flight.
const UNDER_WAY: usize = 64;
/// The number of attempts for a name.
const ATTEMPTS: u32 = 3;

/// The settings for looking names up.
pub(crate) struct AddressLookup<'a> {
    pub(crate) clock: &'a Clock,
    pub(crate) stop: &'a AtomicBool,
    pub(crate) timeout_ns: u64,
}

/// The addresses of each name; none if it has no A record, or if the server did not say.
#[derive(Default)]
pub(crate) struct LookedUp {
    pub(crate) addresses: BTreeMap<Box<[u8]>, Vec<Ipv4Addr>>,
    /// The names about which there was no answer, or an error.
    pub(crate) failed: u64,
}

/// A query in flight.
struct PendingLookup {
    name: Box<[u8]>,
    message: Vec<u8>,
    attempt: u32,
    deadline_ns: u64,
}

impl AddressLookup<'_> {
    /// Asks for all names; ends early if the user asks to stop.
    pub(crate) fn look_up(
        &self,
        names: BTreeSet<Box<[u8]>>,
        transport: &mut QueryCarrier,
    ) -> LookedUp {
        let mut waiting: VecDeque<_> = names.into_iter().map(|name| (name, 1)).collect();
        let (mut open, mut done, mut next) = (BTreeMap::new(), LookedUp::default(), 0u32);
        while !self.stop.load(Ordering::Relaxed) {
            while open.len() < UNDER_WAY {
                let Some((name, attempt)) = waiting.pop_front() else {
                    break;
                };
                let pending = PendingLookup {
                    message: a_query(&name),
                    name,
                    attempt,
                    deadline_ns: self.clock.now_ns() + self.timeout_ns,
                };
                transport.send_messages(next.into(), 1, |_| &pending.message);
                open.insert(next, pending);
                next = next.wrapping_add(1) % (u32::MAX - 1);
            }
            if open.is_empty() {
                break;
            }
            transport.wait(Duration::from_millis(1));
            self.take(transport, &mut open, &mut done);
            self.give_up(transport, &mut open, &mut waiting, &mut done);
        }
        done
    }

    fn take(
        &self,
        transport: &mut QueryCarrier,
        open: &mut BTreeMap<u32, PendingLookup>,
        done: &mut LookedUp,
    ) {
        transport.receive(self.clock, |reply| {
            let Some(sequence) = reply.sequence else {
                return false;
            };
            let answer = open
                .get(&sequence)
                .and_then(|pending| addresses_in(reply.octets, &pending.message[HEADER..]));
            let Some(addresses) = answer else {
                return false;
            };
            if let Some(pending) = open.remove(&sequence) {
                done.addresses.insert(pending.name, addresses);
            }
            true
        });
    }

    /// Closes the queries whose time is over, and asks again as long as attempts are left. A name without an answer has no address that could be embedded.
    fn give_up(
        &self,
        transport: &mut QueryCarrier,
        open: &mut BTreeMap<u32, PendingLookup>,
        waiting: &mut VecDeque<(Box<[u8]>, u32)>,
        done: &mut LookedUp,
    ) {
        let now_ns = self.clock.now_ns();
        for (sequence, pending) in open.extract_if(.., |_, pending| now_ns > pending.deadline_ns) {
            transport.expire(sequence.into());
            if pending.attempt < ATTEMPTS {
                waiting.push_back((pending.name, pending.attempt + 1));
            } else {
                done.failed += 1;
                done.addresses.insert(pending.name, Vec::new());
            }
        }
    }
}

/// Returns the addresses of the A records of an answer, sorted: none if the name has none. Returns `None` if the message is not the answer to the question, or an
/// error that may be over when it is asked again.
fn addresses_in(reply: &[u8], question: &[u8]) -> Option<Vec<Ipv4Addr>> {
    let message = Message::from_slice(reply).ok()?;
    if !asks(message, question).ok()? || message.header().tc() {
        return None;
    }
    let mut addresses = Vec::new();
    match message.header().rcode() {
        Rcode::NOERROR => {}
        Rcode::NXDOMAIN => return Some(addresses),
        _ => return None,
    }
    walk(message, |record, is_asked| {
        if let Some(address) = record.to_record::<A>()?.filter(|_| is_asked) {
            addresses.push(address.data().addr());
        }
        Ok(())
    })
    .ok()?;
    addresses.sort_unstable();
    Some(addresses)
}
