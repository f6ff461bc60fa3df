//! Vectors over a translator in memory that loses frames, or sends far too many, and exchanges with a NAT.

use sixbench_conformance::frame::{LayerKind, PayloadPattern, Side, dissect, vector_number_in};
use sixbench_conformance::notation::{self, FrameSpec};
use sixbench_conformance::octets::{Resolver, build};
use sixbench_conformance::{DeviceSetting, Role, RoleAddresses, Vector, VectorResult};
use sixbench_engine::MeasureError;
use sixbench_engine::conformance::{KEPT_FRAMES, VectorPort, VectorRecord, VectorTester};
use sixbench_engine::frames::profile::Neighbours;
use sixbench_io::loopback::{LoopbackDevice, pair_with};
use sixbench_method::isolation::Isolation;
use sixbench_wire::MacAddress;
use sixbench_wire::arp::{Arp, Operation};
use sixbench_wire::ethernet::{EtherType, EthernetHeader, HEADER_LEN};
use sixbench_wire::ndp::NdpMessage;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// The number in the payload of control frames.
pub(crate) const CONTROL: u16 = u16::MAX;
const DEVICE: MacAddress = MacAddress([2, 0, 0, 0, 0, 9]);

/// One vector in each direction that is answered, and one that requires silence.
pub(crate) const FILE: &str = r#"rfc = 7915
title = "IP/ICMP Translation Algorithm"
read = "https://datatracker.ietf.org/doc/rfc7915, 2026-11-27"
technologies = ["siit"]

[[vector]]
name = "to-ipv4"
clause = "5.1"
level = "MUST"
sentence = "A datagram is translated."
send = "6: ipv6(src=host6, dst=host4) / udp / payload(32)"
expect = "4: ipv4(src=host6, dst=host4) / udp / payload(32)"

[[vector]]
name = "to-ipv6"
clause = "4.1"
level = "MUST"
sentence = "A datagram is translated."
send = "4: ipv4(src=host4, dst=host6) / udp / payload(32)"
expect = "6: ipv6(src=host4, dst=host6) / udp / payload(32)"

[[vector]]
name = "silence"
clause = "5.1"
level = "MUST"
sentence = "A datagram is dropped."
send = "6: ipv6(src=host6, dst=host4) / udp / payload(32)"
expect = "nothing"
"#;

const TO_IPV4: u16 = 0;
pub(crate) const TO_IPV6: u16 = 1;
pub(crate) const SILENCE: u16 = 2;

pub(crate) fn setting() -> DeviceSetting {
    let address = |role, ipv4: &str, ipv6: &str| RoleAddresses {
        role,
        ipv4: ipv4.parse().ok(),
        ipv6: ipv6.parse().ok(),
    };
    DeviceSetting {
        roles: vec![
            address(Role::Host4, "198.19.0.2", "2001:2:0:1::2"),
            address(Role::Host6, "198.18.0.2", "2001:2::2"),
        ],
        hops_from_ipv4: 1,
        hops_from_ipv6: 1,
        mtu4: 1500,
        mtu6: 1500,
        subscribers: None,
    }
}

/// Sends the vectors of [`FILE`] to a translator, IPv6 on its left. `copies` says how many frames come for a datagram of a vector.
fn outcomes(copies: impl FnMut(u16) -> usize + Send + 'static) -> Vec<VectorRecord> {
    outcomes_of(FILE, tester(copies))
}

/// Sends the vectors of a file.
fn outcomes_of(file: &str, mut tester: VectorTester) -> Vec<VectorRecord> {
    let file = notation::read("rigged.toml", file).unwrap_or_else(|error| panic!("{error}"));
    let vectors: Vec<&Vector> = file.vectors.iter().collect();
    tester.run(&vectors).expect("outcomes").records
}

/// Returns the tester at such a translator.
fn tester(copies: impl FnMut(u16) -> usize + Send + 'static) -> VectorTester {
    tester_at(translator(copies))
}

/// Returns such a translator.
pub(crate) fn translator(mut copies: impl FnMut(u16) -> usize + Send + 'static) -> LoopbackDevice {
    Box::new(move |frame, from_left, out| {
        if let Some(answer) = neighbour_answer(frame) {
            out.push((!from_left, answer));
        } else if let Some(number) = vector_number_in(&frame[HEADER_LEN..]) {
            let answer = translated(&frame[HEADER_LEN..], number, from_left);
            out.extend((0..copies(number)).map(|_| (from_left, answer.clone())));
        }
    })
}

