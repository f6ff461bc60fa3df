//! Resolves names before a trial. The first query is for a single name, to check that there is a server and that it works as it should.

use super::closed_loop::{ClosedLoop, Inquiry, Reception};
use super::judge::{self, AnswerClass, MessageClass};
use super::names::Domain;
use super::network_errors::NetworkErrors;
use super::query::{HEADER, Query};
use super::questions::ExpectedAnswers;
use super::transport::ClientTransport;
use sixbench_method::trial::dns::TcpCounts;
use std::net::Ipv4Addr;

/// The settings for resolving names.
pub(super) struct NameResolver<'a> {
    pub(super) closed_loop: ClosedLoop<'a>,
    pub(super) domain: &'a Domain,
    pub(super) expectation: &'a ExpectedAnswers,
}

/// The outcome of resolving the names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ResolvedNames {
    /// The number of names resolved rightly.
    pub(super) right: u64,
    /// The number of names not resolved rightly after all attempts.
    pub(super) failed: u64,
    /// The number of queries sent.
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

impl NameResolver<'_> {
    /// Resolves the names of all addresses; ends early if the user asks to stop.
    pub(super) fn resolve(
        &self,
        addresses: impl Iterator<Item = u32>,
        transport: &mut ClientTransport,
    ) -> ResolvedNames {
        let clock = self.closed_loop.clock;
        let start_ns = clock.now_ns();
        let mut resolution = Resolution {
            domain: self.domain,
            expectation: self.expectation,
            query: Query::new(self.domain),
            addresses,
            names: ResolvedNames::default(),
        };
        let queries = self.closed_loop.ask(&mut resolution, transport);
        ResolvedNames {
            queries,
            took_ns: clock.now_ns() - start_ns,
            errors: transport.errors(),
            tcp: transport.connections(),
            ..resolution.names
        }
    }
}

/// The names that are being resolved.
struct Resolution<'a, A> {
    domain: &'a Domain,
    expectation: &'a ExpectedAnswers,
    query: Query,
    addresses: A,
    names: ResolvedNames,
}

impl<A: Iterator<Item = u32>> Inquiry for Resolution<'_, A> {
    type Question = u32;

    fn next_question(&mut self) -> Option<u32> {
        self.addresses.next()
    }

    fn message(&self, address: &u32) -> Vec<u8> {
        let mut octets = vec![0; self.query.len()];
        self.query.write(&mut octets, 0, *address);
        octets
    }

    fn receive(&mut self, address: &u32, query: &[u8], octets: &[u8]) -> Reception {
        let due = self.expectation.for_address(*address);
        match judge::judge(octets, &query[HEADER..], &due) {
            MessageClass::OtherQuestion => Reception::OtherQuestion,
            MessageClass::Answer(AnswerClass::Right) => {
                self.names.right += 1;
                Reception::Answered
            }
            MessageClass::Answer(class) => {
                self.names.wrong = Some((Some(class), judge::describe(octets)));
                Reception::Unusable
            }
        }
    }

    fn time_out(&mut self, address: &u32) {
        let name = self.domain.name(Ipv4Addr::from(*address));
        self.names.wrong = Some((None, format!("no answer about {name}")));
    }

    fn give_up(&mut self, _: u32) {
        self.names.failed += 1;
    }
}
