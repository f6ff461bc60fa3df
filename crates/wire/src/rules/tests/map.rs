//! Mapping rules and domains of MAP-E and MAP-T.

use proptest::prelude::*;

use super::*;

fn rule(ipv6: &str, ipv4: &str, ea_bits: u8, offset: u8) -> Result<MapRule, RuleError> {
    MapRule::new(v6(ipv6), v4(ipv4), ea_bits, offset)
}

/// RFC 7597 appendix A, example 1.
fn example_1() -> MapRule {
    rule("2001:db8::/40", "192.0.2.0/24", 16, MapRule::DEFAULT_PSID_OFFSET).unwrap()
}

/// A published measurement of MAP-T: contiguous port sets.
fn contiguous() -> MapRule {
    rule("2001:db8:ce::/51", "192.0.2.0/24", 13, 0).unwrap()
}

#[track_caller]
fn has_the_ports_of_example_1(ports: &PortRule, e: u64) {
    let ranges = ports.ranges(e);
    assert_eq!((ports.psid(e), ranges.len()), (0x34, 63));
    assert_eq!(ranges[..2], [1232..=1235, 2256..=2259]);
    assert_eq!(ranges[61..], [63_696..=63_699, 64_720..=64_723]);
}

#[test]
fn example_1_of_rfc_7597_a_shared_address_comes_out() {
    let (rule, e) = (example_1(), 0x1234);
    assert_eq!((rule.psid_len(), rule.subscribers()), (8, 65_536));
    assert_eq!(rule.end_user_prefix(e), v6("2001:db8:12:3400::/56"));
    assert_eq!(rule.ipv4().address(e), ip("192.0.2.18"));
    assert_eq!(rule.ipv6().address(e), ip("2001:db8:12:3400:0:c000:212:34"));
    has_the_ports_of_example_1(&rule.ports(), e);
}

#[test]
fn examples_2_and_3_of_rfc_7597_the_relay_and_the_ce_agree_on_the_address() {
    let domain = MapDomain::new(vec![example_1()]).unwrap();
    let e = domain.number(ipv4("192.0.2.18"), 1232).unwrap();
    let (rule, own) = domain.rule_of(e).unwrap();
    assert_eq!(rule.ipv6().address(own), ip("2001:db8:12:3400:0:c000:212:34"));
    assert_eq!(rule.ipv6().number_of(ip("2001:db8:12:3400:0:c000:212:34")), Some(e));
    assert!(rule.ports().contains(e, 1232) && !rule.ports().contains(e, 1231));
}

#[test]
fn example_4_of_rfc_7597_a_whole_address_without_ea_bits_comes_out() {
    let rule = rule("2001:db8:12:3400::/56", "192.0.2.18/32", 0, 6).unwrap();
    assert_eq!((rule.subscribers(), rule.psid_len(), rule.ports()), (1, 0, PortRule::ANY));
    assert_eq!(rule.end_user_prefix(0), v6("2001:db8:12:3400::/56"));
    assert_eq!(rule.ipv6().address(0), ip("2001:db8:12:3400:0:c000:212:0"));
    assert_eq!(rule.number(ipv4("192.0.2.18"), 0), Some(0));
}

#[test]
fn example_5_of_rfc_7597_a_provisioned_psid_comes_out() {
    let rule = MapRule::provisioned(v6("2001:db8:12:3400::/56"), ipv4("192.0.2.18"), 6, 8, 0x34).unwrap();
    assert_eq!((rule.subscribers(), rule.psid_len()), (1, 8));
    assert_eq!(rule.ipv6().address(0), ip("2001:db8:12:3400:0:c000:212:34"));
    assert_eq!(rule.ipv4().address(0), ip("192.0.2.18"));
    has_the_ports_of_example_1(&rule.ports(), 0);
    assert_eq!((rule.number(ipv4("192.0.2.18"), 0x34), rule.number(ipv4("192.0.2.18"), 0x35)), (Some(0), None));
}

