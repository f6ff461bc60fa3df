//! No planned point is lost: every output has a status for each.

use crate::formats::{
    csv, html, json, latex, markdown, points_csv, scaling_csv, terminal, values_csv, warnings_csv,
};
use crate::sample::{self, Sample};
use proptest::prelude::*;
use serde_json::Value;
use sixbench_method::plan::Test;
use sixbench_method::record::Ending;
use sixbench_method::status::{PlannedPoint, planned_points};
use sixbench_method::trial::{AnomalyKind, Fault};

/// The words for the status of a point in each format.
const WORDS: [&str; 4] = ["result", "at least", "no result", "not run"];

/// The formats of one run.
struct Views {
    rows: Vec<(&'static str, Vec<Vec<String>>)>,
    json: Value,
    csv: Vec<Vec<String>>,
    terminal: String,
}

const POINT_COLUMNS: [&str; 9] = [
    "Name", "Test", "Device", "Size", "Measure", "Status", "Result", "n", "Why",
];

/// Returns the rows of the table of points, whose columns may continue in another part: each row once, with all its cells.
fn joined_points(rows: Vec<Vec<String>>) -> Vec<Vec<String>> {
    let mut points: Vec<Vec<String>> = Vec::new();
    let mut part: Vec<usize> = Vec::new();
    for row in rows {
        let of_columns: Option<Vec<usize>> = row
            .iter()
            .map(|cell| POINT_COLUMNS.iter().position(|column| column == cell))
            .collect();
        if let Some(columns) = of_columns {
            part = if columns.contains(&0) && columns.contains(&3) {
                columns
            } else {
                Vec::new()
            };
        } else if row.len() == part.len() {
            let size = &row[part
                .iter()
                .position(|&column| column == 3)
                .expect("the size")];
            let at = points
                .iter()
                .position(|point| point[0] == row[0] && point[3] == *size)
                .unwrap_or(points.len());
            if at == points.len() {
                points.push(vec![String::new(); POINT_COLUMNS.len()]);
            }
            part.iter()
                .zip(&row)
                .for_each(|(&column, cell)| points[at][column].clone_from(cell));
        }
    }
    points
}

impl Views {
    fn of(sample: &Sample) -> Self {
        let input = sample.input();
        let cells = |line: &str, separator: &str| {
            line.split(separator)
                .map(|cell| cell.trim().to_owned())
                .collect::<Vec<_>>()
        };
        let page = html(&input).expect("a page").replace("&#x2f;", "/");
        let of_page = page
            .lines()
            .filter(|line| line.starts_with("<tr><td"))
            .map(|line| {
                let texts = line
                    .split("<td")
                    .skip(1)
                    .map(|cell| cell.split_once('>').map_or("", |(_, rest)| rest));
                texts
                    .map(|text| text.split('<').next().unwrap_or_default().to_owned())
                    .collect()
            });
        let latex = latex(&input);
        let latex = latex
            .replace("\\allowbreak{}", "")
            .replace("\\&", "and")
            .replace("\\_", "_");
        let of_latex = latex
            .lines()
            .filter_map(|line| line.strip_suffix(" \\\\"))
            .map(|line| cells(line, "&"));
        let markdown = markdown(&input);
        let of_markdown = markdown
            .lines()
            .filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
        let of_markdown = of_markdown.map(|line| cells(&line.replace("\\|", "or"), "|"));
        Self {
            rows: vec![
                ("HTML", of_page.collect()),
                ("LaTeX", joined_points(of_latex.collect())),
                ("Markdown", of_markdown.collect()),
            ],
            json: serde_json::from_str(&json(&input)).expect("JSON"),
            csv: points_csv(&input).lines().skip(1).map(fields).collect(),
            terminal: terminal(&input, 10_000, false).replace('\u{a0}', " "),
        }
    }

