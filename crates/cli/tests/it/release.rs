//! What a release is made of: the script that collects its files, and the list of the crates that are in the program.

use crate::common::{Scratch, names_in, text};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output};

/// The root of the checkout.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

const TARGETS: [&str; 2] = ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-musl"];

/// Runs a command in the checkout, without a network.
fn run(program: &str, arguments: &[&str]) -> Output {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(ROOT)
        .env("CARGO_NET_OFFLINE", "true")
        .output()
        .expect(program);
    assert!(output.status.success(), "{}", text(&output.stderr));
    output
}

fn bill(targets: &[&str]) -> serde_json::Value {
    let printed = run(&format!("{ROOT}/scripts/sbom"), targets);
    serde_json::from_slice(&printed.stdout).expect("JSON")
}

/// Returns the crates that cargo compiles for the program or that build it, as `NAME VERSION`, by a command with which the list is not made.
fn compiled(targets: &[&str]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for target in targets {
        let tree = run(
            env!("CARGO"),
            &[
                "tree",
                "--locked",
                "-p",
                "sixbench",
                "-e",
                "normal,build",
                "--target",
                target,
                "--prefix",
                "none",
                "--no-dedupe",
            ],
        );
        for line in text(&tree.stdout).lines() {
            if let Some((name, rest)) = line.split_once(" v") {
                let version = rest.split(' ').next().unwrap_or_default();
                found.insert(format!("{name} {version}"));
            }
        }
    }
    found
}

#[test]
fn the_bill_of_materials_has_every_crate_of_the_program_with_licence_and_sum() {
    let bill = bill(&TARGETS);
    assert_eq!(bill["bomFormat"], "CycloneDX");
    let of_program = &bill["metadata"]["component"];
    assert_eq!(of_program["version"], env!("CARGO_PKG_VERSION"));
    let components = bill["components"].as_array().expect("components");
    let all = components.iter().chain([of_program]);
    let word = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let listed: BTreeSet<String> = all
        .clone()
        .map(|one| format!("{} {}", word(&one["name"]), word(&one["version"])))
        .collect();
    let missing: Vec<_> = compiled(&TARGETS).difference(&listed).cloned().collect();
    assert!(missing.is_empty(), "{missing:?}");
    for only_in_tests in ["insta ", "proptest ", "libfuzzer-sys "] {
        assert!(
            !listed.iter().any(|name| name.starts_with(only_in_tests)),
            "{only_in_tests}"
        );
    }
    for one in all {
        let name = word(&one["name"]);
        assert!(one["licenses"][0]["expression"].is_string(), "{name}");
        let is_ours = name.starts_with("sixbench");
        assert_eq!(one["hashes"][0]["content"].is_string(), !is_ours, "{name}");
    }
    let references: BTreeSet<String> = bill["dependencies"]
        .as_array()
        .expect("edges")
        .iter()
        .map(|edge| word(&edge["ref"]))
        .collect();
    assert_eq!(references.len(), listed.len(), "one node for each");
}

#[test]
fn the_bill_is_that_of_the_targets() {
    let has_mimalloc = |target: &str| bill(&[target]).to_string().contains("pkg:cargo/mimalloc@");
    assert!(has_mimalloc("x86_64-unknown-linux-gnu"));
    assert!(!has_mimalloc("aarch64-unknown-linux-musl"));
}

/// Writes a script below a folder.
fn script(scratch: &Scratch, name: &str, lines: &str) {
    let path = scratch.write(name, &format!("#!/bin/sh\n{lines}\n"));
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("own");
}

/// Collects a release from scripts that stand in for those that build for minutes. `tried` is what tries a program.
fn collected(scratch: &Scratch, tried: &str) -> Output {
    let build = "f=$PWD/built-$2; echo program >\"$f\"; echo \"$f\"";
    let package = "f=$PWD/sixbench_1.deb; echo package >\"$f\"; echo \"$f\"";
    script(scratch, "scripts/build-static", build);
    script(scratch, "scripts/check-static", tried);
    script(scratch, "scripts/build-package", package);
    script(scratch, "scripts/check-package", "test -s \"$1\"");
    script(scratch, "scripts/sbom", "echo \"$@\"");
    script(scratch, "bin/sudo", "exec \"$@\"");
    scratch.write("Cargo.toml", "[workspace.package]\nversion = \"1.2.3\"\n");
    let release = scratch.path("scripts/build-release");
    fs::copy(format!("{ROOT}/scripts/build-release"), &release).expect("a copy");
    let path = format!(
        "{}:{}",
        scratch.path("bin"),
        std::env::var("PATH").unwrap_or_default()
    );
    Command::new(release)
        .args(["dist", "x86_64", "aarch64"])
        .current_dir(&scratch.0)
        .env("PATH", path)
        .output()
        .expect("bash")
}

#[test]
fn a_release_has_a_program_for_each_architecture_a_package_a_bill_and_sums_of_all() {
    let scratch = Scratch::new("release");
    scratch.write("dist/sixbench-old-linux", "of an earlier release");
    let done = collected(&scratch, "test -s \"$1\"");
    assert!(done.status.success(), "{}", text(&done.stderr));
    let files = [
        "SHA256SUMS",
        "sixbench-1.2.3.cdx.json",
        "sixbench-aarch64-linux",
        "sixbench-x86_64-linux",
        "sixbench_1.deb",
    ];
    assert_eq!(names_in(scratch.path("dist")), files);
    let checked = Command::new("sha256sum")
        .args(["--strict", "-c", "SHA256SUMS"])
        .current_dir(scratch.path("dist"))
        .output();
    let checked = text(&checked.expect("sha256sum").stdout);
    assert_eq!(
        checked.matches(": OK\n").count(),
        files.len() - 1,
        "{checked}"
    );
    let bill = fs::read_to_string(scratch.path("dist/sixbench-1.2.3.cdx.json"));
    assert!(bill.expect("a bill").contains("aarch64-unknown-linux-musl"));
    // The action for GitHub downloads a program of a release by this name.
    let action = fs::read_to_string(format!("{ROOT}/.github/actions/sixbench/program"));
    assert!(
        action
            .expect("a script")
            .contains("/sixbench-$(uname -m)-linux\n")
    );
}

#[test]
fn a_program_that_does_not_run_is_not_released() {
    let scratch = Scratch::new("release-broken");
    let done = collected(&scratch, "exit 1");
    assert!(!done.status.success());
    assert!(!Path::new(&scratch.path("dist/SHA256SUMS")).exists());
}

#[test]
fn a_program_for_an_unknown_architecture_is_refused_before_anything_is_built() {
    let refused = Command::new(format!("{ROOT}/scripts/build-static"))
        .args(["debug", "sparc64"])
        .output()
        .expect("sh");
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("no program is made for sparc64"));
}