/// Returns the tester at a device with IPv6 on its left.
pub(crate) fn tester_at(device: LoopbackDevice) -> VectorTester {
    stoppable_tester_at(device, Arc::new(AtomicBool::new(false)))
}

fn stoppable_tester_at(device: LoopbackDevice, stop: Arc<AtomicBool>) -> VectorTester {
    let (left, right) = pair_with(device);
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
    VectorTester::new(ports, setting(), stop)
}

pub(crate) fn neighbour_answer(frame: &[u8]) -> Option<Vec<u8>> {
    match (Arp::parse(frame), NdpMessage::parse(frame)) {
        (Ok(arp), _) if arp.operation == Operation::Request => {
            Some(arp.reply(DEVICE).to_frame().to_vec())
        }
        (_, Ok(NdpMessage::Solicitation(asked))) => Some(asked.advertise(DEVICE).to_frame()),
        _ => None,
    }
}

/// Returns the frame of the translated UDP datagram.
pub(crate) fn translated(datagram: &[u8], number: u16, to_ipv4: bool) -> Vec<u8> {
    let layers = dissect(datagram);
    let udp = layers.iter().find(|layer| layer.kind == LayerKind::Udp);
    let [sport, dport] = ["sport", "dport"].map(|port| udp.and_then(|udp| udp.value(port)));
    let (head, ether_type, last) = if to_ipv4 {
        ("4: ipv4(src=host6, dst=host4, ttl=63)", EtherType::IPV4, 2)
    } else {
        ("6: ipv6(src=host4, dst=host6, hlim=63)", EtherType::IPV6, 1)
    };
    let ports = format!(
        "udp(sport={}, dport={})",
        sport.unwrap_or(0),
        dport.unwrap_or(0)
    );
    let spec = FrameSpec::parse(&format!("{head} / {ports} / payload(32)")).expect("a frame");
    let setting = setting();
    let resolver = Resolver {
        setting: &setting,
        sent: &spec,
    };
    let mut frame = vec![0; HEADER_LEN];
    EthernetHeader {
        dst: MacAddress([2, 0, 0, 0, 0, last]),
        src: DEVICE,
        ether_type,
    }
    .emit(&mut frame);
    let pattern = PayloadPattern { vector: number };
    frame.extend(build(&spec, pattern, &resolver).expect("octets"));
    frame
}

/// Returns what a device does that translates everything but what must be dropped.
pub(crate) fn copies_of_a_right_device(number: u16) -> usize {
    usize::from(number != SILENCE)
}

pub(crate) fn results(records: &[VectorRecord]) -> Vec<VectorResult> {
    records
        .iter()
        .map(|record| record.judgement.result)
        .collect()
}

#[test]
fn a_device_that_sends_thousands_of_frames_fills_no_memory_and_is_wrong() {
    const FLOOD: usize = 3000;
    let records = outcomes(|number| if number == CONTROL { 1 } else { FLOOD });
    assert_eq!(results(&records), [VectorResult::Wrong; 3]);
    for record in &records {
        assert_eq!(record.judgement.frames.len(), KEPT_FRAMES);
        assert_eq!(record.capture.len(), 1 + KEPT_FRAMES, "with the sent one");
        assert_eq!(
            record.judgement.reason.as_deref(),
            Some("the device sent 3000 frames, of which the first 16 are shown")
        );
    }
}

#[test]
fn an_answer_that_is_lost_once_comes_at_the_second_attempt() {
    let mut seen = 0;
    let records = outcomes(move |number| {
        seen += u32::from(number == TO_IPV6);
        if number == TO_IPV6 && seen == 1 {
            0
        } else {
            copies_of_a_right_device(number)
        }
    });
    assert_eq!(results(&records), [VectorResult::Right; 3]);
    let attempts: Vec<u32> = records.iter().map(|record| record.attempts).collect();
    assert_eq!(attempts, [1, 2, 2], "silence is asked for twice, too");
}

#[test]
fn an_answer_that_is_lost_twice_is_none() {
    let records = outcomes(|number| usize::from(number == CONTROL || number == TO_IPV4));
    assert_eq!(
        results(&records),
        [
            VectorResult::Right,
            VectorResult::NoAnswer,
            VectorResult::Right
        ]
    );
}

