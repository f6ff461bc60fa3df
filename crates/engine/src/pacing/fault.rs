//! The faults of the tester itself, derived from the notes of senders and receivers.

use crate::pacing::stall::Gaps;
use sixbench_method::terms::{Direction, FrameRate};
use sixbench_method::trial::{DirectionResult, Fault};
use std::net::IpAddr;

/// The share by which sending may exceed its nominal time: siitperf's tolerance, kept for comparability.
pub(crate) const TOLERANCE: f64 = 1e-5;

/// A schedule shorter than a second has the same absolute tolerance as one of a second: for a burst of milliseconds the relative tolerance would
/// be less than the time to read the clock.
const LEAST_ALLOWED_NS: u64 = 10_000;

/// Returns the faults of one direction.
pub(crate) fn of_direction(
    result: &DirectionResult,
    rate: FrameRate,
    stall_ns: u64,
    gaps: Gaps,
    lost_neighbours: &[IpAddr],
) -> Vec<Fault> {
    [
        of_sending(result, stall_ns),
        of_receiving(result, rate, stall_ns, gaps, lost_neighbours),
    ]
    .concat()
}

/// Returns the faults of the sender of a direction.
pub(crate) fn of_sending(result: &DirectionResult, stall_ns: u64) -> Vec<Fault> {
    sent_too_slowly(result)
        .into_iter()
        .chain(sender_stalled(result, stall_ns))
        .collect()
}

/// Returns the faults of the receiver of a direction.
pub(crate) fn of_receiving(
    result: &DirectionResult,
    rate: FrameRate,
    stall_ns: u64,
    gaps: Gaps,
    lost_neighbours: &[IpAddr],
) -> Vec<Fault> {
    let neighbours = lost_neighbours
        .iter()
        .map(|address| Fault::NeighbourWentStale {
            direction: result.direction,
            address: address.to_string(),
        });
    receiver_stalled(result, rate, stall_ns, gaps)
        .into_iter()
        .chain(ring_overrun(result))
        .chain(neighbours)
        .collect()
}

/// Returns the fault that frames, by number and by the largest difference in nanoseconds, had arrived before they were sent.
pub(crate) fn arrived_before_sent(
    direction: Direction,
    frames: u64,
    worst_ns: u64,
) -> Option<Fault> {
    (frames > 0).then_some(Fault::ArrivedBeforeSent {
        direction,
        frames,
        worst_ns,
    })
}

/// Returns the fault that others occupied the tester's cores, if the tester had other faults; the time is an upper limit for the part that others
/// caused.
pub(crate) fn kept_off(others: &[Fault], kept_off_ns: u64) -> Option<Fault> {
    let microseconds = kept_off_ns / 1000;
    (microseconds > 0 && others.iter().any(|fault| fault.lateness_ns().is_some()))
        .then_some(Fault::TesterKeptOff { microseconds })
}

fn sent_too_slowly(result: &DirectionResult) -> Option<Fault> {
    let sending = &result.sending;
    let allowed_ns =
        sending.nominal_ns + ((sending.nominal_ns as f64 * TOLERANCE) as u64).max(LEAST_ALLOWED_NS);
    let is_short = result.offered < result.intended;
    (is_short || sending.took_ns > allowed_ns).then_some(Fault::SentTooSlowly {
        direction: result.direction,
        nominal_ns: sending.nominal_ns,
        took_ns: sending.took_ns,
    })
}

fn sender_stalled(result: &DirectionResult, stall_ns: u64) -> Option<Fault> {
    let sending = &result.sending;
    (sending.worst_lateness_ns > stall_ns).then_some(Fault::SenderStalled {
        direction: result.direction,
        worst_lateness_ns: sending.worst_lateness_ns,
        frames: sending.late_frames,
    })
}

fn receiver_stalled(
    result: &DirectionResult,
    rate: FrameRate,
    stall_ns: u64,
    gaps: Gaps,
) -> Option<Fault> {
    (gaps.worst_ns > stall_ns).then(|| Fault::ReceiverStalled {
        direction: result.direction,
        worst_gap_ns: gaps.worst_ns,
        frames: rate.frames_in(gaps.stalled_ns),
    })
}

fn ring_overrun(result: &DirectionResult) -> Option<Fault> {
    let frames = result.receiving.overruns;
    (frames > 0).then_some(Fault::ReceiveRingOverrun {
        direction: result.direction,
        frames,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixbench_method::trial::Sending;

    fn faults(sending: Sending, gaps: Gaps, overruns: u64) -> Vec<Fault> {
        let mut result = DirectionResult::counted(Direction::Forward, 1000, 1000);
        result.sending = sending;
        result.receiving.overruns = overruns;
        of_direction(&result, FrameRate(1000), 1_000_000, gaps, &[])
    }

    const MINUTE: u64 = 60_000_000_000;

    #[test]
    fn a_minute_may_take_600_microseconds_longer_and_no_more() {
        let quiet = Gaps::new(1_000_000, 0);
        let took = |took_ns| Sending {
            nominal_ns: MINUTE,
            took_ns,
            ..Sending::default()
        };
        assert!(faults(took(MINUTE + 600_000), quiet, 0).is_empty());
        assert!(matches!(
            faults(took(MINUTE + 600_001), quiet, 0)[..],
            [Fault::SentTooSlowly { .. }]
        ));
    }

    #[test]
    fn a_burst_of_milliseconds_may_take_as_much_longer_as_a_second_may() {
        let quiet = Gaps::new(1_000_000, 0);
        let took = |took_ns| Sending {
            nominal_ns: 6_000_000,
            took_ns,
            ..Sending::default()
        };
        assert!(faults(took(6_010_000), quiet, 0).is_empty());
        assert!(matches!(
            faults(took(6_010_001), quiet, 0)[..],
            [Fault::SentTooSlowly { .. }]
        ));
    }

    #[test]
    fn a_stall_that_was_caught_up_is_seen_although_the_duration_is_right() {
        let stalled = Sending {
            nominal_ns: MINUTE,
            took_ns: MINUTE,
            worst_lateness_ns: 500_000_000,
            late_frames: 500,
        };
        let faults = faults(stalled, Gaps::new(1_000_000, 0), 0);
        assert!(matches!(
            faults[..],
            [Fault::SenderStalled { frames: 500, .. }]
        ));
    }

    #[test]
    fn a_receiver_that_was_away_names_the_frames_due_meanwhile() {
        let mut gaps = Gaps::new(1_000_000, 0);
        gaps.look(50_000_000);
        let faults = faults(Sending::default(), gaps, 0);
        assert!(matches!(
            faults[..],
            [Fault::ReceiverStalled {
                frames: 50,
                worst_gap_ns: 50_000_000,
                ..
            }]
        ));
    }

    #[test]
    fn a_full_ring_is_a_fault() {
        let faults = faults(Sending::default(), Gaps::new(1_000_000, 0), 3);
        assert!(matches!(
            faults[..],
            [Fault::ReceiveRingOverrun { frames: 3, .. }]
        ));
    }

    #[test]
    fn frames_that_arrived_before_they_were_sent_are_a_fault_and_no_delay_of_zero() {
        assert_eq!(arrived_before_sent(Direction::Reverse, 0, 0), None);
        let fault = arrived_before_sent(Direction::Reverse, 3, 1_500).expect("a fault");
        assert_eq!(
            fault,
            Fault::ArrivedBeforeSent {
                direction: Direction::Reverse,
                frames: 3,
                worst_ns: 1_500
            }
        );
        assert!(
            fault
                .to_string()
                .contains("3 frames arrived up to 1.5 us before being sent"),
            "{fault}"
        );
    }
}
