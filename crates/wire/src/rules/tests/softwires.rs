//! Binding tables of lightweight 4over6, and DS-Lite.

use proptest::prelude::*;

use super::*;

const PER_SUBNET: B4Layout = B4Layout::PerSubnet { interface: 1 };

fn b4s(prefix: &str, layout: B4Layout) -> B4Addresses {
    B4Addresses::new(v6(prefix), layout).unwrap()
}

fn table() -> Softwires {
    Softwires::new(b4s("2001:db8:b4::/48", PER_SUBNET), v4("192.0.2.0/24"), 6, 0).unwrap()
}

#[test]
fn entries_go_through_the_port_sets_of_one_address_after_the_other() {
    let table = table();
    assert_eq!(table.subscribers(), 256 * 64);
    let (b4, psid_len, psid_offset) = ("2001:db8:b4:41::1".parse().unwrap(), 6, 0);
    let expected = Binding { b4, ipv4: ipv4("192.0.2.1"), psid: 1, psid_len, psid_offset };
    assert_eq!(table.entry(65), expected);
    assert_eq!(table.ports().ranges(65), [1024..=2047]);
    assert_eq!((table.number(expected.ipv4, 1), table.number(expected.ipv4, 64)), (Some(65), None));
    assert_eq!(table.number(ipv4("192.0.3.1"), 1), None);
    assert_eq!((table.b4s().prefix(), table.ipv4_prefix()), (v6("2001:db8:b4::/48"), v4("192.0.2.0/24")));
}

#[test]
fn b4s_can_stand_side_by_side_after_the_anycast_address() {
    let table = Softwires::new(b4s("2001:db8::/64", B4Layout::PerAddress), v4("192.0.2.1"), 2, 6).unwrap();
    let made: Vec<_> = (0..4).map(|e| table.ipv6().address(e)).collect();
    assert_eq!(made, ["2001:db8::1", "2001:db8::2", "2001:db8::3", "2001:db8::4"].map(ip));
    assert_eq!((table.entry(3).psid, table.entry(3).ipv4), (3, ipv4("192.0.2.1")));
}

#[test]
fn a_table_ends_where_the_room_for_b4s_does() {
    let few = Softwires::new(b4s("2001:db8::/62", PER_SUBNET), v4("192.0.2.0/24"), 6, 0).unwrap();
    assert_eq!((few.subscribers(), few.entry(3).b4), (4, "2001:db8:0:3::1".parse().unwrap()));
    assert_eq!(few.number(ipv4("192.0.2.0"), 4), None);
    let fewer = Softwires::new(b4s("2001:db8::/127", B4Layout::PerAddress), v4("192.0.2.0/24"), 6, 0).unwrap();
    assert_eq!(fewer.subscribers(), 1);
}

#[test]
fn b4s_can_make_their_addresses_as_map_ces_do() {
    // The interface identifiers of RFC 7596 figure 3 are those of RFC 7597, so a mapping rule tells.
    let table = Softwires::derived(v6("2001:db8:ce::/51"), v4("192.0.2.0/24"), 5, 0).unwrap();
    let map = MapRule::new(v6("2001:db8:ce::/51"), v4("192.0.2.0/24"), 13, 0).unwrap();
    assert_eq!(table.ipv6().address(0x41), ip("2001:db8:ce:41:0:c000:202:1"));
    assert!((0..map.subscribers()).all(|e| table.ipv6().bits(e) == map.ipv6().bits(e)));
    assert_eq!(table.entry(0x41).b4, "2001:db8:ce:41:0:c000:202:1".parse::<std::net::Ipv6Addr>().unwrap());
    let second = table.numbered(0x41, None).unwrap();
    assert_eq!(second.ipv6().address(0), ip("2001:db8:ce:41:0:c000:202:1"));
    assert!(Softwires::derived(v6("2001:db8::/65"), v4("192.0.2.0/24"), 5, 0).is_err());
}

#[test]
fn a_table_can_begin_after_the_system_ports() {
    let one = Softwires::new(b4s("2001:db8:b4::/48", PER_SUBNET), v4("192.0.2.1"), 6, 0).unwrap();
    let table = one.numbered(1, None).unwrap();
    assert_eq!((table.subscribers(), table.entry(0).psid), (63, 1));
    assert_eq!(table.entry(0).b4, "2001:db8:b4:1::1".parse::<std::net::Ipv6Addr>().unwrap());
    assert_eq!((table.number(ipv4("192.0.2.1"), 1), table.number(ipv4("192.0.2.1"), 0)), (Some(0), None));
    assert!(refusal(one.numbered(0, Some(65))).starts_with("binding table: 65 subscribers from number 0 on"));
}

