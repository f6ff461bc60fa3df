//! What a measurement asks of a trial, and when each of its frames is due.

use crate::terms::FrameRate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The specification of one trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TrialSpec {
    /// The intended load of RFC 2285 section 3.5.1: frames per second, per direction.
    pub rate: FrameRate,
    /// Nominal time of sending, nanoseconds.
    pub duration_ns: u64,
    /// The kind of trial: what is sent, and the course of the load over that time.
    #[serde(
        default,
        rename = "shape",
        skip_serializing_if = "TrialKind::is_constant"
    )]
    pub kind: TrialKind,
    /// The frames that are tagged, if some are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tagging: Option<Tagging>,
    /// Connections that are opened before: phase 1 of RFC 9693, where the trial is one of phase 2.
    #[serde(default, rename = "opening", skip_serializing_if = "Option::is_none")]
    pub phase_one: Option<PhaseOne>,
    /// Requests of all clients together that may wait for their replies, as many of each: a client that has so many sends no other (a closed loop). Then
    /// `rate` is the highest that is sent. Where there is none, requests leave on schedule whatever happens to them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outstanding: Option<u32>,
}

/// Phase 1 of a stateful test (RFC 9693): one frame on each connection, none of them twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseOne {
    /// N.
    pub connections: u64,
    /// R, frames per second.
    pub rate: FrameRate,
}

/// The kind of a trial: what is sent, and the course of the load over the time of sending.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TrialKind {
    /// Frames at the same rate from the first to the last.
    #[default]
    Constant,
    /// A burst (RFC 9004): the wait for residual frames starts again with every frame received.
    Burst,
    /// Another rate from a moment on (system recovery, RFC 2544 section 26.5).
    Drop {
        /// The moment, nanoseconds from the first frame.
        at_ns: u64,
        /// The rate from then on.
        to: FrameRate,
    },
    /// Flows that start one after the other, each with an equal part of the rate (RFC 8219 section 10.2.2).
    Ramp {
        /// Flows in the end.
        flows: u32,
        /// Time between two starts, nanoseconds.
        step_ns: u64,
    },
    /// The DUT is reset at a moment (RFC 6201); the load does not change.
    Reset {
        /// The moment, nanoseconds from the first frame.
        at_ns: u64,
    },
    /// Phase 1 of RFC 9693: every frame of the Initiator opens a connection. If all arrive, the Responder sends one on each, and all must
    /// come back.
    Establish {
        /// N.
        connections: u64,
        /// The rate of the Responder's frames.
        validation: FrameRate,
    },
    /// Phase 1 of RFC 9693, then the DUT deletes all connections.
    TearDown {
        /// N.
        connections: u64,
    },
    /// TCP connections at the rate of the trial, a GET of HTTP on each (RFC 3511 section 5.3).
    TcpRate,
    /// So many TCP connections open at once (RFC 3511 section 5.2).
    TcpCapacity {
        /// Connections.
        connections: u64,
    },
    /// DNS queries at the rate of the trial (RFC 8219 section 9).
    Queries,
    /// Requests from left to right at the rate of the trial; the right end of the tester answers each at once, and the answer goes back
    /// through the DUT. The delay of a reverse frame is the response time: from the request's departure to the reply's arrival.
    Response,
    /// Vectors of requirements, one after the other, each waiting for its answer. There is no rate, and the time of sending is an estimate.
    Requirements,
}

impl TrialKind {
    /// Returns the connections of phase 1 where it is the trial itself.
    pub fn connections(&self) -> Option<u64> {
        match *self {
            Self::Establish { connections, .. } | Self::TearDown { connections } => {
                Some(connections)
            }
            _ => None,
        }
    }

    /// Returns the unit of its rate: `frames/s`.
    pub fn rate_unit(&self) -> &'static str {
        match self {
            Self::Constant
            | Self::Burst
            | Self::Drop { .. }
            | Self::Ramp { .. }
            | Self::Reset { .. } => "frames/s",
            Self::Establish { .. }
            | Self::TearDown { .. }
            | Self::TcpRate
            | Self::TcpCapacity { .. } => "connections/s",
            Self::Queries => "queries/s",
            Self::Response => "requests/s",
            // Vectors have no rate.
            Self::Requirements => "vectors/s",
        }
    }

    fn is_constant(&self) -> bool {
        *self == Self::Constant
    }
}

