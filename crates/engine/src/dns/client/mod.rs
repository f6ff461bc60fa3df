//! One thread of the client: it sends its part of the queries when each is due, regardless of the earlier ones, and judges every answer. Query i
//! of a trial is due at start + i / rate, or with the first query of its burst; each of T threads sends every T-th.

use super::authority::AskedNames;
use super::file::FileQueries;
use super::flight::{Flight, QueryAnswer, QueryState};
use super::judge::{self, AnswerClass, MessageClass};
use super::names::{Domain, write_label};
use super::query::{HEADER, Query};
use super::questions::{ExpectedAnswers, Question, Questions};
use super::records::{Record, Recorder};
use super::settings::FASTEST_QUERIES;
use super::sockets::{MOST, Reply};
use super::tally::QueryTally;
use super::transport::ClientTransport;
use crate::delay::arrival::Arrival;
use crate::pacing::pacer::{Pacer, ThreadShare};
use crate::pacing::sending::PacedSending;
use crate::pacing::stall::Gaps;
use sixbench_io::clock::Clock;
use sixbench_method::plan::NAME_LABEL;
use sixbench_method::terms::FrameRate;
use sixbench_method::trial::{LOSS_BIN_NS, Schedule, Sending};
use std::net::Ipv4Addr;
use std::num::NonZeroU32;

/// The time for which a client still receives after the last answer, to count messages that answer no query.
const LINGER_NS: u64 = 2_000_000;
/// The most queries taken out of the ring in one turn: more than can be sent in one.
const RETIRED: usize = 4 * MOST;

/// The settings and state that the threads of a trial share.
pub(crate) struct TrialQueries<'a> {
    pub(crate) clock: &'a Clock,
    pub(crate) domain: &'a Domain,
    pub(crate) questions: &'a Questions,
    pub(crate) expectation: &'a ExpectedAnswers,
    /// The names that reach the authority, if it is ours.
    pub(crate) asked: Option<&'a AskedNames>,
    /// The queries of a file in the place of `questions`.
    pub(crate) file: Option<&'a FileQueries>,
    pub(crate) rate: FrameRate,
    pub(crate) schedule: Schedule,
    /// Queries that are sent back to back.
    pub(crate) burst: NonZeroU32,
    /// The time after which answers are late, in nanoseconds.
    pub(crate) timeout_ns: u64,
    /// The time after which answers are no longer waited for, in nanoseconds.
    pub(crate) window_ns: u64,
    pub(crate) stall_ns: u64,
}

impl TrialQueries<'_> {
    /// Returns the number of bins of 100 ms.
    pub(crate) fn bins(&self) -> usize {
        (self
            .schedule
            .due_ns(self.schedule.frames().saturating_sub(1))
            / LOSS_BIN_NS) as usize
            + 1
    }
}

/// One thread's part of a trial.
pub(crate) struct QueryClient<'a> {
    sockets: ClientTransport,
    state: ClientState<'a>,
}

/// The client without its sockets.
struct ClientState<'a> {
    asking: &'a TrialQueries<'a>,
    sending: PacedSending,
    flight: Flight,
    tally: QueryTally,
    gaps: Gaps,
    /// The octets of a question, patched for each answer.
    question: Box<[u8]>,
    recorder: Option<Recorder>,
}

/// The counts of one thread.
pub(crate) struct QueryCounts {
    pub(crate) tally: QueryTally,
    pub(crate) sending: Sending,
    pub(crate) gaps: Gaps,
    pub(crate) drops: u64,
    /// The longest time for which a thread of the tester was ready but had no core, nanoseconds; the first part has that of all threads.
    pub(crate) kept_off_ns: u64,
}

impl<'a> QueryClient<'a> {
    /// Creates the client of a thread that sends this share of the queries.
    pub(crate) fn new(
        asking: &'a TrialQueries<'a>,
        share: ThreadShare,
        sockets: ClientTransport,
        recorder: Option<Recorder>,
    ) -> Self {
        let query = Query::new(asking.domain);
        let mut whole = vec![0; query.len()];
        query.write(&mut whole, 0, 0);
        let pacer = Pacer::share(&asking.schedule, share).in_bursts_of(asking.burst);
        // Of a burst, everything is in flight at once.
        let burst = u64::from(asking.burst.get() - 1);
        let under_way =
            (asking.rate.min(FASTEST_QUERIES).frames_in(asking.window_ns) + burst) / share.of;
        let room = (under_way + under_way / 4 + 4096).min(pacer.frames() + MOST as u64);
        let state = ClientState {
            asking,
            sending: PacedSending::new(pacer, asking.stall_ns),
            flight: Flight::new(room),
            tally: QueryTally::new(asking.bins()),
            gaps: Gaps::new(asking.stall_ns, 0),
            question: whole[HEADER..].into(),
            recorder,
        };
        Self { sockets, state }
    }

