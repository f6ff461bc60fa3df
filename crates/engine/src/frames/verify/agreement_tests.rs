//! The comparison with the expected octets and the judgement by fields must agree on every frame of every kind of traffic.

use super::*;
use crate::frames::profile::{
    AddressPair, AddressVariation, Appearance, Encapsulation, Path, Paths, SubscriberGroup,
    SubscriberGroups, TrafficProfile, Tunnel,
};
use crate::frames::stateful::{
    Conversation, ConversationStep, Mapped, StatefulGateway, TranslationPool,
};
use crate::frames::stream::{LinkMacs, StreamSource};
use proptest::prelude::*;
use sixbench_method::plan::{AddressPart, Flows, Payload, Ports, Stateful, ValueOrder, ValueRange};
use sixbench_method::terms::{Direction, FrameRate, FrameSize, Share};
use sixbench_method::trial::{TrialKind, TrialSpec};
use sixbench_wire::rules::{
    AddressRule, B4Addresses, B4Layout, MapRule, PortRule, SixRd, Softwires,
};
use sixbench_wire::{Ipv4View, Ipv6View, protocol};
use std::net::IpAddr;

const FRAMES: u64 = 64;
const MACS: LinkMacs = LinkMacs {
    own: MacAddress([2; 6]),
    peer: MacAddress([4; 6]),
};

fn address(text: &str) -> IpAddr {
    text.parse().expect("address")
}

fn ends(source: &str, destination: &str) -> Encapsulation {
    Encapsulation::plain(AddressPair {
        source: address(source),
        destination: address(destination),
    })
}

fn ipv4() -> TrafficProfile {
    TrafficProfile::identity(address("198.18.0.2"), address("198.19.0.2"), FrameSize(84))
}

fn ipv6() -> TrafficProfile {
    TrafficProfile::identity(
        address("2001:2::2"),
        address("2001:2:0:8000::2"),
        FrameSize(84),
    )
}

/// Returns the profile of a stateless translator: IPv6 on the left, IPv4 on the right, with an identification that the device chose.
fn siit() -> TrafficProfile {
    let mut profile = ipv6();
    profile.forward.foreground.expected = ends("198.18.0.2", "198.19.0.2");
    profile.reverse.foreground.sent = ends("198.19.0.2", "198.18.0.2");
    profile.keeps_identification = false;
    profile
}

fn with_addresses(profile: TrafficProfile) -> TrafficProfile {
    let range = ValueRange {
        first: 0,
        last: 65_535,
        order: ValueOrder::Pseudorandom,
    };
    let part = AddressVariation::Part(AddressPart {
        range,
        ipv4_offset: 2,
        ipv6_offset: 12,
    });
    TrafficProfile {
        left_variation: part,
        right_variation: part,
        ..profile
    }
}

/// Returns the profile with as many destinations as the 6to4 paper has clients: their values carry into the preceding 16 bits.
fn with_more_addresses(profile: TrafficProfile) -> TrafficProfile {
    let range = ValueRange {
        first: 0,
        last: 131_071,
        order: ValueOrder::Pseudorandom,
    };
    let right_variation = AddressVariation::Part(AddressPart {
        range,
        ipv4_offset: 2,
        ipv6_offset: 14,
    });
    TrafficProfile {
        right_variation,
        ..profile
    }
}

fn with_background(mut profile: TrafficProfile) -> TrafficProfile {
    for (paths, native) in [
        (&mut profile.forward, ends("2001:2::3", "2001:2:0:8000::3")),
        (&mut profile.reverse, ends("2001:2:0:8000::3", "2001:2::3")),
    ] {
        let Paths { background, .. } = paths;
        *background = Some(Path {
            sent: native,
            expected: native,
            hops: 1,
        });
    }
    TrafficProfile {
        share: Share {
            foreground: 3,
            of: 5,
        },
        ..profile
    }
}

