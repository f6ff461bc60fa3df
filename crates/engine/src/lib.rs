//! The tester: paced senders, verifying receivers, and the faults of the tester itself, which every result reports. Between a trial's first and
//! last frame nothing here allocates, locks or logs.
#![forbid(unsafe_code)]

mod arrival;
mod bitmap;
mod companion;
mod delay;
pub mod delay_line;
mod destinations;
pub mod dns;
mod driver;
mod error;
mod fault;
mod flow;
#[doc(hidden)]
pub mod fuzzing;
pub mod memory;
mod neighbour;
mod outcome;
mod paced_sending;
mod pacer;
pub mod profile;
mod reach;
mod receiver;
mod responder;
pub mod selftest;
mod sender;
mod sent;
mod side;
mod stall;
pub mod stateful;
mod stream;
mod subscriber;
mod tally;
mod tasks;
pub mod tcp;
pub mod tester;
mod tester_port;
mod trial;
mod verify;
mod window;

pub use companion::{Companion, DistantPort, EndResult, EndTrial};
pub use driver::Layout;
pub use error::MeasureError;
pub use sent::SentShare;
pub use tester::{ConnectionCounter, FrameTester};
