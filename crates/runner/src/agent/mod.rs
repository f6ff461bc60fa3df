//! A tester on two machines. This machine has one end, and an agent has the other: the same sixbench, started over ssh on the other machine. It
//! opens no network port, communicates over standard input and output, and ends when they are closed. The machine of the plan makes all decisions.
//! The agent takes its interface, performs its part of each trial, and gives the interface back.
//!
//! Both sides of the protocol are here: `message` defines the messages, `channel` transports them, `connection` asks, `service` answers, and
//! `tester` joins the two parts of a trial.
//!
//! # A trial on two machines
//!
//! If a plan names an `agent`, each of two machines has one end of the tester: it sends one direction and receives the other. `engine::frames::companion`
//! defines, as a trait, what the two agree on in a trial: a common start, once the threads of both are on their cores
//! (`driver::TrialStart::chosen_by`), and at the end what each has sent (`SentShare`: the counts of the schedule, and how many frames each queue sent). A
//! direction is judged, counted and completed where it arrives, by the same code as on one machine (`outcome`): what must arrive follows from the profile
//! and the seed, and what is missing from the number of frames that were sent. `EndResult::joined` makes one `TrialResult` of both parts. So search,
//! records, replay and report see a second machine only in `Fault::OnMachine`, which contains its name.
//!
//! The engine does not know how the machines communicate. `agent` does: `message` defines the messages (orders from the machine of the plan,
//! answers from the agent). `channel` transports them (JSON after its length, over the standard input and output of one ssh session), sends signs of
//! life and detects a silence that is too long. `connection` asks and `service` answers; the latter is `sixbench agent`. Both are the same version, so
//! messages have no optional parts. The agent takes its interface with the same code of `testbed` as this machine (`Interfaces::take_one`), and returns
//! it in the same way. It keeps no state that outlives its input.
//!
//! Before each trial the agent's clock is set from the shortest of several round trips (`agent::clocks`). All times of a trial are then times of one
//! clock, with an error of at most half the round trip. This error affects deadlines and the range of possible sending times
//! (`EndTrial::clocks_apart_ns`), but no count. One-way delays are dropped (`DirectionResult::without_delays`) unless chrony states a bound on both
//! machines, and the offset between the two system clocks agrees with the round trip. If they are kept, the sum of the bounds and the drift of the clocks
//! during the trial is recorded with them (`clock_bound_ns`).

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
pub(crate) use tester::{FrameTraffic, TwoMachineTester, lend};
