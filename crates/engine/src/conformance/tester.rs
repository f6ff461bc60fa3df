//! The tester of vectors: one attempt at a vector, between its control frames.

use super::addresses::{address_in, addresses_of};
use super::exchange::{CONTROL_NUMBER, ControlFrame, VectorExchange};
use super::link::{VectorLink, VectorPort};
use super::load::LoadWindow;
use super::passes::{AttemptCount, VectorProgress, is_silent};
use crate::error::MeasureError;
use sixbench_conformance::exchange::{DeviceTimers, FreshNumbers};
use sixbench_conformance::frame::{LayerKind, PayloadPattern, Side, dissect};
use sixbench_conformance::notation::{FrameSpec, RequiredAnswer};
use sixbench_conformance::octets::{Resolver, UnresolvedValue, build};
use sixbench_conformance::setting::SMALL_POOL_DESTINATION;
use sixbench_conformance::{
    ControlFrames, DeviceSetting, Vector, VectorJudgement, VectorResult, judge,
};
use sixbench_io::BATCH;
use sixbench_io::clock::Clock;
use sixbench_io::pcap::TimedFrame;
use sixbench_method::isolation::{Forbidden, Isolation};
use std::fmt::Display;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The time limit for the frames that a vector requires, at its first attempt. Devices here answer within a millisecond.
pub(super) const ANSWER_NS: u64 = 150_000_000;
/// The same at the second attempt.
pub(super) const LATE_ANSWER_NS: u64 = 300_000_000;
/// The time limit for a control frame.
const CONTROL_NS: u64 = 500_000_000;
/// The time for which further frames are waited for after the control frame behind a vector: a device may have a slower path for errors.
pub(super) const LINGER_NS: u64 = 15_000_000;
/// The longest time for which an exchange waits, unless long ones are wanted.
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// Attempts to get a control frame through at the start.
const CONTROL_TRIES: u32 = 5;
/// The pause between two looks at the ports.
const POLL: Duration = Duration::from_micros(50);
/// The longest time that an attempt takes, with some to spare: two control frames, the answer, and what may come after it.
const LONGEST_ATTEMPT_NS: u64 = 2 * CONTROL_NS + LATE_ANSWER_NS + LINGER_NS + 100_000_000;
/// The time after which it is looked whether the load has ended for good.
const LOAD_LOOK_NS: u64 = 100_000_000;
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

impl VectorRecord {
    /// Returns the outcome, of which silence says nothing if the tester had no room for all frames.
    fn unless_overrun(mut self, has_room: bool) -> Self {
        if !has_room && is_silent(&self.judgement) {
            self.judgement.result = VectorResult::Unknown;
            let reason = "frames came for which the tester had no room";
            self.judgement.reason = Some(reason.to_owned());
        }
        self
    }

    /// Returns the outcome of a vector that is not sent, for this reason.
    pub(super) fn not_applicable(reason: &impl Display) -> Self {
        Self {
            judgement: VectorJudgement::not_applicable(reason),
            capture: Vec::new(),
            attempts: 0,
        }
    }
}

/// Sends vectors to a device, and judges what comes.
pub struct VectorTester {
    links: [VectorLink; 2],
    pub(super) setting: DeviceSetting,
    pub(super) timers: DeviceTimers,
    /// True if exchanges may wait for minutes and hours.
    pub(super) waits_long: bool,
    /// True while the pool of the device is small.
    pub(super) is_pool_small: bool,
    /// The ports and identifiers that exchanges have not used yet.
    pub(super) fresh: FreshNumbers,
    pub(super) clock: Clock,
    stop: Arc<AtomicBool>,
    control_port: u16,
    /// The sides from which control frames pass.
    pub(super) passing: Vec<Side>,
    isolation: Isolation,
    pub(super) attempts: AttemptCount,
    /// The load, while there is one.
    pub(super) load: Option<Arc<LoadWindow>>,
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
            is_pool_small: false,
            fresh: FreshNumbers::default(),
            clock: Clock::new(),
            stop,
            control_port: FIRST_CONTROL_PORT,
            passing: Vec::new(),
            isolation: Isolation::Unknown,
            attempts: AttemptCount::told_to(Box::new(|_, _| {})),
            load: None,
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

