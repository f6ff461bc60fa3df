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
    trial_with(scratch, name, size, "both")
}

/// Returns what such a trial in these directions prints.
fn trial_with(scratch: &Scratch, name: &str, size: &str, directions: &str) -> String {
    let recipes = scratch.path("recipes");
    let arguments = [
        "trial",
        name,
        "--recipes",
        &recipes,
        "--size",
        size,
        "--directions",
        directions,
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
        "name = \"too-big\"\nexports = [\"markdown\", \"csv\"]\nrecipes = [\"recipes\"]\n[trial]\npatience = \"0s\"\nduration = \"500ms\"\n[search]\nminimum = 50\nmaximum = 100\n\
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

#[test]
fn a_neighbour_that_does_not_answer_is_named_with_its_interface() {
    let _guard = ONE_AT_A_TIME.lock();
    let scratch = Scratch::new("neighbour");
    for (base, commands, neighbour) in [
        (
            "linux-ipv4",
            ["ip route add 198.19.0.2/32 via 198.19.77.9 dev right onlink"],
            "198.19.77.9",
        ),
        (
            "linux-ipv6",
            ["ip -6 route add 2001:2:0:8000::2/128 via 2001:2:0:8000:9::9 dev right onlink"],
            "2001:2:0:8000:9::9",
        ),
    ] {
        let name = format!("{base}-alone");
        recipe(&scratch, base, &name, &setup(&commands));
        let told = trial_with(&scratch, &name, "84", "forward");
        let silent = format!(
            "nothing answered the device's requests for the neighbour {neighbour} on right; let the device's route lead"
        );
        assert!(
            told.contains(&silent) && !told.contains("keeps no counter"),
            "{told}"
        );
    }
}

#[test]
fn what_the_reverse_path_filter_drops_is_told_by_its_name() {
    let _guard = ONE_AT_A_TIME.lock();
    let scratch = Scratch::new("reverse-path");
    // The way back to the source of the frames leaves by the other interface. The tester itself stays a neighbour on the left: the filter also
    // judges requests for neighbours.
    let asymmetric = [
        "sysctl -w net.ipv4.conf.left.rp_filter=1",
        "ip route add 198.18.77.7/32 dev right",
    ];
    recipe(&scratch, "linux-ipv4", "strict", &setup(&asymmetric));
    let path = scratch.path("recipes/strict.toml");
    let text = fs::read_to_string(&path).expect("the recipe");
    let elsewhere = text.replace("source = \"198.18.0.2\"", "source = \"198.18.77.7\"");
    scratch.write("recipes/strict.toml", &elsewhere);
    let told = trial_with(&scratch, "strict", "84", "forward");
    assert!(
        told.contains("100 counted as TcpExtIPReversePathFilter: the reverse path filter"),
        "{told}"
    );
}
