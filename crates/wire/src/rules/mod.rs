//! The rules by which the subscribers of an IPv4 or IPv6 service get their addresses and ports.
//!
//! A **subscriber** (a MAP CE, a lightweight 4over6 B4, a DS-Lite B4, a 6to4 site, a 6rd CE) is a number, from 0 up to the rule set's count.
//! Everything that a tester must write or expect for it is a function of that number: its IPv6 address, its IPv4 address and its ports. So a
//! domain of a million subscribers needs no table.
//!
//! There are two layers. **Rule sets** ([`MapRule`], [`Softwires`], [`DsLite`], [`SixRd`]) are what a plan contains and a DUT is configured with.
//! They are checked when constructed and read when a trial is prepared. They compile to **rules** ([`AddressRule`], [`PortRule`]), which are
//! evaluated per frame: a few shifts, no table, no allocation, no failure.
//!
//! A number at or beyond the count is a bug in the caller. It never causes a panic, but the result belongs to no subscriber, or to another one.

mod address;
mod b4;
mod ds_lite;
mod error;
mod map;
mod map_domain;
mod ports;
mod six_rd;
mod softwires;

pub use address::AddressRule;
use address::BitField;
pub use b4::{B4Addresses, B4Layout};
pub use ds_lite::DsLite;
pub use error::RuleError;
pub use map::MapRule;
pub use map_domain::MapDomain;
pub use ports::PortRule;
pub use six_rd::SixRd;
pub use softwires::Softwires;

#[cfg(test)]
mod tests;
