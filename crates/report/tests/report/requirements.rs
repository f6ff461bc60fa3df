//! The views of what devices do with the requirements of RFCs.

use crate::formats::{html, json, latex, markdown, terminal};
use crate::sample::Sample;
use crate::sample::requirements::{every_finding, every_finding_under_load};
use sixbench_method::fixtures::{judged_vector, loaded_finding, requirement_load};
use sixbench_method::measures::Quantity;
use sixbench_method::plan::{Expectation, ExportFormat};
use sixbench_method::trial::{
    JudgedVector, RequirementLevel, RequirementLoad, RequirementResults, VectorResult,
};
use sixbench_report::Document;
use sixbench_report::expectations::judge;

fn exported(sample: &Sample, format: ExportFormat, name: &str) -> String {
    let input = sample.input();
    let document = Document::new(&input).expect("a report");
    document
        .export(format)
        .map(|file| file.expect("a file"))
        .find(|(file, _)| file == name)
        .map_or_else(String::new, |(_, text)| text.clone())
}

#[test]
fn the_chapter_has_what_is_violated_first_with_clause_sentence_and_frames() {
    let sample = Sample::with_requirements(every_finding());
    sample.keep("requirements");
    let text = markdown(&sample.input());
    let from = text.find("Requirements by RFC").expect("a table");
    let to = text[from..]
        .find("Again: ")
        .map_or(text.len(), |to| from + to);
    insta::assert_snapshot!("chapter", &text[from..to]);
}

#[test]
fn the_first_screen_has_the_requirements_beside_the_rates() {
    let sample = Sample::with_requirements(every_finding());
    let result = "2 of 4 requirements met, 1 MUST violated, 1 without a result";
    let page = html(&sample.input()).expect("a page");
    let answer = &page[..page.find("What these numbers are").expect("a notice")];
    let heading = answer.find("<h1").expect("a heading");
    let heading = &answer[heading..heading + answer[heading..].find("</h1>").expect("its end")];
    assert!(
        heading.contains(result) && heading.contains("frames&#x2f;s"),
        "{heading}"
    );
    assert!(answer.contains("Requirements of RFCs that are met and violated"));
    assert!(terminal(&sample.input(), 100, false).contains(result));
}

/// Returns the same vectors, with these findings for those of these names.
fn with(findings: &[(&str, VectorResult)]) -> Vec<JudgedVector> {
    let mut vectors = every_finding();
    for vector in &mut vectors {
        let other = findings.iter().find(|(name, _)| *name == vector.name);
        vector.result = other.map_or(vector.result, |(_, finding)| *finding);
    }
    vectors
}

/// Returns a run in which three devices were asked, one of them about another RFC as well.
fn three_devices() -> Sample {
    let mut of_another = judged_vector("dns-only", RequirementLevel::Must, VectorResult::Wrong);
    of_another.rfc = 6147;
    let other = [with(&[("46-short", VectorResult::Right)]), vec![of_another]].concat();
    let third = with(&[
        ("46-short", VectorResult::NotApplicable),
        ("46-tos", VectorResult::NoAnswer),
    ]);
    Sample::with_requirements(every_finding())
        .asked_of("jool", "jool-right", "Jool", other)
        .asked_of("third", "third-right", "Third", third)
}

#[test]
fn devices_stand_side_by_side_where_they_differ_and_what_they_agree_on_is_counted() {
    let alone = Sample::with_requirements(every_finding());
    assert!(!markdown(&alone.input()).contains("device by device"));
    let text = markdown(&three_devices().input());
    let from = text.find("RFC 7915, device by device").expect("a table");
    let to = text[from..].find("\n## ").expect("its end");
    insta::assert_snapshot!("side-by-side", &text[from..from + to]);
    assert!(
        !text.contains("RFC 6147, device by device"),
        "one device alone was asked"
    );
}

