//! The DNS tester: a client, an authority, and trials on request.

use super::allocator::NameAllocator;
use super::authority::{AddressZone, AskedNames, Authority};
use super::background::BackgroundAuthority;
use super::certify::{self, CertificateSearch};
use super::client::{QueryClient, QueryCounts, TrialQueries};
use super::closed_loop::ClosedLoop;
use super::diagnosis;
use super::drive::{Division, ThreadContext, perform};
use super::file::{FileProbe, FileQueries, LookedUp, OwnNames, names_to_look_up};
use super::names::NamePopulation;
use super::query::Query;
use super::questions::{ExpectedAnswers, NameRange, Questions, address};
use super::records::RecordWriter;
use super::resolve::{NameResolver, ResolvedNames};
use super::result::{QueryTrialData, add_counts, nothing_sent, trial_result};
use super::settings::{AuthorityEnd, DnsEnds, DnsError, DnsSettings};
use super::sockets::{IDENTIFIERS, QuerySockets};
use super::tcp::{QueryConnectionSettings, QueryConnections};
use super::transport::ClientTransport;
use crate::driver::{self, Layout, place};
use crate::memory;
use crate::pacing::pacer::ThreadShare;
use sixbench_io::clock::Clock;
use sixbench_io::files::{self, Folder};
use sixbench_method::isolation::Admitted;
use sixbench_method::plan::{DnsRole, Names};
use sixbench_method::terms::FrameRate;
use sixbench_method::trial::dns::{Cache, Certificate, CertificateTrial};
use sixbench_method::trial::{Fault, Measurer, Schedule, TrialResult, TrialSpec};
use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Pause between two attempts to get an answer from a server that has just started.
const PROBE_PAUSE: Duration = Duration::from_millis(50);

/// Sends queries to a server, and answers those that it sends to the authority.
pub struct DnsTester {
    ends: DnsEnds,
    settings: DnsSettings,
    /// The folder in which the records are made, whatever its path has become; `None` where the user named their path.
    records_in: Option<Folder>,
    layout: Layout,
    clock: Clock,
    stop: Arc<AtomicBool>,
    background: BackgroundAuthority,
    /// The zone that the kept authorities serve.
    zone: Option<AddressZone>,
    /// Allocates names that were not asked for yet.
    allocator: NameAllocator,
    /// The names in the server's cache, and the time at which they got there.
    pool: Option<(NameRange, Instant)>,
    certificate: Option<Certificate>,
    /// The queries of the file in the settings, once the server was asked about their names.
    file: Option<PreparedFile>,
    is_probed: bool,
    /// True if any answer in the previous trial was wrong or late.
    has_failed: bool,
    trials: u64,
}

/// Queries of a file that can be sent, and the number of names about which the server said nothing.
#[derive(Clone)]
struct PreparedFile {
    queries: Arc<FileQueries>,
    not_looked_up: u64,
}

/// The numbers of names that a trial asks for.
#[derive(Clone, Copy)]
struct NeededNames {
    /// New ones.
    fresh: u64,
    /// Ones that are to be in the cache, because they were resolved before.
    pooled: u64,
}

impl NeededNames {
    fn all(self) -> u64 {
        self.fresh + self.pooled
    }
}

impl DnsTester {
    /// Returns a tester. With one core (or none) in `layout`, client and authority take turns in one loop on it; with more each has its own core.
    /// `stop` ends a trial early.
    pub fn new(
        ends: Admitted<DnsEnds>,
        settings: DnsSettings,
        layout: Layout,
        stop: Arc<AtomicBool>,
    ) -> Self {
        Self {
            ends: ends.into_inner(),
            settings,
            records_in: None,
            layout,
            clock: Clock::new(),
            stop,
            background: BackgroundAuthority::default(),
            zone: None,
            allocator: NameAllocator::default(),
            pool: None,
            certificate: None,
            file: None,
            is_probed: false,
            has_failed: false,
            trials: 0,
        }
    }

