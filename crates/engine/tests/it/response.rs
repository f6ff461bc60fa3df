//! Requests and replies over reference relays in memory: every loss, delay and repetition must be counted, exactly, under its own name.

use crate::common::*;
use sixbench_engine::frames::profile::{
    AddressPair, AddressVariation, Appearance, Encapsulation, Path, Paths, SubscriberGroup,
    SubscriberGroups, TrafficProfile, Tunnel,
};
use sixbench_engine::{FrameTester, Layout, MeasureError};
use sixbench_io::clock::Clock;
use sixbench_io::loopback::{LoopbackDevice, pair_with};
use sixbench_method::isolation::Isolation;
use sixbench_method::plan::{AddressPart, Flows, Payload, ValueOrder, ValueRange};
use sixbench_method::terms::{FrameRate, Share};
use sixbench_method::trial::{
    DirectionResult, Fault, Measurer, PhaseOne, TrialResult, TrialSettings, TrialSpec,
};
use sixbench_wire::rules::{PortRule, SixRd};
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Returns a trial of a fifth of a second with [`FRAMES`] requests.
fn spec() -> TrialSpec {
    TrialSpec::response(FrameRate(FRAMES * 5), 200_000_000)
}

fn asked(profile: TrafficProfile, device: LoopbackDevice) -> TrialResult {
    trial_of(profile, device, spec())
}

fn ipv6() -> TrafficProfile {
    ipv6_with_background(Share::ALL)
}

fn echo() -> TrafficProfile {
    TrafficProfile {
        payload: Payload::Echo,
        ..ipv6()
    }
}

/// Returns requests and replies.
fn both(result: &TrialResult) -> (&DirectionResult, &DirectionResult) {
    let [requests, replies] = &result.directions[..] else {
        panic!("two directions: {result:?}")
    };
    assert_eq!((requests.intended, requests.offered), (FRAMES, FRAMES));
    (requests, replies)
}

/// Returns a device that sends on the far side the results of `change` for a frame of this direction (`true` from the left); frames are numbered
/// from 0 in each direction.
fn relay(
    mut change: impl FnMut(bool, u64, Vec<u8>) -> Vec<Vec<u8>> + Send + 'static,
) -> LoopbackDevice {
    let mut counts = [0, 0];
    Box::new(move |frame, from_left, out| {
        let count: &mut u64 = &mut counts[usize::from(from_left)];
        out.extend(
            change(from_left, *count, frame.to_vec())
                .into_iter()
                .map(|frame| (from_left, frame)),
        );
        *count += 1;
    })
}

#[test]
fn every_request_is_answered_once_and_the_response_time_is_measured() {
    for profile in [ipv4(), ipv6(), echo()] {
        let result = asked(profile, each(|_, frame| vec![frame]));
        let (requests, replies) = both(&result);
        assert_eq!(requests.received, FRAMES, "{requests:?}");
        assert_eq!(
            (replies.intended, replies.offered, replies.received),
            (FRAMES, FRAMES, FRAMES),
            "{replies:?}"
        );
        let exchange = result.exchange().expect("an exchange");
        assert_eq!(
            (exchange.unanswered(), exchange.forwarded()),
            (0, 2 * FRAMES)
        );
        let (way, time) = (
            requests.delay.as_ref().expect("delays"),
            exchange.time().expect("response times"),
        );
        assert_eq!(time.count, FRAMES);
        assert!(
            time.mean_ns() >= way.mean_ns(),
            "there and back takes no less than there: {time:?} {way:?}"
        );
        let (mean, deviation) = (
            time.mean_ns().expect("an average"),
            time.deviation_ns().expect("a deviation"),
        );
        assert!(
            (time.min_ns as f64..=time.max_ns as f64).contains(&mean),
            "{time:?}"
        );
        assert!(deviation <= (time.max_ns - time.min_ns) as f64, "{time:?}");
        assert!(exchange.worst_turn_around_ns() > 0);
    }
}

