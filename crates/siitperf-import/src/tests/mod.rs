//! Whole configurations: the plan and recipe that come of them, and the mistakes and notes with their lines.

use super::options::Phase1;
use super::*;
use sixbench_method::plan::{Profile, Test};
use sixbench_method::terms::{FrameSize, Share};
use sixbench_method::units;
use sixbench_plan::{render, standard_trial};
use sixbench_runner::profile::{Job, PlanError};
use sixbench_testbed::recipe::DeviceSide;
use sixbench_testbed::{Library, Recipe};
use sixbench_wire::{Eam, EamTable};
use std::net::IpAddr;

mod mistakes;

const STATELESS: &str = include_str!("../../tests/siitperf.conf");

const NAT64: &str = "\
IP-L-Vers 6
IP-R-Vers 4
IPv6-L-Real 2001:2::2
IPv6-L-Virt ::
IPv6-R-Virt 64:ff9b::198.19.0.2
IPv4-R-Real 0.0.0.0
Fwd-var-sport 3
Fwd-var-dport 3
Fwd-sport-min 1
Fwd-sport-max 40000
Fwd-dport-min 1
Fwd-dport-max 100
Rev-sport-min 1
Rev-sport-max 0
Stateful 1
Enumerate-ports 3
Responder-ports 3
";

/// Addresses that vary on both sides, in both versions.
const VARYING: &str = "\
IP-L-var 3
IP-R-var 1
IP-L-min 2
IP-L-max 0xfffe
IP-R-min 16
IP-R-max 037
IPv4-L-offset 2
IPv4-R-offset 2
IPv6-L-offset 14
IPv6-R-offset 12
";

fn versions(left: u32, right: u32) -> String {
    let addresses = "\
IPv4-L-Real 198.18.0.2
IPv4-L-Virt 198.18.0.2
IPv4-R-Real 198.19.0.2
IPv4-R-Virt 198.19.0.2
IPv6-L-Real 2001:2::2
IPv6-L-Virt 2001:2:0:1::2
IPv6-R-Real 2001:2:0:8000::2
IPv6-R-Virt 2001:2:0:8001::2
";
    format!("IP-L-Vers {left}\nIP-R-Vers {right}\n{addresses}")
}

fn imported(source: &str, options: &Options) -> Imported {
    import("siitperf.conf", source, options)
        .unwrap_or_else(|mistakes| panic!("{}", render("siitperf.conf", source, &mistakes, false)))
}

fn titles(source: &str) -> Vec<String> {
    import("siitperf.conf", source, &Options::default())
        .expect_err("mistakes")
        .into_iter()
        .map(|m| m.title)
        .collect()
}

fn notes(imported: &Imported) -> String {
    imported
        .notes
        .iter()
        .map(|note| format!("{:2} {}\n", note.line, note.text))
        .collect()
}

fn mix(foreground: u32, of: u32) -> Options {
    Options {
        foreground: Some(Share { foreground, of }),
        ..Options::default()
    }
}

/// Returns a recipe without the keys that an older testbed does not know.
fn understood(recipe: &str) -> String {
    if toml::from_str::<Recipe>(recipe).is_ok() {
        return recipe.to_owned();
    }
    recipe
        .lines()
        .filter(|line| !line.starts_with("routes"))
        .map(|line| format!("{line}\n"))
        .collect()
}

