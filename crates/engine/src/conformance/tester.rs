//! The tester of vectors: every vector in turn, and those without an answer once more.

use super::exchange::{CONTROL_NUMBER, ControlFrame, VectorExchange};
use super::link::{VectorLink, VectorPort};
use crate::error::MeasureError;
use sixbench_conformance::frame::{PayloadPattern, Side};
use sixbench_conformance::notation::{FrameSpec, RequiredAnswer};
use sixbench_conformance::octets::{Resolver, UnresolvedValue, build};
use sixbench_conformance::{
    ControlFrames, DeviceSetting, Vector, VectorJudgement, VectorResult, judge,
};
use sixbench_io::clock::Clock;
use sixbench_io::pcap::TimedFrame;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The time limit for the frames that a vector requires, at its first attempt. Devices here answer within a millisecond.
const ANSWER_NS: u64 = 150_000_000;
/// The same at the second attempt.
const LATE_ANSWER_NS: u64 = 300_000_000;
/// The time limit for a control frame.
const CONTROL_NS: u64 = 500_000_000;
/// The time for which further frames are waited for after the control frame behind a vector: a device may have a slower path for errors.
const LINGER_NS: u64 = 15_000_000;
/// The pause before a second attempt at what the device itself must answer. Linux sends one ICMP error to a destination each second, and a few at
/// once (icmp(7), `icmp_ratelimit`): a vector must not be judged by the limit that those before it have reached.
const PAUSE_NS: u64 = 1_000_000_000;
/// The number of second attempts with a pause: so many answers missing are not due to the limit.
const PAUSES: usize = 20;
/// Attempts to get a control frame through at the start.
const CONTROL_TRIES: u32 = 5;
/// The pause between two looks at the ports.
const POLL: Duration = Duration::from_micros(50);
/// The first source port of control frames.
const FIRST_CONTROL_PORT: u16 = 20_000;

/// The outcome of a vector.
pub struct VectorRecord {
    /// Its result, with the reasons.
    pub judgement: VectorJudgement,
    /// The frames of its last attempt, without the control frames: those sent, and the first [`super::KEPT_FRAMES`] that came.
    pub capture: Vec<TimedFrame>,
    /// The number of attempts.
    pub attempts: u32,
}

/// Sends vectors to a device, and judges what comes.
pub struct VectorTester {
    links: [VectorLink; 2],
    setting: DeviceSetting,
    clock: Clock,
    stop: Arc<AtomicBool>,
    control_port: u16,
    /// The sides from which control frames pass.
    passing: Vec<Side>,
}

impl VectorTester {
    /// Returns a tester between two ports, one on each side of the device. `stop` ends it early.
    pub fn new(ports: [VectorPort; 2], setting: DeviceSetting, stop: Arc<AtomicBool>) -> Self {
        let links = ports.map(VectorLink::new);
        Self {
            links,
            setting,
            clock: Clock::new(),
            stop,
            control_port: FIRST_CONTROL_PORT,
            passing: Vec::new(),
        }
    }

    /// Sends every vector, and those without an answer once more. Their outcomes are in the order of the vectors.
    ///
    /// # Errors
    /// The device does not answer neighbour requests, no control frame passes it, a port fails, or a stop was requested.
    pub fn run(&mut self, vectors: &[&Vector]) -> Result<Vec<VectorRecord>, MeasureError> {
        for link in &mut self.links {
            link.resolve(&self.clock, &self.stop)?;
        }
        self.find_passing_sides()?;
        let mut records = Vec::with_capacity(vectors.len());
        for (vector, number) in vectors.iter().zip(0..) {
            records.push(self.attempt(vector, number, ANSWER_NS)?);
        }
        let mut pauses = 0;
        for ((vector, number), record) in vectors.iter().zip(0..).zip(&mut records) {
            if !is_silent(&record.judgement) {
                continue;
            }
            if is_answered_by_device(vector) && pauses < PAUSES {
                pauses += 1;
                self.wait(&mut VectorExchange::new(number), PAUSE_NS, |_| false)?;
            }
            let again = self.attempt(vector, number, LATE_ANSWER_NS)?;
            *record = VectorRecord {
                attempts: record.attempts + 1,
                ..again
            };
        }
        Ok(records)
    }

    fn find_passing_sides(&mut self) -> Result<(), MeasureError> {
        for side in [Side::Ipv4, Side::Ipv6] {
            for _ in 0..CONTROL_TRIES {
                let mut exchange = VectorExchange::new(CONTROL_NUMBER);
                self.control(side, &mut exchange)?;
                if exchange.control == ControlFrames::Came {
                    self.passing.push(side);
                    break;
                }
            }
        }
        if self.passing.is_empty() {
            Err(MeasureError::NoControlFrame)
        } else {
            Ok(())
        }
    }

