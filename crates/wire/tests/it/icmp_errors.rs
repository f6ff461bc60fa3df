//! Error messages built by etherparse, which shares no code with this crate, read again.

use etherparse::icmpv4::{DestUnreachableHeader, ParameterProblemHeader};
use etherparse::{Icmpv4Type, PacketBuilder, icmpv6};
use etherparse::{Icmpv6Type, icmpv4};
use sixbench_wire::{EthernetView, IcmpErrorView, IpVersion, Ipv4View, Ipv6View, Tag};

const MACS: [[u8; 6]; 2] = [[2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2]];
const TAG: Tag = Tag {
    stream: 1,
    sequence: 123_456,
    time_ns: 789,
};

fn payload() -> Vec<u8> {
    let mut payload = vec![0; 400];
    TAG.emit(&mut payload);
    payload
}

/// Returns the test frame's datagram.
fn datagram(version: IpVersion) -> Vec<u8> {
    let mut frame = Vec::new();
    let builder = PacketBuilder::ethernet2(MACS[0], MACS[1]);
    match version {
        IpVersion::V4 => builder
            .ipv4([198, 18, 0, 2], [198, 19, 0, 2], 64)
            .udp(4000, 9)
            .write(&mut frame, &payload()),
        IpVersion::V6 => builder
            .ipv6([0x20; 16], [0x21; 16], 64)
            .udp(4000, 9)
            .write(&mut frame, &payload()),
    }
    .expect("a frame");
    frame.split_off(14)
}

/// Returns type, code, MTU and pointer of an ICMPv6 error as it is read; its checksum and the tag are compared.
fn read6(kind: Icmpv6Type) -> (u8, u8, Option<u32>, Option<u32>) {
    let mut frame = Vec::new();
    let builder = PacketBuilder::ethernet2(MACS[1], MACS[0])
        .ipv6([0x22; 16], [0x20; 16], 64)
        .icmpv6(kind);
    builder
        .write(&mut frame, &datagram(IpVersion::V6))
        .expect("a frame");
    let ip =
        Ipv6View::new(EthernetView::new(&frame).expect("a frame").payload()).expect("a datagram");
    let message = IcmpErrorView::new(IpVersion::V6, ip.payload()).expect("an error");
    assert!(message.is_checksum_right(ip.pseudo_header()));
    assert_eq!(message.quoted_tag(), Some(TAG));
    (
        message.kind(),
        message.code(),
        message.mtu(),
        message.pointer(),
    )
}

/// Reads the same of an ICMP error.
fn read4(kind: Icmpv4Type) -> (u8, u8, Option<u32>, Option<u32>) {
    let mut frame = Vec::new();
    let builder = PacketBuilder::ethernet2(MACS[1], MACS[0])
        .ipv4([198, 18, 0, 1], [198, 18, 0, 2], 64)
        .icmpv4(kind);
    builder
        .write(&mut frame, &datagram(IpVersion::V4))
        .expect("a frame");
    let ip =
        Ipv4View::new(EthernetView::new(&frame).expect("a frame").payload()).expect("a datagram");
    let message = IcmpErrorView::new(IpVersion::V4, ip.payload()).expect("an error");
    assert!(message.is_checksum_right(0));
    assert_eq!(message.quoted_tag(), Some(TAG));
    (
        message.kind(),
        message.code(),
        message.mtu(),
        message.pointer(),
    )
}

#[test]
fn every_kind_of_icmpv6_error_is_read_with_its_value() {
    assert_eq!(
        read6(Icmpv6Type::PacketTooBig { mtu: 1280 }),
        (2, 0, Some(1280), None)
    );
    assert_eq!(
        read6(Icmpv6Type::DestinationUnreachable(
            icmpv6::DestUnreachableCode::Prohibited
        )),
        (1, 1, None, None)
    );
    assert_eq!(
        read6(Icmpv6Type::DestinationUnreachable(
            icmpv6::DestUnreachableCode::RejectRoute
        )),
        (1, 6, None, None)
    );
    assert_eq!(
        read6(Icmpv6Type::TimeExceeded(
            icmpv6::TimeExceededCode::HopLimitExceeded
        )),
        (3, 0, None, None)
    );
    let problem = icmpv6::ParameterProblemHeader {
        code: icmpv6::ParameterProblemCode::UnrecognizedNextHeader,
        pointer: 40,
    };
    assert_eq!(
        read6(Icmpv6Type::ParameterProblem(problem)),
        (4, 1, None, Some(40))
    );
}

#[test]
fn every_kind_of_icmp_error_is_read_with_its_value() {
    let too_big = DestUnreachableHeader::FragmentationNeeded { next_hop_mtu: 576 };
    assert_eq!(
        read4(Icmpv4Type::DestinationUnreachable(too_big)),
        (3, 4, Some(576), None)
    );
    assert_eq!(
        read4(Icmpv4Type::DestinationUnreachable(
            DestUnreachableHeader::Port
        )),
        (3, 3, None, None)
    );
    assert_eq!(
        read4(Icmpv4Type::TimeExceeded(
            icmpv4::TimeExceededCode::TtlExceededInTransit
        )),
        (11, 0, None, None)
    );
    let problem = ParameterProblemHeader::PointerIndicatesError(20);
    assert_eq!(
        read4(Icmpv4Type::ParameterProblem(problem)),
        (12, 0, None, Some(20))
    );
}
