//! The views of a run of stateful gateways (RFC 9693).

use crate::formats::{
    assert_rows_are_whole, csv, figures, html, json, latex, markdown, terminal, values_csv,
};
use crate::sample::Sample;
use sixbench_method::record::Watch;
use sixbench_method::search::Limit;
use sixbench_method::terms::{FrameRate, LossRatio};
use sixbench_method::trial::TrialOutcome;

#[test]
fn the_views_of_stateful_gateways() {
    let sample = Sample::of_stateful_gateways();
    sample.keep("stateful");
    insta::assert_snapshot!("markdown", markdown(&sample.input()));
    insta::assert_snapshot!("terminal", terminal(&sample.input(), 100, false));
    insta::assert_snapshot!("csv", csv(&sample.input()));
    let few = sample.only(&["rate", "table", "through"]);
    insta::assert_snapshot!("json", json(&few.input()));
    insta::assert_snapshot!("values-csv", values_csv(&few.input()));
    insta::assert_snapshot!("terminal-narrow", terminal(&few.input(), 50, false));
}

#[test]
fn each_part_of_a_stateful_run_is_on_the_page_once() {
    let page = page(&Sample::of_stateful_gateways());
    for id in [
        "headline",
        "stateful",
        "scalability",
        "pdv",
        "summaries",
        "evidence",
        "faults",
    ] {
        assert_eq!(
            page.matches(&format!("<section id=\"{id}\">")).count(),
            1,
            "{id}"
        );
    }
    for id in [
        "connections",
        "capacity",
        "scalability",
        "search",
        "repetitions",
    ] {
        assert_eq!(
            page.matches(&format!("<figure id=\"figure-{id}\">"))
                .count(),
            1,
            "{id}"
        );
    }
    assert!(!page.contains("NaN") && !page.contains("<tbody>\n</tbody>"));
}

#[test]
fn clauses_whose_text_was_not_read_have_no_standing_in_any_format() {
    const UNREAD: &str = "not checked against the text";
    let sample = Sample::of_stateful_gateways();
    let page = page(&sample);
    let cells: Vec<&str> = page
        .lines()
        .filter(|line| line.starts_with("<tr>") && line.contains(">RFC 9693</a></td>"))
        .collect();
    assert!(
        !cells.is_empty() && cells.iter().all(|row| row.contains(UNREAD)),
        "{cells:?}"
    );
    let latex = latex(&sample.input());
    let rows: Vec<&str> = latex
        .lines()
        .filter(|line| line.starts_with("RFC 9693 &"))
        .collect();
    assert!(
        !rows.is_empty() && rows.iter().all(|row| row.contains(UNREAD)),
        "{rows:?}"
    );
    for standing in ["met", "bent", "broken"] {
        assert!(
            !cells
                .iter()
                .any(|row| row.contains(&format!(">{standing}</td>"))),
            "{standing}"
        );
        assert!(
            !rows
                .iter()
                .any(|row| row.contains(&format!("& {standing} "))),
            "{standing}"
        );
    }
}

#[test]
fn a_run_that_only_opens_connections_speaks_of_connections() {
    let sample = Sample::of_stateful_gateways().only(&["rate", "rate-ipt"]);
    for text in [
        markdown(&sample.input()),
        terminal(&sample.input(), 100, false),
    ] {
        assert!(
            text.contains("connections/s, 100,000 of them") && !text.contains("frames/s"),
            "{text}"
        );
    }
    assert!(
        csv(&sample.input())
            .lines()
            .skip(1)
            .all(|line| line.contains(",establishment-rate,connections/s,"))
    );
    let search = figure(&sample, "search").expect("a trace of the search");
    assert!(search.contains("intended load (connections/s)") && !search.contains("frames/s"));
    assert!(!page(&sample).contains("<h2>Results"));
}

#[test]
fn a_refusal_of_the_connection_tracking_table_is_named_as_the_reason() {
    let page = page(&Sample::of_stateful_gateways());
    for reason in [
        "the connection tracking table was full and made room by dropping others (early_drop)",
        "no free port or bucket (insert_failed)",
        "table full (drop)",
    ] {
        assert!(page.contains(reason), "{reason}");
    }
}

