//! One result of the self-test.

use serde::Serialize;

/// One result of the self-test.
#[derive(Serialize)]
pub struct SelftestResult {
    /// What was measured, and how.
    pub what: String,
    /// The rate, in `unit`.
    pub per_second: u64,
    /// The unit: frames/s, queries/s and so on.
    pub unit: &'static str,
    /// The relative error of the offered load in the best trial, where frames were sent over links.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offered_load_error: Option<f64>,
}

impl SelftestResult {
    /// Returns the result of something that sends no frames over links.
    pub(super) fn new(what: String, per_second: u64, unit: &'static str) -> Self {
        Self { what, per_second, unit, offered_load_error: None }
    }
}
