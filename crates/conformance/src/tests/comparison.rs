//! The comparison names every field that is not as expected, and no other.

use super::{PATTERN, sending, setting};
use crate::frame::{LayerKind, Side, dissect};
use crate::judge::{CameFrame, differences};
use crate::notation::{FrameSpec, LayerFill, RequiredAnswer, SpecValue};
use crate::octets::{Resolver, build};
use proptest::prelude::*;
use sixbench_wire::checksum;

/// A vector that expects every field of the layers of both families, as it is.
const EXPECTED: [&str; 7] = [
    "6: ipv6(src=host4, dst=host6, tc=0xb8, flow=0x1, hlim=61, next=udp) / udp(sport=4096, dport=4097) / payload(32)",
    "6: ipv6(src=host4, dst=host6, tc=0, hlim=61) / frag(id=0x1234, offset=0, mf=0, next=tcp) / tcp(sport=1, dport=2, seq=3, ack=4, flags=S) / payload(8)",
    "4: ipv4(src=host6, dst=host4, tos=0x2e, ttl=60, id=7, df=1, mf=0, proto=udp) / udp(sport=4096, dport=4097) / payload(32)",
    "4: ipv4(src=host6, dst=host4, ttl=60) / icmp(type=8, code=0, id=9, seq=1) / payload(16)",
    "6: ipv6(src=host4, dst=host6) / icmp6(type=2, code=0, mtu=1300) / ipv6(src=host6, dst=host4, hlim=9) / udp(sport=5, dport=6) / payload(24)",
    "6: ipv6(src=host4, dst=host6, tc=1, hlim=64) / encaplimit(limit=3) / ipv4(src=host4, dst=host6, tos=2, ttl=9) / udp(sport=5, dport=6) / payload(24)",
    "4: ipv4(src=host4, dst=host6, tos=1, ttl=64) / ipv6(src=host4, dst=host6, tc=2, flow=3, hlim=9) / icmp6(type=128, code=0, id=4, seq=5) / payload(24)",
];

/// Returns the names of the fields in which a changed datagram differs from the expected frame.
fn named(expect: &str, change: impl FnOnce(&mut Vec<u8>)) -> Vec<String> {
    let vector = sending("4: ipv4(src=host4, dst=host6) / udp / payload(32)", expect);
    let setting = setting();
    let resolver = Resolver {
        setting: &setting,
        sent: &vector.send[0],
    };
    let crate::notation::RequiredAnswer::Frames(frames) = &vector.expect else {
        panic!("{expect}")
    };
    let mut datagram = build(&buildable(&frames[0]), PATTERN, &resolver).unwrap();
    change(&mut datagram);
    let came = CameFrame {
        side: frames[0].side,
        datagram,
    };
    let found = differences(&frames[0], &came, PATTERN, &resolver).unwrap();
    found
        .into_iter()
        .map(|difference| difference.field)
        .collect()
}

/// Returns the frame without layers of which any will do, which cannot be built.
fn buildable(frame: &FrameSpec) -> FrameSpec {
    let mut frame = frame.clone();
    frame.layers.retain(|layer| {
        !matches!(
            layer.fill,
            LayerFill::Pattern {
                length: SpecValue::Any,
                ..
            }
        )
    });
    frame
}

#[test]
fn a_frame_that_is_as_expected_has_no_difference() {
    for expect in EXPECTED {
        assert_eq!(named(expect, |_| ()), Vec::<String>::new(), "{expect}");
    }
}

/// Makes the outermost checksums of a datagram right again after a change, so that the change is the only fault.
fn with_right_checksums(datagram: &mut [u8]) {
    let layers: Vec<(LayerKind, usize, usize, u64, usize)> = {
        let whole = datagram.len();
        let mut addresses = 0;
        let mut found = Vec::new();
        for layer in dissect(datagram)
            .into_iter()
            .filter(|layer| !layer.is_in_error)
        {
            let at = whole - layer.octets.len();
            found.push((layer.kind, at, layer.header_octets, addresses, whole - at));
            if let (true, header) = (layer.kind.is_ip(), layer.octets) {
                addresses = if layer.kind == LayerKind::Ipv4 {
                    checksum::sum(&header[12..20])
                } else {
                    checksum::sum(&header[8..40])
                };
            }
        }
        found
    };
    for (kind, at, header_octets, addresses, length) in layers.into_iter().rev() {
        let Some(sum) = kind.field("sum") else {
            continue;
        };
        let end = if kind == LayerKind::Ipv4 {
            at + header_octets
        } else {
            datagram.len()
        };
        sum.write(&mut datagram[at..], 0);
        let pseudo_header = match kind {
            LayerKind::Ipv4 | LayerKind::Icmp => 0,
            kind => addresses + u64::from(kind.protocol().unwrap()) + length as u64,
        };
        let right = checksum::finish_udp(checksum::sum(&datagram[at..end]) + pseudo_header);
        sum.write(&mut datagram[at..], right.into());
    }
}

/// Fields whose change alters the layers themselves; another test has them.
const STRUCTURAL: [&str; 3] = ["next", "proto", "type"];