fn with_subscribers(
    mut profile: TrafficProfile,
    [left, right]: [(AddressRule, Option<AddressRule>); 2],
    ports: PortRule,
    hosts: [&str; 2],
) -> TrafficProfile {
    let one = |rule: AddressRule, host: &str| ends(&rule.address(0).to_string(), host);
    let back = |datagram: Encapsulation| {
        Encapsulation::plain(AddressPair {
            source: datagram.ends.destination,
            destination: datagram.ends.source,
        })
    };
    let (at_left, at_right) = (one(left.0, hosts[0]), one(right.0, hosts[1]));
    let forward = Path {
        sent: at_left,
        expected: at_right,
        hops: 1,
    };
    profile.forward = Paths {
        foreground: forward,
        background: None,
    };
    profile.reverse = Paths {
        foreground: Path {
            sent: back(at_right),
            expected: back(at_left),
            hops: 1,
        },
        background: None,
    };
    let appearance = |(inner, outer): (AddressRule, Option<AddressRule>)| Appearance {
        inner: Some(inner),
        outer,
    };
    let group = SubscriberGroup {
        count: 50,
        left: appearance(left),
        right: appearance(right),
        ports,
    };
    TrafficProfile {
        subscribers: Some(SubscriberGroups {
            order: ValueOrder::Pseudorandom,
            groups: vec![group],
        }),
        ..profile
    }
}

fn map_t() -> TrafficProfile {
    let rule = MapRule::new(
        "2001:db8:ce::/47".parse().expect("prefix"),
        "198.18.0.0/20".parse().expect("prefix"),
        17,
        6,
    );
    let rule = rule.expect("a rule");
    let hosts = ["2001:db8:64::c613:2", "198.19.0.2"];
    TrafficProfile {
        keeps_identification: false,
        ..with_subscribers(
            ipv6(),
            [(rule.ipv6(), None), (rule.ipv4(), None)],
            rule.ports(),
            hosts,
        )
    }
}

fn lw4o6() -> TrafficProfile {
    let b4s = B4Addresses::new(
        "2001:db8:b4::/48".parse().expect("prefix"),
        B4Layout::PerSubnet { interface: 1 },
    )
    .expect("B4s");
    let rule =
        Softwires::new(b4s, "198.18.0.0/24".parse().expect("prefix"), 6, 0).expect("softwires");
    let sides = [(rule.ipv4(), Some(rule.ipv6())), (rule.ipv4(), None)];
    let profile = with_subscribers(ipv4(), sides, rule.ports(), ["198.19.0.2", "198.19.0.2"]);
    tunnelled(profile, rule.ipv6(), "2001:db8:af::1")
}

fn six_to_four() -> TrafficProfile {
    let rule = SixRd::sixtofour("198.18.0.0/16".parse().expect("prefix"))
        .numbered(1, None)
        .expect("a rule");
    let sides = [(rule.ipv6(), Some(rule.ipv4())), (rule.ipv6(), None)];
    let profile = with_subscribers(
        ipv6(),
        sides,
        PortRule::ANY,
        ["2001:2:0:8000::2", "2001:2:0:8000::2"],
    );
    tunnelled(profile, rule.ipv4(), "192.88.99.1")
}

fn tunnelled(mut profile: TrafficProfile, rule: AddressRule, device: &str) -> TrafficProfile {
    let (subscriber, device) = (rule.address(0), address(device));
    let tunnel = |source, destination| {
        Some(Tunnel {
            ends: AddressPair {
                source,
                destination,
            },
            hop_limit: 63,
        })
    };
    profile.forward.foreground.sent.tunnel = tunnel(subscriber, device);
    profile.reverse.foreground.expected.tunnel = tunnel(device, subscriber);
    profile
}

fn echo() -> TrafficProfile {
    TrafficProfile {
        payload: Payload::Echo,
        ..ipv6()
    }
}

fn few_flows() -> TrafficProfile {
    TrafficProfile {
        flows: Some(Flows {
            count: 7,
            step_ns: 0,
        }),
        ..ipv6()
    }
}

fn nat44() -> TrafficProfile {
    let range = |first, last| ValueRange {
        first,
        last,
        order: ValueOrder::Pseudorandom,
    };
    let gateway = StatefulGateway {
        opens: Direction::Forward,
        settings: Stateful::new(FRAMES, FrameRate(1000), 0),
        pool: TranslationPool {
            parts: vec![(2, 3)],
            ports: (1024, 65_535),
        },
    };
    let mut profile = TrafficProfile {
        forward_ports: Ports {
            source: range(1024, 1123),
            destination: range(1, 10),
        },
        gateway: Some(gateway),
        keeps_identification: false,
        ..ipv4()
    };
    profile.forward.foreground.expected = ends("198.19.0.1", "198.19.0.2");
    profile
}

/// A kind of traffic, as it arrives in one direction.
struct Case {
    profile: TrafficProfile,
    direction: Direction,
    kind: TrialKind,
    step: Option<ConversationStep>,
    macs: LinkMacs,
}

