//! The tester of vectors for DNS servers.

use super::super::{VectorProgress, VectorRecord, VectorRun};
use super::capture;
use super::client::{ClientExchange, DnsClient};
use super::server::{AuthorityExchange, AuthorityLog, AuthorityServer};
use crate::dns::DnsError;
use crate::driver::{joined, place, within};
use sixbench_conformance::dns::{
    DnsExchange, DnsMistake, DnsName, DnsSetting, FailureMode, ResolvedExchange, Rtype, TextLine,
    UpstreamRule, VectorAuthority, ZoneLine,
};
use sixbench_conformance::judge::{DnsAnswer, DnsOutcome, judge_dns};
use sixbench_conformance::{ControlFrames, Vector, VectorJudgement, VectorResult};
use sixbench_io::thread::give_up_privileges;
use sixbench_method::isolation::Admitted;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The time limit for an answer, at each of two attempts.
const ANSWER: Duration = Duration::from_secs(5);
/// The same where the authority never answers: resolvers give up after some ten seconds.
const SLOW_ANSWER: Duration = Duration::from_secs(15);
/// The time limit for the answer to a control query.
const CONTROL: Duration = Duration::from_secs(2);
/// Attempts to get the answer to a control query at the start.
const CONTROL_TRIES: u32 = 3;
/// The zone of control queries, which is that of a vector of this name.
const CONTROL_NAME: &str = "control";

/// The ends of the tester, and the server between them.
#[derive(Clone, Debug)]
pub struct DnsVectorEnds {
    /// The network namespace of the client; `None` for the current one.
    pub client_namespace: Option<String>,
    /// The server under test.
    pub server: Admitted<SocketAddr>,
    /// The network namespace of the authority; `None` for the current one.
    pub authority_namespace: Option<String>,
    /// The address at which the authority listens.
    pub authority: Admitted<SocketAddr>,
}

/// Sends the queries of vectors to a DNS server, answers for the authority behind it, and judges what comes.
pub struct DnsVectorTester {
    ends: DnsVectorEnds,
    setting: DnsSetting,
    stop: Arc<AtomicBool>,
}

/// A vector for this server, or the reason why there is none.
enum PreparedVector {
    Asked(Box<ResolvedExchange>),
    NotApplicable(VectorJudgement),
}

/// The outcome of a vector before it is judged.
struct AskedVector {
    asked: ClientExchange,
    upstream: Vec<AuthorityExchange>,
    control: ControlFrames,
    attempts: u32,
    begun: Instant,
    ended: Instant,
}

impl DnsVectorTester {
    /// Returns a tester between these ends. `stop` ends it early.
    pub fn new(ends: DnsVectorEnds, setting: DnsSetting, stop: Arc<AtomicBool>) -> Self {
        Self {
            ends,
            setting,
            stop,
        }
    }

    /// Asks every vector's query, and those without an answer once more. The outcomes are in the order of the vectors. A stop ends it early, with what was
    /// found until then. The threads that read what the server sends have no privileges. `progress` is told the number of vectors that were asked, and of
    /// all.
    ///
    /// # Errors
    /// A namespace cannot be entered, the authority cannot listen, the server answers no control query, or a stop was requested before the first vector.
    pub fn run(
        &self,
        vectors: &[&Vector],
        progress: VectorProgress,
    ) -> Result<VectorRun, DnsError> {
        let control = self.control()?;
        let prepared: Vec<PreparedVector> =
            vectors.iter().map(|vector| self.prepare(vector)).collect();
        let exchanges = prepared.iter().filter_map(PreparedVector::exchange);
        let authority = VectorAuthority::new(exchanges.chain([&control]));
        let server = self.bind()?;
        let (log, has_ended) = (AuthorityLog::default(), AtomicBool::new(false));
        std::thread::scope(|scope| {
            let serving = scope.spawn(|| {
                give_up_privileges()?;
                server.run(&authority, &log, &has_ended);
                Ok(())
            });
            // A thread of its own, because it gives its privileges up.
            let asking = scope.spawn(|| {
                let session = self.session(&control, &log);
                self.ask_all(&session, &prepared, progress)
            });
            let records = joined(asking.join());
            has_ended.store(true, Ordering::Relaxed);
            let served: std::io::Result<()> = joined(serving.join());
            served.map_err(|source| namespace_error(None, source))?;
            records
        })
    }

    /// Asks from the client's namespace, without privileges.
    fn ask_all(
        &self,
        session: &AskingSession<'_>,
        prepared: &[PreparedVector],
        progress: VectorProgress,
    ) -> Result<VectorRun, DnsError> {
        let namespace = self.ends.client_namespace.as_deref();
        let records = within(namespace, || {
            give_up_privileges().map(|()| session.run(prepared, progress))
        });
        let records = records.and_then(|without_privileges| without_privileges);
        records.map_err(|source| namespace_error(namespace, source))?
    }

