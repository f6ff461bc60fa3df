//! The GitHub Action as a runner executes it: its script with a runner's variables, on results of simulated devices and on a short plan.

use crate::common::plans::KERNEL;
use crate::common::{ONE_AT_A_TIME, Scratch, locks, text};
use crate::results::{dut, plan, records, test, write};
use sixbench_method::record::Facts;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const ACTION: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../.github/actions/sixbench"
);

/// Runs a script of the action in the scratch directory as a runner does, with these inputs.
fn run(scratch: &Scratch, script: &str, inputs: &[(&str, &str)]) -> Output {
    for file in ["output", "summary"] {
        scratch.write(file, "");
    }
    let mut command = Command::new(format!("{ACTION}/{script}"));
    command
        .current_dir(&scratch.0)
        .env("NO_COLOR", "1")
        .envs([locks()])
        .env("INPUT_BINARY", env!("CARGO_BIN_EXE_sixbench"));
    command
        .env("RUNNER_TEMP", &scratch.0)
        .env("GITHUB_OUTPUT", scratch.path("output"))
        .env("GITHUB_STEP_SUMMARY", scratch.path("summary"));
    command
        .env_remove("GITHUB_SHA")
        .envs(inputs.iter().copied())
        .output()
        .expect("the action's script")
}

/// Returns an output of the last step.
fn given(scratch: &Scratch, name: &str) -> String {
    let output = fs::read_to_string(scratch.path("output")).expect("outputs");
    let line = output
        .lines()
        .find_map(|line| line.strip_prefix(&format!("{name}=")));
    line.unwrap_or_else(|| panic!("{output}")).to_owned()
}

fn summary(scratch: &Scratch) -> String {
    fs::read_to_string(scratch.path("summary")).expect("a summary")
}

#[test]
fn worse_better_and_the_same_are_told_and_worse_alone_fails() {
    let plan = plan(&[test("t")]);
    for (capacity, code, verdict, told) in [
        (
            90_000,
            5,
            "worse",
            "### ❌ B is worse than A in 1 of 1 row\n",
        ),
        (110_000, 0, "passed", "### ✅ B is better than A in 1 row\n"),
        (
            100_000,
            0,
            "passed",
            "### ✅ No difference is shown in 1 row\n",
        ),
    ] {
        let scratch = Scratch::new(&format!("action-{capacity}"));
        write(
            &scratch,
            "sixbench-base",
            &plan,
            &records(&plan, |_| dut(100_000)),
            &Facts::default(),
        );
        write(
            &scratch,
            "sixbench-results",
            &plan,
            &records(&plan, |_| dut(capacity)),
            &Facts::default(),
        );
        let step = run(&scratch, "run", &[]);
        assert_eq!(step.status.code(), Some(code), "{}", text(&step.stderr));
        assert_eq!(
            (
                given(&scratch, "verdict").as_str(),
                given(&scratch, "exit-code")
            ),
            (verdict, code.to_string())
        );
        let comment =
            fs::read_to_string(scratch.path(&given(&scratch, "comment"))).expect("a comment");
        assert!(
            comment.starts_with(told) && summary(&scratch) == comment,
            "{comment}"
        );
        assert!(Path::new(&scratch.path(&given(&scratch, "page"))).exists());
        // With a margin, and with a job that must not fail.
        let within = run(&scratch, "run", &[("INPUT_MARGIN", "15%")]);
        assert_eq!(
            (within.status.code(), given(&scratch, "verdict").as_str()),
            (Some(0), "passed")
        );
        assert_eq!(
            run(&scratch, "run", &[("INPUT_FAIL_ON", "")]).status.code(),
            Some(0)
        );
        assert_eq!(given(&scratch, "verdict"), verdict);
    }
}

#[test]
fn a_small_difference_needs_a_reference_and_is_not_passed_without_a_word() {
    let plan = plan(&[test("t"), test("r")]);
    let scratch = Scratch::new("action-reference");
    for (name, capacity) in [("sixbench-base", 100_000), ("sixbench-results", 96_000)] {
        let of_run = records(&plan, |test| {
            dut(if test.name == "r" { 50_000 } else { capacity })
        });
        write(&scratch, name, &plan, &of_run, &Facts::default());
    }
    let step = run(&scratch, "run", &[]);
    assert_eq!(
        (step.status.code(), given(&scratch, "verdict").as_str()),
        (Some(0), "inconclusive")
    );
    let said = text(&step.stderr);
    assert!(
        said.contains("::warning title=sixbench::") && said.contains("1 of 2 rows inconclusive"),
        "{said}"
    );
    let strict = run(&scratch, "run", &[("INPUT_FAIL_ON", "5 6 7")]);
    assert_eq!(strict.status.code(), Some(6));
    let by_reference = run(&scratch, "run", &[("INPUT_REFERENCE", "r")]);
    assert_eq!(
        (
            by_reference.status.code(),
            given(&scratch, "verdict").as_str()
        ),
        (Some(5), "worse")
    );
    assert!(
        summary(&scratch).contains("reference device r: "),
        "{}",
        summary(&scratch)
    );
}

