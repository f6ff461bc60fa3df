//! Gaps, order and copies, mixed sizes, and the ramps before trials, in every format.

use crate::formats::{html, json, markdown, methods, ramps_csv, sequence_csv, sizes_csv, terminal};
use crate::sample::Sample;
use serde_json::Value;
use sixbench_method::plan::SizeMix;
use sixbench_method::terms::{FrameSize, LossRatio};
use sixbench_method::trial::{LengthDistribution, RampCounts, SizeCounts, Verdict};

/// Returns a distribution of two lengths.
fn lengths(shortest: u64, longest: u64) -> LengthDistribution {
    LengthDistribution {
        count: 2,
        shortest,
        longest,
        total: shortest + longest,
        by_length: vec![(shortest, 1).into(), (longest, 1).into()],
    }
}

/// Returns the rows of a file as fields by the names of their columns.
fn rows(text: &str) -> Vec<Vec<(&str, &str)>> {
    let mut lines = text.lines().map(|line| line.split(','));
    let names: Vec<&str> = lines.next().expect("a header").collect();
    lines
        .map(|cells| names.iter().copied().zip(cells).collect())
        .collect()
}

fn field<'t>(row: &[(&'t str, &'t str)], name: &str) -> &'t str {
    let of = row.iter().find(|(column, _)| *column == name);
    of.expect(name).1
}

#[test]
fn gaps_order_and_copies_of_the_trials_at_the_limit_are_in_every_format() {
    let mut sample = Sample::complete();
    for record in &mut sample.records {
        let has_lost = record.result.verdict(LossRatio::ZERO) == Verdict::Lost;
        for direction in &mut record.result.directions {
            if has_lost {
                direction.gaps = Some(lengths(8, 4096));
                direction.gap_distances = Some(lengths(32, 64));
            } else {
                direction.reordered = 2;
                direction.reordering_extents = Some(lengths(1, 517));
                direction.duplicate_distances = Some(lengths(0, 128));
            }
        }
    }
    let input = sample.input();
    let file = sequence_csv(&input).expect("a file");
    let rows = rows(&file);
    let lost = rows.iter().find(|row| field(row, "verdict") == "lost");
    let lost = lost.expect("a losing trial");
    assert_eq!(
        [
            "gaps",
            "shortest_gap",
            "longest_gap",
            "frames_in_gaps",
            "least_gap_distance",
            "extents"
        ]
        .map(|name| field(lost, name)),
        ["2", "8", "4096", "4104", "32", ""]
    );
    let passed = rows.iter().find(|row| field(row, "verdict") == "passed");
    let passed = passed.expect("a passing trial");
    assert_eq!(
        [
            "gaps",
            "reordered",
            "largest_extent",
            "sum_of_extents",
            "largest_duplicate_distance"
        ]
        .map(|name| field(passed, name)),
        ["", "2", "517", "518", "128"]
    );
    let text = json(&input);
    let results: Value = serde_json::from_str(&text).expect("JSON");
    let points = results["points"].as_array().expect("points");
    let of_points = points
        .iter()
        .filter_map(|point| point["sequence"].as_array());
    let sequence: Vec<&Value> = of_points.flatten().collect();
    let has = |condition: fn(&Value) -> bool| sequence.iter().any(|of| condition(of));
    assert!(
        has(|of| of["gaps"]["longest"] == 4096 && of["passed"] == false),
        "{sequence:?}"
    );
    assert!(
        has(|of| of["reordering_extents"]["longest"] == 517),
        "{sequence:?}"
    );
    let page = html(&input).expect("a page");
    assert!(page.contains("Gaps, order and copies"));
    assert!(page.contains("4,096") && page.contains(">517<"));
}

#[test]
fn a_run_without_them_has_neither_file_nor_chapter() {
    let sample = Sample::complete();
    let input = sample.input();
    assert_eq!((sequence_csv(&input), ramps_csv(&input)), (None, None));
    let page = html(&input).expect("a page");
    assert!(!page.contains("Gaps, order and copies") && !page.contains("Ramps before the trials"));
}