/// Does the same as [`asked`], with a thread on each of the first cores.
fn asked_on(threads: u32, profile: TrafficProfile, device: LoopbackDevice) -> TrialResult {
    let _guard = ONE_AT_A_TIME.lock();
    let layout = Layout {
        cores: (0..threads).collect(),
    };
    // Longer than this machine keeps a thread from its core.
    let (duration_ns, residual_ns, stall_ns) = (spec().duration_ns, 3_000_000_000, 1_000_000_000);
    let settings = TrialSettings {
        duration_ns,
        residual_ns,
        rest_ns: 0,
        frame_timeout_ns: 0,
        stall_ns,
    };
    let ports = pair_with(device);
    let profile = Isolation::Unknown.admit(profile).expect("test addresses");
    let mut tester = FrameTester::new(
        ports,
        profile,
        settings,
        layout,
        Arc::new(AtomicBool::new(false)),
    );
    tester.measure(&spec()).expect("a trial")
}

#[test]
fn on_two_and_three_threads_the_counts_are_those_of_one() {
    // Two busy threads on one core would starve each other, so there are no more threads than cores.
    let available = std::thread::available_parallelism().map_or(1, |n| n.get() as u32);
    for threads in (2..=3).filter(|threads| *threads <= available) {
        let lossy = relay(|to_right, n, frame| {
            if to_right && n % 100 == 50 {
                vec![]
            } else {
                vec![frame]
            }
        });
        let result = asked_on(threads, echo(), lossy);
        let (requests, replies) = both(&result);
        assert_eq!(
            (
                requests.received,
                replies.intended,
                replies.offered,
                replies.received
            ),
            (990, 990, 990, 990),
            "{threads}"
        );
    }
}

#[test]
fn a_relay_that_loses_every_hundredth_request_has_lost_them_once() {
    let result = asked(
        ipv6(),
        relay(|to_right, n, frame| {
            if to_right && n % 100 == 50 {
                vec![]
            } else {
                vec![frame]
            }
        }),
    );
    let (requests, replies) = both(&result);
    assert_eq!((requests.received, requests.lost()), (990, 10));
    assert_eq!(
        (replies.intended, replies.offered, replies.received),
        (990, 990, 990)
    );
    assert_eq!(result.exchange().expect("an exchange").unanswered(), 10);
    assert!(
        replies.lost_by_bin.is_empty(),
        "what was never sent is not missing"
    );
}

#[test]
fn a_relay_that_loses_every_fiftieth_reply_has_lost_no_request() {
    let result = asked(
        echo(),
        relay(|to_right, n, frame| {
            if !to_right && n % 50 == 20 {
                vec![]
            } else {
                vec![frame]
            }
        }),
    );
    let (requests, replies) = both(&result);
    assert_eq!(requests.received, FRAMES);
    assert_eq!(
        (
            replies.intended,
            replies.offered,
            replies.received,
            replies.lost()
        ),
        (FRAMES, FRAMES, 980, 20)
    );
    assert_eq!(result.exchange().expect("an exchange").unanswered(), 20);
    assert_eq!(replies.lost_by_bin.iter().sum::<u64>(), 20);
}

#[test]
fn what_is_lost_after_lost_requests_is_found_by_its_number() {
    // The first half of the requests is lost, and so is the last reply.
    let lossy = |to_right, n, frame| {
        let is_lost = if to_right {
            n < FRAMES / 2
        } else {
            n == FRAMES / 2 - 1
        };
        if is_lost { vec![] } else { vec![frame] }
    };
    let result = asked(ipv4(), relay(lossy));
    let (requests, replies) = both(&result);
    assert_eq!(requests.lost_by_bin, [500, 0]);
    assert_eq!((replies.offered, replies.received), (500, 499));
    assert_eq!(replies.lost_by_bin, [0, 1]);
    assert_eq!(
        replies.last_missing_ns,
        Some(199_800_000),
        "by the time its request was due"
    );
}

