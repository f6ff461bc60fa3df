//! The number that names the object of a request. No two requests of a tester's trials have the same, and the server can tell from it whether a
//! request is one of its own trial.

use sixbench_stats::{mix, unmix};

/// Bits of a key for the trial, the connection and the phase, from the highest.
const TRIAL_SHIFT: u32 = 48;
const CONNECTION_SHIFT: u32 = 2;

/// The request that a key stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RequestKey {
    /// The number of the trial; of its bits, the lowest 16 count.
    pub trial: u64,
    /// The number of the connection in the trial.
    pub connection: u64,
    /// The phase of the client, of two bits.
    pub phase: u64,
}

impl RequestKey {
    /// Returns the key. Its bits are mixed, so that objects of neighbouring keys have nothing in common.
    pub(super) fn number(self) -> u64 {
        mix(self.trial << TRIAL_SHIFT | self.connection << CONNECTION_SHIFT | self.phase)
    }

    /// Returns the request whose key is `number`; every number is the key of one.
    pub(super) fn from_number(number: u64) -> Self {
        let bits = unmix(number);
        let connection = (bits & ((1 << TRIAL_SHIFT) - 1)) >> CONNECTION_SHIFT;
        Self {
            trial: bits >> TRIAL_SHIFT,
            connection,
            phase: bits & ((1 << CONNECTION_SHIFT) - 1),
        }
    }

    /// Returns whether this is a request of the trial `trial`, which has so many connections.
    pub(super) fn is_of(self, trial: u64, connections: u64) -> bool {
        self.trial == trial & (u64::MAX >> TRIAL_SHIFT) && self.connection < connections
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_found_again_by_its_key_and_belongs_to_one_trial() {
        for trial in [1, 65_535, 65_537] {
            for (connection, phase) in [(0, 1), (7, 2), (1 << 40, 3)] {
                let found = RequestKey::from_number(
                    RequestKey {
                        trial,
                        connection,
                        phase,
                    }
                    .number(),
                );
                assert_eq!(
                    found,
                    RequestKey {
                        trial: trial & 0xffff,
                        connection,
                        phase
                    }
                );
                assert!(found.is_of(trial, connection + 1));
                assert!(!found.is_of(trial, connection) && !found.is_of(trial + 1, connection + 1));
            }
        }
    }
}
