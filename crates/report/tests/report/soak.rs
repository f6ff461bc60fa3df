//! The views of a soak test.

use crate::formats::{csv, html, json, latex, markdown, terminal};
use crate::sample::Sample;

#[test]
fn the_growth_of_memory_is_told_with_its_interval_and_none_is_shown_where_it_may_be_none() {
    let sample = Sample::of_a_soak();
    sample.keep("soak");
    insta::assert_snapshot!("markdown", markdown(&sample.input()));
    let text = terminal(&sample.input(), 100, false);
    assert!(text.contains("no growth of the memory of the kernel is shown"), "{text}");
    assert!(html(&sample.input()).expect("a page").contains("Soak") && latex(&sample.input()).contains("Soak"));
    assert!(csv(&sample.input()).contains("soak-loss") || json(&sample.input()).contains("\"memory-growth-least\""));
}