#[test]
fn a_request_that_comes_twice_is_answered_once() {
    let result = asked(
        echo(),
        relay(|to_right, _, frame| {
            if to_right {
                vec![frame; 2]
            } else {
                vec![frame]
            }
        }),
    );
    let (requests, replies) = both(&result);
    assert_eq!((requests.received, requests.duplicate), (FRAMES, FRAMES));
    assert_eq!(
        (
            replies.intended,
            replies.offered,
            replies.received,
            replies.duplicate
        ),
        (FRAMES, FRAMES, FRAMES, 0)
    );
    let twice = asked(
        echo(),
        relay(|to_right, _, frame| {
            if to_right {
                vec![frame]
            } else {
                vec![frame; 2]
            }
        }),
    );
    assert_eq!(
        (both(&twice).1.received, both(&twice).1.duplicate),
        (FRAMES, FRAMES),
        "a reply that comes twice counts once"
    );
}

#[test]
fn a_relay_that_answers_itself_has_answered_nothing() {
    // Like a host, this swaps the ends, changes the type, and leaves the rest; swapping the ends does not affect the checksum.
    let answered = |mut frame: Vec<u8>| {
        frame[..12].rotate_left(6);
        frame[22..54].rotate_left(16);
        frame[54] = 129;
        let sum = u16::from_be_bytes([frame[56], frame[57]]);
        let (low, carried) = sum.overflowing_sub(0x0100);
        frame[56..58].copy_from_slice(&low.wrapping_sub(u16::from(carried)).to_be_bytes());
        frame
    };
    let device: LoopbackDevice = Box::new(move |frame, from_left, out| {
        assert!(from_left, "no request arrives, so no reply leaves");
        out.push((false, answered(frame.to_vec())));
    });
    let result = asked(echo(), device);
    let (requests, replies) = both(&result);
    assert_eq!(
        (requests.received, replies.intended, replies.received),
        (0, 0, 0)
    );
    assert_eq!(
        replies.misdirected, FRAMES,
        "its requests, back where they came from"
    );
    assert_eq!(result.exchange().expect("an exchange").unanswered(), FRAMES);
}

#[test]
fn a_reply_that_is_damaged_answers_nothing() {
    let result = asked(
        echo(),
        relay(|to_right, n, mut frame| {
            if !to_right && n % 100 == 7 {
                frame[21] = 9;
            }
            vec![frame]
        }),
    );
    let (_, replies) = both(&result);
    assert_eq!(
        (replies.received, replies.mistranslated),
        (990, 10),
        "the hop limit is not the one that is due"
    );
    assert_eq!(result.exchange().expect("an exchange").unanswered(), 10);
}

#[test]
fn background_traffic_is_answered_too() {
    let profile = ipv6_with_background(Share {
        foreground: 9,
        of: 10,
    });
    let result = asked(profile, each(|_, frame| vec![frame]));
    assert_eq!(both(&result).1.received, FRAMES);
}

/// Returns a closed loop in which this many requests may wait for their replies.
fn waiting(outstanding: u32, device: LoopbackDevice) -> TrialResult {
    trial_of(
        echo(),
        device,
        TrialSpec {
            outstanding: Some(outstanding),
            ..spec()
        },
    )
}

#[test]
fn clients_that_wait_send_everything_to_a_relay_that_keeps_up_and_loses_some() {
    let lossy = |to_right: bool, n: u64, frame| {
        if !to_right && n % 50 == 20 {
            vec![]
        } else {
            vec![frame]
        }
    };
    // As many may wait as there are, so that this machine's performance does not matter.
    let result = waiting(FRAMES as u32, relay(lossy));
    let (requests, replies) = both(&result);
    assert_eq!(
        (requests.received, replies.offered, replies.received),
        (FRAMES, FRAMES, 980)
    );
}

