//! The memory that a trial needs for each frame, connection or query, computed before anything is set up.

use crate::pacing::reach::FASTEST;
use sixbench_method::trial::TrialSpec;

/// Traffic whose memory requirements are known: frames, TCP connections or DNS queries.
pub trait Footprint {
    /// Returns the octets of the tables for this trial, in addition to those that every trial needs.
    fn octets(&self, spec: &TrialSpec) -> u64;
}

/// The memory for a trial could not be allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the trial takes {} MiB of memory, but the system does not provide that much", .octets >> 20)]
pub struct OutOfMemory {
    /// The octets needed.
    pub octets: u64,
}

/// Octets that every trial needs: rings, buffers and histograms of both ends.
pub(crate) const FIXED_OCTETS: u64 = 96 << 20;

/// Returns the most octets that a trial of this traffic needs, for all tables of the tester together.
pub fn octets_needed(spec: &TrialSpec, traffic: &dyn Footprint) -> u64 {
    traffic.octets(spec).saturating_add(FIXED_OCTETS)
}

/// Returns the trial that needs the most memory among those at this rate or a lower one. At a rate that no sender reaches, a trial needs less
/// than at the highest rate that one may reach, because the sender soon gives up.
pub fn neediest(spec: TrialSpec, traffic: &dyn Footprint) -> TrialSpec {
    let reached = TrialSpec { rate: spec.rate.min(FASTEST), ..spec };
    if octets_needed(&reached, traffic) > octets_needed(&spec, traffic) { reached } else { spec }
}

/// Checks that a trial's tables can be allocated: an allocation that fails during the trial would end the process.
pub(crate) fn ensure(spec: &TrialSpec, traffic: &dyn Footprint) -> Result<(), OutOfMemory> {
    let octets = octets_needed(spec, traffic);
    let room = usize::try_from(octets).map_err(|_| OutOfMemory { octets })?;
    Vec::<u8>::new().try_reserve_exact(room).map_err(|_| OutOfMemory { octets })
}
