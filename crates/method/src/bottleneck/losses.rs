//! The places and times of frame losses.

use crate::record::{DropPlace, Drops, TrialRecord};
use crate::trial::{LOSS_BIN_NS, TrialKind};
use crate::watch::cause::{Bottleneck, Cause};
use std::collections::BTreeMap;
use std::fmt;

/// Returns whether these trials count missing DNS queries. Drops at interfaces are frames even then.
pub(super) fn are_of_queries(trials: &[&TrialRecord]) -> bool {
    trials
        .iter()
        .any(|record| record.result.spec.kind == TrialKind::Queries)
}

/// Drops that the DUT's kernel counted, and the number of frames missing in the same trials.
pub(super) struct Dropped {
    places: Vec<(String, u64)>,
    missing: u64,
}

/// Returns the drops of these trials at interfaces, or `None` if none were counted.
pub(super) fn drops(trials: &[&TrialRecord]) -> Option<Dropped> {
    let at_interface = |drops: &Drops| drops.place != DropPlace::Conntrack;
    let (places, missing) = counted(trials, at_interface, |drops| {
        format!("{} ({})", drops.place, drops.way)
    });
    (!places.is_empty()).then_some(Dropped { places, missing })
}

/// Returns the kernel's counts in these trials by name, largest first, and the number of frames missing in them.
pub(super) fn counted(
    trials: &[&TrialRecord],
    is_wanted: fn(&Drops) -> bool,
    name: fn(&Drops) -> String,
) -> (Vec<(String, u64)>, u64) {
    let mut sums: BTreeMap<String, u64> = BTreeMap::new();
    let watched = trials
        .iter()
        .filter_map(|record| record.watch.as_deref())
        .flat_map(|watch| &watch.drops);
    for drops in watched.filter(|drops| is_wanted(drops)) {
        *sums.entry(name(drops)).or_default() += drops.samples.iter().sum::<u64>();
    }
    let mut sums: Vec<(String, u64)> = sums.into_iter().filter(|(_, frames)| *frames > 0).collect();
    sums.sort_by_key(|(_, frames)| std::cmp::Reverse(*frames));
    (
        sums,
        trials
            .iter()
            .map(|record| record.result.not_received())
            .sum(),
    )
}

impl Dropped {
    pub(super) fn are_most_of_the_missing(&self) -> bool {
        2 * self.places.iter().map(|(_, frames)| frames).sum::<u64>() >= self.missing
    }
}

impl fmt::Display for Dropped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let places: Vec<String> = self
            .places
            .iter()
            .map(|(place, frames)| format!("{frames} dropped at {place}"))
            .collect();
        write!(f, "{}, of {} missing", places.join(", "), self.missing)
    }
}

/// Returns the cause [`Cause::Event`] if, in most trials, nearly all losses occur at one moment, and this moment is not the same in all of them: a
/// loss that recurs at a fixed time is a property of the DUT. Returns `None` otherwise.
pub(super) fn event(trials: &[&TrialRecord]) -> Option<Bottleneck> {
    let moments: Vec<Moment> = trials.iter().filter_map(|record| moment(record)).collect();
    let is_habit = moments.len() > 1
        && moments
            .iter()
            .all(|moment| moment.at_ns == moments[0].at_ns);
    let first = moments
        .first()
        .filter(|_| 2 * moments.len() > trials.len() && !is_habit)?;
    let Moment {
        lost,
        missing,
        at_ns,
        of_ns,
    } = first;
    let noun = if are_of_queries(trials) {
        "queries"
    } else {
        "frames"
    };
    let evidence = format!(
        "in {} of {} trials; in the first, {lost} of {missing} missing {noun} were due around {:.1} s of {:.1} s",
        moments.len(),
        trials.len(),
        *at_ns as f64 / 1e9,
        *of_ns as f64 / 1e9
    );
    Some(Bottleneck {
        cause: Cause::Event,
        evidence,
    })
}

/// The moment of a trial at which nearly all missing frames were due.
struct Moment {
    lost: u64,
    missing: u64,
    at_ns: u64,
    of_ns: u64,
}

fn moment(record: &TrialRecord) -> Option<Moment> {
    /// The fewest bins that a trial must have for its losses to count as occurring at one moment.
    const BINS: usize = 8;
    /// The fewest missing frames; fewer may coincide by chance.
    const FRAMES: u64 = 20;
    let bins = bins(record);
    let missing: u64 = bins.iter().sum();
    // A moment may span two adjacent bins.
    let (at, lost) = bins
        .windows(2)
        .map(|pair| pair[0] + pair[1])
        .enumerate()
        .max_by_key(|(_, lost)| *lost)?;
    let is_moment = bins.len() >= BINS && missing >= FRAMES && lost as f64 >= 0.95 * missing as f64;
    let at = if bins[at] >= bins[at + 1] { at } else { at + 1 };
    is_moment.then_some(Moment {
        lost,
        missing,
        at_ns: at as u64 * LOSS_BIN_NS,
        of_ns: record.result.spec.duration_ns,
    })
}

/// Returns the missing frames by the time they were due, both directions together.
fn bins(record: &TrialRecord) -> Vec<u64> {
    let directions = record
        .result
        .directions
        .iter()
        .map(|direction| &direction.lost_by_bin);
    directions.fold(Vec::new(), |mut sums, bins| {
        sums.resize(sums.len().max(bins.len()), 0);
        sums.iter_mut()
            .zip(bins)
            .for_each(|(sum, lost)| *sum += lost);
        sums
    })
}
