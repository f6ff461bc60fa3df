//! A result of the self-test.

use serde::Serialize;
use sixbench_method::terms::FrameRate;
use sixbench_method::units::show_rate;

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
}

impl SelftestResult {
    /// Returns the result of a measurement that sends no frames over links.
    pub(super) fn new(what: String, per_second: u64, unit: &'static str) -> Self {
        Self { what, per_second, unit, offered_load_error: None }
    }
}

/// Returns the results as lines of a table.
pub fn table(results: &[SelftestResult]) -> Vec<String> {
    let width = results.iter().map(|result| result.what.len()).max().unwrap_or(0);
    let line = |result: &SelftestResult| {
        let error = result.offered_load_error.map_or(String::new(), |e| format!("  (offered load off by {e:.1e})"));
        format!("{:<width$} {:>8} {}{error}", result.what, show_rate(FrameRate(result.per_second)), result.unit)
    };
    results.iter().map(line).collect()
}
