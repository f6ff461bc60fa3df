//! Total losses name their cause: what the device answers with ICMP errors, and what its kernel counts. Needs root and TAYGA; without them these tests
//! fail, they do not skip.

use crate::common::{ONE_AT_A_TIME, Scratch, output, text};
use std::fs;

/// Writes a copy of a built-in recipe under another name into a directory, with these lines of set-up behind its own.
fn recipe(scratch: &Scratch, base: &str, name: &str, more: &str) {
    let built_in = fs::read_to_string(format!(
        "{}/../../recipes/{base}.toml",
        env!("CARGO_MANIFEST_DIR")
    ))
    .expect("a recipe");
    let named = built_in.replacen(
        &format!("name = \"{base}\""),
        &format!("name = \"{name}\""),
        1,
    );
    scratch.write(
        &format!("recipes/{name}.toml"),
        &named.replacen("[version]\n", &format!("{more}\n[version]\n"), 1),
    );
}

fn setup(commands: &[&str]) -> String {
    commands
        .iter()
        .map(|command| format!("[[setup]]\nrun = \"{command}\"\n"))
        .collect()
}

/// Returns the lines of a set-up that loads these rules of netfilter.
fn rules(text: &str) -> String {
    format!(
        "[[file]]\npath = \"rules\"\ncontent = \"\"\"\n{text}\"\"\"\n{}",
        setup(&["nft -f {dir}/rules"])
    )
}

/// Returns what a trial of one second at 100 frames/s prints, which is little enough for any machine. It may be invalid if the machine is busy.
fn trial(scratch: &Scratch, name: &str, size: &str) -> String {
    let recipes = scratch.path("recipes");
    let arguments = [
        "trial",
        name,
        "--recipes",
        &recipes,
        "--size",
        size,
        "--rate",
        "100",
        "--for",
        "1s",
    ];
    let output = output(&arguments);
    assert!(
        matches!(output.status.code(), Some(0 | 4)),
        "{}",
        text(&output.stderr)
    );
    text(&output.stdout)
}

#[test]
fn a_translator_with_a_small_mtu_is_quoted_in_the_terminal_and_in_every_report() {
    let _guard = ONE_AT_A_TIME.lock();
    let scratch = Scratch::new("too-big");
    recipe(
        &scratch,
        "tayga-siit",
        "small",
        &setup(&["ip link set nat64 mtu 1280"]),
    );
    let told = trial(&scratch, "small", "1518");
    let six = "the device answered 100 of 100 frames with ICMPv6 Packet Too Big, MTU 1280 (from 2001:2::1); raise the MTU";
    let four = "the device answered 100 of 100 frames with ICMP Destination Unreachable, fragmentation needed and DF set, MTU 1280 (from 198.19.0.1)";
    assert!(told.contains(six) && told.contains(four), "{told}");
    let plan = scratch.write(
        "plan.toml",
        "name = \"too-big\"\nexports = [\"markdown\", \"csv\"]\nrecipes = [\"recipes\"]\n[trial]\nduration = \"1s\"\n[search]\nminimum = 50\nmaximum = 100\n\
         [[test]]\nname = \"small\"\ndut = \"small\"\nframe-sizes = [1518]\nrepetitions = 1\n",
    );
    let results = scratch.path("results");
    let run = output(&["run", &plan, "-o", &results, "--trust-recipes"]);
    let all = text(&run.stdout) + &text(&run.stderr);
    assert!(
        all.contains("ICMPv6 Packet Too Big, MTU 1280 (from 2001:2::1)"),
        "{all}"
    );
    for file in [
        "report.html",
        "results.json",
        "exports/markdown/results.md",
        "exports/csv/refusals.csv",
    ] {
        let content = fs::read_to_string(scratch.path(&format!("results/{file}"))).expect(file);
        assert!(
            content.contains("Packet Too Big, MTU 1280") && content.contains("raise the MTU"),
            "{file}"
        );
    }
}

#[test]
fn a_router_without_a_route_and_one_that_prohibits_are_quoted() {
    let _guard = ONE_AT_A_TIME.lock();
    let scratch = Scratch::new("no-route");
    let no_route = [
        "ip -6 route del 2001:2:0:8000::/112 dev right",
        "ip -6 route del 2001:2:0:8000::/49",
    ];
    recipe(&scratch, "linux-ipv6", "no-route", &setup(&no_route));
    recipe(
        &scratch,
        "linux-ipv6",
        "prohibit",
        &setup(&["ip -6 route add prohibit 2001:2:0:8000::2/128"]),
    );
    let told = trial(&scratch, "no-route", "84");
    assert!(
        told.contains("of 100 frames with ICMPv6 Destination Unreachable, no route to destination (from 2001:2::1)"),
        "{told}"
    );
    assert!(
        told.contains("100 counted as Ip6InNoRoutes: no route to the destination"),
        "{told}"
    );
    let told = trial(&scratch, "prohibit", "84");
    assert!(
        told.contains(
            "communication with destination administratively prohibited (from 2001:2::1); a rule"
        ),
        "{told}"
    );
}

#[test]
fn a_silent_device_is_told_by_the_counter_that_grew() {
    let _guard = ONE_AT_A_TIME.lock();
    let scratch = Scratch::new("silent");
    let chain = |policy: &str, rule: &str| {
        rules(&format!(
            "table inet filter {{\n chain forward {{\n type filter hook forward priority 0; policy {policy};\n {rule}\n }}\n}}\n"
        ))
    };
    recipe(&scratch, "linux-ipv6", "policy", &chain("drop", ""));
    recipe(
        &scratch,
        "linux-ipv6",
        "rule",
        &chain("accept", "ip6 saddr 2001:2::/49 counter drop"),
    );
    recipe(
        &scratch,
        "linux-ipv6",
        "off",
        &setup(&["sysctl -w net.ipv6.conf.all.forwarding=0"]),
    );
    for (name, words) in [
        (
            "policy",
            "dropped by nft chain inet filter forward (policy drop); let the chain accept",
        ),
        (
            "rule",
            "dropped by nft chain inet filter forward (ip6 saddr 2001:2::/49 drop)",
        ),
        (
            "off",
            "counted as Ip6InAddrErrors: an address that the device does not forward to: IPv6 forwarding may be off",
        ),
    ] {
        let told = trial(&scratch, name, "84");
        assert!(
            told.contains("  device: of ") && told.contains(words),
            "{name}: {told}"
        );
    }
}
