//! Drops the parts of trials that no report reads, so that a run of a million trials fits into memory: distributions of delays, except of the trials
//! whose figures show them; the tester's own cores; and what was watched, except in trials at the limit of a point. Counts and faults are always kept.

use crate::digest::PointDigest;
use crate::subject::anomalies::EXAMPLES;
use sixbench_method::bottleneck::TRIALS_AT_LIMIT;
use sixbench_method::measures::Outcome;
use sixbench_method::plan::{Plan, Point, SeriesBy, Test};
use sixbench_method::record::{
    CoreRole, DropPlace, Facts, SharedWatch, TrialRecord, Watch, by_point,
};
use sixbench_method::replay::by_outcome_point;
use sixbench_method::terms::{Direction, LossRatio};
use sixbench_method::trial::{DirectionDetails, Verdict};
use std::collections::{BTreeMap, BTreeSet};

/// Returns whether the unread parts of the trials can be dropped: not with results of several hosts, since each host is reported alone, with other
/// trials in the figures.
pub fn is_of_one_host(facts: &Facts) -> bool {
    let hosts: BTreeSet<&str> = facts.runs.iter().map(|part| part.host.as_str()).collect();
    facts.measured_on.is_empty() && hosts.len() <= 1
}

/// Drops the parts of a trial that no report reads, and the distributions of its delays; those of [`delay_trials`] are restored later.
pub fn drop_unread(record: &mut TrialRecord) {
    for direction in &mut record.result.directions {
        if !direction.delays.is_empty() {
            direction.change_details(|details| DirectionDetails {
                delays: Vec::new(),
                ..details
            });
        }
    }
    record.result.directions = exact(&mut record.result.directions);
    record.result.faults.shrink_to_fit();
    if let Some(watch) = &mut record.watch {
        watch.cores.retain(|core| core.role == CoreRole::Dut);
        watch
            .cores
            .iter_mut()
            .for_each(|core| core.samples.shrink_to_fit());
        watch.cores.shrink_to_fit();
        watch.kernel_memory.shrink_to_fit();
        watch.memory.shrink_to_fit();
        watch.waited_us.shrink_to_fit();
        // The loss that others did not cause is in the counts of the directions.
        watch.held_us = Vec::new();
    }
}

/// Returns the items in a new allocation of exact size: shrinking the old one in place would leave a gap too small for the next.
fn exact<T>(of: &mut Vec<T>) -> Vec<T> {
    let mut exact = Vec::with_capacity(of.len());
    exact.append(of);
    exact
}

/// The trials of searches whose watches and lost frames reports still read: at each point the few highest loads that passed and the few lowest that
/// lost, which show the cause of the limit. Replaying a repetition reads only its own trials, before they are added here.
#[derive(Default)]
pub struct TrialsAtLimits {
    /// Their indices in the records, by point.
    of: BTreeMap<Point, BTreeSet<usize>>,
    /// The examples of wrong frames that were kept for each point.
    examples: BTreeMap<Point, BTreeSet<(Direction, String)>>,
    /// The parts that remain of the watches of all other trials. Only a few are different, so trials share them.
    remaining: BTreeMap<(u64, bool, Vec<u64>), SharedWatch>,
}

impl TrialsAtLimits {
    /// Adds a replayed repetition whose trials are those in `records` from index `from` on. Drops what is no longer read of its trials, and of the
    /// trials of earlier repetitions of its point.
    pub fn add(&mut self, plan: &Plan, records: &mut [TrialRecord], from: usize) {
        let Some(first) = records.get(from) else {
            return;
        };
        let Some(test) = plan
            .test(&first.point.test)
            .filter(|test| is_plain_search(test))
        else {
            return;
        };
        let (point, is_alone) = (
            first.point.clone(),
            is_read_by_repetition(test, &records[from..]),
        );
        let earlier = if is_alone {
            BTreeSet::new()
        } else {
            self.of.remove(&point).unwrap_or_default()
        };
        records[from..]
            .iter_mut()
            .for_each(|record| self.drop_examples(record));
        let places: Vec<usize> = earlier.into_iter().chain(from..records.len()).collect();
        let read = at_limits(plan, test, records, &places);
        for place in places.into_iter().filter(|place| !read.contains(place)) {
            self.drop_watched(&mut records[place]);
        }
        if !is_alone {
            self.of.insert(point, read);
        }
    }

    /// Drops the examples of wrong frames in a trial if its point already has as many as reports show.
    fn drop_examples(&mut self, record: &mut TrialRecord) {
        if record
            .result
            .directions
            .iter()
            .all(|direction| direction.examples.is_empty())
        {
            return;
        }
        let told = self.examples.entry(record.point.clone()).or_default();
        for direction in &mut record.result.directions {
            if told.len() < EXAMPLES {
                told.extend(
                    direction
                        .examples
                        .iter()
                        .map(|example| (direction.direction, example.clone())),
                );
            } else {
                direction.change_details(|of| DirectionDetails {
                    examples: Vec::new(),
                    ..of
                });
            }
        }
    }

