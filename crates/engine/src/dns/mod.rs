//! Tests of DNS servers by RFC 8219 section 9: a client that sends queries at an exact rate and checks every answer, an authority that computes
//! its answers, and the self-test that loops one to the other. Both use the kernel's sockets.
//!
//! # A trial
//!
//! `dns`, by RFC 8219 section 9: a `client` at the left end, the authority at the right end, both with kernel sockets, the DUT between
//! them. To a search a query is what a frame is elsewhere.
//!
//! 1. `questions` determines the name in query i and the right answer; `names` has a name for every IPv4 address. Both are functions of
//!    numbers, so only the time of sending is stored for a query. Names continue from trial to trial, so that none is asked for twice.
//! 2. Query i is due at start + i / rate (the same `pacer`), regardless of the earlier ones; of T client threads each sends every T-th. The queries due
//!    leave as one message, of at most 32 queries, which the kernel splits (segmentation offload; before Linux 6.11 not on links without
//!    checksum offload: each query then leaves by its own call). Over loopback nothing splits them, which is why a looped rate there is above that of a link. The next batch leaves from the next source port (`sockets`).
//! 3. Each socket has a table from identifier to query; an identifier is reused only after all 65,536. `flight` is a ring of the queries
//!    in flight: its memory follows the rate and the timeout, not the length of the trial.
//! 4. `judge` has a short path, which compares octets with the right answer, and a long path with the crate `domain`, which finds out what is
//!    wrong. The first answer settles a query, and each has one class (`tally`). An answer to another question settles none.
//! 5. If names are to be cached, `resolve` asks for them before the trial in a `closed_loop`: a few at a time, up to three attempts. The bit
//!    that the `AskedNames` have for each name shows which answers came from the cache. Unintended hits invalidate the trial.
//! 6. `certify` is the self-test of section 9.2.1: before the first trial the client asks the authority over a separate link, at 2.2 times
//!    the rate, and searches for the highest rate that passes (halving as the searches of `method` do). `DnsTester` refuses trials above it.
//!
//! Queries of a `file` replace those of the namespace: `file` says what is known of their answers. Over `tcp` a thread has connections in place of
//! sockets (`transport`), with TLS on them or without.
//!
//! With one core for the tester, client and authority take turns in one loop; with more, each has its own (`drive`). Between trials `background`
//! answers for the authority, so that the DUT does not take it for dead.

mod allocator;
pub mod authority;
mod background;
mod certify;
mod client;
mod closed_loop;
mod diagnosis;
mod drive;
mod file;
mod flight;
pub(crate) mod judge;
pub mod names;
mod network_errors;
pub(crate) mod query;
mod questions;
mod records;
mod resolve;
mod result;
mod settings;
mod sockets;
mod tally;
mod tcp;
mod tester;
mod transport;
pub mod zone_file;

pub use questions::ExpectedAnswers;
pub use records::HEADING as RECORDS_HEADING;
pub use settings::{AuthorityEnd, DnsEnds, DnsError, DnsSettings, ExternalAuthority};
pub use tcp::{IdentityError, QueryConnectionSettings, ServerIdentity, TlsProfile};
pub use tester::DnsTester;
