//! What a device did beside losing frames is told in every format: a device that sends every frame twice loses none.

use crate::formats::{
    csv, html, json, latex, markdown, methods, points_csv, terminal, warnings_csv,
};
use crate::sample::Sample;
use serde_json::Value;
use sixbench_method::terms::LossRatio;
use sixbench_method::trial::{AnomalyKind, Verdict};
use sixbench_report::{Document, event_words, trial_words};

/// The number of frames of the kind in each direction of the rigged trial. No other number of the sample has these digits.
const FRAMES: u64 = 74_317;

/// Returns a run whose second device has frames of this kind in one passing trial, and no other frames of any kind.
fn rigged(kind: AnomalyKind) -> Sample {
    let mut sample = Sample::complete();
    for direction in sample
        .records
        .iter_mut()
        .flat_map(|record| &mut record.result.directions)
    {
        for other in AnomalyKind::ALL {
            *other.count_mut(direction) = 0;
        }
    }
    let is_rigged = |test: &str, verdict| test == "jool-siit" && verdict == Verdict::Passed;
    let records = sample.records.iter_mut();
    let mut passed = records
        .filter(|record| is_rigged(&record.point.test, record.result.verdict(LossRatio::ZERO)));
    let record = passed.next().expect("a trial that passed");
    let directions = record.result.directions.iter_mut();
    directions.for_each(|direction| *kind.count_mut(direction) = FRAMES);
    sample
}

