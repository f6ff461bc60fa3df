//! A result of the self-test.

use serde::Serialize;
use sixbench_method::terms::FrameRate;
use sixbench_method::units::show_rate;
use sixbench_stats::Summary;
use std::fmt;

/// A result of the self-test.
#[derive(Serialize)]
pub struct SelftestResult {
    /// A description of what was measured, and how.
    pub what: String,
    /// The rate, in `unit`.
    pub per_second: u64,
    /// The unit: frames/s, queries/s and so on.
    pub unit: &'static str,
    /// The relative error of the offered load in the best trial, if frames were sent over links.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offered_load_error: Option<f64>,
    /// True if the search ended at its own maximum, so that `per_second` is a lower bound.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_at_least: bool,
    /// The variation over the repetitions, if there were several; `per_second` is then their median.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeated: Option<QueryRateSummary>,
}

/// The variation of a result over its repetitions.
#[derive(Serialize)]
pub struct QueryRateSummary {
    /// The number of repetitions.
    pub times: usize,
    /// The 1st percentile (RFC 2330 section 11.3).
    pub percentile_1: u64,
    /// The 99th percentile.
    pub percentile_99: u64,
}

/// The highest rate of a search.
#[derive(Clone, Copy, Debug)]
pub(super) struct LoopedRate {
    /// Queries per second that were looped.
    pub(super) per_second: u64,
    /// True if the search ended at its own maximum.
    pub(super) is_at_least: bool,
}

impl SelftestResult {
    /// Returns the result of a measurement that sends no frames over links.
    pub(super) fn new(what: String, per_second: u64, unit: &'static str) -> Self {
        Self {
            what,
            per_second,
            unit,
            offered_load_error: None,
            is_at_least: false,
            repeated: None,
        }
    }
}

impl SelftestResult {
    /// Returns the median of the rates of several searches.
    pub(super) fn of_queries(what: String, found: &[LoopedRate]) -> Self {
        let rates: Vec<f64> = found.iter().map(|found| found.per_second as f64).collect();
        let summary = Summary::of(&rates);
        let per_second = summary.as_ref().map_or(0, |summary| summary.median as u64);
        let repeated = summary
            .filter(|_| found.len() > 1)
            .map(|summary| QueryRateSummary {
                times: found.len(),
                percentile_1: summary.p1 as u64,
                percentile_99: summary.p99 as u64,
            });
        let is_at_least = found.iter().any(|found| found.is_at_least);
        Self {
            is_at_least,
            repeated,
            ..Self::new(what, per_second, "queries/s")
        }
    }
}

impl fmt::Display for QueryRateSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [low, high] =
            [self.percentile_1, self.percentile_99].map(|rate| show_rate(FrameRate(rate)));
        write!(
            f,
            "  (median of {}; 1st percentile {low}, 99th {high})",
            self.times
        )
    }
}

/// Returns the results as lines of a table.
pub fn table(results: &[SelftestResult]) -> Vec<String> {
    let width = results
        .iter()
        .map(|result| result.what.len())
        .max()
        .unwrap_or(0);
    let line = |result: &SelftestResult| {
        let error = result.offered_load_error.map_or(String::new(), |e| {
            format!("  (offered load off by {e:.1e})")
        });
        let at_least = if result.is_at_least { ">= " } else { "" };
        let rate = format!("{at_least}{}", show_rate(FrameRate(result.per_second)));
        let repeated = result
            .repeated
            .as_ref()
            .map_or(String::new(), QueryRateSummary::to_string);
        format!(
            "{:<width$} {rate:>8} {}{error}{repeated}",
            result.what, result.unit
        )
    };
    results.iter().map(line).collect()
}
