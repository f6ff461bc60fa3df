//! The frames of the grammar.

use super::{SIDES, rigs, valid};
use crate::frame::{DissectedLayer, LayerKind, Side, dissect};
use crate::notation::Vector;
use crate::robustness::{
    DrawnLength, FrameCoverage, FrameGrammar, MalformedFrame, Mutation, ValidDatagram,
    valid_datagrams,
};
use crate::{DeviceSetting, Role, RoleAddresses};
use sixbench_wire::checksum;

/// Frames of a seed: enough for each kind of mistake to be there many times.
const FRAMES: u64 = 3000;

fn frames(seed: u64) -> Vec<MalformedFrame> {
    let (valid, setting) = (valid(), rigs::setting());
    let grammar = FrameGrammar::new(seed, &valid, &setting).expect("a grammar");
    (0..FRAMES).map(|index| grammar.frame(index)).collect()
}

#[test]
fn a_frame_depends_on_the_seed_and_its_number_alone() {
    let (valid, setting) = (valid(), rigs::setting());
    let first = FrameGrammar::new(7, &valid, &setting).expect("a grammar");
    let in_order = frames(7);
    for index in [2999, 0, 1471, 1471] {
        assert_eq!(first.frame(index), in_order[index as usize]);
    }
    let equal = frames(8)
        .iter()
        .zip(&in_order)
        .filter(|(other, frame)| other.octets == frame.octets)
        .count();
    assert!(equal < 30, "{equal} frames of two seeds are the same");
}

#[test]
fn every_kind_of_mistake_is_made() {
    let frames: Vec<MalformedFrame> = (1..=4).flat_map(frames).collect();
    let kinds = [
        "ipv6.len=0x0",
        "ipv4.len=0xffff",
        "udp.len=",
        "tcp.doff=",
        "ipv4.ihl=0xf",
        "frag.next=0x2c",
        "ipv6.next=0x29",
        "ipv4.proto=0x4",
        "ipv4.offset=0xfff8",
        "frag.offset=0x8",
        ", mf=1",
        "cut after 40 octets",
        "octets appended",
        "octets of the datagram in error",
        "icmp 3/",
        "icmp6 2/",
        "ipv4: 40 octets of options",
        "tcp: ",
        "a chain of 60 extension headers",
        "udp.sum=0x0",
        "icmp6.sum=",
        "ipv4.dst=src",
        "ipv6.src=dst",
        "ipv4.src=0x7f000001",
        "ipv6.src=0xff020000000000000000000000000001",
        " in error=0x",
        "ipv4.version=",
        "bits flipped: ",
        "checksums unchanged",
    ];
    for kind in kinds {
        let made = frames
            .iter()
            .any(|frame| frame.mistakes.join("; ").contains(kind));
        assert!(made, "no frame has {kind}");
    }
}

/// Returns the grammar's valid datagrams for a device with these vectors.
fn valid_of(file: &str) -> Vec<ValidDatagram> {
    let vectors = rigs::vectors_of(file);
    let vectors: Vec<&Vector> = vectors.iter().collect();
    valid_datagrams(&vectors, &rigs::setting(), SIDES)
}

/// Returns whether a count is within a share of the mean of an even spread over so many kinds.
fn is_even(count: u64, kinds: usize, share: f64) -> bool {
    let mean = FRAMES as f64 / kinds as f64;
    (count as f64 - mean).abs() <= share * mean
}

#[test]
fn protocols_lengths_and_mistakes_are_evenly_spread_however_uneven_the_vectors_are() {
    let setting = rigs::setting();
    for file in ["rfc7915.toml", "rfc6052.toml"] {
        let valid = valid_of(file);
        let grammar = FrameGrammar::new(1, &valid, &setting).expect("a grammar");
        let mut coverage = FrameCoverage::default();
        (0..FRAMES).for_each(|index| coverage.add(grammar.draw(index).kind));
        let FrameCoverage {
            groups,
            lengths,
            mistakes,
        } = &coverage;
        for group in ["TCP on 4", "TCP on 6", "UDP on 4", "UDP on 6"] {
            assert!(groups.contains_key(group), "{file}: {groups:?}");
        }
        for (group, count) in groups {
            // Where a mistake has no place in a group, the frame is one of another group.
            assert!(
                is_even(*count, groups.len(), 0.4),
                "{file}: {group}: {groups:?}"
            );
        }
        assert_eq!(mistakes.len(), Mutation::ALL.len(), "{file}: {mistakes:?}");
        for count in mistakes.values() {
            assert!(
                is_even(*count, mistakes.len(), 0.02),
                "{file}: {mistakes:?}"
            );
        }
        assert_eq!(lengths.len(), DrawnLength::ALL.len());
        for count in lengths.values() {
            assert!(is_even(*count, lengths.len(), 0.2), "{file}: {lengths:?}");
        }
    }
}

#[test]
fn datagrams_are_of_all_lengths_from_their_headers_to_the_mtu() {
    let frames = frames(1);
    let ranges = [
        0..60,
        60..200,
        200..600,
        600..1200,
        1200..1300,
        1300..1450,
        1450..1501,
    ];
    for range in ranges {
        let found = frames
            .iter()
            .filter(|frame| range.contains(&frame.octets.len()));
        let found = found.count();
        assert!(
            found > FRAMES as usize / 20,
            "{found} frames of {range:?} octets"
        );
    }
}