/// Returns what a device does that loses the control frame after each of the first `times` attempts at the vector that requires silence.
fn losing_control_frames(times: u32) -> impl FnMut(u16) -> usize + Send {
    let (mut seen, mut loses_next) = (0, false);
    move |number| {
        if number == SILENCE {
            seen += 1;
            loses_next = seen <= times;
        }
        let is_lost = number == CONTROL && std::mem::take(&mut loses_next);
        if is_lost {
            0
        } else {
            copies_of_a_right_device(number)
        }
    }
}

#[test]
fn a_stop_keeps_what_was_found_and_says_nothing_of_silence_that_was_asked_once() {
    let file = notation::read("rigged.toml", FILE).unwrap_or_else(|error| panic!("{error}"));
    let vectors: Vec<&Vector> = file.vectors.iter().collect();
    let never_answers = |number| usize::from(number != TO_IPV6);
    let run_until = |last: usize| {
        let stop = Arc::new(AtomicBool::new(false));
        let requested = stop.clone();
        let progress = move |made, _| requested.store(made == last, Ordering::Relaxed);
        stoppable_tester_at(translator(never_answers), stop)
            .telling(Box::new(progress))
            .run(&vectors)
            .expect("outcomes")
    };
    let run = run_until(2);
    assert!(run.is_interrupted);
    let found = |record: &VectorRecord| (record.judgement.result, record.attempts);
    let found: Vec<_> = run.records.iter().map(found).collect();
    let expected = [
        (VectorResult::Right, 1),
        (VectorResult::Unknown, 1),
        (VectorResult::Unknown, 0),
    ];
    assert_eq!(found, expected);
    let whole = run_until(usize::MAX);
    assert!(!whole.is_interrupted);
    let unanswered = &whole.records[usize::from(TO_IPV6)];
    assert_eq!(unanswered.judgement.result, VectorResult::NoAnswer);
}

#[test]
fn silence_without_its_control_frame_is_unknown() {
    let records = outcomes(losing_control_frames(2));
    assert_eq!(
        results(&records),
        [
            VectorResult::Right,
            VectorResult::Right,
            VectorResult::Unknown
        ]
    );
}

#[test]
fn silence_whose_control_frame_comes_at_the_second_attempt_is_right() {
    let records = outcomes(losing_control_frames(1));
    assert_eq!(results(&records), [VectorResult::Right; 3]);
    assert_eq!(records[usize::from(SILENCE)].attempts, 2);
}

/// An exchange with a NAT: the mapping, its answer, and a stranger that must not get in.
const NAT_FILE: &str = r#"rfc = 4787
title = "NAT"
read = "RFC 4787"
technologies = ["nat44"]

[[vector]]
name = "mapping"
clause = "4.1"
level = "MUST"
sentence = "A mapping is used in both directions."
[[vector.step]]
send = "in: ipv4(src=inside, dst=outside) / udp(sport=$x, dport=7001) / payload(32)"
expect = "out: ipv4(src=$a:external, dst=outside) / udp(sport=$p, dport=7001) / payload(32)"
[[vector.step]]
send = "out: ipv4(src=outside, dst=$a) / udp(sport=7001, dport=$p) / payload(32)"
expect = "in: ipv4(src=outside, dst=inside) / udp(sport=7001, dport=$x) / payload(32)"
[[vector.step]]
send = "out: ipv4(src=outside, dst=$a) / udp(sport=7001, dport=$u) / payload(32)"
expect = "nothing"

[[vector]]
name = "minutes"
clause = "4.3"
level = "MUST"
sentence = "A mapping is kept."
[[vector.step]]
wait = "2m"
send = "in: ipv4(src=inside, dst=outside) / udp(sport=$x, dport=7001) / payload(32)"
expect = "out: ipv4(dst=outside) / udp(dport=7001) / payload(32)"
"#;

/// The number by which the NAT raises the ports of inside hosts, of which it has one.
const PORT_SHIFT: u16 = 2000;

/// The address to which the NAT translates.
const POOL: &str = "198.19.0.1";

fn nat_setting(pool: &str) -> DeviceSetting {
    let address = |role, ipv4: &str| RoleAddresses {
        role,
        ipv4: ipv4.parse().ok(),
        ipv6: None,
    };
    DeviceSetting {
        roles: vec![
            address(Role::Inside, "10.0.0.2"),
            address(Role::Outside, "198.18.0.2"),
            address(Role::Pool, pool),
        ],
        hops_from_ipv4: 1,
        hops_from_ipv6: 1,
        mtu4: 1500,
        mtu6: 1500,
        subscribers: None,
    }
}