    /// Returns the status of a point, which must appear once in every format and be the same in all.
    fn status(&self, planned: &PlannedPoint) -> &'static str {
        let (name, size) = (&planned.test.name, planned.point.frame_size.to_string());
        let csv: Vec<&Vec<String>> = self
            .csv
            .iter()
            .filter(|row| row[1] == *name && row[4] == size)
            .collect();
        assert_eq!(csv.len(), 1, "{name}/{size} in CSV");
        let status = csv[0][7].replace('-', " ");
        let status = *WORDS
            .iter()
            .find(|word| **word == status)
            .expect("a status");
        for (format, rows) in &self.rows {
            let of_point = rows
                .iter()
                .filter(|row| row.len() == 9 && row[0] == *name && row[3] == size);
            assert_eq!(
                of_point.map(|row| row[5].as_str()).collect::<Vec<_>>(),
                [status],
                "{name}/{size} in {format}"
            );
        }
        let points = self.json["points"].as_array().expect("points");
        let is_point = |p: &&Value| {
            p["test"] == name.as_str() && p["frame_size"] == u64::from(planned.point.frame_size.0)
        };
        let of_json: Vec<&str> = points
            .iter()
            .filter(is_point)
            .filter_map(|p| p["status"].as_str())
            .collect();
        assert_eq!(of_json, [status.replace(' ', "-")], "{name}/{size} in JSON");
        self.assert_in_terminal(planned.test, &size, status);
        status
    }

    /// Asserts that there is a line for each test, or a single one if all have a plain result.
    fn assert_in_terminal(&self, test: &Test, size: &str, status: &str) {
        let points = self.csv.len();
        let all = [
            format!("{points} of {points} points have a result."),
            "1 of 1 point has a result.".to_owned(),
        ];
        let shows = |name: &str| {
            let sizes = name
                .trim()
                .strip_prefix(&format!("{} at ", test.title))
                .unwrap_or_default();
            sizes
                .split(|c: char| !c.is_ascii_digit())
                .any(|word| word == size)
        };
        let is_listed = self
            .terminal
            .lines()
            .any(|line| match line.trim().split_once(": ") {
                Some(("result", names)) => status == "result" && names.split(';').any(shows),
                Some((name, rest)) => shows(name) && rest.starts_with(status),
                None => false,
            });
        assert!(
            is_listed || (status == "result" && all.iter().any(|all| self.terminal.contains(all))),
            "{}",
            self.terminal
        );
    }
}

/// Returns the fields of a line of CSV.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut is_quoted = false;
    for c in line.chars() {
        match c {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => fields.push(String::new()),
            c => fields.last_mut().expect("a field").push(c),
        }
    }
    fields
}

fn planned(sample: &Sample) -> Vec<PlannedPoint<'_>> {
    planned_points(
        &sample.plan,
        &sample.records,
        &sample.outcomes,
        &sample.facts,
    )
}

#[test]
fn every_kind_of_status_is_in_every_format() {
    let sample = Sample::of_every_status();
    sample.keep("points");
    let views = Views::of(&sample);
    let found: Vec<(String, &str)> = planned(&sample)
        .iter()
        .map(|p| (p.test.name.clone(), views.status(p)))
        .collect();
    let expected = [
        ("result", "result"),
        ("loss", "result"),
        ("zero", "result"),
        ("at-least", "at least"),
        ("maximum", "at least"),
        ("tester", "no result"),
        ("invalid", "no result"),
        ("no-load", "no result"),
        ("nothing", "no result"),
        ("phase-1", "no result"),
        ("disturbed", "at least"),
        ("disturbed-burst", "at least"),
        ("taken", "no result"),
        ("partly", "result"),
        ("unfinished", "no result"),
        ("broken", "not run"),
        ("later", "not run"),
        ("optional", "not run"),
    ];
    let each = expected
        .iter()
        .flat_map(|&(name, status)| [84, 1518].map(|_| (name.to_owned(), status)));
    assert_eq!(found, each.collect::<Vec<_>>(), "two frame sizes each");
    insta::assert_snapshot!("points-csv", points_csv(&sample.input()));
    insta::assert_snapshot!("terminal", terminal(&sample.input(), 100, false));
    insta::assert_snapshot!("markdown", markdown(&sample.input()));
}

