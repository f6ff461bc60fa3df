//! The whole tester with devices that send more than they should: every count of its own frames stays exact, other frames are ignored and counted
//! (RFC 2544 section 10), and it answers no more than it must.

mod common;

use common::*;
use sixbench_engine::profile::{Neighbours, TrafficProfile};
use sixbench_io::loopback::LoopbackDevice;
use sixbench_method::terms::{FrameRate, LossRatio, Share};
use sixbench_method::trial::{DirectionResult, TrialResult, TrialSpec, Verdict};
use sixbench_wire::MacAddress;
use sixbench_wire::arp::{Arp, Operation};
use sixbench_wire::ndp::Solicitation;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The number of hostile frames of one kind before each test frame.
const FLOOD: usize = 10;

const ETHERNET: usize = 14;
const IPV4: [u8; 2] = [0x08, 0x00];
const IPV6: [u8; 2] = [0x86, 0xdd];

/// Returns a device without faults, except that it sends `FLOOD` results of `hostile` before each frame.
fn flooding(hostile: impl Fn(&[u8]) -> Vec<u8> + Send + 'static) -> LoopbackDevice {
    each(move |_, frame| std::iter::repeat_n(hostile(&frame), FLOOD).chain([frame]).collect())
}

/// Returns a trial of half a second: the device uses the tester's time, and must not make it miss its schedule.
fn slow_trial(profile: TrafficProfile, device: LoopbackDevice) -> TrialResult {
    trial_of(profile, device, TrialSpec::constant(FrameRate(FRAMES * 2), 500_000_000))
}

/// Returns a broadcast Ethernet frame from the device, with this type and payload.
fn to_all(ether_type: [u8; 2], payload: &[u8]) -> Vec<u8> {
    [&[0xff; 6][..], &[2, 0, 0, 0, 0, 9], &ether_type, payload].concat()
}

/// Returns a datagram from the device, with a valid header checksum, that carries `payload` as `protocol`.
fn ipv4_datagram(protocol: u8, payload: &[u8]) -> Vec<u8> {
    let length = (20 + payload.len()) as u16;
    let mut header = [0x45, 0, 0, 0, 0, 0, 0, 0, 64, protocol, 0, 0, 198, 18, 0, 1, 198, 18, 0, 2];
    header[2..4].copy_from_slice(&length.to_be_bytes());
    let sum: u32 = header.chunks(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]]))).sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    header[10..12].copy_from_slice(&(!(folded as u16)).to_be_bytes());
    [&header[..], payload].concat()
}

/// Returns a datagram from the device's link-local address to all nodes.
fn ipv6_datagram(next_header: u8, payload: &[u8]) -> Vec<u8> {
    let mut header = [0; 40];
    header[0] = 0x60;
    header[4..6].copy_from_slice(&(payload.len() as u16).to_be_bytes());
    (header[6], header[7]) = (next_header, 255);
    (header[8], header[9], header[23]) = (0xfe, 0x80, 1);
    (header[24], header[25], header[39]) = (0xff, 0x02, 1);
    [&header[..], payload].concat()
}

/// Returns an ICMP or ICMPv6 message of this type that quotes the datagram of `frame`, as errors do.
fn quoting(kind: u8, code: u8, frame: &[u8]) -> Vec<u8> {
    [&[kind, code, 0, 0, 0, 0, 0, 0][..], &frame[ETHERNET..]].concat()
}

fn with_vlan_tag(frame: &[u8]) -> Vec<u8> {
    [&frame[..12], &[0x81, 0, 0, 7], &frame[12..]].concat()
}

/// Returns the frame with the tag of another trial, which is in the stream without its two lowest bits.
fn of_another_tester(frame: &[u8]) -> Vec<u8> {
    let tag = frame.windows(4).position(|four| four == b"6bch").expect("a tag");
    let mut other = frame.to_vec();
    other[tag + 4] ^= 0b100;
    other
}

/// Checks that the counts of both directions are those for a device that sends no frames of its own.
fn assert_exact(name: &str, result: &TrialResult, of_flood: impl Fn(&DirectionResult) -> u64) {
    for direction in &result.directions {
        let wrong =
            [direction.mistranslated, direction.corrupt, direction.duplicate, direction.reordered, direction.misdirected];
        assert_eq!((direction.received, wrong), (FRAMES, [0; 5]), "{name}: {direction:?}");
        assert_eq!(of_flood(direction), FLOOD as u64 * FRAMES, "{name}: {direction:?}");
    }
    // The machine of the test may have kept the tester from its schedule.
    let on_time = TrialResult { faults: vec![], ..result.clone() };
    assert_eq!(on_time.verdict(LossRatio::ZERO), Verdict::Passed, "{name}");
}

#[test]
fn icmp_errors_that_quote_test_frames_are_told_from_them() {
    let time_exceeded = |frame: &[u8]| to_all(IPV4, &ipv4_datagram(1, &quoting(11, 0, frame)));
    let too_big = |frame: &[u8]| to_all(IPV6, &ipv6_datagram(58, &quoting(2, 0, frame)));
    assert_exact("time exceeded", &slow_trial(ipv4(), flooding(time_exceeded)), |d| d.icmp);
    assert_exact("packet too big", &slow_trial(ipv6_with_background(Share::ALL), flooding(too_big)), |d| d.icmp);
}

