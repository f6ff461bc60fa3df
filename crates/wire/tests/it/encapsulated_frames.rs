//! Encapsulated frames, frames of subscribers and echoes, parsed by etherparse, which shares no code with this crate.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use etherparse::{NetSlice, SlicedPacket, TransportSlice};
use proptest::prelude::*;
use sixbench_wire::template::{DatagramEnd, OuterHeader, SubscriberAddresses, Transport};
use sixbench_wire::{
    Description, EchoKind, IpVersion, MacAddress, StampedTime, Tag, Template, Variable,
};

const VARIABLE: Variable = Variable {
    source_port: 4000,
    destination_port: 9,
    sequence: 0x01_0203_0405,
    time: StampedTime::new(0x1112_1314_1516_1718),
    addresses: None,
    subscriber: None,
};

fn any_pair(is_ipv4: bool) -> BoxedStrategy<(IpAddr, IpAddr)> {
    if is_ipv4 {
        any::<(u32, u32)>()
            .prop_map(|(s, d)| (Ipv4Addr::from(s).into(), Ipv4Addr::from(d).into()))
            .boxed()
    } else {
        any::<(u128, u128)>()
            .prop_map(|(s, d)| (Ipv6Addr::from(s).into(), Ipv6Addr::from(d).into()))
            .boxed()
    }
}

/// Returns a template of 6-in-4 or 4-in-6, whose source or destination is a subscriber's.
fn template() -> impl Strategy<Value = (Template, SubscriberAddresses)> {
    let ends = any::<bool>()
        .prop_flat_map(|is_six_in_four| (any_pair(!is_six_in_four), any_pair(is_six_in_four)));
    let rest = (
        104usize..1514,
        any::<bool>(),
        any::<(u128, u128)>(),
        any::<(u8, u8)>(),
        any::<(bool, bool)>(),
    );
    (ends, rest).prop_map(
        |((inner, outer), (frame_octets, is_source, bits, hops, varies))| {
            let end = if is_source {
                DatagramEnd::Source
            } else {
                DatagramEnd::Destination
            };
            let zero: IpAddr = if inner.0.is_ipv4() {
                Ipv4Addr::UNSPECIFIED.into()
            } else {
                Ipv6Addr::UNSPECIFIED.into()
            };
            let at = |own: IpAddr, is_here: bool| if is_here && varies.0 { zero } else { own };
            let bits_of =
                |bits: u128, is_ipv4: bool| if is_ipv4 { bits & 0xffff_ffff } else { bits };
            let subscriber = SubscriberAddresses {
                end,
                inner: varies.0.then(|| bits_of(bits.0, inner.0.is_ipv4())),
                outer: varies.1.then(|| bits_of(bits.1, outer.0.is_ipv4())),
            };
            let description = Description {
                src_mac: MacAddress([2; 6]),
                dst_mac: MacAddress([4; 6]),
                src: at(inner.0, is_source),
                dst: at(inner.1, !is_source),
                hop_limit: hops.0,
                frame_octets,
                stream: 1,
                variable_at: Description::usual_variable_at(IpVersion::of(inner.0)),
                transport: Transport::Udp,
                outer: Some(OuterHeader {
                    src: outer.0,
                    dst: outer.1,
                    hop_limit: hops.1,
                }),
            };
            (Template::new(&description).unwrap(), subscriber)
        },
    )
}