#[test]
fn nothing_is_said_of_the_limit_of_a_device_that_was_disturbed() {
    let sample = Sample::of_every_status().only(&["result", "partly"]);
    let undisturbed = markdown(&sample.input());
    assert!(
        undisturbed.contains("| device |") && !undisturbed.contains("disturbed"),
        "{undisturbed}"
    );
    let mut sample = sample.disturbed("partly");
    sample.facts.warnings.insert(
        0,
        sample::warning("before it was set up: core 1 is 97 % busy"),
    );
    let input = sample.input();
    let page = html(&input).expect("a page");
    for text in [
        markdown(&input),
        terminal(&input, 100, false),
        latex(&input),
        json(&input),
        points_csv(&input),
        csv(&input),
        page,
    ] {
        assert!(text.contains("disturbed"), "{text}");
        assert!(!text.contains("at most"), "{text}");
    }
    for text in [
        markdown(&input),
        terminal(&input, 100, false),
        latex(&input),
        json(&input),
        html(&input).expect("a page"),
    ] {
        assert!(
            text.contains("core 1 is 97"),
            "the first warning is in every format: {text}"
        );
    }
    let of_disturbed = |line: &&str| line.starts_with("| DUT, partly | simulated-partly |");
    let text = markdown(&input);
    let rows: Vec<&str> = text.lines().filter(of_disturbed).collect();
    assert!(!rows.is_empty());
    assert!(
        rows.iter().all(|row| row.contains('≥')
            && row.contains("disturbed machine")
            && !row.contains("| device |")),
        "{rows:?}"
    );
    assert!(text.contains("the tester in 10 of 60 trials"), "{text}");
}

#[test]
fn the_counts_are_those_of_points_and_no_count_of_missing_results_is_false() {
    let sample = Sample::of_every_status();
    let views = Views::of(&sample);
    let counts = &views.json["counts"];
    let found = ["points", "result", "at_least", "no_result", "not_run"]
        .map(|key| counts[key].as_u64().expect("a count"));
    assert_eq!(found, [36, 8, 8, 14, 6]);
    for point in views.json["points"].as_array().expect("points") {
        let (planned, with_result) = (
            &point["repetitions_planned"],
            &point["repetitions_with_result"],
        );
        let without = planned.as_u64().expect("a number") - with_result.as_u64().expect("a number");
        assert_eq!(
            point["goals"][0]["without_result"], without,
            "{}",
            point["test"]
        );
        assert_eq!(
            point["result"].is_null(),
            matches!(point["status"].as_str(), Some("no-result" | "not-run")),
            "{point}"
        );
    }
    let page = html(&sample.input()).expect("a page");
    assert!(page.contains("16 of 36 points have a result, 18 do not, 2 were left out"));
}

#[test]
fn a_result_says_which_of_its_repetitions_came_to_none() {
    let mut sample = Sample::complete();
    let bracket = &mut sample
        .outcomes
        .iter_mut()
        .find(|outcome| outcome.repetition == 2)
        .expect("an outcome")
        .brackets[0];
    (bracket.lower, bracket.limit) = (None, sixbench_method::search::Limit::Tester);
    let csv = points_csv(&sample.input());
    assert!(
        csv.contains(",result,,\"2 of 3\u{a0}repetitions have a result, 1 did not produce one\","),
        "{csv}"
    );
}

#[test]
fn a_set_up_that_failed_is_what_a_run_without_results_says() {
    let mut sample = Sample::of_every_status();
    sample.plan.tests.retain(|test| test.name == "broken");
    sample.records.clear();
    sample.outcomes.clear();
    for text in [
        html(&sample.input()).expect("a page"),
        markdown(&sample.input()),
        terminal(&sample.input(), 1000, false),
    ] {
        assert!(
            text.contains("The set-up of simulated failed: cannot load the module"),
            "{text}"
        );
        assert!(!text.contains("interrupted"), "{text}");
    }
    assert_eq!(csv(&sample.input()).lines().count(), 1);
}

