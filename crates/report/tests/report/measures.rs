//! The views of a run of every measure.

use crate::formats::{
    assert_rows_are_whole, csv, figures, html, json, latex, markdown, terminal, values_csv,
};
use crate::sample::Sample;
use crate::sample::requirements::every_finding;
use sixbench_method::plan::Measure;
use sixbench_method::repeat::Repetition;
use sixbench_method::search::{Bracket, Limit, SearchMethod};
use sixbench_method::terms::{FrameRate, LossRatio};
use sixbench_report::Document;
use std::collections::BTreeSet;

/// Measures of which no sample has results.
const WITHOUT_SAMPLE: [&str; 3] = ["dns-queries", "tcp-capacity", "tcp-establishment-rate"];

/// Returns the measures of which the report of one test alone says a result in its first sentence.
fn said(sample: &Sample) -> BTreeSet<&'static str> {
    let is_said = |name: &str| {
        let alone = Sample {
            plan: sample.plan.clone(),
            records: sample.records.clone(),
            outcomes: sample.outcomes.clone(),
            facts: sample.facts.clone(),
            interrupted: sample.interrupted,
        }
        .only(&[name]);
        let input = alone.input();
        let document = Document::new(&input).expect("records of this version");
        !document.headline().starts_with("There is no result")
    };
    let tests = sample.plan.tests.iter();
    tests
        .filter(|test| is_said(&test.name))
        .map(|test| test.measure.name())
        .collect()
}

#[test]
fn the_results_of_every_measure_are_said_in_the_verdict() {
    let samples = [
        Sample::of_every_measure(),
        Sample::of_stateful_gateways(),
        Sample::of_dns_servers(),
        Sample::of_clients(),
        Sample::of_a_soak(),
        Sample::of_new_connections(),
        Sample::with_requirements(every_finding()),
    ];
    let said: BTreeSet<&str> = samples.iter().flat_map(said).collect();
    let with_sample: BTreeSet<&str> = Measure::infos()
        .map(|info| info.term.name)
        .filter(|name| !WITHOUT_SAMPLE.contains(name))
        .collect();
    assert_eq!(said, with_sample);
}

#[test]
fn the_tables_of_every_measure() {
    let sample = Sample::of_every_measure();
    insta::assert_snapshot!("markdown", markdown(&sample.input()));
    insta::assert_snapshot!("terminal", terminal(&sample.input(), 100, false));
}

#[test]
fn a_run_is_the_same_in_latex_and_in_rows_of_values() {
    let sample = Sample::of_every_measure().only(&["latency", "burst"]);
    insta::assert_snapshot!("latex", latex(&sample.input()));
    insta::assert_snapshot!("values-csv", values_csv(&sample.input()));
    insta::assert_snapshot!("json", json(&sample.input()));
}

#[test]
fn delays_from_the_clock_of_one_machine_to_that_of_another_have_their_bound_below() {
    let mut sample = Sample::of_every_measure().only(&["latency"]);
    assert!(!markdown(&sample.input()).contains("each delay may be wrong"));
    let mut directions = sample
        .records
        .iter_mut()
        .flat_map(|record| &mut record.result.directions);
    directions.next().expect("a direction").clock_bound_ns = Some(250_000);
    let text = markdown(&sample.input());
    assert!(
        text.contains("each delay may be wrong by 0.2500 ms"),
        "{text}"
    );
}

#[test]
fn every_row_of_a_latex_table_has_all_its_columns() {
    let text = latex(&Sample::of_every_measure().input());
    assert!(assert_rows_are_whole(&text) > 15);
}

#[test]
fn the_axes_of_the_loss_graph_run_from_0_to_100_per_cent() {
    let svg = figure(&Sample::of_every_measure(), "loss-rate").expect("a graph");
    let graph = panels(&svg).remove(0);
    for tick in ["0", "20", "40", "60", "80", "100"] {
        assert_eq!(
            graph.matches(&format!(">{tick}<")).count(),
            2,
            "the tick {tick} on both axes"
        );
    }
    assert!(!graph.contains(">120<"));
    assert!(graph.contains("input rate (% of the theoretical rate)"));
}