    /// Switches to other settings. Names continue after the earlier ones; names resolved in another zone, and certificates for another path, are
    /// discarded.
    pub fn set(&mut self, ends: Admitted<DnsEnds>, settings: DnsSettings) {
        let ends = ends.into_inner();
        if (&ends.authority, &ends.client_namespace)
            != (&self.ends.authority, &self.ends.client_namespace)
        {
            drop(self.background.take());
            self.zone = None;
            self.certificate = None;
        }
        let is_same_zone = settings.expectation == self.settings.expectation
            && settings.domain == self.settings.domain
            && settings.names == self.settings.names
            && settings.queries == self.settings.queries
            && settings.tcp == self.settings.tcp
            && ends == self.ends;
        if !is_same_zone {
            self.pool = None;
            self.file = None;
            self.is_probed = false;
        }
        if ends.server != self.ends.server {
            self.allocator.forget();
        }
        (self.ends, self.settings, self.records_in) = (ends, settings, None);
    }

    /// From now on the record of every query goes to the file `name` of a folder, until other settings come.
    pub fn keep_queries(&mut self, folder: &Folder, name: &str) {
        self.settings.records = Some(folder.path().join(name));
        self.records_in = Some(folder.clone());
    }

    /// Returns the self-test that is valid for the timeout in the settings.
    pub fn certificate(&self) -> Option<&Certificate> {
        self.certificate
            .as_ref()
            .filter(|certificate| certificate.timeout_ns == self.settings.timeout_ns)
    }

    /// Returns whether the server under test must be restarted before a trial, so that its state does not depend on earlier trials. A cache may
    /// still hold names that would be repeated (RFC 8219 section 9.2 requires different ones); and a server that failed may continue to fail
    /// because it has marked its authority as unreachable, or may query it over TCP. Call [`DnsTester::forget`] after the restart.
    pub fn wants_new_server(&self, spec: &TrialSpec) -> bool {
        let would_repeat = || {
            let (needed, has) = (self.needs(spec.frames()), self.settings.names.count());
            self.settings.queries.is_none()
                && needed.all() <= has
                && self.names_known(needed, spec.duration_ns) > has
        };
        self.settings.expectation.role == DnsRole::Dns64 && (self.has_failed || would_repeat())
    }

    /// Notes that the server under test was restarted: its cache is empty, and it may not be ready yet.
    pub fn forget(&mut self) {
        (self.pool, self.is_probed, self.has_failed) = (None, false, false);
        self.allocator.forget();
        // What the server was asked about names of a file is no longer in its cache.
        self.file = None;
    }

    /// Makes the authority listen, so that the server under test can reach it from the beginning.
    ///
    /// # Errors
    /// It cannot listen.
    pub fn listen(&mut self) -> Result<(), DnsError> {
        let authorities = self.authorities()?;
        self.rest(authorities);
        Ok(())
    }

    /// Sends one query to check that there is a server and that it works as it should. It is repeated for up to `timeout`, as a server that has
    /// just started may not be ready.
    ///
    /// # Errors
    /// There was no right answer; the error describes the actual one and the remedy.
    pub fn probe(&mut self, timeout: Duration) -> Result<(), DnsError> {
        self.listen()?;
        let end = Instant::now() + timeout;
        if self.settings.queries.is_some() {
            return self.probe_with_file(end);
        }
        loop {
            let name = self.take(1, 0);
            let resolved = self.resolve(name)?;
            if resolved.right == 1 {
                self.is_probed = true;
                return Ok(());
            }
            self.check_stop()?;
            if Instant::now() > end {
                let address = address(self.settings.names, name.first);
                let what =
                    diagnosis::diagnose(&self.settings, self.ends.server, &resolved, address);
                return Err(DnsError::Unfit {
                    server: self.ends.server,
                    what,
                });
            }
            // A server that refuses does so at once: it must not be flooded, nor the names used up.
            std::thread::sleep(PROBE_PAUSE);
        }
    }