#[test]
fn every_output_says_when_where_and_by_which_command_it_was_measured() {
    let mut sample = Sample::complete();
    let last = sample.records.len() - 1;
    sample.records[last].started = "2026-11-22T00:04:57.25Z".to_owned();
    let input = sample.input();
    let words = "2026-11-21 09:00:00 to 2026-11-22 00:05:00 UTC (15.1\u{a0}h) on alpha; rack=b4";
    let page = html(&input).expect("a page").replace("&#x2f;", "/");
    for text in [
        page.clone(),
        markdown(&input),
        latex(&input).replace('~', "\u{a0}"),
        terminal(&input, 1000, false).replace("15.1 h", "15.1\u{a0}h"),
    ] {
        assert!(text.contains(&format!("easured {words}")), "{text}");
        assert!(text.contains("plans/quickstart.toml"), "{text}");
    }
    let run: Value = serde_json::from_str(&json(&input)).expect("JSON");
    let run = &run["run"];
    assert_eq!(run["started"], "2026-11-21T09:00:00Z");
    assert_eq!(run["ended"], "2026-11-22T00:05:00Z");
    assert_eq!(run["seconds"], 54_300);
    assert_eq!(run["labels"]["rack"], "b4");
    assert_eq!(run["parts"][0]["host"], "alpha");
    let csv = points_csv(&input);
    assert!(
        csv.lines()
            .next()
            .expect("a header")
            .ends_with("run_started,run_ended,host,command,sixbench,label_rack")
    );
    let row = csv.lines().nth(1).expect("a row");
    let ends = "2026-11-21T09:00:00Z,2026-11-22T00:05:00Z,alpha,sixbench run plans/quickstart.toml --label rack=b4,0.1.0,b4";
    assert!(row.ends_with(ends), "{row}");
    let header = page.split("</header>").next().expect("a header");
    assert!(
        !header.contains(input.generated),
        "the time of writing is a footnote"
    );
    assert!(page.contains(&format!("Report written {}.", input.generated)));
}

#[test]
fn every_csv_says_when_where_and_by_which_command_and_with_which_labels() {
    let sample = Sample::of_chains();
    let input = sample.input();
    let ends = "run_started,run_ended,host,command,sixbench,label_rack";
    let row = "Z,alpha,sixbench run plans/quickstart.toml --label rack=b4,0.1.0,b4";
    let values = Sample::of_every_measure();
    let files = [
        csv(&input),
        points_csv(&input),
        scaling_csv(&input).expect("a series over cores"),
        warnings_csv(&input),
        values_csv(&values.input()),
    ];
    for text in files {
        let (header, rows) = text.split_once('\n').expect("a header");
        assert!(header.ends_with(ends), "{header}");
        assert!(!rows.is_empty());
        rows.lines()
            .for_each(|line| assert!(line.ends_with(row), "{line}"));
    }
}

#[test]
fn the_warnings_of_a_run_have_a_file_in_their_order() {
    let mut sample = Sample::complete();
    let directions = sample
        .records
        .iter_mut()
        .flat_map(|record| &mut record.result.directions);
    directions.for_each(|direction| {
        for kind in AnomalyKind::ALL {
            *kind.count_mut(direction) = 0;
        }
    });
    sample.facts.warnings = ["core 1 is 97 % busy, by \"make\"", "the machine is virtual"]
        .map(sample::warning)
        .into();
    let text = warnings_csv(&sample.input());
    let rows: Vec<Vec<String>> = text.lines().skip(1).map(fields).collect();
    assert!(
        text.contains(",1,\"core 1 is 97 % busy, by \"\"make\"\"\","),
        "{text}"
    );
    assert_eq!(
        rows.iter().map(|row| row[1].as_str()).collect::<Vec<_>>(),
        ["1", "2"]
    );
    assert_eq!(rows[1][2], "the machine is virtual");
    sample.facts.warnings.clear();
    assert_eq!(warnings_csv(&sample.input()).lines().count(), 1);
}

#[test]
fn the_load_a_result_was_measured_at_is_in_every_format() {
    let sample = Sample::of_every_measure().only(&["latency"]);
    let input = sample.input();
    let of_json: Value = serde_json::from_str(&json(&input)).expect("JSON");
    let load = of_json["points"][0]["result"]["load"]
        .as_u64()
        .expect("a load");
    let row = fields(points_csv(&input).lines().nth(1).expect("a row"));
    assert_eq!(row[14], load.to_string());
    let shown = format!("ms at {} frames/s |", short_grouped(load));
    assert!(
        markdown(&input).contains(&shown),
        "{shown}: {}",
        markdown(&input)
    );
    let searched: Value = serde_json::from_str(&json(&Sample::complete().input())).expect("JSON");
    assert!(
        searched["points"][0]["result"]["load"].is_null(),
        "what was searched is a load itself"
    );
}

