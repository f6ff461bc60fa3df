//! Vectors for DNS servers: the zone that the tester's authority has, the query that is sent, and the answer that must come. Lines are those of zone
//! files and of dig. Nothing here opens a socket or reads a clock.
//!
//! A vector is kept as text, because its names and addresses depend on the server under test; [`ResolvedExchange`] is the vector for one server.

mod authority;
mod exchange;
mod expectation;
mod lines;
mod message;
mod mistake;
mod query;
mod symbols;
mod wording;
mod zone;

pub use domain::base::iana::Rtype;

pub use authority::{AuthorityReply, VectorAuthority};
pub use exchange::{
    DnsAlternative, DnsExchange, ResolvedAlternative, ResolvedExchange, TextLine, UpstreamRule,
};
pub use expectation::{
    DnsExpectation, EdnsExpectation, ExpectedRecord, ExpectedSection, FlagExpectation, TtlRule,
};
pub use lines::{DnsData, DnsName, DnsRecord};
pub use message::{DnsMessage, HeaderFlag, MessageSection, ReceivedEdns};
pub use mistake::DnsMistake;
pub use query::{DnsQuery, DnsTransport, QueryEdns};
pub use symbols::DnsSetting;
pub use wording::DnsWording;
pub use zone::{FailureMode, ZoneLine};