/// Loads the recipe as a run does, with all checks on recipes.
fn loaded(name: &str, recipe: &str) -> Recipe {
    let directory =
        std::env::temp_dir().join(format!("sixbench-import-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a directory");
    std::fs::write(directory.join("siitperf.toml"), understood(recipe)).expect("a file");
    let library = Library::load(&[&directory]);
    std::fs::remove_dir_all(&directory).expect("an empty place");
    library
        .expect("a good recipe")
        .get("siitperf")
        .expect("the recipe")
        .clone()
}

/// Returns the address to which the recipe's explicit address mappings translate an address.
fn translated(recipe: &Recipe, address: IpAddr) -> Option<IpAddr> {
    let pairs = &recipe.translation.as_ref()?.eam;
    let mapping = |(ipv4, ipv6): &(String, String)| {
        Eam::new(
            ipv4.parse().expect("a prefix"),
            ipv6.parse().expect("a prefix"),
        )
    };
    let mappings = pairs
        .iter()
        .map(|pair| mapping(pair).expect("a mapping"))
        .collect();
    let table = EamTable::new(mappings).expect("mappings apart");
    match address {
        IpAddr::V4(address) => table.to_ipv6(address).map(IpAddr::V6),
        IpAddr::V6(address) => table.to_ipv4(address).map(IpAddr::V4),
    }
}

#[test]
fn a_stateless_nat64_becomes_a_plan_and_a_recipe() {
    let imported = imported(STATELESS, &Options::default());
    insta::assert_snapshot!(format!(
        "{}\n{}\n{}",
        imported.plan,
        "-".repeat(20),
        imported.recipe
    ));
}

#[test]
fn each_pair_of_versions_has_its_addresses() {
    let recipes = [(6, 4), (4, 6), (4, 4), (6, 6)].map(|(left, right)| {
        let recipe = imported(&versions(left, right), &Options::default()).recipe;
        let from = recipe.find("technology").expect("a technology");
        format!(
            "{left}/{right}\n{}",
            recipe[from..]
                .split("# RFC 2544")
                .next()
                .unwrap_or_default()
        )
    });
    insta::assert_snapshot!(recipes.join("\n"));
}

#[test]
fn every_recipe_is_one_by_the_rules_of_recipes_and_its_mappings_translate_its_foreground() {
    let networks = "Num-L-Nets 3\nNum-R-Nets 256\n";
    for (left, right) in [(6, 4), (4, 6), (4, 4), (6, 6)] {
        for (name, more) in [("plain", ""), ("varying", VARYING), ("networks", networks)] {
            let imported = imported(&format!("{}{more}", versions(left, right)), &mix(9, 10));
            let recipe = loaded(&format!("{left}{right}{name}"), &imported.recipe);
            assert_eq!(recipe.background.is_some(), (left, right) != (6, 6));
            assert!(
                imported.plan.parse::<toml::Table>().is_ok(),
                "{}",
                imported.plan
            );
            if left != right {
                let (from, to) = (recipe.foreground.left, recipe.foreground.right);
                assert_eq!(
                    translated(&recipe, from.source),
                    Some(to.source),
                    "{}",
                    imported.recipe
                );
                assert_eq!(
                    translated(&recipe, from.destination),
                    Some(to.destination),
                    "{}",
                    imported.recipe
                );
            }
        }
    }
}

#[test]
fn sides_in_one_network_get_longer_prefixes() {
    let source = "IP-L-Vers 4\nIP-R-Vers 4\nIPv4-L-Real 10.0.0.2\nIPv4-R-Real 10.0.0.130\n";
    let recipe = loaded("near", &imported(source, &Options::default()).recipe);
    let duts = [&recipe.left.dut, &recipe.right.dut].map(|dut| dut[0].to_string());
    assert_eq!(duts, ["10.0.0.1/25", "10.0.0.129/25"]);
    assert_eq!(
        titles(&source.replace(".130", ".3")),
        ["10.0.0.2 and 10.0.0.3 cannot be in two different networks"]
    );
    assert_eq!(
        titles(&source.replace(".130", ".2")),
        ["10.0.0.2 would be an address of both left and right"]
    );
}

#[test]
fn several_networks_are_counted_from_zero_and_reached_by_way_of_the_tester() {
    let source = format!("{}Num-L-Nets 256\nNum-R-Nets 20\n", versions(4, 4))
        .replace("198.19.0.2", "198.19.7.2");
    let imported = imported(&source, &Options::default());
    assert!(
        imported
            .plan
            .contains("left-networks = 256\nright-networks = 20\n"),
        "{}",
        imported.plan
    );
    assert!(
        imported.recipe.contains("routes = [\"198.18.0.0/16\"]"),
        "{}",
        imported.recipe
    );
    assert!(
        imported.recipe.contains("routes = [\"198.19.0.0/19\"]"),
        "{}",
        imported.recipe
    );
    assert!(
        notes(&imported)
            .contains("networks begin with 0, so the recipe has 198.19.0.2 for 198.19.7.2"),
        "{}",
        notes(&imported)
    );
}

#[test]
fn addresses_vary_where_siitperf_varies_them() {
    let imported = imported(&format!("{}{VARYING}", versions(6, 4)), &Options::default());
    let lines = |text: &str, word: &str| {
        text.lines()
            .filter(|line| line.contains(word))
            .take(2)
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let addresses = lines(&imported.plan, "-addresses = ");
    assert_eq!(
        addresses,
        [
            "left-addresses = { range = \"2-65534\", order = \"pseudorandom\", ipv4-offset = 2, ipv6-offset = 14 }",
            "right-addresses = { range = \"16-31\", order = \"increasing\", ipv4-offset = 2, ipv6-offset = 12 }",
        ]
    );
    assert_eq!(
        lines(&imported.recipe, "routes"),
        [
            "routes = [\"2001:2::/112\"]",
            "routes = [\"198.19.0.16/28\"]"
        ]
    );
    assert!(
        imported
            .recipe
            .contains("[\"198.18.0.0/16\", \"2001:2::/112\"]"),
        "{}",
        imported.recipe
    );
    assert!(
        notes(&imported).contains("IP-R-var: the recipe's `eam` has the first address only"),
        "{}",
        notes(&imported)
    );
}

#[test]
fn the_command_line_parameters_become_settings_of_the_plan() {
    let options = Options {
        frame_sizes: vec![FrameSize(84), FrameSize(1518)],
        duration_ns: units::duration_ns("30s").ok(),
        timeout_ns: units::duration_ns("500ms").ok(),
        foreground: Some(Share {
            foreground: 2,
            of: 3,
        }),
        frame_timeout_ns: units::duration_ns("10ms").ok(),
        ..Options::default()
    };
    let imported = imported(STATELESS, &options);
    insta::assert_snapshot!(imported.plan[imported.plan.find("[trial]").expect("[trial]")..]);
    assert!(
        notes(&imported).contains("2 foreground frames of 3: the plan has the nearest hundredth"),
        "{}",
        notes(&imported)
    );
}

#[test]
fn the_parameters_of_the_programs_and_scripts_become_keys() {
    let rate = |text| units::rate(text).expect("a rate");
    let scripts = ScriptOptions {
        maximum: Some(rate("8M")),
        error: Some(rate("1000")),
        rest_ns: units::duration_ns("10s").ok(),
        repetitions: Some(10),
        rates: Some([rate("100k"), rate("1M"), rate("100k")]),
    };
    let options = Options {
        delay_ns: units::duration_ns("60s").ok(),
        timestamps: Some(50_000),
        scripts,
        ..Options::default()
    };
    let imported = imported(STATELESS, &options);
    let search = "maximum = \"8000000\"\n# `e` of the scripts: a rate counts as its share of the maximum.\nwidth = \"1000\"\n";
    assert!(imported.plan.contains(search), "{}", imported.plan);
    assert!(
        !imported.plan.contains("# maximum"),
        "the maximum is a key: {}",
        imported.plan
    );
    let plan = sixbench_plan::parse(&imported.plan, &["siitperf"])
        .expect("a plan")
        .plan;
    assert_eq!(
        (plan.search.maximum.0, plan.search.width),
        (8_000_000, 1000.0 / 8e6)
    );
    assert_eq!(plan.trial.rest_ns, 10_000_000_000);
    assert!(plan.tests.iter().all(|test| test.repetitions.least() == 10));
    for line in [
        "tag-after = \"60s\"\ntagged = 50000\n",
        "rates = { from = \"1000000\", to = \"100000\", step = \"100000\" }\n",
    ] {
        assert_eq!(
            imported.plan.matches(line).count(),
            1,
            "{line} in {}",
            imported.plan
        );
    }
}

#[test]
fn the_repetitions_of_the_scripts_hold_for_the_establishment_rate_too() {
    for source in [NAT64.to_owned(), format!("{NAT64}Forward 0\nReverse 0\n")] {
        let scripts = ScriptOptions {
            repetitions: Some(10),
            ..ScriptOptions::default()
        };
        let imported = imported(
            &source,
            &Options {
                scripts,
                ..with_phase_1(PHASE_1)
            },
        );
        let tests = tests_of(&imported);
        let repetitions: Vec<_> = tests
            .iter()
            .map(|test| (test.name.as_str(), test.repetitions.least()))
            .collect();
        assert!(
            repetitions.contains(&("establishment-rate", 10)),
            "{repetitions:?}"
        );
        assert!(
            repetitions
                .iter()
                .all(|(_, repetitions)| *repetitions == 10),
            "{repetitions:?}"
        );
    }
}

#[test]
fn one_direction_is_one_direction() {
    let source = STATELESS.replace("Reverse 1", "Reverse 0") + "Rev-sport-min 9\nRev-sport-max 8\n";
    let imported = imported(&source, &Options::default());
    assert!(imported.plan.contains("directions = \"forward\""));
    assert!(imported.plan.contains("tester-cores = [2, 4]"));
    assert!(!imported.plan.contains("reverse-ports"));
    assert!(
        notes(&imported).contains("CPU-R-Send 6: not used: Reverse 0 at line 14"),
        "{}",
        notes(&imported)
    );
}

const PHASE_1: Phase1 = Phase1 {
    frames: 4_000_000,
    state_table: 4_000_000,
    rate: 8_000_000,
    timeout_ms: 500,
    delay_ms: 1500,
};

fn with_phase_1(phase_1: Phase1) -> Options {
    Options {
        phase_1: Some(phase_1),
        ..Options::default()
    }
}

/// Returns the job that a run would send.
fn job(recipe: &Recipe, test: &Test) -> Result<Job, PlanError> {
    sixbench_runner::profile::job(recipe, test, FrameSize(84), 1, standard_trial(Profile::Rfc))
}

/// Returns the plan's tests as a run would read them.
fn tests_of(imported: &Imported) -> Vec<Test> {
    let parsed = sixbench_plan::parse(&imported.plan, &["siitperf"]);
    parsed
        .unwrap_or_else(|mistakes| {
            panic!("{}", render("plan.toml", &imported.plan, &mistakes, false))
        })
        .plan
        .tests
}

#[test]
fn a_stateful_nat64_becomes_a_plan_of_two_phases_and_a_recipe_with_state() {
    let imported = imported(NAT64, &with_phase_1(PHASE_1));
    loaded("nat64", &imported.recipe);
    let names: Vec<String> = tests_of(&imported)
        .into_iter()
        .map(|test| test.name)
        .collect();
    assert_eq!(
        names,
        [
            "establishment-rate",
            "throughput",
            "frame-loss-rate",
            "latency",
            "pdv"
        ]
    );
    let until = imported
        .plan
        .find("\n[[test]]\nname = \"frame-loss-rate\"")
        .expect("a third test");
    insta::assert_snapshot!(format!(
        "{}{}\n{}",
        &imported.plan[..until],
        "-".repeat(20),
        imported.recipe
    ));
}

#[test]
fn a_stateful_nat44_has_the_devices_own_address_for_its_pool_on_either_side() {
    for (stateful, initiator, pool) in [
        (1, DeviceSide::Left, "198.19.0.1"),
        (2, DeviceSide::Right, "198.18.0.1"),
    ] {
        let source = format!("{}Stateful {stateful}\nEnumerate-ports 3\n", versions(4, 4));
        let imported = imported(&source, &Options::default());
        let recipe = loaded(&format!("nat44-{stateful}"), &imported.recipe);
        let state = recipe.state.as_ref().expect("state");
        assert_eq!(
            (state.initiator, recipe.translated_source(state).to_string()),
            (initiator, pool.to_owned())
        );
        let (forward, reverse) = (
            imported.plan.contains("forward-ports"),
            imported.plan.contains("reverse-ports"),
        );
        assert_eq!(
            (forward, reverse),
            (stateful == 1, stateful == 2),
            "the Responder's ports are those of its state table"
        );
        let throughput = tests_of(&imported).remove(1);
        job(&recipe, &throughput).expect("a run would take it");
    }
}

#[test]
fn sides_in_one_network_have_a_pool_in_that_of_the_responder() {
    let source = "IP-L-Vers 4\nIP-R-Vers 4\nIPv4-L-Real 10.0.0.2\nIPv4-R-Real 10.0.0.130\nStateful 1\nEnumerate-ports 3\n";
    let imported = imported(source, &Options::default());
    assert!(
        imported.recipe.contains("pool = [\"10.0.0.129\"]"),
        "{}",
        imported.recipe
    );
}

/// The documentation's example with many addresses: 4000 x 1000, fixed ports.
const MANY: &str = "\
Enumerate-ips 3
Enumerate-ports 0
Fwd-var-sport 0
Fwd-var-dport 0
IP-L-var 3
IP-R-var 3
IP-L-min 0
IP-L-max 3999
IP-R-min 2
IP-R-max 1001
IPv6-L-offset 12
IPv6-R-offset 14
IPv4-L-offset 2
IPv4-R-offset 2
";

#[test]
fn the_address_pairs_of_the_documentation_are_four_million_connections_that_a_run_takes() {
    let rest = |line: &&str| {
        !MANY
            .lines()
            .any(|many| many.split(' ').next() == line.split(' ').next())
    };
    let source: String = NAT64
        .lines()
        .filter(rest)
        .map(|line| format!("{line}\n"))
        .collect();
    let imported = imported(&(source + MANY), &Options::default());
    let recipe = loaded("many", &imported.recipe);
    for test in tests_of(&imported) {
        assert_eq!(
            (
                test.stateful.expect("stateful").connections,
                test.traffic.tuples()
            ),
            (4_000_000, 4_000_000)
        );
        job(&recipe, &test).expect("a run would take it");
    }
}

/// The parameters of siitperf's paper for its figures 6, 7 and 8, section A.2: no offset for a version that the side does not have.
#[test]
fn the_parameters_of_the_papers_figures_6_to_8_are_taken_as_they_stand() {
    let common =
        "IP-L-var 3\nIP-R-var 3\nEnumerate-ips 3\nStateful 1\nFwd-var-sport 0\nFwd-var-dport 0\n";
    let nat64 = "IP-L-Vers 6\nIP-R-Vers 4\nIPv6-L-Real 2001:2::2\nIPv6-R-Virt 64:ff9b::c612:2\nIPv4-R-Real 198.18.0.2\n\
                 IP-L-min 0\nIP-L-max 0xffff\nIP-R-min 0\nIP-R-max 65534\nIPv6-L-offset 12\nIPv6-R-offset 14\n";
    let nat44 = "IP-L-Vers 4\nIP-R-Vers 4\nIPv4-L-Real 10.0.0.2\nIPv4-R-Real 198.18.0.2\n\
                 IP-L-min 2\nIP-L-max 65534\nIP-R-min 0\nIP-R-max 65534\nIPv4-L-offset 2\nIPv4-R-offset 2\n";
    for (figure, source) in [("fig7", nat64), ("fig8", nat44)] {
        let imported = imported(&format!("{common}{source}"), &with_phase_1(PHASE_1));
        let recipe = loaded(figure, &imported.recipe);
        for test in tests_of(&imported) {
            assert!(test.traffic.tuples() > 4_000_000_000, "{figure}");
            job(&recipe, &test).unwrap_or_else(|mistake| panic!("{figure}: {mistake}"));
        }
    }
}

#[test]
fn neither_direction_means_phase_1_alone() {
    let imported = imported(
        &format!("{NAT64}Forward 0\nReverse 0\n"),
        &with_phase_1(PHASE_1),
    );
    let tests = tests_of(&imported);
    assert_eq!(
        (tests.len(), tests[0].measure.name()),
        (1, "establishment-rate")
    );
    assert!(
        notes(&imported).contains("phase 1 alone"),
        "{}",
        notes(&imported)
    );
}

#[test]
fn background_frames_of_phase_1_open_no_connection() {
    let source = NAT64.to_owned() + "IPv6-R-Real 2001:2:0:8000::2\n";
    let phase_1 = Phase1 {
        state_table: 3_000_000,
        ..PHASE_1
    };
    let options = Options {
        foreground: Some(Share {
            foreground: 9,
            of: 10,
        }),
        ..with_phase_1(phase_1)
    };
    let stateful = tests_of(&imported(&source, &options))
        .remove(1)
        .stateful
        .expect("stateful");
    assert_eq!(
        (stateful.connections, stateful.state_table),
        (3_600_000, 3_000_000)
    );
}

#[test]
fn a_delay_that_siitperf_rounds_down_is_long_enough() {
    let phase_1 = Phase1 {
        frames: 1000,
        state_table: 10,
        rate: 3000,
        timeout_ms: 100,
        delay_ms: 433,
    };
    let stateful = tests_of(&imported(NAT64, &with_phase_1(phase_1)))
        .remove(1)
        .stateful
        .expect("stateful");
    assert_eq!(stateful.delay_ns, Some(434_000_000));
}

#[test]
fn a_path_cannot_break_out_of_its_comment() {
    let imported = import("a\nb\"c", STATELESS, &Options::default()).expect("a plan");
    assert!(
        imported
            .plan
            .starts_with("# What siitperf measures with a b\"c,")
    );
    assert_eq!(
        toml::from_str::<Recipe>(&understood(&imported.recipe))
            .expect("a recipe")
            .source,
        "a\nb\"c"
    );
}
