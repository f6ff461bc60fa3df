//! The outcomes of the queries of one client thread, and of all threads together.

use super::judge::AnswerClass;
use super::network_errors::NetworkErrors;
use crate::delay::{DelayInterval, Delays};
use domain::base::iana::Rcode;
use sixbench_method::trial::dns::{Answers, RttSums, TcpCounts};
use std::collections::BTreeMap;

/// Wrong answers kept as examples.
const EXAMPLES: usize = 5;

/// The counts of one thread.
pub(crate) struct QueryTally {
    pub(crate) answers: Answers,
    pub(crate) rtt: RttSums,
    pub(crate) delays: Delays,
    /// Right answers that were read after the timeout, but may have arrived before it.
    pub(crate) read_late: u64,
    /// The number of answers that came before their queries were sent, and by how much at most, in nanoseconds.
    pub(crate) before_sent: (u64, u64),
    /// Queries without a right answer in time, by due time.
    pub(crate) bins: Vec<u64>,
    /// The due time of the last of those, from the start of the trial, in nanoseconds.
    pub(crate) last_missing_ns: Option<u64>,
    /// Queries sent for names with their own AAAA record.
    pub(crate) existing: u64,
    /// Queries answered rightly for names that were resolved before.
    pub(crate) cached: u64,
    /// Those of `cached` for which the server asked the authority nevertheless.
    pub(crate) cached_misses: u64,
    /// Queries answered rightly for new names without asking the authority.
    pub(crate) fresh_hits: u64,
    /// The first wrong answers, one line each.
    pub(crate) examples: Vec<String>,
    /// First answers to the queries of a file, by the response code in the header.
    pub(crate) rcodes: [u64; RCODES],
    /// The connections; `None` over UDP.
    pub(crate) tcp: Option<TcpCounts>,
}

/// The response codes of a header without EDNS.
const RCODES: usize = 16;

impl QueryTally {
    /// Creates an empty tally for a trial with this number of bins of 100 ms, at least one.
    pub(crate) fn new(bins: usize) -> Self {
        Self {
            answers: Answers::default(),
            rtt: RttSums::default(),
            delays: Delays::new(None, false),
            read_late: 0,
            before_sent: (0, 0),
            bins: vec![0; bins.max(1)],
            last_missing_ns: None,
            existing: 0,
            cached: 0,
            cached_misses: 0,
            fresh_hits: 0,
            examples: Vec::with_capacity(EXAMPLES),
            rcodes: [0; RCODES],
            tcp: None,
        }
    }

    /// Counts the first answer to a query, this long after it; returns whether it was late, wherever in its interval it arrived.
    #[inline]
    pub(crate) fn answer(
        &mut self,
        class: AnswerClass,
        delay: DelayInterval,
        timeout_ns: u64,
    ) -> bool {
        self.rtt
            .take(delay.delay_ns, Some(delay.width_ns.min(delay.delay_ns)));
        let is_late = delay.is_surely_above(timeout_ns);
        if class == AnswerClass::Right && is_late {
            self.delays.take_late(delay.delay_ns);
        } else if class == AnswerClass::Right {
            self.delays.take(0, delay);
            self.read_late += u64::from(delay.delay_ns > timeout_ns);
        }
        self.count(class, is_late);
        is_late
    }

    /// Counts the first answer to a query that came this long before the query was sent: it has no delay, and shows that those of others are wrong.
    #[cold]
    pub(crate) fn answer_before_sent(&mut self, class: AnswerClass, by_ns: u64) {
        self.before_sent = (self.before_sent.0 + 1, self.before_sent.1.max(by_ns));
        self.count(class, false);
    }

    #[inline]
    fn count(&mut self, class: AnswerClass, is_late: bool) {
        let answers = &mut self.answers;
        let counter = match class {
            AnswerClass::Right if is_late => &mut answers.late,
            AnswerClass::Right => &mut answers.right,
            AnswerClass::WrongAddress => &mut answers.wrong_address,
            AnswerClass::WrongTtl => &mut answers.wrong_ttl,
            AnswerClass::WrongForm => &mut answers.wrong_form,
            AnswerClass::Empty => &mut answers.empty,
            AnswerClass::Truncated => &mut answers.truncated,
            AnswerClass::Servfail => &mut answers.servfail,
            AnswerClass::Nxdomain => &mut answers.nxdomain,
            AnswerClass::Refused => &mut answers.refused,
            AnswerClass::OtherRcode => &mut answers.other_rcode,
            AnswerClass::Malformed => &mut answers.malformed,
        };
        *counter += 1;
    }

