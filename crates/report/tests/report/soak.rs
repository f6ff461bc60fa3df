//! The views of a soak test.

use crate::formats::{csv, html, json, latex, markdown, terminal};
use crate::sample::Sample;

#[test]
fn the_growth_of_memory_is_told_with_its_interval_and_none_is_shown_where_it_may_be_none() {
    let sample = Sample::of_a_soak();
    sample.keep("soak");
    insta::assert_snapshot!("markdown", markdown(&sample.input()));
    let text = terminal(&sample.input(), 100, false);
    assert!(
        text.contains("no growth of the memory of the kernel is shown"),
        "{text}"
    );
    assert!(
        html(&sample.input()).expect("a page").contains("Soak")
            && latex(&sample.input()).contains("Soak")
    );
    assert!(
        csv(&sample.input()).contains("soak-loss")
            || json(&sample.input()).contains("\"memory-growth-least\"")
    );
}

#[test]
fn a_soak_with_new_connections_tells_how_many_were_opened_and_closed_and_draws_the_table_over_time()
{
    let sample = Sample::of_new_connections();
    sample.keep("soak-connections");
    let text = markdown(&sample.input());
    insta::assert_snapshot!("new_connections", text);
    let plain = text.replace('\u{a0}', " ");
    assert!(
        plain.contains("opened 100 and closed 100 connections/s for 2 h, 0 % failed"),
        "{text}"
    );
    let page = html(&sample.input()).expect("a page");
    assert!(
        page.contains("Table and memory over the soak") && page.contains("entries in the table")
    );
    assert!(
        !page.contains("TCP connections (RFC 3511)"),
        "it searched for no rate"
    );
}
