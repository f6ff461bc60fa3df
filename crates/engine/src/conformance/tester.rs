//! The tester of vectors: every vector in turn, and those without an answer once more.

use super::exchange::{CONTROL_NUMBER, ControlFrame, VectorExchange};
use super::link::{VectorLink, VectorPort};
use crate::error::MeasureError;
use sixbench_conformance::exchange::{DeviceTimers, FreshNumbers};
use sixbench_conformance::frame::{LayerKind, PayloadPattern, Side, dissect};
use sixbench_conformance::judge::FrameVerdict;
use sixbench_conformance::notation::{FrameSpec, RequiredAnswer};
use sixbench_conformance::octets::{Resolver, UnresolvedValue, build};
use sixbench_conformance::{
    ControlFrames, DeviceSetting, Vector, VectorJudgement, VectorResult, judge,
};
use sixbench_io::clock::Clock;
use sixbench_io::pcap::TimedFrame;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The time limit for the frames that a vector requires, at its first attempt. Devices here answer within a millisecond.
pub(super) const ANSWER_NS: u64 = 150_000_000;
/// The same at the second attempt.
const LATE_ANSWER_NS: u64 = 300_000_000;
/// The time limit for a control frame.
const CONTROL_NS: u64 = 500_000_000;
/// The time for which further frames are waited for after the control frame behind a vector: a device may have a slower path for errors.
pub(super) const LINGER_NS: u64 = 15_000_000;
/// The pause before a second attempt at what the device itself must answer. Linux sends one ICMP error to a destination each second, and a few at
/// once (icmp(7), `icmp_ratelimit`): a vector must not be judged by the limit that those before it have reached.
const PAUSE_NS: u64 = 1_000_000_000;
/// The number of second attempts with a pause: so many answers missing are not due to the limit.
const PAUSES: usize = 20;
/// The longest time for which an exchange waits, unless long ones are wanted.
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// The longest time for which an exchange waits that is run again though it is right, because of silence in it.
const LONGEST_WAIT_AGAIN: Duration = Duration::from_secs(1);
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
    pub(super) setting: DeviceSetting,
    pub(super) timers: DeviceTimers,
    /// True if exchanges may wait for minutes and hours.
    pub(super) waits_long: bool,
    /// The ports and identifiers that exchanges have not used yet.
    pub(super) fresh: FreshNumbers,
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
            timers: DeviceTimers::default(),
            waits_long: false,
            fresh: FreshNumbers::default(),
            clock: Clock::new(),
            stop,
            control_port: FIRST_CONTROL_PORT,
            passing: Vec::new(),
        }
    }

    /// Returns the tester for a device with timers of known times.
    pub fn with_timers(self, timers: DeviceTimers) -> Self {
        Self { timers, ..self }
    }

    /// Returns the tester with exchanges that wait for minutes and hours, if these are wanted.
    pub fn with_long_waits(self, waits_long: bool) -> Self {
        Self { waits_long, ..self }
    }

    /// Returns the time for which an exchange waits in all, if that is longer than is wanted.
    pub(super) fn too_long(&self, vector: &Vector) -> Option<Duration> {
        let waits = self.timers.waits_of(vector)?;
        (!self.waits_long && waits > LONGEST_WAIT).then_some(waits)
    }

    /// Returns true if another attempt may say otherwise.
    fn is_worth_another(&self, vector: &Vector, judgement: &VectorJudgement) -> bool {
        let waits = self.timers.waits_of(vector).unwrap_or_default();
        let is_met = matches!(
            judgement.result,
            VectorResult::Right | VectorResult::Allowed
        );
        is_silent(judgement) && !(is_met && waits > LONGEST_WAIT_AGAIN)
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
            if !self.is_worth_another(vector, &record.judgement) {
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
        for side in [Side::Ipv4, Side::Ipv6, Side::Inside]
            .into_iter()
            .filter(|side| self.links.iter().any(|link| link.side == *side))
            .collect::<Vec<_>>()
        {
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
        if !vector.steps.is_empty() {
            return self.attempt_exchange(vector, number, answer_ns);
        }
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

    pub(super) fn link(&mut self, side: Side) -> &mut VectorLink {
        let [first, second] = &mut self.links;
        if first.side == side { first } else { second }
    }

    /// Sends a control frame, and notes in the exchange whether it came. Through a stateful device, its answer must come, too.
    pub(super) fn control(
        &mut self,
        from: Side,
        exchange: &mut VectorExchange,
    ) -> Result<(), MeasureError> {
        self.control_port = self
            .control_port
            .checked_add(1)
            .unwrap_or(FIRST_CONTROL_PORT);
        let control = ControlFrame {
            comes_on: from.other(),
            port: self.control_port,
        };
        let datagram = self.control_datagram(from);
        self.await_control(control, datagram, exchange)?;
        if from == Side::Inside && exchange.control == ControlFrames::Came {
            let answer = answer_to(&exchange.control_datagram);
            let control = ControlFrame {
                comes_on: from,
                ..control
            };
            self.await_control(control, answer, exchange)?;
        }
        Ok(())
    }

    /// Sends a control frame on the side from which it is awaited on the other one.
    fn await_control(
        &mut self,
        control: ControlFrame,
        datagram: Option<Vec<u8>>,
        exchange: &mut VectorExchange,
    ) -> Result<(), MeasureError> {
        let Some(datagram) = datagram else {
            exchange.control = ControlFrames::Lost;
            return Ok(());
        };
        exchange.awaited = Some(control);
        self.link(control.comes_on.other()).send(&datagram)?;
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
    pub(super) fn wait(
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
    let is_asked = judgement.result != VectorResult::NotApplicable || !judgement.steps.is_empty();
    let in_steps = judgement.steps.iter().map(|step| &step.frames);
    is_asked
        && in_steps
            .chain([&judgement.frames])
            .any(|frames| lacks_frames(frames))
}

/// Returns true if no frame came, or not every expected one.
fn lacks_frames(frames: &[FrameVerdict]) -> bool {
    frames.is_empty() || frames.iter().any(|frame| frame.came.is_none())
}

/// Returns the answer to a control frame that came from a stateful device: back to the address and the port that it has given to the inside host.
fn answer_to(came: &[u8]) -> Option<Vec<u8>> {
    let layers = dissect(came);
    let (ip, udp) = (layers.first()?, layers.get(1)?);
    let address = |name| {
        let number = ip.value(name)?;
        Some(if ip.kind == LayerKind::Ipv4 {
            IpAddr::V4((number as u32).into())
        } else {
            IpAddr::V6(number.into())
        })
    };
    let text = format!(
        "out: {}(src={}, dst={}) / udp(sport={}, dport={}) / payload(32)",
        ip.kind.name(),
        address("dst")?,
        address("src")?,
        udp.value("dport")?,
        udp.value("sport")?
    );
    let frame = FrameSpec::parse(&text).ok()?;
    let setting = DeviceSetting {
        roles: Vec::new(),
        hops_from_ipv4: 0,
        hops_from_ipv6: 0,
        mtu4: 0,
        mtu6: 0,
        subscribers: None,
    };
    let pattern = PayloadPattern {
        vector: CONTROL_NUMBER,
    };
    let resolver = Resolver {
        setting: &setting,
        sent: &frame,
    };
    build(&frame, pattern, &resolver).ok()
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
