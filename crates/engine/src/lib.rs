//! The tester: paced senders, verifying receivers, and the faults of the tester itself, which every result reports. Between a trial's first and
//! last frame nothing here allocates, locks or logs.
#![forbid(unsafe_code)]

mod bitmap;
pub mod conformance;
mod delay;
pub mod dns;
mod driver;
mod error;
pub mod frames;
#[doc(hidden)]
pub mod fuzzing;
pub mod memory;
mod pacing;
pub mod tcp;

pub use driver::Layout;
pub use error::MeasureError;
pub use frames::companion::{Companion, DistantPort, EndResult, EndTrial};
pub use frames::sent::SentShare;
pub use frames::tester::{ConnectionCounter, FrameTester, OneEnd};
