//! The arguments of `sixbench dns64` and `sixbench authority`.

use super::{ForceOption, WaitOption};
use clap::Args;
use sixbench_engine::dns::names::Domain;
use sixbench_method::measures::{connection_count, outstanding_count, query_burst as burst};
use sixbench_method::plan::{DOMAIN, Names, QueryTransport, TCP_CONNECTIONS, TCP_OUTSTANDING};
use sixbench_method::terms::FrameRate;
use sixbench_method::units;
use sixbench_wire::Prefix6052;
use std::net::{IpAddr, SocketAddr};
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct Dns64 {
    /// The server's address, IPv6 (RFC 8219 section 9.1) or IPv4
    #[arg(value_parser = address)]
    pub(crate) server: IpAddr,
    /// Its port [default: 53; 853 with tls]
    #[arg(short, long)]
    pub(crate) port: Option<u16>,
    /// Queries per second; with --search the highest that is tried
    #[arg(long, default_value = "1k", value_parser = units::rate, allow_hyphen_values = true)]
    pub(crate) rate: FrameRate,
    /// How long to send queries
    #[arg(long = "for", value_name = "TIME", default_value = "10s", value_parser = units::duration_ns)]
    pub(crate) duration_ns: u64,
    /// Search for the highest rate at which every answer is correct and in time, with trials as long as --for says
    #[arg(long)]
    pub(crate) search: bool,
    /// Names to query, one for each address of a network [default: 0.0.0.0/0; 10.0.0.0/16 with --authoritative]
    #[arg(long, value_name = "NETWORK")]
    pub(crate) names: Option<Names>,
    /// The domain they are in
    #[arg(long, default_value = DOMAIN, value_parser = Domain::new)]
    pub(crate) domain: Domain,
    /// Send the queries in this file, in the format of dnsperf: a name and a type on each line. They are sent in order, again and again, and answers are checked
    /// as far as they can be known; see "Queries from a file" in docs/PLANS.md
    #[arg(short = 'd', long, value_name = "FILE", conflicts_with = "cached")]
    pub(crate) queries: Option<PathBuf>,
    /// Transport of the queries: udp, tcp over connections that are kept open (RFC 7766), or tls (also: dot) on such connections (RFC 7858)
    #[arg(short = 'm', long, value_name = "TRANSPORT", default_value = "udp", value_parser = transport)]
    pub(crate) transport: QueryTransport,
    /// With tcp or tls: total number of connections; each thread has at least one
    #[arg(short = 'c', long, value_name = "N", default_value_t = TCP_CONNECTIONS, value_parser = connection_count)]
    pub(crate) tcp_connections: u16,
    /// With tcp or tls: queries that wait for their answers on each connection; further ones are held back
    #[arg(long, value_name = "N", default_value_t = TCP_OUTSTANDING, value_parser = outstanding_count)]
    pub(crate) tcp_outstanding: u16,
    /// With tls: accept only certificates of the authorities in this file (PEM), for the server's address or --tls-name [default: accept any]
    #[arg(long, value_name = "FILE")]
    pub(crate) tls_ca: Option<PathBuf>,
    /// With --tls-ca: the name in the server's certificate
    #[arg(long, value_name = "NAME", requires = "tls_ca")]
    pub(crate) tls_name: Option<String>,
    /// The server's DNS64 prefix (RFC 6052)
    #[arg(long, default_value = Prefix6052::WELL_KNOWN)]
    pub(crate) prefix: Prefix6052,
    /// The server is authoritative: correct answers are its own AAAA records, and an empty answer for a name that has none
    #[arg(long, conflicts_with_all = ["prefix", "authority", "cached"])]
    pub(crate) authoritative: bool,
    /// Names that have an AAAA record of their own, per cent [default: 0%; 100% with --authoritative]
    #[arg(long, value_name = "PERCENT", value_parser = units::whole_percent)]
    pub(crate) with_aaaa: Option<u8>,
    /// Queries for names that were resolved before the trial, per cent
    #[arg(long, value_name = "PERCENT", default_value = "0%", value_parser = units::whole_percent)]
    pub(crate) cached: u8,
    /// An answer after this time is late; at most 1s (RFC 8219 section 9.2)
    #[arg(long = "timeout", value_name = "TIME", default_value = "1s", value_parser = units::dns_timeout)]
    pub(crate) timeout_ns: u64,
    /// The authority's time to live; an answer with a longer one is wrong
    #[arg(long = "ttl", value_name = "TIME", default_value = "1h", value_parser = units::ttl_s)]
    pub(crate) ttl_s: u32,
    /// Source ports of each thread
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub(crate) source_ports: u16,
    /// Queries sent back to back; the tester then waits, so that the mean rate holds
    #[arg(long, value_name = "N", default_value = "1", value_parser = burst)]
    pub(crate) burst: NonZeroU32,
    /// Threads, each on a core of its own
    #[arg(long, value_name = "N", default_value = "1")]
    pub(crate) threads: NonZeroUsize,
    /// Source address of the queries [default: the system's choice]
    #[arg(long, value_name = "ADDR", value_parser = address)]
    pub(crate) from: Option<IpAddr>,
    /// Also act as the authority to which the server forwards the domain, after a self-test that must pass
    #[arg(long, value_name = "ADDR:PORT", value_parser = socket_address)]
    pub(crate) authority: Option<SocketAddr>,
    /// Write one line per query: due time, time sent, delay and verdict
    #[arg(long, value_name = "FILE", conflicts_with = "search")]
    pub(crate) csv: Option<PathBuf>,
    /// Print all counts as JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) isolation: ForceOption,
    #[command(flatten)]
    pub(crate) waiting: WaitOption,
}

