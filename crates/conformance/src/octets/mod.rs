//! Frames of vectors as octets, for one device.

mod build;
mod resolve;
mod zero_sum;

pub(crate) use build::whole_datagram;
pub use build::{BuildError, build};
pub use resolve::{Resolver, UnresolvedValue};
