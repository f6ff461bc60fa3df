//! The whole tester against hostile devices at links of the kernel, by every backend for them: what the kernel takes from frames, adds to them or
//! answers by itself changes no count. The devices are those of `hostile.rs`. Needs root; without it these tests fail, they do not skip.

use crate::common::by_number::tag;
use crate::common::floods::*;
use crate::common::veth::{MTU, Row, ip};
use crate::common::*;
use sixbench_engine::frames::profile::{Neighbours, TrafficProfile};
use sixbench_io::loopback::LoopbackDevice;
use sixbench_method::terms::{FrameRate, Share};
use sixbench_method::trial::{DirectionResult, TrialResult, TrialSpec};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// A device takes a core, and so does each trial: one test at a time has them.
static ONE_TEST_AT_A_TIME: Mutex<()> = Mutex::new(());

const BACKENDS: [&str; 2] = ["packet", "xdp"];

/// So few frames that all of a trial, and the flood with them, fit into a receive ring: no count depends on the speed of this machine.
fn spec() -> TrialSpec {
    TrialSpec::constant(FrameRate(400), 500_000_000)
}

/// Trials made at most until one is not cut short by other work on this machine.
const TRIES: usize = 5;

/// Makes of a test frame what is sent before it.
type Hostile = dyn Fn(&[u8]) -> Vec<u8> + Send + Sync;

/// One kind of flood.
struct Flood {
    name: String,
    profile: TrafficProfile,
    hostile: Arc<Hostile>,
    /// The count in which it must be found.
    counted: fn(&DirectionResult) -> u64,
}

fn flood(
    name: impl Into<String>,
    profile: TrafficProfile,
    hostile: impl Fn(&[u8]) -> Vec<u8> + Send + Sync + 'static,
    counted: fn(&DirectionResult) -> u64,
) -> Flood {
    Flood {
        name: name.into(),
        profile,
        hostile: Arc::new(hostile),
        counted,
    }
}

/// Trials of this profile over this row, until the tester has sent all frames.
fn trial_over(row: &Row, backend: &str, profile: &TrafficProfile) -> TrialResult {
    let mut trials =
        (0..TRIES).map(|_| patient_trial_between(row.open(backend), profile.clone(), spec()));
    let is_whole = |result: &TrialResult| {
        result
            .directions
            .iter()
            .all(|direction| direction.offered == direction.intended)
    };
    trials
        .find(is_whole)
        .expect("a trial in which all frames were sent")
}

/// Counts what the tester sends beside its test frames.
fn noting_others(mut device: LoopbackDevice, others: Arc<AtomicU64>) -> LoopbackDevice {
    Box::new(move |frame, from_left, out| {
        others.fetch_add(u64::from(tag(frame).is_none()), Ordering::Relaxed);
        device(frame, from_left, out);
    })
}

/// Returns what the kernel knows of addresses, routes and neighbours in a namespace; `of` is an option of `ip` that names it, or empty for that of this process, whose
/// neighbours come and go by themselves.
fn kernel_state(of: &str) -> String {
    let lasting = [
        "-br address",
        "-4 rule",
        "-4 route show table all",
        "-6 route show table main",
    ]
    .map(|what| ip(&format!("{of} {what}")));
    let neighbours = if of.is_empty() {
        String::new()
    } else {
        ip(&format!("{of} neighbour"))
    };
    lasting.concat() + &neighbours
}

/// Each flood over each backend: all counts are exact, the tester answers nothing, and no kernel has changed its mind on anything.
fn assert_withstood(name: &str, floods: Vec<Flood>) {
    let _guard = ONE_TEST_AT_A_TIME.lock();
    for backend in BACKENDS {
        let row = Row::new(&format!("{name}-{backend}"));
        let places = [
            format!("-n {}", row.left),
            format!("-n {}", row.right),
            String::new(),
        ];
        let before = places.each_ref().map(|place| kernel_state(place));
        for Flood {
            name,
            profile,
            hostile,
            counted,
        } in &floods
        {
            let (others, hostile) = (Arc::new(AtomicU64::new(0)), hostile.clone());
            let device = row.attach(noting_others(
                flooding(move |frame| hostile(frame)),
                others.clone(),
            ));
            let result = trial_over(&row, backend, profile);
            drop(device);
            assert_exact(&format!("{name} by {backend}"), &result, counted);
            assert_eq!(
                others.load(Ordering::Relaxed),
                0,
                "{name} by {backend}: nothing is answered"
            );
        }
        assert_eq!(
            places.each_ref().map(|place| kernel_state(place)),
            before,
            "{backend}"
        );
    }
}

#[test]
fn icmp_errors_router_advertisements_and_redirects_are_ignored_and_counted() {
    let ipv6 = || ipv6_with_background(Share::ALL);
    let message = |kind| {
        move |_: &[u8]| {
            to_all(
                IPV6,
                &ipv6_datagram(58, &[kind, 0, 0, 0, 64, 0, 7, 8, 0, 0, 0, 0, 0, 0, 0, 0]),
            )
        }
    };
    let time_exceeded = |frame: &[u8]| to_all(IPV4, &ipv4_datagram(1, &quoting(11, 0, frame)));
    let too_big = |frame: &[u8]| to_all(IPV6, &ipv6_datagram(58, &quoting(2, 0, frame)));
    let floods = vec![
        flood("time exceeded", ipv4(), time_exceeded, |d| d.icmp),
        flood("packet too big", ipv6(), too_big, |d| d.icmp),
        flood("router advertisement", ipv6(), message(134), |d| d.icmp),
        flood("redirect", ipv6(), message(137), |d| d.icmp),
    ];
    assert_withstood("icmp", floods);
}

