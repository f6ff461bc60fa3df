//! Computes how many subscribers the devices of a stored run can serve.

use crate::error::RunError;
use crate::results::store::{StoreError, load};
use serde_json::Value;
use sixbench_analysis::dimension::{SubscriberTraffic, dimension};
use sixbench_method::replay::replay;
use sixbench_report::dimension as words;
use std::path::Path;

/// Returns the number of subscribers that each device of a results directory can serve, as text for a terminal of `width` columns and as JSON.
///
/// # Errors
/// There are no results, or none of their records match the plan.
pub fn dimensioned(
    directory: &Path,
    traffic: &SubscriberTraffic,
    width: usize,
) -> Result<(String, Value), RunError> {
    let stored = load(directory)?;
    let replayed = replay(&stored.plan, &stored.records);
    if let Some(mismatch) = replayed
        .mismatches
        .first()
        .filter(|_| replayed.finished.is_empty())
    {
        return Err(StoreError::Mismatch {
            directory: directory.to_owned(),
            source: Box::new(mismatch.clone()),
        }
        .into());
    }
    let estimates = dimension(
        traffic,
        &stored.plan,
        &stored.records,
        &replayed.finished,
        &stored.facts,
    );
    Ok((
        words::describe(traffic, &stored.plan, &estimates, width),
        words::json(traffic, &estimates),
    ))
}