#[test]
fn whole_addresses_can_be_bound() {
    let table = Softwires::new(b4s("2001:db8:b4::/48", PER_SUBNET), v4("192.0.2.0/24"), 0, 0).unwrap();
    assert_eq!((table.subscribers(), table.ports()), (256, PortRule::ANY));
    assert_eq!(table.entry(7).ipv4, ipv4("192.0.2.7"));
}

#[test]
fn tables_that_cannot_be_are_refused() {
    let long = refusal(B4Addresses::new(v6("2001:db8::/65"), PER_SUBNET));
    assert_eq!(long, "2001:db8::/65 has no room for addresses of B4s: expected at most /64");
    assert!(refusal(B4Addresses::new(v6("2001:db8::1"), B4Layout::PerAddress)).ends_with("expected at most /127"));
    let made = Softwires::new(b4s("2001:db8::/48", PER_SUBNET), v4("192.0.2.0/24"), 11, 6);
    assert!(refusal(made).starts_with("PSID offset 6 and PSID length 11 take 17"));
}

#[test]
fn the_subscribers_of_ds_lite_may_all_have_the_same_address() {
    let alike = DsLite::alike(b4s("2001:db8:b4::/48", PER_SUBNET), DsLite::B4);
    assert_eq!((alike.subscribers(), alike.ports()), (65_536, PortRule::ANY));
    assert_eq!((alike.ipv4().address(0), alike.ipv4().address(9)), (ip("192.0.0.2"), ip("192.0.0.2")));
    assert_eq!(alike.ipv6().address(9), ip("2001:db8:b4:9::1"));
    assert_eq!(DsLite::AFTR, ipv4("192.0.0.1"));
}

#[test]
fn the_subscribers_of_ds_lite_may_have_an_address_each() {
    let own = DsLite::each_its_own(b4s("2001:db8:b4::/48", PER_SUBNET), v4("10.0.0.0/24"));
    let own = own.numbered(1, Some(254)).unwrap();
    assert_eq!((own.subscribers(), own.ipv4().address(0)), (254, ip("10.0.0.1")));
    assert_eq!(own.ipv6().address(0), ip("2001:db8:b4:1::1"));
    assert!(refusal(own.numbered(0, Some(257))).starts_with("DS-Lite: 257 subscribers"));
}

#[test]
fn the_largest_prefixes_do_not_overflow() {
    assert_eq!(b4s("::/0", PER_SUBNET).room(), u64::MAX);
    assert_eq!(b4s("::/0", B4Layout::PerAddress).room(), u64::MAX);
    let all = DsLite::alike(b4s("::/0", B4Layout::PerAddress), DsLite::B4);
    assert_eq!(all.ipv6().bits(u64::MAX - 1), u128::from(u64::MAX));
}

proptest! {
    #[test]
    fn every_entry_is_found_again(
        len in 0u8..=127, len4 in 0u8..=32, psid_len in 0u8..=15, offset in 0u8..=15, first: u64, e: u64, dense: bool,
    ) {
        let (layout, most) = if dense { (B4Layout::PerAddress, 127) } else { (B4Layout::PerSubnet { interface: 0xb4 }, 64) };
        let (len, psid_len) = (len.min(most), psid_len.min(16 - offset));
        let (prefix, ipv4) = (Prefix6::new(0.into(), len).unwrap(), Prefix4::new(0.into(), len4).unwrap());
        let table = Softwires::new(B4Addresses::new(prefix, layout).unwrap(), ipv4, psid_len, offset).unwrap();
        let table = table.numbered(first % table.subscribers(), None).unwrap();
        let e = e % table.subscribers();
        let entry = table.entry(e);
        prop_assert_eq!(table.number(entry.ipv4, entry.psid), Some(e));
        prop_assert_eq!(table.ipv6().number_of(entry.b4.into()), Some(e));
        prop_assert_eq!((entry.psid_len, entry.psid_offset), (psid_len, offset));
        prop_assert_eq!((entry.psid, IpAddr::V4(entry.ipv4)), (table.ports().psid(e), table.ipv4().address(e)));
    }
}