    /// Sends a vector once. One that cannot be built for this device does not apply to it.
    fn attempt(
        &mut self,
        vector: &Vector,
        number: u16,
        answer_ns: u64,
    ) -> Result<VectorRecord, MeasureError> {
        let pattern = PayloadPattern { vector: number };
        let datagrams = match self.datagrams(vector, pattern) {
            Ok(datagrams) => datagrams,
            Err(reason) => {
                return Ok(VectorRecord {
                    judgement: VectorJudgement::not_applicable(&reason),
                    capture: Vec::new(),
                    attempts: 0,
                });
            }
        };
        let exchange = self.exchange(vector, number, &datagrams, answer_ns)?;
        let judgement = judge(
            vector,
            &exchange.came,
            exchange.control,
            pattern,
            &self.setting,
        )
        .with_left_out(exchange.left_out);
        Ok(VectorRecord {
            judgement,
            capture: exchange.capture,
            attempts: 1,
        })
    }

    fn datagrams(
        &self,
        vector: &Vector,
        pattern: PayloadPattern,
    ) -> Result<Vec<(Side, Vec<u8>)>, UnresolvedValue> {
        let frames = vector.send.iter();
        frames
            .map(|frame| {
                Ok((
                    frame.side,
                    build(
                        frame,
                        pattern,
                        &Resolver {
                            setting: &self.setting,
                            sent: &vector.send[0],
                        },
                    )?,
                ))
            })
            .collect()
    }

    fn exchange(
        &mut self,
        vector: &Vector,
        number: u16,
        datagrams: &[(Side, Vec<u8>)],
        answer_ns: u64,
    ) -> Result<VectorExchange, MeasureError> {
        let wanted = match &vector.expect {
            RequiredAnswer::Nothing => 0,
            RequiredAnswer::Frames(frames) => frames.len(),
        };
        let side = vector.send[0].side;
        let mut exchange = VectorExchange::new(number);
        if !self.passing.contains(&side) {
            exchange.control = ControlFrames::Lost;
            return Ok(exchange);
        }
        self.control(side, &mut exchange)?;
        for (side, datagram) in datagrams {
            let frame = self.link(*side).send(datagram)?;
            exchange.keep(frame);
        }
        self.wait(&mut exchange, answer_ns, |exchange| {
            exchange.came.len() >= wanted
        })?;
        self.control(side, &mut exchange)?;
        self.wait(&mut exchange, LINGER_NS, |_| false)?;
        Ok(exchange)
    }

    fn link(&mut self, side: Side) -> &mut VectorLink {
        let [first, second] = &mut self.links;
        if first.side == side { first } else { second }
    }

    /// Sends a control frame, and notes in the exchange whether it came.
    fn control(&mut self, from: Side, exchange: &mut VectorExchange) -> Result<(), MeasureError> {
        self.control_port = self
            .control_port
            .checked_add(1)
            .unwrap_or(FIRST_CONTROL_PORT);
        let control = ControlFrame {
            comes_on: from.other(),
            port: self.control_port,
        };
        let Some(datagram) = self.control_datagram(from) else {
            exchange.control = ControlFrames::Lost;
            return Ok(());
        };
        exchange.awaited = Some(control);
        self.link(from).send(&datagram)?;
        self.wait(exchange, CONTROL_NS, |exchange| exchange.awaited.is_none())?;
        if exchange.awaited.take().is_some() {
            exchange.control = ControlFrames::Lost;
        }
        Ok(())
    }

    /// Returns the next control frame of a side; `None` if the recipe does not have the addresses of both hosts.
    fn control_datagram(&self, from: Side) -> Option<Vec<u8>> {
        let text = self.setting.control_frame(from, self.control_port);
        let frame = FrameSpec::parse(&text).ok()?;
        build(
            &frame,
            PayloadPattern {
                vector: CONTROL_NUMBER,
            },
            &Resolver {
                setting: &self.setting,
                sent: &frame,
            },
        )
        .ok()
    }

    /// Receives until a condition is met, at most for a time.
    fn wait(
        &mut self,
        exchange: &mut VectorExchange,
        time_ns: u64,
        is_done: impl Fn(&VectorExchange) -> bool,
    ) -> Result<(), MeasureError> {
        let end_ns = self.clock.now_ns() + time_ns;
        loop {
            let now_ns = self.clock.now_ns();
            for link in &mut self.links {
                for received in link.receive(now_ns)? {
                    exchange.note(link.side, received.datagram, received.frame);
                }
            }
            if is_done(exchange) || now_ns >= end_ns {
                return Ok(());
            }
            if self.stop.load(Ordering::Relaxed) {
                return Err(MeasureError::Interrupted);
            }
            std::thread::sleep(POLL);
        }
    }
}

/// Returns true if nothing came, or so little that more may have been lost: another attempt may say otherwise.
fn is_silent(judgement: &VectorJudgement) -> bool {
    let is_asked = judgement.result != VectorResult::NotApplicable;
    let lacks_frames = judgement.frames.iter().any(|frame| frame.came.is_none());
    is_asked && (judgement.frames.is_empty() || lacks_frames)
}

/// Returns true if a frame is required on the side from which the vector is sent: only the device itself can have written it.
fn is_answered_by_device(vector: &Vector) -> bool {
    match &vector.expect {
        RequiredAnswer::Nothing => false,
        RequiredAnswer::Frames(frames) => frames.iter().any(|frame| {
            vector
                .send
                .first()
                .is_some_and(|sent| sent.side == frame.side)
        }),
    }
}
