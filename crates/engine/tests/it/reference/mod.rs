//! Reference devices in memory, written from the RFCs without any code of `wire::rules` or `wire::template`. They drop what their RFC requires
//! them to drop, parse every frame they get, and can be rigged: then they record the complaint that the tester should make.

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

/// The output of a device for a datagram; `None` if it drops it.
pub(crate) trait Reference: Send + 'static {
    /// Returns the datagram for one that goes from left to right.
    fn forward(&mut self, datagram: Datagram) -> Option<Datagram>;
    /// Returns the datagram for one that goes from right to left.
    fn reverse(&mut self, datagram: Datagram) -> Option<Datagram>;
}

/// A record of a device's actions.
#[derive(Debug, Default)]
pub(crate) struct Log {
    /// Outermost sources of the frames from the left.
    pub(crate) sources: BTreeSet<IpAddr>,
    /// The number of frames dropped.
    pub(crate) dropped: u64,
    /// For every frame that was made wrong, the complaint expected from the tester.
    pub(crate) complaints: Vec<String>,
}

/// A device's log, read while it runs.
pub(crate) type Shared = Arc<Mutex<Log>>;

/// A wrong datagram instead of the right one, as octets, and the complaint with the field and the expected and actual values.
pub(crate) struct Mistake {
    /// The datagrams that are sent instead.
    pub(crate) instead: Vec<Vec<u8>>,
    /// The complaint expected from the tester.
    pub(crate) complaint: String,
}

impl Mistake {
    /// Returns one wrong datagram, with the expected and actual values of `field`.
    pub(crate) fn new(
        instead: &Datagram,
        field: &str,
        expected: impl ToString,
        got: impl ToString,
    ) -> Self {
        let complaint = format!(
            "{field}: expected {}, got {}",
            expected.to_string(),
            got.to_string()
        );
        Self {
            instead: vec![instead.octets()],
            complaint,
        }
    }
}

/// Takes the number of a right datagram among those of its direction, and the datagram; returns the mistake to send instead, if any.
pub(crate) type Rig = Box<dyn FnMut(u64, &Datagram) -> Option<Mistake> + Send>;

/// Makes every hundredth frame wrong, from number 50 on.
pub(crate) fn every_hundredth(mut wrong: impl FnMut(&Datagram) -> Mistake + Send + 'static) -> Rig {
    Box::new(move |number, right| (number % 100 == 50).then(|| wrong(right)))
}

/// Returns a device that works like its reference.
pub(crate) fn device(reference: impl Reference) -> (LoopbackDevice, Shared) {
    rigged(reference, Direction::Forward, Box::new(|_, _| None))
}

/// Returns a device that works like its reference, but makes the mistakes of `rig` in one direction.
pub(crate) fn rigged(
    mut reference: impl Reference,
    direction: Direction,
    mut rig: Rig,
) -> (LoopbackDevice, Shared) {
    let log = Shared::default();
    let kept = log.clone();
    let mut numbers = [0, 0];
    let device = move |frame: &[u8], from_left: bool, out: &mut Vec<(bool, Vec<u8>)>| {
        let mut log = log.lock().expect("a log");
        let way = if from_left {
            Direction::Forward
        } else {
            Direction::Reverse
        };
        let number: u64 = numbers[way as usize];
        numbers[way as usize] += 1;
        let datagram = Datagram::of_frame(frame);
        if from_left {
            log.sources.insert(datagram.source);
        }
        let right = if from_left {
            reference.forward(datagram)
        } else {
            reference.reverse(datagram)
        };
        let Some(right) = right else {
            log.dropped += 1;
            return;
        };
        let instead = if way == direction {
            rig(number, &right)
        } else {
            None
        };
        let leaving = instead.map_or_else(
            || vec![right.octets()],
            |mistake| {
                log.complaints
                    .push(format!("{way} frame {number}: {}", mistake.complaint));
                mistake.instead
            },
        );
        for octets in leaving {
            let ether_type = if octets[0] >> 4 == 4 {
                0x0800u16
            } else {
                0x86dd
            };
            out.push((
                from_left,
                [&frame[..12], &ether_type.to_be_bytes()[..], &octets].concat(),
            ));
        }
    };
    (Box::new(device), kept)
}

/// Checks that every frame of both directions was offered and received, and that the device dropped none.
pub(crate) fn all_received(result: &TrialResult, log: &Shared) {
    let counts: Vec<_> = result
        .directions
        .iter()
        .map(|d| (d.direction, d.offered, d.received, d.mistranslated))
        .collect();
    assert_eq!(
        counts,
        [
            (Direction::Forward, FRAMES, FRAMES, 0),
            (Direction::Reverse, FRAMES, FRAMES, 0)
        ],
        "{result:?}"
    );
    assert_eq!(log.lock().expect("a log").dropped, 0);
}

/// Checks that exactly ten frames of this direction are reported as wrong, with the expected complaints, and none of the other.
pub(crate) fn ten_caught(result: &TrialResult, log: &Shared, direction: Direction) {
    let complaints = &log.lock().expect("a log").complaints;
    assert_eq!(complaints.len(), 10);
    let [caught, other] =
        [direction as usize, 1 - direction as usize].map(|at| &result.directions[at]);
    assert_eq!(
        (caught.received, caught.mistranslated),
        (FRAMES - 10, 10),
        "{caught:?}"
    );
    assert_eq!(caught.examples[..], complaints[..5]);
    assert_eq!(
        (other.received, other.mistranslated),
        (FRAMES, 0),
        "{other:?}"
    );
}
