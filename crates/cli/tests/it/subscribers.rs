//! Rules of subscribers in recipes: contradictions are reported by `sixbench check` and by `sixbench plan --shell` before anything is changed.

use crate::common::{Scratch, output, plans, text};

/// The BR of the MAP-T domain in the papers. It is not run here.
const RECIPE: &str = r#"
name = "br"
title = "a BR of MAP-T"
technology = "siit"
source = "this test"
host = "netns"
needs = []

[left]
dut = ["2001:db8:1::1/64"]
tester = ["2001:db8:1::2"]
routes = ["2001:db8:ce::/51"]
[right]
dut = ["198.51.100.1/24"]
tester = ["198.51.100.2"]

[foreground]
left = { source = "2001:db8:ce:0:0:c000:200:0", destination = "64:ff9b::c633:6402" }
right = { source = "192.0.2.0", destination = "198.51.100.2" }

[version]
run = "true"
"#;

const RULE: &str = r#"
[[subscribers.map]]
ipv6-prefix = "2001:db8:ce::/51"
ipv4-prefix = "192.0.2.0/24"
ea-bits = 13
psid-offset = 0
"#;

/// A second rule with 128 subscribers: /25 without sharing.
const SECOND: &str = r#"
[[subscribers.map]]
ipv6-prefix = "2001:db8:cf::/56"
ipv4-prefix = "203.0.113.128/25"
ea-bits = 7
"#;

/// Returns the exit code and the output for a recipe with these rules and a plan with this line in its test.
fn checked(name: &str, recipe: &str, line: &str) -> (Option<i32>, String) {
    let scratch = Scratch::new(name);
    std::fs::create_dir(scratch.0.join("recipes")).expect("a directory");
    scratch.write("recipes/br.toml", recipe);
    let plan = scratch.write(
        "plan.toml",
        &plans::of_test(&format!("dut = \"br\"\n{line}")),
    );
    let output = output(&["check", &plan, "--recipes", &scratch.path("recipes")]);
    (
        output.status.code(),
        text(&output.stdout) + &text(&output.stderr),
    )
}

/// Asserts that these rules are refused with these words.
fn refused(name: &str, rules: &str, words: &str) {
    let (code, said) = checked(
        name,
        &format!("{RECIPE}[subscribers]\ncount = 2\n{rules}"),
        "",
    );
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains(words), "{said}");
}

#[test]
fn one_rule_may_be_a_table_and_a_domain_a_list() {
    let table = RULE.replace("[[subscribers.map]]", "[subscribers.map]");
    for (name, rules) in [
        ("table", table),
        ("list", RULE.to_owned()),
        ("two", format!("{RULE}{SECOND}")),
    ] {
        let (code, said) = checked(name, &format!("{RECIPE}{rules}"), "subscribers = 1000");
        assert_eq!(
            (code, said.contains("good (1 test,")),
            (Some(0), true),
            "{said}"
        );
    }
}

#[test]
fn ea_bits_that_do_not_fit_are_told_with_what_would() {
    // A suffix of 8 bits, and 16 - 6 bits of a port.
    let rule = RULE
        .replace("ea-bits = 13", "ea-bits = 19")
        .replace("psid-offset = 0", "psid-offset = 6")
        .replace("/51", "/45");
    refused(
        "ea",
        &rule.replace("2001:db8:ce::", "2001:db8:c8::"),
        "recipe br: [subscribers]: 19 EA bits are too many for 192.0.2.0/24: its suffix takes 8, which leaves a PSID of 11, and PSID offset 6 \
         allows one of 10; use at most 18 EA bits",
    );
}

#[test]
fn ea_bits_beyond_the_prefix_of_64_bits_are_refused() {
    let rule = RULE
        .replace("/51", "/52")
        .replace("2001:db8:ce::", "2001:db8:ce:1000::");
    refused(
        "prefix",
        &rule,
        "rule IPv6 prefix 2001:db8:ce:1000::/52, lengthened by 13 for each subscriber, makes prefixes of /65",
    );
}

