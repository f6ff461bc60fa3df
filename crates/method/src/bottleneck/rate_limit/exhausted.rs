//! Queries that are answered at first, and then none for as long as the server is asked.

use super::evidence::{Bin, FEWEST_TRIALS, PatternLoads, bins};
use crate::record::TrialRecord;
use crate::terms::Direction;

/// Queries answered in one of the trials: the server worked.
const FEWEST_ANSWERED: f64 = 50.0;

/// The share of each trial at whose end nothing was answered.
const LEAST_SILENCE: f64 = 0.5;

/// Returns the sentence on the trials; `None` if one of them was answered in its second half, or none at its beginning.
pub(super) fn sentence(lost: &[&TrialRecord]) -> Option<String> {
    let loads = PatternLoads::spanning(lost.iter().map(|record| record.result.spec.rate))?;
    let answered: Option<Vec<f64>> = lost
        .iter()
        .map(|record| answered_at_first(&bins(record, Direction::Forward)))
        .collect();
    let answered = answered?;
    let most = answered.iter().copied().fold(0.0, f64::max);
    if !loads.is_wide() || answered.len() < FEWEST_TRIALS || most < FEWEST_ANSWERED {
        return None;
    }
    let silent = answered.iter().filter(|queries| **queries <= 1.0).count();
    let trials = answered.len();
    Some(format!(
        "consistent with a rate limit that also counts refused queries: in {trials} losing trials at {loads} queries/s, at most the first {most:.0} \
         queries were answered rightly and none of those after them; in {silent} of the trials none at all"
    ))
}

/// Returns the queries answered before the silence at the end of a trial; `None` if the silence is short, or if the queries before it were not all
/// answered.
fn answered_at_first(bins: &[Bin]) -> Option<f64> {
    let silent = bins.iter().rev().take_while(|bin| bin.is_silent()).count();
    let before = &bins[..bins.len() - silent];
    // The last of them may have been answered in part.
    let whole = before.split_last().map_or(before, |(_, whole)| whole);
    let is_at_first = whole.iter().all(|bin| bin.share() > 0.99);
    let is_long = silent as f64 >= LEAST_SILENCE * bins.len() as f64 && silent > 0;
    (is_at_first && is_long).then(|| before.iter().map(|bin| bin.passed).sum())
}