/// A datagram of DHCP, which is to all.
fn broadcast(_: &[u8]) -> Vec<u8> {
    to_all(
        IPV4,
        &ipv4_datagram(17, &[0, 68, 0, 67, 0, 12, 0, 0, 1, 1, 6, 0]),
    )
}

#[test]
fn broadcasts_and_frames_of_any_length_that_a_link_carries_are_ignored_and_counted() {
    // The kernel sends nothing shorter than an Ethernet header, and nothing longer than the MTU behind it.
    let lengths = [14, 15, 33, 1518, MTU + 14];
    let of_length = lengths.map(|length| {
        flood(
            format!("{length} octets"),
            ipv4(),
            move |_| vec![0x45; length],
            |d| d.foreign,
        )
    });
    let floods = of_length
        .into_iter()
        .chain([flood("broadcast", ipv4(), broadcast, |d| d.foreign)]);
    assert_withstood("size", floods.collect());
}

#[test]
fn vlan_tags_and_frames_of_another_tester_are_ignored_and_counted() {
    let tagged = |frame: &[u8]| with_vlan_tag(&broadcast(frame));
    let twice = move |frame: &[u8]| with_vlan_tag(&tagged(frame));
    let floods = vec![
        flood("VLAN tag", ipv4(), tagged, |d| d.foreign),
        flood("two VLAN tags", ipv4(), twice, |d| d.foreign),
        flood("another tester, IPv4", ipv4(), of_another_tester, |d| {
            d.foreign
        }),
        flood(
            "another tester, IPv6",
            ipv6_with_background(Share::ALL),
            of_another_tester,
            |d| d.foreign,
        ),
    ];
    assert_withstood("tags", floods);
}

#[test]
fn fragments_and_extension_headers_are_ignored_and_counted() {
    let ipv6 = || ipv6_with_background(Share::ALL);
    let of_ipv6 = |frame: &[u8]| {
        to_all(
            IPV6,
            &ipv6_datagram(44, &[&[17, 0, 0, 9, 0, 0, 0, 1][..], &frame[54..]].concat()),
        )
    };
    let of_ipv4 = |frame: &[u8]| {
        let mut datagram = ipv4_datagram(17, &frame[34..]);
        // 64 octets are in parts before this one; what the word of the offset grows by, the header's checksum shrinks by.
        datagram[7] = 8;
        let sum = u16::from_be_bytes([datagram[10], datagram[11]]);
        datagram[10..12].copy_from_slice(&(sum - 8).to_be_bytes());
        to_all(IPV4, &datagram)
    };
    let headers = [0, 43, 60].map(|header| {
        let lying = move |_: &[u8]| {
            to_all(
                IPV6,
                &ipv6_datagram(header, &[header, 255, 0, 0, 0, 0, 0, 0]),
            )
        };
        flood(format!("header {header}"), ipv6(), lying, |d| d.foreign)
    });
    let fragments = [
        flood("IPv6", ipv6(), of_ipv6, |d| d.fragments),
        flood("IPv4", ipv4(), of_ipv4, |d| d.fragments),
    ];
    assert_withstood("parts", fragments.into_iter().chain(headers).collect());
}

#[test]
fn questions_for_neighbours_take_no_frame_away_and_get_no_flood_of_answers() {
    let neighbours = |tester: &str, dut: &str| {
        vec![Neighbours {
            tester: tester.parse().expect("address"),
            dut: dut.parse().expect("address"),
        }]
    };
    let profile = TrafficProfile {
        left: neighbours("198.18.0.2", "198.18.0.1"),
        right: neighbours("198.19.0.2", "198.19.0.1"),
        ..ipv4()
    };
    let _guard = ONE_TEST_AT_A_TIME.lock();
    for backend in BACKENDS {
        let (row, answers) = (
            Row::new(&format!("ask-{backend}")),
            Arc::new(AtomicU64::new(0)),
        );
        let device = row.attach(asking(answers.clone()));
        let began = Instant::now();
        let result = trial_over(&row, backend, &profile);
        drop(device);
        for direction in &result.directions {
            let (received, foreign, icmp) = (direction.received, direction.foreign, direction.icmp);
            assert_eq!(
                (received, foreign, icmp),
                (direction.intended, 0, 0),
                "{direction:?}"
            );
        }
        // The two addresses are answered for once a millisecond at most, and questions were asked at no other time.
        let (answered, most) = (
            answers.load(Ordering::Relaxed),
            2 * (began.elapsed().as_millis() as u64 + 2),
        );
        assert!(
            answered > 0 && answered <= most,
            "{answered} answers by {backend}, and {most} at most"
        );
    }
}