/// Returns version 4 or 6, addresses, hop limit, protocol and payload of an IP header that etherparse parsed; its checksum must be right.
fn read<'a>(net: &Option<NetSlice<'a>>) -> ((IpAddr, IpAddr), u8, u8, &'a [u8]) {
    match net.as_ref().expect("an IP header") {
        NetSlice::Ipv4(ip) => {
            let header = ip.header();
            assert_eq!(
                header.header_checksum(),
                header.to_header().calc_header_checksum()
            );
            let addresses = (
                header.source_addr().into(),
                header.destination_addr().into(),
            );
            (
                addresses,
                header.ttl(),
                header.protocol().0,
                ip.payload().payload,
            )
        }
        NetSlice::Ipv6(ip) => {
            let header = ip.header();
            let addresses = (
                header.source_addr().into(),
                header.destination_addr().into(),
            );
            (
                addresses,
                header.hop_limit(),
                header.next_header().0,
                ip.payload().payload,
            )
        }
        other @ NetSlice::Arp(_) => panic!("{other:?}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn etherparse_finds_the_datagram_in_its_outer_header((template, subscriber) in template()) {
        let variable = Variable { subscriber: Some(subscriber), ..VARIABLE };
        let mut frame = template.patched(&VARIABLE);
        template.patch(&mut frame, &variable);
        prop_assert_eq!(&frame, &template.patched(&variable), "what was there before does not matter");
        prop_assert_eq!(frame.len(), template.frame_octets());

        let outer = SlicedPacket::from_ethernet(&frame).unwrap();
        let (outer_addresses, outer_hops, protocol, datagram) = read(&outer.net);
        prop_assert_eq!(Some(outer_addresses), template.outer_addresses(&variable));
        prop_assert_eq!(outer_hops, template.description().outer.unwrap().hop_limit);
        prop_assert_eq!(protocol, if template.src().is_ipv4() { 4 } else { 41 });

        let inner = SlicedPacket::from_ip(datagram).unwrap();
        let (addresses, hops, _, _) = read(&inner.net);
        prop_assert_eq!(addresses, template.addresses(&variable));
        prop_assert_eq!(hops, template.description().hop_limit);
        let Some(TransportSlice::Udp(udp)) = inner.transport else { panic!("no udp") };
        let header = udp.to_header();
        prop_assert_eq!(header.checksum, template.expected_udp_checksum(&variable));
        let checksum = match inner.net.unwrap() {
            NetSlice::Ipv4(ip) => header.calc_checksum_ipv4(&ip.header().to_header(), udp.payload()).unwrap(),
            NetSlice::Ipv6(ip) => header.calc_checksum_ipv6(&ip.header().to_header(), udp.payload()).unwrap(),
            other @ NetSlice::Arp(_) => panic!("{other:?}"),
        };
        prop_assert_eq!(header.checksum, checksum);
        prop_assert_eq!(Tag::read(udp.payload()).map(|tag| tag.sequence), Some(variable.sequence));
    }

    #[test]
    fn etherparse_finds_an_echo_with_a_right_checksum(reply: bool, ports: (u16, u16), time: u64, own: u128, octets in 80usize..1514) {
        let (transport, kind) = if reply { (EchoKind::Reply, 129) } else { (EchoKind::Request, 128) };
        let description = Description {
            src_mac: MacAddress([2; 6]),
            dst_mac: MacAddress([4; 6]),
            src: Ipv6Addr::UNSPECIFIED.into(),
            dst: "2001:2:0:8000::2".parse().unwrap(),
            hop_limit: 64,
            frame_octets: octets,
            stream: 1,
            variable_at: (12, 12),
            transport: Transport::Echo(transport),
            outer: None,
        };
        let subscriber = Some(SubscriberAddresses { end: DatagramEnd::Source, inner: Some(own), outer: None });
        let time = StampedTime::new(time);
        let variable = Variable { source_port: ports.0, destination_port: ports.1, time, subscriber, ..VARIABLE };
        let template = Template::new(&description).unwrap();
        let frame = template.patched(&variable);
        let packet = SlicedPacket::from_ethernet(&frame).unwrap();
        let Some(NetSlice::Ipv6(ip)) = packet.net else { panic!("no ipv6") };
        prop_assert_eq!(u128::from(ip.header().source_addr()), own);
        let Some(TransportSlice::Icmpv6(icmp)) = packet.transport else { panic!("no icmpv6") };
        prop_assert_eq!(icmp.type_u8(), kind);
        prop_assert!(icmp.is_checksum_valid(ip.header().source(), ip.header().destination()));
        let words = u32::from(ports.0) << 16 | u32::from(ports.1);
        prop_assert_eq!(icmp.bytes5to8(), words.to_be_bytes());
    }
}