/// Returns the text with plain spaces, without line breaks, and without the commands and breaks of LaTeX.
fn plain(text: &str) -> String {
    let text = text
        .replace("&#x2f;", "/")
        .replace('~', " ")
        .replace("\\allowbreak{}", "")
        .replace(['\u{a0}', '\n'], " ");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn every_kind_of_frames_beside_loss_is_told_in_every_format() {
    for kind in AnomalyKind::ALL {
        let sample = rigged(*kind);
        let (input, both) = (sample.input(), 2 * FRAMES);
        let page = html(&input).expect("a page");
        let (first_screen, _) = page
            .split_once("<section id=\"answer\"")
            .expect("a first screen");
        let grouped = format!("{},{} {}", both / 1000, both % 1000, kind.noun(both));
        let in_trials = " in 1 of ";
        let texts = [
            ("first screen", first_screen.to_owned()),
            ("terminal", terminal(&input, 100, false)),
            ("narrow terminal", terminal(&input, 40, false)),
            ("Markdown", markdown(&input)),
            ("LaTeX", latex(&input)),
            ("methods", methods(&input)[0].clone()),
            ("warnings.csv", warnings_csv(&input)),
            ("results.json", json(&input)),
        ];
        for (format, text) in texts.map(|(format, text)| (format, plain(&text))) {
            let is_told = text.contains(&grouped) && text.contains(in_trials);
            assert_eq!(
                is_told,
                !kind.is_plain_loss(),
                "{kind:?} in {format}: {text}"
            );
            assert!(
                !is_told || text.contains("Jool SIIT") && text.contains("first in trial"),
                "{format}: {text}"
            );
        }
        told_by_columns(*kind, &sample);
        let junit = Document::new(&input)
            .expect("a report")
            .file("junit.xml")
            .expect("XML")
            .expect("XML");
        assert!(plain(&junit).contains(&grouped), "{junit}");
        let heading = plain(&markdown(&input));
        assert!(
            heading.contains(&format!(" {},{} |", both / 1000, both % 1000)),
            "{kind:?} in the table: {heading}"
        );
    }
}

/// Asserts that the formats for machines have the count of the kind under its name.
fn told_by_columns(kind: AnomalyKind, sample: &Sample) {
    let (input, both) = (sample.input(), (2 * FRAMES).to_string());
    for (file, text) in [
        ("results.csv", csv(&input)),
        ("points.csv", points_csv(&input)),
    ] {
        let column = text
            .lines()
            .next()
            .expect("a header")
            .split(',')
            .position(|column| column == kind.name());
        let column = column.unwrap_or_else(|| panic!("{file} has no column {}", kind.name()));
        // Texts of the sample have no commas before these columns, but for the reason of a status and the title of a test.
        let rows = text
            .lines()
            .skip(1)
            .filter(|row| row.contains("jool-siit") && row.split(',').any(|cell| cell == both));
        assert_eq!(rows.count(), 1, "{file}, column {column}: {text}");
    }
    let found: Value = serde_json::from_str(&json(&input)).expect("JSON");
    let anomaly = &found["anomalies"][0];
    assert_eq!(
        (anomaly["kind"].as_str(), anomaly["frames"].as_u64()),
        (Some(kind.name()), Some(2 * FRAMES)),
        "{anomaly}"
    );
    assert_eq!(
        (anomaly["test"].as_str(), anomaly["trials"].as_u64()),
        (Some("jool-siit"), Some(1)),
        "{anomaly}"
    );
    assert!(
        anomaly["share"].as_f64().is_some_and(|share| share > 0.0)
            && anomaly["first"]["trial"].is_u64(),
        "{anomaly}"
    );
    let points = found["points"].as_array().expect("points");
    assert_eq!(
        points
            .iter()
            .filter(|point| point["anomalies"][kind.name()] == 2 * FRAMES)
            .count(),
        1
    );
    let record = sample
        .records
        .iter()
        .find(|record| kind.in_trial(&record.result) > 0)
        .expect("a trial");
    let trial = trial_words::trial(&record.result, &sixbench_method::record::Watch::default());
    assert!(
        trial.contains(&format!("{} {FRAMES}", kind.in_a_list())),
        "{trial}"
    );
    assert_eq!(
        trial.contains("  warning: 148,634 "),
        !kind.is_plain_loss(),
        "{trial}"
    );
    let event = event_words::trial(&record.result, Verdict::Passed);
    assert_eq!(
        event.contains(&format!("{both} {}", kind.noun(2 * FRAMES))),
        !kind.is_plain_loss(),
        "{event}"
    );
}

#[test]
fn a_device_that_sends_every_frame_twice_is_nowhere_said_to_pass_without_loss_alone() {
    let mut sample = Sample::complete();
    for direction in sample
        .records
        .iter_mut()
        .flat_map(|record| &mut record.result.directions)
    {
        (direction.foreign, direction.duplicate) = (0, direction.received);
    }
    let input = sample.input();
    let page = html(&input).expect("a page");
    let title = page
        .split("<h1>")
        .nth(1)
        .and_then(|rest| rest.split("</h1>").next())
        .expect("a headline");
    assert!(
        plain(title).contains("without loss, but with duplicate frames (100 % of those received)"),
        "{title}"
    );
    for text in [
        plain(&markdown(&input)),
        plain(&terminal(&input, 100, false)),
        plain(&page),
    ] {
        let said: Vec<&str> = text
            .match_indices("frames/s per direction without loss")
            .map(|(at, _)| &text[at..])
            .collect();
        assert!(!said.is_empty());
        for sentence in said {
            let beside = "frames/s per direction without loss, but with duplicate frames (100 % of those received)";
            assert!(sentence.starts_with(beside), "{}", &sentence[..200]);
        }
        let each = text
            .matches("but with duplicate frames (100 % of those received)")
            .count();
        assert!(
            each >= sample.plan.tests.len(),
            "every device, not the fastest alone: {each} times in {text}"
        );
    }
    let junit = Document::new(&input)
        .expect("a report")
        .file("junit.xml")
        .expect("XML")
        .expect("XML");
    assert_eq!(
        junit.matches("but with duplicate frames").count(),
        junit.matches("frames/s per direction").count()
    );
}

#[test]
fn one_frame_of_a_kind_is_told_in_the_singular() {
    let sample = Sample::complete();
    let mut result = sample.records[0].result.clone();
    for kind in [AnomalyKind::Icmp, AnomalyKind::Fragments] {
        *kind.count_mut(&mut result.directions[0]) = 1;
    }
    let event = event_words::trial(&result, Verdict::Passed);
    assert!(
        event.contains("  1 ICMP message  1 fragment") && !event.contains("messages"),
        "{event}"
    );
}