    /// Sets the time of the trial's first query.
    pub(crate) fn begin(&mut self, start_ns: u64) {
        self.sockets.begin(start_ns);
        self.state.sending.pacer.begin(start_ns);
        self.state.gaps = Gaps::new(self.state.asking.stall_ns, start_ns);
    }

    /// Does everything that is due. Never blocks.
    #[inline]
    pub(crate) fn turn(&mut self, now_ns: u64) {
        let Self { sockets, state } = self;
        state.send(sockets, now_ns);
        if state.sending.is_about_to_end(now_ns) {
            return;
        }
        if !state.sending.has_sent_all() || !state.flight.is_settled() {
            state.gaps.look(now_ns);
        }
        let clock = state.asking.clock;
        sockets.receive(clock, |reply| state.take(&reply));
        let sent_before_ns = now_ns.saturating_sub(state.asking.window_ns);
        state.retire(sent_before_ns, RETIRED, |sequence| sockets.expire(sequence));
    }

    /// Returns whether nothing else may come before the client's next turn.
    #[inline]
    pub(crate) fn is_about_to_end(&self, now_ns: u64) -> bool {
        self.state.sending.is_about_to_end(now_ns)
    }

    /// Returns whether all queries are sent, and are either answered or have timed out.
    #[inline]
    pub(crate) fn is_over(&self, now_ns: u64) -> bool {
        let state = &self.state;
        let wait_ns = if state.flight.is_settled() {
            LINGER_NS
        } else {
            state.asking.window_ns
        };
        state.sending.has_sent_all() && now_ns > state.sending.last_ns + wait_ns
    }

    /// Retires the queries still in flight and returns the thread's counts.
    pub(crate) fn finish(mut self) -> QueryCounts {
        self.state.retire(u64::MAX, usize::MAX, |_| ());
        let ClientState {
            sending,
            flight,
            mut tally,
            gaps,
            ..
        } = self.state;
        tally.answers.sent = flight.sent();
        tally.note_errors(self.sockets.errors());
        tally.tcp = self.sockets.connections();
        QueryCounts {
            tally,
            sending: sending.finish(),
            gaps,
            drops: self.sockets.drops(),
            kept_off_ns: 0,
        }
    }
}