#[test]
fn what_only_some_devices_have_a_result_for_is_not_said_of_every_device() {
    let unknown = with(&[
        ("46-short", VectorResult::Right),
        ("46-tos", VectorResult::Unknown),
        ("46-udp", VectorResult::NotApplicable),
    ]);
    let sample = Sample::with_requirements(with(&[
        ("46-short", VectorResult::Wrong),
        ("46-tos", VectorResult::Right),
        ("46-udp", VectorResult::Right),
    ]));
    let text = markdown(
        &sample
            .asked_of("jool", "jool-right", "Jool", unknown)
            .input(),
    );
    let from = text.find("Left out: ").expect("a note");
    let note = text[from..].lines().next().unwrap_or_default();
    assert!(note.contains(" without a result of every device"), "{note}");
}

#[test]
fn devices_are_columns_of_a_csv_of_all_vectors() {
    let name = "requirements-by-device.csv";
    let csv = exported(&three_devices(), ExportFormat::Csv, name);
    let mut lines = csv.lines();
    let head = lines.next().expect("a head");
    assert!(
        head.starts_with(
            "vector,rfc,clause,level,is_contested,requirement,tayga-right,jool-right,third-right,"
        ),
        "{head}"
    );
    let row = lines.find(|line| line.starts_with("46-short,"));
    let row = row.expect("the vector");
    assert!(row.starts_with("46-short,7915,RFC 7915 section 4.1,MUST,true,"));
    assert!(row.contains("datagram.,wrong,right,,"), "{row}");
    let alone = Sample::with_requirements(every_finding());
    assert_eq!(exported(&alone, ExportFormat::Csv, name), "");
}

/// Returns the heading of a page.
fn heading(sample: &Sample) -> String {
    let page = html(&sample.input()).expect("a page");
    let from = page.find("<h1").expect("a heading");
    let to = page[from..].find("</h1>").expect("its end");
    page[from..from + to].to_owned()
}

#[test]
fn the_heading_says_how_many_devices_violate_a_must_and_which_is_the_worst() {
    let two_worse = with(&[("46-udp", VectorResult::Wrong)]);
    let of = |others: [Vec<JudgedVector>; 2]| {
        let [a, b] = others;
        let sample = Sample::with_requirements(every_finding())
            .asked_of("a", "a-right", "A", a)
            .asked_of("b", "b-right", "B", b);
        heading(&sample)
    };
    let right = || with(&[("46-short", VectorResult::Right)]);
    let found = of([two_worse, right()]);
    assert!(
        found.contains("2 of 3 devices violate a MUST; the worst is A: 1 of 4 requirements met, 2 MUSTs violated, 1 without a result."),
        "{found}"
    );
    assert!(found.contains("frames&#x2f;s"), "beside the rates: {found}");
    let found = of([right(), right()]);
    assert!(
        found.contains(
            "alone of 3 devices violates a MUST: 2 of 4 requirements met, 1 MUST violated"
        ),
        "{found}"
    );
}

#[test]
fn what_one_test_of_a_device_found_under_load_is_not_hidden_by_another_without_one() {
    let quiet_alone = |name: &str, result| judged_vector(name, RequirementLevel::Must, result);
    let right = || vec![quiet_alone("46-udp", VectorResult::Right)];
    let busy = JudgedVector {
        under_load: Some(Box::new(loaded_finding(VectorResult::NoAnswer))),
        ..quiet_alone("46-udp", VectorResult::Right)
    };
    let of = |load: RequirementLoad| {
        let loaded = RequirementResults {
            load: Some(load),
            vectors: vec![busy.clone()],
        };
        let sample = Sample::with_requirements(right())
            .asked_of("a", "a-right", "A", right())
            .asked_of("a", "a-busy", "A", loaded);
        heading(&sample)
    };
    let found = of(requirement_load());
    assert!(
        found.contains(
            "A alone of 2 devices violates a MUST: 1 of 1 requirements met, no MUST violated; under load 1 more MUST violated"
        ),
        "{found}"
    );
    let found = of(RequirementLoad {
        invalid_trials: 1,
        ..requirement_load()
    });
    assert!(
        found.contains("Both devices meet every requirement that has a result."),
        "{found}"
    );
}

