//! Configurations with mistakes, and arbitrary other content.

use super::*;
use proptest::prelude::*;

fn mistakes(source: &str, options: &Options) -> String {
    render(
        "siitperf.conf",
        source,
        &import("siitperf.conf", source, options).expect_err("mistakes"),
        false,
    )
}

#[test]
fn background_traffic_needs_both_ipv6_addresses() {
    let source = STATELESS.replace("IPv6-R-Real 2001:2:0:8000::2 #", "IPv6-R-Real :: #");
    assert!(import("siitperf.conf", &source, &mix(2, 2)).is_ok());
    insta::assert_snapshot!(mistakes(&source, &mix(9, 10)));
}

#[test]
fn a_small_share_of_traffic_is_not_rounded_to_none() {
    for (foreground, of, share) in [
        (99_999, 100_000, "background = \"0.01%\""),
        (1, 100_000, "background = \"99.99%\""),
        (0, 10, "background = \"100%\""),
    ] {
        let imported = import("siitperf.conf", STATELESS, &mix(foreground, of)).expect("a plan");
        assert!(imported.plan.contains(share), "{}", imported.plan);
    }
}

#[test]
fn a_stateful_test_that_cannot_work_is_told() {
    let phase_1 = Phase1 {
        frames: 5_000_000,
        state_table: 5_000_001,
        rate: 1_000_000,
        timeout_ms: 500,
        delay_ms: 1500,
    };
    let source = format!("{NAT64}{VARYING}Num-R-Nets 2\nEnumerate-ips 2\n")
        .replace("IP-R-Vers 4", "IP-R-Vers 6")
        .replace("L-var 3", "L-var 0");
    insta::assert_snapshot!(mistakes(
        &source,
        &Options {
            phase_1: Some(phase_1),
            ..Options::default()
        }
    ));
}

#[test]
fn every_connection_needs_a_combination_of_its_own_in_any_order() {
    for (order, of) in [
        ("Enumerate-ports 3", "Enumerate-ports 3 at line 16"),
        ("", "Stateful 1 at line 15"),
    ] {
        let source = NAT64.replace("Enumerate-ports 3", order);
        let phase_1 = Phase1 {
            frames: 5_000_000,
            delay_ms: 90_000,
            ..PHASE_1
        };
        let told = import("siitperf.conf", &source, &with_phase_1(phase_1)).expect_err("mistakes");
        let title =
            format!("{of} has 4000000 combinations for 5000000 foreground frames of phase 1");
        assert_eq!(
            told.into_iter()
                .map(|mistake| mistake.title)
                .collect::<Vec<_>>(),
            [title]
        );
    }
}

#[test]
fn what_no_table_holds_and_no_day_is_long_enough_for_is_told() {
    let phase_1 = Phase1 {
        frames: 2_000_000_000,
        state_table: 1,
        rate: 1000,
        timeout_ms: 1,
        delay_ms: 90_000_000,
    };
    let source = format!("{NAT64}{VARYING}Enumerate-ips 3\n")
        .replace("max 40000", "max 65535")
        .replace("max 100\n", "max 65535\n")
        .replace("L-max 0xfffe", "L-max 0xffff")
        .replace("R-max 037", "R-max 0xffff");
    let told = import("siitperf.conf", &source, &with_phase_1(phase_1)).expect_err("mistakes");
    let told: Vec<String> = told.into_iter().map(|mistake| mistake.title).collect();
    assert_eq!(
        told[..2],
        [
            "N = 2000000000 connections are more than sixbench keeps: 1000000000",
            "D = 90000000 ms is more than a day"
        ]
    );
    assert!(
        told.iter()
            .any(|title| title.ends_with("combinations, which cannot be enumerated")),
        "{told:?}"
    );
}

#[test]
fn all_mistakes_are_told_at_once_each_at_its_line() {
    let source = "\
IP-L-Vers 6
IP-R-Vers 5
ip-l-vers 6
IPv6-L-Raal 2001:2::2
IPv6-R-Virt ::
IPv4-R-Real 198.19.0.256
MAC-L-DUT 02:00:00:00:01
Forward
Forward 0
Reverse 0
Num-L-Nets 257
Num-R-Nets 2 networks
Fwd-var-sport 3
Fwd-sport-max 100
Fwd-sport-min 200
Forward 1
Rev-dport-min 9
Rev-dport-max 8
IP-L-var 3
IP-L-min -1
IPv4-L-offset 1
CPU-L-Send two # cores
Enumerate-ips 1
unheard-of 1
";
    insta::assert_snapshot!(mistakes(source, &Options::default()));
}

