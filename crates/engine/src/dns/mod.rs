//! Tests of DNS servers by RFC 8219 section 9: a client that sends queries at an exact rate and checks every answer, an authority that computes
//! its answers, and the self-test that loops one to the other. Both use the kernel's sockets.

mod allocator;
pub mod authority;
mod background;
mod certify;
mod client;
mod diagnosis;
mod drive;
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
mod tester;
pub mod zone_file;

pub use questions::ExpectedAnswers;
pub use records::HEADING as RECORDS_HEADING;
pub use settings::{AuthorityEnd, DnsEnds, DnsError, DnsSettings, ExternalAuthority};
pub use tester::DnsTester;