#[test]
fn a_psid_offset_no_protocol_can_express_is_refused() {
    refused(
        "offset",
        &RULE.replace("psid-offset = 0", "psid-offset = 16"),
        "recipe br: [subscribers]: PSID offset 16 is not allowed: expected 0 to 15",
    );
}

#[test]
fn psid_and_offset_together_have_no_more_than_16_bits() {
    // Five bits of PSID and twelve of offset.
    refused(
        "bits",
        &RULE.replace("psid-offset = 0", "psid-offset = 12"),
        "PSID offset 12 allows one of 4; use at most 12 EA bits",
    );
    let softwires = "[subscribers.softwires]\nipv6-prefix = \"2001:db8:b4::/48\"\nipv4-prefix = \"192.0.2.0/24\"\npsid-length = 5\n";
    refused(
        "softwires",
        &format!("{softwires}psid-offset = 12\n"),
        "recipe br: [subscribers]: PSID offset 12 and PSID length 5 take 17 of a port's 16 bits; shorten one of them",
    );
}

#[test]
fn host_bits_and_what_is_no_prefix_are_refused() {
    refused(
        "host",
        &RULE.replace("192.0.2.0/24", "192.0.2.1/24"),
        "192.0.2.1/24 has host bits set; did you mean 192.0.2.0/24?",
    );
    refused(
        "none",
        &RULE.replace("192.0.2.0/24", "192.0.2/24"),
        "expected an IPv4 prefix such as 192.0.2.0/24, not \"192.0.2/24\"",
    );
}

#[test]
fn overlapping_rules_are_refused_with_both_named() {
    let four = SECOND.replace("203.0.113.128/25", "192.0.2.128/25");
    refused(
        "four",
        &format!("{RULE}{four}"),
        "recipe br: [subscribers]: rule IPv4 prefixes 192.0.2.0/24 and 192.0.2.128/25 overlap",
    );
    let six = SECOND.replace("2001:db8:cf::/56", "2001:db8:ce:1000::/56");
    refused(
        "six",
        &format!("{RULE}{six}"),
        "recipe br: [subscribers]: rule IPv6 prefixes 2001:db8:ce::/51 and 2001:db8:ce:1000::/56 overlap",
    );
}

#[test]
fn a_mistake_in_one_of_several_rules_says_in_which() {
    let second = SECOND.replace("ea-bits = 7", "ea-bits = 7\npsid-offset = 16");
    refused(
        "second",
        &format!("{RULE}{second}"),
        "recipe br: [subscribers]: mapping rule 2: PSID offset 16 is not allowed",
    );
}

#[test]
fn more_rules_than_the_tester_looks_through_are_refused() {
    let rule = |n: usize| {
        SECOND
            .replace("db8:cf::", &format!("db8:d{n}::"))
            .replace("203.0.113", &format!("10.0.{n}"))
    };
    let rules: String = (0..9).map(rule).collect();
    refused(
        "nine",
        &rules,
        "recipe br: [subscribers]: 9 mapping rules: expected up to 8",
    );
}

#[test]
fn no_rule_and_two_kinds_of_rules_are_refused() {
    refused(
        "empty",
        "map = []\n",
        "[subscribers]: expected one rule, `map`, `softwires` or `six-rd`; there are 0",
    );
    let six_rd =
        "[subscribers.six-rd]\nipv6-prefix = \"2002::/16\"\nipv4-prefix = \"198.18.0.0/16\"\n";
    refused(
        "kinds",
        &format!("{RULE}{six_rd}"),
        "[subscribers]: expected one rule, `map`, `softwires` or `six-rd`; there are 2",
    );
}

#[test]
fn a_foreground_that_is_not_the_first_subscribers_is_refused() {
    let recipe = RECIPE.replace("2001:db8:ce:0:0:c000:200:0", "2001:db8:ce:1:0:c000:200:1");
    let (code, said) = checked("first", &format!("{recipe}{RULE}"), "");
    assert_eq!(code, Some(2), "{said}");
    let words = "recipe br: foreground.left.source is 2001:db8:ce:1:0:c000:200:1, but the first subscriber has 2001:db8:ce::c000:200:0 by the rule";
    assert!(said.contains(words), "{said}");
    // The address of the first subscriber of the second rule is wrong, too.
    let recipe = RECIPE.replace("\"192.0.2.0\"", "\"203.0.113.128\"");
    let (code, said) = checked("second-first", &format!("{recipe}{RULE}{SECOND}"), "");
    assert_eq!(code, Some(2), "{said}");
    assert!(
        said.contains(
            "foreground.right.source is 203.0.113.128, but the first subscriber has 192.0.2.0"
        ),
        "{said}"
    );
}

