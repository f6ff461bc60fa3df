//! The views of a run with the measurements of the 6to4 paper.

use crate::formats::{figures, html, json, latex, markdown, terminal, values_csv};
use crate::sample::Sample;
use sixbench_method::measures::Quantity;

#[test]
fn the_views_of_numbers_of_clients() {
    let sample = Sample::of_clients();
    sample.keep("clients");
    insta::assert_snapshot!("markdown", markdown(&sample.input()));
    insta::assert_snapshot!("terminal", terminal(&sample.input(), 100, false));
    let few = sample.only(&["udp.subscribers1", "plain"]);
    insta::assert_snapshot!("json", json(&few.input()));
    insta::assert_snapshot!("values-csv", values_csv(&few.input()));
}

#[test]
fn a_device_nobody_could_look_at_has_dashes() {
    let text = markdown(&Sample::of_clients().only(&["plain"]).input());
    for row in [
        "| CPU load, average (%) | – |",
        "| CPU load, std. dev. (%) | – |",
        "| Memory (kB) | – |",
    ] {
        assert!(text.contains(row), "{row}: {text}");
    }
}

#[test]
fn a_number_of_clients_without_a_result_keeps_its_column_and_says_why() {
    let sample = Sample::of_clients_without(&[
        "udp.subscribers4",
        "udp.subscribers9",
        "udp.subscribers10",
        "plain",
    ]);
    sample.keep("clients-missing");
    let all = markdown(&sample.input());
    assert_eq!(
        all.matches("| Number of clients").count(),
        4,
        "no table of nothing but dashes: {all}"
    );
    assert!(
        figures(&sample.input())
            .iter()
            .any(|(name, _)| name == "clients.svg")
    );
    let of_udp: Vec<String> = (1..=10)
        .map(|clients| format!("udp.subscribers{clients}"))
        .collect();
    let text = markdown(
        &sample
            .only(&of_udp.iter().map(String::as_str).collect::<Vec<_>>())
            .input(),
    );
    let table: Vec<&str> = text
        .lines()
        .skip_while(|line| !line.starts_with("| Number of clients"))
        .take(9)
        .collect();
    assert!(
        table.iter().all(|line| line.matches('|').count() == 12),
        "{text}"
    );
    for row in &table[2..] {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let nothing = if cells[1] == "n" { "0" } else { "–" };
        assert_eq!(
            [4, 9, 10].map(|clients| cells[clients + 1]),
            [nothing; 3],
            "{row}"
        );
        assert!(
            [1, 3, 5, 8]
                .iter()
                .all(|clients| cells[clients + 1] != nothing),
            "{row}"
        );
    }
    assert!(
        text.contains("No result for #&#8203;4, #&#8203;9 and #&#8203;10: every trial of the measurement was invalid ("),
        "{text}"
    );
    assert!(
        text.contains(" at 118\u{a0}bytes; no result with 4, 9 and 10 clients."),
        "{text}"
    );
}

#[test]
fn frames_load_and_response_time_are_drawn_over_the_clients() {
    let drawn = |sample: &Sample| {
        figures(&sample.input())
            .into_iter()
            .find(|(name, _)| name == "clients.svg")
            .map(|(_, svg)| svg)
    };
    let sample = Sample::of_clients();
    let svg = drawn(&sample).expect("a figure");
    for axis in [
        "forwarded (frames/s)",
        "CPU load (%)",
        "response time (ms)",
        "frame loss (%)",
    ] {
        assert_eq!(svg.matches(&format!(">{axis}<")).count(), 1, "{axis}");
    }
    assert!(
        drawn(&sample.only(&["plain"])).is_none(),
        "one number of clients is no curve"
    );
}

#[test]
fn the_page_has_the_papers_table_once_for_each_kind_of_request() {
    let sample = Sample::of_clients();
    let page = html(&sample.input()).expect("a page");
    assert_eq!(page.matches("<section id=\"clients\">").count(), 1);
    assert_eq!(
        page.matches("Number of clients").count(),
        6,
        "and once for its percentiles"
    );
    assert!(!page.contains("NaN") && !page.contains("<tbody>\n</tbody>"));
    assert!(latex(&sample.input()).contains("Response time, std. dev. (ms)"));
}

#[test]
fn a_ladder_of_clients_is_one_sentence() {
    let text = markdown(&Sample::of_clients().input());
    assert_eq!(
        text.matches("no frame lost with up to").count(),
        2,
        "{text}"
    );
    assert!(
        text.contains(", plain: no frame lost with 1\u{a0}client; "),
        "{text}"
    );
    assert!(
        text.contains(", echo: no frame lost with up to 7\u{a0}clients, "),
        "{text}"
    );
}

#[test]
fn responses_whose_time_is_no_result_are_not_told_to_be_none() {
    let told = |lost: f64| {
        let mut sample = Sample::of_clients().only(&["plain"]);
        for values in sample
            .outcomes
            .iter_mut()
            .map(|outcome| &mut outcome.values)
        {
            values.retain(|value| {
                ![Quantity::ResponseTime, Quantity::ResponseTimeDeviation].contains(&value.quantity)
            });
            let of_loss = values
                .iter_mut()
                .filter(|value| value.quantity == Quantity::RequestLoss);
            of_loss.for_each(|value| value.value = lost);
        }
        markdown(&sample.input())
    };
    let unfit = told(0.0);
    assert!(
        unfit.contains("; no response time, because other work or the tester itself had a part in"),
        "{unfit}"
    );
    assert!(!unfit.contains("no response at all"), "{unfit}");
    assert!(
        told(100.0).contains("; no response at all; "),
        "{}",
        told(100.0)
    );
}
