//! Selects a run's part of a plan that several runs share.

use crate::error::selection::SelectionError;
use sixbench_method::campaign::{self, work_units};
use sixbench_method::plan::{Plan, Selection};
use std::fs;
use std::path::Path;

/// Parses a shard, `I/N`: part I of N, starting from 1.
///
/// # Errors
/// The expected format.
pub fn shard_of(text: &str) -> Result<(usize, usize), String> {
    let parts = text
        .split_once('/')
        .and_then(|(index, of)| Some((index.parse().ok()?, of.parse().ok()?)));
    let parts = parts.filter(|(index, of): &(usize, usize)| (1..=*of).contains(index));
    parts.ok_or_else(|| format!("expected I/N, part I of N parts, such as 2/4, not `{text}`"))
}

/// Returns the part of a plan that a run measures: a shard, the measurements in a file, or all of it.
///
/// # Errors
/// The file cannot be read or names measurements that are not in the plan, or there are more shards than parts.
pub fn selection(
    plan: &Plan,
    shard: Option<(usize, usize)>,
    measurements: Option<&Path>,
) -> Result<Selection, SelectionError> {
    match (shard, measurements) {
        (Some((index, shards)), _) => Ok(campaign::shard(plan, index, shards)?),
        (None, Some(file)) => {
            let text = fs::read_to_string(file).map_err(|error| SelectionError::NotRead {
                file: file.to_owned(),
                error,
            })?;
            campaign::read(plan, &text).map_err(|source| SelectionError::InFile {
                file: file.to_owned(),
                source,
            })
        }
        (None, None) => Ok(Selection::default()),
    }
}

/// Returns the parts of a plan that can be measured separately as JSON, with the keys of docs/RESULTS.md.
pub fn plan_json(plan: &Plan) -> String {
    let budget = sixbench_method::budget::estimate(plan);
    let parts = serde_json::json!({
        "plan": plan.name,
        "profile": plan.profile,
        "parts": work_units(plan),
        "trials": budget.trials,
        "seconds": budget.seconds,
    });
    format!("{parts:#}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shard_is_one_of_some() {
        assert_eq!(shard_of("2/4"), Ok((2, 4)));
        for wrong in ["", "2", "0/4", "5/4", "1/0", "a/4", "2/4/1", "-1/4"] {
            assert!(
                shard_of(wrong).unwrap_err().contains("such as 2/4"),
                "{wrong}"
            );
        }
    }
}
