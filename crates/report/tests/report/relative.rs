//! The table of siitperf's paper for tests of one device: the statistics of each, and its median relative to that of the first.

use crate::formats::{markdown, terminal};
use crate::sample::Sample;

#[test]
fn tests_of_one_device_stand_beside_each_other_relative_to_the_first() {
    let text = markdown(&Sample::of_many(4).input());
    let tables: Vec<&str> = text
        .split("\n## ")
        .filter(|part| part.starts_with("Relative performance"))
        .collect();
    insta::assert_snapshot!(tables.join("\n"));
}

#[test]
fn each_device_alone_has_no_relative_performance() {
    let sample = Sample::complete();
    assert!(!markdown(&sample.input()).contains("Relative performance"));
    assert!(terminal(&Sample::of_many(4).input(), 200, false).contains("Rel. perf. (%)"));
}