    /// Counts the response code of a first answer.
    pub(crate) fn note_rcode(&mut self, reply: &[u8]) {
        if let Some(octet) = reply.get(3) {
            self.rcodes[usize::from(octet & 0x0f)] += 1;
        }
    }

    /// Returns the response codes that occurred, by name.
    pub(crate) fn named_rcodes(&self) -> BTreeMap<String, u64> {
        let occurred = (0u8..).zip(self.rcodes).filter(|(_, count)| *count > 0);
        occurred
            .map(|(code, count)| (Rcode::masked_from_int(code).to_string(), count))
            .collect()
    }

    /// Keeps a wrong answer if it is one of the first.
    pub(crate) fn keep(&mut self, example: impl FnOnce() -> String) {
        if self.examples.len() < EXAMPLES {
            self.examples.push(example());
        }
    }

    /// Takes over the errors of the network at this thread's sockets.
    pub(crate) fn note_errors(&mut self, errors: NetworkErrors) {
        self.answers.unreachable = errors.all();
        self.answers.port_unreachable = errors.port_unreachable;
        self.answers.host_unreachable = errors.host_unreachable;
    }

    /// Counts a query due at `due_ns` that had no right answer in time.
    pub(crate) fn miss(&mut self, bin: usize, due_ns: u64) {
        let last = self.bins.len() - 1;
        self.bins[bin.min(last)] += 1;
        self.last_missing_ns = self.last_missing_ns.max(Some(due_ns));
    }

    /// Adds the counts of another thread.
    pub(crate) fn add(&mut self, other: &Self) {
        add_answers(&mut self.answers, &other.answers);
        self.rtt.add(&other.rtt);
        self.delays.add(&other.delays);
        self.read_late += other.read_late;
        self.before_sent = (
            self.before_sent.0 + other.before_sent.0,
            self.before_sent.1.max(other.before_sent.1),
        );
        self.bins
            .iter_mut()
            .zip(&other.bins)
            .for_each(|(own, more)| *own += more);
        self.last_missing_ns = self.last_missing_ns.max(other.last_missing_ns);
        self.existing += other.existing;
        self.cached += other.cached;
        self.cached_misses += other.cached_misses;
        self.fresh_hits += other.fresh_hits;
        self.rcodes
            .iter_mut()
            .zip(other.rcodes)
            .for_each(|(own, more)| *own += more);
        if let Some(more) = &other.tcp {
            self.tcp.get_or_insert_default().add(more);
        }
        let room = EXAMPLES - self.examples.len();
        self.examples
            .extend(other.examples.iter().take(room).cloned());
    }
}

fn add_answers(own: &mut Answers, more: &Answers) {
    let Answers {
        sent,
        right,
        late,
        wrong_address,
        wrong_ttl,
        wrong_form,
        empty,
        truncated,
        servfail,
        nxdomain,
        refused,
        other_rcode,
        malformed,
        unanswered,
        duplicate,
        mismatched,
        unasked,
        unreachable,
        port_unreachable,
        host_unreachable,
    } = more;
    own.sent += sent;
    own.right += right;
    own.late += late;
    own.wrong_address += wrong_address;
    own.wrong_ttl += wrong_ttl;
    own.wrong_form += wrong_form;
    own.empty += empty;
    own.truncated += truncated;
    own.servfail += servfail;
    own.nxdomain += nxdomain;
    own.refused += refused;
    own.other_rcode += other_rcode;
    own.malformed += malformed;
    own.unanswered += unanswered;
    own.duplicate += duplicate;
    own.mismatched += mismatched;
    own.unasked += unasked;
    own.unreachable += unreachable;
    own.port_unreachable += port_unreachable;
    own.host_unreachable += host_unreachable;
}
