//! A stateful gateway: the rate at which it opens connections, the number it holds, and the rate at which it deletes them.

use crate::terms::{Direction, FrameRate};
use crate::trial::{
    Connections, DirectionResult, Fault, PhaseOne, TrialKind, TrialOutcome, TrialResult, TrialSpec,
};

/// Returns the sending time in a trial besides that of the trial itself: phase 1 before it, or the validation after it.
pub(crate) fn extra_ns(spec: &TrialSpec) -> u64 {
    let sending_ns = |frames: u64, rate: FrameRate| {
        u128::from(frames) * 1_000_000_000 / u128::from(rate.0.max(1))
    };
    let opening_ns = spec.phase_one.map_or(0, |phase_one| {
        sending_ns(phase_one.connections, phase_one.rate)
    });
    let validating_ns = match spec.kind {
        TrialKind::Establish {
            connections,
            validation,
        } => sending_ns(connections, validation),
        _ => 0,
    };
    (opening_ns + validating_ns) as u64
}

/// The capabilities of a stateful gateway.
#[derive(Clone, Copy, Debug)]
pub(super) struct SimulatedGateway {
    /// Connections opened per second.
    pub(super) opens: FrameRate,
    /// The number of entries in its table.
    pub(super) table: u64,
    /// Connections deleted per second.
    pub(super) deletes: FrameRate,
    /// The number of opened connections without a return path, which fail in validation.
    pub(super) half_open: u64,
}

impl SimulatedGateway {
    /// Returns the result of phase 1.
    pub(super) fn open(&self, phase_one: PhaseOne) -> Connections {
        let PhaseOne { connections, rate } = phase_one;
        let in_time = (u128::from(connections) * u128::from(self.opens.0.min(rate.0))
            / u128::from(rate.0.max(1))) as u64;
        let established = in_time.min(self.table);
        Connections {
            offered: connections,
            established,
            rate,
            state_table: connections,
            counted_before: Some(0),
            counted: Some(established),
            ..Connections::default()
        }
    }

    /// Returns the result of a complete trial of connections.
    pub(super) fn trial(&self, spec: &TrialSpec, phase_one: PhaseOne) -> TrialResult {
        let mut connections = self.open(phase_one);
        let forward = DirectionResult::counted(
            Direction::Forward,
            connections.offered,
            connections.established,
        );
        let mut directions = vec![forward];
        match spec.kind {
            _ if connections.lost() > 0 => {}
            TrialKind::Establish { .. } => {
                let back = connections.established - self.half_open.min(connections.established);
                directions.push(DirectionResult::counted(
                    Direction::Reverse,
                    connections.established,
                    back,
                ));
            }
            _ => {
                let took_ns = u128::from(connections.established) * 1_000_000_000
                    / u128::from(self.deletes.0.max(1));
                connections.torn_down_ns = Some(took_ns as u64);
            }
        }
        TrialResult {
            outcome: TrialOutcome::Frames(Some(Box::new(connections))),
            ..TrialResult::new(*spec, directions, vec![])
        }
    }

    /// Returns the result of a trial of TCP connections that are all open at once.
    pub(super) fn hold(&self, spec: &TrialSpec, connections: u64) -> TrialResult {
        let held =
            DirectionResult::counted(Direction::Forward, connections, connections.min(self.table));
        TrialResult::new(*spec, vec![held], vec![])
    }

    /// Returns the result of a trial in which phase 1 lost frames, so that there is no phase 2; `None` if it lost none.
    pub(super) fn refusal(&self, spec: &TrialSpec, phase_one: PhaseOne) -> Option<TrialResult> {
        let connections = self.open(phase_one);
        let PhaseOne {
            connections: of,
            rate,
        } = phase_one;
        let fault = Fault::PhaseOneIncomplete {
            lost: connections.lost(),
            of,
            rate: rate.0,
        };
        let is_lossy = connections.lost() > 0;
        let outcome = TrialOutcome::Frames(Some(Box::new(connections)));
        is_lossy.then(|| TrialResult {
            outcome,
            ..TrialResult::new(*spec, vec![], vec![fault])
        })
    }
}
