//! Computes how a device of known capacity, queue and imperfection handles the frames of a schedule. Frames are treated as a fluid: no individual
//! frame is simulated, so a trial of a minute takes as long as one of a millisecond.

use crate::terms::FrameRate;
use crate::trial::{Schedule, Segment, Silence, TrialKind, TrialSpec};

/// The properties of the device in one trial.
#[derive(Clone, Copy, Debug)]
pub(super) struct ForwardingDevice {
    /// Frames per second.
    pub(super) capacity: FrameRate,
    /// The number of frames that may wait.
    pub(super) buffer: u64,
    /// The time for which losses continue after an overload, in nanoseconds.
    pub(super) recovery_ns: u64,
    /// The time for which nothing is forwarded after a reset, in nanoseconds.
    pub(super) outage_ns: u64,
}

/// The counts of the frames of one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct DirectionCounts {
    pub(super) offered: u64,
    pub(super) received: u64,
    /// The due time of the last frame not received.
    pub(super) last_missing_ns: Option<u64>,
    /// The time without a received frame, as seen by a receiver without delay.
    pub(super) silence: Option<Silence>,
}

impl ForwardingDevice {
    /// Returns the counts for the schedule of `spec`: the tester offers at most `ceiling`, and the device loses `loss(rate)` even without an
    /// overload.
    pub(super) fn forward(
        &self,
        spec: &TrialSpec,
        ceiling: FrameRate,
        loss: impl Fn(FrameRate) -> f64,
    ) -> DirectionCounts {
        let schedule = spec.schedule();
        let (mut counts, mut queue) = (DirectionCounts::default(), 0);
        for segment in schedule.segments() {
            let length_ns = end_ns(&schedule, segment, spec) - segment.start_ns;
            let offered = segment.frames.min(ceiling.frames_in(length_ns));
            let arriving = offered - (offered as f64 * loss(segment.rate)).round() as u64;
            let waiting = (queue + arriving).saturating_sub(self.capacity.frames_in(length_ns));
            let overflow = waiting.saturating_sub(self.buffer).min(arriving);
            queue = waiting.min(self.buffer);
            counts.offered += offered;
            counts.received += arriving - overflow;
            if offered > arriving - overflow {
                counts.last_missing_ns = Some(schedule.due_ns(segment.first + segment.frames - 1));
            }
        }
        match spec.kind {
            TrialKind::Drop { at_ns, .. } if counts.last_missing_ns.is_some() => {
                self.recover(&schedule, at_ns, &mut counts);
            }
            TrialKind::Reset { at_ns } => self.restart(&schedule, at_ns, &mut counts),
            _ => {}
        }
        counts
    }

    /// Loses every second frame during the recovery after the drop of the rate, including the last frame in that time.
    fn recover(&self, schedule: &Schedule, at_ns: u64, counts: &mut DirectionCounts) {
        let until_ns = at_ns.saturating_add(self.recovery_ns);
        let (first, end) = (
            schedule.first_due_from(at_ns),
            schedule.first_due_from(until_ns),
        );
        if first < end {
            counts.received = counts.received.saturating_sub((end - first).div_ceil(2));
            counts.last_missing_ns = counts.last_missing_ns.max(Some(schedule.due_ns(end - 1)));
        }
    }

    /// Loses every frame due during the outage. There is only a silence between two frames if the outage lies between frames.
    fn restart(&self, schedule: &Schedule, at_ns: u64, counts: &mut DirectionCounts) {
        let until_ns = at_ns.saturating_add(self.outage_ns);
        let (first, end) = (
            schedule.first_due_from(at_ns),
            schedule.first_due_from(until_ns),
        );
        if first >= end {
            return;
        }
        counts.received = counts.received.saturating_sub(end - first);
        counts.last_missing_ns = counts.last_missing_ns.max(Some(schedule.due_ns(end - 1)));
        let is_between = first > 0 && end < schedule.frames();
        counts.silence = is_between.then(|| Silence {
            from_ns: schedule.due_ns(first - 1),
            to_ns: schedule.due_ns(end),
        });
    }
}

