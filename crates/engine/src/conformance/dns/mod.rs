//! Vectors for DNS servers: the tester asks the server at one end of its links, and answers for the authority behind it at the other, with the
//! kernel's sockets. Nothing is timed.
//!
//! Each query is bracketed by control queries for a record that the server passes on as it is: without an answer to them, its silence says nothing. A
//! query without an answer is sent once more. An answer is one with the identifier and the question of its query; other messages are ignored.
//! Vectors whose authority never answers run last and all at once, because a server waits for many seconds, and may then avoid its authority.

mod capture;
mod client;
mod server;
mod tester;

pub use tester::{DnsVectorEnds, DnsVectorTester};