    fn session<'a>(
        &'a self,
        control: &'a ResolvedExchange,
        log: &'a AuthorityLog,
    ) -> AskingSession<'a> {
        AskingSession {
            client: DnsClient {
                server: *self.ends.server,
                stop: &self.stop,
            },
            authority: *self.ends.authority,
            control,
            log,
        }
    }

    fn bind(&self) -> Result<AuthorityServer, DnsError> {
        let namespace = self.ends.authority_namespace.as_deref();
        let listen = *self.ends.authority;
        let bound = within(namespace, || AuthorityServer::bind(listen));
        Ok(bound.map_err(|source| namespace_error(namespace, source))??)
    }

    /// Returns the control query, for a record that every server passes on.
    fn control(&self) -> Result<ResolvedExchange, DnsError> {
        let exchange = DnsExchange {
            common: Vec::new(),
            zone: vec![
                control_line("@ 3600 SOA ns hostmaster 1 86400 7200 3600000 600"),
                control_line("host 3600 TXT \"control\""),
            ],
            query: control_line("host TXT"),
            expect: vec![
                control_line(";; status: NOERROR"),
                control_line(";; ANSWER SECTION:"),
                control_line("host any TXT \"control\""),
            ],
            allowed: Vec::new(),
            upstream: UpstreamRule::Anything,
            needs_well_known_prefix: false,
        };
        let resolved = exchange.resolve(CONTROL_NAME, &self.setting);
        resolved.map_err(|mistake: DnsMistake| DnsError::Unfit {
            server: *self.ends.server,
            what: mistake.to_string(),
        })
    }

    fn prepare(&self, vector: &Vector) -> PreparedVector {
        let Some(written) = vector.dns.as_deref() else {
            let reason = "the vector sends frames, and the device is a DNS server";
            return PreparedVector::NotApplicable(VectorJudgement::not_applicable(&reason));
        };
        if !written.applies_to(&self.setting) {
            let reason = "it is about the Well-Known Prefix, and the server has another";
            return PreparedVector::NotApplicable(VectorJudgement::not_applicable(&reason));
        }
        match written.resolve(&vector.name, &self.setting) {
            Ok(exchange) => PreparedVector::Asked(Box::new(exchange)),
            Err(mistake) => {
                PreparedVector::NotApplicable(VectorJudgement::not_applicable(&mistake))
            }
        }
    }
}

/// Returns a line that is in no file.
fn control_line(text: &str) -> TextLine {
    TextLine {
        number: 0,
        text: text.to_owned(),
    }
}

fn namespace_error(namespace: Option<&str>, source: std::io::Error) -> DnsError {
    DnsError::Namespace {
        place: place(namespace),
        source,
    }
}

impl PreparedVector {
    fn exchange(&self) -> Option<&ResolvedExchange> {
        match self {
            Self::Asked(exchange) => Some(exchange),
            Self::NotApplicable(_) => None,
        }
    }
}

/// Asks the vectors from the client's namespace.
struct AskingSession<'a> {
    client: DnsClient<'a>,
    authority: SocketAddr,
    control: &'a ResolvedExchange,
    log: &'a AuthorityLog,
}

