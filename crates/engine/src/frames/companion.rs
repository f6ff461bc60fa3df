//! A tester whose two ends are on two machines. Each machine sends one direction and receives the other. The counts of a trial do not depend on
//! the other machine's clock: the frames of a direction are judged and counted where they arrive, and the missing ones follow from the number
//! that its sender sent. This module knows only what is agreed on before the first frame and after the last one, not how the machines
//! communicate.

use super::sent::SentShare;
use crate::error::MeasureError;
use serde::{Deserialize, Serialize};
use sixbench_io::clock::Clock;
use sixbench_method::terms::Direction;
use sixbench_method::trial::{DirectionResult, Fault, TrialResult, TrialSpec};
use sixbench_wire::MacAddress;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The other machine in a trial, as seen by the tester's end on this one. The clocks of both ends show the same time, to within
/// [`EndTrial::clocks_apart_ns`].
pub trait Companion: Send {
    /// Waits until the other machine is also ready; returns the time at which the first frame is due on both, in nanoseconds of `clock`.
    ///
    /// # Errors
    /// The other machine cannot run the trial or does not answer, or a stop was requested.
    fn agree(&mut self, clock: &Clock) -> Result<u64, MeasureError>;

    /// Tells the other machine what was sent here; returns what was sent there.
    ///
    /// # Errors
    /// The other machine could not run the trial or does not answer, or a stop was requested.
    fn swap(&mut self, sent: &[SentShare]) -> Result<Vec<SentShare>, MeasureError>;

    /// Returns a flag that is set when the other machine is lost, which ends the trial with [`MeasureError::Parted`].
    fn lost(&self) -> Arc<AtomicBool>;
}

/// The tester's port on the other machine.
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

/// A trial in which each of two machines does a part.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EndTrial {
    /// The trial.
    pub spec: TrialSpec,
    /// A number below 64 that distinguishes the frames of a trial from those of earlier trials; the same on both machines.
    pub number: u8,
    /// The time by which the clocks of the two machines may differ, nanoseconds. Frames are waited for that much longer, and a frame is right
    /// even if it seems to have been sent up to this time after it arrived.
    pub clocks_apart_ns: u64,
    /// True if the clocks are close enough to each other to measure one-way delays.
    pub measures_delays: bool,
}

/// The result of one of two machines for its part of a trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EndResult {
    /// The directions that were received here, complete.
    pub directions: Vec<DirectionResult>,
    /// The faults of this machine in sending or receiving.
    pub faults: Vec<Fault>,
}

impl EndResult {
    /// Returns the result of trial `spec`, joined from those of this machine and the other one, named `machine`.
    pub fn joined(self, spec: TrialSpec, other: Self, machine: &str) -> TrialResult {
        let mut directions = [self.directions, other.directions].concat();
        directions.sort_by_key(|result| result.direction == Direction::Reverse);
        let faults = self
            .faults
            .into_iter()
            .chain(other.faults.into_iter().map(|fault| Fault::OnMachine {
                machine: machine.to_owned(),
                of: Box::new(fault),
            }))
            .collect();
        TrialResult::new(spec, directions, faults)
    }
}
