//! Measures the distance between the tester's core and the device's.

use crate::ends::cores::of_machine;
use crate::error::RunError;
use sixbench_io::round_trip_ns;
use std::fmt;
use std::time::Duration;

/// The number of measurements, and the pause before each. Together they suffice to see a host move virtual cores, every second or so.
const LOOKS: usize = 30;
const PAUSE: Duration = Duration::from_millis(50);

const CURE: &str = "pin the virtual machine's cores to ones that share a cache (virsh vcpupin), or compare turn by turn and with more repetitions";

/// The round-trip time of a cache line between the tester's first core and the device's, over several measurements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoreDistance {
    /// The tester's core and the device's core.
    pub cores: [u32; 2],
    /// The shortest and the longest time in nanoseconds.
    pub range_ns: (u64, u64),
}

impl CoreDistance {
    /// Returns advice for cores that are being moved, which makes the round trip several times as long, or `None` if they are not.
    pub fn cure(&self) -> Option<&'static str> {
        (self.range_ns.1 > 2 * self.range_ns.0).then_some(CURE)
    }
}

impl fmt::Display for CoreDistance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ([tester, device], (shortest, longest)) = (self.cores, self.range_ns);
        write!(
            f,
            "a cache line takes {shortest} to {longest} ns from core {tester} (tester) to core {device} (device) and back"
        )?;
        match self.cure() {
            None => Ok(()),
            Some(_) => f.write_str(
                ": the host of this virtual machine moves its cores, and rates change with it, those of links in shared memory by half",
            ),
        }
    }
}

/// Measures the distance between the default cores of the tester and a device. Takes two seconds. Returns `None` if they share a core or are too
/// busy.
///
/// # Errors
/// The cores cannot be read or used.
pub fn core_distance() -> Result<Option<CoreDistance>, RunError> {
    let cores = of_machine()?;
    let (Some(&tester), Some(&device)) = (cores.tester.first(), cores.dut.first()) else {
        return Ok(None);
    };
    let mut range_ns = None;
    for _ in 0..LOOKS {
        std::thread::sleep(PAUSE);
        let Some(ns) = round_trip_ns([tester, device])? else {
            continue;
        };
        let (shortest, longest) = range_ns.unwrap_or((ns, ns));
        range_ns = Some((ns.min(shortest), ns.max(longest)));
    }
    Ok(range_ns.map(|range_ns| CoreDistance {
        cores: [tester, device],
        range_ns,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_that_are_moved_are_told_apart_from_those_that_stay() {
        let told = |range_ns| {
            CoreDistance {
                cores: [0, 1],
                range_ns,
            }
            .to_string()
        };
        let steady = told((88, 140));
        assert_eq!(
            steady,
            "a cache line takes 88 to 140 ns from core 0 (tester) to core 1 (device) and back"
        );
        assert!(
            told((88, 410))
                .ends_with("and rates change with it, those of links in shared memory by half")
        );
    }
}