#[test]
fn example_4_of_rfc_7599_comes_out() {
    let rule = rule("2001:db8:12:3400::/56", "192.0.2.1/32", 0, 6).unwrap();
    assert_eq!(rule.ipv6().address(0), ip("2001:db8:12:3400:0:c000:201:0"));
}

#[test]
fn contiguous_port_sets_of_a_published_measurement_come_out() {
    let (rule, e) = (contiguous(), 0x11b);
    assert_eq!(rule.end_user_prefix(e), v6("2001:db8:ce:11b::/64"));
    assert_eq!(rule.ipv4().address(e), ip("192.0.2.8"));
    assert_eq!((rule.ports().psid(e), rule.ports().ranges(e)), (27, vec![55_296..=57_343]));
    assert_eq!(rule.number(ipv4("192.0.2.2"), 1), Some(0x41));
    assert_eq!(rule.ipv6().address(0x41), ip("2001:db8:ce:41:0:c000:202:1"));
}

#[test]
fn few_ea_bits_give_each_subscriber_a_prefix_and_any_port() {
    // RFC 7597 section 5.2, figure 4: 16 + 12 < 32.
    let rule = rule("2001:db8::/36", "10.1.0.0/16", 12, 6).unwrap();
    assert_eq!((rule.subscriber_ipv4_len(), rule.ports()), (28, PortRule::ANY));
    assert_eq!(rule.ipv4().address(0x123), ip("10.1.18.48"));
    assert_eq!(rule.ipv6().address(0x123), ip("2001:db8:123::a01:1230:0"));
    assert_eq!(rule.number(ipv4("10.1.18.63"), 0), Some(0x123));
}

#[test]
fn exactly_the_suffix_gives_each_subscriber_an_address() {
    let rule = rule("2001:db8::/40", "192.0.2.0/24", 8, 6).unwrap();
    assert_eq!((rule.subscriber_ipv4_len(), rule.ports()), (32, PortRule::ANY));
    assert_eq!(rule.ipv6().address(0x12), ip("2001:db8:12::c000:212:0"));
}

#[test]
fn ea_bits_can_be_nothing_but_a_psid() {
    let rule = rule("2001:db8::/56", "192.0.2.18/32", 8, 6).unwrap();
    assert_eq!(rule.ipv6().address(0x34), ip("2001:db8:0:34:0:c000:212:34"));
    assert_eq!(rule.ipv4().address(0x34), ip("192.0.2.18"));
}

#[test]
fn ea_bits_can_be_the_whole_address() {
    let rule = rule("2001:db8::/32", "0.0.0.0/0", 32, 6).unwrap();
    assert_eq!(rule.subscribers(), 1 << 32);
    assert_eq!(rule.ipv6().address(0xc000_0212), ip("2001:db8:c000:212:0:c000:212:0"));
}

#[test]
fn numbering_begins_where_it_is_told() {
    let rule = contiguous().numbered(0x41, Some(2)).unwrap();
    assert_eq!(rule.subscribers(), 2);
    assert_eq!(rule.ipv6().address(0), ip("2001:db8:ce:41:0:c000:202:1"));
    assert_eq!((rule.end_user_prefix(0), rule.ports().psid(0)), (v6("2001:db8:ce:41::/64"), 1));
    assert_eq!(rule.number(ipv4("192.0.2.2"), 1), Some(0));
    assert_eq!((rule.number(ipv4("192.0.2.2"), 0), rule.number(ipv4("192.0.2.2"), 3)), (None, None));
    assert_eq!(contiguous().numbered(1, None).unwrap().subscribers(), 8191);
}

#[test]
fn numbers_the_rule_does_not_have_are_refused() {
    let asked = |first, count| refusal(contiguous().numbered(first, count));
    let beyond = "mapping rule: 2 subscribers from number 8191 on, but the rule has 8192 in all; lower `first` or the count";
    assert_eq!(asked(8191, Some(2)), beyond);
    assert_eq!(asked(0, Some(0)), "mapping rule: no subscriber asked for; expected 1 to 8192");
    assert!(asked(u64::MAX, Some(2)).starts_with("mapping rule: 2 subscribers from number 18446744073709551615 on"));
    assert!(asked(8192, None).starts_with("mapping rule: 1 subscribers from number 8192 on"));
}

