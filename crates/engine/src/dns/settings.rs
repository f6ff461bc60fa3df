//! The settings of the DNS tester: where its ends are, what it is to ask, and the reasons why it may be unable to.

use super::authority::AuthorityError;
use super::flight::ENTRY_OCTETS;
use super::names::Domain;
use super::questions::ExpectedAnswers;
use super::records::WAITING_OCTETS;
use super::sockets::IDENTIFIERS;
use super::tcp::QueryConnectionSettings;
use crate::memory::{Footprint, LargeTable, OutOfMemory};
use sixbench_method::isolation::Addressed;
use sixbench_method::plan::{Names, QueryFile};
use sixbench_method::terms::FrameRate;
use sixbench_method::trial::TrialSpec;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroU32;
use std::path::PathBuf;

/// The rate in queries per second of all threads that no client exceeds with the kernel's sockets: several times what the self-test certifies. A
/// trial at a higher rate has no more queries in flight than this allows, and the client is late.
pub(super) const FASTEST_QUERIES: FrameRate = FrameRate(4_000_000);

/// Octets per query in flight, in a ring whose size is a power of two; then octets per identifier.
const QUERY_OCTETS: u64 = 2 * ENTRY_OCTETS;
const IDENTIFIER_OCTETS: u64 = 4;

/// The ends of a trial: their addresses and network namespaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DnsEnds {
    /// The client's network namespace; `None` for the current one.
    pub client_namespace: Option<String>,
    /// The address from which it asks; `None` for the kernel's choice.
    pub client: Option<IpAddr>,
    /// The server under test.
    pub server: SocketAddr,
    /// The tester's own authority; `None` if another server answers, or if the server is an authority itself.
    pub authority: Option<AuthorityEnd>,
    /// A real authority instead of the tester's own.
    pub external: Option<ExternalAuthority>,
}

impl Addressed for DnsEnds {
    fn each_address(&self, show: &mut dyn FnMut(IpAddr)) {
        show(self.server.ip());
        self.client.into_iter().for_each(&mut *show);
        if let Some(authority) = &self.authority {
            show(authority.listen.ip());
            authority
                .looped
                .iter()
                .for_each(|(address, _)| show(address.ip()));
        }
        self.external
            .iter()
            .for_each(|external| show(external.looped.0.ip()));
    }
}

/// An authoritative server that is set up outside this crate: a real one at the tester's end, or one on another machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExternalAuthority {
    /// The address at which the client asks it in the self-test, and a description of the path to it.
    pub looped: (SocketAddr, String),
    /// The network namespace from which it is asked there; `None` for the client's.
    pub looped_from: Option<String>,
    /// True if the server there has an AAAA record for every name, as the self-test requires; otherwise it has those of the trials.
    pub has_every_name: bool,
    /// True if it runs on the core of the only client thread. The client then yields the core after every turn, and so keeps its schedule less well.
    pub shares_core: bool,
}

/// The tester's own authority: its network namespace and addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthorityEnd {
    /// Its network namespace; `None` for the current one.
    pub namespace: Option<String>,
    /// The address at which the server under test asks it.
    pub listen: SocketAddr,
    /// The address at which the tester's own client asks it in the self-test, and a description of the path to it.
    pub looped: Option<(SocketAddr, String)>,
}

/// The settings for every trial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DnsSettings {
    /// The expected answers.
    pub expectation: ExpectedAnswers,
    /// The domain of all names.
    pub domain: Domain,
    /// The names to ask for.
    pub names: Names,
    /// The share of queries for names that were resolved before, in per cent.
    pub cached: u8,
    /// The most names of that kind.
    pub cached_names: u32,
    /// The time after which answers are late, in nanoseconds.
    pub timeout_ns: u64,
    /// The time after which answers are no longer waited for, in nanoseconds; at least the timeout.
    pub window_ns: u64,
    /// The time in nanoseconds after which a thread that was away counts as stalled.
    pub stall_ns: u64,
    /// The minimum number of source ports of each client thread; there are more if the queries in flight need them.
    pub ports: u16,
    /// The number of queries that are sent back to back; 1: each at its own time.
    pub burst: NonZeroU32,
    /// The file to which the record of every query is written, if there is one.
    pub records: Option<PathBuf>,
    /// The queries of a file in the place of those for `names`, none of which are then cached intentionally.
    pub queries: Option<QueryFile>,
    /// TCP in the place of UDP, with TLS or without.
    pub tcp: Option<QueryConnectionSettings>,
}

impl Footprint for DnsSettings {
    /// Returns the octets for the queries in flight, their identifiers, and three bits per name: asked for, asked for by the server, asked for again. If
    /// records of the queries are kept, those that wait to be written count as well.
    fn octets(&self, spec: &TrialSpec) -> u64 {
        let window_ns = self.window_ns.max(self.timeout_ns);
        let burst = u64::from(self.burst.get() - 1);
        let under_way = spec
            .rate
            .min(FASTEST_QUERIES)
            .frames_in(window_ns)
            .saturating_add(burst)
            .saturating_mul(5)
            / 4;
        let names = spec.frames().min(self.names.count());
        let of_each = QUERY_OCTETS + 2 * IDENTIFIER_OCTETS;
        let connections = self
            .tcp
            .as_ref()
            .map_or(0, |tcp| u64::from(tcp.connections));
        under_way
            .min(spec.frames())
            .saturating_mul(of_each)
            .saturating_add(connections * IDENTIFIERS * IDENTIFIER_OCTETS)
            .saturating_add(names.saturating_mul(3) / 8)
            .saturating_add(self.records.as_ref().map_or(0, |_| WAITING_OCTETS))
    }

    fn largest_table(&self, _spec: &TrialSpec) -> LargeTable {
        LargeTable::Queries
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
        /// A description of the namespace.
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
        /// A description of the namespace.
        place: String,
        /// The kernel's answer.
        source: io::Error,
    },
    /// The server under test does not answer a single query as it should.
    #[error("{server}: {what}")]
    Unfit {
        /// The server.
        server: SocketAddr,
        /// A description of the actual answer, and of what to do.
        what: String,
    },
    /// The server answers no control query of a conformance test, so nothing can be said of it.
    #[error(
        "no result: {server} does not answer the control queries, for a TXT record that the tester's authority has; \
         does it forward queries to the authority, and may the tester ask it?"
    )]
    NoControlAnswer {
        /// The server.
        server: SocketAddr,
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
