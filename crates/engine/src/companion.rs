//! A tester whose two ends stand on two machines. Each machine has one end: it sends one direction and receives the other. What a trial counts needs
//! no clock of the other machine: the frames of a direction are judged and counted where they arrive, and which of them are missing follows from how
//! many its sender sent. Only what is agreed on before the first frame and after the last one is known here, not how machines speak to each other.

use crate::error::MeasureError;
use crate::sent::SentShare;
use serde::{Deserialize, Serialize};
use sixbench_io::clock::Clock;
use sixbench_method::terms::Direction;
use sixbench_method::trial::{DirectionResult, Fault, TrialResult, TrialSpec};
use sixbench_wire::MacAddress;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The other machine, as the tester's end on this one sees it in a trial. The clocks of both ends show the same time, to within what
/// [`EndTrial::clocks_apart_ns`] says.
pub trait Companion: Send {
    /// Waits until the other machine is ready, as this one is; returns the time at which the first frame is due on both, in nanoseconds of `clock`.
    ///
    /// # Errors
    /// The other machine cannot make the trial, does not answer, or a stop was requested.
    fn agree(&mut self, clock: &Clock) -> Result<u64, MeasureError>;

    /// Tells the other machine what was sent here; returns what was sent there.
    ///
    /// # Errors
    /// The other machine could not make the trial, does not answer, or a stop was requested.
    fn swap(&mut self, sent: &[SentShare]) -> Result<Vec<SentShare>, MeasureError>;

    /// Returns a flag that is set when the other machine is lost: then the trial ends with [`MeasureError::Parted`].
    fn lost(&self) -> Arc<AtomicBool>;
}

/// The port of the tester that is on the other machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DistantPort {
    /// Its hardware address.
    pub mac: [u8; 6],
    /// The number of its queues.
    pub queues: usize,
}

impl DistantPort {
    pub(crate) fn mac(self) -> MacAddress {
        MacAddress(self.mac)
    }
}

/// A trial of which each of two machines makes its part.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EndTrial {
    /// The trial.
    pub spec: TrialSpec,
    /// A number below 64 that tells the frames of a trial from those of the trials before it; the same on both machines.
    pub number: u8,
    /// Time by which the clocks of both machines may be apart, nanoseconds. Frames are waited for so much longer, and one that seems to have been sent
    /// no more than this after it arrived is right.
    pub clocks_apart_ns: u64,
    /// True if the clocks are near enough to each other that one-way delays are measured.
    pub measures_delays: bool,
}

/// The part of a trial that one of two machines made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EndResult {
    /// The directions that were received here, complete.
    pub directions: Vec<DirectionResult>,
    /// The ways in which this machine fell short, sending or receiving.
    pub faults: Vec<Fault>,
}

impl EndResult {
    /// Returns the result of the trial `spec`, which this machine and the other one, named `machine`, have made.
    pub fn joined(self, spec: TrialSpec, other: Self, machine: &str) -> TrialResult {
        let at_other = |fault| Fault::OnMachine { machine: machine.to_owned(), of: Box::new(fault) };
        let mut directions = [self.directions, other.directions].concat();
        directions.sort_by_key(|result| result.direction == Direction::Reverse);
        let faults = self.faults.into_iter().chain(other.faults.into_iter().map(at_other)).collect();
        TrialResult::new(spec, directions, faults)
    }
}