#[test]
fn more_subscribers_than_the_rules_have_are_refused_with_both_numbers() {
    let wanted = |name, rules: &str, count: u32| {
        checked(
            name,
            &format!("{RECIPE}{rules}"),
            &format!("subscribers = {count}"),
        )
    };
    let (code, said) = wanted("beyond", RULE, 8193);
    assert_eq!(code, Some(2), "{said}");
    assert!(
        said.contains("8193 subscribers are configured, but recipe br only has room for 8192"),
        "{said}"
    );
    let both = format!("{RULE}{SECOND}");
    assert_eq!(wanted("all", &both, 8320).0, Some(0));
    let (code, said) = wanted("beyond-both", &both, 8321);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("recipe br only has room for 8320"), "{said}");
}

#[test]
fn a_list_of_subscribers_is_checked_to_its_last_number() {
    let (code, said) = checked(
        "list-of-counts",
        &format!("{RECIPE}{RULE}"),
        "subscribers = [1, 8192, 10000]",
    );
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("10000 subscribers are configured"), "{said}");
}

#[test]
fn a_count_beyond_what_the_device_is_set_up_for_is_refused_with_the_recipe() {
    let (code, said) = checked(
        "most",
        &format!("{RECIPE}[subscribers]\ncount = 20\nmost = 10\n{RULE}"),
        "",
    );
    assert_eq!(code, Some(2), "{said}");
    assert!(
        said.contains("`count` is 20, but the device is set up for `most` = 10"),
        "{said}"
    );
}

#[test]
fn the_commands_of_a_domain_speak_of_every_rule() {
    let scratch = Scratch::new("words");
    std::fs::create_dir(scratch.0.join("recipes")).expect("a directory");
    let step = "[[setup]]\nrun = \"echo {ipv6-prefix} {ea-bits} {ipv6-prefix-2} {ipv4-prefix-2} {psid-offset-2}\"\n";
    scratch.write("recipes/br.toml", &format!("{RECIPE}{step}{RULE}{SECOND}"));
    let plan = scratch.write(
        "plan.toml",
        &plans::of_test("dut = \"br\"\nsubscribers = 10"),
    );
    let output = output(&[
        "plan",
        "--shell",
        &plan,
        "--recipes",
        &scratch.path("recipes"),
    ]);
    let script = text(&output.stdout);
    assert!(
        script.contains("echo 2001:db8:ce::/51 13 2001:db8:cf::/56 203.0.113.128/25 6"),
        "{script}{}",
        text(&output.stderr)
    );
}

#[test]
fn lines_about_subscribers_take_them_from_both_rules_in_turns() {
    let scratch = Scratch::new("lines");
    std::fs::create_dir(scratch.0.join("recipes")).expect("a directory");
    let file = "[[file]]\npath = \"ces\"\ncontent = \"\"\"\nce {subscriber} {subscriber-ipv6} {subscriber-ipv4}\n\"\"\"\n";
    scratch.write("recipes/br.toml", &format!("{RECIPE}{file}{RULE}{SECOND}"));
    let plan = scratch.write(
        "plan.toml",
        &plans::of_test("dut = \"br\"\nsubscribers = 3"),
    );
    let output = output(&[
        "plan",
        "--shell",
        &plan,
        "--recipes",
        &scratch.path("recipes"),
    ]);
    let script = text(&output.stdout);
    for line in [
        "ce 0 2001:db8:ce::c000:200:0 192.0.2.0",
        "ce 1 2001:db8:ce:1:",
        "ce 2 2001:db8:cf::cb00:7180:0 203.0.113.128",
    ] {
        assert!(
            script.contains(line),
            "{line}: {script}{}",
            text(&output.stderr)
        );
    }
}
