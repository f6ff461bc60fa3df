//! The views of what devices do with the requirements of RFCs.

use crate::formats::{html, json, markdown, terminal};
use crate::sample::Sample;
use crate::sample::requirements::every_finding;
use sixbench_method::measures::Quantity;
use sixbench_method::plan::{Expectation, ExportFormat};
use sixbench_method::trial::VectorResult;
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

#[test]
fn devices_stand_side_by_side_where_several_were_asked() {
    let mut cured = every_finding();
    for vector in &mut cured {
        vector.result = VectorResult::Right;
    }
    let alone = Sample::with_requirements(every_finding());
    let several = Sample::with_requirements(every_finding()).asked("other", "Other", cured);
    let heading = "Devices side by side, clause by clause";
    assert!(!markdown(&alone.input()).contains(heading));
    let text = markdown(&several.input());
    let from = text.find(heading).expect("a table");
    let row = text[from..].lines().find(|line| line.contains("46-short"));
    assert_eq!(
        row,
        Some("| 46-short | RFC 7915 section 4.1 | MUST | wrong | right |")
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
    assert!(case("46-short").contains("<failure message=\"wrong (RFC 7915 section 4.1, MUST)"));
    assert!(case("64-too-big").contains("<skipped message=\"known: no answer"));
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
        "missed: tayga-right: MUSTs violated: 1 requirement, expected at most 0 requirements: 46-short\n"
    );
    assert_eq!(
        said(Quantity::RequirementsViolated, 1.0),
        "missed: tayga-right: Requirements violated: 2 requirements, expected at most 1 requirement: 64-too-big, 46-short\n"
    );
    assert_eq!(said(Quantity::NewViolations, 1.0), "");
}
