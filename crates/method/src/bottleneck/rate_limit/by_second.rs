//! The same number in each second, and then nothing, or a share, until the next second begins.

use super::evidence::{Bin, PatternLoads, bins, noun};
use crate::record::TrialRecord;
use crate::terms::{Direction, FrameRate};
use crate::units::part_of;
use sixbench_stats::median;

/// The largest share of a bin that passes once the number of a second is used up. Unbound passes one query in ten then (`ip-ratelimit-factor`).
const LARGEST_SHARE_BEYOND: f64 = 0.25;

/// The smallest number of a second: of fewer, the same number may be an accident.
const SMALLEST_NUMBER: f64 = 100.0;

/// The share by which a number may differ from their median: where one in ten passes beyond them, which of them is drawn by lot.
const LARGEST_SPREAD: f64 = 0.1;

/// The share of the numbers that must be near their median. A server that was kept from its processor at the end of a second answers a part in the next.
const LEAST_NEAR: f64 = 0.75;

/// The fewest seconds near the median that make a pattern.
const FEWEST_SECONDS: usize = 3;

/// What passed at the beginnings of seconds within a trial, and the share of the rest.
struct Seconds {
    load: FrameRate,
    numbers: Vec<f64>,
    share_beyond: f64,
}

/// Returns the sentence on the first direction with such a pattern; `None` if there is none.
pub(super) fn sentence(lost: &[&TrialRecord]) -> Option<String> {
    let directions = [Direction::Forward, Direction::Reverse];
    directions.into_iter().find_map(|direction| {
        let found: Vec<Seconds> = lost
            .iter()
            .filter_map(|record| seconds(record.result.spec.rate, &bins(record, direction)))
            .collect();
        of_trials(&found, noun(lost))
    })
}

fn of_trials(trials: &[Seconds], noun: &str) -> Option<String> {
    let numbers: Vec<f64> = trials.iter().flat_map(|of| of.numbers.clone()).collect();
    let usual = median(&numbers)?;
    let (low, high) = (
        (1.0 - LARGEST_SPREAD) * usual,
        (1.0 + LARGEST_SPREAD) * usual,
    );
    let is_near = |number: &f64| (low..=high).contains(number);
    let near = numbers.iter().filter(|number| is_near(number)).count();
    let with_near = trials.iter().filter(|of| of.numbers.iter().any(is_near));
    let loads = PatternLoads::spanning(with_near.clone().map(|of| of.load))?;
    let are_most = near as f64 >= LEAST_NEAR * numbers.len() as f64;
    if usual < SMALLEST_NUMBER || near < FEWEST_SECONDS || !are_most || !loads.is_wide() {
        return None;
    }
    let beyond = trials.iter().map(|of| of.share_beyond).sum::<f64>() / trials.len() as f64;
    Some(format!(
        "consistent with a limit of about {usual:.0} {noun} in each second: in {} losing trials at {loads} {noun}/s, {low:.0} to {high:.0} passed in a \
         row {}, and {:.0} % of those after them",
        with_near.count(),
        part_of(near, numbers.len(), "time"),
        100.0 * beyond,
    ))
}

/// Returns what passed between two times in which little did, each of which shows that a second had ended; `None` if there is no such time.
fn seconds(load: FrameRate, bins: &[Bin]) -> Option<Seconds> {
    let mut beyond: Vec<f64> = bins.iter().map(|bin| bin.share()).collect();
    beyond.retain(|share| *share <= LARGEST_SHARE_BEYOND);
    beyond.sort_by(f64::total_cmp);
    // The bins beside a row passed a part of it. They are the fewer ones, so the median is not one of them.
    let share_beyond = *beyond.get(beyond.len() / 2)?;
    let mut numbers = Vec::new();
    let mut start = None;
    for at in 1..bins.len() {
        if is_beyond(bins[at - 1]) && !is_beyond(bins[at]) {
            start = Some(at - 1);
        }
        if let Some(first) = start.filter(|_| is_beyond(bins[at])) {
            numbers.push(number(&bins[first..=at], share_beyond));
            start = None;
        }
    }
    (!numbers.is_empty()).then_some(Seconds {
        load,
        numbers,
        share_beyond,
    })
}

/// Returns whether so little passed that the number of the second was used up.
fn is_beyond(bin: Bin) -> bool {
    bin.share() <= LARGEST_SHARE_BEYOND
}

/// Returns what passed in these bins without the share that would have passed anyway.
fn number(bins: &[Bin], share_beyond: f64) -> f64 {
    let passed: f64 = bins.iter().map(|bin| bin.passed).sum();
    let offered: f64 = bins.iter().map(|bin| bin.offered).sum();
    (passed - share_beyond * offered) / (1.0 - share_beyond)
}
