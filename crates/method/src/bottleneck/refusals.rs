//! What the device itself says of the frames that it did not deliver: ICMP errors, and the counters of its kernel.
//!
//! # Where the counts come from
//!
//! What a device itself says of a loss is recorded with the trial. `engine::frames::verify::foreign` decodes ICMP errors among the frames that do not belong to the
//! trial, and `engine::frames::tally` counts them by kind and source in constant memory, for the direction of the frames that they quote: they arrive where the opposite
//! direction is received, so `engine::frames::outcome` exchanges them. Counters of the device's kernel (rules of netfilter, IP, interfaces) are read by
//! `testbed::monitor::LossCounters`, by one script in a namespace, in a virtual machine and over ssh, and never while frames are sent: after a trial in which a
//! tenth of a direction is missing, and before the first trial after any loss. `bottleneck::refusals` ranks both, and takes them for the cause of a limit
//! if they explain half of what is missing.

use super::{losses, rate, with};
use crate::record::{LossCounter, LossSource, TrialRecord};
use crate::terms::{Direction, LossRatio};
use crate::trial::{DirectionResult, Verdict};
use crate::watch::cause::{Bottleneck, Cause};
use schemars::JsonSchema;
use serde::Serialize;
use std::cmp::Reverse;

/// Largest number of refusals of a trial that are reported.
const MOST: usize = 6;

/// One of the reasons for which a device did not deliver frames, in its own words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DeliveryRefusal {
    /// The direction of the frames; `None` where a counter of the device does not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
    /// Frames that it is about, in the losing trial at the lowest load.
    pub frames: u64,
    /// Frames that were offered in that trial, in this direction or in all.
    pub offered: u64,
    /// Frames of these that were not received.
    pub missing: u64,
    /// A sentence with the number, without a full stop.
    pub sentence: String,
    /// What the device says, without a number.
    pub what: String,
    /// What to change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
    /// True if a network card of the device counted the frames: then they say where the device was too slow, and not that it refused them.
    #[serde(skip)]
    pub is_at_port: bool,
    /// True if that card's counter is one of what the cable did to frames.
    #[serde(skip)]
    pub is_of_the_cable: bool,
}

/// Returns what the device said in the losing trial at the lowest load in which it said anything, the most frequent first. Without one, an invalid trial
/// is read: the device may have refused everything while the tester fell short.
pub fn refusals(records: &[&TrialRecord], goal: LossRatio) -> Vec<DeliveryRefusal> {
    let trials = [Verdict::Lost, Verdict::Invalid]
        .into_iter()
        .flat_map(|verdict| with(records, goal, verdict));
    trials
        .map(of_trial)
        .find(|said| !said.is_empty())
        .unwrap_or_default()
}

/// Returns what the device said in a trial, the most frequent first.
pub fn of_trial(record: &TrialRecord) -> Vec<DeliveryRefusal> {
    let answered = record.result.directions.iter().flat_map(of_direction);
    let mut said: Vec<DeliveryRefusal> = answered.chain(counted(record)).collect();
    said.sort_by_key(|refusal| Reverse(refusal.frames));
    said.truncate(MOST);
    said
}

/// Returns the ICMP errors about frames of a direction.
fn of_direction(result: &DirectionResult) -> impl Iterator<Item = DeliveryRefusal> {
    result
        .icmp_errors
        .iter()
        .filter(|errors| errors.quoting > 0)
        .map(|errors| DeliveryRefusal {
            direction: Some(result.direction),
            frames: errors.quoting,
            offered: result.offered,
            missing: result.not_received(),
            sentence: errors.sentence(result.offered),
            what: format!("answered with {errors}"),
            advice: errors.advice().map(str::to_owned),
            is_at_port: false,
            is_of_the_cable: false,
        })
}

/// Returns the counters that grew.
fn counted(record: &TrialRecord) -> Vec<DeliveryRefusal> {
    let offered = record
        .result
        .directions
        .iter()
        .map(|direction| direction.offered)
        .sum();
    let missing = record.result.not_received();
    let counters = record.watch.iter().flat_map(|watch| &watch.losses);
    let what = if losses::are_of_queries(&[record]) {
        "queries without a right answer"
    } else {
        "missing frames"
    };
    counters
        .map(|counter| DeliveryRefusal {
            direction: None,
            frames: counter.frames,
            offered,
            missing,
            sentence: format!("of {missing} {what}, {counter}"),
            what: counter.what(),
            advice: counter.advice().map(str::to_owned),
            is_at_port: counter.source == LossSource::Port,
            is_of_the_cable: counter.source == LossSource::Port
                && LossCounter::is_of_the_cable(counter.counter()),
        })
        .collect()
}

/// Returns the device's own words as the cause if they explain at least half of the frames that are missing in most of these trials.
pub(super) fn as_the_cause(lost: &[&TrialRecord]) -> Option<Bottleneck> {
    if losses::are_of_queries(lost) {
        return None;
    }
    most_explained(lost, false).map(|(_, evidence)| Bottleneck {
        cause: Cause::Refused,
        evidence,
    })
}

/// Returns the cause if a network card of the device counted at least half of the frames that are missing in most of these trials: the card or its driver
/// had no room for them, or the cable damaged them.
pub(super) fn at_a_port(lost: &[&TrialRecord]) -> Option<Bottleneck> {
    most_explained(lost, true).map(|(first, evidence)| Bottleneck {
        cause: if first.is_of_the_cable {
            Cause::Link
        } else {
            Cause::QueueOverflow
        },
        evidence,
    })
}

/// Returns the first refusal that explains at least half of the frames that are missing, if there is one for most of these trials, with its sentence: among
/// those of network cards, or among all others.
fn most_explained(lost: &[&TrialRecord], is_at_port: bool) -> Option<(DeliveryRefusal, String)> {
    let explained: Vec<DeliveryRefusal> = lost
        .iter()
        .filter_map(|record| {
            of_trial(record).into_iter().find(|refusal| {
                refusal.is_at_port == is_at_port
                    && refusal.missing > 0
                    && 2 * refusal.frames >= refusal.missing
            })
        })
        .collect();
    let are_most = 2 * explained.len() > lost.len();
    let first = explained.into_iter().next().filter(|_| are_most)?;
    let at = lost.first().map_or(0, |record| rate(record).0);
    let evidence = format!("at {at} frames/s {}", first.sentence);
    Some((first, evidence))
}
