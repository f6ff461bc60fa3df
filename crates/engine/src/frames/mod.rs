//! The tester of frames: paced senders, verifying receivers, and the traffic that they agree on without a word: both derive frame i from the seed.

pub(crate) mod companion;
pub mod delay_line;
mod destinations;
mod flow;
mod footprint;
pub(crate) mod neighbour;
mod outcome;
pub mod profile;
mod receiver;
mod responder;
pub mod selftest;
mod sender;
pub(crate) mod sent;
mod side;
pub mod stateful;
pub(crate) mod stream;
mod subscriber;
mod tally;
mod tasks;
pub mod tester;
mod tester_port;
mod trial;
pub(crate) mod verify;
mod window;
