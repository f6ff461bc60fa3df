//! The memory that a trial of frames needs: bits for each frame, losses in every bin, and the tables of connections and of waiting requests.

use super::profile::TrafficProfile;
use super::window::RequestLog;
use crate::memory::{Footprint, HISTOGRAMS_OCTETS, LargeTable};
use crate::pacing::reach::reach;
use sixbench_method::trial::{LOSS_BIN_NS, TrialKind, TrialSpec};

/// Octets per connection of a stateful trial: the state table, the search for collisions, and a bit per connection seen.
const CONNECTION_OCTETS: u64 = 17;

impl Footprint for TrafficProfile {
    /// Returns the octets for one bit per frame and receiver, one more per reply, and the losses in every bin.
    fn octets(&self, spec: &TrialSpec) -> u64 {
        octets_of_one_queue(self, spec, 1)
    }

    fn largest_table(&self, spec: &TrialSpec) -> LargeTable {
        let frames = octets_of_frames(self, spec, 1);
        let others = [
            (LargeTable::Connections, octets_of_connections(spec)),
            (LargeTable::WaitingRequests, RequestLog::octets(spec, self)),
        ];
        let largest = others
            .into_iter()
            .filter(|(_, octets)| *octets > frames)
            .max_by_key(|(_, octets)| *octets);
        largest.map_or(LargeTable::Frames, |(table, _)| table)
    }
}

/// Returns the octets of the tables of one queue of each port; `senders` is the number of queues that send a direction.
fn octets_of_one_queue(profile: &TrafficProfile, spec: &TrialSpec, senders: usize) -> u64 {
    let of_requests = RequestLog::octets(spec, profile);
    octets_of_frames(profile, spec, senders)
        .saturating_add(octets_of_connections(spec))
        .saturating_add(of_requests)
}

fn octets_of_frames(profile: &TrafficProfile, spec: &TrialSpec, senders: usize) -> u64 {
    let (bits, bins) = (
        reach(&spec.schedule(), senders).div_ceil(8),
        spec.duration_ns.div_ceil(LOSS_BIN_NS) * 8,
    );
    bits.saturating_add(bins)
        .saturating_mul(bitmaps(profile, spec))
}

/// Returns the number of receivers of one queue, each of which has a bitmap and histograms; the responder's bitmap counts as one.
fn bitmaps(profile: &TrafficProfile, spec: &TrialSpec) -> u64 {
    if spec.kind == TrialKind::Response {
        3
    } else {
        profile.directions.each().len() as u64
    }
}

fn octets_of_connections(spec: &TrialSpec) -> u64 {
    spec.opens()
        .map_or(0, |phase_one| phase_one.connections)
        .saturating_mul(CONNECTION_OCTETS)
}

/// Traffic over ports with several queues, each of which has its own tables.
pub(crate) struct QueuedTraffic<'a> {
    pub(crate) profile: &'a TrafficProfile,
    /// The number of queues of the port that has more.
    pub(crate) queues: usize,
}

/// Bits that a receiver keeps of each frame if there are other receivers: that it was seen, and which of four faults it had.
const BITS_AMONG_OTHERS: u64 = 5;