#[test]
fn rules_that_contradict_themselves_are_refused() {
    let made = |ipv6, ipv4, ea_bits, offset| refusal(rule(ipv6, ipv4, ea_bits, offset));
    assert_eq!(
        made("2001:db8:ce::/52", "192.0.2.0/24", 13, 0),
        "rule IPv6 prefix 2001:db8:ce::/52 and 13 bits of each subscriber make prefixes of /65, but at most /64 is \
         supported: the interface identifier needs the rest; use a shorter prefix or fewer bits"
    );
    assert_eq!(
        made("2001:db8::/32", "192.0.2.0/24", 19, 6),
        "19 EA bits are too many for 192.0.2.0/24: its suffix takes 8, which leaves a PSID of 11, and PSID offset 6 \
         allows one of 10; use at most 18 EA bits"
    );
    assert!(made("2001:db8::/32", "192.0.2.0/24", 24, 0).starts_with("PSID length 16 makes sets of one port"));
    assert!(made("2001:db8::/32", "192.0.2.0/24", 16, 16).starts_with("PSID offset 16 is not allowed"));
    assert!(made("2001:db8::/128", "192.0.2.0/24", 255, 6).starts_with("255 EA bits are too many"));
}

#[test]
fn a_provisioned_psid_that_does_not_fit_is_refused() {
    let made = |len, psid| refusal(MapRule::provisioned(v6("2001:db8::/56"), ipv4("192.0.2.18"), 6, len, psid));
    assert_eq!(made(4, 0x34), "PSID 0x34 does not fit into the PSID length, 4 bits");
    assert!(made(11, 0).starts_with("PSID offset 6 and PSID length 11 take 17"));
}

#[test]
fn a_rule_is_displayed_with_all_that_it_was_made_of() {
    assert_eq!(contiguous().to_string(), "2001:db8:ce::/51 192.0.2.0/24 EA-bits length 13 PSID offset 0");
    let told = MapRule::provisioned(v6("2001:db8::/56"), ipv4("192.0.2.18"), 6, 8, 0x34).unwrap();
    assert_eq!(told.to_string(), "2001:db8::/56 192.0.2.18/32 EA-bits length 0 PSID offset 6 PSID 0x34/8");
}

#[test]
fn a_domain_numbers_its_subscribers_rule_after_rule() {
    let second = rule("2001:db8:cf::/51", "198.51.100.0/24", 13, 6).unwrap().numbered(32, Some(100)).unwrap();
    let domain = MapDomain::new(vec![contiguous(), second]).unwrap();
    assert_eq!((domain.subscribers(), domain.rules().len()), (8292, 2));
    assert_eq!(domain.rule_of(8191), Some((&domain.rules()[0], 8191)));
    assert_eq!(domain.rule_of(8192), Some((&domain.rules()[1], 0)));
    assert_eq!(domain.rule_of(8292), None);
    // Number 33 of the second rule is 198.51.100.1, PSID 1: ports from 1024 + 32 on.
    assert_eq!(domain.number(ipv4("198.51.100.1"), 1056), Some(8193));
    assert_eq!(domain.number(ipv4("198.51.100.1"), 1023), None);
    assert_eq!(domain.number(ipv4("203.0.113.1"), 1056), None);
}