proptest! {
    #[test]
    fn exactly_the_changed_field_is_named(frame in 0..EXPECTED.len(), layer in 0usize..4, field in 0usize..9, change in 1u128..) {
        let vector = sending("4: ipv4(src=host4, dst=host6) / udp / payload(32)", EXPECTED[frame]);
        let crate::notation::RequiredAnswer::Frames(frames) = &vector.expect else { panic!() };
        let Some(spec) = frames[0].layers.get(layer).filter(|spec| !spec.fields.is_empty()) else { return Ok(()) };
        let given = &spec.fields[field % spec.fields.len()];
        prop_assume!(!STRUCTURAL.contains(&given.field.name) && !matches!(given.field.name, "mf" | "offset"));
        let expected = format!("{}.{}", spec.kind.name(), given.field.name);
        let names = named(EXPECTED[frame], |datagram| {
            let at = datagram.len() - dissect(datagram)[layer].octets.len();
            let old = given.field.read(&datagram[at..]).unwrap();
            let steps = given.field.largest() / given.field.unit;
            let new = ((old / given.field.unit) ^ (change % steps + 1)) & steps;
            given.field.write(&mut datagram[at..], new * given.field.unit);
            with_right_checksums(datagram);
        });
        prop_assert_eq!(names, vec![expected]);
    }

    #[test]
    fn a_flipped_bit_anywhere_makes_a_difference(frame in 0..4usize, bit in 0usize..8 * 40) {
        let names = named(EXPECTED[frame], |datagram| {
            let at = bit % (datagram.len() * 8);
            datagram[at / 8] ^= 1 << (at % 8);
        });
        // The version is part of the layers; nothing of these frames is without a check but the flow label and what a vector leaves open.
        let open = ["6: ipv6(src=host4, dst=host6, tc=0, hlim=61)"].iter().any(|open| EXPECTED[frame].starts_with(open));
        prop_assert!(!names.is_empty() || open, "bit {} of {}", bit, EXPECTED[frame]);
    }
}

#[test]
fn a_wrong_checksum_or_length_is_named_without_being_written_in_the_vector() {
    assert_eq!(
        named(EXPECTED[0], |datagram| datagram[46] ^= 1),
        ["udp.sum"]
    );
    assert_eq!(
        named(EXPECTED[2], |datagram| datagram[10] ^= 1),
        ["ipv4.sum"]
    );
    assert_eq!(
        named(EXPECTED[3], |datagram| datagram[22] ^= 1),
        ["icmp.sum"]
    );
    let shorter = named(EXPECTED[0], |datagram| {
        datagram[5] -= 1;
        with_right_checksums(datagram);
    });
    assert_eq!(shorter, ["ipv6.len"]);
    let zero = named(EXPECTED[0], |datagram| datagram[46..48].fill(0));
    assert_eq!(zero, ["udp.sum"]);
}

#[test]
fn another_layer_than_the_expected_one_is_named_with_its_place() {
    let names = named(EXPECTED[0], |datagram| datagram[6] = 58);
    assert_eq!(names, ["ipv6.next", "layer 2"]);
    let vector = sending(
        "4: ipv4(src=host4, dst=host6) / udp / payload(32)",
        EXPECTED[0],
    );
    let setting = setting();
    let resolver = Resolver {
        setting: &setting,
        sent: &vector.send[0],
    };
    let crate::notation::RequiredAnswer::Frames(frames) = &vector.expect else {
        panic!()
    };
    let came = CameFrame {
        side: Side::Ipv4,
        datagram: vec![0x45],
    };
    let found = differences(&frames[0], &came, PATTERN, &resolver).unwrap();
    assert_eq!(found[0].to_string(), "side: expected 6, came 4");
}

#[test]
fn a_datagram_in_error_may_be_cut() {
    let cut = |octets: usize| {
        named(EXPECTED[4], move |datagram| {
            datagram.truncate(datagram.len() - octets);
            datagram[5] -= octets as u8;
            with_right_checksums(datagram);
        })
    };
    assert_eq!(cut(20), Vec::<String>::new());
    assert_eq!(cut(24 + 8), ["layer 4"]);
}

#[test]
fn a_checksum_in_error_is_compared_where_the_vector_asks_for_it() {
    let frame = |sum: &str| {
        format!(
            "6: ipv6(src=host4, dst=host6) / icmp6(type=1, code=4) / ipv6(src=host6, dst=host4) / udp({sum}) / payload(32)"
        )
    };
    let differences = |expected: &str, came: &str| {
        let vector = sending(&frame(came), &frame(expected));
        let setting = setting();
        let resolver = Resolver {
            setting: &setting,
            sent: &vector.send[0],
        };
        let datagram = build(&vector.send[0], PATTERN, &resolver).unwrap();
        let RequiredAnswer::Frames(expected) = &vector.expect else {
            panic!("frames")
        };
        let came = CameFrame {
            side: Side::Ipv6,
            datagram,
        };
        differences(&expected[0], &came, PATTERN, &resolver)
            .unwrap()
            .len()
    };
    assert_eq!(differences("", "sum=bad"), 0);
    assert_eq!(differences("sum=right", "sum=bad"), 1);
    assert_eq!(differences("sum=right", ""), 0);
}

#[test]
fn a_part_of_the_payload_may_be_of_any_length_but_not_of_other_octets() {
    let expect = "6: ipv6(src=host4, dst=host6, next=253) / payload(any)";
    let cut = |octets: usize| {
        named(expect, move |datagram| {
            datagram.extend(PATTERN.octets(13, octets));
            datagram[5] = octets as u8;
        })
    };
    assert_eq!(cut(40), Vec::<String>::new());
    let spoilt = named(expect, |datagram| {
        datagram.extend(PATTERN.octets(13, 40));
        (datagram[5], datagram[60]) = (40, 0xff);
    });
    assert_eq!(spoilt, ["payload.octets"]);
    assert_eq!(named(expect, |_| ()), ["layer 2"], "there is nothing of it");
}

#[test]
fn whatever_octets_come_there_is_a_comparison() {
    for octets in [
        vec![],
        vec![0x45],
        vec![0x60; 3],
        vec![0x4f; 21],
        vec![0x60; 60],
        vec![0xff; 80],
    ] {
        let names = named(EXPECTED[1], |datagram| *datagram = octets);
        assert!(!names.is_empty());
    }
}
