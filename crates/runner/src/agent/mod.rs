//! A tester on two machines. This machine has one end and a program over ssh, the agent, the other: the same sixbench there, which opens no port to the
//! network, speaks over its standard input and output, and ends with them. The machine of the plan decides on everything; the agent takes its
//! interface, makes its part of each trial, and gives the interface back.
//!
//! Both sides of what they say to each other are here: `message` is what is said, `channel` how, `connection` asks, `service` answers, and `tester`
//! joins both parts of a trial.

mod channel;
mod clocks;
mod connection;
mod error;
pub(crate) mod fuzzing;
mod message;
mod service;
mod tester;

pub use error::AgentError;
pub use service::serve;

pub(crate) use connection::{Agent, check};
pub(crate) use tester::{TesterApart, lend};
