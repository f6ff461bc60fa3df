//! Results from several hosts: each is only compared with those of the same host.

use crate::formats::{self, csv, html, markdown, points_csv, scaling_csv, terminal};
use crate::sample::Sample;
use serde_json::{Value, json};
use sixbench_method::plan::{MeasurementKey, Point};
use sixbench_method::record::RunPart;
use sixbench_report::Document;
use std::collections::BTreeSet;

/// Divides a run among hosts, by test and repetition.
fn divided(mut sample: Sample, host_of: impl Fn(&str, u32) -> &'static str) -> Sample {
    for (point, repetition) in sample
        .outcomes
        .iter()
        .map(|outcome| (outcome.point.clone(), outcome.repetition))
    {
        let host = host_of(&point.test, repetition).to_owned();
        let key = MeasurementKey {
            point,
            repetition: Some(repetition),
        };
        let keys = sample.facts.measured_on.remove(&host).unwrap_or_default();
        sample
            .facts
            .measured_on
            .insert(host, keys.keys().cloned().chain([key]).collect());
    }
    sample
}

/// Returns the sentences of a run and its headline.
fn told(sample: &Sample) -> (String, Vec<String>) {
    let input = sample.input();
    let markdown = markdown(&input);
    let (verdict, _) = markdown
        .split_once("Warnings of the run:")
        .expect("warnings");
    let verdict = verdict
        .lines()
        .filter_map(|line| line.strip_prefix("- "))
        .map(str::to_owned);
    (
        Document::new(&input).expect("a report").headline(),
        verdict.collect(),
    )
}

#[test]
fn devices_on_two_hosts_are_not_ranked_against_each_other() {
    let two = |test: &str, _| {
        if test == "linux-ipv4" || test == "tayga" {
            "alpha"
        } else {
            "beta"
        }
    };
    let sample = divided(Sample::complete(), two);
    sample.keep("hosts");
    let (headline, verdict) = told(&sample);
    assert!(
        headline.starts_with("On alpha: Linux IPv4")
            && headline.contains("TAYGA")
            && !headline.contains("Jool"),
        "{headline}"
    );
    for sentence in &verdict {
        let (of_alpha, of_beta) = (
            sentence.contains("TAYGA"),
            sentence.contains("VPP") || sentence.contains("Jool"),
        );
        assert!(!of_alpha || !of_beta, "{sentence}");
        assert!(
            !of_alpha || sentence.starts_with("On alpha: "),
            "{sentence}"
        );
        assert!(!of_beta || sentence.starts_with("On beta: "), "{sentence}");
    }
    assert!(
        verdict
            .iter()
            .any(|sentence| sentence.contains("On beta: ") && sentence.contains("of that")),
        "{verdict:?}"
    );
    let page = html(&sample.input()).expect("a page");
    for host in ["alpha", "beta"] {
        assert!(
            page.contains(&format!(", on {host}</")),
            "the first screen has no group of {host}"
        );
    }
    let first_screen = page
        .split("<section id=\"answer\"")
        .nth(1)
        .and_then(|rest| rest.split("</section>").next())
        .expect("it");
    assert_eq!(
        (
            first_screen.matches("<tr").count(),
            first_screen.matches("not run").count()
        ),
        (2 + 8, 0),
        "{first_screen}"
    );
    let shown = terminal(&sample.input(), 100, false);
    assert!(
        shown.contains("On beta: ") && !shown.contains('█'),
        "bars would be shares of another host's result: {shown}"
    );
    assert!(terminal(&Sample::complete().input(), 100, false).contains('█'));
}

