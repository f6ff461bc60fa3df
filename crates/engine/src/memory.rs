//! The memory that a trial needs for each frame, connection or query, computed before anything is set up.

use crate::pacing::reach::FASTEST;
use sixbench_method::trial::TrialSpec;
use std::fmt::{self, Display, Formatter};

/// Traffic whose memory requirements are known: frames, TCP connections or DNS queries.
pub trait Footprint {
    /// Returns the octets of the tables for this trial, in addition to those that every trial needs.
    fn octets(&self, spec: &TrialSpec) -> u64;

    /// Returns what most of these octets are for.
    fn largest_table(&self, spec: &TrialSpec) -> LargeTable;
}

/// What a large table of a trial is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LargeTable {
    /// A bit for each frame.
    Frames,
    /// The connections through a stateful gateway.
    Connections,
    /// The requests of a closed loop that wait for their replies.
    WaitingRequests,
    /// Open TCP connections.
    TcpConnections,
    /// DNS queries in flight, and a bit for each name.
    Queries,
}

impl LargeTable {
    /// Returns the keys of plan files that determine its size.
    fn keys(self) -> &'static str {
        match self {
            Self::Frames => "`maximum` of [search] or `duration` of [trial]",
            Self::Connections => "`connections`",
            Self::WaitingRequests => "`outstanding`, `subscribers` or `duration`",
            Self::TcpConnections => "`connections`, `maximum` of [search] or the time limit",
            Self::Queries => "`maximum` of [search], `timeout` or `duration` of [trial]",
        }
    }
}

impl Display for LargeTable {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Frames => "the frames of a trial",
            Self::Connections => "the connections through the device",
            Self::WaitingRequests => "the requests that wait for their replies",
            Self::TcpConnections => "open TCP connections",
            Self::Queries => "the DNS queries of a trial",
        })
    }
}

/// The most octets that the histograms of a receiver take.
pub(crate) const HISTOGRAMS_OCTETS: u64 = 9 << 20;

/// The memory for a trial could not be allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "cannot allocate {} MiB for {table}; lower {}, or raise the limit on memory (ulimit -v)",
    .octets.div_ceil(1 << 20),
    .table.keys()
)]
pub struct OutOfMemory {
    /// The octets needed.
    pub octets: u64,
    /// What they are for, or most of them.
    pub table: LargeTable,
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
    let reached = TrialSpec {
        rate: spec.rate.min(FASTEST),
        ..spec
    };
    if octets_needed(&reached, traffic) > octets_needed(&spec, traffic) {
        reached
    } else {
        spec
    }
}

/// Checks that a trial's tables can be allocated: an allocation that fails during the trial would end the process.
pub(crate) fn ensure(spec: &TrialSpec, traffic: &dyn Footprint) -> Result<(), OutOfMemory> {
    let (octets, table) = (octets_needed(spec, traffic), traffic.largest_table(spec));
    let room = usize::try_from(octets).map_err(|_| OutOfMemory { octets, table })?;
    reserved::<u8>(room, table).map(drop)
}

/// Returns an empty vector with room for `count` items, for a table whose size is known only after a part of the trial.
pub(crate) fn reserved<T>(count: usize, table: LargeTable) -> Result<Vec<T>, OutOfMemory> {
    let octets = (count as u64).saturating_mul(size_of::<T>() as u64);
    let mut vector = Vec::new();
    vector
        .try_reserve_exact(count)
        .map_err(|_| OutOfMemory { octets, table })?;
    Ok(vector)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_that_does_not_fit_is_an_error_with_its_size_and_one_that_fits_has_room() {
        let refused = reserved::<u64>(1 << 50, LargeTable::Connections).expect_err("8 PiB");
        let error = "cannot allocate 8589934592 MiB for the connections through the device; lower `connections`, \
                     or raise the limit on memory (ulimit -v)";
        assert_eq!(refused.to_string(), error);
        assert_eq!(
            reserved::<u64>(usize::MAX, LargeTable::Queries)
                .expect_err("no size")
                .octets,
            u64::MAX
        );
        assert_eq!(
            reserved::<u64>(1_000, LargeTable::Queries).map(|table| table.capacity()),
            Ok(1_000)
        );
    }
}
