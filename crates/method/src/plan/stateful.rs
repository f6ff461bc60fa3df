//! What a test of a stateful gateway sets beside its traffic: the parameters of RFC 9693.

use super::ValueOrder;
use crate::terms::FrameRate;
use crate::terms::bounds::{Bounded, NumberBound, TableBounds};
use crate::trial::{PhaseOne, TrialKind, TrialSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The two phases of a test of a stateful NATxy gateway (RFC 9693). In phase 1 every frame opens a connection, in phase 2 none does.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Stateful {
    /// N: frames of phase 1, each with a four-tuple of its own.
    pub connections: u64,
    /// M: four-tuples the Responder keeps, the last ones that arrived; at most N.
    pub state_table: u64,
    /// R: the rate of phase 1 where it is not what is searched, frames per second.
    pub rate: FrameRate,
    /// T: the wait for residual frames of phase 1, nanoseconds.
    pub timeout_ns: u64,
    /// D: from the first frame of phase 1 to the first of phase 2, nanoseconds; N / R + 2 T where it is not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_ns: Option<u64>,
    /// The order in which phase 1 goes through the four-tuples, and the Initiator draws from them in phase 2. The RFC's:
    /// pseudorandom.
    pub enumeration: ValueOrder,
    /// The order in which the Responder reads its state table in phase 2. The RFC recommends: pseudorandom.
    pub responder: ValueOrder,
    /// The share of R at which the Responder validates the connections that were established: one frame on each.
    pub validation: f64,
    /// Entries of the DUT's connection tracking table, where the recipe can set it and the plan does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table_size: Option<u64>,
}

impl Bounded for Stateful {
    const BOUNDS: TableBounds = TableBounds {
        numbers: &[
            ("connections", NumberBound::COUNT),
            ("state-table", NumberBound::COUNT),
            ("rate", FrameRate::OF_MEDIUM),
            ("timeout-ns", NumberBound::TIME_NS),
            ("delay-ns", NumberBound::TIME_NS),
            ("validation", NumberBound::SHARE),
            ("table-size", NumberBound::COUNT),
        ],
        ..TableBounds::NONE
    };
}

impl Stateful {
    /// Returns settings for `connections` connections, all kept by the Responder, opened at `rate`.
    pub fn new(connections: u64, rate: FrameRate, timeout_ns: u64) -> Self {
        Self {
            connections,
            state_table: connections,
            rate,
            timeout_ns,
            delay_ns: None,
            enumeration: ValueOrder::Pseudorandom,
            responder: ValueOrder::Pseudorandom,
            validation: 0.5,
            table_size: None,
        }
    }

    /// Returns phase 1 before a trial of phase 2.
    pub fn phase_one(&self) -> PhaseOne {
        PhaseOne {
            connections: self.connections,
            rate: self.rate,
        }
    }

    /// Returns D of a phase 1, nanoseconds: 1000 N / R + 2 T ms where nothing else is asked for.
    pub fn delay_ns(&self, phase_one: PhaseOne) -> u64 {
        let sending_ns =
            u128::from(phase_one.connections) * 1_000_000_000 / u128::from(phase_one.rate.0.max(1));
        self.delay_ns
            .unwrap_or(sending_ns as u64 + 2 * self.timeout_ns)
    }

    /// Returns the trial that opens `connections` at `rate` and validates each.
    pub fn establishing(&self, connections: u64, rate: FrameRate) -> TrialSpec {
        let validation = FrameRate(((rate.0 as f64 * self.validation) as u64).max(1));
        phase_one_trial(
            connections,
            rate,
            TrialKind::Establish {
                connections,
                validation,
            },
        )
    }

    /// Returns the trial that opens all connections and lets the DUT delete them.
    pub fn tearing_down(&self) -> TrialSpec {
        phase_one_trial(
            self.connections,
            self.rate,
            TrialKind::TearDown {
                connections: self.connections,
            },
        )
    }
}

fn phase_one_trial(connections: u64, rate: FrameRate, kind: TrialKind) -> TrialSpec {
    TrialSpec {
        kind,
        ..TrialSpec::burst(rate, connections)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delay_before_phase_2_is_that_of_the_rfc() {
        let stateful = Stateful::new(4_000_000, FrameRate(400_000), 500_000_000);
        assert_eq!(stateful.delay_ns(stateful.phase_one()), 11_000_000_000);
        assert_eq!(
            Stateful {
                delay_ns: Some(7),
                ..stateful
            }
            .delay_ns(stateful.phase_one()),
            7
        );
    }

    #[test]
    fn a_trial_that_establishes_has_a_frame_for_each_connection() {
        let stateful = Stateful::new(10_007, FrameRate(1), 0);
        let spec = stateful.establishing(10_007, FrameRate(333_333));
        assert_eq!(spec.frames(), 10_007);
        assert_eq!(
            spec.kind,
            TrialKind::Establish {
                connections: 10_007,
                validation: FrameRate(166_666)
            }
        );
    }
}
