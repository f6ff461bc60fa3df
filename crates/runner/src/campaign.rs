//! What a run measures of its plan when several runs share it.

use sixbench_method::campaign::{self, CampaignError, work_units};
use sixbench_method::plan::{Plan, Selection};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// The reason why a part of a plan cannot be measured.
#[derive(Debug, thiserror::Error)]
// The message over each variant says what its fields are.
#[allow(missing_docs)]
pub enum SelectionError {
    /// The part does not exist, or cannot be measured apart.
    #[error(transparent)]
    Campaign(#[from] CampaignError),
    /// The file names measurements that are not of the plan, or cannot be measured apart.
    #[error("{}: {source}", file.display())]
    InFile { file: PathBuf, source: CampaignError },
    /// The file cannot be read.
    #[error("cannot read {}: {error}", file.display())]
    NotRead { file: PathBuf, error: io::Error },
}

/// Reads a shard, `I/N`: part I of N, from 1.
///
/// # Errors
/// Says what a shard looks like.
pub fn shard_of(text: &str) -> Result<(usize, usize), String> {
    let parts = text.split_once('/').and_then(|(index, of)| Some((index.parse().ok()?, of.parse().ok()?)));
    let parts = parts.filter(|(index, of): &(usize, usize)| (1..=*of).contains(index));
    parts.ok_or_else(|| format!("expected I/N, part I of N parts, such as 2/4, not `{text}`"))
}

/// Returns what a run measures of its plan: a shard, what a file names, or all of it.
///
/// # Errors
/// A file that cannot be read, or that names what is not of the plan; more shards than parts.
pub fn selection(plan: &Plan, shard: Option<(usize, usize)>, measurements: Option<&Path>) -> Result<Selection, SelectionError> {
    match (shard, measurements) {
        (Some((index, shards)), _) => Ok(campaign::shard(plan, index, shards)?),
        (None, Some(file)) => {
            let text = fs::read_to_string(file).map_err(|error| SelectionError::NotRead { file: file.to_owned(), error })?;
            campaign::read(plan, &text).map_err(|source| SelectionError::InFile { file: file.to_owned(), source })
        }
        (None, None) => Ok(Selection::default()),
    }
}

/// Returns the parts of a plan that can be measured apart as JSON, with the keys of docs/RESULTS.md.
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
            assert!(shard_of(wrong).unwrap_err().contains("such as 2/4"), "{wrong}");
        }
    }
}