#[test]
fn devices_without_a_violated_must_have_a_heading_too() {
    let right = || with(&[("46-short", VectorResult::Right)]);
    let all_right = || {
        with(&[
            ("46-short", VectorResult::Right),
            ("64-too-big", VectorResult::Right),
        ])
    };
    let of = |first, second| {
        heading(&Sample::with_requirements(first).asked_of("a", "a-right", "A", second))
    };
    let found = of(all_right(), right());
    assert!(
        found.contains(
            "None of 2 devices violates a MUST; the worst is A: 3 of 4 requirements met."
        ),
        "{found}"
    );
    let found = of(all_right(), all_right());
    assert!(
        found.contains("Both devices meet every requirement that has a result."),
        "{found}"
    );
}

#[test]
fn every_vector_is_a_case_of_junit_and_a_row_of_csv_and_of_json() {
    let sample = Sample::with_requirements(every_finding());
    let junit = exported(&sample, ExportFormat::Junit, "junit.xml");
    let case = |name: &str| {
        let case = junit
            .lines()
            .find(|line| line.contains(&format!("/{name}\"")));
        case.unwrap_or_else(|| panic!("{name}: {junit}")).to_owned()
    };
    assert!(
        case("46-short")
            .contains("<failure message=\"wrong (RFC 7915 section 4.1, MUST). The total")
    );
    assert!(case("64-too-big").contains("<skipped message=\"known violation: no answer"));
    assert!(case("46-lost").contains("<error"));
    assert!(case("46-unmapped").contains("<skipped"));
    assert!(case("46-udp").contains("\"></testcase>"));
    let csv = exported(&sample, ExportFormat::Csv, "requirements.csv");
    assert_eq!(csv.lines().count(), 7, "{csv}");
    assert!(
        csv.contains(",46-short,7915,RFC 7915 section 4.1,MUST,wrong,,false,1,"),
        "{csv}"
    );
    let json: serde_json::Value = serde_json::from_str(&json(&sample.input())).expect("JSON");
    let points = json["points"].as_array().expect("points");
    let found = points
        .iter()
        .find_map(|point| point.get("requirements"))
        .expect("requirements");
    assert_eq!(found["judged"], 4);
    assert_eq!(found["musts_violated"], 1);
    assert_eq!(found["new_violations"], 1);
    assert_eq!(found["vectors"][2]["name"], "46-short");
    assert_eq!(
        exported(&Sample::complete(), ExportFormat::Csv, "requirements.csv"),
        "",
        "a run without vectors has no such file"
    );
}

#[test]
fn a_missed_expectation_names_the_requirements_that_are_violated() {
    let mut vectors = every_finding();
    vectors.retain(|vector| vector.result != VectorResult::Unknown);
    let said = |quantity, at_most| {
        let mut sample = Sample::with_requirements(vectors.clone());
        let test = sample.plan.tests.last_mut().expect("a test");
        test.expect = vec![Expectation {
            quantity: Some(quantity),
            at_least: None,
            at_most: Some(at_most),
            ..Expectation::at_least(0.0)
        }];
        judge(&sample.plan, &sample.records, &sample.facts, "").lines
    };
    assert_eq!(
        said(Quantity::MustsViolated, 0.0),
        "missed: tayga-right: 1 MUST violated, expected none (46-short)\n"
    );
    assert_eq!(
        said(Quantity::RequirementsViolated, 1.0),
        "missed: tayga-right: 2 requirements violated, expected at most 1 (64-too-big, 46-short)\n"
    );
    assert_eq!(said(Quantity::NewViolations, 1.0), "");
}

#[test]
fn the_chapter_has_what_a_load_changes_with_both_results_and_the_counts_of_the_load() {
    let sample = Sample::under_load(every_finding_under_load());
    sample.keep("requirements-under-load");
    let text = markdown(&sample.input());
    let from = text.find("Requirements under load").expect("a table");
    let counts = text.find("Load beside the vectors").expect("the counts");
    let to = text[counts..].find("\n## ").expect("another chapter");
    insta::assert_snapshot!("under-load", &text[from..counts + to]);
    let quiet = markdown(&Sample::with_requirements(every_finding()).input());
    assert!(!quiet.contains("under load") && !quiet.contains("beside the vectors"));
}