impl Case {
    fn spec(&self) -> TrialSpec {
        TrialSpec {
            kind: self.kind,
            ..TrialSpec::constant(FrameRate(1000), 1_000_000_000)
        }
    }

    fn conversation(&self) -> Option<Conversation> {
        let gateway = self.profile.gateway.as_ref()?;
        let conversation = Conversation::new(&self.profile, gateway, FRAMES)
            .expect("combinations")
            .at(self.step?);
        let learned = if self.step == Some(ConversationStep::Open) {
            0
        } else {
            FRAMES
        };
        (0..learned).for_each(|c| {
            conversation.table.learn(
                c,
                Mapped {
                    part: 2,
                    port: 5000 + c as u16,
                },
            );
        });
        Some(conversation)
    }

    fn expected(&self, conversation: Option<&Conversation>) -> Stream {
        let spec = self.spec();
        let source = StreamSource {
            profile: &self.profile,
            spec: &spec,
            direction: self.direction,
            trial: 5,
            conversation,
        };
        Stream::expected(source, self.macs).expect("frames")
    }

    /// Returns the verifier and the frames that it must judge right.
    fn build(&self) -> (Verifier, Vec<Vec<u8>>) {
        let conversation = self.conversation();
        let stream = self.expected(conversation.as_ref());
        let frame = |sequence: u64| {
            let kind = stream.kind(sequence).0;
            let time = StampedTime::new(1_000_000_007 * (sequence + 1));
            kind.template
                .patched(&stream.variable(kind, sequence, time))
                .to_vec()
        };
        let frames = (0..FRAMES).map(frame).collect();
        (
            Verifier::new(self.expected(conversation.as_ref()), FRAMES, false),
            frames,
        )
    }
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let profiles = [
        ipv4(),
        ipv6(),
        TrafficProfile {
            frame_size: FrameSize(1518),
            ..ipv4()
        },
        TrafficProfile {
            forward_ports: Ports::FIXED,
            reverse_ports: Ports::FIXED,
            ..ipv6()
        },
        siit(),
        with_addresses(ipv4()),
        with_addresses(ipv6()),
        with_addresses(siit()),
        with_more_addresses(siit()),
        with_more_addresses(six_to_four()),
        with_background(ipv4()),
        with_background(siit()),
        map_t(),
        lw4o6(),
        six_to_four(),
        echo(),
        few_flows(),
    ];
    for profile in profiles {
        for direction in [Direction::Forward, Direction::Reverse] {
            let case = |kind, macs| Case {
                profile: profile.clone(),
                direction,
                kind,
                step: None,
                macs,
            };
            let unknown = LinkMacs {
                peer: MacAddress::BROADCAST,
                ..MACS
            };
            cases.extend([
                case(TrialKind::Constant, MACS),
                case(TrialKind::Response, MACS),
                case(TrialKind::Constant, unknown),
            ]);
        }
    }
    for step in [
        ConversationStep::Open,
        ConversationStep::Validate,
        ConversationStep::Use,
    ] {
        for direction in [Direction::Forward, Direction::Reverse] {
            cases.push(Case {
                profile: nat44(),
                direction,
                kind: TrialKind::Constant,
                step: Some(step),
                macs: MACS,
            });
        }
    }
    cases
}

/// Checks that a frame that the comparison judges right is also judged right by its fields, with the same tag; returns whether it was judged right.
fn agree(verifier: &mut Verifier, frame: &[u8]) -> bool {
    let (right, by_fields) = (verifier.right(frame), verifier.judge_fields(frame));
    if let Some(tag) = right {
        assert_eq!(by_fields, FrameClass::Right(tag), "{frame:02x?}");
    }
    assert_eq!(verifier.judge(frame), by_fields, "{frame:02x?}");
    right.is_some()
}

#[test]
fn every_expected_frame_is_found_right_without_reading_its_fields() {
    for (number, case) in cases().iter().enumerate() {
        let (mut verifier, frames) = case.build();
        for (sequence, frame) in frames.iter().enumerate() {
            assert!(
                agree(&mut verifier, frame),
                "case {number}, {:?}, frame {sequence}",
                case.direction
            );
        }
    }
}

#[test]
fn a_frame_with_any_bit_changed_is_judged_as_its_fields_say() {
    for case in cases() {
        let (mut verifier, frames) = case.build();
        for frame in &frames[..3] {
            for bit in 0..frame.len() * 8 {
                let mut changed = frame.clone();
                changed[bit / 8] ^= 1 << (bit % 8);
                agree(&mut verifier, &changed);
            }
            for octets in 0..frame.len() {
                agree(&mut verifier, &frame[..octets]);
            }
            agree(&mut verifier, &[frame, &[0][..]].concat());
        }
    }
}

