//! `compare` and `expect` as a gate uses them: each verdict with its exit code and its reason, on results of simulated devices.

use crate::common::{ONE_AT_A_TIME, Scratch, output, text};
use crate::results::{beyond_the_tester, dut, plan, records, test, write};
use sixbench_method::measures::Quantity;
use sixbench_method::plan::{
    DnsRole, DnsTest, Expectation, Load, Measure, MeasurementKey, PdvStream, Plan, Point, Test,
};
use sixbench_method::record::{Facts, TrialRecord};
use sixbench_method::repeat::Repetition;
use sixbench_method::search::RepetitionStart;
use sixbench_method::simulated::SimulatedDut;
use sixbench_method::terms::{FrameRate, FrameSize};
use std::process::{Command, Output};

/// Compares two directories with results of these plans and devices.
fn compare(scratch: &Scratch, [a, b]: [(&Plan, SimulatedDut); 2], more: &[&str]) -> Output {
    let write = |name, (plan, dut): (&Plan, SimulatedDut)| {
        write(
            scratch,
            name,
            plan,
            &records(plan, |_| dut.clone()),
            &Facts::default(),
        )
    };
    let (a, b) = (write("a", a), write("b", b));
    output(&[&["compare", &a, &b], more].concat())
}

/// Returns the exit code and the last line, which explains it.
fn ending(output: &Output) -> (Option<i32>, String) {
    (
        output.status.code(),
        text(&output.stdout)
            .lines()
            .last()
            .unwrap_or_default()
            .to_owned(),
    )
}

fn ended(output: &Output, code: i32, reason: &str) {
    let told = format!("{}{}", text(&output.stdout), text(&output.stderr));
    assert_eq!(
        ending(output),
        (Some(code), format!("exit {code}: {reason}")),
        "{told}"
    );
}