#[derive(Debug, Args)]
pub(crate) struct AuthorityArgs {
    /// Where to listen, over UDP and TCP; may be given several times
    #[arg(long, value_name = "ADDR:PORT", default_value = "[::1]:5300", value_parser = socket_address)]
    pub(crate) listen: Vec<SocketAddr>,
    /// The domain: names are those of dns64perf++, 010-000-000-001.DOMAIN for 10.0.0.1
    #[arg(long, default_value = DOMAIN, value_parser = Domain::new)]
    pub(crate) domain: Domain,
    /// Names that have an AAAA record of their own, per cent
    #[arg(long, value_name = "PERCENT", default_value = "0%", value_parser = units::whole_percent)]
    pub(crate) with_aaaa: u8,
    /// Time to live of the records and of negative answers
    #[arg(long = "ttl", value_name = "TIME", default_value = "1h", value_parser = units::ttl_s)]
    pub(crate) ttl_s: u32,
    /// Threads for each address; clients are distributed among them [default: one for each core]
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<NonZeroUsize>,
    /// Do not listen: write a zone file with these names to stdout, e.g. 10.0.0.0/16
    #[arg(long, value_name = "NAMES", conflicts_with_all = ["listen", "threads"])]
    pub(crate) zone_file: Option<Names>,
    /// Listen on any address. RFC 6815: only in an isolated test environment
    #[arg(long, conflicts_with = "zone_file")]
    pub(crate) force: bool,
}

fn transport(text: &str) -> Result<QueryTransport, units::ValueError> {
    // dnsperf's word.
    let text = if text == "dot" { "tls" } else { text };
    units::word(text, "the transport of queries", &QueryTransport::WORDS)
}

fn address(text: &str) -> Result<IpAddr, String> {
    text.parse().map_err(|_| {
        "expected an IPv6 or IPv4 address such as 2001:db8::1 (names are not resolved)".to_owned()
    })
}

fn socket_address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| {
        "expected an address and a port such as [::1]:5300 or 127.0.0.1:5300".to_owned()
    })
}
