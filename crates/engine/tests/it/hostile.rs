//! The whole tester with devices that send more than they should: every count of its own frames stays exact, other frames are ignored and counted
//! (RFC 2544 section 10), and it answers no more than it must.

use crate::common::floods::*;
use crate::common::*;
use sixbench_engine::MeasureError;
use sixbench_engine::frames::profile::{Neighbours, TrafficProfile};
use sixbench_io::loopback::LoopbackDevice;
use sixbench_method::terms::{FrameRate, Share};
use sixbench_method::trial::{TrialResult, TrialSpec};
use sixbench_wire::MacAddress;
use sixbench_wire::arp::{Arp, Operation};
use sixbench_wire::ndp::NdpMessage;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A trial of half a second: the device works on the tester's time, and must not keep it from its schedule.
fn slow_trial(profile: TrafficProfile, device: LoopbackDevice) -> TrialResult {
    trial_of(
        profile,
        device,
        TrialSpec::constant(FrameRate(FRAMES * 2), 500_000_000),
    )
}

#[test]
fn icmp_errors_that_quote_test_frames_are_told_from_them() {
    let time_exceeded = |frame: &[u8]| to_all(IPV4, &ipv4_datagram(1, &quoting(11, 0, frame)));
    let too_big = |frame: &[u8]| to_all(IPV6, &ipv6_datagram(58, &quoting(2, 0, frame)));
    assert_exact(
        "time exceeded",
        &slow_trial(ipv4(), flooding(time_exceeded)),
        |d| d.icmp,
    );
    assert_exact(
        "packet too big",
        &slow_trial(ipv6_with_background(Share::ALL), flooding(too_big)),
        |d| d.icmp,
    );
}

#[test]
fn router_advertisements_and_redirects_are_ignored_and_counted() {
    for (name, kind) in [
        ("router advertisement", 134),
        ("redirect", 137),
        ("listener query", 130),
    ] {
        let device = flooding(move |_| {
            to_all(
                IPV6,
                &ipv6_datagram(58, &[kind, 0, 0, 0, 64, 0, 7, 8, 0, 0, 0, 0, 0, 0, 0, 0]),
            )
        });
        assert_exact(
            name,
            &slow_trial(ipv6_with_background(Share::ALL), device),
            |d| d.icmp,
        );
    }
}

#[test]
fn broadcasts_jumbo_and_tiny_frames_are_ignored_and_counted() {
    let broadcast = |_: &[u8]| {
        to_all(
            IPV4,
            &ipv4_datagram(17, &[0, 68, 0, 67, 0, 12, 0, 0, 1, 1, 6, 0]),
        )
    };
    assert_exact("broadcast", &slow_trial(ipv4(), flooding(broadcast)), |d| {
        d.foreign
    });
    for length in [0, 1, 13, 14, 15, 33, 9000] {
        let device = flooding(move |_| vec![0x45; length]);
        assert_exact(
            &format!("{length} octets"),
            &slow_trial(ipv4(), device),
            |d| d.foreign,
        );
    }
}

#[test]
fn vlan_tags_on_what_is_not_a_test_frame_are_ignored_and_counted() {
    let tagged = |_: &[u8]| {
        with_vlan_tag(&to_all(
            IPV4,
            &ipv4_datagram(17, &[0, 68, 0, 67, 0, 12, 0, 0, 1, 1, 6, 0]),
        ))
    };
    assert_exact("VLAN tag", &slow_trial(ipv4(), flooding(tagged)), |d| {
        d.foreign
    });
    let twice = move |frame: &[u8]| with_vlan_tag(&tagged(frame));
    assert_exact("two VLAN tags", &slow_trial(ipv4(), flooding(twice)), |d| {
        d.foreign
    });
}

#[test]
fn fragments_and_extension_headers_that_lie_about_their_length_are_ignored_and_counted() {
    let later_fragment = |frame: &[u8]| {
        to_all(
            IPV6,
            &ipv6_datagram(44, &[&[17, 0, 0, 9, 0, 0, 0, 1][..], &frame[54..]].concat()),
        )
    };
    assert_exact(
        "later fragment",
        &slow_trial(ipv6_with_background(Share::ALL), flooding(later_fragment)),
        |d| d.fragments,
    );
    // Hop-by-hop, routing and destination options headers, each with a length of 2,048 octets.
    for next_header in [0, 43, 60] {
        let device = flooding(move |_| {
            to_all(
                IPV6,
                &ipv6_datagram(next_header, &[next_header, 255, 0, 0, 0, 0, 0, 0]),
            )
        });
        assert_exact(
            &format!("header {next_header}"),
            &slow_trial(ipv6_with_background(Share::ALL), device),
            |d| d.foreign,
        );
    }
}

