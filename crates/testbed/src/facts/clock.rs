//! The accuracy of a machine's clock, from the daemon that sets it.

use crate::exec::{Shell, TestbedError};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A bound on the error of the system clock, according to chrony.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockAccuracy {
    /// The largest possible error in nanoseconds, provided the time source is correct.
    pub bound_ns: u64,
    /// The time source's name in chrony: a server, or a clock such as `PHC0`.
    pub source: String,
}

/// The reason why the error of a system clock has no known bound.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Error)]
pub enum NoClockBound {
    /// chrony's client is not there.
    #[error("chronyc is not installed")]
    NotInstalled,
    /// chrony's daemon is not there, or not reached.
    #[error("chronyd does not answer (chronyc tracking)")]
    NoAnswer,
    /// The output of chronyc is not what its manual says.
    #[error("chronyc prints what is not understood: {0}")]
    Unreadable(String),
    /// The clock is not set by another one yet.
    #[error("chronyd has not synchronised the clock yet (chronyc waitsync)")]
    NotSynchronised,
}

/// The positions of fields in the output of `chronyc -c tracking` (chronyc(1), `tracking`).
const SOURCE: usize = 1;
const STRATUM: usize = 2;
const SYSTEM_TIME: usize = 4;
const ROOT_DELAY: usize = 10;
const ROOT_DISPERSION: usize = 11;
const LEAP_STATUS: usize = 13;

impl ClockAccuracy {
    /// Queries chrony on the machine where the shell runs its commands. A clock synchronised by PTP is known if it is a reference clock of chrony
    /// (`refclock PHC`).
    ///
    /// # Errors
    /// The reason why no bound is known.
    pub fn read(shell: &Shell) -> Result<Self, NoClockBound> {
        match shell.look(&["chronyc", "-c", "tracking"]) {
            Ok(printed) => Self::parse(&printed),
            Err(TestbedError::Missing { .. }) => Err(NoClockBound::NotInstalled),
            Err(_) => Err(NoClockBound::NoAnswer),
        }
    }

    /// Parses the output of `chronyc -c tracking`. According to chronyc(1), "an absolute bound on the computer's clock accuracy (assuming the
    /// stratum-1 computer is correct) is given by: clock_error <= |system_time_offset| + root_dispersion + (0.5 * root_delay)".
    fn parse(printed: &str) -> Result<Self, NoClockBound> {
        let fields: Vec<&str> = printed.trim().split(',').collect();
        let unreadable = || NoClockBound::Unreadable(printed.trim().to_owned());
        let field = |place: usize| fields.get(place).copied().ok_or_else(unreadable);
        let seconds = |place| {
            field(place)?
                .parse::<f64>()
                .ok()
                .filter(|time| time.is_finite())
                .ok_or_else(unreadable)
        };
        // chronyc prints whole nanoseconds.
        let nanoseconds = |place| seconds(place).map(|time| (time.abs() * 1e9).round() as u64);
        if field(LEAP_STATUS)? == "Not synchronised" || field(STRATUM)? == "0" {
            return Err(NoClockBound::NotSynchronised);
        }
        // The text comes from another machine and may have any number.
        let bound_ns = nanoseconds(SYSTEM_TIME)?
            .saturating_add(nanoseconds(ROOT_DISPERSION)?)
            .saturating_add(nanoseconds(ROOT_DELAY)?.div_ceil(2));
        Ok(Self {
            bound_ns,
            source: field(SOURCE)?.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_is_that_of_the_manual_of_chronyc() {
        let printed = "C0A80101,ntp1.example,2,1795451234.123,-0.000020000,0.000001,0.000030,12.5,0.01,0.2,0.000300000,0.000050000,64.2,Normal\n";
        // 20 us + 50 us + 300 us / 2.
        assert_eq!(
            ClockAccuracy::parse(printed),
            Ok(ClockAccuracy {
                bound_ns: 220_000,
                source: "ntp1.example".to_owned()
            })
        );
        let of_ptp = "50484330,PHC0,1,1795451234.1,0.000000100,0.0,0.0,1.0,0.0,0.0,0.000000002,0.000000400,1.0,Normal";
        assert_eq!(
            ClockAccuracy::parse(of_ptp).map(|of| (of.bound_ns, of.source)),
            Ok((501, "PHC0".to_owned()))
        );
        let absurd = of_ptp.replace("0.000000002,0.000000400", "1e300,1e300");
        assert_eq!(
            ClockAccuracy::parse(&absurd).map(|of| of.bound_ns),
            Ok(u64::MAX)
        );
    }

    #[test]
    fn a_clock_that_is_not_synchronised_has_no_bound() {
        let printed = "7F7F0101,,0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,1.0,1.0,0.0,Not synchronised\n";
        assert_eq!(
            ClockAccuracy::parse(printed),
            Err(NoClockBound::NotSynchronised)
        );
        for strange in [
            "",
            "506 Cannot talk to daemon",
            "a,b,2,0,x,0,0,0,0,0,0,0,0,Normal",
        ] {
            assert_eq!(
                ClockAccuracy::parse(strange),
                Err(NoClockBound::Unreadable(strange.to_owned()))
            );
        }
    }
}