/// Corrects every checksum of a frame, starting with that of the inner datagram.
fn mend(frame: &mut [u8]) {
    let checksum = |sum| sixbench_wire::checksum::finish(sum).to_be_bytes();
    let ip_at = ethernet::HEADER_LEN;
    let inner_at = match (frame[ip_at] >> 4, frame[ip_at + 6], frame[ip_at + 9]) {
        (6, protocol::IPV4, _) => ip_at + ipv6::HEADER_LEN,
        (4, _, protocol::IPV6) => ip_at + ipv4::HEADER_LEN,
        _ => ip_at,
    };
    for at in [inner_at, ip_at] {
        if frame[at] >> 4 != 4 {
            continue;
        }
        let header = &mut frame[at..at + ipv4::HEADER_LEN];
        header[10..12].fill(0);
        let sum = checksum(sixbench_wire::checksum::sum(header));
        header[10..12].copy_from_slice(&sum);
    }
    let datagram = &frame[inner_at..];
    let (pseudo_header, header, protocol) = if datagram[0] >> 4 == 4 {
        let Ok(ip) = Ipv4View::new(datagram) else {
            return;
        };
        (ip.pseudo_header(), ip.header_len(), ip.protocol())
    } else {
        let Ok(ip) = Ipv6View::new(datagram) else {
            return;
        };
        (ip.pseudo_header(), ipv6::HEADER_LEN, ip.next_header())
    };
    let (carried, at) = (
        &mut frame[inner_at + header..],
        if protocol == protocol::UDP { 6 } else { 2 },
    );
    if carried.len() < at + 2 {
        return;
    }
    carried[at..at + 2].fill(0);
    let sum = pseudo_header + sixbench_wire::checksum::sum(carried);
    let sum = if protocol == protocol::UDP {
        sixbench_wire::checksum::finish_udp(sum).to_be_bytes()
    } else {
        checksum(sum)
    };
    carried[at..at + 2].copy_from_slice(&sum);
}

impl Case {
    /// Returns whether a device may choose this bit of such a frame. Bits are counted from the first octet, and from the lowest bit in each. The
    /// tester also cannot check hardware addresses that no device has announced, or the time of sending, which is compared with the clock.
    fn is_free(&self, template: &Template, bit: usize) -> bool {
        let at = bit / 8;
        let outer = template
            .description()
            .outer
            .map(|outer| (outer.src.is_ipv4(), outer.octets()));
        let inner_at = ethernet::HEADER_LEN + outer.map_or(0, |(_, octets)| octets);
        // The identification, and of the flags only don't-fragment.
        let of_choice =
            |header: usize| (header + 4..header + 6).contains(&at) || bit == (header + 6) * 8 + 6;
        let is_translated = !self.profile.keeps_identification;
        let tag_end = template.head_octets();
        let source = tag_end - tag::LEN - 8 - 8..tag_end - tag::LEN - 6;
        (at < ethernet::ADDRESSES_LEN && self.macs.peer == MacAddress::BROADCAST)
            || (outer.is_some_and(|(is_ipv4, _)| is_ipv4) && of_choice(ethernet::HEADER_LEN))
            || (outer.is_some_and(|(is_ipv4, _)| !is_ipv4) && ((16..18).contains(&at) || at == 15 && bit % 8 < 4))
            || (template.src().is_ipv4() && is_translated && of_choice(inner_at))
            || (tag_end - 8..tag_end).contains(&at)
            // The last two octets of an address from the pool, and the port: the device may choose them while connections are opened.
            || (self.step == Some(ConversationStep::Open) && (source.contains(&at) || (26..30).contains(&at)))
    }
}

#[test]
fn a_changed_bit_whose_checksums_were_mended_is_never_right_but_where_the_device_has_a_choice() {
    for (number, case) in cases().iter().enumerate() {
        let (mut verifier, frames) = case.build();
        let conversation = case.conversation();
        let stream = case.expected(conversation.as_ref());
        for (sequence, frame) in frames.iter().enumerate().take(3) {
            let template = &stream.kind(sequence as u64).0.template;
            for bit in 0..frame.len() * 8 {
                let mut changed = frame.clone();
                changed[bit / 8] ^= 1 << (bit % 8);
                mend(&mut changed);
                agree(&mut verifier, &changed);
                // With another number it is a different frame: a duplicate of that one, and this one is lost.
                let is_right = matches!(verifier.judge(&changed), FrameClass::Right(tag) if tag.sequence == sequence as u64);
                let may_be = changed == *frame || case.is_free(template, bit);
                assert!(
                    !is_right || may_be,
                    "case {number}, frame {sequence}: bit {} of octet {}",
                    bit % 8,
                    bit / 8
                );
            }
        }
    }
}

