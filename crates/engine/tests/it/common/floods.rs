//! What hostile devices send beside the test frames, and what a tester must count of it.

use super::each;
use sixbench_io::loopback::LoopbackDevice;
use sixbench_method::terms::LossRatio;
use sixbench_method::trial::{DirectionResult, TrialResult, Verdict};
use sixbench_wire::MacAddress;
use sixbench_wire::arp::{Arp, Operation};
use sixbench_wire::ndp::Solicitation;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Hostile frames of one kind that precede each test frame.
pub(crate) const FLOOD: usize = 10;

const ETHERNET: usize = 14;
pub(crate) const IPV4: [u8; 2] = [0x08, 0x00];
pub(crate) const IPV6: [u8; 2] = [0x86, 0xdd];

/// A device that is right, and sends `FLOOD` of what `hostile` makes of a frame before each.
pub(crate) fn flooding(hostile: impl Fn(&[u8]) -> Vec<u8> + Send + 'static) -> LoopbackDevice {
    each(move |_, frame| {
        std::iter::repeat_n(hostile(&frame), FLOOD)
            .chain([frame])
            .collect()
    })
}

/// An Ethernet frame from the device to all, with this type and payload.
pub(crate) fn to_all(ether_type: [u8; 2], payload: &[u8]) -> Vec<u8> {
    [&[0xff; 6][..], &[2, 0, 0, 0, 0, 9], &ether_type, payload].concat()
}

/// A datagram from the device, with a valid header checksum, that carries `payload` as `protocol`.
pub(crate) fn ipv4_datagram(protocol: u8, payload: &[u8]) -> Vec<u8> {
    let length = (20 + payload.len()) as u16;
    let mut header = [
        0x45, 0, 0, 0, 0, 0, 0, 0, 64, protocol, 0, 0, 198, 18, 0, 1, 198, 18, 0, 2,
    ];
    header[2..4].copy_from_slice(&length.to_be_bytes());
    let sum: u32 = header
        .chunks(2)
        .map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]])))
        .sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    header[10..12].copy_from_slice(&(!(folded as u16)).to_be_bytes());
    [&header[..], payload].concat()
}

/// A datagram from the device's link-local address to all nodes.
pub(crate) fn ipv6_datagram(next_header: u8, payload: &[u8]) -> Vec<u8> {
    let mut header = [0; 40];
    header[0] = 0x60;
    header[4..6].copy_from_slice(&(payload.len() as u16).to_be_bytes());
    (header[6], header[7]) = (next_header, 255);
    (header[8], header[9], header[23]) = (0xfe, 0x80, 1);
    (header[24], header[25], header[39]) = (0xff, 0x02, 1);
    [&header[..], payload].concat()
}

/// An ICMP or ICMPv6 message of this type that quotes the datagram of `frame`, as errors do.
pub(crate) fn quoting(kind: u8, code: u8, frame: &[u8]) -> Vec<u8> {
    [&[kind, code, 0, 0, 0, 0, 0, 0][..], &frame[ETHERNET..]].concat()
}

pub(crate) fn with_vlan_tag(frame: &[u8]) -> Vec<u8> {
    [&frame[..12], &[0x81, 0, 0, 7], &frame[12..]].concat()
}

/// Returns the same frame, whose tag is that of another trial: the stream without its two lowest bits names it.
pub(crate) fn of_another_tester(frame: &[u8]) -> Vec<u8> {
    let tag = frame
        .windows(4)
        .position(|four| four == b"6bch")
        .expect("a tag");
    let mut other = frame.to_vec();
    other[tag + 4] ^= 0b100;
    other
}

/// A device that answers for its addresses, and floods with questions for ours; `answers` counts what we say.
pub(crate) fn asking(answers: Arc<AtomicU64>) -> LoopbackDevice {
    const DEVICE: MacAddress = MacAddress([2, 0, 0, 0, 0, 9]);
    let ours = "198.18.0.2".parse().expect("address");
    let (own, theirs) = (
        "2001:2::1".parse().expect("address"),
        "2001:2::2".parse().expect("address"),
    );
    let arp = Arp::request(DEVICE, "198.18.0.1".parse().expect("address"), ours)
        .to_frame()
        .to_vec();
    let solicitation = Solicitation::multicast(DEVICE, own, theirs).to_frame();
    Box::new(move |frame, from_left, out| {
        if let Ok(asked) = Arp::parse(frame) {
            match asked.operation {
                Operation::Request => {
                    out.push((!from_left, asked.reply(DEVICE).to_frame().to_vec()));
                }
                Operation::Reply => drop(answers.fetch_add(1, Ordering::Relaxed)),
            }
            return;
        }
        out.extend((0..FLOOD).map(|_| (!from_left, arp.clone())));
        out.extend((0..FLOOD).map(|_| (!from_left, solicitation.clone())));
        // As a router, it sends on from its own address to that of the next hop, here the other end of the tester.
        let next_hop = MacAddress([2, 0, 0, 0, 0, if from_left { 2 } else { 1 }]);
        out.push((
            from_left,
            [&next_hop.0[..], &DEVICE.0, &frame[12..]].concat(),
        ));
    })
}

/// Counts of both directions must be those of a device that sends nothing of its own.
pub(crate) fn assert_exact(
    name: &str,
    result: &TrialResult,
    of_flood: impl Fn(&DirectionResult) -> u64,
) {
    for direction in &result.directions {
        let wrong = [
            direction.mistranslated,
            direction.corrupt,
            direction.duplicate,
            direction.reordered,
            direction.misdirected,
        ];
        assert_eq!(
            (direction.received, wrong),
            (direction.intended, [0; 5]),
            "{name}: {direction:?}"
        );
        assert_eq!(
            of_flood(direction),
            FLOOD as u64 * direction.intended,
            "{name}: {direction:?}"
        );
    }
    // The machine of the test may have kept the tester from its schedule.
    let on_time = TrialResult {
        faults: vec![],
        ..result.clone()
    };
    assert_eq!(on_time.verdict(LossRatio::ZERO), Verdict::Passed, "{name}");
}