    /// Waits for any response to the first query of the file: which one is right, the trial shows.
    fn probe_with_file(&mut self, end: Instant) -> Result<(), DnsError> {
        let Some(queries) = self.settings.queries.clone() else {
            return Ok(());
        };
        let first = FileQueries::new(
            &queries,
            self.own_names(),
            self.settings.expectation,
            &BTreeMap::new(),
        );
        let mut transport = self.transport_of_few()?;
        let probe = FileProbe {
            clock: &self.clock,
            stop: &self.stop,
            timeout_ns: self.settings.timeout_ns,
        };
        let ended = self.asking(self.ends.server, || {
            probe.wait_for_response(&first, &mut transport, end)
        })?;
        self.check_stop()?;
        if let Err(attempts) = ended {
            let asked = ResolvedNames {
                queries: attempts,
                errors: transport.errors(),
                tcp: transport.connections(),
                ..ResolvedNames::default()
            };
            return Err(DnsError::Unfit {
                server: self.ends.server,
                what: diagnosis::silent(&first.text(0), self.ends.server, &asked),
            });
        }
        self.is_probed = true;
        Ok(())
    }

    fn own_names(&self) -> OwnNames<'_> {
        OwnNames {
            domain: &self.settings.domain,
            names: self.settings.names,
        }
    }

    /// Returns the queries of the file, after asking the server for the A records without which their answers cannot be judged; `None` without a file.
    fn prepared_file(&mut self) -> Result<Option<PreparedFile>, DnsError> {
        let Some(queries) = self.settings.queries.clone() else {
            return Ok(None);
        };
        if self.file.is_none() {
            let expectation = self.settings.expectation;
            let names = names_to_look_up(&queries, self.own_names(), &expectation);
            let LookedUp { addresses, failed } = if names.is_empty() {
                LookedUp::default()
            } else {
                let mut transport = self.transport_of_few()?;
                self.asking(self.ends.server, || {
                    LookedUp::ask(names, &self.closed_loop(), &mut transport)
                })?
            };
            self.check_stop()?;
            let queries = FileQueries::new(&queries, self.own_names(), expectation, &addresses);
            self.file = Some(PreparedFile {
                queries: Arc::new(queries),
                not_looked_up: failed,
            });
        }
        Ok(self.file.clone())
    }

    /// Returns authorities that serve the zone in the settings, as many as can work at once; none if the authority is not ours.
    fn authorities(&mut self) -> Result<Vec<Authority>, DnsError> {
        let Some(end) = self.ends.authority.clone() else {
            return Ok(Vec::new());
        };
        let settings = &self.settings;
        let ExpectedAnswers {
            population,
            most_ttl,
            ..
        } = settings.expectation;
        let zone = AddressZone {
            domain: settings.domain.clone(),
            population,
            ttl_s: most_ttl,
        };
        let kept = self.background.take();
        if !kept.is_empty() && self.zone.as_ref() == Some(&zone) {
            return Ok(kept);
        }
        drop(kept);
        self.zone = Some(zone.clone());
        self.bind(end.namespace.as_deref(), end.listen, zone)
    }

    fn bind(
        &self,
        namespace: Option<&str>,
        listen: SocketAddr,
        zone: AddressZone,
    ) -> Result<Vec<Authority>, DnsError> {
        let count = self.division().authorities();
        let zone = Arc::new(zone);
        Ok(within(namespace, || {
            Authority::bind_together(listen, &zone, count)
        })??)
    }

    fn division(&self) -> Division {
        Division::new(&self.layout.cores, self.ends.authority.is_some())
    }

    fn rest(&mut self, authorities: Vec<Authority>) {
        let division = self.division();
        let core = division
            .authority
            .first()
            .or(division.client.first())
            .copied()
            .flatten();
        self.background.keep(authorities, core);
    }

    fn check_stop(&self) -> Result<(), DnsError> {
        if self.stop.load(Ordering::Relaxed) {
            Err(DnsError::Interrupted)
        } else {
            Ok(())
        }
    }

    /// Returns what carries the queries of one client thread to a server: TCP connections only to the server under test.
    fn transport(
        &self,
        server: SocketAddr,
        rate: FrameRate,
        share: ThreadShare,
    ) -> Result<ClientTransport, DnsError> {
        match self.settings.tcp.as_ref() {
            Some(tcp) if server == self.ends.server => self.connected(tcp, tcp.of_thread(share)),
            _ => Ok(ClientTransport::Udp(self.sockets(server, rate, share.of)?)),
        }
    }

    /// Returns what carries a few queries to the server under test before a trial: over TCP, one connection.
    fn transport_of_few(&self) -> Result<ClientTransport, DnsError> {
        match &self.settings.tcp {
            None => Ok(ClientTransport::Udp(self.sockets(
                self.ends.server,
                FrameRate(1),
                1,
            )?)),
            Some(tcp) => self.connected(tcp, 1),
        }
    }

    /// Returns connections to the server under test, established if it allows it.
    fn connected(
        &self,
        tcp: &QueryConnectionSettings,
        connections: u16,
    ) -> Result<ClientTransport, DnsError> {
        let settings = QueryConnectionSettings {
            connections,
            ..tcp.clone()
        };
        let DnsEnds { client, server, .. } = self.ends;
        let (timeout_ns, key) = (self.settings.timeout_ns, self.trials);
        let opened = self.asking(server, || {
            let mut all = QueryConnections::new(client, server, &settings, timeout_ns, key)?;
            all.establish(&self.clock)?;
            Ok(all)
        })?;
        let opened = opened.map_err(|source| DnsError::Client {
            server,
            place: place(self.asking_namespace(server)),
            source,
        })?;
        let query = Query::new(&self.settings.domain);
        Ok(ClientTransport::Tcp(Box::new(opened), query))
    }

    /// Runs what asks a server in the namespace from which it is queried. Over UDP the sockets are there already; a TCP connection that the server closes is opened
    /// again by the thread that asks.
    fn asking<T: Send>(
        &self,
        server: SocketAddr,
        work: impl FnOnce() -> T + Send,
    ) -> Result<T, DnsError> {
        let has_connections = self.settings.tcp.is_some() && server == self.ends.server;
        let namespace = self.asking_namespace(server).filter(|_| has_connections);
        within(namespace, work)
    }

    /// Returns sockets for one client thread, so many that identifiers never run out.
    fn sockets(
        &self,
        server: SocketAddr,
        rate: FrameRate,
        of: u64,
    ) -> Result<QuerySockets, DnsError> {
        let burst = u64::from(self.settings.burst.get() - 1);
        let under_way = (rate.frames_in(self.settings.window_ns) + burst) / of;
        // The identifiers of a socket are used in turn. With twice as many as queries in flight, one comes again only after two windows, so that an
        // answer that is late by up to a window is still taken for its own query, and counted as late.
        let needed = (under_way * 2)
            .div_ceil(IDENTIFIERS)
            .min(u64::from(u16::MAX)) as u16;
        let (namespace, client) = (self.asking_namespace(server), self.ends.client);
        // An address of the other family cannot query this server; the loop of the self-test may use another one.
        let client = client
            .filter(|client| client.is_ipv4() == server.is_ipv4() && server == self.ends.server);
        let (count, key) = (self.settings.ports.max(needed), self.trials);
        let query = Query::new(&self.settings.domain);
        within(namespace, || {
            QuerySockets::open(client, server, count, query, key)
        })?
        .map_err(|source| DnsError::Client {
            server,
            place: place(namespace),
            source,
        })
    }

    /// Returns the network namespace from which a server is queried: in the self-test, an external authority may be reached from another one.
    fn asking_namespace(&self, server: SocketAddr) -> Option<&str> {
        let external = self
            .ends
            .external
            .as_ref()
            .filter(|external| external.looped.0 == server && server != self.ends.server);
        external
            .and_then(|external| external.looped_from.as_deref())
            .or(self.ends.client_namespace.as_deref())
    }

    fn closed_loop(&self) -> ClosedLoop<'_> {
        ClosedLoop {
            clock: &self.clock,
            stop: &self.stop,
            timeout_ns: self.settings.timeout_ns,
        }
    }

    fn resolve(&mut self, names: NameRange) -> Result<ResolvedNames, DnsError> {
        let mut transport = self.transport_of_few()?;
        let settings = &self.settings;
        let resolver = NameResolver {
            closed_loop: self.closed_loop(),
            domain: &settings.domain,
            expectation: &settings.expectation,
        };
        let all =
            (names.first..names.first + names.count).map(|number| address(settings.names, number));
        self.asking(self.ends.server, || resolver.resolve(all, &mut transport))
    }

    /// Returns the names that are to be cached in a trial of this many queries. They are resolved unless they are cached already, and for long enough.
    fn preload(
        &mut self,
        queries: u64,
        duration_ns: u64,
    ) -> Result<(NameRange, Option<ResolvedNames>), DnsError> {
        if self.settings.cached == 0 {
            // A range has at least one name, but none of this one is asked for.
            return Ok((NameRange { first: 0, count: 1 }, None));
        }
        let count = self.needs(queries).pooled;
        if let Some(pool) = self.lasting_pool(count, duration_ns) {
            return Ok((pool, None));
        }
        let pool = self.take(count, 0);
        let since = Instant::now();
        let resolved = self.resolve(pool)?;
        self.pool = (resolved.right == pool.count).then_some((pool, since));
        Ok((pool, Some(resolved)))
    }

    /// Returns this many names that are cached and will be until the end of a trial.
    fn lasting_pool(&self, count: u64, duration_ns: u64) -> Option<NameRange> {
        // The time is that of sending alone: until the first query, the names of the trial are chosen and the threads are placed, and after the last one
        // the answers are waited for. A fifth of the time to live, twelve minutes of the default hour, is left for that.
        let lasts = |since: Instant| {
            since.elapsed() + Duration::from_nanos(duration_ns) < self.ttl().mul_f64(0.8)
        };
        let (pool, _) = self
            .pool
            .filter(|(pool, since)| pool.count >= count && lasts(*since))?;
        Some(NameRange { count, ..pool })
    }

    fn ttl(&self) -> Duration {
        Duration::from_secs(u64::from(self.settings.expectation.most_ttl))
    }

    /// Returns new names that will be asked for within this time.
    fn take(&mut self, count: u64, within_ns: u64) -> NameRange {
        let now = Instant::now();
        self.allocator.take(
            count,
            now,
            now + Duration::from_nanos(within_ns) + self.ttl(),
        )
    }

    fn trial(&mut self, spec: &TrialSpec) -> Result<TrialResult, DnsError> {
        let queries = spec.frames();
        if let Some(fault) = self.refuses(spec, queries) {
            return Ok(nothing_sent(spec, queries, fault));
        }
        memory::ensure(spec, &self.settings)?;
        if !self.is_probed {
            self.probe(Duration::from_secs(5))?;
        }
        self.listen()?;
        self.background.settle(&self.stop);
        let (pool, resolved) = self.preload(queries, spec.duration_ns)?;
        self.check_stop()?;
        if let Some(resolved) = resolved.as_ref().filter(|resolved| resolved.failed > 0) {
            self.has_failed = true;
            let fault = Fault::PreloadFailed {
                failed: resolved.failed,
                of: pool.count,
            };
            return Ok(nothing_sent(spec, queries, fault));
        }
        let preload = resolved.unwrap_or_default();
        let cache = Cache {
            preloaded: if self.settings.cached > 0 {
                pool.count
            } else {
                0
            },
            preload_queries: preload.queries,
            preload_ns: preload.took_ns,
            ..Cache::default()
        };
        let file = self.prepared_file()?;
        let result = self.ask(spec, queries, pool, cache, file)?;
        self.has_failed = self.has_left_server_behind(&result);
        Ok(result)
    }

    /// Returns whether the server may still be busy with the trial, or may have taken its authority for dead. With queries of a file, errors are answers like others.
    fn has_left_server_behind(&self, result: &TrialResult) -> bool {
        match result.dns().filter(|_| self.settings.queries.is_some()) {
            Some(dns) => dns.answers.unanswered + dns.answers.late > 0,
            None => result
                .directions
                .iter()
                .any(|direction| direction.not_received() > 0),
        }
    }

    /// Runs the trial itself, when everything is ready and the names of `pool` are resolved.
    fn ask(
        &mut self,
        spec: &TrialSpec,
        queries: u64,
        pool: NameRange,
        cache: Cache,
        file: Option<PreparedFile>,
    ) -> Result<TrialResult, DnsError> {
        let (names, cached) = (self.settings.names, self.settings.cached);
        let questions = Questions::new(names, self.allocator.next(), cached, pool);
        let asked = if file.is_some() {
            None
        } else {
            let new = self.take(questions.fresh_in(queries), spec.duration_ns);
            self.asked(new, pool)
        };
        let (server, expectation) = (self.ends.server, self.settings.expectation);
        let mut authorities = self.authorities()?;
        authorities.iter_mut().for_each(Authority::reset_counts);
        let target = QueryTarget {
            server,
            expectation,
            questions: &questions,
            file: file.as_ref().map(|file| &file.queries),
            timeout_ns: self.settings.timeout_ns,
        };
        let counted = self.run(
            spec.rate,
            queries,
            &target,
            asked.as_ref(),
            &mut authorities,
        );
        let authority = (!authorities.is_empty()).then(|| add_counts(&authorities));
        self.rest(authorities);
        Ok(trial_result(QueryTrialData {
            spec,
            server,
            queries,
            counted: counted?,
            authority,
            names: asked.as_ref().map(AskedNames::names),
            cache,
            timeout_ns: self.settings.timeout_ns,
            stall_ns: self.settings.stall_ns,
            certified: self.certificate().map(|certificate| certificate.rate),
            not_looked_up: file.as_ref().map_or(0, |file| file.not_looked_up),
        }))
    }

    /// Returns the reason why a trial would be pointless, before anything is sent; `None` if there is none.
    fn refuses(&self, spec: &TrialSpec, queries: u64) -> Option<Fault> {
        let certified = self
            .certificate()
            .map_or(u64::MAX, |certificate| certificate.rate);
        if spec.rate.0 > certified {
            return Some(Fault::AboveCertified {
                rate: spec.rate.0,
                certified,
            });
        }
        let (names, has) = (self.needs(queries), self.settings.names.count());
        // The queries of a file may be asked repeatedly as well.
        if self.settings.expectation.role == DnsRole::Authority || self.settings.queries.is_some() {
            // Its names may be asked for repeatedly, as it has no cache.
            return None;
        }
        // If the authority is ours, it shows which names the cache knows; otherwise nothing does.
        let known = if self.ends.authority.is_none() {
            self.names_known(names, spec.duration_ns)
        } else {
            0
        };
        let needed = known.max(names.all());
        (needed > has).then_some(Fault::TooFewNames { needed, has })
    }

    /// Returns the number of names that the server under test would know after another trial with these names.
    fn names_known(&self, needed: NeededNames, duration_ns: u64) -> u64 {
        let new = if self.lasting_pool(needed.pooled, duration_ns).is_some() {
            needed.fresh
        } else {
            needed.all()
        };
        self.allocator.known_after(new, Instant::now())
    }

    /// Returns the numbers of names for a trial of this many queries.
    fn needs(&self, queries: u64) -> NeededNames {
        let any = NameRange { first: 0, count: 1 };
        let fresh =
            Questions::new(self.settings.names, 0, self.settings.cached, any).fresh_in(queries);
        let pooled = (queries - fresh).clamp(1, u64::from(self.settings.cached_names.max(1)));
        NeededNames {
            fresh,
            pooled: if self.settings.cached > 0 { pooled } else { 0 },
        }
    }

    /// Returns the record of names that reach the authority; `None` if it is not ours.
    fn asked(&self, new: NameRange, pool: NameRange) -> Option<AskedNames> {
        self.ends.authority.as_ref()?;
        let names = self.settings.names;
        let asked = AskedNames::new(&ranges(names, new));
        let repeated = (self.settings.cached > 0).then(|| ranges(names, pool));
        Some(asked.with_repeated(&repeated.unwrap_or_default()))
    }

    fn open_records(
        &self,
        path: &Path,
        queries: Option<&Arc<FileQueries>>,
    ) -> io::Result<RecordWriter> {
        let file = match &self.records_in {
            Some(folder) => folder.create(path.file_name().unwrap_or_default())?,
            None => files::create(path)?,
        };
        RecordWriter::begin(file, queries.cloned())
    }

    fn run(
        &mut self,
        rate: FrameRate,
        queries: u64,
        target: &QueryTarget<'_>,
        asked: Option<&AskedNames>,
        authorities: &mut [Authority],
    ) -> Result<Vec<QueryCounts>, DnsError> {
        self.trials += 1;
        let settings = &self.settings;
        // The self-test has no records.
        let records_at = settings
            .records
            .as_ref()
            .filter(|_| target.server == self.ends.server);
        let records = records_at
            .map(|path| {
                self.open_records(path, target.file)
                    .map_err(|source| unwritable(path, source))
            })
            .transpose()?;
        let trial = TrialQueries {
            clock: &self.clock,
            domain: &settings.domain,
            questions: target.questions,
            expectation: &target.expectation,
            asked,
            file: target.file.map(Arc::as_ref),
            rate,
            schedule: Schedule::constant(rate, queries),
            burst: settings.burst,
            timeout_ns: target.timeout_ns,
            window_ns: settings.window_ns.max(target.timeout_ns),
            stall_ns: settings.stall_ns,
        };
        let division = self.division();
        let clients = self.clients(
            &trial,
            target.server,
            (division.client.len() as u64).min(queries.max(1)),
            records.as_ref(),
        )?;
        let context = ThreadContext {
            clock: &self.clock,
            stop: &self.stop,
            asked,
            stall_ns: settings.stall_ns,
            shares_core: self.shares_core(),
        };
        let counted = self
            .asking(target.server, || {
                perform(clients, authorities, &division, &context)
            })?
            .ok_or(DnsError::Interrupted);
        if let (Some(records), Some(path)) = (records, records_at) {
            records
                .finish()
                .map_err(|source| unwritable(path, source))?;
        }
        counted
    }

    /// Returns whether an authority in another process needs the client's core, too.
    fn shares_core(&self) -> bool {
        let external = self.ends.external.as_ref();
        external.is_some_and(|external| external.shares_core)
    }

    /// Returns the clients of a trial, one for each of `threads` threads.
    fn clients<'t>(
        &self,
        trial: &'t TrialQueries<'t>,
        server: SocketAddr,
        threads: u64,
        records: Option<&RecordWriter>,
    ) -> Result<Vec<QueryClient<'t>>, DnsError> {
        (0..threads)
            .map(|index| {
                let share = ThreadShare { index, of: threads };
                Ok(QueryClient::new(
                    trial,
                    share,
                    self.transport(server, trial.rate, share)?,
                    records.and_then(RecordWriter::hand),
                ))
            })
            .collect()
    }

    /// Runs the self-test of RFC 8219 section 9.2.1: the client is looped to the authority, without the DUT, up to the highest rate that is
    /// needed. Each trial lasts `duration_ns`.
    ///
    /// # Errors
    /// Nothing could be sent. A rate that fails is not an error.
    pub fn certify(
        &mut self,
        most: FrameRate,
        duration_ns: u64,
    ) -> Result<Option<Certificate>, DnsError> {
        self.certify_within(most, duration_ns, certify::WIDTH)
    }

    /// Does the same until the bounds of the rate differ by no more than `width`, a share of the upper one.
    ///
    /// # Errors
    /// Those of [`DnsTester::certify`].
    pub fn certify_within(
        &mut self,
        most: FrameRate,
        duration_ns: u64,
        width: f64,
    ) -> Result<Option<Certificate>, DnsError> {
        let Some(looped) = self.looped_authority() else {
            return Ok(None);
        };
        let expectation = self.certified_expectation(&looped);
        let mut certificate = Certificate {
            rate: 0,
            timeout_ns: self.settings.timeout_ns,
            duration_ns,
            path: looped.path,
            trials: Vec::new(),
        };
        let mut search = CertificateSearch::new(most.0, width);
        // Another socket at that address would get a part of the queries.
        drop(self.background.take());
        self.zone = None;
        let mut authorities = match &looped.own {
            Some(end) => {
                let zone = AddressZone {
                    domain: self.settings.domain.clone(),
                    population: expectation.population,
                    ttl_s: expectation.most_ttl,
                };
                self.bind(end.namespace.as_deref(), looped.address, zone)?
            }
            None => Vec::new(),
        };
        while let Some(rate) = search.next() {
            self.check_stop()?;
            let target = QueryTarget {
                server: looped.address,
                expectation,
                questions: &Questions::fresh(self.settings.names, 0),
                file: None,
                // "Within a 0.25*t timeout" (RFC 8219 section 9.2.1).
                timeout_ns: self.settings.timeout_ns / 4,
            };
            let trial = self.certify_rate(rate, duration_ns, &target, &mut authorities)?;
            search.learn(rate, &trial);
            certificate.trials.push(trial);
        }
        drop(authorities);
        self.listen()?;
        certificate.rate = search.passed();
        self.certificate = Some(certificate.clone());
        Ok(Some(certificate))
    }

    /// Makes one trial of the self-test, at the load that certifies `rate`.
    fn certify_rate(
        &mut self,
        rate: u64,
        duration_ns: u64,
        target: &QueryTarget<'_>,
        authorities: &mut [Authority],
    ) -> Result<CertificateTrial, DnsError> {
        let looped = FrameRate(Certificate::looped(rate));
        let queries = looped.frames_in(duration_ns).max(1);
        let names = NameRange {
            first: 0,
            count: queries,
        };
        // The authority has the same work as in a trial.
        let asked = AskedNames::new(&ranges(self.settings.names, names));
        let counted = self.run(looped, queries, target, Some(&asked), authorities)?;
        Ok(certify::judged(looped.0, queries, &counted))
    }

    /// Returns the authority to which the client can be looped: the tester's own, or else the external one.
    fn looped_authority(&self) -> Option<LoopedAuthority> {
        let own = self.ends.authority.as_ref().and_then(|end| {
            let (address, path) = end.looped.clone()?;
            Some(LoopedAuthority {
                address,
                path,
                own: Some(end.clone()),
            })
        });
        own.or_else(|| {
            let (address, path) = self.ends.external.as_ref()?.looped.clone();
            Some(LoopedAuthority {
                address,
                path,
                own: None,
            })
        })
    }

    /// Returns the answers that the self-test expects from an authority.
    fn certified_expectation(&self, looped: &LoopedAuthority) -> ExpectedAnswers {
        // "Configured to be able to answer all the AAAA record queries"; a real authority has the records of its zone file.
        let has_every_name = looped.own.is_some()
            || self
                .ends
                .external
                .as_ref()
                .is_some_and(|external| external.has_every_name);
        let population = if has_every_name {
            NamePopulation { with_aaaa: 100 }
        } else {
            self.settings.expectation.population
        };
        ExpectedAnswers {
            role: DnsRole::Authority,
            prefix: None,
            population,
            ..self.settings.expectation
        }
    }
}

