//! The profile of a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The profile of a run, by how near it comes to the RFCs' durations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// Less than a second a trial: shows that everything works and ranks roughly. Not conformant.
    Smoke,
    /// 10 s a trial: for work in progress. Not conformant.
    Draft,
    /// 60 s a trial, 20 repetitions: RFC 2544 section 24, RFC 8219 section 7.
    Rfc,
    /// Durations and repetitions as the plan file says.
    Custom,
}