/// Returns the frame that leaves the NAT for a UDP datagram with the payload of a vector; the ports that `mapped` has are those of mappings.
fn through_nat(
    datagram: &[u8],
    is_outward: bool,
    (pool, mapped): (&str, &mut Vec<u16>),
) -> Option<Vec<u8>> {
    let number = vector_number_in(datagram)?;
    let layers = dissect(datagram);
    let udp = layers.iter().find(|layer| layer.kind == LayerKind::Udp)?;
    let [sport, dport] = ["sport", "dport"].map(|port| udp.value(port).unwrap_or(0) as u16);
    let text = if is_outward {
        mapped.push(sport + PORT_SHIFT);
        let port = sport + PORT_SHIFT;
        format!("out: ipv4(src=pool, dst=outside) / udp(sport={port}, dport={dport}) / payload(32)")
    } else if mapped.contains(&dport) {
        let port = dport - PORT_SHIFT;
        format!(
            "in: ipv4(src=outside, dst=inside) / udp(sport={sport}, dport={port}) / payload(32)"
        )
    } else {
        return None;
    };
    let spec = FrameSpec::parse(&text).expect("a frame");
    let setting = nat_setting(pool);
    let resolver = Resolver {
        setting: &setting,
        sent: &spec,
    };
    let mut frame = vec![0; HEADER_LEN];
    let last = if is_outward { 2 } else { 1 };
    EthernetHeader {
        dst: MacAddress([2, 0, 0, 0, 0, last]),
        src: DEVICE,
        ether_type: EtherType::IPV4,
    }
    .emit(&mut frame);
    let pattern = PayloadPattern { vector: number };
    frame.extend(build(&spec, pattern, &resolver).expect("octets"));
    Some(frame)
}

/// Sends the vectors of [`NAT_FILE`] to a NAT, the inside on its left, that drops the control frames from the outside if it is told so.
fn exchanges(drops_answers: bool) -> Result<Vec<VectorRecord>, MeasureError> {
    let file = notation::read("nat.toml", NAT_FILE).unwrap_or_else(|error| panic!("{error}"));
    let vectors: Vec<&Vector> = file.vectors.iter().collect();
    let run = nat_tester(POOL, drops_answers).run(&vectors)?;
    Ok(run.records)
}

