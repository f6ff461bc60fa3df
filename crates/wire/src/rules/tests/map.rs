//! Mapping rules and domains of MAP-E and MAP-T.

use proptest::prelude::*;

use super::*;

fn rule(ipv6: &str, ipv4: &str, ea_bits: u8, offset: u8) -> Result<MapRule, RuleError> {
    MapRule::new(v6(ipv6), v4(ipv4), ea_bits, offset)
}

/// Returns the rule of RFC 7597 appendix A, example 1.
fn example_1() -> MapRule {
    rule("2001:db8::/40", "192.0.2.0/24", 16, 6).unwrap()
}

/// Returns the rule of a published measurement of MAP-T, with contiguous port sets.
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
    assert_eq!(rule.subscribers(), 65_536);
    assert_eq!(rule.ipv4().address(e), ip("192.0.2.18"));
    assert_eq!(rule.ipv6().address(e), ip("2001:db8:12:3400:0:c000:212:34"));
    has_the_ports_of_example_1(&rule.ports(), e);
}

#[test]
fn example_4_of_rfc_7597_a_whole_address_without_ea_bits_comes_out() {
    let rule = rule("2001:db8:12:3400::/56", "192.0.2.18/32", 0, 6).unwrap();
    assert_eq!((rule.subscribers(), rule.ports()), (1, PortRule::ANY));
    assert_eq!(rule.ipv6().address(0), ip("2001:db8:12:3400:0:c000:212:0"));
}

#[test]
fn example_4_of_rfc_7599_comes_out() {
    let rule = rule("2001:db8:12:3400::/56", "192.0.2.1/32", 0, 6).unwrap();
    assert_eq!(rule.ipv6().address(0), ip("2001:db8:12:3400:0:c000:201:0"));
}

#[test]
fn contiguous_port_sets_of_a_published_measurement_come_out() {
    let (rule, e) = (contiguous(), 0x11b);
    assert_eq!(rule.ipv4().address(e), ip("192.0.2.8"));
    assert_eq!(
        (rule.ports().psid(e), rule.ports().ranges(e)),
        (27, vec![55_296..=57_343])
    );
    assert_eq!(
        (rule.ipv4().address(0x41), rule.ports().psid(0x41)),
        (ip("192.0.2.2"), 1)
    );
    assert_eq!(rule.ipv6().address(0x41), ip("2001:db8:ce:41:0:c000:202:1"));
}

#[test]
fn few_ea_bits_give_each_subscriber_a_prefix_and_any_port() {
    // RFC 7597 section 5.2, figure 4: 16 + 12 < 32.
    let rule = rule("2001:db8::/36", "10.1.0.0/16", 12, 6).unwrap();
    assert_eq!(rule.ports(), PortRule::ANY);
    assert_eq!(rule.ipv4().address(0x123), ip("10.1.18.48"));
    assert_eq!(rule.ipv6().address(0x123), ip("2001:db8:123::a01:1230:0"));
}

#[test]
fn exactly_the_suffix_gives_each_subscriber_an_address() {
    let rule = rule("2001:db8::/40", "192.0.2.0/24", 8, 6).unwrap();
    assert_eq!(rule.ports(), PortRule::ANY);
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
    assert_eq!(
        rule.ipv6().address(0xc000_0212),
        ip("2001:db8:c000:212:0:c000:212:0")
    );
}

#[test]
fn rules_that_contradict_themselves_are_refused() {
    let made = |ipv6, ipv4, ea_bits, offset| refusal(rule(ipv6, ipv4, ea_bits, offset));
    assert_eq!(
        made("2001:db8:ce::/52", "192.0.2.0/24", 13, 0),
        "rule IPv6 prefix 2001:db8:ce::/52, lengthened by 13 for each subscriber, makes prefixes of /65, but at most /64 is \
         supported: the interface identifier needs the rest; use a shorter prefix or fewer bits"
    );
    assert_eq!(
        made("2001:db8::/32", "192.0.2.0/24", 19, 6),
        "19 EA bits are too many for 192.0.2.0/24: its suffix takes 8, which leaves a PSID of 11, and PSID offset 6 \
         allows one of 10; use at most 18 EA bits"
    );
    assert!(
        made("2001:db8::/32", "192.0.2.0/24", 24, 0)
            .starts_with("PSID length 16 makes sets of one port")
    );
    assert!(
        made("2001:db8::/32", "192.0.2.0/24", 16, 16).starts_with("PSID offset 16 is not allowed")
    );
    assert!(made("2001:db8::/128", "192.0.2.0/24", 255, 6).starts_with("255 EA bits are too many"));
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
    assert_eq!(
        none,
        "a MAP domain without a rule: expected one at least (RFC 7597 section 5)"
    );
}

/// Returns rules of every kind, each with a subscriber.
fn rules() -> impl Strategy<Value = (MapRule, u64)> {
    let shape = (
        any::<u128>(),
        any::<u32>(),
        0u8..=64,
        0u8..=32,
        0u8..=48,
        0u8..=15,
        any::<u64>(),
    );
    shape.prop_filter_map(
        "contradicts itself",
        |(ipv6, ipv4, len6, len4, ea_bits, offset, e)| {
            let ipv6 = if len6 == 0 {
                0
            } else {
                ipv6 >> (128 - len6) << (128 - len6)
            };
            let ipv4 = if len4 == 0 {
                0
            } else {
                ipv4 >> (32 - len4) << (32 - len4)
            };
            let (ipv6, ipv4) = (
                Prefix6::new(ipv6.into(), len6).unwrap(),
                Prefix4::new(ipv4.into(), len4).unwrap(),
            );
            let rule = MapRule::new(ipv6, ipv4, ea_bits, offset).ok()?;
            Some((rule, e % rule.subscribers()))
        },
    )
}

/// Returns the MAP IPv6 address of RFC 7597 figures 3 and 8, composed of binary digits.
fn slow_ipv6(rule: &MapRule, e: u64) -> IpAddr {
    let ea = digits(e, rule.subscribers().ilog2() as u8);
    let network = format!("{:0<64}", digits_of(rule.ipv6_prefix()) + &ea);
    let r = usize::from(rule.ipv4_prefix().len());
    let ipv4 = format!("{:032b}", rule.ipv4_prefix().address().to_bits())[..r].to_owned() + &ea;
    let (ipv4, psid) = if ipv4.len() > 32 {
        ipv4.split_at(32)
    } else {
        (ipv4.as_str(), "")
    };
    address_of(&format!("{network}{:016}{ipv4:0<32}{psid:0>16}", 0))
}

proptest! {
    #[test]
    fn the_map_address_is_that_of_the_slow_computation((rule, e) in rules()) {
        prop_assert_eq!(rule.ipv6().address(e), slow_ipv6(&rule, e));
    }

    #[test]
    fn no_two_subscribers_have_the_same_address_and_port((rule, e) in rules(), other: u64, nth: u32) {
        let other = other % rule.subscribers();
        let ports = rule.ports();
        let port = ports.port(e, nth % ports.count(e));
        let is_others = ports.ranges(other).iter().any(|range| range.contains(&port));
        prop_assert_eq!(rule.ipv4().bits(e) == rule.ipv4().bits(other) && is_others, e == other);
        prop_assert_eq!(rule.ipv6().bits(e) == rule.ipv6().bits(other), e == other);
    }
}
