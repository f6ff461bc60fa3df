//! The clocks of two machines. They do not matter for the counts of a trial. A one-way delay, however, is the difference of two clocks, and is only
//! measured if both machines know the accuracy of their clocks and this agrees with the round trips between them.

use serde::{Deserialize, Serialize};
use sixbench_io::clock::Clock;
use sixbench_testbed::Shell;
use sixbench_testbed::facts::{ClockAccuracy, NoClockBound};
use std::time::{SystemTime, UNIX_EPOCH};
use thiserror::Error;

/// The number of times that both clocks are read. The closest pair counts.
const READINGS: usize = 32;

/// The tester's clock and the system's clock, read together, and the accuracy of the latter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ClockReading {
    /// The tester's clock in nanoseconds.
    pub(super) tester_ns: u64,
    /// The system's clock in nanoseconds since 1970.
    pub(super) system_ns: u64,
    /// The largest possible time between the two readings, in nanoseconds.
    pub(super) apart_ns: u64,
    /// The error of the system's clock, or the reason why it is unknown.
    pub(super) accuracy: Result<ClockAccuracy, NoClockBound>,
}

impl ClockReading {
    /// Reads the clocks of the machine on which this process runs.
    pub(super) fn take(clock: &Clock, shell: &Shell) -> Self {
        let accuracy = ClockAccuracy::read(shell);
        let readings = (0..READINGS).map(|_| {
            let (before_ns, now, after_ns) = (clock.now_ns(), SystemTime::now(), clock.now_ns());
            let system_ns = now
                .duration_since(UNIX_EPOCH)
                .map_or(0, |since| since.as_nanos() as u64);
            (
                after_ns - before_ns,
                before_ns.midpoint(after_ns),
                system_ns,
            )
        });
        // The distance comes first in each, so the smallest is the closest pair.
        let (apart_ns, tester_ns, system_ns) = readings.min().unwrap_or_default();
        Self {
            tester_ns,
            system_ns,
            apart_ns,
            accuracy,
        }
    }

    /// Returns how far the tester's clock is ahead of the system's, in nanoseconds.
    fn ahead_ns(&self) -> i64 {
        self.tester_ns.wrapping_sub(self.system_ns) as i64
    }
}

/// The offset between the agent's clock and a clock here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ClockComparison {
    /// The time in nanoseconds to add to the agent's clock so that it matches the clock here.
    pub(super) set_forward_ns: i64,
    /// The largest error of that offset in nanoseconds: half of the round trip.
    pub(super) apart_ns: u64,
    /// The longest round trip observed, in nanoseconds.
    pub(super) slowest_ns: u64,
}

/// Compares two clocks from triples in nanoseconds: the time here before, the time there, the time here after.
pub(super) fn compared(looks: &[(u64, u64, u64)]) -> ClockComparison {
    let round_trip = |look: &&(u64, u64, u64)| look.2.saturating_sub(look.0);
    let (before_ns, theirs_ns, after_ns) =
        *looks.iter().min_by_key(round_trip).unwrap_or(&(0, 0, 0));
    ClockComparison {
        set_forward_ns: before_ns.midpoint(after_ns).wrapping_sub(theirs_ns) as i64,
        apart_ns: (after_ns - before_ns).div_ceil(2),
        slowest_ns: looks
            .iter()
            .map(|look| round_trip(&look))
            .max()
            .unwrap_or(0),
    }
}

/// The offset between the clocks of two machines whose accuracy is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BoundedClocks {
    /// The time in nanoseconds to add to the agent's clock so that it matches the clock here.
    pub(super) set_forward_ns: i64,
    /// The largest error of that offset in nanoseconds.
    pub(super) bound_ns: u64,
}

/// The reason why the offset between the clocks of two machines has no bound. `machine` is the agent's.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(super) enum ClocksUnbounded {
    #[error("this machine: {0}")]
    Here(NoClockBound),
    #[error("{machine}: {why}")]
    There { machine: String, why: NoClockBound },
    /// The round trip shows that the clocks differ by more than they claim.
    #[error(
        "the clock of {machine} and that of this machine claim to be within {} us of each other, but the round trip over ssh shows that they \
         are {} ms apart",
        claimed_ns.div_ceil(1_000),
        apart_ns / 1_000_000
    )]
    Apart {
        machine: String,
        claimed_ns: u64,
        apart_ns: u64,
    },
}

/// Compares the readings on the machine of the plan and on the agent's `machine`.
///
/// # Errors
/// The reason why there is no bound: a clock has none, or the round trip shows that the clocks differ by more than they claim.
pub(super) fn bounded(
    here: &ClockReading,
    there: &ClockReading,
    round_trip: &ClockComparison,
    machine: &str,
) -> Result<BoundedClocks, ClocksUnbounded> {
    let machine = machine.to_owned();
    let own = match &here.accuracy {
        Ok(own) => own,
        Err(why) => return Err(ClocksUnbounded::Here(why.clone())),
    };
    let other = match &there.accuracy {
        Ok(other) => other,
        Err(why) => {
            let why = why.clone();
            return Err(ClocksUnbounded::There { machine, why });
        }
    };
    let clocks = BoundedClocks {
        set_forward_ns: here.ahead_ns().wrapping_sub(there.ahead_ns()),
        bound_ns: own.bound_ns + other.bound_ns + here.apart_ns + there.apart_ns,
    };
    let apart_ns = clocks.set_forward_ns.abs_diff(round_trip.set_forward_ns);
    if apart_ns > clocks.bound_ns + round_trip.apart_ns {
        return Err(ClocksUnbounded::Apart {
            machine,
            claimed_ns: clocks.bound_ns,
            apart_ns,
        });
    }
    Ok(clocks)
}