#[test]
fn a_segment_is_made_from_a_datagram_of_udp_where_no_vector_sends_any() {
    let valid = valid_of("rfc6052.toml");
    let is_segment = |layers: &[DissectedLayer<'_>]| {
        layers
            .get(1)
            .is_some_and(|layer| layer.kind == LayerKind::Tcp)
    };
    let mut made = 0;
    for datagram in &valid {
        let layers = dissect(&datagram.octets);
        if !is_segment(&layers) {
            continue;
        }
        made += 1;
        let (ip, tcp) = (&layers[0], &layers[1]);
        let length = tcp.octets.len() as u32;
        let address = |name| ip.value(name).unwrap_or_default();
        let pseudo = if ip.kind == LayerKind::Ipv4 {
            let [source, destination] = ["src", "dst"].map(|name| (address(name) as u32).into());
            checksum::pseudo_header_ipv4(source, destination, 6, length as u16)
        } else {
            let (source, destination) = (address("src").into(), address("dst").into());
            checksum::pseudo_header_ipv6(source, destination, 6, length)
        };
        let sum = checksum::finish(checksum::sum(tcp.octets) + pseudo);
        assert_eq!(sum, 0, "{datagram:?}");
        assert_eq!(tcp.value("flags"), Some(2), "a SYN");
        assert_eq!(tcp.header_octets, 20);
    }
    assert!(made > 5, "{made}");
}

#[test]
fn a_frame_differs_from_the_valid_one_and_fits_the_link() {
    let valid = valid();
    let mut same = 0;
    for frame in frames(1) {
        assert!((1..=1500).contains(&frame.octets.len()), "{frame:?}");
        assert!(!frame.mistakes.is_empty(), "{frame:?}");
        same += usize::from(valid.iter().any(|valid| valid.octets == frame.octets));
    }
    // A mistake may be one that the vector has already, or write what was there.
    assert!(same < FRAMES as usize / 20, "{same} frames are valid ones");
}

/// Returns true if a UDP datagram without extension headers, whose lengths are right, has the right checksum.
fn has_right_sum(layers: &[DissectedLayer<'_>]) -> Option<bool> {
    let [ip, udp, ..] = layers else {
        return None;
    };
    let number = |layer: &DissectedLayer<'_>, name| layer.value(name).unwrap_or_default();
    let is_plain = ip.kind == LayerKind::Ipv6
        && udp.kind == LayerKind::Udp
        && udp.octets.len() as u128 == number(udp, "len")
        && number(udp, "sum") != 0;
    is_plain.then(|| {
        let (source, destination) = (number(ip, "src").into(), number(ip, "dst").into());
        let length = udp.octets.len() as u32;
        let pseudo = checksum::pseudo_header_ipv6(source, destination, 17, length);
        checksum::finish(checksum::sum(udp.octets) + pseudo) == 0
    })
}

#[test]
fn most_frames_get_past_the_checksum_so_that_a_device_sees_their_mistakes() {
    let frames = [frames(1), frames(2)].concat();
    let sums: Vec<bool> = frames
        .iter()
        .filter_map(|frame| has_right_sum(&dissect(&frame.octets)))
        .collect();
    let right = sums.iter().filter(|is_right| **is_right).count();
    assert!(sums.len() > 50, "{}", sums.len());
    assert!(
        right * 2 > sums.len() && right < sums.len(),
        "{right} of {}",
        sums.len()
    );
}

#[test]
fn no_frame_tells_the_device_another_neighbour() {
    for frame in frames(1).iter().chain(&frames(2)) {
        let layers = dissect(&frame.octets);
        let is_discovery = layers.iter().any(|layer| {
            layer.kind == LayerKind::Icmp6
                && (133..=137).contains(&layer.value("type").unwrap_or_default())
        });
        let hops = layers.first().and_then(|layer| layer.value("hlim"));
        assert!(!(is_discovery && hops == Some(255)), "{frame:?}");
    }
}

#[test]
fn the_exchanges_of_stateful_devices_have_frames_from_both_sides() {
    let role = |role, ipv4: &str| RoleAddresses {
        role,
        ipv4: ipv4.parse().ok(),
        ipv6: None,
    };
    let roles = vec![
        role(Role::Inside, "10.0.0.2"),
        role(Role::Outside, "198.18.0.2"),
        role(Role::Pool, "198.19.0.1"),
    ];
    let setting = DeviceSetting {
        roles,
        ..rigs::setting()
    };
    let vectors = rigs::vectors_of("rfc4787.toml");
    let vectors: Vec<&Vector> = vectors.iter().collect();
    let sides = [Side::Inside, Side::Outside];
    let valid = valid_datagrams(&vectors, &setting, sides);
    for side in sides {
        assert!(valid.iter().any(|datagram| datagram.side == side), "{side}");
    }
    assert!(
        valid_datagrams(&vectors, &setting, SIDES).is_empty(),
        "a stateless translator has no inside"
    );
}
