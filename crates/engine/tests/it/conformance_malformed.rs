//! Malformed frames over ports in memory, through a translator that forwards datagrams with a payload of its own until a frame makes it stop.

use crate::conformance::{neighbour_answer, setting, translated};
use sixbench_conformance::frame::{Side, vector_number_in};
use sixbench_conformance::robustness::MalformedFrame;
use sixbench_engine::MeasureError;
use sixbench_engine::conformance::{BatchReport, VectorPort, VectorTester};
use sixbench_engine::frames::profile::Neighbours;
use sixbench_io::loopback::pair_with;
use sixbench_wire::ethernet::HEADER_LEN;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The number in the payload of control frames.
const CONTROL: u16 = u16::MAX;
/// A frame that no translator forwards, and one that makes this one stop.
const ODD: [u8; 3] = [0x60, 1, 2];
const DEADLY: [u8; 1] = [0xff];

/// Returns a tester on a device, IPv6 on its left, which loses the first `lost` control frames behind each malformed frame.
fn tester(lost: u32) -> VectorTester {
    let (mut is_dead, mut to_lose) = (false, 0);
    let (left, right) = pair_with(Box::new(move |frame, from_left, out| {
        if let Some(answer) = neighbour_answer(frame) {
            out.push((!from_left, answer));
            return;
        }
        let datagram = &frame[HEADER_LEN..];
        if vector_number_in(datagram) != Some(CONTROL) {
            is_dead |= datagram == DEADLY;
            to_lose = lost;
            out.extend((!is_dead).then(|| (!from_left, error_about(frame))));
        } else if to_lose > 0 {
            to_lose -= 1;
        } else if !is_dead {
            out.push((from_left, translated(datagram, CONTROL, from_left)));
        }
    }));
    let port = |side, port, tester: &str, dut: &str| VectorPort {
        side,
        port,
        neighbours: vec![Neighbours {
            tester: tester.parse().expect("an address"),
            dut: dut.parse().expect("an address"),
        }],
    };
    let ports = [
        port(Side::Ipv6, left, "2001:2::2", "2001:2::1"),
        port(Side::Ipv4, right, "198.19.0.2", "198.19.0.1"),
    ];
    let mut tester = VectorTester::new(ports, setting(), Arc::new(AtomicBool::new(false)));
    tester.find_device().expect("a device that forwards");
    tester
}

/// Returns a frame back to the one that sent a frame, without a payload by which it would be known.
fn error_about(frame: &[u8]) -> Vec<u8> {
    let mut answer = [&frame[6..12], &frame[..6], &frame[12..HEADER_LEN]].concat();
    answer.extend([0x60, 0, 0, 0, 0, 0, 59, 64]);
    answer.extend([0x20; 32]);
    answer
}

fn malformed(side: Side, octets: &[u8]) -> MalformedFrame {
    MalformedFrame {
        index: 0,
        side,
        vector: "64-udp".to_owned(),
        mistakes: Vec::new(),
        octets: octets.to_vec(),
    }
}

fn sent(tester: &mut VectorTester, frames: &[MalformedFrame]) -> BatchReport {
    let report: Result<BatchReport, MeasureError> = tester.send_malformed(frames);
    report.expect("a report")
}

#[test]
fn a_batch_is_sent_in_its_order_and_what_comes_is_counted() {
    let mut tester = tester(0);
    let frames = [
        malformed(Side::Ipv6, &ODD),
        malformed(Side::Ipv4, &[0x45]),
        malformed(Side::Ipv6, &[0x61]),
    ];
    let report = sent(&mut tester, &frames);
    let octets: Vec<&[u8]> = report
        .sent
        .iter()
        .map(|frame| &frame.octets[HEADER_LEN..])
        .collect();
    assert_eq!(octets, [&ODD[..], &[0x45], &[0x61]]);
    assert_eq!((report.came, report.silent), (3, Vec::new()));
}

#[test]
fn a_few_lost_control_frames_are_no_silence() {
    let mut tester = tester(2);
    let report = sent(&mut tester, &[malformed(Side::Ipv6, &ODD)]);
    assert_eq!(report.silent, []);
}

#[test]
fn a_device_that_forwards_no_more_is_silent_on_every_side_from_which_control_frames_passed() {
    let mut tester = tester(0);
    assert_eq!(sent(&mut tester, &[]).silent, []);
    let report = sent(&mut tester, &[malformed(Side::Ipv4, &DEADLY)]);
    assert_eq!(report.silent, [Side::Ipv4, Side::Ipv6]);
    assert_eq!(report.came, 0);
}
