//! Resolves names before a trial, in a closed loop with a few queries in flight, which repeats unanswered queries and takes no more time than the
//! server needs. The first query is for a single name, to check that there is a server and that it works as it should.

use super::carrier::QueryCarrier;
use super::judge::{self, AnswerClass, MessageClass};
use super::names::Domain;
use super::network_errors::NetworkErrors;
use super::query::{HEADER, Query};
use super::questions::ExpectedAnswers;
use sixbench_io::clock::Clock;
use sixbench_method::trial::dns::TcpCounts;
use std::collections::{BTreeMap, VecDeque};
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The most queries in flight.
const UNDER_WAY: usize = 64;
/// The number of attempts to resolve a name before it counts as failed.
const ATTEMPTS: u32 = 3;

/// The settings for resolving names, including the time limit for an answer.
pub(super) struct NameResolver<'a> {
    pub(super) clock: &'a Clock,
    pub(super) stop: &'a AtomicBool,
    pub(super) domain: &'a Domain,
    pub(super) expectation: &'a ExpectedAnswers,
    pub(super) timeout_ns: u64,
}

/// The outcome of resolving the names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ResolvedNames {
    /// The number of names resolved rightly.
    pub(super) right: u64,
    /// The number of names not resolved rightly after all attempts.
    pub(super) failed: u64,
    /// The number of queries sent. One that the kernel did not take counts, too, so that its number is not used again: it times out and is repeated.
    pub(super) queries: u64,
    /// The time taken.
    pub(super) took_ns: u64,
    /// The last wrong answer, if there was an answer, and a description of what was wrong.
    pub(super) wrong: Option<(Option<AnswerClass>, String)>,
    /// The numbers of network errors.
    pub(super) errors: NetworkErrors,
    /// The connections; `None` over UDP.
    pub(super) tcp: Option<TcpCounts>,
}

/// A query in flight.
#[derive(Clone, Copy)]
struct PendingQuery {
    address: u32,
    attempt: u32,
    deadline_ns: u64,
}

impl NameResolver<'_> {
    /// Resolves all names; ends early if the user asks to stop.
    pub(super) fn resolve(
        &self,
        mut names: impl Iterator<Item = u32>,
        sockets: &mut QueryCarrier,
    ) -> ResolvedNames {
        let start_ns = self.clock.now_ns();
        let mut done = ResolvedNames::default();
        let mut open: BTreeMap<u32, PendingQuery> = BTreeMap::new();
        let mut again: VecDeque<(u32, u32)> = VecDeque::new();
        while !self.stop.load(Ordering::Relaxed) {
            while open.len() < UNDER_WAY {
                let Some((address, attempt)) =
                    again.pop_front().or_else(|| Some((names.next()?, 1)))
                else {
                    break;
                };
                // Numbers are keys for identifiers, and wrap around because table entries have 32 bits.
                let sequence = (done.queries % u64::from(u32::MAX)) as u32;
                let deadline_ns = self.clock.now_ns() + self.timeout_ns;
                done.queries += sockets.send(sequence.into(), 1, |_| address).max(1) as u64;
                open.insert(
                    sequence,
                    PendingQuery {
                        address,
                        attempt,
                        deadline_ns,
                    },
                );
            }
            if open.is_empty() {
                break;
            }
            sockets.wait(Duration::from_millis(1));
            self.take(sockets, &mut open, &mut again, &mut done);
            self.give_up(sockets, &mut open, &mut again, &mut done);
        }
        done.took_ns = self.clock.now_ns() - start_ns;
        done.errors = sockets.errors();
        done.tcp = sockets.connections();
        done
    }

    /// Judges the answers that have arrived, and asks again where one is wrong as long as attempts are left.
    fn take(
        &self,
        sockets: &mut QueryCarrier,
        open: &mut BTreeMap<u32, PendingQuery>,
        again: &mut VecDeque<(u32, u32)>,
        done: &mut ResolvedNames,
    ) {
        sockets.receive(self.clock, |reply| {
            let Some(sequence) = reply.sequence else {
                return false;
            };
            let Some(asked) = open.get(&sequence).copied() else {
                return false;
            };
            let due = self.expectation.for_address(asked.address);
            match judge::judge(reply.octets, &self.question(asked.address), &due) {
                MessageClass::OtherQuestion => return false,
                MessageClass::Answer(AnswerClass::Right) => done.right += 1,
                MessageClass::Answer(class) => {
                    done.wrong = Some((Some(class), judge::describe(reply.octets)));
                    retry(asked, again, done);
                }
            }
            open.remove(&sequence);
            true
        });
    }

    /// Closes the queries whose time is over, and asks again about their names as long as attempts are left.
    fn give_up(
        &self,
        sockets: &mut QueryCarrier,
        open: &mut BTreeMap<u32, PendingQuery>,
        again: &mut VecDeque<(u32, u32)>,
        done: &mut ResolvedNames,
    ) {
        let now_ns = self.clock.now_ns();
        open.retain(|sequence, asked| {
            let is_over = now_ns > asked.deadline_ns;
            if is_over {
                sockets.expire((*sequence).into());
                let name = self.domain.name(Ipv4Addr::from(asked.address));
                done.wrong = Some((None, format!("no answer about {name}")));
                retry(*asked, again, done);
            }
            !is_over
        });
    }

    fn question(&self, address: u32) -> Vec<u8> {
        let query = Query::new(self.domain);
        let mut octets = vec![0; query.len()];
        query.write(&mut octets, 0, address);
        octets.split_off(HEADER)
    }
}

fn retry(asked: PendingQuery, again: &mut VecDeque<(u32, u32)>, done: &mut ResolvedNames) {
    if asked.attempt < ATTEMPTS {
        again.push_back((asked.address, asked.attempt + 1));
    } else {
        done.failed += 1;
    }
}
