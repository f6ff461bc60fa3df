//! Every plan that comes with sixbench is valid, can be costed, and is listed with a summary.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plans")
}

fn plans() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder())
        .expect("plans")
        .map(|entry| entry.expect("an entry").path());
    let plans: Vec<_> = entries
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "toml")
        })
        .collect();
    assert!(!plans.is_empty());
    plans
}

fn file_name(plan: &Path) -> String {
    plan.file_name()
        .expect("a name")
        .to_string_lossy()
        .into_owned()
}

fn sixbench(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sixbench"))
        .args(arguments)
        .output()
        .expect("sixbench")
}

fn printed(arguments: &[&str]) -> String {
    let output = sixbench(arguments);
    assert!(
        output.status.success(),
        "{arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn every_plan_in_the_folder_is_good_and_can_be_costed() {
    for plan in plans() {
        let path = plan.display().to_string();
        assert!(printed(&["check", &path]).contains(": good ("), "{path}");
        // Commands are shown even for programs that are not installed here.
        assert!(
            printed(&["plan", &path, "--shell"]).starts_with('#'),
            "{path}"
        );
        let costed = printed(&["plan", &path]);
        assert!(
            costed.contains("this plan") && costed.contains(" measurements, "),
            "{path}: {costed}"
        );
    }
}

#[test]
fn every_plan_is_named_as_its_file_is_and_listed_with_its_first_line() {
    let listed = printed(&["list", "plans"]);
    assert_eq!(listed.lines().count(), plans().len(), "{listed}");
    for plan in plans() {
        let text = std::fs::read_to_string(&plan).expect("a plan");
        let first = text
            .lines()
            .next()
            .and_then(|line| line.strip_prefix("# "))
            .expect("a first line of comment");
        let line = listed
            .lines()
            .find(|line| line.starts_with(&format!("plans/{} ", file_name(&plan))));
        assert!(
            line.is_some_and(|line| line.ends_with(first)),
            "{}: {listed}",
            plan.display()
        );
        let stem = plan
            .file_stem()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        assert!(
            text.contains(&format!("\nname = \"{stem}\"\n")),
            "{}",
            plan.display()
        );
    }
}

#[test]
fn every_plan_is_in_the_folders_table() {
    let table = std::fs::read_to_string(folder().join("README.md")).expect("a table");
    for plan in plans() {
        assert!(
            table.contains(&format!("`{}`", file_name(&plan))),
            "{} is not in plans/README.md",
            file_name(&plan)
        );
    }
}
