//! Built octets, read by programs that share no code with this crate: etherparse and scapy. Without
//! Debian's python3-scapy the test of scapy fails.

use super::{PATTERN, sending, setting};
use crate::octets::{Resolver, build};
use etherparse::{NetHeaders, PacketHeaders, TransportHeader};
use std::process::{Command, Stdio};

/// Returns the octets of a frame.
fn built(frame: &str) -> Vec<u8> {
    let vector = sending(frame, "nothing");
    let setting = setting();
    build(
        &vector.send[0],
        PATTERN,
        &Resolver {
            setting: &setting,
            sent: &vector.send[0],
        },
    )
    .unwrap()
}

/// Frames of every layer, whose lengths and checksums are right.
const RIGHT: [&str; 18] = [
    "4: ipv4(src=host4, dst=host6, tos=0xb8, ttl=17, df=1, id=0x1234) / udp(sport=1000, dport=2000) / payload(33)",
    "4: ipv4(src=host4, dst=host6, options=01010101) / udp / payload(32)",
    "4: ipv4(src=host4, dst=host6) / tcp(sport=1, dport=2, seq=3, ack=4, flags=SA, options=020405b4) / payload(9)",
    "4: ipv4(src=host4, dst=host6) / icmp(type=8, id=0x77, seq=9) / payload(32)",
    "4: ipv4(src=host4, dst=host6) / icmp(type=3, code=4, mtu=1300) / ipv4(src=host6, dst=host4) / udp / payload(32)",
    "4: ipv4(src=host4, dst=host6) / icmp(type=12, pointer=8) / ipv4(src=host6, dst=host4) / udp / payload(32)",
    "6: ipv6(src=host6, dst=host4, tc=0x2e, flow=0x12345, hlim=200) / udp / payload(31)",
    "6: ipv6(src=host6, dst=host4) / tcp(flags=S) / payload(0)",
    "6: ipv6(src=host6, dst=host4) / icmp6(type=128, id=1, seq=2) / payload(32)",
    "6: ipv6(src=host6, dst=host4) / icmp6(type=2, mtu=1300) / ipv6(src=host4, dst=host6) / udp / payload(32)",
    "6: ipv6(src=host6, dst=host4) / hopopts / udp / payload(32)",
    "6: ipv6(src=host6, dst=host4) / dstopts(options=010c000000000000000000000000) / icmp6(type=128) / payload(8)",
    "6: ipv6(src=host6, dst=host4) / routing(type=0, segleft=0) / udp / payload(32)",
    "6: ipv6(src=host6, dst=host4) / frag(id=0x11223344, offset=0, mf=0) / udp / payload(32)",
    "4: ipv4(src=host4, dst=dut4, tos=0x28) / ipv6(src=host4, dst=host6, tc=0xb8) / udp / payload(32)",
    "6: ipv6(src=host6, dst=host4, tc=0x28) / ipv4(src=host6, dst=host4, tos=0xb8) / tcp(flags=S) / payload(8)",
    "6: ipv6(src=host6, dst=host4) / encaplimit(limit=3) / ipv4(src=host6, dst=host4) / udp / payload(32)",
    "6: ipv6(src=host6, dst=host4) / icmp6(type=2, mtu=1400) / ipv6(src=host4, dst=host6) / ipv4(src=host4, dst=host6) / udp / payload(32)",
];

#[test]
fn etherparse_reads_the_fields_that_were_written() {
    let four = built(RIGHT[0]);
    let headers = PacketHeaders::from_ip_slice(&four).unwrap();
    let Some(NetHeaders::Ipv4(ip, _)) = headers.net else {
        panic!("{headers:?}")
    };
    assert_eq!(
        (
            ip.source,
            ip.destination,
            ip.time_to_live,
            ip.identification
        ),
        ([198, 19, 0, 2], [198, 18, 0, 2], 17, 0x1234)
    );
    assert_eq!(
        (
            ip.dscp.value() << 2 | ip.ecn.value(),
            ip.dont_fragment,
            ip.total_len
        ),
        (0xb8, true, 61)
    );
    assert_eq!(ip.header_checksum, ip.calc_header_checksum());
    let Some(TransportHeader::Udp(udp)) = headers.transport else {
        panic!("no UDP")
    };
    assert_eq!(
        (udp.source_port, udp.destination_port, udp.length),
        (1000, 2000, 41)
    );
    assert_eq!(
        udp.checksum,
        udp.calc_checksum_ipv4(&ip, headers.payload.slice())
            .unwrap()
    );
    assert_eq!(headers.payload.slice(), PATTERN.octets(0, 33));
}

