//! The memory a trial takes, known before anything is set up: what is kept of every frame, connection or query.

use crate::dns::{DnsSettings, FASTEST_QUERIES};
use crate::profile::TrafficProfile;
use crate::reach::{FASTEST, reach};
use crate::tcp::TcpSettings;
use sixbench_io::limit;
use sixbench_method::trial::{LOSS_BIN_NS, TrialKind, TrialSpec};

/// The kind of traffic that a trial sends.
#[derive(Clone, Copy, Debug)]
pub enum TrafficKind<'a> {
    /// Frames.
    Frames(&'a TrafficProfile),
    /// TCP connections.
    Tcp(&'a TcpSettings),
    /// DNS queries.
    Dns(&'a DnsSettings),
}

/// The memory of a trial could not be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the trial takes {} MiB of memory, but the system does not provide that much", .octets >> 20)]
pub struct OutOfMemory {
    /// Octets it takes.
    pub octets: u64,
}

/// Octets that every trial takes: rings, buffers and histograms of both ends.
const FIXED_OCTETS: u64 = 96 << 20;

/// Octets per connection of a stateful trial: state table, the search for collisions, a bit of what was seen.
const CONNECTION_OCTETS: u64 = 17;

/// Octets per open TCP connection: what both ends keep of it, and the kernel's two sockets.
const TCP_CONNECTION_OCTETS: u64 = 10_000;

/// Octets per DNS query under way, in a ring whose size is a power of two; then octets per identifier.
const QUERY_OCTETS: u64 = 2 * crate::dns::ENTRY_OCTETS;
const IDENTIFIER_OCTETS: u64 = 4;

/// Octets that a trial of this kind takes at the most, all tables of the tester together.
pub fn octets_needed(spec: &TrialSpec, work: TrafficKind<'_>) -> u64 {
    let own = match work {
        TrafficKind::Frames(profile) => of_frames(spec, profile),
        TrafficKind::Tcp(settings) => of_tcp(spec, settings),
        TrafficKind::Dns(settings) => of_dns(spec, settings),
    };
    own.saturating_add(FIXED_OCTETS)
}

/// Returns the trial that takes most among those at this rate or a lower one. At a rate that no sender reaches a trial takes less than at
/// the highest rate that one may reach, for the sender soon gives up.
pub fn neediest(spec: TrialSpec, work: TrafficKind<'_>) -> TrialSpec {
    let reached = TrialSpec { rate: spec.rate.min(FASTEST), ..spec };
    if octets_needed(&reached, work) > octets_needed(&spec, work) { reached } else { spec }
}

/// A bit of each frame for each receiver, and one more of each reply; the losses of every bin.
fn of_frames(spec: &TrialSpec, profile: &TrafficProfile) -> u64 {
    let bitmaps = if spec.kind == TrialKind::Response { 3 } else { profile.directions.each().len() as u64 };
    let (bits, bins) = (reach(&spec.schedule()).div_ceil(8), spec.duration_ns.div_ceil(LOSS_BIN_NS) * 8);
    let connections = spec.opens().map_or(0, |phase_one| phase_one.connections);
    bits.saturating_add(bins).saturating_mul(bitmaps).saturating_add(connections.saturating_mul(CONNECTION_OCTETS))
}

/// All connections of a capacity trial; of a rate those that are open for as long as they may take. There are never more than this process
/// may have descriptors: a trial that would need more is not begun.
fn of_tcp(spec: &TrialSpec, settings: &TcpSettings) -> u64 {
    let open = match spec.kind {
        TrialKind::TcpCapacity { connections } => connections,
        _ => spec.rate.frames_in(settings.time_limit.as_nanos() as u64).min(spec.frames()),
    };
    open.min(limit::raise_open_files().unwrap_or(u64::MAX)).saturating_mul(TCP_CONNECTION_OCTETS)
}

/// Queries under way, their identifiers, and three bits of each name: asked for, asked for by the server, asked for again.
fn of_dns(spec: &TrialSpec, settings: &DnsSettings) -> u64 {
    let window_ns = settings.window_ns.max(settings.timeout_ns);
    let under_way = spec.rate.min(FASTEST_QUERIES).frames_in(window_ns).saturating_mul(5) / 4;
    let names = spec.frames().min(settings.names.count());
    let of_each = QUERY_OCTETS + 2 * IDENTIFIER_OCTETS;
    under_way.min(spec.frames()).saturating_mul(of_each).saturating_add(names.saturating_mul(3) / 8)
}

/// Makes sure that a trial's tables can be made: an allocation that fails in the middle of one would end the process.
pub(crate) fn ensure(spec: &TrialSpec, work: TrafficKind<'_>) -> Result<(), OutOfMemory> {
    let octets = octets_needed(spec, work);
    let room = usize::try_from(octets).map_err(|_| OutOfMemory { octets })?;
    Vec::<u8>::new().try_reserve_exact(room).map_err(|_| OutOfMemory { octets })
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixbench_method::terms::{FrameRate, FrameSize};
    use sixbench_method::trial::PhaseOne;

    fn wire() -> TrafficProfile {
        let address = |text: &str| text.parse().expect("address");
        TrafficProfile::identity(address("192.0.2.1"), address("198.51.100.2"), FrameSize(84))
    }

    fn beside_fixed(spec: &TrialSpec) -> u64 {
        octets_needed(spec, TrafficKind::Frames(&wire())) - FIXED_OCTETS
    }

    #[test]
    fn a_trial_keeps_a_bit_of_each_frame_in_each_direction() {
        let spec = TrialSpec::constant(FrameRate(8_000_000), 60_000_000_000);
        assert_eq!(beside_fixed(&spec), 2 * (60_000_000 + 600 * 8));
        let response = TrialSpec::response(FrameRate(8_000_000), 60_000_000_000);
        assert_eq!(beside_fixed(&response), 3 * (60_000_000 + 600 * 8));
    }

    #[test]
    fn connections_opened_before_count() {
        let phase_one = Some(PhaseOne { connections: 1_000_000, rate: FrameRate(1) });
        let spec = TrialSpec { phase_one, ..TrialSpec::constant(FrameRate(8), 1_000_000_000) };
        assert_eq!(beside_fixed(&spec), 2 * (1 + 80) + 17_000_000);
    }

    #[test]
    fn a_rate_that_no_sender_reaches_takes_what_is_sent_until_it_gives_up() {
        let minute = |rate| TrialSpec::constant(FrameRate(rate), 60_000_000_000);
        let billion = minute(1_000_000_000);
        assert_eq!(beside_fixed(&billion) >> 20, 13, "not the 14,305 MiB of all its frames");
        assert_eq!(ensure(&billion, TrafficKind::Frames(&wire())), Ok(()));
        // The search that begins there may come to a rate that is sent whole.
        let neediest = |rate| neediest(minute(rate), TrafficKind::Frames(&wire()));
        assert_eq!(neediest(1_000_000_000), minute(100_000_000));
        assert_eq!(beside_fixed(&neediest(1_000_000_000)) >> 20, 1_430);
        assert_eq!(neediest(1_000_000), minute(1_000_000));
    }

    #[test]
    fn a_trial_of_a_day_at_a_hundred_million_frames_a_second_is_refused_and_nothing_aborts() {
        let day = TrialSpec::constant(FrameRate(100_000_000), 86_400_000_000_000);
        let refused = ensure(&day, TrafficKind::Frames(&wire())).expect_err("two terabytes");
        assert_eq!(refused.octets >> 30, 2_011);
        assert_eq!(ensure(&TrialSpec::constant(FrameRate(1_000), 1_000_000_000), TrafficKind::Frames(&wire())), Ok(()));
    }
}