#[test]
fn without_a_known_medium_per_cent_are_of_the_plan_and_that_is_said() {
    let mut sample = Sample::of_every_measure().only(&["loss"]);
    sample.plan.link_rate = None;
    assert!(
        figure(&sample, "loss-rate")
            .expect("a graph")
            .contains("input rate (% of the plan&apos;s highest)")
    );
    assert!(
        markdown(&sample.input())
            .contains("of the highest rate of the plan, since the rate of the medium is not known")
    );
}

#[test]
fn the_theoretical_line_is_drawn_where_the_medium_is_known() {
    let mut sample = Sample::of_every_measure().only(&["rate"]);
    let panels_of = |sample: &Sample| panels(&figure(sample, "throughput").expect("a graph")).len();
    assert_eq!(panels_of(&sample), 3);
    assert!(
        page(&sample).contains("<td class=\"n\">1,201,923</td>"),
        "1 Gbit/s in frames of 84 octets"
    );
    sample.plan.link_rate = None;
    assert_eq!(panels_of(&sample), 2);
    let page = page(&sample);
    assert!(!page.contains("Theoretical maximum of the medium") && !page.contains("╌╌"));
}

#[test]
fn both_models_are_drawn_between_measured_ends_and_none_without() {
    let sample = Sample::of_every_measure();
    let models = |sample: &Sample| {
        let svg = figure(sample, "mixed").expect("a graph");
        let panel = panels(&svg).remove(0);
        [
            panel.contains("stroke=\"#d55e00\""),
            panel.contains("stroke=\"#009e73\""),
        ]
    };
    assert_eq!(models(&sample), [true, true]);
    let without = sample.only(&["mix-0", "mix-10", "mix-50", "mix-90"]);
    assert_eq!(models(&without), [false, false]);
    let text = markdown(&without.input());
    assert!(
        text.contains("| 84 | 50 | 711,226 | 704,218 | 725,520 | 3 | – | – |"),
        "{text}"
    );
}