#[test]
fn a_plan_is_run_as_often_as_asked_and_its_first_results_have_nothing_to_be_compared_with() {
    let _guard = ONE_AT_A_TIME.lock();
    let scratch = Scratch::new("action-plan");
    let plan = scratch.write("plan.toml", KERNEL);
    let inputs = [
        ("INPUT_PLAN", plan.as_str()),
        ("INPUT_RUNS", "2"),
        ("GITHUB_SHA", "c0ffee"),
    ];
    let first = run(&scratch, "run", &inputs);
    assert_eq!(first.status.code(), Some(0), "{}", text(&first.stderr));
    assert_eq!(
        (
            given(&scratch, "verdict").as_str(),
            given(&scratch, "page").as_str()
        ),
        ("first-run", "")
    );
    assert!(
        summary(&scratch).contains("no results of the base branch"),
        "{}",
        summary(&scratch)
    );
    for number in [1, 2] {
        let facts =
            fs::read_to_string(scratch.path(&format!("sixbench-results/run-{number}/facts.json")))
                .expect("facts");
        assert!(facts.contains("c0ffee"), "{facts}");
    }
    // The next job uses them as the results of the base branch.
    fs::rename(
        scratch.path("sixbench-results"),
        scratch.path("sixbench-base"),
    )
    .expect("renamed");
    let second = run(&scratch, "run", &inputs);
    // Two runs each cannot show a difference, and on a busy machine the tester may not even be fit. Neither fails the job.
    assert_eq!(second.status.code(), Some(0), "{}", text(&second.stderr));
    let verdict = given(&scratch, "verdict");
    assert!(
        matches!(verdict.as_str(), "inconclusive" | "tester-unfit"),
        "{verdict}"
    );
}

#[test]
fn what_cannot_be_run_fails_with_the_reason() {
    let scratch = Scratch::new("action-mistakes");
    let unknown = run(&scratch, "run", &[("INPUT_BINARY", "/no/such/program")]);
    assert!(
        unknown.status.code() == Some(2)
            && text(&unknown.stderr).contains("::error title=sixbench::there is no program"),
        "{unknown:?}"
    );
    let without = run(
        &scratch,
        "run",
        &[("INPUT_RELEASE", "v1"), ("INPUT_BINARY", "")],
    );
    assert!(
        without.status.code() == Some(2) && text(&without.stderr).contains("release needs sha256"),
        "{without:?}"
    );
    let mistaken = run(&scratch, "run", &[("INPUT_PLAN", "/no/such/plan")]);
    assert!(
        mistaken.status.code() == Some(2) && text(&mistaken.stderr).contains("exit code 2"),
        "{mistaken:?}"
    );
}

#[test]
fn a_base_that_is_named_or_required_must_hold_results_unless_that_is_accepted() {
    let plan = plan(&[test("t")]);
    let scratch = Scratch::new("action-required");
    write(
        &scratch,
        "sixbench-results",
        &plan,
        &records(&plan, |_| dut(100_000)),
        &Facts::default(),
    );
    for inputs in [
        &[("INPUT_BASE", "nothing")][..],
        &[("INPUT_REQUIRE_BASE", "true")],
    ] {
        let step = run(&scratch, "run", inputs);
        assert!(
            !step.status.success()
                && text(&step.stderr).contains("::error title=sixbench::there are no results in"),
            "{step:?}"
        );
        let accepted = run(
            &scratch,
            "run",
            &[inputs, &[("INPUT_ACCEPT", "true")]].concat(),
        );
        assert!(
            accepted.status.success() && given(&scratch, "accepted") == "true",
            "{accepted:?}"
        );
    }
    let first = run(&scratch, "run", &[]);
    assert!(
        first.status.success() && given(&scratch, "base-found") == "false",
        "{first:?}"
    );
}

/// A program that compares two equal devices: the first time it calls B worse, the second time its tester was not fit, and afterwards it shows no
/// difference.
const COMPARES: &str = r#"#!/bin/sh
number=$(($(cat count 2>/dev/null || echo 0) + 1))
echo $number >count
case $number in
1) verdict=worse; code=5 ;;
2) verdict=inconclusive; code=4 ;;
*) verdict=no-difference-shown; code=0 ;;
esac
echo '{"event":"RunEnded"}'
echo "{\"comparison\":[{\"rows\":[{\"verdict\":\"$verdict\"}]}]}"
exit $code
"#;

#[test]
fn the_rate_of_false_alarms_has_its_interval_and_unfit_comparisons_do_not_count() {
    let scratch = Scratch::new("action-aa");
    let program = scratch.write("compares", COMPARES);
    assert!(
        Command::new("chmod")
            .args(["+x", &program])
            .status()
            .expect("chmod")
            .success()
    );
    scratch.write("summary", "");
    let mut command = Command::new(format!("{ACTION}/aa"));
    command
        .current_dir(&scratch.0)
        .env("GITHUB_STEP_SUMMARY", scratch.path("summary"));
    let done = command
        .args([
            "--program",
            &program,
            "--count",
            "21",
            "-o",
            "aa",
            "--",
            "a",
            "a",
        ])
        .output()
        .expect("aa");
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    let found = fs::read_to_string(scratch.path("aa/aa.json")).expect("aa.json");
    let found: serde_json::Value = serde_json::from_str(&found).expect("JSON");
    assert_eq!(
        [
            &found["comparisons"],
            &found["usable"],
            &found["false_alarms"]
        ],
        [21, 20, 1],
        "{found}"
    );
    // Tables give 0.0013 and 0.2487 for one in twenty.
    let end = |index: usize| {
        (found["interval_95"][index].as_f64().unwrap_or_default() * 10_000.0).round()
    };
    assert_eq!(
        (found["rate"].as_f64(), end(0), end(1)),
        (Some(0.05), 13.0, 2487.0)
    );
    assert!(
        summary(&scratch).starts_with("### ✅ False alarms: 5.0 % [0.1, 24.9] of 20 comparisons"),
        "{}",
        summary(&scratch)
    );
}