/// Writes the fields of an IPv4 header that a device may choose, and updates its checksum.
fn choose_identification(header: &mut [u8], identification: u16, dont_fragment: bool) {
    header[4..6].copy_from_slice(&identification.to_be_bytes());
    header[6] = u8::from(dont_fragment) << 6;
    header[10..12].fill(0);
    let checksum =
        sixbench_wire::checksum::finish(sixbench_wire::checksum::sum(&header[..ipv4::HEADER_LEN]));
    header[10..12].copy_from_slice(&checksum.to_be_bytes());
}

#[test]
fn what_a_translator_or_an_encapsulator_may_choose_is_found_right_without_reading_fields() {
    let case = |profile, direction| Case {
        profile,
        direction,
        kind: TrialKind::Constant,
        step: None,
        macs: MACS,
    };
    for case in [
        case(siit(), Direction::Forward),
        case(map_t(), Direction::Forward),
        case(six_to_four(), Direction::Reverse),
    ] {
        let (mut verifier, frames) = case.build();
        for (frame, identification) in frames.iter().zip((0..=u16::MAX).step_by(997)) {
            for dont_fragment in [false, true] {
                let mut chosen = frame.clone();
                choose_identification(
                    &mut chosen[ethernet::HEADER_LEN..],
                    identification,
                    dont_fragment,
                );
                assert!(agree(&mut verifier, &chosen));
                chosen[ethernet::HEADER_LEN + 11] ^= 1;
                assert!(!agree(&mut verifier, &chosen), "with a wrong checksum");
            }
        }
    }
    let (mut verifier, frames) = case(lw4o6(), Direction::Reverse).build();
    for label in [1u32, 0xfffff, 0x8_0001] {
        let mut chosen = frames[0].clone();
        chosen[14..18].copy_from_slice(&(0x6000_0000 | label).to_be_bytes());
        assert!(agree(&mut verifier, &chosen));
        chosen[14] |= 1;
        assert!(!agree(&mut verifier, &chosen), "with a traffic class");
    }
}

#[test]
fn a_source_is_right_that_is_of_the_pool_where_it_is_to_be_learned() {
    let step = Some(ConversationStep::Open);
    let case = Case {
        profile: nat44(),
        direction: Direction::Forward,
        kind: TrialKind::Constant,
        step,
        macs: MACS,
    };
    let conversation = case.conversation();
    let stream = case.expected(conversation.as_ref());
    let (mut verifier, _) = case.build();
    let frame = |part, port| {
        let kind = stream.kind(3).0;
        let variable =
            stream.variable_of_arrival(kind, 3, StampedTime::new(9), Mapped { part, port });
        let mut frame = kind.template.patched(&variable);
        let address = u32::from_be_bytes([198, 19, 0, 0]) | u32::from(part);
        if (variable.addresses.map(|a| a.0), variable.source_port) != (Some(address), port) {
            // This source is not in the pool; the frame is built as a faulty device would.
            let other = Variable {
                addresses: variable.addresses.map(|a| (address, a.1)),
                source_port: port,
                ..variable
            };
            frame = kind.template.patched(&other);
        }
        frame
    };
    assert!(agree(&mut verifier, &frame(2, 1024)) && agree(&mut verifier, &frame(3, 65_535)));
    assert!(!agree(&mut verifier, &frame(4, 1024)) && !agree(&mut verifier, &frame(2, 1023)));
}

proptest! {
    #[test]
    fn a_frame_with_any_octets_written_over_is_judged_as_its_fields_say(
        case in 0..64usize,
        frame in 0..FRAMES as usize,
        at in 0..100usize,
        octets in proptest::collection::vec(any::<u8>(), 1..24),
    ) {
        let cases = cases();
        let (mut verifier, frames) = cases[case % cases.len()].build();
        let mut changed = frames[frame].clone();
        let at = at % changed.len();
        let end = (at + octets.len()).min(changed.len());
        changed[at..end].copy_from_slice(&octets[..end - at]);
        agree(&mut verifier, &changed);
    }
}