#[test]
fn degradation_names_its_formula_its_flows_and_how_they_start() {
    let text = markdown(&Sample::of_every_measure().input());
    for words in [
        "(X1 - Xn) / X1",
        "(Xn - X1) / X1",
        "| 64 | both |",
        "T = 0.1\u{a0}s apart (section 10.2.2)",
        "(section 10.2.1)",
        "| 16 | forward | 480,000 |",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
}

#[test]
fn a_run_of_latency_alone_speaks_of_nothing_else() {
    let sample = Sample::of_every_measure().only(&["latency"]);
    let page = page(&sample);
    for absent in [
        "<h2>Results",
        "id=\"loss-rate\"",
        "id=\"pdv\"",
        "id=\"mixed\"",
        "id=\"cores\"",
        "id=\"by-size\"",
        "no result",
    ] {
        assert!(!page.contains(absent), "{absent}");
    }
    let verdict = "Jool, SIIT, latency: typical latency";
    assert!(markdown(&sample.input()).contains(&format!("- {verdict}")));
    let terminal = terminal(&sample.input(), 100, false);
    assert!(
        terminal.starts_with("Trust: high.") && terminal.contains(verdict),
        "{terminal}"
    );
}

#[test]
fn what_may_be_more_in_truth_is_said_to_be_at_least_so_much() {
    let mut sample = Sample::of_every_measure().only(&["reset"]);
    sample.outcomes[0]
        .values
        .iter_mut()
        .for_each(|value| value.is_at_least = true);
    let text = markdown(&sample.input());
    let sentence = "forwarded nothing after a reset for on average ≥\u{a0}1240\u{a0}ms, ≥\u{a0}1260\u{a0}ms at most (n = 3)";
    assert!(text.contains(sentence), "{text}");
    assert!(text.contains("≥: the true value may be higher"), "{text}");
}

#[test]
fn a_burst_without_a_throughput_test_beside_it_is_not_corrected() {
    let sample = Sample::of_every_measure();
    assert!(markdown(&sample.input()).contains("| not corrected | 1,000,000 | not measured |"));
    let row = |text: &str| {
        text.lines()
            .find(|l| l.contains("Jool, SIIT, bursts | 84"))
            .map(str::to_owned)
    };
    let corrected = row(&markdown(&sample.input())).expect("a row");
    assert!(
        corrected.contains("| 356,112 |") && !corrected.contains("not corrected"),
        "{corrected}"
    );
}

#[test]
fn several_loss_goals_stand_side_by_side_under_their_names() {
    let mut sample = Sample::of_every_measure().only(&["rate"]);
    sample.plan.search.method = SearchMethod::Mlrsearch;
    let lossy = LossRatio(0.000_01);
    sample.plan.search.goals.push(lossy);
    for outcome in &mut sample.outcomes {
        let lower = outcome.brackets[0]
            .lower
            .map(|rate| FrameRate(rate.0 + 1_000));
        outcome.brackets.push(Bracket {
            goal: lossy,
            lower,
            upper: None,
            limit: Limit::Dut,
            exceed_ratio: 0.0,
            conditional_throughput: None,
        });
    }
    let text = markdown(&sample.input());
    assert!(
        text.contains("| Test | Size | Unit | Throughput | Rate at 0.001\u{a0}% loss or less |"),
        "{text}"
    );
    assert!(
        text.contains("356,112 \\[352,602–363,269] (3) | 357,112 \\[353,602–364,269] (3)"),
        "{text}"
    );
}

/// Returns a run of two tests, the second of which accepts losses.
fn of_different_goals() -> Sample {
    let mut sample = Sample::complete();
    sample.plan.tests.truncate(2);
    sample
        .outcomes
        .retain(|outcome| sample.plan.test(&outcome.point.test).is_some());
    let goals = [LossRatio(0.001), LossRatio(0.01)];
    sample.plan.tests[1].own_goals = Some(goals.to_vec());
    let own = sample.plan.tests[1].name.clone();
    for outcome in sample
        .outcomes
        .iter_mut()
        .filter(|outcome| outcome.point.test == own)
    {
        let found = outcome.brackets[0];
        let lower = found.lower.map(|rate| FrameRate(rate.0 + 1_000));
        outcome.brackets = vec![
            Bracket {
                goal: goals[0],
                ..found
            },
            Bracket {
                goal: goals[1],
                lower,
                ..found
            },
        ];
    }
    sample
}

#[test]
fn tests_with_loss_goals_of_their_own_say_so_in_every_format_and_show_all_of_them() {
    let sample = of_different_goals();
    let input = sample.input();
    let texts = [
        html(&input).expect("a page"),
        markdown(&input),
        latex(&input),
        terminal(&input, 100, false),
    ];
    for text in texts.map(|text| {
        text.replace("\u{a0}", " ")
            .replace("\\%", "%")
            .replace('~', " ")
    }) {
        for words in [
            "(with at most 0.1 % loss)",
            "1 % loss",
            "at the loss goal of ",
        ] {
            assert!(text.contains(words), "{words}: {text}");
        }
    }
    let text = markdown(&input).replace('\u{a0}', " ");
    assert!(
        text.contains("| Throughput | Rate at 0.1 % loss or less | Rate at 1 % loss or less |"),
        "{text}"
    );
    let csv = csv(&input);
    for goal in [",0,", ",0.001,", ",0.01,"] {
        assert!(csv.contains(goal), "{goal}: {csv}");
    }
    let json: serde_json::Value = serde_json::from_str(&json(&input)).expect("JSON");
    let goals: Vec<usize> = json["points"]
        .as_array()
        .expect("points")
        .iter()
        .map(|p| p["goals"].as_array().map_or(0, Vec::len))
        .collect();
    assert_eq!(goals, [1, 1, 2, 2]);
}

#[test]
fn the_frame_timeout_of_the_plan_is_drawn_into_the_loss_against_it() {
    let mut sample = Sample::of_every_measure().only(&["latency"]);
    assert!(
        !figure(&sample, "timeout")
            .expect("a graph")
            .contains("dashed: the frame timeout")
    );
    sample.plan.trial.frame_timeout_ns = 10_000_000;
    assert!(
        figure(&sample, "timeout")
            .expect("a graph")
            .contains("dashed: the frame timeout, 10\u{a0}ms")
    );
}

#[test]
fn memory_and_drops_of_the_dut_have_a_row_each() {
    let page = page(&Sample::of_every_measure().only(&["rate"]));
    assert!(page.contains("processes</td><td class=\"n\">12</td><td class=\"n\">13</td>"));
    assert!(page.contains("<td class=\"s\">backlog</td><td class=\"s\">received</td>"));
}

#[test]
fn an_adaptive_test_that_stopped_early_is_complete() {
    let mut sample = Sample::of_every_measure().only(&["rate"]);
    // Three repetitions of the same value would not give an interval; they also end because three is the most.
    sample.plan.tests[0].repetitions = Repetition::Adaptive {
        least: 2,
        most: 3,
        within: 0.1,
    };
    assert!(page(&sample).contains("2 of 2 points have a result."));
    assert!(page(&sample).contains("each measurement was made 2 to 3 times"));
    sample.interrupted = true;
    assert!(!markdown(&sample.input()).contains("The run was interrupted"));
    sample.plan.tests[0].repetitions = Repetition::Adaptive {
        least: 2,
        most: 20,
        within: 0.1,
    };
    assert!(
        markdown(&sample.input())
            .contains("The run was interrupted: 6 of 40 repetitions were made")
    );
}

#[test]
fn each_measure_has_a_part_of_the_page_and_no_part_is_empty() {
    let sample = Sample::of_every_measure();
    sample.keep("measures");
    let page = page(&sample);
    let ids = [
        "headline",
        "loss-rate",
        "latency",
        "pdv",
        "ipdv",
        "back-to-back",
        "recovery",
        "reset",
        "overload",
        "mixed",
        "cores",
    ];
    for id in ids.into_iter().chain([
        "by-size",
        "summaries",
        "evidence",
        "delays",
        "anomalies",
        "faults",
        "method",
        "facts",
    ]) {
        assert_eq!(
            page.matches(&format!("<section id=\"{id}\">")).count(),
            1,
            "{id}"
        );
    }
    assert!(!page.contains("<tbody>\n</tbody>"));
    assert!(
        sample
            .plan
            .tests
            .iter()
            .any(|t| matches!(t.measure, Measure::Reset(_)))
    );
}

#[test]
fn the_fields_that_were_wrong_are_told_with_the_frames_of_all_trials() {
    let mut sample = Sample::complete();
    assert!(!latex(&sample.input()).contains("Wrong fields"));
    for record in &mut sample.records[..2] {
        let fields = [("reserved flag", 600), ("sending time", 3)];
        record.result.directions[0].wrong_fields = fields
            .map(|(field, frames)| (field.to_owned(), frames))
            .into();
    }
    let (text, page) = (latex(&sample.input()), page(&sample));
    for (field, frames) in [("reserved flag", "1,200"), ("sending time", "6")] {
        assert!(
            text.contains(&format!("forward & {field} & {frames} \\\\")),
            "{field} in {text}"
        );
        assert!(page.contains(&format!(">{field}</")), "{field}");
    }
}

fn page(sample: &Sample) -> String {
    html(&sample.input())
        .expect("a page")
        .replace("&#x27;", "'")
        .replace("&#x2f;", "/")
}

fn figure(sample: &Sample, id: &str) -> Option<String> {
    figures(&sample.input())
        .into_iter()
        .find(|(name, _)| *name == format!("{id}.svg"))
        .map(|(_, svg)| svg)
}

/// Returns the panels of a figure, each an SVG inside the sheet.
fn panels(svg: &str) -> Vec<String> {
    svg.split("<svg ").skip(2).map(str::to_owned).collect()
}