#[test]
fn rules_of_a_domain_that_overlap_are_refused_by_name() {
    let domain = |first, second| refusal(MapDomain::new(vec![first, second]));
    let inside = rule("2001:db8:ce:100::/56", "198.51.100.0/24", 8, 6).unwrap();
    let expected = "rule IPv6 prefixes 2001:db8:ce::/51 and 2001:db8:ce:100::/56 overlap, \
                    so that an end-user prefix belongs to two rules";
    assert_eq!(domain(contiguous(), inside), expected);
    let same_ipv4 = rule("2001:db8:cf::/51", "192.0.2.128/25", 7, 6).unwrap();
    let expected = "rule IPv4 prefixes 192.0.2.0/24 and 192.0.2.128/25 overlap, so that an IPv4 address belongs to two rules";
    assert_eq!(domain(contiguous(), same_ipv4), expected);
    let none = refusal(MapDomain::new(Vec::new()));
    assert_eq!(none, "a MAP domain without a rule: expected one at least (RFC 7597 section 5)");
}

/// Rules of every kind, and a subscriber of each.
fn rules() -> impl Strategy<Value = (MapRule, u64)> {
    let shape = (any::<u128>(), any::<u32>(), 0u8..=64, 0u8..=32, 0u8..=48, 0u8..=15, any::<u64>(), any::<u64>());
    shape.prop_filter_map("contradicts itself", |(ipv6, ipv4, len6, len4, ea_bits, offset, first, e)| {
        let ipv6 = if len6 == 0 { 0 } else { ipv6 >> (128 - len6) << (128 - len6) };
        let ipv4 = if len4 == 0 { 0 } else { ipv4 >> (32 - len4) << (32 - len4) };
        let (ipv6, ipv4) = (Prefix6::new(ipv6.into(), len6).unwrap(), Prefix4::new(ipv4.into(), len4).unwrap());
        let rule = MapRule::new(ipv6, ipv4, ea_bits, offset).ok()?;
        let rule = rule.numbered(first % rule.subscribers(), None).unwrap();
        Some((rule, e % rule.subscribers()))
    })
}

/// The MAP IPv6 address of RFC 7597 figures 3 and 8, put together out of binary digits.
fn slow_ipv6(rule: &MapRule, e: u64) -> IpAddr {
    let ea = digits(rule.ea(e), rule.ea_bits());
    let network = format!("{:0<64}", digits_of(rule.ipv6_prefix()) + &ea);
    let r = usize::from(rule.ipv4_prefix().len());
    let ipv4 = format!("{:032b}", rule.ipv4_prefix().address().to_bits())[..r].to_owned() + &ea;
    let (ipv4, psid) = if ipv4.len() > 32 { ipv4.split_at(32) } else { (ipv4.as_str(), "") };
    address_of(&format!("{network}{:016}{ipv4:0<32}{psid:0>16}", 0))
}

proptest! {
    #[test]
    fn the_map_address_is_that_of_the_slow_computation((rule, e) in rules()) {
        prop_assert_eq!(rule.ipv6().address(e), slow_ipv6(&rule, e));
    }

    #[test]
    fn the_inverse_of_every_rule_agrees_with_it((rule, e) in rules()) {
        let (ipv6, ports) = (rule.ipv6().address(e), rule.ports());
        let IpAddr::V4(ipv4) = rule.ipv4().address(e) else { panic!("an IPv6 address out of an IPv4 rule") };
        prop_assert_eq!(rule.ipv6().number_of(ipv6), Some(e));
        prop_assert_eq!(rule.number(ipv4, ports.psid(e)), Some(e));
        let IpAddr::V6(ipv6) = ipv6 else { panic!("an IPv4 address out of an IPv6 rule") };
        prop_assert!(rule.end_user_prefix(e).contains(ipv6) && rule.ipv4_prefix().contains(ipv4));
        let domain = MapDomain::new(vec![rule]).unwrap();
        prop_assert_eq!(domain.number(ipv4, ports.port(e, ports.count(e) - 1)), Some(e));
    }

    #[test]
    fn no_two_subscribers_have_the_same_address_and_port((rule, e) in rules(), other: u64, nth: u32) {
        let other = other % rule.subscribers();
        let ports = rule.ports();
        let port = ports.port(e, nth % ports.count(e));
        let same = rule.ipv4().bits(e) == rule.ipv4().bits(other) && ports.contains(other, port);
        prop_assert_eq!(same, e == other);
    }
}