#[test]
fn a_phase_1_that_lost_frames_is_not_laid_at_the_testers_door() {
    let sample = Sample::of_stateful_gateways().only(&["hasty"]);
    let text = markdown(&sample.input());
    assert!(
        text.contains(". Before every trial phase 1 failed to open all its connections"),
        "{text}"
    );
    assert!(
        text.contains("connections of phase 1, no result 3×") && !text.contains("tester"),
        "{text}"
    );
    assert!(json(&sample.input()).contains("\"hindered_by_phase_1\": true"));
    let page = page(&sample);
    assert!(
        page.contains("invalid: the tester fell short, or connections of phase 1 were missing")
    );
    assert!(
        page.contains("no free port or bucket (insert_failed)"),
        "what the device's kernel says of it"
    );
    // There is no record of how a phase 2 was sent that never took place.
    assert!(figure(&sample, "headroom").is_none());
    let with_others = Sample::of_stateful_gateways().only(&["hasty", "through"]);
    assert!(
        !figure(&with_others, "headroom")
            .expect("a figure")
            .contains("hasty")
    );
}

#[test]
fn gateways_are_ranked_only_where_their_ranges_part() {
    let mut sample = Sample::of_stateful_gateways().only(&["rate", "rate-ipt"]);
    let set = |sample: &mut Sample, test: &str, lower: u64, upper: u64, limit| {
        for outcome in sample.outcomes.iter_mut().filter(|o| o.point.test == test) {
            let bracket = &mut outcome.brackets[0];
            (bracket.lower, bracket.upper, bracket.limit) =
                (Some(FrameRate(lower)), Some(FrameRate(upper)), limit);
        }
    };
    set(&mut sample, "rate", 200_000, 204_000, Limit::Dut);
    set(&mut sample, "rate-ipt", 198_000, 202_000, Limit::Dut);
    let text = markdown(&sample.input());
    assert!(
        text.contains(
            "iptables, opening reached 99\u{a0}% of that: 198\u{a0}k (no difference from nftables"
        ),
        "{text}"
    );
    set(&mut sample, "rate", 200_000, 204_000, Limit::Tester);
    set(&mut sample, "rate-ipt", 190_000, 194_000, Limit::Maximum);
    let text = markdown(&sample.input());
    assert!(
        text.contains("opened at least 200\u{a0}k connections/s, 100,000 of them, each validated, limited by the tester"),
        "{text}"
    );
    assert!(
        text.contains("the highest rate of the plan: it is not shown which of the two is faster"),
        "{text}"
    );
}

#[test]
fn a_safety_factor_is_an_upper_bound_where_the_establishment_rate_is_a_lower_one() {
    let mut sample = Sample::of_stateful_gateways().only(&["rate", "through"]);
    assert!(markdown(&sample.input()).contains("| 50,000 | 0.235 | 0.5\u{a0}s | 3\u{a0}s |"));
    for outcome in sample
        .outcomes
        .iter_mut()
        .filter(|o| o.point.test == "rate")
    {
        let bracket = &mut outcome.brackets[0];
        (bracket.lower, bracket.limit) = (Some(FrameRate(200_000)), Limit::Tester);
    }
    assert!(markdown(&sample.input()).contains("| 50,000 | ≤\u{a0}0.25 | 0.5\u{a0}s | 3\u{a0}s |"));
    let without = sample.only(&["through"]);
    assert!(markdown(&without.input()).contains("| 50,000 | – | 0.5\u{a0}s | 3\u{a0}s |"));
}

#[test]
fn a_validation_that_leaves_connections_out_is_said_to_do_so() {
    let sample = Sample::of_stateful_gateways();
    let whole = markdown(
        &Sample::of_stateful_gateways()
            .only(&["rate", "table"])
            .input(),
    );
    assert!(!whole.contains("may have been lost unseen"));
    assert!(
        markdown(&sample.only(&["table-ipt"]).input())
            .contains("only those were validated, and earlier ones may have been")
    );
}