/// The authority that the self-test asks without the DUT in between.
struct LoopedAuthority {
    address: SocketAddr,
    /// A description of the path to it.
    path: String,
    /// The tester's own authority, if it is that.
    own: Option<AuthorityEnd>,
}

/// The server that a trial queries, and the expected answers.
struct QueryTarget<'a> {
    server: SocketAddr,
    expectation: ExpectedAnswers,
    questions: &'a Questions,
    /// The queries of a file in the place of `questions`.
    file: Option<&'a Arc<FileQueries>>,
    timeout_ns: u64,
}

/// Returns the addresses of a range of names: two ranges if it wraps around.
fn ranges(names: Names, stretch: NameRange) -> Vec<(u32, u64)> {
    let all = names.count();
    let first = stretch.first % all;
    let count = stretch.count.min(all);
    let before_end = count.min(all - first);
    let mut ranges = vec![(address(names, first), before_end)];
    if count > before_end {
        ranges.push((address(names, 0), count - before_end));
    }
    ranges
}

fn unwritable(path: &Path, source: io::Error) -> DnsError {
    DnsError::Records {
        path: path.display().to_string(),
        source,
    }
}

/// Runs `work` in the namespace to which its sockets belong.
fn within<T: Send>(
    namespace: Option<&str>,
    work: impl FnOnce() -> T + Send,
) -> Result<T, DnsError> {
    driver::within(namespace, work).map_err(|source| DnsError::Namespace {
        place: place(namespace),
        source,
    })
}

impl Measurer for DnsTester {
    type Error = DnsError;

    fn measure(&mut self, spec: &TrialSpec) -> Result<TrialResult, DnsError> {
        self.trial(spec)
    }
}