impl AskingSession<'_> {
    fn run(
        &self,
        prepared: &[PreparedVector],
        progress: VectorProgress,
    ) -> Result<VectorRun, DnsError> {
        self.find_answering_server()?;
        let mut outcomes: Vec<Option<AskedVector>> = Vec::new();
        outcomes.resize_with(prepared.len(), || None);
        let is_interrupted = match self.ask_each(prepared, &mut outcomes, progress) {
            Ok(()) => false,
            Err(DnsError::Interrupted) => true,
            Err(error) => return Err(error),
        };
        let questions = self.log.questions();
        let judged = prepared.iter().zip(outcomes);
        Ok(VectorRun {
            records: judged
                .map(|(vector, outcome)| self.record(vector, outcome, &questions))
                .collect(),
            is_interrupted,
        })
    }

    fn ask_each(
        &self,
        prepared: &[PreparedVector],
        outcomes: &mut [Option<AskedVector>],
        mut progress: VectorProgress,
    ) -> Result<(), DnsError> {
        let mut done = 0;
        for (vector, outcome) in prepared.iter().zip(&mut *outcomes) {
            self.log.forget_exchanges();
            if let Some(exchange) = vector.exchange().filter(|exchange| !is_slow(exchange)) {
                *outcome = Some(self.ask(exchange, ANSWER)?);
            }
            done += usize::from(!vector.exchange().is_some_and(is_slow));
            progress(done, prepared.len());
        }
        self.ask_slow_ones(prepared, outcomes)?;
        progress(prepared.len(), prepared.len());
        Ok(())
    }

    fn find_answering_server(&self) -> Result<(), DnsError> {
        for _ in 0..CONTROL_TRIES {
            if self.control()? == ControlFrames::Came {
                return Ok(());
            }
        }
        Err(DnsError::NoControlAnswer {
            server: self.client.server,
        })
    }

    /// Sends a control query.
    fn control(&self) -> Result<ControlFrames, DnsError> {
        let asked = self.send(self.control, CONTROL)?;
        let outcome = DnsOutcome {
            answer: asked.answer,
            age: u32::MAX,
            control: ControlFrames::Came,
            forbidden_questions: Vec::new(),
        };
        Ok(match judge_dns(self.control, &outcome).result {
            VectorResult::Right => ControlFrames::Came,
            _ => ControlFrames::Lost,
        })
    }

    fn send(
        &self,
        exchange: &ResolvedExchange,
        timeout: Duration,
    ) -> Result<ClientExchange, DnsError> {
        let asked = self.client.ask(&exchange.query, timeout);
        let asked = asked.map_err(|source| DnsError::Client {
            server: self.client.server,
            place: place(None),
            source,
        })?;
        if self.client.stop.load(Ordering::Relaxed) {
            return Err(DnsError::Interrupted);
        }
        Ok(asked)
    }

    /// Asks the query of a vector between two control queries, and once more if there is no answer.
    fn ask(&self, exchange: &ResolvedExchange, timeout: Duration) -> Result<AskedVector, DnsError> {
        let before = self.control()?;
        let begun = Instant::now();
        let mut attempts = 1;
        let mut asked = self.send(exchange, timeout)?;
        if matches!(asked.answer, DnsAnswer::Nothing) {
            attempts += 1;
            asked = self.send(exchange, timeout)?;
        }
        let ended = Instant::now();
        let upstream = self.log.take_exchanges(exchange);
        let control = match (before, self.control()?) {
            (ControlFrames::Came, ControlFrames::Came) => ControlFrames::Came,
            _ => ControlFrames::Lost,
        };
        Ok(AskedVector {
            asked,
            upstream,
            control,
            attempts,
            begun,
            ended,
        })
    }

    /// Asks the queries whose authority does not answer, all at once. A stop that one of them meets leaves the outcomes of the others.
    fn ask_slow_ones(
        &self,
        prepared: &[PreparedVector],
        outcomes: &mut [Option<AskedVector>],
    ) -> Result<(), DnsError> {
        let slow = prepared
            .iter()
            .zip(outcomes)
            .filter_map(|(vector, outcome)| {
                let exchange = vector.exchange().filter(|exchange| is_slow(exchange))?;
                Some((exchange, outcome))
            });
        std::thread::scope(|scope| {
            let asking: Vec<_> = slow
                .map(|(exchange, outcome)| {
                    let thread = scope.spawn(|| self.ask(exchange, SLOW_ANSWER));
                    (thread, outcome)
                })
                .collect();
            let mut ended = Ok(());
            for (thread, outcome) in asking {
                match joined(thread.join()) {
                    Ok(asked) => *outcome = Some(asked),
                    Err(error) => ended = Err(error),
                }
            }
            ended
        })
    }

    fn record(
        &self,
        vector: &PreparedVector,
        outcome: Option<AskedVector>,
        questions: &[(DnsName, Rtype)],
    ) -> VectorRecord {
        match (vector, outcome) {
            (PreparedVector::Asked(exchange), Some(outcome)) => {
                self.judged(exchange, &outcome, questions)
            }
            (PreparedVector::NotApplicable(judgement), _) => without_frames(judgement),
            (PreparedVector::Asked(_), None) => VectorRecord::not_sent(),
        }
    }

    fn judged(
        &self,
        exchange: &ResolvedExchange,
        outcome: &AskedVector,
        questions: &[(DnsName, Rtype)],
    ) -> VectorRecord {
        let age = outcome.ended.duration_since(outcome.begun).as_secs();
        let judged = DnsOutcome {
            answer: outcome.asked.answer.clone(),
            age: u32::try_from(age).unwrap_or(u32::MAX).saturating_add(1),
            control: outcome.control,
            forbidden_questions: exchange.forbidden_questions(questions),
        };
        VectorRecord {
            judgement: judge_dns(exchange, &judged),
            capture: capture::frames(
                &outcome.asked,
                exchange.query.transport,
                self.client.server,
                &outcome.upstream,
                self.authority,
            ),
            attempts: outcome.attempts,
        }
    }
}

fn without_frames(judgement: &VectorJudgement) -> VectorRecord {
    VectorRecord {
        judgement: judgement.clone(),
        capture: Vec::new(),
        attempts: 0,
    }
}

/// Returns true if the authority never answers some of the queries.
fn is_slow(exchange: &ResolvedExchange) -> bool {
    let is_timeout =
        |line: &ZoneLine| matches!(line, ZoneLine::Failure(_, _, FailureMode::Timeout));
    exchange.zone.iter().any(is_timeout)
}
