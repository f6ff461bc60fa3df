//! Binding tables of lightweight 4over6, and DS-Lite.

use proptest::prelude::*;

use super::*;

const PER_SUBNET: B4Layout = B4Layout::PerSubnet { interface: 1 };

fn b4s(prefix: &str, layout: B4Layout) -> B4Addresses {
    B4Addresses::new(v6(prefix), layout).unwrap()
}

fn table() -> Softwires {
    Softwires::new(
        b4s("2001:db8:b4::/48", PER_SUBNET),
        v4("192.0.2.0/24"),
        6,
        0,
    )
    .unwrap()
}

#[test]
fn entries_go_through_the_port_sets_of_one_address_after_the_other() {
    let table = table();
    assert_eq!(table.subscribers(), 256 * 64);
    assert_eq!(
        (table.ipv6().address(65), table.ipv4().address(65)),
        (ip("2001:db8:b4:41::1"), ip("192.0.2.1"))
    );
    assert_eq!(
        (table.ports().psid(65), table.ports().ranges(65)),
        (1, vec![1024..=2047])
    );
}

#[test]
fn b4s_can_stand_side_by_side_after_the_anycast_address() {
    let table = Softwires::new(
        b4s("2001:db8::/64", B4Layout::PerAddress),
        v4("192.0.2.1"),
        2,
        6,
    )
    .unwrap();
    let made: Vec<_> = (0..4).map(|e| table.ipv6().address(e)).collect();
    assert_eq!(
        made,
        ["2001:db8::1", "2001:db8::2", "2001:db8::3", "2001:db8::4"].map(ip)
    );
    assert_eq!(
        (table.ports().psid(3), table.ipv4().address(3)),
        (3, ip("192.0.2.1"))
    );
}

#[test]
fn a_table_ends_where_the_room_for_b4s_does() {
    let few = Softwires::new(b4s("2001:db8::/62", PER_SUBNET), v4("192.0.2.0/24"), 6, 0).unwrap();
    assert_eq!(
        (few.subscribers(), few.ipv6().address(3)),
        (4, ip("2001:db8:0:3::1"))
    );
    let fewer = Softwires::new(
        b4s("2001:db8::/127", B4Layout::PerAddress),
        v4("192.0.2.0/24"),
        6,
        0,
    )
    .unwrap();
    assert_eq!(fewer.subscribers(), 1);
}

#[test]
fn whole_addresses_can_be_bound() {
    let table = Softwires::new(
        b4s("2001:db8:b4::/48", PER_SUBNET),
        v4("192.0.2.0/24"),
        0,
        0,
    )
    .unwrap();
    assert_eq!((table.subscribers(), table.ports()), (256, PortRule::ANY));
    assert_eq!(table.ipv4().address(7), ip("192.0.2.7"));
}

#[test]
fn tables_that_cannot_be_are_refused() {
    let long = refusal(B4Addresses::new(v6("2001:db8::/65"), PER_SUBNET));
    assert_eq!(
        long,
        "2001:db8::/65 has no room for addresses of B4s: expected at most /64"
    );
    assert!(
        refusal(B4Addresses::new(v6("2001:db8::1"), B4Layout::PerAddress))
            .ends_with("expected at most /127")
    );
    let made = Softwires::new(b4s("2001:db8::/48", PER_SUBNET), v4("192.0.2.0/24"), 11, 6);
    assert!(refusal(made).starts_with("PSID offset 6 and PSID length 11 take 17"));
}

#[test]
fn the_subscribers_of_ds_lite_may_all_have_the_same_address() {
    let alike = DsLite::alike(b4s("2001:db8:b4::/48", PER_SUBNET), DsLite::B4);
    assert_eq!(alike.subscribers(), 65_536);
    assert_eq!(
        (alike.ipv4().address(0), alike.ipv4().address(9)),
        (ip("192.0.0.2"), ip("192.0.0.2"))
    );
    assert_eq!(alike.ipv6().address(9), ip("2001:db8:b4:9::1"));
    assert_eq!(DsLite::AFTR, ipv4("192.0.0.1"));
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
    fn no_two_entries_have_the_same_b4_or_the_same_share_of_an_address(
        len in 0u8..=127, len4 in 0u8..=32, psid_len in 0u8..=15, offset in 0u8..=15, e: u64, other: u64, dense: bool,
    ) {
        let (layout, most) = if dense { (B4Layout::PerAddress, 127) } else { (B4Layout::PerSubnet { interface: 0xb4 }, 64) };
        let (len, psid_len) = (len.min(most), psid_len.min(16 - offset));
        let (prefix, ipv4) = (Prefix6::new(0.into(), len).unwrap(), Prefix4::new(0.into(), len4).unwrap());
        let table = Softwires::new(B4Addresses::new(prefix, layout).unwrap(), ipv4, psid_len, offset).unwrap();
        let (e, other) = (e % table.subscribers(), other % table.subscribers());
        prop_assert_eq!(table.ipv6().bits(e) == table.ipv6().bits(other), e == other);
        let share = |e| (table.ipv4().bits(e), table.ports().psid(e));
        prop_assert_eq!(share(e) == share(other), e == other);
        prop_assert_eq!(share(e), (u128::from(e >> psid_len), (e & ((1 << psid_len) - 1)) as u16));
    }
}