#[test]
fn a_missing_address_is_told_with_the_line_that_makes_it_necessary() {
    let source = versions(6, 4);
    let without = |key: &str| {
        source
            .lines()
            .filter(|line| !line.starts_with(key))
            .map(|line| format!("{line}\n"))
            .collect::<String>()
    };
    assert_eq!(
        titles(&without("IPv6-L-Real")),
        ["IP-L-Vers 6 at line 1 needs IPv6-L-Real"]
    );
    assert_eq!(
        titles(&without("IPv6-R-Virt")),
        ["IP-L-Vers 6 at line 1 and IP-R-Vers 4 at line 2 need IPv6-R-Virt"]
    );
    assert_eq!(
        titles(&without("IPv4-L-Virt")),
        ["IP-R-Vers 4 at line 2 and IP-L-Vers 6 at line 1 need IPv4-L-Virt"]
    );
    assert_eq!(
        titles("")[0],
        "IP-L-Vers 6 (siitperf's default) needs IPv6-L-Real"
    );
}

#[test]
fn varying_addresses_need_their_range_and_an_even_offset() {
    let told = titles(&format!(
        "{}IP-R-var 2\nIPv4-R-offset 1\nNum-L-Nets 9\n",
        versions(4, 6)
    ));
    assert_eq!(
        told,
        [
            "IP-R-var 2 at line 11 needs IP-R-min",
            "IP-R-var 2 at line 11 needs IP-R-max",
            "IPv4-R-offset 1 at line 12 is odd: the 16 bits that vary would lie across two words of the checksum",
            "IP-R-var 2 at line 11 needs IPv6-R-offset",
            "Num-L-Nets 9 at line 13 and IP-R-var 2 at line 11 contradict each other",
        ]
    );
}

#[test]
fn the_old_name_of_a_key_is_the_same_key() {
    let source = format!("{NAT64}Responder-tuples 3\n");
    assert_eq!(
        titles(&source),
        ["`Responder-tuples` is set at line 17 and again at line 18"]
    );
}

fn line() -> impl Strategy<Value = String> {
    let value = prop_oneof![
        "[0-9]{1,3}",
        Just("::".to_owned()),
        any::<std::net::Ipv4Addr>().prop_map(|a| a.to_string()),
        any::<std::net::Ipv6Addr>().prop_map(|a| a.to_string()),
        "0x[0-9a-f]{1,4}",
        "\\PC{0,6}"
    ];
    (proptest::sample::select(siitperf::KEYS.clone()), value)
        .prop_map(|(key, value)| format!("{key} {value}\n"))
}

/// Checks that any content results either in a valid plan and recipe, or in mistakes that can be shown.
fn holds(source: &str, options: &Options) {
    match import("siitperf.conf", source, options) {
        Ok(imported) => {
            tests_of(&imported);
            assert!(
                toml::from_str::<Recipe>(&understood(&imported.recipe)).is_ok(),
                "{}",
                imported.recipe
            );
        }
        Err(mistakes) => {
            assert!(!mistakes.is_empty());
            render("siitperf.conf", source, &mistakes, false);
        }
    }
}

proptest! {
    #[test]
    fn arbitrary_text_never_panics(source in "(\\PC|[\r\n\t#])*") {
        holds(&source, &mix(1, 2));
    }

    #[test]
    fn arbitrary_settings_never_panic(lines in prop::collection::vec(line(), 0..30), left in 0..2u32, right in 0..2u32, m in 0..3u32) {
        holds(&lines.concat(), &mix(m, 2));
        let versions = versions(4 + 2 * left, 4 + 2 * right);
        let changed = lines.iter().filter(|line| !versions.contains(line.split(' ').next().unwrap_or_default()));
        holds(&(versions.clone() + &changed.cloned().collect::<String>()), &mix(m, 2));
    }
}