#[test]
fn router_advertisements_and_redirects_are_ignored_and_counted() {
    for (name, kind) in [("router advertisement", 134), ("redirect", 137), ("listener query", 130)] {
        let device = flooding(move |_| to_all(IPV6, &ipv6_datagram(58, &[kind, 0, 0, 0, 64, 0, 7, 8, 0, 0, 0, 0, 0, 0, 0, 0])));
        assert_exact(name, &slow_trial(ipv6_with_background(Share::ALL), device), |d| d.icmp);
    }
}

#[test]
fn broadcasts_jumbo_and_tiny_frames_are_ignored_and_counted() {
    let broadcast = |_: &[u8]| to_all(IPV4, &ipv4_datagram(17, &[0, 68, 0, 67, 0, 12, 0, 0, 1, 1, 6, 0]));
    assert_exact("broadcast", &slow_trial(ipv4(), flooding(broadcast)), |d| d.foreign);
    for length in [0, 1, 13, 14, 15, 33, 9000] {
        let device = flooding(move |_| vec![0x45; length]);
        assert_exact(&format!("{length} octets"), &slow_trial(ipv4(), device), |d| d.foreign);
    }
}

#[test]
fn vlan_tags_on_what_is_not_a_test_frame_are_ignored_and_counted() {
    let tagged = |_: &[u8]| with_vlan_tag(&to_all(IPV4, &ipv4_datagram(17, &[0, 68, 0, 67, 0, 12, 0, 0, 1, 1, 6, 0])));
    assert_exact("VLAN tag", &slow_trial(ipv4(), flooding(tagged)), |d| d.foreign);
    let twice = move |frame: &[u8]| with_vlan_tag(&tagged(frame));
    assert_exact("two VLAN tags", &slow_trial(ipv4(), flooding(twice)), |d| d.foreign);
}

#[test]
fn fragments_and_extension_headers_that_lie_about_their_length_are_ignored_and_counted() {
    let later_fragment =
        |frame: &[u8]| to_all(IPV6, &ipv6_datagram(44, &[&[17, 0, 0, 9, 0, 0, 0, 1][..], &frame[54..]].concat()));
    assert_exact("later fragment", &slow_trial(ipv6_with_background(Share::ALL), flooding(later_fragment)), |d| d.fragments);
    // Hop-by-hop, routing and destination options headers, each with a length of 2,048 octets.
    for next_header in [0, 43, 60] {
        let device = flooding(move |_| to_all(IPV6, &ipv6_datagram(next_header, &[next_header, 255, 0, 0, 0, 0, 0, 0])));
        assert_exact(&format!("header {next_header}"), &slow_trial(ipv6_with_background(Share::ALL), device), |d| d.foreign);
    }
}

#[test]
fn frames_of_another_tester_with_the_same_magic_are_told_from_ours() {
    assert_exact("IPv4", &slow_trial(ipv4(), flooding(of_another_tester)), |d| d.foreign);
    assert_exact("IPv6", &slow_trial(ipv6_with_background(Share::ALL), flooding(of_another_tester)), |d| d.foreign);
}

/// Returns a device that answers for its addresses, and floods with requests for ours; `answers` counts our answers.
fn asking(answers: Arc<AtomicU64>) -> LoopbackDevice {
    const DEVICE: MacAddress = MacAddress([2, 0, 0, 0, 0, 9]);
    let ours = "198.18.0.2".parse().expect("address");
    let (own, theirs) = ("2001:2::1".parse().expect("address"), "2001:2::2".parse().expect("address"));
    let arp = Arp::request(DEVICE, "198.18.0.1".parse().expect("address"), ours).to_frame().to_vec();
    let solicitation = Solicitation::multicast(DEVICE, own, theirs).to_frame();
    Box::new(move |frame, from_left, out| {
        if let Ok(asked) = Arp::parse(frame) {
            match asked.operation {
                Operation::Request => out.push((!from_left, asked.reply(DEVICE).to_frame().to_vec())),
                _ => drop(answers.fetch_add(1, Ordering::Relaxed)),
            }
            return;
        }
        out.extend((0..FLOOD).map(|_| (!from_left, arp.clone())));
        out.extend((0..FLOOD).map(|_| (!from_left, solicitation.clone())));
        // As a router, it forwards from its own address to that of the next hop, here the other end of the tester.
        let next_hop = MacAddress([2, 0, 0, 0, 0, if from_left { 2 } else { 1 }]);
        out.push((from_left, [&next_hop.0[..], &DEVICE.0, &frame[12..]].concat()));
    })
}

#[test]
fn questions_for_neighbours_take_no_frame_away_and_get_no_flood_of_answers() {
    let answers = Arc::new(AtomicU64::new(0));
    let neighbours = |tester: &str, dut: &str| {
        vec![Neighbours { tester: tester.parse().expect("address"), dut: dut.parse().expect("address") }]
    };
    let profile = TrafficProfile {
        left: neighbours("198.18.0.2", "198.18.0.1"),
        right: neighbours("198.19.0.2", "198.19.0.1"),
        ..ipv4()
    };
    let result = slow_trial(profile, asking(answers.clone()));
    for direction in &result.directions {
        assert_eq!((direction.received, direction.foreign, direction.icmp), (FRAMES, 0, 0), "{direction:?}");
    }
    let (questions, answered) = (FLOOD as u64 * FRAMES, answers.load(Ordering::Relaxed));
    // An address is answered for at most once a millisecond: of the 10,000 requests, as often as a trial of half a second and its end allow.
    assert!(answered > 0 && answered < questions / 4, "{answered} answers");
}
