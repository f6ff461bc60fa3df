//! The vectors of stateful devices against a NAT and a NAT64 written from the RFCs: they are right in all of them. With one fault at a time, each fails
//! the vectors of the clause that the fault breaks, and no other.

mod nat44;
mod nat64;
pub(crate) mod reference;
pub(crate) mod table;

use crate::exchange::{DeviceTimers, ExchangeRun, FreshNumbers};
use crate::frame::{PayloadPattern, Side};
use crate::judge::CameFrame;
use crate::notation::FrameSpec;
use crate::notation::{DeviceTimer, Vector};
use crate::octets::{Resolver, build};
use crate::setting::DeviceSetting;
use crate::{ControlFrames, VectorJudgement, VectorResult};
use reference::nat::{Filtering, Sent};
use reference::table::PoolPorts;
use std::collections::BTreeSet;
use std::fmt::Debug;
use std::net::Ipv4Addr;
use std::time::Duration;
use table::RigRow;

const OWN_INSIDE: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const OWN_OUTSIDE: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 1);
const PATTERN: PayloadPattern = PayloadPattern { vector: 0x0713 };

/// The ports of a small pool.
const SMALL_POOL: PoolPorts = PoolPorts(1024, 1027);

/// Returns the timers of the reference: the least that the RFCs recommend or require.
fn timers() -> DeviceTimers {
    let minutes = [
        (DeviceTimer::Udp, 5),
        (DeviceTimer::TcpTransitory, 4),
        (DeviceTimer::TcpEstablished, 124),
        (DeviceTimer::Icmp, 1),
    ];
    let times = minutes.map(|(timer, minutes)| (timer, Duration::from_secs(minutes * 60)));
    times.into_iter().collect()
}

/// A reference, whose clock is set from outside.
pub(crate) trait ReferenceDevice {
    /// Lets this time pass, in milliseconds, and returns what the device sends in it.
    fn pass(&mut self, time_ms: u64) -> Vec<Sent>;

    /// Gives the device a datagram from a side, and returns what it sends.
    fn receive(&mut self, side: Side, octets: &[u8]) -> Vec<Sent>;
}

/// Returns the judgement of a vector on a reference.
pub(crate) fn run(
    vector: &Vector,
    device: &DeviceSetting,
    reference: &mut impl ReferenceDevice,
) -> VectorJudgement {
    let (timers, mut fresh) = (timers(), FreshNumbers::default());
    let mut run = ExchangeRun::new(vector, device, &timers, PATTERN, &mut fresh);
    while let Some(step) = run.next_step().expect("a step") {
        let mut came = reference.pass(step.wait.as_millis() as u64);
        if vector.is_pool_small {
            // The tester's control frames take a port.
            reference.receive(Side::Inside, &control_datagram(device));
        }
        for (side, datagram) in &step.datagrams {
            came.extend(reference.receive(*side, datagram));
        }
        let came: Vec<CameFrame> = came.into_iter().map(came_frame).collect();
        run.learn(&came, ControlFrames::Came).expect("a step");
    }
    run.judgement()
}

fn control_datagram(device: &DeviceSetting) -> Vec<u8> {
    let frame = FrameSpec::parse(&device.small_pool_control_frame()).expect("a frame");
    let resolver = Resolver {
        setting: device,
        sent: &frame,
    };
    build(&frame, PATTERN, &resolver).expect("octets")
}

fn came_frame(sent: Sent) -> CameFrame {
    CameFrame {
        side: sent.side,
        datagram: sent.octets,
    }
}

/// A kind of reference with its vectors, its rigs, and the choices of it that the text allows.
pub(crate) struct Bench<F: 'static> {
    pub(crate) vectors: Vec<Vector>,
    pub(crate) judged: fn(&Vector, Filtering, Option<F>) -> VectorJudgement,
    pub(crate) rigs: &'static [RigRow<F>],
    pub(crate) choices: &'static [(F, &'static str)],
}

impl<F: Copy + Debug> Bench<F> {
    /// Returns the names of the vectors that a rig fails.
    fn failed(&self, row: &RigRow<F>) -> BTreeSet<String> {
        let fails = |vector: &&Vector| {
            let judgement = (self.judged)(vector, row.filtering, Some(row.fault));
            judgement.result.is_violation()
        };
        let failing = self.vectors.iter().filter(fails);
        failing.map(|vector| vector.name.clone()).collect()
    }

    /// Asserts that each rig fails the vectors of its clause and no other.
    pub(crate) fn check_rigs(&self) {
        let mut mistakes = Vec::new();
        for row in self.rigs {
            let (told, seen) = (row.fails(&self.vectors), self.failed(row));
            if told != seen {
                let names: Vec<&String> = seen.iter().collect();
                mistakes.push(format!("{:?} {:?}: {names:?}", row.filtering, row.fault));
            }
        }
        assert!(mistakes.is_empty(), "{}", mistakes.join("\n"));
    }

    /// Asserts that every vector is failed by a rig.
    pub(crate) fn check_vectors(&self) {
        let failed = self.rigs.iter().flat_map(|row| row.fails(&self.vectors));
        let caught: BTreeSet<String> = failed.collect();
        let names = self.vectors.iter().map(|vector| vector.name.as_str());
        let free: Vec<&str> = names.filter(|name| !caught.contains(*name)).collect();
        assert_eq!(free, [""; 0]);
    }

    /// Asserts that each choice is told as one.
    fn check_choices(&self) {
        for (fault, name) in self.choices {
            let mut vectors = self.vectors.iter();
            let vector = vectors.find(|vector| vector.name == *name);
            let vector = vector.expect("the vector");
            let judgement = (self.judged)(vector, Filtering::EndpointIndependent, Some(*fault));
            let told = (judgement.result, judgement.alternative.is_some());
            assert_eq!(told, (VectorResult::Allowed, true), "{fault:?} {name}");
        }
    }
}
