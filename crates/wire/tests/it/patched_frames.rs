//! Patched templates, parsed by etherparse, which shares no code with this crate.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use etherparse::{NetSlice, SlicedPacket, TransportSlice};
use proptest::prelude::*;
use sixbench_wire::tag::{MAX_SEQUENCE, pattern_is_whole};
use sixbench_wire::template::Transport;
use sixbench_wire::{Description, MacAddress, StampedTime, Tag, Template, Variable};

fn addresses() -> impl Strategy<Value = (IpAddr, IpAddr)> {
    prop_oneof![
        any::<(u32, u32)>().prop_map(|(s, d)| (Ipv4Addr::from(s).into(), Ipv4Addr::from(d).into())),
        any::<(u128, u128)>()
            .prop_map(|(s, d)| (Ipv6Addr::from(s).into(), Ipv6Addr::from(d).into())),
    ]
}

/// Returns a template. IPv6 frames are 20 octets longer than IPv4's, so that both start at their minimum.
fn template() -> impl Strategy<Value = Template> {
    let sizes = prop_oneof![4 => 60usize..=1514, 1 => Just(60), 1 => 1515usize..=9212];
    let rest = (any::<[u8; 12]>(), any::<(u8, u8)>(), (0usize..7, 0usize..7));
    (addresses(), sizes, rest).prop_map(
        |((src, dst), octets, (macs, (hop_limit, stream), places))| {
            let frame_octets = if src.is_ipv6() {
                octets.max(80)
            } else {
                octets
            };
            let [dst_mac, src_mac] =
                [0, 6].map(|at| MacAddress(macs[at..at + 6].try_into().unwrap()));
            let places_of_32_bits = if src.is_ipv4() { 1 } else { 7 };
            let variable_at = (
                places.0 % places_of_32_bits * 2,
                places.1 % places_of_32_bits * 2,
            );
            let description = Description {
                variable_at,
                src_mac,
                dst_mac,
                src,
                dst,
                hop_limit,
                frame_octets,
                stream,
                transport: Transport::Udp,
                outer: None,
            };
            Template::new(&description).unwrap()
        },
    )
}

fn variable() -> impl Strategy<Value = Variable> {
    let addresses = prop::option::of(any::<(u32, u32)>());
    (
        any::<(u16, u16)>(),
        0..=MAX_SEQUENCE,
        any::<u64>(),
        addresses,
    )
        .prop_map(
            |((source_port, destination_port), sequence, time_ns, addresses)| Variable {
                source_port,
                destination_port,
                sequence,
                time: StampedTime::new(time_ns),
                addresses,
                subscriber: None,
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn etherparse_finds_every_field_and_checksum_right(template in template(), variable in variable()) {
        let frame = template.patched(&variable);
        let packet = SlicedPacket::from_ethernet(&frame).unwrap();
        let Some(TransportSlice::Udp(udp)) = packet.transport else { panic!("no udp") };
        let header = udp.to_header();
        prop_assert_eq!((header.source_port, header.destination_port), (variable.source_port, variable.destination_port));
        prop_assert_eq!(header.checksum, template.expected_udp_checksum(&variable));
        let (addresses, checksum) = match packet.net.unwrap() {
            NetSlice::Ipv4(ip) => {
                let ip = ip.header();
                prop_assert_eq!(ip.header_checksum(), ip.to_header().calc_header_checksum());
                prop_assert_eq!(usize::from(ip.total_len()) + 14, frame.len());
                prop_assert_eq!(ip.ttl(), template.description().hop_limit);
                let checksum = header.calc_checksum_ipv4(&ip.to_header(), udp.payload()).unwrap();
                ((ip.source_addr().into(), ip.destination_addr().into()), checksum)
            }
            NetSlice::Ipv6(ip) => {
                let ip = ip.header();
                prop_assert_eq!(usize::from(ip.payload_length()) + 54, frame.len());
                prop_assert_eq!(ip.hop_limit(), template.description().hop_limit);
                let checksum = header.calc_checksum_ipv6(&ip.to_header(), udp.payload()).unwrap();
                ((ip.source_addr().into(), ip.destination_addr().into()), checksum)
            }
            other @ NetSlice::Arp(_) => panic!("{other:?}"),
        };
        prop_assert_eq!(header.checksum, checksum);
        prop_assert_eq!(addresses, template.addresses(&variable));
        let tag = Tag {
            stream: template.description().stream,
            sequence: variable.sequence,
            time_ns: variable.time.time_ns(),
        };
        prop_assert_eq!(Tag::read(udp.payload()), Some(tag));
        prop_assert!(pattern_is_whole(&udp.payload()[Tag::LEN..]));
    }

    #[test]
    fn patching_twice_equals_patching_once_with_the_last_values(
        template in template(), first in variable(), last in variable()
    ) {
        let mut frame = template.patched(&first);
        template.patch(&mut frame, &last);
        prop_assert_eq!(frame, template.patched(&last));
    }
}