#[test]
fn worse_and_better_have_a_code_each() {
    let (scratch, plan) = (Scratch::new("gate-worse"), plan(&[test("t")]));
    let output = compare(&scratch, [(&plan, dut(100_000)), (&plan, dut(90_000))], &[]);
    ended(&output, 5, "B is worse than A in 1 of 1 row");
    let output = self::output(&["compare", &scratch.path("b"), &scratch.path("a")]);
    ended(&output, 0, "B is better than A in 1 row");
    let copied = Command::new("cp")
        .args(["-r", &scratch.path("b"), &scratch.path("copy")])
        .status();
    assert!(copied.expect("cp").success());
    let output = self::output(&["compare", &scratch.path("b"), &scratch.path("copy")]);
    ended(&output, 0, "no difference is shown in 1 row");
    let output = self::output(&["compare", &scratch.path("b"), &scratch.path("b")]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).contains("A and B are the same directory"),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn a_reference_device_tells_a_change_of_the_machine_from_one_of_the_device() {
    let (scratch, plan) = (
        Scratch::new("gate-reference"),
        plan(&[test("t"), test("r")]),
    );
    let [a, b, changed] =
        [(100_000, 50_000), (90_000, 50_000), (90_000, 45_000)].map(|(device, reference)| {
            let records = records(&plan, |test| {
                dut(if test.name == "r" { reference } else { device })
            });
            write(
                &scratch,
                &format!("{device}-{reference}"),
                &plan,
                &records,
                &Facts::default(),
            )
        });
    let by_reference = |a: &str, b: &str| self::output(&["compare", a, b, "--reference", "r"]);
    ended(&by_reference(&a, &b), 5, "B is worse than A in 1 of 1 row");
    ended(&by_reference(&b, &a), 0, "B is better than A in 1 row");
    let output = by_reference(&a, &changed);
    ended(&output, 6, "1 of 1 row inconclusive");
    assert!(
        text(&output.stdout).contains("the machine changed between A and B (r: -"),
        "{}",
        text(&output.stdout)
    );
    // A difference larger than sessions of one machine differ by stands without a reference; see the next test for a smaller one.
    ended(
        &self::output(&["compare", &a, &b]),
        5,
        "B is worse than A in 1 of 2 rows",
    );
    let output = self::output(&["compare", &a, &b, "--reference", "none"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr)
            .contains("A has no test none, which is to be the reference; it has t, r")
    );
}

#[test]
fn a_small_difference_between_two_sessions_is_not_shown_without_a_reference() {
    let (scratch, plan) = (Scratch::new("gate-sessions"), plan(&[test("t")]));
    let output = compare(&scratch, [(&plan, dut(100_000)), (&plan, dut(96_000))], &[]);
    ended(&output, 6, "1 of 1 row inconclusive");
    let said = text(&output.stdout);
    assert!(
        said.contains("which differences of up to 5 % do not tell apart"),
        "{said}"
    );
}

/// Writes the results of a device of this rate, and of a reference device beside it, by a plan that names this reference.
fn beside_a_reference(
    scratch: &Scratch,
    name: &str,
    reference: Option<&str>,
    device: u64,
) -> String {
    let mut plan = plan(&[test("t"), test("r"), test("s")]);
    plan.reference = reference.map(str::to_owned);
    let records = records(&plan, |test| {
        dut(if test.name == "t" { device } else { 50_000 })
    });
    write(scratch, name, &plan, &records, &Facts::default())
}

#[test]
fn the_reference_that_the_plans_name_is_used_and_older_results_need_not_name_it() {
    let scratch = Scratch::new("gate-plan-reference");
    let of = |name, reference, device| beside_a_reference(&scratch, name, reference, device);
    let (a, older, b) = (
        of("a", Some("r"), 100_000),
        of("older", None, 100_000),
        of("b", Some("r"), 96_000),
    );
    for a in [a, older] {
        let page = format!("{a}.html");
        let output = self::output(&[
            "compare",
            &a,
            &b,
            "--page",
            &page,
            "--page",
            &format!("{a}.md"),
        ]);
        ended(&output, 5, "B is worse than A in 1 of 2 rows");
        let pages =
            [page, format!("{a}.md")].map(|path| std::fs::read_to_string(path).expect("a page"));
        for told in [text(&output.stdout), pages.concat()] {
            assert!(
                told.contains("reference device r: ")
                    && told.contains("no change of the machine is shown"),
                "{told}"
            );
        }
    }
}

#[test]
fn different_references_are_told_and_none_is_used() {
    let scratch = Scratch::new("gate-references");
    let (a, b) = (
        beside_a_reference(&scratch, "a", Some("r"), 100_000),
        beside_a_reference(&scratch, "b", Some("s"), 96_000),
    );
    let output = self::output(&["compare", &a, &b]);
    assert_eq!(output.status.code(), Some(6));
    let said = text(&output.stderr);
    assert!(
        said.contains("warning: the plans name different references (A r, B s); choose"),
        "{said}"
    );
    ended(
        &self::output(&["compare", &a, &b, "--reference", "s"]),
        5,
        "B is worse than A in 1 of 2 rows",
    );
}

#[test]
fn frames_that_one_side_alone_had_twice_are_told_everywhere() {
    let (scratch, plan) = (Scratch::new("gate-anomalies"), plan(&[test("t")]));
    let of = |name: &str, duplicate: u64| {
        let mut made = records(&plan, |_| dut(100_000));
        made[0].result.directions[0].duplicate = duplicate;
        made[1].result.directions[0].reordered = 5;
        write(&scratch, name, &plan, &made, &Facts::default())
    };
    let (a, b, page, markdown) = (
        of("a", 0),
        of("b", 1200),
        scratch.path("c.html"),
        scratch.path("c.md"),
    );
    let output = self::output(&["compare", &a, &b, "--page", &page, "--page", &markdown]);
    ended(&output, 0, "no difference is shown in 1 row");
    let [page, markdown] =
        [page, markdown].map(|path| std::fs::read_to_string(path).expect("a page"));
    for text in [text(&output.stdout), page, markdown] {
        assert!(
            text.contains("only B had 1,200 duplicate frames, "),
            "{text}"
        );
        assert!(!text.contains("reordered"), "both had those: {text}");
    }
    let output = self::output(&["compare", &b, &a, "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let [one] = &json["anomalies"].as_array().expect("a list")[..] else {
        panic!("{json}")
    };
    assert_eq!(
        (&one["side"], &one["kind"], &one["frames"]),
        (&"A".into(), &"duplicate".into(), &1200.into())
    );
}

#[test]
fn fewer_than_four_repetitions_are_inconclusive() {
    let few = plan(&[Test {
        repetitions: Repetition::Fixed(3),
        ..test("t")
    }]);
    let output = compare(
        &Scratch::new("gate-few"),
        [(&few, dut(100_000)), (&few, dut(50_000))],
        &[],
    );
    ended(&output, 6, "1 of 1 row inconclusive");
    assert!(
        text(&output.stdout).contains("too few repetitions (at least 4 of each are needed"),
        "{}",
        text(&output.stdout)
    );
}

#[test]
fn what_the_tester_or_the_plan_cut_off_is_inconclusive() {
    let plan = plan(&[test("t")]);
    let duts = [(&plan, dut(500_000)), (&plan, beyond_the_tester(100_000))];
    let output = compare(&Scratch::new("gate-cut-off"), duts, &[]);
    ended(&output, 6, "1 of 1 row inconclusive");
    let said = text(&output.stdout);
    assert!(
        said.contains("A at least 200.0k frames/s") && said.contains("cut off repetitions"),
        "{said}"
    );
}

#[test]
fn tests_that_b_lacks_are_named() {
    let names = |names: &[&str]| plan(&names.iter().map(|name| test(name)).collect::<Vec<_>>());
    let (all, one) = (names(&["one", "two", "three"]), names(&["one"]));
    let output = compare(
        &Scratch::new("gate-lacks"),
        [(&all, dut(100_000)), (&one, dut(100_000))],
        &[],
    );
    ended(&output, 7, "2 results missing, listed above");
    let said = text(&output.stdout);
    assert!(
        said.contains("missing: B has no test two\nmissing: B has no test three\n"),
        "{said}"
    );
}

#[test]
fn a_run_that_was_interrupted_does_not_pass() {
    let (scratch, plan) = (
        Scratch::new("gate-interrupted"),
        plan(&[test("t"), test("u")]),
    );
    let of_a = records(&plan, |_| dut(100_000));
    let of_b: Vec<_> = of_a
        .iter()
        .filter(|record| record.point.test == "t" && record.repetition < 4)
        .cloned()
        .collect();
    let a = write(&scratch, "a", &plan, &of_a, &Facts::default());
    let b = write(&scratch, "b", &plan, &of_b, &Facts::default());
    let output = output(&["compare", &a, &b]);
    assert_eq!(output.status.code(), Some(7));
    let said = text(&output.stdout);
    assert!(
        said.contains("missing: B was interrupted: it has 3 of 7 repetitions of t/84"),
        "{said}"
    );
    assert!(
        said.contains("missing: B was interrupted: it has no repetition of u/84"),
        "{said}"
    );
}

#[test]
fn a_tester_that_was_unfit_is_neither_a_pass_nor_a_difference() {
    let plan = plan(&[test("t")]);
    let output = compare(
        &Scratch::new("gate-unfit"),
        [(&plan, dut(100_000)), (&plan, beyond_the_tester(500))],
        &[],
    );
    ended(
        &output,
        4,
        "the tester was not fit at 1 point (sixbench doctor shows the cause)",
    );
    assert!(
        text(&output.stdout).contains("the tester of B was not fit in 7 of 7 repetitions of t/84")
    );
}

#[test]
fn another_machine_is_named_and_so_is_that_they_did_not_take_turns() {
    let (scratch, plan) = (Scratch::new("gate-machine"), plan(&[test("t")]));
    let records = records(&plan, |_| dut(100_000));
    let facts = |kernel: &str| {
        let host = [
            ("kernel".to_owned(), kernel.to_owned()),
            ("processor".to_owned(), "P".to_owned()),
        ];
        Facts {
            sixbench: "0.1.0".to_owned(),
            host: host.into(),
            ..Facts::default()
        }
    };
    let a = write(&scratch, "a", &plan, &records, &facts("6.1.0"));
    let b = write(&scratch, "b", &plan, &records, &facts("6.12.0"));
    let warned = text(&output(&["compare", &a, &b]).stderr);
    assert!(
        warned.contains(
            "warning: A and B differ in more than their devices: kernel: A 6.1.0, B 6.12.0\n"
        ),
        "{warned}"
    );
    assert!(!warned.contains("processor"), "{warned}");
    assert_eq!(warned.matches("one after the other").count(), 1, "{warned}");
    let json = text(&output(&["compare", &a, &b, "--json"]).stdout);
    let json: serde_json::Value = serde_json::from_str(&json).expect("one line of JSON");
    assert_eq!(json["warnings"].as_array().map(Vec::len), Some(2), "{json}");
}

#[test]
fn json_has_units_nouns_verdicts_and_the_exit_code() {
    let dns = Test {
        measure: Measure::Dns(DnsTest::required(DnsRole::Dns64)),
        ..test("t")
    };
    let plan = plan(&[dns]);
    let server = |capacity| dut(capacity).with_names(FrameRate(200_000), 0, 0);
    let output = compare(
        &Scratch::new("gate-json"),
        [(&plan, server(100_000)), (&plan, server(90_000))],
        &["--json"],
    );
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let row = &json["comparison"][0]["rows"][0];
    assert_eq!(
        [&row["unit"], &row["noun"], &row["verdict"]],
        ["queries/s", "queries", "worse"],
        "{json}"
    );
    assert_eq!(json["reference"], serde_json::Value::Null);
    assert_eq!(json["comparison"][0]["frame_size"], serde_json::Value::Null);
    assert_eq!(
        [&json["verdict"], &json["explanation"]],
        ["worse", "exit 5: B is worse than A in 1 of 1 row"]
    );
    assert_eq!(
        (&json["exit_code"], output.status.code()),
        (&serde_json::json!(5), Some(5))
    );
}

#[test]
fn dns_servers_are_compared_in_queries() {
    let dns = Test {
        measure: Measure::Dns(DnsTest::required(DnsRole::Dns64)),
        ..test("t")
    };
    let plan = plan(&[dns]);
    let server = || dut(100_000).with_names(FrameRate(200_000), 0, 0);
    let said = text(
        &compare(
            &Scratch::new("gate-dns"),
            [(&plan, server()), (&plan, server())],
            &[],
        )
        .stdout,
    );
    assert!(
        said.starts_with("DNS queries: A = t") && said.contains("queries/s (n = 7)"),
        "{said}"
    );
    assert!(
        !said.contains("bytes") && !said.contains("frames"),
        "{said}"
    );
}

#[test]
fn records_that_the_plan_does_not_ask_for_are_not_left_out_without_a_word() {
    let (scratch, a) = (Scratch::new("gate-mismatch"), plan(&[test("t")]));
    let mut of_another = a.clone();
    of_another.search.maximum = FrameRate(150_000);
    let records = records(&of_another, |_| dut(100_000));
    let a = write(&scratch, "a", &a, &records, &Facts::default());
    let output = output(&["compare", &a, &a]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).contains("which is not what this plan does there"),
        "{}",
        text(&output.stderr)
    );
}

/// Completes a run in which everything has been measured, and returns its output on the expectations. Needs root, like every run.
fn expecting(name: &str, test: Test, expect: Vec<Expectation>, dut: SimulatedDut) -> Output {
    let _guard = ONE_AT_A_TIME.lock();
    let (scratch, plan) = (Scratch::new(name), plan(&[Test { expect, ..test }]));
    let results = write(
        &scratch,
        "results",
        &plan,
        &records(&plan, |_| dut.clone()),
        &Facts::default(),
    );
    output(&["run", "--resume", &results])
}

fn at_most(quantity: Quantity, most: f64) -> Expectation {
    Expectation {
        quantity: Some(quantity),
        at_least: None,
        at_most: Some(most),
        ..Expectation::at_least(0.0)
    }
}

#[test]
fn expectations_that_are_met_end_with_0_and_say_so() {
    let output = expecting(
        "expect-met",
        test("t"),
        vec![Expectation::at_least(90_000.0)],
        dut(100_000),
    );
    ended(&output, 0, "the plan's expectation met at 1 point");
}

#[test]
fn an_expectation_of_either_bound_that_is_missed_ends_with_5() {
    let expect = vec![Expectation {
        at_most: Some(95_000.0),
        ..Expectation::at_least(90_000.0)
    }];
    let output = expecting("expect-missed", test("t"), expect, dut(100_000));
    ended(&output, 5, "1 of 1 expectation missed");
    let said = text(&output.stdout);
    assert!(
        said.contains("missed: t/84: Throughput: a median of "),
        "{said}"
    );
    assert!(
        said.contains(" frames/s, expected at least 90000 frames/s and at most 95000 frames/s\n"),
        "{said}"
    );
}

#[test]
fn a_result_at_least_above_an_expectation_passes_and_below_it_is_the_testers() {
    let at = |name, rate| {
        expecting(
            name,
            test("t"),
            vec![Expectation::at_least(rate)],
            beyond_the_tester(100_000),
        )
    };
    ended(
        &at("expect-open", 80_000.0),
        0,
        "the plan's expectation met at 1 point",
    );
    let output = at("expect-cut-off", 150_000.0);
    ended(
        &output,
        4,
        "1 of 1 expectation could not be decided, because the tester, the plan's maximum or other work ended the search or made delays too long",
    );
    let said = text(&output.stdout);
    assert!(
        said.contains("not known: t/84: Throughput: a median of ")
            && said.contains(" frames/s or more, where"),
        "{said}"
    );
}

#[test]
fn a_quantity_is_expected_at_one_frame_size_in_its_own_unit() {
    let at = PdvStream {
        load: Load::Rate(FrameRate(1_000)),
        duration_ns: 1_000_000_000,
    };
    let pdv = Test {
        measure: Measure::Pdv(at),
        frame_sizes: vec![FrameSize(84), FrameSize(512)],
        ..test("t")
    };
    let expect = vec![Expectation {
        frame_size: Some(FrameSize(512)),
        ..at_most(Quantity::MinimumDelay, 20_000.0)
    }];
    let output = expecting(
        "expect-quantity",
        pdv,
        expect,
        dut(100_000).with_delay(50_000, 1_000),
    );
    ended(&output, 5, "1 of 1 expectation missed");
    let said = text(&output.stdout);
    assert!(
        said.contains("missed: t/512: Dmin, ") && said.contains("expected at most 0.02 ms"),
        "{said}"
    );
}

#[test]
fn an_expectation_without_a_result_ends_with_7() {
    let at = PdvStream {
        load: Load::OfThroughput(1.0),
        duration_ns: 1_000_000_000,
    };
    let pdv = Test {
        measure: Measure::Pdv(at),
        ..test("t")
    };
    // Nothing passes at the lowest rate of the search, so there is no load at which to measure.
    let output = expecting(
        "expect-missing",
        pdv,
        vec![at_most(Quantity::Pdv, 1e6)],
        dut(500),
    );
    ended(&output, 7, "1 of 1 expectation without a result");
    let said = text(&output.stdout);
    assert!(
        said.contains("missing: t/84: PDV, forward: no result, expected at most 1 ms\n"),
        "{said}"
    );
}

#[test]
fn a_run_whose_tester_was_unfit_names_the_points() {
    let output = expecting("expect-unfit", test("t"), vec![], beyond_the_tester(500));
    let reason = "the tester was not fit: it had no valid trial, or only disturbed ones, at t/84 (7 of 7 repetitions); sixbench doctor shows what disturbs it";
    ended(&output, 4, reason);
}

#[test]
fn an_expectation_beyond_the_search_is_refused_before_anything_runs() {
    let scratch = Scratch::new("expect-beyond");
    let text_of = |expect: &str| {
        format!(
            "name = \"p\"\n[search]\nmaximum = \"1M\"\n[[test]]\nname = \"t\"\ndut = \"linux-ipv4\"\nexpect = {expect}\n"
        )
    };
    for (expect, place) in [
        ("\"2M\"", "plan.toml:7:10"),
        (
            "[{ quantity = \"pdv\", at-most = \"1ms\" }]",
            "plan.toml:7:24",
        ),
    ] {
        let plan = scratch.write("plan.toml", &text_of(expect));
        let output = output(&["run", &plan, "-o", &scratch.path("results")]);
        assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
        assert!(
            text(&output.stderr).contains(place),
            "{}",
            text(&output.stderr)
        );
        assert!(!scratch.0.join("results").exists());
    }
}

/// Writes a folder of runs of this plan, an hour apart, each on a device with a different capacity.
fn set(scratch: &Scratch, name: &str, plan: &Plan, capacities: &[u64]) -> String {
    let folder = scratch.path(name);
    std::fs::create_dir(&folder).expect("a folder");
    for (number, capacity) in capacities.iter().enumerate() {
        let mut of_run = records(plan, |_| dut(*capacity));
        for record in &mut of_run {
            record.started = format!("2026-03-01T{number:02}:00:00Z");
        }
        write(
            scratch,
            &format!("{name}/{number}"),
            plan,
            &of_run,
            &Facts::default(),
        );
    }
    folder
}

#[test]
fn sets_of_runs_are_compared_by_their_runs_and_not_by_their_repetitions() {
    let (scratch, plan) = (Scratch::new("gate-sets"), plan(&[test("t")]));
    // The runs of A and those of B differ among themselves as much as A and B do; within a run the repetitions agree.
    let a = set(
        &scratch,
        "before",
        &plan,
        &[100_000, 92_000, 101_000, 94_000, 99_000],
    );
    let b = set(
        &scratch,
        "after",
        &plan,
        &[91_000, 100_000, 95_000, 93_000, 98_000],
    );
    let worse = set(
        &scratch,
        "worse",
        &plan,
        &[80_000, 84_000, 81_000, 83_000, 80_500],
    );
    let (page, markdown) = (scratch.path("pages/c.html"), scratch.path("pages/c.md"));
    let same = output(&["compare", &a, &b, "--page", &page]);
    ended(&same, 0, "no difference is shown in 1 row");
    assert!(
        text(&same.stdout).contains("A: median (runs)")
            && text(&same.stdout).contains(&format!("page: {page}")),
        "{}",
        text(&same.stdout)
    );
    ended(
        &output(&["compare", &a, &worse, "--page", &page, "--page", &markdown]),
        5,
        "B is worse than A in 1 of 1 row",
    );
    ended(
        &output(&["compare", &a, &worse, "--page", &markdown]),
        5,
        "B is worse than A in 1 of 1 row",
    );
    let told = std::fs::read_to_string(&markdown).expect("Markdown");
    assert!(
        told.starts_with("### ❌ B is worse than A in 1 of 1 row\n")
            && told.contains("| worse (p = 0.008) |"),
        "{told}"
    );
    let html = std::fs::read_to_string(&page).expect("a page");
    assert!(
        html.contains("class=\"effect worse\"") && !html.contains("<script"),
        "{html}"
    );
    ended(
        &output(&["compare", &a, &worse, "--margin", "30%"]),
        0,
        "no difference is shown in 1 row",
    );
    ended(
        &output(&["compare", &a, &worse, "--tolerance", "30%"]),
        0,
        "no difference is shown in 1 row",
    );
}

#[test]
fn fewer_than_four_runs_of_each_are_too_few_however_many_repetitions_they_have() {
    let (scratch, plan) = (Scratch::new("gate-few-runs"), plan(&[test("t")]));
    let a = set(&scratch, "before", &plan, &[100_000, 101_000, 102_000]);
    let b = set(&scratch, "after", &plan, &[50_000, 51_000, 52_000]);
    let few = output(&["compare", &a, &b]);
    ended(&few, 6, "1 of 1 row inconclusive");
    assert!(
        text(&few.stdout).contains("too few runs (at least 4 of each are needed"),
        "{}",
        text(&few.stdout)
    );
}

#[test]
fn a_set_of_runs_of_different_plans_is_refused() {
    let scratch = Scratch::new("gate-mixed");
    let (one, other) = (plan(&[test("t")]), plan(&[test("u")]));
    let a = set(&scratch, "before", &one, &[100_000, 101_000]);
    write(
        &scratch,
        "before/other",
        &other,
        &records(&other, |_| dut(90_000)),
        &Facts::default(),
    );
    let refused = output(&["compare", &a, &a]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        text(&refused.stderr).contains("A is no set of runs of one plan"),
        "{}",
        text(&refused.stderr)
    );
}

#[test]
fn runs_that_took_turns_are_told_apart_from_those_that_came_one_after_the_other() {
    let (scratch, plan) = (Scratch::new("gate-turns"), plan(&[test("t")]));
    let a = set(
        &scratch,
        "before",
        &plan,
        &[100_000, 100_400, 100_100, 100_300],
    );
    let b = set(
        &scratch,
        "after",
        &plan,
        &[100_200, 100_000, 100_300, 100_100],
    );
    let said = text(&output(&["compare", &a, &b]).stderr);
    assert!(
        said.contains("note: the runs of A and B took turns, 4 of each"),
        "{said}"
    );
    let said = text(&output(&["compare", &format!("{a}/0"), &format!("{b}/1")]).stderr);
    assert!(
        said.contains("were measured one after the other (B 60 minutes after A), so a change of the machine between them looks like a difference"),
        "{said}"
    );
}

/// Returns facts on which host measured each repetition of a plan's only test.
fn measured_on(hosts: [(&str, std::ops::RangeInclusive<u32>); 2]) -> Facts {
    let key = |repetition| MeasurementKey {
        point: Point {
            test: "t".to_owned(),
            frame_size: FrameSize(84),
        },
        repetition: Some(repetition),
    };
    let hosts = hosts.map(|(host, repetitions)| (host.to_owned(), repetitions.map(key).collect()));
    Facts {
        measured_on: hosts.into(),
        ..Facts::default()
    }
}

#[test]
fn results_of_several_hosts_are_compared_by_what_one_host_measured_of_both() {
    let mut plan = plan(&[Test {
        repetitions: Repetition::Fixed(8),
        ..test("t")
    }]);
    plan.search.start = RepetitionStart::Cold;
    let scratch = Scratch::new("gate-hosts");
    // One host is twice as fast as the other, but the devices are the same.
    let both = |fast: std::ops::RangeInclusive<u32>| -> Vec<TrialRecord> {
        let [of_fast, of_slow] = [100_000, 50_000].map(|rate| records(&plan, |_| dut(rate)));
        let is_fast = |record: &TrialRecord| fast.contains(&record.repetition);
        of_fast
            .into_iter()
            .filter(is_fast)
            .chain(of_slow.into_iter().filter(|record| !is_fast(record)))
            .collect()
    };
    let a = write(
        &scratch,
        "a",
        &plan,
        &both(1..=4),
        &measured_on([("fast", 1..=4), ("slow", 5..=8)]),
    );
    let b = write(
        &scratch,
        "b",
        &plan,
        &both(1..=2),
        &measured_on([("fast", 1..=2), ("slow", 3..=8)]),
    );
    let compared = output(&["compare", &a, &b]);
    ended(&compared, 0, "no difference is shown in 1 row");
    assert!(
        text(&compared.stderr).contains("what slow measured is compared, and the rest left out"),
        "{}",
        text(&compared.stderr)
    );
    let other = write(
        &scratch,
        "other",
        &plan,
        &both(1..=4),
        &measured_on([("fast", 1..=4), ("slower", 5..=8)]),
    );
    let third = write(
        &scratch,
        "third",
        &plan,
        &both(1..=4),
        &measured_on([("third", 1..=4), ("slow", 5..=8)]),
    );
    let apart = output(&["compare", &other, &third]);
    assert!(
        text(&apart.stderr).contains("warning: no host measured both A and B"),
        "{}",
        text(&apart.stderr)
    );
}