#[test]
fn every_format_says_what_differs_from_the_quiet_run() {
    let sample = Sample::under_load(every_finding_under_load());
    let line = "2 of 4 requirements met, 1 MUST violated, 1 without a result; under load 1 more MUST violated";
    assert!(terminal(&sample.input(), 160, false).contains(line));
    let page = html(&sample.input()).expect("a page");
    assert!(page.contains(line) && page.contains("Requirements under load"));
    let tex = latex(&sample.input());
    assert!(tex.contains("Requirements under load"), "{tex}");
    let csv = exported(&sample, ExportFormat::Csv, "requirements.csv");
    let row = csv.lines().find(|row| row.contains(",46-udp,"));
    let row = row.expect("the vector");
    assert!(
        row.contains(",no answer,\"required 6: ipv6(src=host4, dst=host6) / udp / payload(32); came nothing\",vectors/tayga-busy-r1-t1-46-udp-under-load.pcap,"),
        "{row}"
    );
    let same = csv.lines().find(|row| row.contains(",46-tos,"));
    assert!(
        same.expect("the vector").contains(",allowed,,,2026"),
        "{csv}"
    );
    let json: serde_json::Value = serde_json::from_str(&json(&sample.input())).expect("JSON");
    let points = json["points"].as_array().expect("points");
    let found = points.iter().find_map(|point| point.get("requirements"));
    let found = found.expect("requirements");
    assert_eq!(found["violated_under_load"], 1);
    assert_eq!(found["differing_under_load"], 2);
    assert_eq!(found["load"]["rate"], 20_000);
    assert_eq!(found["new_violations"], 2);
    assert_eq!(found["vectors"][0]["under_load"]["result"], "no-answer");
}

#[test]
fn a_case_of_junit_fails_where_the_device_is_right_quietly_alone() {
    let sample = Sample::under_load(every_finding_under_load());
    let junit = exported(&sample, ExportFormat::Junit, "junit.xml");
    let case = |name: &str| {
        let mut cases = junit.lines();
        let case = cases.find(|line| line.contains(&format!("/{name}\"")));
        case.unwrap_or_else(|| panic!("{name}: {junit}")).to_owned()
    };
    assert!(
        case("46-udp").contains("<failure message=\"right quietly, no answer under load (RFC 7915"),
        "{}",
        case("46-udp")
    );
    assert!(case("46-short").contains("<failure message=\"wrong quietly, unknown under load"));
    assert!(
        case("46-tos").contains("\"></testcase>"),
        "the same in both"
    );
}

#[test]
fn an_expectation_under_load_names_what_broke_there() {
    let mut vectors = every_finding_under_load();
    let is_unknown = |vector: &JudgedVector| {
        let loaded = vector.under_load.as_ref();
        vector.is_unknown() || loaded.is_some_and(|loaded| loaded.result == VectorResult::Unknown)
    };
    vectors.retain(|vector| !is_unknown(vector));
    let mut sample = Sample::under_load(vectors);
    let test = sample.plan.tests.last_mut().expect("a test");
    test.expect = vec![Expectation {
        quantity: Some(Quantity::ViolatedUnderLoad),
        at_least: None,
        at_most: Some(0.0),
        ..Expectation::at_least(0.0)
    }];
    assert_eq!(
        judge(&sample.plan, &sample.records, &sample.facts, "").lines,
        "missed: tayga-busy: 1 requirement violated under load alone, expected none (46-udp)\n"
    );
}

#[test]
fn known_violations_have_a_line_that_says_which_are_there_and_which_are_gone() {
    let mut vectors = every_finding();
    vectors[0].is_known = true;
    let sample = Sample::with_requirements(vectors);
    let line = "known violations: 1 still there (64-too-big), 1 gone (46-udp).";
    assert!(markdown(&sample.input()).contains(&format!("TAYGA: {line}")));
    let page = html(&sample.input()).expect("a page");
    assert!(page.contains("1 gone (46-udp)"), "on the page");
    let none = Sample::with_requirements(vec![every_finding().remove(0)]);
    assert!(!markdown(&none.input()).contains("known violations:"));
}