#[test]
fn repetitions_of_one_point_on_two_hosts_count_each_for_its_own() {
    let sample = divided(Sample::complete(), |_, repetition| {
        if repetition == 1 { "alpha" } else { "beta" }
    });
    let (_, verdict) = told(&sample);
    for host in ["On alpha: ", "On beta: "] {
        let of_host: Vec<&String> = verdict
            .iter()
            .filter(|sentence| sentence.starts_with(host))
            .collect();
        assert!(
            of_host.iter().any(|sentence| sentence.contains("TAYGA")),
            "{host}: {verdict:?}"
        );
    }
    let run = markdown(&sample.input());
    for line in [
        "Measured on | alpha: jool-siit/84 repetition 1; ",
        "Measured on | beta: jool-siit/84 repetitions 2, 3; ",
    ] {
        assert!(run.contains(line), "{line}: {run}");
    }
    let results: Value = serde_json::from_str(&formats::json(&sample.input())).expect("JSON");
    let hosts: Vec<&Value> = results["points"][0]["repetitions"]
        .as_array()
        .expect("repetitions")
        .iter()
        .map(|r| &r["hosts"])
        .collect();
    assert_eq!(
        hosts,
        [&json!(["alpha"]), &json!(["beta"]), &json!(["beta"])]
    );
    // A repetition that started on one host and ended on another belongs to neither.
    let mut both = sample;
    let all = both.facts.measured_on["alpha"]
        .keys()
        .chain(both.facts.measured_on["beta"].keys())
        .cloned()
        .collect();
    both.facts.measured_on.insert("alpha".to_owned(), all);
    let (headline, verdict) = told(&both);
    assert!(headline.starts_with("On alpha: "), "{headline}");
    assert!(
        !verdict
            .iter()
            .any(|sentence| sentence.starts_with("On beta: ")),
        "{verdict:?}"
    );
}

#[test]
fn one_host_is_not_named_with_its_results() {
    let (one, plain) = (
        divided(Sample::complete(), |_, _| "alpha"),
        Sample::complete(),
    );
    assert_eq!(told(&one), told(&plain));
    assert!(!markdown(&one.input()).contains("Measured on"));
}

#[test]
fn there_is_no_speed_up_from_one_host_to_another() {
    assert!(scaling_csv(&Sample::of_chains().input()).is_some());
    let sample = Sample::of_chains();
    let first: Point = sample.outcomes[0].point.clone();
    let apart = divided(
        sample,
        |test, _| if test == first.test { "alpha" } else { "beta" },
    );
    let of_first = |text: &str| text.lines().any(|line| line.contains(&first.test));
    assert!(!scaling_csv(&apart.input()).is_some_and(|text| of_first(&text)));
}

#[test]
fn every_row_of_a_csv_file_names_the_host_that_measured_it() {
    let mut sample = divided(Sample::complete(), |test, repetition| {
        if test == "tayga" && repetition > 1 {
            "beta"
        } else {
            "alpha"
        }
    });
    let other = RunPart {
        host: "beta".to_owned(),
        ..sample.facts.runs[0].clone()
    };
    sample.facts.runs.push(other);
    let hosts = |text: &str, test: &str, repetition: &str| {
        let column = text
            .lines()
            .next()
            .expect("a header")
            .split(',')
            .position(|name| name == "host")
            .expect("a host");
        // Only texts after the column may contain a comma, or joined hosts.
        let of = |line: &str| line.split(',').nth(column).expect("a cell").to_owned();
        let is_of = |line: &&str| line.contains(&format!(",{test},")) && line.contains(repetition);
        text.lines()
            .filter(is_of)
            .map(of)
            .collect::<BTreeSet<String>>()
    };
    let results = csv(&sample.input());
    assert_eq!(
        hosts(&results, "tayga", ",forward+reverse,1,"),
        ["alpha".to_owned()].into()
    );
    assert_eq!(
        hosts(&results, "tayga", ",forward+reverse,2,"),
        ["beta".to_owned()].into()
    );
    assert_eq!(
        hosts(&results, "vpp-nat64", ",forward+reverse,2,"),
        ["alpha".to_owned()].into()
    );
    let points = points_csv(&sample.input());
    assert!(
        points
            .lines()
            .filter(|line| line.contains(",tayga,"))
            .all(|line| line.contains(",\"alpha, beta\",")),
        "{points}"
    );
    assert!(
        points
            .lines()
            .filter(|line| line.contains(",vpp-nat64,"))
            .all(|line| line.contains(",alpha,")),
        "{points}"
    );
    let warnings = formats::warnings_csv(&sample.input());
    assert!(
        warnings.contains(",\"alpha, beta\","),
        "of no repetition: {warnings}"
    );
}