impl BoundedClocks {
    /// Returns the bound in nanoseconds on the clocks' error during a trial, from `self` before it and `after` at its end. The clocks may have
    /// drifted in between.
    pub(super) fn bound_until_ns(&self, after: &Self) -> u64 {
        self.bound_ns.max(after.bound_ns) + self.set_forward_ns.abs_diff(after.set_forward_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: u64 = 1_000;
    const HOUR_NS: u64 = 3_600_000_000_000;

    /// Returns the readings of a machine whose tester's clock started 5 s ago.
    fn machine(system_ns: u64, accuracy: Result<u64, NoClockBound>) -> ClockReading {
        let accuracy = accuracy.map(|bound_ns| ClockAccuracy {
            bound_ns,
            source: "PHC0".to_owned(),
        });
        ClockReading {
            tester_ns: 5_000_000_000,
            system_ns,
            apart_ns: 100,
            accuracy,
        }
    }

    fn round_trip(set_forward_ns: i64) -> ClockComparison {
        ClockComparison {
            set_forward_ns,
            apart_ns: 300 * US,
            slowest_ns: 900 * US,
        }
    }

    #[test]
    fn the_bound_of_both_clocks_is_the_sum_of_the_bounds_of_each() {
        // By the system clocks, the agent's tester's clock started 7 us later.
        let (here, there) = (
            machine(HOUR_NS, Ok(20 * US)),
            machine(HOUR_NS + 7 * US, Ok(30 * US)),
        );
        let clocks = bounded(&here, &there, &round_trip(200_000), "tester2");
        assert_eq!(
            clocks,
            Ok(BoundedClocks {
                set_forward_ns: 7 * US as i64,
                bound_ns: 50 * US + 200
            })
        );
        let after = BoundedClocks {
            set_forward_ns: 5 * US as i64,
            bound_ns: 40 * US,
        };
        assert_eq!(
            clocks.expect("bounded").bound_until_ns(&after),
            52 * US + 200,
            "with what they drifted in the trial"
        );
    }

    #[test]
    fn clocks_an_hour_apart_are_found_out_whatever_they_claim() {
        let (here, there) = (
            machine(HOUR_NS, Ok(20 * US)),
            machine(2 * HOUR_NS, Ok(30 * US)),
        );
        let why = bounded(&here, &there, &round_trip(0), "tester2")
            .expect_err("an hour apart")
            .to_string();
        assert!(
            why.contains("claim to be within 51 us") && why.contains("are 3600000 ms apart"),
            "{why}"
        );
    }

    #[test]
    fn a_clock_without_a_bound_is_named_with_its_machine() {
        let (known, unknown) = (
            machine(HOUR_NS, Ok(20 * US)),
            machine(HOUR_NS, Err(NoClockBound::NotInstalled)),
        );
        assert_eq!(
            bounded(&known, &unknown, &round_trip(0), "tester2").map_err(|why| why.to_string()),
            Err("tester2: chronyc is not installed".to_owned())
        );
        assert_eq!(
            bounded(&unknown, &known, &round_trip(0), "tester2").map_err(|why| why.to_string()),
            Err("this machine: chronyc is not installed".to_owned())
        );
    }

    #[test]
    fn both_clocks_of_a_machine_are_read_at_one_moment() {
        let clock = Clock::new();
        let first = ClockReading::take(&clock, &Shell::new());
        std::thread::sleep(std::time::Duration::from_millis(20));
        let second = ClockReading::take(&clock, &Shell::new());
        let drifted_ns = first.ahead_ns().abs_diff(second.ahead_ns());
        // The system's clock may be slewed meanwhile, but not by much.
        assert!(
            drifted_ns < 1_000_000 + first.apart_ns + second.apart_ns,
            "{first:?} {second:?}"
        );
    }

    #[test]
    fn the_look_with_the_shortest_round_trip_sets_the_clock_and_bounds_its_error() {
        // The clock there is 1000 s ahead. In the slow exchange, the way back took longer than the way there.
        let looks = [
            (100, 1_000_000_000_110, 400),
            (1_000, 1_000_000_001_020, 1_060),
        ];
        let compared = compared(&looks);
        assert_eq!(
            compared,
            ClockComparison {
                set_forward_ns: 1_030 - 1_000_000_001_020,
                apart_ns: 30,
                slowest_ns: 300
            }
        );
        assert_eq!(
            1_000_000_001_020u64.wrapping_add(compared.set_forward_ns as u64),
            1_030
        );
    }
}