#[test]
fn a_mix_of_sizes_is_named_and_its_losses_are_told_size_by_size() {
    let mix: SizeMix = "imix:aaabg".parse().expect("a mix");
    let mut sample = Sample::complete();
    sample.plan.tests.truncate(1);
    let test = &mut sample.plan.tests[0];
    test.traffic.size_mix = Some(mix);
    test.frame_sizes = vec![mix.nominal()];
    let name = test.name.clone();
    sample.records.retain(|record| record.point.test == name);
    for record in &mut sample.records {
        record.point.frame_size = mix.nominal();
        let lost = |frame_size, not_received| SizeCounts {
            frame_size: FrameSize(frame_size),
            offered: 1_000,
            not_received,
        };
        for direction in &mut record.result.directions {
            direction.sizes = vec![lost(84, 0), lost(128, 0), lost(1518, 3)];
        }
    }
    let trials = sample.records.len() as u64;
    let input = sample.input();
    let file = sizes_csv(&input).expect("a file");
    let rows = rows(&file);
    let large = rows
        .iter()
        .find(|row| field(row, "frame_size_octets") == "1518")
        .expect("a row of the largest size");
    assert_eq!(field(large, "mix"), "imix:aaabg");
    assert_eq!(
        ["trials", "trials_with_loss", "offered", "not_received"].map(|name| field(large, name)),
        [trials, trials, 1_000 * trials, 3 * trials].map(|count| count.to_string())
    );
    let texts = [
        ("page", html(&input).expect("a page")),
        ("Markdown", markdown(&input)),
        ("terminal", terminal(&input, 400, false)),
    ];
    for (format, text) in texts {
        assert!(
            text.contains("IMIX genome aaabg, mean 379.6 octets"),
            "{format}: {text}"
        );
    }
    let text = json(&input);
    let results: Value = serde_json::from_str(&text).expect("JSON");
    let point = &results["points"][0];
    assert_eq!(point["size_mix"], "imix:aaabg");
    assert_eq!(point["sizes"][2]["not_received"], 3 * trials);
    assert!(methods(&input)[0].contains("several sizes are mixed in each trial"));
}

#[test]
fn ramps_are_told_with_their_losses_and_that_rfc_2544_has_none() {
    let mut sample = Sample::complete();
    for test in &mut sample.plan.tests {
        test.traffic.ramp_ns = Some(500_000_000);
    }
    let ramp = RampCounts {
        duration_ns: 500_000_000,
        pause_ns: 7_000_000,
        offered: 74_317,
        received: 74_300,
        mistranslated: 2,
        ..RampCounts::default()
    };
    let directions = sample
        .records
        .iter_mut()
        .flat_map(|record| &mut record.result.directions);
    directions.for_each(|direction| direction.ramp = Some(ramp));
    let input = sample.input();
    let file = ramps_csv(&input).expect("a file");
    let rows = rows(&file);
    let ramps: u64 = field(&rows[0], "ramps").parse().expect("a number");
    assert_eq!(
        ["offered", "lost", "mistranslated"].map(|name| field(&rows[0], name).parse::<u64>()),
        [74_317, 15, 2].map(|count| Ok(count * ramps))
    );
    assert_eq!(field(&rows[0], "ramps_with_loss"), ramps.to_string());
    let page = html(&input).expect("a page");
    assert!(page.contains("Frames of the ramps before the trials"));
    let texts = [
        ("page", page),
        ("Markdown", markdown(&input)),
        ("terminal", terminal(&input, 400, false)),
    ];
    for (format, text) in texts {
        assert!(
            text.contains("this is not the procedure of RFC 2544"),
            "{format}: {text}"
        );
    }
    assert!(
        methods(&input)[0]
            .contains("only routing updates and learning frames are sent before the trial"),
        "the clause is bent"
    );
    let text = json(&input);
    let results: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(
        results["points"][0]["ramps"][0]["longest_pause_ns"],
        7_000_000
    );
}
