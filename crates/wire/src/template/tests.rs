//! Templates compared octet by octet; tests/patched_frames.rs uses arbitrary ones.

use super::blank::{MOST_IPV4, MOST_IPV6};
use super::*;
use crate::octets::hex;
use crate::{Ipv4View, Ipv6View, Tag, UdpView};

fn description(src: &str, dst: &str, frame_octets: usize) -> Description {
    Description {
        src_mac: MacAddress([2, 0, 0, 0, 0, 2]),
        dst_mac: MacAddress([2, 0, 0, 0, 0, 1]),
        src: src.parse().unwrap(),
        dst: dst.parse().unwrap(),
        hop_limit: 64,
        frame_octets,
        stream: 1,
        variable_at: Description::usual_variable_at(IpVersion::of(src.parse().unwrap())),
        transport: Transport::Udp,
        outer: None,
    }
}

fn ipv4(frame_octets: usize) -> Template {
    Template::new(&description("198.18.0.2", "198.19.0.2", frame_octets)).unwrap()
}

fn ipv6(frame_octets: usize) -> Template {
    Template::new(&description("2001:2::2", "2001:2:0:8000::2", frame_octets)).unwrap()
}

const VARIABLE: Variable = Variable {
    source_port: 4000,
    destination_port: 9,
    sequence: 0x01_0203_0405,
    time: StampedTime::new(0x1112_1314_1516_1718),
    addresses: None,
    subscriber: None,
};

#[test]
fn the_smallest_ipv4_frame_is_headers_and_tag_to_the_octet() {
    // Both checksums were computed with another program.
    let frame = ipv4(60).patched(&VARIABLE);
    let expected = [
        "0200000000010200000000020800",
        "4500002e000040004011ae95",
        "c6120002c6130002",
        "0fa00009001a72bf",
        "36626368010102030405",
        "1112131415161718",
    ];
    assert_eq!(*frame, *hex(&expected.concat()));
}

#[test]
fn the_smallest_ipv6_frame_is_read_back() {
    let frame = ipv6(80).patched(&VARIABLE);
    let ip = Ipv6View::new(&frame[14..]).unwrap();
    let udp = UdpView::new(ip.payload()).unwrap();
    assert!(udp.is_checksum_right(ip.pseudo_header()));
    assert_eq!((udp.source_port(), udp.destination_port()), (4000, 9));
    // This was computed with another program.
    assert_eq!(udp.checksum(), 0x3edf);
    let tag = Tag {
        stream: 1,
        sequence: 0x01_0203_0405,
        time_ns: 0x1112_1314_1516_1718,
    };
    assert_eq!(Tag::read(udp.payload()), Some(tag));
}

#[test]
fn the_unpatched_frame_is_a_right_frame_too() {
    let template = ipv4(1514);
    let ip = Ipv4View::new(&template.octets()[14..]).unwrap();
    let udp = UdpView::new(ip.payload()).unwrap();
    assert!(ip.is_checksum_right() && udp.is_checksum_right(ip.pseudo_header()));
    assert!(tag::pattern_is_whole(&udp.payload()[tag::LEN..]));
}

#[test]
fn variable_addresses_are_written_where_they_are_documented() {
    let variable = Variable {
        addresses: Some((0xc612_0102, 0xc613_fffe)),
        ..VARIABLE
    };
    let frame = ipv4(60).patched(&variable);
    let ip = Ipv4View::new(&frame[14..]).unwrap();
    assert_eq!(
        (ip.src().to_string(), ip.dst().to_string()),
        ("198.18.1.2".into(), "198.19.255.254".into())
    );
    let variable = Variable {
        addresses: Some((0x0102, 0x0001_ffff)),
        ..VARIABLE
    };
    let frame = ipv6(80).patched(&variable);
    let ip = Ipv6View::new(&frame[14..]).unwrap();
    assert_eq!(ip.src().to_string(), "2001:2::102:2");
    assert_eq!(ip.dst().to_string(), "2001:2:0:8000:0:1:ffff:2");
    assert_eq!(
        ipv6(80).addresses(&variable),
        (ip.src().into(), ip.dst().into())
    );
}

#[test]
fn frames_that_cannot_be_are_refused() {
    let refusal = |src, dst, octets| {
        Template::new(&description(src, dst, octets))
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        refusal("198.18.0.2", "198.19.0.2", 59),
        "IPv4 test frame of 59 octets (without FCS): expected 60 to 65549"
    );
    assert_eq!(
        refusal("2001:2::2", "2001:2::1", 79),
        "IPv6 test frame of 79 octets (without FCS): expected 80 to 65589"
    );
    assert!(refusal("198.18.0.2", "198.19.0.2", 65_550).contains("65550 octets"));
    assert!(refusal("198.18.0.2", "2001:2::1", 100).contains("different IP versions"));
}

#[test]
fn the_largest_frames_are_right() {
    let frame = ipv6(MOST_IPV6).patched(&VARIABLE);
    let ip = Ipv6View::new(&frame[14..]).unwrap();
    assert!(
        UdpView::new(ip.payload())
            .unwrap()
            .is_checksum_right(ip.pseudo_header())
    );
    assert!(
        Ipv4View::new(&ipv4(MOST_IPV4).octets()[14..])
            .unwrap()
            .is_checksum_right()
    );
}

#[test]
#[should_panic(expected = "at least its template's headers and tag")]
fn a_frame_of_another_template_is_a_bug() {
    ipv6(80).patch(&mut [0; 79], &VARIABLE);
}

#[test]
fn one_side_can_vary_while_the_other_stays() {
    let template = ipv6(80);
    let (_, destination) = template.own_parts();
    let variable = Variable {
        addresses: Some((7, destination)),
        ..VARIABLE
    };
    assert_eq!(template.addresses(&variable).1, template.dst());
}

#[test]
fn parts_vary_at_any_even_octet_and_nowhere_else() {
    let at = |address: (&str, &str), variable_at| {
        Template::new(&Description {
            variable_at,
            ..description(address.0, address.1, 80)
        })
    };
    let six = ("2001:2::2", "2001:2:0:8000::2");
    let template = at(six, (12, 6)).unwrap();
    let variable = Variable {
        addresses: Some((0xabcd, 0x80ff_0000)),
        ..VARIABLE
    };
    let frame = template.patched(&variable);
    let ip = Ipv6View::new(&frame[14..]).unwrap();
    assert_eq!(ip.src().to_string(), "2001:2::abcd");
    assert_eq!(ip.dst().to_string(), "2001:2:0:80ff::2");
    assert!(
        UdpView::new(ip.payload())
            .unwrap()
            .is_checksum_right(ip.pseudo_header())
    );
    assert_eq!(
        template.addresses(&variable),
        (ip.src().into(), ip.dst().into())
    );
    assert!(at(six, (13, 12)).is_err());
    assert!(at(six, (12, 14)).is_err());
    assert!(at(("198.18.0.2", "198.19.0.2"), (0, 2)).is_err());
}