#[test]
fn frames_of_another_tester_with_the_same_magic_are_told_from_ours() {
    assert_exact(
        "IPv4",
        &slow_trial(ipv4(), flooding(of_another_tester)),
        |d| d.foreign,
    );
    assert_exact(
        "IPv6",
        &slow_trial(
            ipv6_with_background(Share::ALL),
            flooding(of_another_tester),
        ),
        |d| d.foreign,
    );
}

/// A device that answers for its address with each of these hardware addresses, and sends on as a router at the last of them.
fn answering(macs: &'static [MacAddress]) -> LoopbackDevice {
    Box::new(move |frame, from_left, out| match Arp::parse(frame) {
        Ok(asked) if asked.operation == Operation::Request => {
            out.extend(
                macs.iter()
                    .map(|mac| (!from_left, asked.reply(*mac).to_frame().to_vec())),
            );
        }
        Ok(_) => {}
        Err(_) => {
            let (next_hop, own) = (
                if from_left {
                    [2, 0, 0, 0, 0, 2]
                } else {
                    [2, 0, 0, 0, 0, 1]
                },
                macs[macs.len() - 1],
            );
            assert_eq!(frame[..6], own.0, "a test frame is for the device alone");
            out.push((from_left, [&next_hop[..], &own.0, &frame[12..]].concat()));
        }
    })
}

fn with_ipv4_neighbours() -> TrafficProfile {
    let neighbours = |tester: &str, dut: &str| {
        vec![Neighbours {
            tester: tester.parse().expect("address"),
            dut: dut.parse().expect("address"),
        }]
    };
    let (left, right) = (
        neighbours("198.18.0.2", "198.18.0.1"),
        neighbours("198.19.0.2", "198.19.0.1"),
    );
    TrafficProfile {
        left,
        right,
        ..ipv4()
    }
}

/// RFC 1812 section 3.3.2.
#[test]
fn a_device_that_answers_with_the_address_of_a_group_is_not_believed_and_the_error_says_so() {
    let spec = TrialSpec::constant(FrameRate(FRAMES * 2), 500_000_000);
    let error = try_trial(
        with_ipv4_neighbours(),
        answering(&[MacAddress::BROADCAST]),
        spec,
    )
    .expect_err("no address");
    assert!(
        matches!(
            error,
            MeasureError::NoStation {
                claimed: MacAddress::BROADCAST,
                ..
            }
        ),
        "{error}"
    );
    let told = error.to_string();
    assert!(
        told.contains("198.18.0.1 says that its hardware address is ff:ff:ff:ff:ff:ff, which no station can have"),
        "{told}"
    );
}

#[test]
fn an_answer_with_the_address_of_a_group_does_not_hide_the_right_one() {
    const BOTH: &[MacAddress] = &[
        MacAddress([0x33, 0x33, 0, 0, 0, 1]),
        MacAddress([2, 0, 0, 0, 0, 9]),
    ];
    let result = slow_trial(with_ipv4_neighbours(), answering(BOTH));
    for direction in &result.directions {
        assert_eq!(
            (direction.received, direction.mistranslated),
            (FRAMES, 0),
            "{direction:?}"
        );
    }
}

#[test]
fn questions_for_neighbours_take_no_frame_away_and_get_no_flood_of_answers() {
    let answers = Arc::new(AtomicU64::new(0));
    let result = slow_trial(with_ipv4_neighbours(), asking(answers.clone()));
    for direction in &result.directions {
        assert_eq!(
            (direction.received, direction.foreign, direction.icmp),
            (FRAMES, 0, 0),
            "{direction:?}"
        );
    }
    let (questions, answered) = (FLOOD as u64 * FRAMES, answers.load(Ordering::Relaxed));
    // An address is answered for at most once a millisecond: of the 10,000 requests, as often as a trial of half a second and its end allow.
    assert!(
        answered > 0 && answered < questions / 4,
        "{answered} answers"
    );
}

#[test]
fn a_neighbour_whose_answers_have_a_wrong_checksum_is_told_from_one_that_is_silent() {
    const DEVICE: MacAddress = MacAddress([2, 0, 0, 0, 0, 9]);
    let device: LoopbackDevice = Box::new(|frame, from_left, out| {
        if let Ok(NdpMessage::Solicitation(asked)) = NdpMessage::parse(frame) {
            let mut answer = asked.advertise(DEVICE).to_frame();
            answer[56] ^= 0xff;
            out.push((!from_left, answer));
        }
    });
    let address = |text: &str| text.parse().expect("address");
    let neighbours = vec![Neighbours {
        tester: address("2001:2::2"),
        dut: address("2001:2::1"),
    }];
    let profile = TrafficProfile {
        left: neighbours,
        ..ipv6_with_background(Share::ALL)
    };
    let error = try_trial(
        profile,
        device,
        TrialSpec::constant(FrameRate(1), 1_000_000_000),
    )
    .expect_err("refused");
    let words = error.to_string();
    assert!(
        words.contains("10 answers came and were refused: wrong ICMPv6 checksum"),
        "{words}"
    );
}