/// Returns the tester at a NAT that translates to an address.
fn nat_tester(pool: &'static str, drops_answers: bool) -> VectorTester {
    let mut mapped = Vec::new();
    let (left, right) = pair_with(Box::new(move |frame, from_left, out| {
        if let Some(answer) = neighbour_answer(frame) {
            out.push((!from_left, answer));
            return;
        }
        let datagram = &frame[HEADER_LEN..];
        let is_control = vector_number_in(datagram) == Some(CONTROL);
        if !(is_control && drops_answers && !from_left) {
            let leaving = through_nat(datagram, from_left, (pool, &mut mapped));
            out.extend(leaving.map(|leaving| (from_left, leaving)));
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
        port(Side::Inside, left, "10.0.0.2", "10.0.0.1"),
        port(Side::Outside, right, "198.18.0.2", "198.18.0.1"),
    ];
    VectorTester::new(ports, nat_setting(pool), Arc::new(AtomicBool::new(false)))
}

#[test]
fn an_exchange_uses_the_mapping_that_a_nat_chose() {
    let records = exchanges(false).expect("outcomes");
    let mapping = &records[0];
    assert_eq!(
        mapping.judgement.result,
        VectorResult::Right,
        "{:#?}",
        mapping.judgement
    );
    assert_eq!(mapping.attempts, 2, "its silence is asked for twice");
    assert_eq!(mapping.capture.len(), 3 + 2, "three sent and two came");
}

#[test]
fn an_exchange_that_waits_for_minutes_is_run_only_if_long_ones_are_wanted() {
    let records = exchanges(false).expect("outcomes");
    let minutes = &records[1].judgement;
    assert_eq!(minutes.result, VectorResult::NotApplicable);
    assert_eq!(
        minutes.reason.as_deref(),
        Some("it waits for 120 s; only --long does")
    );
}

#[test]
fn a_nat_that_lets_no_answer_in_has_no_result() {
    let refused = exchanges(true).map(|records| records.len());
    assert!(
        matches!(refused, Err(MeasureError::NoControlFrame)),
        "{refused:?}"
    );
}

/// Requires silence on a datagram whose answers would go to another host.
const ELSEWHERE: &str = r#"
[[vector]]
name = "elsewhere"
clause = "5.1"
level = "MUST"
sentence = "A datagram is dropped."
send = "4: ipv4(src=8.8.8.8, dst=host6) / udp / payload(32)"
expect = "nothing"
"#;

#[test]
fn a_vector_with_an_address_of_the_internet_is_sent_only_where_no_frame_can_leave() {
    let file = format!("{FILE}{ELSEWHERE}");
    let sent = |isolation| {
        let count = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&count);
        let tester = tester(move |number| {
            counter.fetch_add(usize::from(number == SILENCE + 1), Ordering::Relaxed);
            copies_of_a_right_device(number) * usize::from(number != SILENCE + 1)
        });
        let records = outcomes_of(&file, tester.within(isolation));
        (records.into_iter().last(), count.load(Ordering::Relaxed))
    };
    let (record, frames) = sent(Isolation::Unknown);
    let judgement = record.expect("a record").judgement;
    assert_eq!(judgement.result, VectorResult::NotApplicable);
    let reason = judgement.reason.unwrap_or_default();
    assert!(reason.starts_with("8.8.8.8 lies outside"), "{reason}");
    assert_eq!(frames, 0);
    let (record, frames) = sent(Isolation::Declared);
    let result = record.expect("a record").judgement.result;
    assert_eq!((result, frames), (VectorResult::Right, 2));
}

#[test]
fn each_attempt_is_told_and_those_that_are_made_again_are_added() {
    let told = Arc::new(Mutex::new(Vec::new()));
    let notes = Arc::clone(&told);
    let tester = tester(copies_of_a_right_device).telling(Box::new(move |attempts, all| {
        notes.lock().expect("no panic").push((attempts, all));
    }));
    outcomes_of(FILE, tester);
    // Silence is asked for twice.
    assert_eq!(
        *told.lock().expect("no panic"),
        [(1, 3), (2, 3), (3, 3), (4, 4)]
    );
}

/// An exchange whose second step goes to another host than the tester.
const ABROAD: &str = r#"
[[vector]]
name = "abroad"
clause = "4.1"
level = "MUST"
sentence = "A mapping does not depend on the destination."
[[vector.step]]
send = "in: ipv4(src=inside, dst=outside) / udp(sport=$x, dport=7001) / payload(32)"
expect = "out: ipv4(src=$a:external, dst=outside) / udp(sport=$p, dport=7001) / payload(32)"
[[vector.step]]
send = "in: ipv4(src=inside, dst=9.9.9.9) / udp(sport=$x, dport=7001) / payload(32)"
expect = "out: ipv4(src=$a, dst=9.9.9.9) / udp(sport=$p, dport=7001) / payload(32)"
"#;

#[test]
fn an_exchange_with_an_address_of_the_internet_ends_before_that_step() {
    let file = format!("{NAT_FILE}{ABROAD}");
    let records = outcomes_of(&file, nat_tester(POOL, false));
    let abroad = records.last().expect("a record");
    assert_eq!(abroad.judgement.result, VectorResult::NotApplicable);
    let reason = abroad.judgement.reason.clone().unwrap_or_default();
    assert!(reason.starts_with("9.9.9.9 lies outside"), "{reason}");
    assert_eq!(abroad.capture.len(), 2, "the first step alone was sent");
}

#[test]
fn what_a_nat_translates_to_an_address_of_the_internet_is_answered_only_where_no_frame_can_leave() {
    const ABROAD: &str = "9.9.9.9";
    let file = notation::read("nat.toml", NAT_FILE).unwrap_or_else(|error| panic!("{error}"));
    let vectors: Vec<&Vector> = file.vectors.iter().take(1).collect();
    let run = |isolation| nat_tester(ABROAD, false).within(isolation).run(&vectors);
    let refused = run(Isolation::Unknown).map(|run| run.records.len());
    assert!(
        matches!(&refused, Err(MeasureError::Forbidden(forbidden)) if forbidden.0.to_string() == ABROAD),
        "{refused:?}"
    );
    let records = run(Isolation::Declared).expect("outcomes").records;
    assert_eq!(records[0].judgement.result, VectorResult::Right);
}