fn short_grouped(load: u64) -> String {
    let digits = load.to_string();
    let places = digits.len();
    let comma = |i: usize| i > 0 && (places - i).is_multiple_of(3);
    digits
        .chars()
        .enumerate()
        .flat_map(|(i, digit)| comma(i).then_some(',').into_iter().chain([digit]))
        .collect()
}

/// Returns the lines that are highlighted on the terminal.
fn marked(sample: &Sample, width: usize) -> String {
    let text = terminal(&sample.input(), width, true);
    text.lines()
        .filter(|line| line.contains("\u{1b}[33m"))
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn what_another_run_may_cure_is_marked_by_colour() {
    let of = |name: &str| marked(&Sample::of_every_status().only(&[name]), 100);
    for name in [
        "at-least",
        "disturbed",
        "taken",
        "tester",
        "partly",
        "unfinished",
    ] {
        assert!(!of(name).is_empty(), "{name}");
    }
    for name in ["result", "zero"] {
        assert_eq!(of(name), "", "{name}");
    }
    let mut highest = Sample::complete();
    highest
        .outcomes
        .iter_mut()
        .for_each(|outcome| outcome.brackets[0].limit = sixbench_method::search::Limit::Maximum);
    assert_eq!(marked(&highest, 100), "", "the plan's maximum is no fault");
    assert!(
        !marked(&Sample::of_every_status().only(&["disturbed"]), 60).is_empty(),
        "on a narrow terminal, too"
    );
}

#[test]
fn a_run_that_was_resumed_tells_each_of_its_parts() {
    let mut sample = Sample::complete();
    sample
        .facts
        .runs
        .insert(0, crate::sample::part(Some(Ending::Interrupted)));
    let text = markdown(&sample.input());
    assert_eq!(text.matches("| Part |").count(), 2, "{text}");
    assert!(
        html(&sample.input())
            .expect("a page")
            .contains("in 2\u{a0}parts")
    );
}

#[test]
fn a_run_in_one_part_tells_how_long_it_was_expected_to_take_and_how_many_trials_were_invalid() {
    // The lines are wrapped.
    let told = |sample: &Sample| {
        terminal(&sample.input(), 200, false)
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    };
    let mut sample = Sample::complete();
    assert!(
        !told(&sample).contains("expected"),
        "an earlier version did not note it"
    );
    sample.facts.runs[0].estimate_s = Some(120);
    assert!(
        told(&sample).contains("instead of the expected 2 min"),
        "{}",
        told(&sample)
    );
    sample.records.iter_mut().for_each(|record| {
        record
            .result
            .faults
            .push(Fault::MadeAgain { as_accident: false });
    });
    let all = format!("; {0} of {0} trials were invalid", sample.records.len());
    assert!(told(&sample).contains(&all), "{}", told(&sample));
    sample
        .facts
        .runs
        .insert(0, crate::sample::part(Some(Ending::Interrupted)));
    assert!(
        !told(&sample).contains("expected"),
        "a run with a pause in it took as long as its user wanted"
    );
}

#[test]
fn a_trial_whose_losses_a_fault_explains_is_invalid_wherever_trials_are_counted() {
    let mut sample = Sample::complete();
    sample.facts.runs[0].estimate_s = Some(120);
    sample.records.iter_mut().for_each(|record| {
        record.result.faults.push(Fault::CpuTaken {
            milliseconds: 100_000,
        });
    });
    let (text, page) = (
        terminal(&sample.input(), 200, false),
        html(&sample.input()).expect("a page"),
    );
    let number_before = |text: &str, words: &str| {
        let before = text.split(words).next().unwrap_or_default();
        before
            .rsplit(|c: char| !c.is_ascii_digit())
            .next()
            .and_then(|number| number.parse::<usize>().ok())
    };
    let told = number_before(
        &text,
        &format!(" of {} trials were invalid", sample.records.len()),
    );
    assert!(told.is_some_and(|told| told > 0), "{text}");
    assert_eq!(told, number_before(&page, " invalid"));
}

#[test]
fn results_of_an_earlier_version_say_what_is_known_of_them() {
    let mut sample = Sample::complete();
    sample.facts.runs.clear();
    sample.facts.labels.clear();
    assert!(
        markdown(&sample.input())
            .contains("Measured 2026-11-21 09:00:00 to 09:00:03 UTC (3\u{a0}s).\n")
    );
}

#[test]
fn a_time_that_some_repetitions_exceed_is_no_bound() {
    let mut sample = Sample::of_every_measure().only(&["recovery"]);
    sample.records.retain(|record| record.repetition <= 2);
    sample.outcomes.retain(|outcome| outcome.repetition <= 2);
    for (outcome, time) in sample
        .outcomes
        .iter_mut()
        .zip([130_000.0, 41_200_000.0].into_iter().cycle())
    {
        outcome
            .values
            .iter_mut()
            .for_each(|value| value.value = time);
    }
    let text = markdown(&sample.input());
    assert!(
        text.contains(
            "took on average 20.7\u{a0}ms, 41.2\u{a0}ms at most (n = 2) to recover from 110"
        ),
        "{text}"
    );
    assert!(!text.contains("within"), "{text}");
}

#[test]
fn no_format_prints_half_a_frame() {
    let mut sample = Sample::complete();
    sample.outcomes.retain(|outcome| outcome.repetition <= 2);
    sample.records.retain(|record| record.repetition <= 2);
    for outcome in &mut sample.outcomes {
        let lower = 221_782 + u64::from(outcome.repetition % 2);
        outcome.brackets[0].lower = Some(sixbench_method::terms::FrameRate(lower));
    }
    let input = sample.input();
    let texts = [
        html(&input).expect("a page"),
        markdown(&input),
        latex(&input),
        terminal(&input, 100, false),
        points_csv(&input),
    ];
    for text in texts {
        assert!(!text.contains("782.5"), "{text}");
        assert!(
            text.contains("221,783") || text.contains(",221783,"),
            "{text}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, max_shrink_iters: 0, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_format_loses_a_point_whatever_is_missing(seed: u64) {
        let sample = Sample::of_chance(seed);
        let views = Views::of(&sample);
        let points = planned(&sample);
        let sizes: usize = sample.plan.tests.iter().chain(sample.facts.left_out()).map(|test| test.frame_sizes.len()).sum();
        prop_assert_eq!(points.len(), sizes);
        for planned in &points { views.status(planned); }
        prop_assert_eq!(views.csv.len(), points.len());
    }
}

#[test]
fn the_command_of_a_run_in_several_parts_is_that_of_the_first() {
    let mut sample = Sample::complete();
    let said = |sample: &Sample| terminal(&sample.input(), 100, false);
    assert!(
        said(&sample).contains("\nCommand: sixbench run "),
        "{}",
        said(&sample)
    );
    sample
        .facts
        .runs
        .extend([sample.facts.runs[0].clone(), sample.facts.runs[0].clone()]);
    assert!(
        said(&sample).contains("\nCommand of the first of 3 parts: sixbench run "),
        "{}",
        said(&sample)
    );
}

#[test]
fn colours_in_what_others_wrote_are_shown_and_only_our_own_reach_the_terminal() {
    let mut sample = Sample::complete();
    // The second one begins as the marks do that stand for our own colours while the text is made.
    sample.plan.tests[0].title = "\u{1b}[30mhidden".to_owned();
    sample
        .facts
        .warnings
        .push(sample::warning("\u{fdd0}0\u{fdd0}30mhidden"));
    let text = terminal(&sample.input(), 100, true);
    assert!(
        text.contains("\u{1b}[1m") && text.contains("\\u001b[30mhidden"),
        "{text:?}"
    );
    assert!(!text.contains("\u{1b}[30m"), "{text:?}");
}