impl Footprint for QueuedTraffic<'_> {
    fn octets(&self, spec: &TrialSpec) -> u64 {
        let of_one = octets_of_one_queue(self.profile, spec, self.queues);
        if self.queues <= 1 {
            return of_one;
        }
        // Those of the first queue are among the octets that every trial needs.
        let further = self.queues as u64 - 1;
        let histograms = further
            .saturating_mul(bitmaps(self.profile, spec))
            .saturating_mul(HISTOGRAMS_OCTETS);
        of_one
            .saturating_mul(self.queues as u64 * BITS_AMONG_OTHERS)
            .saturating_add(histograms)
    }

    fn largest_table(&self, spec: &TrialSpec) -> LargeTable {
        self.profile.largest_table(spec)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{FIXED_OCTETS, ensure, neediest, octets_needed};
    use sixbench_method::terms::{FrameRate, FrameSize};
    use sixbench_method::trial::PhaseOne;

    fn wire() -> TrafficProfile {
        let address = |text: &str| text.parse().expect("address");
        TrafficProfile::identity(address("192.0.2.1"), address("198.51.100.2"), FrameSize(84))
    }

    fn beside_fixed(spec: &TrialSpec) -> u64 {
        octets_needed(spec, &wire()) - FIXED_OCTETS
    }

    #[test]
    fn a_trial_keeps_a_bit_of_each_frame_in_each_direction() {
        let spec = TrialSpec::constant(FrameRate(8_000_000), 60_000_000_000);
        assert_eq!(beside_fixed(&spec), 2 * (60_000_000 + 600 * 8));
        let response = TrialSpec::response(FrameRate(8_000_000), 60_000_000_000);
        assert_eq!(beside_fixed(&response), 3 * (60_000_000 + 600 * 8));
    }

    #[test]
    fn each_queue_keeps_tables_of_its_own() {
        let (spec, profile) = (
            TrialSpec::constant(FrameRate(8_000_000), 60_000_000_000),
            wire(),
        );
        let octets = |queues| {
            QueuedTraffic {
                profile: &profile,
                queues,
            }
            .octets(&spec)
        };
        let tables = 2 * (60_000_000 + 600 * 8);
        assert_eq!(
            (octets(1), octets(4)),
            (tables, 20 * tables + 3 * 2 * HISTOGRAMS_OCTETS)
        );
    }

    #[test]
    fn connections_opened_before_count() {
        let phase_one = Some(PhaseOne {
            connections: 1_000_000,
            rate: FrameRate(1),
        });
        let spec = TrialSpec {
            phase_one,
            ..TrialSpec::constant(FrameRate(8), 1_000_000_000)
        };
        assert_eq!(beside_fixed(&spec), 2 * (1 + 80) + 17_000_000);
        assert_eq!(wire().largest_table(&spec), LargeTable::Connections);
    }

    #[test]
    fn a_rate_that_no_sender_reaches_takes_what_is_sent_until_it_gives_up() {
        let minute = |rate| TrialSpec::constant(FrameRate(rate), 60_000_000_000);
        let billion = minute(1_000_000_000);
        assert_eq!(
            beside_fixed(&billion) >> 20,
            13,
            "not the 14,305 MiB of all its frames"
        );
        assert_eq!(ensure(&billion, &wire()), Ok(()));
        // The search that begins there may get to a rate at which everything is sent.
        let neediest = |rate| neediest(minute(rate), &wire());
        assert_eq!(neediest(1_000_000_000), minute(100_000_000));
        assert_eq!(beside_fixed(&neediest(1_000_000_000)) >> 20, 1_430);
        assert_eq!(neediest(1_000_000), minute(1_000_000));
    }

    #[test]
    fn a_trial_of_a_day_at_a_hundred_million_frames_a_second_is_refused_and_nothing_aborts() {
        let day = TrialSpec::constant(FrameRate(100_000_000), 86_400_000_000_000);
        let refused = ensure(&day, &wire()).expect_err("two terabytes");
        assert_eq!(
            (refused.octets >> 30, refused.table),
            (2_011, LargeTable::Frames)
        );
        assert_eq!(
            ensure(
                &TrialSpec::constant(FrameRate(1_000), 1_000_000_000),
                &wire()
            ),
            Ok(())
        );
    }

    #[test]
    fn requests_that_may_wait_count_and_more_than_there_is_room_for_are_refused_with_their_key() {
        let with = |outstanding| TrialSpec {
            outstanding,
            ..TrialSpec::response(FrameRate(8), 1_000_000_000)
        };
        assert_eq!(
            beside_fixed(&with(Some(1_000))),
            3 * (1 + 80) + 8 * 4 + 1_000 * 48
        );
        let refused = ensure(&with(Some(u32::MAX)), &wire())
            .expect_err("192 GiB")
            .to_string();
        let words = "for the requests that wait for their replies; lower `outstanding`, `subscribers` or `duration`, or raise";
        assert!(
            refused.starts_with("cannot allocate 196") && refused.contains(words),
            "{refused}"
        );
    }
}