impl ClientState<'_> {
    #[inline]
    fn send(&mut self, sockets: &mut ClientTransport, now_ns: u64) {
        if self.sending.has_sent_all() {
            return;
        }
        let (asking, pacer) = (self.asking, &self.sending.pacer);
        let (share, first) = (pacer.share, pacer.sent());
        let count = pacer.due(now_ns, MOST).min(self.flight.room());
        if count == 0 {
            return;
        }
        let address = |index: usize| {
            asking
                .questions
                .at(share.number(first + index as u64))
                .address
        };
        let sent = match asking.file {
            None => sockets.send(first, count, address),
            Some(file) => sockets.send_messages(first, count, |index| {
                file.message(share.number(first + index as u64))
            }),
        };
        self.flight.launch(sent, now_ns);
        self.sending.note_sent(sent, now_ns);
        if asking.file.is_none() && asking.expectation.population.with_aaaa > 0 {
            self.tally.existing += (0..sent)
                .filter(|index| asking.expectation.population.has_aaaa(address(*index)))
                .count() as u64;
        }
    }

    /// Takes a message; returns whether it is the first answer to its query.
    #[inline]
    fn take(&mut self, reply: &Reply<'_>) -> bool {
        let number = reply.sequence.and_then(|low| self.flight.number(low));
        let under_way = number.and_then(|sequence| Some((sequence, *self.flight.get(sequence)?)));
        let Some((sequence, entry)) = under_way else {
            self.tally.answers.unasked += 1;
            return false;
        };
        let number = self.sending.pacer.share.number(sequence);
        let (judged, question) = match self.asking.file {
            None => {
                let question = self.asking.questions.at(number);
                (self.judge(question, reply.octets), Some(question))
            }
            Some(file) => (file.judge(number, reply.octets), None),
        };
        let class = match judged {
            MessageClass::OtherQuestion => {
                self.tally.answers.mismatched += 1;
                return false;
            }
            MessageClass::Answer(_) if entry.answer.is_some() => {
                self.tally.answers.duplicate += 1;
                return false;
            }
            MessageClass::Answer(class) => class,
        };
        let answer = self.note_answer(class, entry.sent_ns, reply.arrival);
        self.flight.answer(sequence, answer);
        if question.is_none() {
            self.tally.note_rcode(reply.octets);
        }
        match question {
            _ if class != AnswerClass::Right => self.keep_example(number, reply.octets),
            Some(question) => self.note_cache(question),
            None => {}
        }
        true
    }

    /// Judges a response with the identifier of a query for a name of the namespace.
    #[inline]
    fn judge(&mut self, question: Question, reply: &[u8]) -> MessageClass {
        let address = question.address;
        if let Some(label) = self.question[1..].first_chunk_mut::<NAME_LABEL>() {
            write_label(address, label);
        }
        let due = self.asking.expectation.for_address(address);
        judge::judge(reply, &self.question, &due)
    }

    /// Keeps a wrong answer as an example if it is one of the first.
    #[cold]
    fn keep_example(&mut self, number: u64, reply: &[u8]) {
        let asking = self.asking;
        let example = || {
            let got = judge::describe(reply);
            if let Some(file) = asking.file {
                return format!(
                    "{}: expected {}, got {got}",
                    file.text(number),
                    file.expected(number)
                );
            }
            let Question { address, .. } = asking.questions.at(number);
            let name = asking.domain.name(Ipv4Addr::from(address));
            let expected = asking.expectation.for_address(address).address;
            let expected =
                expected.map_or_else(|| "no data".to_owned(), |address| format!("AAAA {address}"));
            format!("{name}: expected {expected}, got {got}")
        };
        self.tally.keep(example);
    }

    /// Counts the first answer to a query that was sent at `sent_ns`.
    #[inline]
    fn note_answer(&mut self, class: AnswerClass, sent_ns: u64, arrival: Arrival) -> QueryAnswer {
        if let Some(delay) = arrival.delay_since(sent_ns) {
            let is_late = self.tally.answer(class, delay, self.asking.timeout_ns);
            QueryAnswer {
                delay_ns: delay.delay_ns as i64,
                class,
                is_late,
            }
        } else {
            let by_ns = sent_ns - arrival.by_ns;
            self.tally.answer_before_sent(class, by_ns);
            QueryAnswer {
                delay_ns: -(by_ns as i64),
                class,
                is_late: false,
            }
        }
    }

    /// Notes whether the right answer came from the cache. An error gives no information: a server that is too busy to query the authority does
    /// not have the name cached.
    #[inline]
    fn note_cache(&mut self, question: Question) {
        let Question { address, is_cached } = question;
        self.tally.cached += u64::from(is_cached);
        let Some(asked) = self.asking.asked else {
            return;
        };
        if is_cached {
            self.tally.cached_misses += u64::from(asked.take(address));
        } else {
            self.tally.fresh_hits += u64::from(!asked.saw(address));
        }
    }

    /// Retires queries sent before this time, at most this many. Those without an answer are given to `expire`.
    #[inline]
    fn retire(&mut self, sent_before_ns: u64, most: usize, mut expire: impl FnMut(u64)) {
        for _ in 0..most {
            let Some((own, entry)) = self.flight.retire(sent_before_ns) else {
                return;
            };
            if entry.answer.is_none() {
                expire(own);
            }
            self.settle(own, entry);
        }
    }

    #[inline]
    fn settle(&mut self, own: u64, entry: QueryState) {
        let is_right = entry
            .answer
            .is_some_and(|answer| answer.class == AnswerClass::Right && !answer.is_late);
        self.tally.answers.unanswered += u64::from(entry.answer.is_none());
        let pacer = &self.sending.pacer;
        let sequence = pacer.share.number(own);
        let due_ns = pacer.due_time(sequence) - pacer.start_ns;
        if !is_right {
            self.tally.miss((due_ns / LOSS_BIN_NS) as usize, due_ns);
        }
        if let Some(recorder) = &mut self.recorder {
            let address = self.asking.questions.at(sequence).address;
            let sent_ns = entry.sent_ns.saturating_sub(pacer.start_ns);
            recorder.take(Record {
                sequence,
                address,
                due_ns,
                sent_ns,
                answer: entry.answer,
            });
        }
    }
}

#[cfg(test)]
mod tests;