#[test]
fn clients_that_wait_send_little_to_a_relay_that_answers_nothing_and_that_is_no_fault_of_the_tester()
 {
    let result = waiting(5, relay(|_, _, _| vec![]));
    let [requests, _] = &result.directions[..] else {
        panic!("two directions: {result:?}")
    };
    // Five at once, and after ten milliseconds without a reply five more: in a fifth of a second, that can happen twenty times.
    assert!((5..=5 * 21).contains(&requests.offered), "{requests:?}");
    assert_eq!(
        (requests.intended, requests.received),
        (requests.offered, 0),
        "what was not sent was not due"
    );
    assert_eq!(
        result.exchange().expect("an exchange").unanswered(),
        requests.offered
    );
    // A stall of this machine may make sending late; if the time spent waiting counted, too, it would be late by nearly the whole fifth of a second.
    let is_slow = |fault: &Fault| matches!(fault, Fault::SentTooSlowly { nominal_ns, took_ns, .. } if *took_ns > nominal_ns + 100_000_000);
    assert!(!result.faults.iter().any(is_slow), "{:?}", result.faults);
}

#[test]
fn requests_after_connections_are_refused() {
    let phase_one = Some(PhaseOne {
        connections: 10,
        rate: FrameRate(1000),
    });
    let error = try_trial(
        ipv4(),
        each(|_, frame| vec![frame]),
        TrialSpec {
            phase_one,
            ..spec()
        },
    )
    .expect_err("no trial");
    assert!(matches!(error, MeasureError::StatefulResponse), "{error}");
}

type Frames = Vec<Vec<u8>>;

/// Returns the frames that left on the left and on the right.
fn tapped(profile: TrafficProfile) -> (Frames, Frames) {
    let kept = Arc::new(Mutex::new((Frames::new(), Frames::new())));
    let tap = kept.clone();
    let device: LoopbackDevice = Box::new(move |frame, from_left, out| {
        let mut frames = tap.lock().expect("no panic");
        if from_left {
            frames.0.push(frame.to_vec());
        } else {
            frames.1.push(frame.to_vec());
        }
        out.push((from_left, frame.to_vec()));
    });
    let result = asked(profile, device);
    assert_eq!(
        (both(&result).0.foreign, both(&result).1.received),
        (0, FRAMES),
        "{result:?}"
    );
    let mut frames = kept.lock().expect("no panic");
    std::mem::take(&mut *frames)
}

/// Checks every reply against its request: ends swapped, and the same time of sending as the request.
fn check_mirrored(
    profile: TrafficProfile,
    [ends, header]: [usize; 2],
    octets: usize,
    is_echo: bool,
) {
    let (requests, replies) = tapped(profile);
    // Sequence number and time of sending from the tag after the header.
    let key = |frame: &[u8]| frame[header + 8 + 5..header + 8 + 18].to_vec();
    let by_tag: BTreeMap<Vec<u8>, &Vec<u8>> =
        requests.iter().map(|frame| (key(frame), frame)).collect();
    assert_eq!(
        by_tag.len(),
        requests.len(),
        "each request has a tag of its own"
    );
    for reply in &replies {
        let request = by_tag[&key(reply)];
        assert_eq!(
            reply[ends..ends + octets],
            request[ends + octets..ends + 2 * octets]
        );
        assert_eq!(
            reply[ends + octets..ends + 2 * octets],
            request[ends..ends + octets]
        );
        if is_echo {
            assert_eq!(
                reply[header + 4..header + 8],
                request[header + 4..header + 8],
                "identifier and number"
            );
        } else {
            assert_eq!(reply[header..header + 2], request[header + 2..header + 4]);
            assert_eq!(reply[header + 2..header + 4], request[header..header + 2]);
        }
    }
}

