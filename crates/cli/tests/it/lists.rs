//! `sixbench list`, `sixbench explain` and `sixbench plan`, as a person reads them at a terminal of 60 or 80 columns, and as a program reads them.

use crate::common::{Scratch, output, program, text};
use serde_json::Value;

/// Returns what a command prints at this width.
fn shown(arguments: &[&str], columns: &str) -> String {
    let output = program()
        .args(arguments)
        .env("COLUMNS", columns)
        .output()
        .expect("sixbench");
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

fn refused(arguments: &[&str], reason: &str) {
    let output = output(arguments);
    assert_eq!(
        (output.status.code(), text(&output.stdout)),
        (Some(2), String::new()),
        "{arguments:?}"
    );
    assert!(
        text(&output.stderr).contains(reason),
        "{arguments:?}: {}",
        text(&output.stderr)
    );
}

#[test]
fn devices_are_a_table_below_what_they_need() {
    // These devices need nothing that a machine could lack, or another machine.
    insta::assert_snapshot!("duts_wire", shown(&["list", "duts", "no device"], "60"));
    insta::assert_snapshot!("duts_openbsd", shown(&["list", "duts", "OPENBSD"], "80"));
}

#[test]
fn no_line_of_a_list_is_wider_than_the_terminal() {
    for list in [
        &["list", "duts"][..],
        &["list", "measures"],
        &["list", "plans"],
        &["list", "traffic"],
        &["explain"],
    ] {
        let too_wide: Vec<String> = shown(list, "80")
            .lines()
            .filter(|line| line.chars().count() > 80)
            .map(str::to_owned)
            .collect();
        // A word that is longer than its column is an address and not broken.
        assert!(
            too_wide.iter().all(|line| line.contains("https://")),
            "{list:?}: {too_wide:?}"
        );
    }
}

#[test]
fn without_a_terminal_each_row_is_one_line() {
    let printed = program()
        .args(["list", "plans"])
        .env_remove("COLUMNS")
        .output()
        .expect("sixbench");
    let printed = text(&printed.stdout);
    assert!(
        printed.lines().count() > 10 && printed.lines().all(|line| line.starts_with("plans/")),
        "{printed}"
    );
}

#[test]
fn a_technology_and_a_word_choose_devices_and_json_has_a_line_for_each() {
    let printed = shown(
        &["list", "duts", "openbsd", "--technology", "nat64", "--json"],
        "80",
    );
    let rows: Vec<Value> = printed
        .lines()
        .map(|line| serde_json::from_str(line).expect("an object"))
        .collect();
    assert_eq!(rows.len(), 2, "{printed}");
    for row in &rows {
        assert_eq!(
            (&row["technology"], &row["untested"]),
            (&Value::from("nat64"), &Value::from(true))
        );
        assert_eq!(
            row["availability"],
            serde_json::json!({ "state": "over-ssh", "system": "OpenBSD" })
        );
    }
    assert_eq!(
        shown(&["list", "measures", "pdv", "--json"], "80")
            .lines()
            .count(),
        2,
        "pdv and ipdv"
    );
}

#[test]
fn a_filter_that_no_row_passes_is_refused() {
    refused(
        &["list", "duts", "tayga-sitt"],
        "`tayga-sitt` occurs nowhere in this list; did you mean `tayga-siit`?",
    );
    refused(
        &["list", "plans", "xyzxyz"],
        "without a word, all are listed",
    );
    refused(
        &["list", "duts", "--technology", "nat65"],
        "no device is of the technology `nat65`; there are 464xlat, 6rd, ",
    );
    refused(
        &["list", "plans", "--technology", "nat64"],
        "`--technology` chooses devices",
    );
}

#[test]
fn signs_of_a_report_and_the_device_are_explained() {
    insta::assert_snapshot!("explain_dut", shown(&["explain", "DUT"], "80"));
    insta::assert_snapshot!("explain_at_least", shown(&["explain", "≥"], "80"));
    for (typed, name) in [
        ("≤", "at-most"),
        ("≈", "about"),
        ("at least", "at-least"),
        ("device under test", "dut"),
    ] {
        assert!(
            shown(&["explain", typed], "80").starts_with(&format!("{name}\n")),
            "{typed}"
        );
    }
}

#[test]
fn an_unknown_term_is_answered_by_the_nearest() {
    refused(
        &["explain", "trougput"],
        "no explanation of `trougput`; did you mean `throughput`?",
    );
    refused(&["explain", "tear-down"], "did you mean `tear-down-rate`?");
    refused(&["explain", "capacity"], "did you mean `table-capacity`?");
    refused(
        &["explain", "nosuch"],
        "no explanation of `nosuch`; `sixbench explain` lists all",
    );
    refused(&["explain", "!"], "`sixbench explain` lists all");
}

#[test]
fn a_plan_is_shown_with_its_hours_first_and_its_clauses_only_if_wanted() {
    let text = shown(&["plan", "isp"], "80");
    insta::assert_snapshot!("plan_isp", text);
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    let lines = |arguments: &[&str]| {
        shown(&[&["plan", "isp"], arguments].concat(), "80")
            .lines()
            .count()
    };
    let (short, clauses, all) = (
        text.lines().count(),
        lines(&["--clauses"]),
        lines(&["--all"]),
    );
    assert!(
        short < 60 && short < clauses && clauses < all,
        "{short}, {clauses} and {all} lines"
    );
}

#[test]
fn each_clause_of_a_plan_is_shown_with_what_the_plan_does() {
    let scratch = Scratch::new("clauses");
    let plan = scratch.write("plan.toml", crate::common::plans::KERNEL);
    insta::assert_snapshot!("plan_clauses", shown(&["plan", &plan, "--clauses"], "60"));
}