    /// Returns the tester on links from which no frame can leave, if they are declared so: otherwise, a vector with an address that a host on the
    /// Internet could have is not sent (RFC 6815).
    pub fn within(self, isolation: Isolation) -> Self {
        Self { isolation, ..self }
    }

    /// Returns the tester that tells of its progress.
    pub fn telling(self, progress: VectorProgress) -> Self {
        Self {
            attempts: AttemptCount::told_to(progress),
            ..self
        }
    }

    /// Returns the time for which an exchange waits in all, if that is longer than is wanted.
    pub(super) fn too_long(&self, vector: &Vector) -> Option<Duration> {
        let waits = self.timers.waits_of(vector)?;
        (!self.waits_long && waits > LONGEST_WAIT).then_some(waits)
    }

    /// Resolves the device's hardware addresses, and finds the sides from which control frames pass it.
    ///
    /// # Errors
    /// The device does not answer neighbour requests, no control frame passes it, a port fails, or a stop was requested.
    pub fn find_device(&mut self) -> Result<(), MeasureError> {
        for link in &mut self.links {
            link.resolve(&self.clock, &self.stop)?;
        }
        self.find_passing_sides()
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

    /// Sends a vector once, while the load is on, if there is one.
    pub(super) fn attempt(
        &mut self,
        vector: &Vector,
        number: u16,
        answer_ns: u64,
    ) -> Result<VectorRecord, MeasureError> {
        let Some(window) = self.load.clone() else {
            return self.attempt_once(vector, number, answer_ns);
        };
        loop {
            let begun_ns = self.await_load(&window, number)?;
            self.overruns()?;
            let record = self.attempt_once(vector, number, answer_ns)?;
            if window.covers(begun_ns, self.clock.now_ns()) {
                let has_room = self.overruns()? == 0;
                return Ok(record.unless_overrun(has_room));
            }
        }
    }

    /// Waits until the load will be on for as long as an attempt can take, and returns the time, in nanoseconds.
    fn await_load(&mut self, window: &LoadWindow, number: u16) -> Result<u64, MeasureError> {
        while !window.is_open_for(LONGEST_ATTEMPT_NS) {
            if window.has_ended() {
                return Err(MeasureError::Interrupted);
            }
            self.wait(&mut VectorExchange::new(number), LOAD_LOOK_NS, |_| {
                window.is_open_for(LONGEST_ATTEMPT_NS)
            })?;
        }
        Ok(self.clock.now_ns())
    }

    /// Returns the number of frames for which the tester had no room since it was last asked.
    fn overruns(&mut self) -> Result<u64, MeasureError> {
        let [first, second] = &mut self.links;
        Ok(first.overruns()? + second.overruns()?)
    }

    /// Sends a vector once. One that cannot be built for this device does not apply to it.
    fn attempt_once(
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
            Err(reason) => return Ok(VectorRecord::not_applicable(&reason)),
        };
        if let Err(forbidden) = self.admit(&datagrams) {
            return Ok(VectorRecord::not_applicable(&forbidden));
        }
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

    /// Refuses datagrams with an address that a host on the Internet could have, where they may leave.
    pub(super) fn admit(&self, datagrams: &[(Side, Vec<u8>)]) -> Result<(), Forbidden> {
        self.isolation.admit(addresses_of(datagrams)).map(|_| ())
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

    /// Sends a control frame, and notes in the exchange whether it came. From the inside of a stateful device, its answer must come, too.
    pub(super) fn control(
        &mut self,
        from: Side,
        exchange: &mut VectorExchange,
    ) -> Result<(), MeasureError> {
        if from == Side::Inside {
            return self.control_both_ways(exchange);
        }
        self.control_from(from, exchange).map(drop)
    }

    /// Sends a control frame from where connections are opened, and an answer to it, and notes in the exchange whether both came.
    pub(super) fn control_both_ways(
        &mut self,
        exchange: &mut VectorExchange,
    ) -> Result<(), MeasureError> {
        let from = self.setting.opening_side();
        let control = self.control_from(from, exchange)?;
        if exchange.control == ControlFrames::Came {
            let answer = answer_to(&exchange.control_datagram);
            let control = ControlFrame {
                comes_on: from,
                ..control
            };
            self.await_control(control, answer, exchange)?;
        }
        Ok(())
    }

    /// Sends a control frame and waits for it.
    fn control_from(
        &mut self,
        from: Side,
        exchange: &mut VectorExchange,
    ) -> Result<ControlFrame, MeasureError> {
        let (port, text) = self.next_control(from);
        let control = ControlFrame {
            comes_on: from.other(),
            port,
        };
        let datagram = self.control_datagram(&text);
        self.await_control(control, datagram, exchange)?;
        Ok(control)
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
        let side = control.comes_on.other();
        // A stateful device chooses the address to which the answer goes.
        let datagram = [(side, datagram)];
        self.admit(&datagram)?;
        self.link(side).send(&datagram[0].1)?;
        self.wait(exchange, CONTROL_NS, |exchange| exchange.awaited.is_none())?;
        if exchange.awaited.take().is_some() {
            exchange.control = ControlFrames::Lost;
        }
        Ok(())
    }

    /// Returns the port by which the next control frame of a side is known, and its text. While the pool is small, only one of its ports is taken.
    fn next_control(&mut self, from: Side) -> (u16, String) {
        if self.is_pool_small {
            let text = self.setting.small_pool_control_frame();
            return (SMALL_POOL_DESTINATION, text);
        }
        self.control_port = self
            .control_port
            .checked_add(1)
            .unwrap_or(FIRST_CONTROL_PORT);
        let text = self.setting.control_frame(from, self.control_port);
        (self.control_port, text)
    }

    /// Returns a control frame; `None` if the recipe does not have the addresses of both hosts.
    fn control_datagram(&self, text: &str) -> Option<Vec<u8>> {
        let frame = FrameSpec::parse(text).ok()?;
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
            let mut frames = 0;
            for link in &mut self.links {
                let batch = link.receive(now_ns)?;
                frames = frames.max(batch.frames);
                for received in batch.datagrams {
                    exchange.note(link.side, received.datagram, received.frame);
                }
            }
            if is_done(exchange) || now_ns >= end_ns {
                return Ok(());
            }
            if self.stop.load(Ordering::Relaxed) {
                return Err(MeasureError::Interrupted);
            }
            // Under load, more frames may wait than are received at once.
            if frames < BATCH {
                std::thread::sleep(POLL);
            }
        }
    }
}

/// Returns the answer to a control frame that came from a stateful device: back to the address and the port that it has given to the inside host, and
/// through the tunnel in which it came.
fn answer_to(came: &[u8]) -> Option<Vec<u8>> {
    let layers = dissect(came);
    let at = layers
        .iter()
        .position(|layer| layer.kind == LayerKind::Udp)?;
    let (headers, udp) = (&layers[..at], &layers[at]);
    let headers = headers.iter().map(|ip| {
        let (source, destination) = (address_in(ip, "dst")?, address_in(ip, "src")?);
        Some(format!(
            "{}(src={source}, dst={destination}) / ",
            ip.kind.name()
        ))
    });
    let headers = headers.collect::<Option<String>>()?;
    let (source, destination) = (udp.value("dport")?, udp.value("sport")?);
    let text = format!("out: {headers}udp(sport={source}, dport={destination}) / payload(32)");
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