/// The frames that are tagged (RFC 8219 section 7.2): evenly spread over the time from `after_ns` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tagging {
    /// No frame due before this is tagged, nanoseconds from the first frame.
    pub after_ns: u64,
    /// Frames to be tagged in each direction; all there are, if they are fewer.
    pub frames: u64,
}

impl TrialSpec {
    /// Returns a constant load.
    pub fn constant(rate: FrameRate, duration_ns: u64) -> Self {
        Self {
            rate,
            duration_ns,
            kind: TrialKind::Constant,
            tagging: None,
            phase_one: None,
            outstanding: None,
        }
    }

    /// Requests at a constant rate, each of which is answered.
    pub fn response(rate: FrameRate, duration_ns: u64) -> Self {
        Self {
            kind: TrialKind::Response,
            ..Self::constant(rate, duration_ns)
        }
    }

    /// Vectors of requirements, which take about this long.
    pub fn requirements(duration_ns: u64) -> Self {
        Self {
            kind: TrialKind::Requirements,
            ..Self::constant(FrameRate(0), duration_ns)
        }
    }

    /// Returns a burst of exactly `frames` frames.
    pub fn burst(rate: FrameRate, frames: u64) -> Self {
        let duration_ns =
            (u128::from(frames) * 1_000_000_000).div_ceil(u128::from(rate.0.max(1))) as u64;
        Self {
            kind: TrialKind::Burst,
            ..Self::constant(rate, duration_ns)
        }
    }

    /// Returns the schedule this asks for.
    pub fn schedule(&self) -> Schedule {
        Schedule::new(self)
    }

    /// Returns the connections that this trial opens: phase 1, whether it is the trial itself or goes before it. `None` where
    /// there is no phase 1.
    pub fn opens(&self) -> Option<PhaseOne> {
        let own = self.kind.connections().map(|connections| PhaseOne {
            connections,
            rate: self.rate,
        });
        own.or(self.phase_one)
    }

    /// Returns the number of frames that the schedule holds, per direction.
    pub fn frames(&self) -> u64 {
        match self.kind {
            TrialKind::Establish { connections, .. } | TrialKind::TearDown { connections } => {
                connections
            }
            TrialKind::TcpCapacity { connections } => connections,
            TrialKind::TcpRate | TrialKind::Queries | TrialKind::Reset { .. } => {
                self.rate.frames_in(self.duration_ns)
            }
            TrialKind::Constant | TrialKind::Burst | TrialKind::Response => {
                self.rate.frames_in(self.duration_ns)
            }
            TrialKind::Requirements => 0,
            TrialKind::Drop { .. } | TrialKind::Ramp { .. } => self.schedule().frames(),
        }
    }
}

/// A stretch of a schedule at one rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The number of its first frame.
    pub first: u64,
    /// The number of its frames.
    pub frames: u64,
    /// The time at which its first frame is due, nanoseconds from the start of the trial.
    pub start_ns: u64,
    /// Its rate, frames per second.
    pub rate: FrameRate,
    /// Network flows under way in it; 0: as many as the traffic has.
    pub flows: u32,
}

/// The due times of the frames of one direction: stretches of constant rate, always counted from their start, so that no
/// error adds up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule(Vec<Segment>);

impl Schedule {
    /// Returns exactly `frames` frames at one rate.
    pub fn constant(rate: FrameRate, frames: u64) -> Self {
        Self(vec![Segment {
            first: 0,
            frames,
            start_ns: 0,
            rate,
            flows: 0,
        }])
    }

    fn new(spec: &TrialSpec) -> Self {
        let mut schedule = Self(Vec::new());
        match spec.kind {
            TrialKind::Constant
            | TrialKind::Burst
            | TrialKind::Reset { .. }
            | TrialKind::Response
            | TrialKind::Establish { .. }
            | TrialKind::TearDown { .. }
            | TrialKind::TcpRate
            | TrialKind::Queries
            | TrialKind::Requirements
            | TrialKind::TcpCapacity { .. } => {
                schedule.append(spec.rate, spec.duration_ns, 0, 0);
            }
            TrialKind::Drop { at_ns, to } => {
                schedule.append(spec.rate, at_ns.min(spec.duration_ns), 0, 0);
                schedule.append(to, spec.duration_ns.saturating_sub(at_ns), at_ns, 0);
            }
            TrialKind::Ramp { flows, step_ns } => schedule.ramp(spec, flows.max(1), step_ns),
        }
        schedule
    }