#[test]
fn a_reply_goes_to_where_its_request_came_from() {
    let range = |first, last| ValueRange {
        first,
        last,
        order: ValueOrder::Pseudorandom,
    };
    let part = |first, last| {
        AddressVariation::Part(AddressPart {
            range: range(first, last),
            ipv4_offset: 2,
            ipv6_offset: 12,
        })
    };
    let many = |profile| TrafficProfile {
        left_variation: part(2, 1000),
        right_variation: part(7, 70),
        ..profile
    };
    let four = [26, 34];
    check_mirrored(many(ipv4()), four, 4, false);
    check_mirrored(
        TrafficProfile {
            right_variation: AddressVariation::Networks(256),
            ..ipv4()
        },
        four,
        4,
        false,
    );
    check_mirrored(
        TrafficProfile {
            flows: Some(Flows {
                count: 7,
                step_ns: 0,
            }),
            ..ipv4()
        },
        four,
        4,
        false,
    );
    check_mirrored(many(ipv6()), [22, 54], 16, false);
    check_mirrored(many(echo()), [22, 54], 16, true);
}

/// Returns a 6to4 relay (RFC 3056) working on octets: IPv6 is sent to the client whose IPv4 address is in its destination.
fn sixtofour_relay() -> LoopbackDevice {
    Box::new(|frame, from_left, out| {
        let frame = if from_left {
            decapsulated(frame)
        } else {
            encapsulated(frame)
        };
        out.push((from_left, frame));
    })
}

fn decapsulated(frame: &[u8]) -> Vec<u8> {
    assert_eq!(
        (&frame[12..14], frame[23]),
        (&[8, 0][..], 41),
        "IPv6 in IPv4"
    );
    let mut out = [&frame[..12], &[0x86, 0xdd], &frame[34..]].concat();
    out[21] -= 1;
    out
}

fn encapsulated(frame: &[u8]) -> Vec<u8> {
    assert_eq!(frame[38..40], [0x20, 0x02], "to a client of 6to4");
    let octets = (frame.len() - 14 + 20) as u16;
    let mut header = [
        [0x45, 0],
        octets.to_be_bytes(),
        [0, 0],
        [0x40, 0],
        [64, 41],
        [0, 0],
    ]
    .concat();
    header.extend([198, 18, 0, 1]);
    header.extend_from_slice(&frame[40..44]);
    let sum: u32 = header
        .chunks(2)
        .map(|word| u32::from(u16::from_be_bytes([word[0], word[1]])))
        .sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    header[10..12].copy_from_slice(&(!(folded as u16)).to_be_bytes());
    let mut out = [&frame[..12], &[8, 0], &header, &frame[14..]].concat();
    out[14 + 20 + 7] -= 1;
    out
}

/// Returns the profile of three 6to4 clients, whose requests arrive encapsulated and whose replies must be.
fn clients(payload: Payload) -> TrafficProfile {
    let rule = SixRd::sixtofour("198.18.0.0/24".parse().expect("a prefix"))
        .numbered(2, Some(3))
        .expect("three clients");
    let inner = ends("2002:c612:2::1", "2001:2:0:8000::2");
    let outer = ends("198.18.0.2", "198.18.0.1");
    let back = |ends: AddressPair| AddressPair {
        source: ends.destination,
        destination: ends.source,
    };
    let tunnelled = |inner, outer| Encapsulation {
        ends: inner,
        tunnel: Some(Tunnel {
            ends: outer,
            hop_limit: 64,
        }),
    };
    let path = |sent, expected| Paths {
        foreground: Path {
            sent,
            expected,
            hops: 1,
        },
        background: None,
    };
    let own = |inner, outer| Appearance {
        inner: Some(inner),
        outer,
    };
    TrafficProfile {
        forward: path(tunnelled(inner, outer), Encapsulation::plain(inner)),
        reverse: path(
            Encapsulation::plain(back(inner)),
            tunnelled(back(inner), back(outer)),
        ),
        subscribers: Some(SubscriberGroups {
            order: ValueOrder::Pseudorandom,
            groups: vec![SubscriberGroup {
                count: 3,
                left: own(rule.ipv6(), Some(rule.ipv4())),
                right: own(rule.ipv6(), None),
                ports: PortRule::ANY,
            }],
        }),
        payload,
        ..ipv6()
    }
}

#[test]
fn each_client_of_6to4_gets_its_own_replies() {
    for payload in [Payload::Udp, Payload::Echo] {
        let result = asked(clients(payload), sixtofour_relay());
        let (requests, replies) = both(&result);
        assert_eq!(
            (requests.received, replies.received),
            (FRAMES, FRAMES),
            "{result:?}"
        );
    }
}