    /// Drops what was watched in a trial, and where its losses were, except what concerns the trial as a whole.
    fn drop_watched(&mut self, record: &mut TrialRecord) {
        // Wrong frames, ICMP errors, ramps and the frames of each size are reported for every trial.
        let rest = |of: DirectionDetails| {
            let DirectionDetails {
                wrong_fields,
                examples,
                icmp_errors,
                other_icmp_errors,
                lost_undisturbed,
                ramp,
                sizes,
                ..
            } = of;
            DirectionDetails {
                wrong_fields,
                examples,
                icmp_errors,
                other_icmp_errors,
                lost_undisturbed,
                ramp,
                sizes,
                ..DirectionDetails::default()
            }
        };
        record
            .result
            .directions
            .iter_mut()
            .for_each(|direction| direction.change_details(rest));
        let Some(watch) = &record.watch else { return };
        let &Watch {
            interval_ns,
            polling,
            ref round_trips_ns,
            ..
        } = &**watch;
        let remaining = || Watch {
            interval_ns,
            polling,
            round_trips_ns: round_trips_ns.clone(),
            ..Watch::default()
        };
        let shared = self
            .remaining
            .entry((interval_ns, polling, round_trips_ns.clone()));
        let shared = shared.or_insert_with(|| remaining().into()).clone();
        record.watch = Some(shared);
    }
}

/// Returns whether reports only look at the limits of a search: a search for the throughput of a stateless device.
fn is_plain_search(test: &Test) -> bool {
    test.measure.is_throughput() && test.stateful.is_none()
}

/// Returns whether reports look at the limits of each repetition of a test: they show the idle time for each of several devices, and for each step of a
/// series over cores.
fn is_read_by_repetition(test: &Test, trials: &[TrialRecord]) -> bool {
    let has_devices = |record: &TrialRecord| {
        record
            .watch
            .as_ref()
            .is_some_and(|watch| !watch.devices.is_empty())
    };
    test.series
        .as_ref()
        .is_some_and(|series| series.by == SeriesBy::Cores)
        || trials.iter().any(has_devices)
}

/// Returns those of these ascending indices whose trials show the cause of the limit, for any goal of the test.
fn at_limits(
    plan: &Plan,
    test: &Test,
    records: &[TrialRecord],
    places: &[usize],
) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    for goal in test
        .loss_goals(plan)
        .iter()
        .copied()
        .chain([LossRatio::ZERO])
    {
        let with = |verdict| {
            let is_of = |place: &usize| records[*place].result.verdict(goal) == verdict;
            let mut places: Vec<usize> = places.iter().copied().filter(is_of).collect();
            places.sort_by_key(|place| records[*place].result.spec.rate);
            places
        };
        let (passed, lost, invalid) = (
            with(Verdict::Passed),
            with(Verdict::Lost),
            with(Verdict::Invalid),
        );
        let has_bins = |place: &&usize| {
            records[**place]
                .result
                .directions
                .iter()
                .any(|of| !of.lost_by_bin.is_empty())
        };
        found.extend(passed.iter().rev().take(TRIALS_AT_LIMIT));
        found.extend(
            lost.iter()
                .take(TRIALS_AT_LIMIT)
                .chain(lost.iter().find(has_bins)),
        );
        // Refusals by the device's connection table are reported for invalid trials, too.
        found.extend(
            invalid
                .iter()
                .filter(|place| has_refusals(&records[**place])),
        );
    }
    found
}

fn has_refusals(record: &TrialRecord) -> bool {
    record.watch.as_ref().is_some_and(|watch| {
        watch
            .drops
            .iter()
            .any(|drops| drops.place == DropPlace::Conntrack)
    })
}

/// Returns the indices of the trials whose distributions of delays the figures show: at most one for each point.
pub fn delay_trials(plan: &Plan, records: &[TrialRecord], outcomes: &[Outcome]) -> Vec<usize> {
    let (mut by_point, mut outcomes) = (by_point(records), by_outcome_point(outcomes));
    let points = plan
        .tests
        .iter()
        .flat_map(|test| test.points().map(move |point| (test, point)));
    let shown = points.filter_map(|(test, point)| {
        let (of_point, of_outcomes) = (
            by_point.remove(&point).unwrap_or_default(),
            outcomes.remove(&point).unwrap_or_default(),
        );
        let digest = PointDigest::new(plan, test, point, of_point, of_outcomes);
        digest.trial_of_delays(digest.first_goal())
    });
    let shown: BTreeSet<*const TrialRecord> = shown.map(std::ptr::from_ref).collect();
    let is_shown = |record: &TrialRecord| shown.contains(&std::ptr::from_ref(record));
    records
        .iter()
        .enumerate()
        .filter(|(_, record)| is_shown(record))
        .map(|(place, _)| place)
        .collect()
}
