//! Reference devices in memory, written from the RFCs: no line of `wire::rules` or `wire::template` is used by them. They drop what their
//! RFC says is to be dropped, take apart every frame they get, and can be rigged: then they write down the complaint that is due.
#![allow(dead_code, reason = "each test file uses its own part")]

pub(crate) mod clat;
pub(crate) mod datagram;
pub(crate) mod map;
pub(crate) mod profiles;
pub(crate) mod six_in_four;
pub(crate) mod softwires;

use crate::common::FRAMES;
use datagram::Datagram;
use sixbench_io::loopback::LoopbackDevice;
use sixbench_method::terms::Direction;
use sixbench_method::trial::TrialResult;
use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};

/// What a device makes of a datagram. `None`: it drops it.
pub(crate) trait Reference: Send + 'static {
    /// From left to right.
    fn forward(&mut self, datagram: Datagram) -> Option<Datagram>;
    /// From right to left.
    fn reverse(&mut self, datagram: Datagram) -> Option<Datagram>;
}

/// What a device did.
#[derive(Debug, Default)]
pub(crate) struct Log {
    /// Outermost sources of the frames from the left.
    pub(crate) sources: BTreeSet<IpAddr>,
    /// Frames dropped.
    pub(crate) dropped: u64,
    /// For every frame that was made wrong, what the tester must say of it.
    pub(crate) complaints: Vec<String>,
}

/// A device's log, read while it runs.
pub(crate) type Shared = Arc<Mutex<Log>>;

/// A wrong datagram in place of the right one, as octets, and the field with the words for what is expected and got.
pub(crate) struct Mistake {
    /// Datagrams that leave.
    pub(crate) instead: Vec<Vec<u8>>,
    /// What the tester is to say of them.
    pub(crate) complaint: String,
}

impl Mistake {
    /// One wrong datagram, with what `field` should be and is.
    pub(crate) fn new(instead: &Datagram, field: &str, expected: impl ToString, got: impl ToString) -> Self {
        let complaint = format!("{field}: expected {}, got {}", expected.to_string(), got.to_string());
        Self { instead: vec![instead.octets()], complaint }
    }
}

/// Gets the number of a right datagram among those of its direction, and the datagram; says what is sent instead, if anything.
pub(crate) type Rig = Box<dyn FnMut(u64, &Datagram) -> Option<Mistake> + Send>;

/// Makes every hundredth frame wrong, from number 50 on.
pub(crate) fn every_hundredth(mut wrong: impl FnMut(&Datagram) -> Mistake + Send + 'static) -> Rig {
    Box::new(move |number, right| (number % 100 == 50).then(|| wrong(right)))
}

/// The device that does what its reference does.
pub(crate) fn device(reference: impl Reference) -> (LoopbackDevice, Shared) {
    rigged(reference, Direction::Forward, Box::new(|_, _| None))
}

/// The same, but wrong in one direction where `rig` says so.
pub(crate) fn rigged(mut reference: impl Reference, direction: Direction, mut rig: Rig) -> (LoopbackDevice, Shared) {
    let log = Shared::default();
    let kept = log.clone();
    let mut numbers = [0, 0];
    let device = move |frame: &[u8], from_left: bool, out: &mut Vec<(bool, Vec<u8>)>| {
        let mut log = log.lock().expect("a log");
        let way = if from_left { Direction::Forward } else { Direction::Reverse };
        let number: u64 = numbers[way as usize];
        numbers[way as usize] += 1;
        let datagram = Datagram::of_frame(frame);
        if from_left {
            log.sources.insert(datagram.source);
        }
        let right = if from_left { reference.forward(datagram) } else { reference.reverse(datagram) };
        let Some(right) = right else {
            log.dropped += 1;
            return;
        };
        let instead = if way == direction { rig(number, &right) } else { None };
        let leaving = instead.map_or_else(
            || vec![right.octets()],
            |mistake| {
                log.complaints.push(format!("{way} frame {number}: {}", mistake.complaint));
                mistake.instead
            },
        );
        for octets in leaving {
            let ether_type = if octets[0] >> 4 == 4 { 0x0800u16 } else { 0x86dd };
            out.push((from_left, [&frame[..12], &ether_type.to_be_bytes()[..], &octets].concat()));
        }
    };
    (Box::new(device), kept)
}

/// Every frame of both directions was offered and received, and the device dropped none.
pub(crate) fn all_received(result: &TrialResult, log: &Shared) {
    let counts: Vec<_> = result.directions.iter().map(|d| (d.direction, d.offered, d.received, d.mistranslated)).collect();
    assert_eq!(counts, [(Direction::Forward, FRAMES, FRAMES, 0), (Direction::Reverse, FRAMES, FRAMES, 0)], "{result:?}");
    assert_eq!(log.lock().expect("a log").dropped, 0);
}

/// Exactly ten frames of this direction are told to be wrong, in the words that are due; the other direction is whole.
pub(crate) fn ten_caught(result: &TrialResult, log: &Shared, direction: Direction) {
    let complaints = &log.lock().expect("a log").complaints;
    assert_eq!(complaints.len(), 10);
    let [caught, other] = [direction as usize, 1 - direction as usize].map(|at| &result.directions[at]);
    assert_eq!((caught.received, caught.mistranslated), (FRAMES - 10, 10), "{caught:?}");
    assert_eq!(caught.examples[..], complaints[..5]);
    assert_eq!((other.received, other.mistranslated), (FRAMES, 0), "{other:?}");
}