#[test]
fn records_without_the_connections_of_the_dut_are_reported_without_their_figure() {
    let mut sample = Sample::of_stateful_gateways().only(&["rate", "down", "through"]);
    for record in &mut sample.records {
        record.watch = None;
        if let Some(connections) = record.result.phase_one_result_mut() {
            (connections.counted, connections.counted_after) = (None, None);
        }
    }
    assert!(figure(&sample, "connections").is_none());
    assert!(markdown(&sample.input()).contains("| no count |"));
}

#[test]
fn every_row_of_a_latex_table_of_connections_has_all_its_columns() {
    let text = latex(&Sample::of_stateful_gateways().input());
    assert!(assert_rows_are_whole(&text) > 0);
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

/// Returns a trial of 1000 TCP connections, of which the DUT's table had 900 when it was read.
fn tcp_record(sample: &Sample) -> sixbench_method::record::TrialRecord {
    use sixbench_method::trial::tcp::{
        Close, ConnectionCounts, KernelCounts, Pace, TcpResult, TcpSpec, TcpTrial,
    };
    use sixbench_method::trial::{TrialKind, TrialSpec};
    let mut record = sample.records[0].clone();
    let spec = TrialSpec {
        kind: TrialKind::TcpRate,
        ..TrialSpec::constant(FrameRate(1000), 1_000_000_000)
    };
    let (trial, close) = (TcpTrial::Rate, Close::ServerFirst);
    let counts = TcpResult {
        server_address: "192.0.2.1".parse().ok(),
        spec: TcpSpec {
            trial,
            rate: 1000,
            connections: 1000,
            object_octets: 64,
            time_limit_ns: 900_000_000,
            close,
        },
        connections: ConnectionCounts {
            intended: 1000,
            attempted: 1000,
            established: 1000,
            completed: 1000,
            ..ConnectionCounts::default()
        },
        check: None,
        connect: None,
        complete: None,
        pace: Pace::default(),
        server: None,
        kernel: KernelCounts::default(),
        examples: vec![],
    };
    record.result = counts.into_trial(&spec, sixbench_method::terms::Direction::Forward);
    record
        .watch
        .iter_mut()
        .for_each(|watch| watch.connections = vec![0, 900]);
    record
}

#[test]
fn tcp_connections_have_tables_of_their_own_and_no_phase_1() {
    use sixbench_method::plan::{Measure, Tcp};
    let mut sample = Sample::of_stateful_gateways().only(&["rate"]);
    let record = tcp_record(&sample);
    let tcp = Tcp {
        object_octets: 64,
        time_limit_ns: 1,
        close: Default::default(),
        server_ports: (80, 80),
    };
    sample.plan.tests.truncate(1);
    (sample.plan.tests[0].measure, sample.plan.tests[0].stateful) =
        (Measure::TcpEstablishmentRate(tcp), None);
    (sample.records, sample.outcomes) = (vec![record], vec![]);
    let page = page(&sample);
    assert!(
        page.contains("TCP connections (RFC 3511)")
            && page.contains("server first")
            && page.contains("900")
    );
    assert!(
        !page.contains("Connections over time"),
        "there is no phase 1 to be looked at"
    );
    assert!(!page.contains("by a RST"), "none was refused");

    let result = &mut sample.records[0].result;
    if let TrialOutcome::Tcp(Some(tcp)) = &mut result.outcome {
        (tcp.connections.completed, tcp.connections.reset) = (993, 7);
    }
    result.directions[0].received = 993;
    let words = "7 of 1000 established connections ended by a RST from 192.0.2.1: the server or the device sent it";
    let line = sixbench_report::event_words::trial(result, result.verdict(LossRatio::ZERO));
    let lines = sixbench_report::trial_words::trial(result, &Watch::default());
    let page = markdown(&sample.input()).replace('\u{a0}', " ");
    for text in [line, lines, page] {
        assert!(text.contains(words), "{text}");
    }
}
