//! What phase 1 of a stateful trial came to (RFC 9693): connections opened, as the tester and as the DUT count them, and how they were mapped.

use super::{Fault, IcmpErrors};
use crate::terms::FrameRate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Phase 1 of a trial, and what the DUT itself said of its connections.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Connections {
    /// N: frames of phase 1 that left the tester, each with a four-tuple of its own.
    pub offered: u64,
    /// Frames of phase 1 that arrived right: connections established.
    pub established: u64,
    /// R.
    pub rate: FrameRate,
    /// Entries of the Responder's state table.
    pub state_table: u64,
    /// D: from the first frame of phase 1 to the first of what followed, nanoseconds; 0 where nothing followed.
    #[serde(default, skip_serializing_if = "super::is_zero")]
    pub delay_ns: u64,
    /// The translation of the sources by the DUT.
    pub mapping: Mapping,
    /// Connections the DUT counted before phase 1, after it, and at the end. `None` where it could not be asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counted_before: Option<u64>,
    /// After phase 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counted: Option<u64>,
    /// The count at the end of phase 2, or of the validation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counted_after: Option<u64>,
    /// The time the DUT took to delete all of its connections, nanoseconds, where it was asked to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub torn_down_ns: Option<u64>,
    /// The ICMP errors that answered frames of phase 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub icmp_errors: Vec<IcmpErrors>,
    /// The first connections that were lost, or mixed up with another, one line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<String>,
}

impl Connections {
    /// Returns the number of frames of phase 1 that opened no connection the Responder could see.
    pub fn lost(&self) -> u64 {
        self.offered.saturating_sub(self.established)
    }

    /// Returns a fault for each count of the DUT that is not the tester's: one of the two extremes of RFC 9693 does not hold.
    /// In phase 1 every frame opens a connection, in phase 2 none does. Not to be called where frames that only open or try
    /// connections were lost: a DUT with fewer connections than arrived is known by its validation.
    pub fn faults(&self) -> Vec<Fault> {
        let mut faults = Vec::new();
        let opened = self.opened_by_the_dut().filter(|_| self.lost() == 0);
        if let Some(counted) = opened.filter(|counted| *counted != self.established) {
            faults.push(Fault::ConnectionsDiffer {
                expected: self.established,
                counted,
                after_phase_2: false,
            });
        }
        let after = self
            .counted
            .zip(self.counted_after)
            .filter(|_| self.lost() == 0);
        if let Some((expected, counted)) = after.filter(|(expected, counted)| expected != counted) {
            faults.push(Fault::ConnectionsDiffer {
                expected,
                counted,
                after_phase_2: true,
            });
        }
        faults
    }

    /// Connections the DUT had more after phase 1 than before: what it says it opened.
    pub fn opened_by_the_dut(&self) -> Option<u64> {
        Some(self.counted?.saturating_sub(self.counted_before?))
    }
}

/// The translation of the sources of the connections by the DUT, as the Responder saw it. The words are those of RFC 4787
/// section 4.1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Mapping {
    /// Connections the state table holds: what the other numbers are of.
    pub seen: u64,
    /// Connections whose source port stayed what it was.
    pub ports_preserved: u64,
    /// Different source addresses on the side of the Responder.
    pub addresses: u64,
    /// Connections that arrived with the four-tuple of another: replies cannot reach both.
    #[serde(default, skip_serializing_if = "super::is_zero")]
    pub collisions: u64,
    /// Sources (address and port) that were seen with several destinations: what the next three divide. A sample where they are many.
    #[serde(default)]
    pub sources: u64,
    /// Sources that had one mapping for all destinations.
    #[serde(default)]
    pub endpoint_independent: u64,
    /// Sources that had one for every destination address.
    #[serde(default)]
    pub address_dependent: u64,
    /// Sources that had others for other ports of a destination, too.
    #[serde(default)]
    pub address_and_port_dependent: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(before: u64, after_phase_1: u64, after: u64) -> Vec<Fault> {
        let (counted_before, counted, counted_after) =
            (Some(before), Some(after_phase_1), Some(after));
        let connections = Connections {
            offered: 100,
            established: 100,
            counted_before,
            counted,
            counted_after,
            ..Connections::default()
        };
        connections.faults()
    }

    #[test]
    fn a_dut_that_counts_as_the_tester_does_is_believed() {
        assert!(counted(0, 100, 100).is_empty());
        assert!(
            counted(3, 103, 103).is_empty(),
            "what was there before is not of phase 1"
        );
        assert!(
            Connections {
                offered: 100,
                established: 100,
                ..Connections::default()
            }
            .faults()
            .is_empty(),
            "nobody looked"
        );
    }

    #[test]
    fn either_extreme_that_does_not_hold_invalidates() {
        let differ = |expected, counted, after_phase_2| {
            [Fault::ConnectionsDiffer {
                expected,
                counted,
                after_phase_2,
            }]
        };
        assert_eq!(counted(0, 99, 99), differ(100, 99, false));
        assert_eq!(counted(0, 100, 101), differ(100, 101, true));
        let expired = counted(0, 100, 40);
        assert!(
            expired[0].to_string().contains("some timed out"),
            "{}",
            expired[0]
        );
        assert!(expired.iter().all(Fault::always_invalidates));
    }
}
