//! What the DNS tester is told: where its ends are, what it is to ask, and why it may not be able to.

use super::authority::AuthorityError;
use super::flight::ENTRY_OCTETS;
use super::names::Domain;
use super::questions::ExpectedAnswers;
use crate::memory::{Footprint, OutOfMemory};
use sixbench_method::isolation::Addressed;
use sixbench_method::plan::Names;
use sixbench_method::terms::FrameRate;
use sixbench_method::trial::TrialSpec;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

/// Queries per second of all threads together beyond which no client comes with the kernel's sockets: several times what the self-test
/// certifies. Of a trial that asks for more no more are kept under way, and the client is late.
pub(super) const FASTEST_QUERIES: FrameRate = FrameRate(4_000_000);

/// Octets per query under way, in a ring whose size is a power of two; then octets per identifier.
const QUERY_OCTETS: u64 = 2 * ENTRY_OCTETS;
const IDENTIFIER_OCTETS: u64 = 4;

/// The ends of a trial: their addresses and network namespaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DnsEnds {
    /// Network namespace of the client; `None` is this one.
    pub client_namespace: Option<String>,
    /// The address it asks from; `None`: the kernel's choice.
    pub client: Option<IpAddr>,
    /// The server under test.
    pub server: SocketAddr,
    /// The tester's own authority; `None` where another server answers, or the server is an authority itself.
    pub authority: Option<AuthorityEnd>,
    /// A real authority in the place of the tester's own.
    pub external: Option<ExternalAuthority>,
}

impl Addressed for DnsEnds {
    fn each_address(&self, show: &mut dyn FnMut(IpAddr)) {
        show(self.server.ip());
        self.client.into_iter().for_each(&mut *show);
        if let Some(authority) = &self.authority {
            show(authority.listen.ip());
            authority.looped.iter().for_each(|(address, _)| show(address.ip()));
        }
        self.external.iter().for_each(|external| show(external.looped.0.ip()));
    }
}

/// An authoritative server that is set up outside of this crate: a real one at the tester's end, or one on another machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExternalAuthority {
    /// The address at which the client asks it in the self-test, and the way there in words.
    pub looped: (SocketAddr, String),
    /// The network namespace from which it is asked there; `None` is the client's.
    pub looped_from: Option<String>,
    /// True if what answers there has an AAAA record for every name, as the self-test wants it; else it has those of the trials.
    pub has_every_name: bool,
    /// True if it runs on the core of the only client thread. The client then gives the core away after every look, and so does
    /// not keep its schedule as well.
    pub shares_core: bool,
}

/// The tester's own authority: its network namespace and addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthorityEnd {
    /// Its network namespace; `None` is this one.
    pub namespace: Option<String>,
    /// The address at which the server under test asks it.
    pub listen: SocketAddr,
    /// The address at which the tester's own client asks it in the self-test, and the way there in words.
    pub looped: Option<(SocketAddr, String)>,
}

/// The settings that hold for every trial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DnsSettings {
    /// The answers that are expected.
    pub expectation: ExpectedAnswers,
    /// The domain of all names.
    pub domain: Domain,
    /// The names to ask for.
    pub names: Names,
    /// Queries for names resolved before, per cent.
    pub cached: u8,
    /// Such names at most.
    pub cached_names: u32,
    /// Answers that come later than this are late, in nanoseconds.
    pub timeout_ns: u64,
    /// Answers later than this are not waited for, nanoseconds; at least the timeout.
    pub window_ns: u64,
    /// A thread away for longer has stalled, nanoseconds.
    pub stall_ns: u64,
    /// Source ports of each client thread, at least; more where the queries under way need them.
    pub ports: u16,
    /// The file to which the record of every query is written, if any.
    pub records: Option<PathBuf>,
}

impl Footprint for DnsSettings {
    /// Queries under way, their identifiers, and three bits of each name: asked for, asked for by the server, asked for again.
    fn octets(&self, spec: &TrialSpec) -> u64 {
        let window_ns = self.window_ns.max(self.timeout_ns);
        let under_way = spec.rate.min(FASTEST_QUERIES).frames_in(window_ns).saturating_mul(5) / 4;
        let names = spec.frames().min(self.names.count());
        let of_each = QUERY_OCTETS + 2 * IDENTIFIER_OCTETS;
        under_way.min(spec.frames()).saturating_mul(of_each).saturating_add(names.saturating_mul(3) / 8)
    }
}

/// The reason why no trial could be performed.
#[derive(Debug, thiserror::Error)]
pub enum DnsError {
    /// The client's sockets cannot be opened.
    #[error(
        "cannot query {server} from {place}: {source}; is there a route, and is the client's address set on an interface there?"
    )]
    Client {
        /// The server.
        server: SocketAddr,
        /// The namespace, in words.
        place: String,
        /// The kernel's answer.
        source: io::Error,
    },
    /// The authority cannot listen.
    #[error(transparent)]
    Authority(#[from] AuthorityError),
    /// A namespace cannot be entered.
    #[error("cannot enter {place}: {source}")]
    Namespace {
        /// The namespace, in words.
        place: String,
        /// The kernel's answer.
        source: io::Error,
    },
    /// The server under test does not answer one single query as it should.
    #[error("{server}: {what}")]
    Unfit {
        /// The server.
        server: SocketAddr,
        /// A description of what came instead, and of what to do.
        what: String,
    },
    /// The records cannot be written.
    #[error("cannot write {path}: {source}")]
    Records {
        /// The file.
        path: String,
        /// The system's answer.
        source: io::Error,
    },
    /// The trial's tables do not fit into memory.
    #[error(transparent)]
    Memory(#[from] OutOfMemory),
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}
