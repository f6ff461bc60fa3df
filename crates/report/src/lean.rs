//! What a report does not read of a trial, so that a run of a million of them fits into memory: distributions of delays but for the trials whose
//! figures show them, the tester's own cores, and what was watched while a search was far from its result. Counts and faults always stay.

use crate::digest::PointDigest;
use sixbench_method::bottleneck::{NEAR_LIMIT, TRIALS_AT_LIMIT};
use sixbench_method::measures::Outcome;
use sixbench_method::plan::{Plan, Test};
use sixbench_method::record::{CoreRole, Facts, TrialRecord, Watch, by_point};
use sixbench_method::replay::by_outcome_point;
use sixbench_method::terms::LossRatio;
use sixbench_method::trial::Verdict;
use std::collections::BTreeSet;

/// Returns whether the trials of a run can do without what no report reads of them: results of several hosts are reported for each host alone, with
/// other trials in the figures.
pub fn is_of_one_host(facts: &Facts) -> bool {
    let hosts: BTreeSet<&str> = facts.runs.iter().map(|part| part.host.as_str()).collect();
    facts.measured_on.is_empty() && hosts.len() <= 1
}

/// Drops what no report reads of any trial, and the distributions of its delays, which those of [`delay_trials`] get back.
pub fn drop_unread(record: &mut TrialRecord) {
    for direction in &mut record.result.directions {
        direction.delays = Vec::new();
        direction.lost_by_bin.shrink_to_fit();
    }
    record.result.directions.shrink_to_fit();
    record.result.faults.shrink_to_fit();
    if let Some(watch) = &mut record.watch {
        watch.cores.retain(|core| core.role == CoreRole::Dut);
        watch.cores.iter_mut().for_each(|core| core.samples.shrink_to_fit());
        watch.cores.shrink_to_fit();
        watch.kernel_memory.shrink_to_fit();
        watch.memory.shrink_to_fit();
        watch.round_trips_ns.shrink_to_fit();
        watch.waited_us.shrink_to_fit();
    }
}

/// Drops what was watched in those of these trials that say nothing of the limit: they are trials of one repetition that follow each other. All that
/// reports ask for is among the few highest loads that passed and the few lowest that lost, of any part of the trials.
pub fn drop_unread_of_search(plan: &Plan, trials: &mut [TrialRecord]) {
    let Some(test) = trials.first().and_then(|first| plan.test(&first.point.test)) else { return };
    if !is_plain_search(test) {
        return;
    }
    let read = read_at_limits(plan, test, trials);
    for (place, record) in trials.iter_mut().enumerate() {
        if let Some(watch) = record.watch.as_mut().filter(|_| !read.contains(&place)) {
            *watch = unwatched(watch);
        }
    }
}

/// Returns whether only the limits of a search are looked at: one for the throughput of a device that keeps no connections.
fn is_plain_search(test: &Test) -> bool {
    test.measure.is_throughput() && test.stateful.is_none()
}

/// Returns the places of the trials that may say why a limit is one, by any goal of the test, among all trials and among those that were not made
/// again; invalid ones always may.
fn read_at_limits(plan: &Plan, test: &Test, trials: &[TrialRecord]) -> BTreeSet<usize> {
    let mut read = BTreeSet::new();
    for goal in test.loss_goals(plan).iter().copied().chain([LossRatio::ZERO]) {
        for counted_only in [false, true] {
            let of = |verdict| {
                let is_of = |record: &TrialRecord| {
                    record.result.verdict(goal) == verdict && !(counted_only && record.result.was_made_again())
                };
                let mut places: Vec<usize> = (0..trials.len()).filter(|place| is_of(&trials[*place])).collect();
                places.sort_by_key(|place| trials[*place].result.spec.rate);
                places
            };
            let rate = |place: usize| trials[place].result.spec.rate.0 as f64;
            read.extend(of(Verdict::Invalid));
            read.extend(of(Verdict::Passed).into_iter().rev().take(TRIALS_AT_LIMIT));
            let lost = of(Verdict::Lost);
            let near = lost.first().map_or(0.0, |lowest| NEAR_LIMIT * rate(*lowest));
            read.extend(
                lost.into_iter().enumerate().filter(|(n, place)| *n < TRIALS_AT_LIMIT || rate(*place) <= near).map(|(_, p)| p),
            );
        }
    }
    read
}

/// What remains of a watch: what is known of the trial as a whole.
fn unwatched(watch: &mut Watch) -> Watch {
    Watch {
        interval_ns: watch.interval_ns,
        process_ms: watch.process_ms,
        polling: watch.polling,
        others_ms: watch.others_ms,
        round_trips_ns: std::mem::take(&mut watch.round_trips_ns),
        ..Watch::default()
    }
}

/// Returns the places in the records of the trials whose distributions of delays the figures show: at most one for each point.
pub fn delay_trials(plan: &Plan, records: &[TrialRecord], outcomes: &[Outcome]) -> Vec<usize> {
    let (mut by_point, mut outcomes) = (by_point(records), by_outcome_point(outcomes));
    let points = plan.tests.iter().flat_map(|test| test.points().map(move |point| (test, point)));
    let shown = points.filter_map(|(test, point)| {
        let (of_point, of_outcomes) =
            (by_point.remove(&point).unwrap_or_default(), outcomes.remove(&point).unwrap_or_default());
        let digest = PointDigest::new(plan, test, point, of_point, of_outcomes);
        digest.trial_of_delays(digest.first_goal())
    });
    let shown: BTreeSet<*const TrialRecord> = shown.map(std::ptr::from_ref).collect();
    let is_shown = |record: &TrialRecord| shown.contains(&std::ptr::from_ref(record));
    records.iter().enumerate().filter(|(_, record)| is_shown(record)).map(|(place, _)| place).collect()
}
