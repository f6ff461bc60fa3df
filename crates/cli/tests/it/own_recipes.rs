//! Recipes that a user keeps for all plans, in the configuration of the user.

use crate::common::{Scratch, program, text};
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::process::Output;

const RECIPE: &str = r#"
name = "mine"
title = "A router of mine"
base = "linux-ipv4"
"#;

/// Returns what a command says to a user with this configuration.
fn with_configuration(configuration: &str, arguments: &[&str]) -> Output {
    program()
        .args(arguments)
        .env("XDG_CONFIG_HOME", configuration)
        .output()
        .expect("sixbench")
}

#[test]
fn own_recipes_are_known_to_every_command_unless_others_can_change_them() {
    let scratch = Scratch::new("own-recipes");
    let configuration = scratch.path("config");
    let recipes = format!("{configuration}/sixbench/recipes");
    fs::create_dir_all(&recipes).expect("a directory");
    let mode = |mode| fs::set_permissions(&recipes, fs::Permissions::from_mode(mode));
    mode(0o755).expect("permissions");
    let file = format!("{recipes}/mine.toml");
    fs::write(&file, RECIPE).expect("a file");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("permissions");
    let listed = with_configuration(&configuration, &["list", "duts", "mine"]);
    let shown = text(&listed.stdout);
    assert!(shown.contains("A router of mine"), "{shown}");
    let plan = scratch.write(
        "plan.toml",
        "name = \"p\"\nprofile = \"smoke\"\n[[test]]\nname = \"t\"\ndut = \"mine\"\n",
    );
    let checked = with_configuration(&configuration, &["check", &plan]);
    assert!(checked.status.success(), "{}", text(&checked.stderr));
    let elsewhere = with_configuration(&scratch.path("none"), &["check", &plan]);
    assert_eq!(elsewhere.status.code(), Some(2));
    fs::set_permissions(&file, fs::Permissions::from_mode(0o622)).expect("permissions");
    let writable = with_configuration(&configuration, &["check", &plan]);
    assert_eq!(writable.status.code(), Some(2), "a file of others");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).expect("permissions");
    chown(&file, Some(1000), Some(1000)).expect("an owner");
    let of_others = with_configuration(&configuration, &["check", &plan]);
    assert_eq!(
        of_others.status.code(),
        Some(2),
        "root runs no code of another user"
    );
    chown(&file, Some(0), Some(0)).expect("an owner");
    mode(0o777).expect("permissions");
    let refused = with_configuration(&configuration, &["check", &plan]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        text(&refused.stderr).contains("other users own it or can change it"),
        "{}",
        text(&refused.stderr)
    );
}

#[test]
fn an_own_recipe_replaces_the_device_of_a_ready_plan() {
    let scratch = Scratch::new("own-device");
    let configuration = scratch.path("config");
    let recipes = format!("{configuration}/sixbench/recipes");
    fs::create_dir_all(&recipes).expect("a directory");
    let own = RECIPE.replace("name = \"mine\"", "name = \"openbsd-ipv4\"");
    fs::write(format!("{recipes}/openbsd-ipv4.toml"), own).expect("a file");
    for path in [&configuration, &recipes] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("permissions");
    }
    let file = format!("{recipes}/openbsd-ipv4.toml");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).expect("permissions");
    let plan = "siitperf-paper-table9-10";
    let shown = with_configuration(&configuration, &["plan", plan, "--shell"]);
    let commands = text(&shown.stdout);
    assert!(shown.status.success(), "{}", text(&shown.stderr));
    assert!(
        commands.contains("A router of mine") && !commands.contains("openbsd-ipv4: set up by hand"),
        "{commands}"
    );
}