    fn ramp(&mut self, spec: &TrialSpec, flows: u32, step_ns: u64) {
        for active in 1..=flows {
            let start_ns = u64::from(active - 1) * step_ns;
            let left_ns = spec.duration_ns.saturating_sub(start_ns);
            let length_ns = if active == flows {
                left_ns
            } else {
                step_ns.min(left_ns)
            };
            let rate = FrameRate((spec.rate.0 * u64::from(active) / u64::from(flows)).max(1));
            self.append(rate, length_ns, start_ns, active);
        }
    }

    fn append(&mut self, rate: FrameRate, length_ns: u64, start_ns: u64, flows: u32) {
        let frames = rate.frames_in(length_ns);
        if frames > 0 || self.0.is_empty() {
            self.0.push(Segment {
                first: self.frames(),
                frames,
                start_ns,
                rate,
                flows,
            });
        }
    }

    /// Returns the stretches, in order; at least one.
    pub fn segments(&self) -> &[Segment] {
        &self.0
    }

    /// Returns the number of all frames.
    pub fn frames(&self) -> u64 {
        self.0
            .last()
            .map_or(0, |segment| segment.first + segment.frames)
    }

    /// Returns the stretch frame `sequence` belongs to.
    ///
    /// # Panics
    /// If the schedule is the default one, which has no frames.
    #[inline]
    pub fn segment_of(&self, sequence: u64) -> &Segment {
        let after = self.0.partition_point(|segment| segment.first <= sequence);
        &self.0[after.saturating_sub(1)]
    }

    /// Returns the time at which frame `sequence` is due, nanoseconds from the start of the trial.
    #[inline]
    pub fn due_ns(&self, sequence: u64) -> u64 {
        let segment = self.segment_of(sequence);
        let since = u128::from(sequence - segment.first) * 1_000_000_000
            / u128::from(segment.rate.0.max(1));
        segment.start_ns + since as u64
    }

    /// Returns the first frame due at `at_ns` or later.
    pub fn first_due_from(&self, at_ns: u64) -> u64 {
        let after = self.0.partition_point(|segment| segment.start_ns <= at_ns);
        let segment = &self.0[after.saturating_sub(1)];
        let since = u128::from(at_ns.saturating_sub(segment.start_ns)) * u128::from(segment.rate.0);
        (segment.first + since.div_ceil(1_000_000_000) as u64).min(segment.first + segment.frames)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::SECOND_NS;

    #[test]
    fn a_burst_has_exactly_its_frames() {
        for (rate, frames) in [
            (3, 1),
            (1_488_095, 26_000),
            (999_999_937, 12_345),
            (7, 1_000_003),
        ] {
            assert_eq!(TrialSpec::burst(FrameRate(rate), frames).frames(), frames);
        }
    }

    #[test]
    fn an_overload_of_110_of_100_frames_drops_to_half_of_it() {
        let kind = TrialKind::Drop {
            at_ns: 60 * SECOND_NS,
            to: FrameRate(55),
        };
        let spec = TrialSpec {
            kind,
            ..TrialSpec::constant(FrameRate(110), 70 * SECOND_NS)
        };
        let schedule = spec.schedule();
        assert_eq!(schedule.frames(), 6600 + 550);
        assert_eq!(schedule.due_ns(6600), 60 * SECOND_NS);
        assert_eq!(schedule.due_ns(6655), 61 * SECOND_NS);
        assert_eq!(schedule.first_due_from(60 * SECOND_NS), 6600);
        assert_eq!(schedule.first_due_from(0), 0);
        assert_eq!(schedule.first_due_from(u64::MAX / 2), 7150);
    }

    #[test]
    fn flows_that_start_one_after_the_other_add_their_parts_of_the_rate() {
        let kind = TrialKind::Ramp {
            flows: 4,
            step_ns: SECOND_NS,
        };
        let spec = TrialSpec {
            kind,
            ..TrialSpec::constant(FrameRate(400), 13 * SECOND_NS)
        };
        let rates: Vec<u64> = spec
            .schedule()
            .segments()
            .iter()
            .map(|s| s.rate.0)
            .collect();
        assert_eq!(rates, [100, 200, 300, 400]);
        assert_eq!(spec.frames(), 100 + 200 + 300 + 10 * 400);
    }
}
