//! DNS servers by RFC 8219 section 9: a client that asks at an exact rate and checks every answer, an authority that computes its answers,
//! and the self-test that loops one to the other. Both use the kernel's sockets.

pub mod authority;
mod certify;
mod client;
mod drive;
mod flight;
mod fresh;
mod judge;
mod keeper;
mod lines;
pub mod names;
mod query;
mod questions;
mod records;
mod resolve;
mod result;
mod silence;
mod tally;
mod tester;
pub mod zone_file;

pub use questions::Expectation;
pub use tester::{AuthorityEnd, DnsEnds, DnsError, DnsSettings, DnsTester, StandIn};