#[test]
fn etherparse_finds_the_checksums_of_ipv6_right() {
    for frame in [RIGHT[6], RIGHT[10], RIGHT[13]] {
        let six = built(frame);
        let headers = PacketHeaders::from_ip_slice(&six).unwrap();
        let Some(NetHeaders::Ipv6(ip, _)) = headers.net else {
            panic!("{headers:?}")
        };
        assert_eq!(usize::from(ip.payload_length), six.len() - 40, "{frame}");
        let Some(TransportHeader::Udp(udp)) = headers.transport else {
            panic!("no UDP: {frame}")
        };
        assert_eq!(
            udp.checksum,
            udp.calc_checksum_ipv6(&ip, headers.payload.slice())
                .unwrap(),
            "{frame}"
        );
    }
}

#[test]
fn the_limit_of_encapsulation_is_an_option_of_eight_octets() {
    let sent = built(
        "6: ipv6(src=host6, dst=host4) / encaplimit(limit=3) / ipv4(src=host6, dst=host4) / udp / payload(32)",
    );
    // RFC 2473 section 5.1: the next header, no further octets, the option with its length and limit, and PadN with one octet.
    assert_eq!(sent[6], 60);
    assert_eq!(sent[40..48], [4, 0, 4, 1, 3, 1, 1, 0]);
}

#[test]
fn scapy_computes_the_same_lengths_and_checksums() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/src/tests/rebuild.py");
    let frames: Vec<String> = RIGHT
        .iter()
        .map(|frame| {
            built(frame)
                .iter()
                .map(|octet| format!("{octet:02x}"))
                .collect()
        })
        .collect();
    let mut command = Command::new("/usr/bin/python3");
    let output = command
        .arg(script)
        .args(&frames)
        .stdin(Stdio::null())
        .output()
        .expect("/usr/bin/python3 of Debian's python3");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "is Debian's python3-scapy installed? (scripts/install-dependencies) {error}"
    );
    let rebuilt = String::from_utf8(output.stdout).unwrap();
    for ((frame, ours), scapys) in RIGHT.iter().zip(&frames).zip(rebuilt.lines()) {
        assert_eq!(ours, scapys, "{frame}");
    }
    assert_eq!(rebuilt.lines().count(), RIGHT.len());
}

#[test]
fn what_a_vector_gives_is_written_although_it_is_wrong() {
    let right = built("4: ipv4(src=host4, dst=host6) / udp / payload(32)");
    let wrong =
        built("4: ipv4(src=host4, dst=host6, len=100, sum=bad) / udp(len=9, sum=0) / payload(32)");
    assert_eq!(wrong[2..4], [0, 100]);
    assert_eq!(wrong[24..28], [0, 9, 0, 0]);
    let spoilt = built("4: ipv4(src=host4, dst=host6, sum=bad) / udp / payload(32)");
    assert_eq!(spoilt[10..12], [right[10], right[11] ^ 1]);
    assert_eq!((&spoilt[..10], &spoilt[12..]), (&right[..10], &right[12..]));
}

#[test]
fn a_port_makes_the_checksum_zero_on_the_other_side() {
    let frame = "4: ipv4(src=host4, dst=host6) / udp(sport=zero-sum, dport=4097) / payload(33)";
    let sent = built(frame);
    let sport = u16::from_be_bytes([sent[20], sent[21]]);
    let across = built(&format!(
        "6: ipv6(src=host4, dst=host6) / udp(sport={sport}, dport=4097) / payload(33)"
    ));
    assert_eq!(across[46..48], [0xff, 0xff]);
    assert_ne!(sent[26..28], [0xff, 0xff]);
}

#[test]
fn an_address_that_the_device_does_not_have_is_named() {
    let vector = sending(
        "6: ipv6(src=host6, dst=dut4) / udp / payload(32)",
        "nothing",
    );
    let setting = setting();
    let error = build(
        &vector.send[0],
        PATTERN,
        &Resolver {
            setting: &setting,
            sent: &vector.send[0],
        },
    )
    .unwrap_err();
    assert_eq!(error.to_string(), "the recipe gives dut4 no IPv6 address");
}
