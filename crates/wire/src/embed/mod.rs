//! IPv4 addresses in IPv6 addresses, as a translator maps them in either direction.
//!
//! There are two algorithms: the IPv4-embedded addresses of RFC 6052 ([`Prefix6052`]) and the explicit address mappings of RFC 7757
//! ([`EamTable`]). Both are evaluated when a trial is prepared, never per frame.

mod eam;
mod prefix;
mod rfc6052;

pub use eam::{Eam, EamTable};
pub use prefix::{Prefix4, Prefix6};
pub use rfc6052::Prefix6052;
