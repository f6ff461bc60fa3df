//! Port sets.

use proptest::prelude::*;

use super::*;

/// Returns port sets in which the subscriber's number is its PSID.
fn sets(offset: u8, psid_len: u8) -> PortRule {
    PortRule::new(offset, psid_len, 0, 0).unwrap()
}

/// Returns every offset and length for which port sets exist.
fn every_shape() -> impl Iterator<Item = (u8, u8)> {
    (0..=15u8)
        .flat_map(|offset| (1..=(16 - offset).min(15)).map(move |psid_len| (offset, psid_len)))
}

#[test]
fn the_examples_of_rfc_7597_appendix_b_2_come_out_but_for_port_0() {
    let ranges = sets(6, 8).ranges(0);
    assert_eq!(
        (ranges.len(), &ranges[..2]),
        (63, &[1024..=1027, 2048..=2051][..])
    );
    assert_eq!(ranges[61..], [63_488..=63_491, 64_512..=64_515]);
    assert_eq!(sets(0, 6).ranges(0), [1..=1023]);
}

#[test]
fn the_port_prefixes_of_rfc_7597_section_5_1_come_out() {
    let ports = sets(0, 8);
    assert_eq!(ports.ranges(0xff), [0xff00..=0xffff]);
    assert_eq!((ports.count(0), ports.count(1)), (255, 256));
    assert_eq!(
        (ports.port(0, 0), ports.port(1, 0), ports.port(0xff, 255)),
        (1, 256, 0xffff)
    );
}

#[test]
fn smaller_offsets_leave_out_more_ports() {
    assert_eq!(sets(4, 1).ranges(0)[0], 4096..=6143);
    assert_eq!(sets(1, 8).ranges(0), [32_768..=32_895]);
}

#[test]
fn port_sets_of_all_psids_share_the_ports_out_without_overlap() {
    for (offset, psid_len) in every_shape() {
        let ports = sets(offset, psid_len);
        let mut owners = vec![None; 65_536];
        for psid in 0..1 << psid_len {
            for nth in 0..ports.count(psid) {
                let port = ports.port(psid, nth);
                let before = owners[usize::from(port)].replace(psid as u16);
                assert_eq!(
                    before, None,
                    "port {port} with offset {offset} and length {psid_len}"
                );
            }
        }
        let excluded = if offset == 0 { 1 } else { 65_536 >> offset };
        assert!(
            owners[..excluded].iter().all(Option::is_none),
            "offset {offset} length {psid_len}"
        );
        assert!(
            owners[excluded..].iter().all(Option::is_some),
            "offset {offset} length {psid_len}"
        );
    }
}

#[test]
fn an_address_that_is_not_shared_has_all_ports_but_0() {
    let any = PortRule::ANY;
    assert_eq!(
        (any.count(7), any.psid(7), any.ranges(7)),
        (65_535, 0, vec![1..=65_535])
    );
    assert_eq!((any.port(7, 0), any.port(7, 65_534)), (1, 65_535));
    assert_eq!(PortRule::new(6, 0, 3, 2), Ok(any));
    assert!(!any.is_restricted());
}

#[test]
fn the_psid_is_taken_from_the_number_of_the_first_subscriber_on() {
    let ports = PortRule::new(6, 8, 0x30, 4).unwrap();
    assert_eq!(
        (ports.psid(0), ports.psid(0x0f), ports.psid(0x10)),
        (3, 3, 4)
    );
}

#[test]
fn shapes_that_fit_no_port_are_refused() {
    let made = |offset, len| refusal(PortRule::new(offset, len, 0, 0));
    assert_eq!(
        made(16, 0),
        "PSID offset 16 is not allowed: expected 0 to 15 (RFC 7598 section 4.5); 6 leaves out the system ports"
    );
    assert_eq!(
        made(6, 11),
        "PSID offset 6 and PSID length 11 take 17 of a port's 16 bits; shorten one of them"
    );
    assert_eq!(
        made(1, 255),
        "PSID offset 1 and PSID length 255 take 256 of a port's 16 bits; shorten one of them"
    );
    assert_eq!(
        made(0, 16),
        "PSID length 16 makes sets of one port, and that of PSID 0 is port 0, which cannot be used; expected up to 15"
    );
    assert!(refusal(PortRule::new(6, 8, 0, 64)).starts_with("a field takes bits from bit 64"));
}

/// Returns the ports by RFC 7597 appendix B, formulas (1) and (2), excluding A = 0 or only port 0.
fn slow_ports(offset: u8, psid_len: u8, psid: u32) -> Vec<u16> {
    let (r, m) = (1 << psid_len, 1 << (16 - offset - psid_len));
    let blocks = u32::from(offset > 0)..65_536 / (r * m);
    let ports = blocks.flat_map(|i| (0..m).map(move |j| r * m * i + m * psid + j));
    ports
        .filter(|&port| port != 0)
        .map(|port| port as u16)
        .collect()
}

proptest! {
    #[test]
    fn a_port_set_is_that_of_the_rfc_s_formula(
        offset in 0u8..=15, len: u8, first in 0..u64::MAX / 2, e in 0..u64::MAX / 2, take in 0u8..64,
    ) {
        let psid_len = 1 + len % (16 - offset).min(15);
        let ports = PortRule::new(offset, psid_len, first, take).unwrap();
        let psid = ((first + e) >> take) % (1 << psid_len);
        prop_assert_eq!(u64::from(ports.psid(e)), psid);
        let expected = slow_ports(offset, psid_len, psid as u32);
        let made: Vec<_> = (0..ports.count(e)).map(|nth| ports.port(e, nth)).collect();
        prop_assert_eq!(&made, &expected);
        let in_ranges: Vec<_> = ports.ranges(e).into_iter().flatten().collect();
        prop_assert_eq!(&in_ranges, &expected);
    }
}