/// Does the same as [`sixtofour_relay`], but does not answer the second client; `seen` counts each client's requests by the last octet of its address.
fn relay_without_the_second(seen: Arc<Mutex<BTreeMap<u8, u64>>>) -> LoopbackDevice {
    let mut relay = sixtofour_relay();
    Box::new(move |frame, from_left, out| {
        if from_left {
            *seen.lock().expect("no panic").entry(frame[29]).or_default() += 1;
        }
        if !(from_left && frame[29] == 3) {
            relay(frame, from_left, out);
        }
    })
}

#[test]
fn each_client_waits_for_its_own_replies_alone() {
    let seen = Arc::new(Mutex::new(BTreeMap::new()));
    // Each client has one request at a time.
    let spec = TrialSpec {
        outstanding: Some(3),
        ..spec()
    };
    let result = trial_of(
        clients(Payload::Echo),
        relay_without_the_second(seen.clone()),
        spec,
    );
    let [requests, replies] = &result.directions[..] else {
        panic!("two directions: {result:?}")
    };
    let seen = seen.lock().expect("no panic").clone();
    assert_eq!(seen.values().sum::<u64>(), requests.offered, "{seen:?}");
    assert_eq!(
        requests.lost(),
        seen[&3],
        "what the second client sent, and nothing else"
    );
    assert_eq!(
        (replies.received, replies.lost()),
        (seen[&2] + seen[&4], 0),
        "{replies:?}"
    );
    assert!(
        (1..=21).contains(&seen[&3]),
        "one every ten milliseconds: {seen:?}"
    );
    assert_eq!(
        requests.foreign + replies.foreign + replies.mistranslated,
        0
    );
}

/// Returns a wire that holds every frame for `delay`. It checks its clock only when a frame arrives, so the last ones stay.
fn delay_line(delay: Duration) -> LoopbackDevice {
    let (clock, mut kept) = (Clock::new(), VecDeque::new());
    Box::new(move |frame, from_left, out| {
        let now_ns = clock.now_ns();
        kept.push_back((now_ns + delay.as_nanos() as u64, from_left, frame.to_vec()));
        while kept.front().is_some_and(|(due_ns, ..)| *due_ns <= now_ns) {
            out.extend(
                kept.pop_front()
                    .map(|(_, from_left, frame)| (from_left, frame)),
            );
        }
    })
}

#[test]
fn the_response_time_is_twice_the_delay_of_the_relay_and_what_the_tester_takes() {
    let result = asked(ipv6(), delay_line(Duration::from_millis(5)));
    let (requests, replies) = both(&result);
    assert!(
        requests.received > FRAMES / 2 && replies.received > FRAMES / 2,
        "{result:?}"
    );
    let time = replies.delay.as_ref().expect("response times");
    let way = requests.delay.as_ref().expect("delays");
    // A busy machine delays some frames; the fastest ones are roughly on time.
    assert!((5_000_000..100_000_000).contains(&way.min_ns), "{way:?}");
    assert!((10_000_000..200_000_000).contains(&time.min_ns), "{time:?}");
    assert!(time.mean_ns() >= Some(10_000_000.0), "{time:?}");
}

#[test]
fn a_reply_after_the_timeout_is_late_although_its_request_was_not() {
    let result = trial_with(
        ipv6(),
        delay_line(Duration::from_millis(40)),
        spec(),
        Duration::from_millis(60),
    );
    let (requests, replies) = both(&result);
    assert!(requests.received > 0, "{requests:?}");
    assert_eq!(replies.received, 0, "80 ms there and back");
    assert!(replies.late > 0, "{replies:?}");
    let exchange = result.exchange().expect("an exchange");
    assert_eq!(exchange.unanswered(), FRAMES);
    assert_eq!(
        exchange.forwarded(),
        requests.received + requests.late + replies.late
    );
}
