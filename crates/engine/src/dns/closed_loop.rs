//! Asks questions before a trial in a closed loop: with a few queries in flight, so that it takes no more time than the server needs. A question without a
//! usable answer is asked again.

use super::transport::ClientTransport;
use sixbench_io::clock::Clock;
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The most queries in flight.
const UNDER_WAY: usize = 64;
/// The number of attempts for a question before it counts as failed.
const ATTEMPTS: u32 = 3;

/// The meaning of a message for the question whose identifier it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reception {
    /// It answers another question; an answer to this one may still come.
    OtherQuestion,
    /// The question has its answer.
    Answered,
    /// It is an answer that cannot be used.
    Unusable,
}

/// The questions that are asked, and what becomes of their answers.
pub(super) trait Inquiry {
    /// A question.
    type Question;

    /// Returns the next question that has not been asked yet.
    fn next_question(&mut self) -> Option<Self::Question>;

    /// Returns the query for a question; the transport replaces its identifier.
    fn message(&self, question: &Self::Question) -> Vec<u8>;

    /// Takes a message, which may be the answer to this query.
    fn receive(&mut self, question: &Self::Question, query: &[u8], octets: &[u8]) -> Reception;

    /// Notes that a query was not answered in time.
    fn time_out(&mut self, question: &Self::Question);

    /// Notes that no attempt had a usable answer.
    fn give_up(&mut self, question: Self::Question);
}

/// The settings of the loop, with the time limit for an answer.
pub(super) struct ClosedLoop<'a> {
    pub(super) clock: &'a Clock,
    pub(super) stop: &'a AtomicBool,
    pub(super) timeout_ns: u64,
}

/// A query in flight.
struct PendingQuery<Q> {
    question: Q,
    message: Vec<u8>,
    attempt: u32,
    deadline_ns: u64,
}

/// The queries in flight, and the questions that are asked again.
struct OpenQuestions<Q> {
    open: BTreeMap<u32, PendingQuery<Q>>,
    /// The questions, and the number of the attempt.
    again: VecDeque<(Q, u32)>,
    /// The number of queries sent. One that the kernel did not take counts, too, so that its number is not used again: it times out and is repeated.
    queries: u64,
}

impl ClosedLoop<'_> {
    /// Asks all questions; ends early if the user asks to stop. Returns the number of queries sent.
    pub(super) fn ask<I: Inquiry>(&self, inquiry: &mut I, transport: &mut ClientTransport) -> u64 {
        let mut flight = OpenQuestions {
            open: BTreeMap::new(),
            again: VecDeque::new(),
            queries: 0,
        };
        while !self.stop.load(Ordering::Relaxed) {
            self.send(inquiry, &mut flight, transport);
            if flight.open.is_empty() {
                break;
            }
            transport.wait(Duration::from_millis(1));
            self.receive(inquiry, &mut flight, transport);
            self.time_out(inquiry, &mut flight, transport);
        }
        flight.queries
    }

    fn send<I: Inquiry>(
        &self,
        inquiry: &mut I,
        flight: &mut OpenQuestions<I::Question>,
        transport: &mut ClientTransport,
    ) {
        while flight.open.len() < UNDER_WAY {
            let next = flight
                .again
                .pop_front()
                .or_else(|| Some((inquiry.next_question()?, 1)));
            let Some((question, attempt)) = next else {
                break;
            };
            // Numbers are keys for identifiers, and wrap around because table entries have 32 bits. `u32::MAX` marks an identifier that is not in use
            // (`sockets::NONE`), so it is never a number.
            let sequence = (flight.queries % u64::from(u32::MAX)) as u32;
            let pending = PendingQuery {
                message: inquiry.message(&question),
                question,
                attempt,
                deadline_ns: self.clock.now_ns() + self.timeout_ns,
            };
            transport.send_messages(sequence.into(), 1, |_| &pending.message);
            flight.queries += 1;
            flight.open.insert(sequence, pending);
        }
    }

    fn receive<I: Inquiry>(
        &self,
        inquiry: &mut I,
        flight: &mut OpenQuestions<I::Question>,
        transport: &mut ClientTransport,
    ) {
        transport.receive(self.clock, |reply| {
            let Some(sequence) = reply.sequence else {
                return false;
            };
            let Some(pending) = flight.open.get(&sequence) else {
                return false;
            };
            let reception = inquiry.receive(&pending.question, &pending.message, reply.octets);
            if reception == Reception::OtherQuestion {
                return false;
            }
            if let Some(pending) = flight.open.remove(&sequence)
                && reception == Reception::Unusable
            {
                flight.try_again(pending, inquiry);
            }
            true
        });
    }

    /// Closes the queries whose time is over.
    fn time_out<I: Inquiry>(
        &self,
        inquiry: &mut I,
        flight: &mut OpenQuestions<I::Question>,
        transport: &mut ClientTransport,
    ) {
        let now_ns = self.clock.now_ns();
        let over: Vec<_> = flight
            .open
            .extract_if(.., |_, pending| now_ns > pending.deadline_ns)
            .collect();
        for (sequence, pending) in over {
            transport.expire(sequence.into());
            inquiry.time_out(&pending.question);
            flight.try_again(pending, inquiry);
        }
    }
}

impl<Q> OpenQuestions<Q> {
    /// Has a question asked again if attempts are left.
    fn try_again(&mut self, pending: PendingQuery<Q>, inquiry: &mut impl Inquiry<Question = Q>) {
        if pending.attempt < ATTEMPTS {
            self.again
                .push_back((pending.question, pending.attempt + 1));
        } else {
            inquiry.give_up(pending.question);
        }
    }
}
