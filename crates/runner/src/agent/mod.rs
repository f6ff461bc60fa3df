//! A tester on two machines. This machine has one end, and an agent has the other: the same sixbench, started over ssh on the other machine. It
//! opens no network port, communicates over standard input and output, and ends when they are closed. The machine of the plan makes all decisions.
//! The agent takes its interface, performs its part of each trial, and gives the interface back.
//!
//! Both sides of the protocol are here: `message` defines the messages, `channel` transports them, `connection` asks, `service` answers, and
//! `tester` joins the two parts of a trial.

mod channel;
mod clocks;
mod connection;
pub(crate) mod fuzzing;
mod message;
mod service;
mod tester;

pub use crate::error::agent::AgentError;
pub use service::serve;

pub(crate) use connection::{Agent, check};
pub(crate) use tester::{TesterApart, lend};
