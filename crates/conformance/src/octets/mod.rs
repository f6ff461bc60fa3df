//! Frames of vectors as octets, for one device.

mod build;
mod resolve;
mod zero_sum;

pub use build::{BuildError, build};
pub(crate) use build::{PseudoHeader, pseudo_header, right_checksum, whole_datagram};
pub use resolve::{Resolver, UnresolvedValue};