/// Returns the time at which the next segment begins, or the trial ends.
fn end_ns(schedule: &Schedule, segment: &Segment, spec: &TrialSpec) -> u64 {
    let next = schedule
        .segments()
        .iter()
        .find(|next| next.start_ns > segment.start_ns);
    next.map_or(spec.duration_ns, |next| next.start_ns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::SECOND_NS;

    const DEVICE: ForwardingDevice = ForwardingDevice {
        capacity: FrameRate(1_000),
        buffer: 0,
        recovery_ns: 0,
        outage_ns: 0,
    };

    fn forward(device: ForwardingDevice, spec: TrialSpec) -> DirectionCounts {
        device.forward(&spec, FrameRate(u64::MAX), |_| 0.0)
    }

    fn of_kind(rate: u64, seconds: u64, kind: TrialKind) -> TrialSpec {
        TrialSpec {
            kind,
            ..TrialSpec::constant(FrameRate(rate), seconds * SECOND_NS)
        }
    }

    #[test]
    fn a_burst_passes_exactly_when_the_queue_holds_what_the_capacity_leaves() {
        // At four times the capacity, three in four frames have to wait.
        for (buffer, longest) in [(0, 1), (3, 5), (300, 401), (30_000, 40_001)] {
            let device = ForwardingDevice { buffer, ..DEVICE };
            let lost = |frames| {
                frames - forward(device, TrialSpec::burst(FrameRate(4_000), frames)).received
            };
            let passes = |frames: u64| (frames * 3).div_ceil(4) <= buffer;
            for frames in longest - 1..longest + 3 {
                assert_eq!(
                    lost(frames) == 0,
                    passes(frames),
                    "{frames} frames, {buffer} may wait"
                );
            }
        }
    }

    #[test]
    fn every_frame_of_every_schedule_is_offered_and_only_as_fast_as_the_tester_can() {
        let kinds = [
            TrialKind::Constant,
            TrialKind::Burst,
            TrialKind::Drop {
                at_ns: SECOND_NS,
                to: FrameRate(300),
            },
            TrialKind::Ramp {
                flows: 3,
                step_ns: SECOND_NS / 2,
            },
            TrialKind::Reset { at_ns: SECOND_NS },
        ];
        for spec in kinds.map(|kind| of_kind(600, 3, kind)) {
            let counts = forward(DEVICE, spec);
            assert_eq!(
                (counts.offered, counts.received, counts.last_missing_ns),
                (spec.frames(), spec.frames(), None),
                "{spec:?}"
            );
            let slow = DEVICE.forward(&spec, FrameRate(100), |_| 0.0);
            assert_eq!(slow.offered, 300, "{spec:?}");
        }
    }

    #[test]
    fn a_queue_drains_while_the_load_is_low_and_no_further_than_empty() {
        // Two seconds of overload leave 1000 frames waiting, of which the third second drains 500.
        let device = ForwardingDevice {
            buffer: 1_000,
            ..DEVICE
        };
        let drop = TrialKind::Drop {
            at_ns: 2 * SECOND_NS,
            to: FrameRate(500),
        };
        assert_eq!(forward(device, of_kind(1_500, 3, drop)).received, 3_500);
        let full = forward(
            ForwardingDevice {
                buffer: 900,
                ..DEVICE
            },
            of_kind(1_500, 3, drop),
        );
        assert_eq!(
            (full.received, full.last_missing_ns.map(|ns| ns / SECOND_NS)),
            (3_400, Some(1))
        );
    }

    #[test]
    fn only_the_steps_of_a_ramp_above_the_capacity_lose() {
        let ramp = TrialKind::Ramp {
            flows: 4,
            step_ns: SECOND_NS,
        };
        let counts = forward(DEVICE, of_kind(1_600, 5, ramp));
        assert_eq!(
            (counts.offered, counts.received),
            (400 + 800 + 1_200 + 3_200, 400 + 800 + 1_000 + 2_000)
        );
    }

    #[test]
    fn losses_go_on_for_the_recovery_after_an_overload_only() {
        let device = ForwardingDevice {
            recovery_ns: SECOND_NS / 2,
            ..DEVICE
        };
        let drop = TrialKind::Drop {
            at_ns: 2 * SECOND_NS,
            to: FrameRate(600),
        };
        let counts = forward(device, of_kind(1_200, 4, drop));
        assert_eq!(counts.received, 2_000 + 1_200 - 150);
        assert_eq!(
            counts.last_missing_ns,
            Some(2 * SECOND_NS + 299 * SECOND_NS / 600)
        );
        assert_eq!(
            forward(device, of_kind(1_000, 4, drop)).last_missing_ns,
            None,
            "no overload"
        );
    }

    #[test]
    fn an_outage_takes_every_frame_due_in_it() {
        let device = ForwardingDevice {
            outage_ns: SECOND_NS,
            ..DEVICE
        };
        let counts = forward(
            device,
            of_kind(1_000, 4, TrialKind::Reset { at_ns: SECOND_NS }),
        );
        assert_eq!((counts.offered, counts.received), (4_000, 3_000));
        assert_eq!(
            counts.last_missing_ns,
            Some(2 * SECOND_NS - SECOND_NS / 1_000)
        );
        assert_eq!(
            counts.silence,
            Some(Silence {
                from_ns: SECOND_NS - SECOND_NS / 1_000,
                to_ns: 2 * SECOND_NS
            })
        );
    }

    #[test]
    fn a_device_that_does_not_come_back_is_not_silent_between_two_frames() {
        let device = ForwardingDevice {
            outage_ns: u64::MAX,
            ..DEVICE
        };
        let counts = forward(
            device,
            of_kind(1_000, 4, TrialKind::Reset { at_ns: SECOND_NS }),
        );
        assert_eq!((counts.received, counts.silence), (1_000, None));
        assert_eq!(
            counts.last_missing_ns,
            Some(4 * SECOND_NS - SECOND_NS / 1_000)
        );
    }
}
