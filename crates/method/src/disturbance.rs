//! Decides whether it was the device that ended a search. If the decisive trials show that something else used the device's processors, the rate
//! found is only a lower bound, and the limiting factor of the device is unknown.
//!
//! # Rules
//!
//! A trial that other work disturbed is repeated (`patience`). It is recorded with a mark that makes it invalid everywhere, and no procedure
//! learns from it, neither in the run nor in a replay. A trial that lost enough frames while nobody disturbed it has decided, whatever happened at other
//! times (`record::slices`), and one that lost none has passed. The engine records for how long its threads were ready and had no core, and the session adds the
//! time that the host took. Between two attempts the run waits until no other process uses the cores (`testbed::monitor::occupant`).
//!
//! The end of a search is judged again when its records are replayed (`disturbance`). If other processes had the DUT's processors in the
//! decisive trials, or the loss occurred at one moment while the processors had time to spare, the limit is neither the DUT's nor the tester's but
//! `Disturbed`, and every output shows the rate as a lower bound.
//!
//! The cause of a halt of some milliseconds can be found if the DUT consists of processes on this machine. The kernel counts how long they were ready to
//! run and waited for a core (`record::moment`). If they waited while frames were lost, other work had the core; the trial is invalid and is repeated. A
//! DUT that stops by itself (a signal, a page fault, a lock, a write to its disk) waits for no core. Its trial is lost and counts against it, as it
//! should. But such a halt at the end of a search says nothing about the DUT's throughput, so the rate is a lower bound if a lower load passed. A host
//! that takes the core too briefly for its counter of stolen time to move cannot be distinguished from this. If the DUT is the kernel, or on another machine, only
//! the shares of its cores are known, in samples of 100 ms. Time that the host of another machine takes from its cores (steal) counts like time that the
//! host of this machine takes.
//!
//! DNS queries and TCP connections are not excused by this rule. The monitor starts before a trial's first query by a time that is not recorded (a server
//! is probed, names are resolved), so the samples cannot be matched with the times at which lost queries were due. For TCP connections, the time of a
//! failure is not recorded at all. So queries lost at one moment count against the device, but if the search ended there the rate is a lower bound, as
//! above. For connections that failed at one moment, not even that is known.

use crate::bottleneck::{Bottleneck, Cause, explain};
use crate::measures::{LimitSigns, Outcome, Quantity};
use crate::record::TrialRecord;
use crate::search::{Bracket, Limit};
use crate::terms::LossRatio;
use crate::trial::{Fault, Verdict};

/// The share of disturbed trials above which a number may not be attributed to the device.
const DISTURBED_SHARE: f64 = 0.2;

/// The same for searches, which provide more evidence: a loss without any sign of a disturbance is doubtful only if most trials around it were
/// disturbed. Trials that were rerun because of a disturbance do not count. A search that starts near the median of the earlier ones has as few as
/// three trials.
const DISTURBED_SHARE_OF_SEARCHES: f64 = 0.5;

/// The share of the frames that others may have held up, above which the median of the delays and the smallest are no longer the device's.
const HELD_SHARE: f64 = 0.01;

/// The same for the 99.9th percentile and whatever else a few frames decide: half of the frames above it.
const HELD_SHARE_OF_TAIL: f64 = 0.0005;

/// Returns the bracket with the limit that the evidence in `records` allows; they are the trials of its repetition.
pub fn weighed(bracket: Bracket, records: &[&TrialRecord]) -> Bracket {
    let is_disturbed = match bracket.limit {
        // A trial that passed at the only load tried did so in spite of any disturbance.
        _ if bracket.lower.is_some() && bracket.lower == bracket.upper => false,
        Limit::Dut => is_doubtful(&bracket, records),
        Limit::Tester => was_kept_from_it(&bracket, records),
        Limit::Maximum | Limit::Disturbed => false,
    };
    Bracket {
        limit: if is_disturbed {
            Limit::Disturbed
        } else {
            bracket.limit
        },
        ..bracket
    }
}

/// Returns whether the loss at the upper bound may not be the device's: other work had its processors in that trial, in others at this load or in
/// most of the repetition, or all of the loss occurred at one moment while the processors had capacity to spare. A trial that lost enough while nobody
/// disturbed it leaves no doubt but the last.
fn is_doubtful(bracket: &Bracket, records: &[&TrialRecord]) -> bool {
    let (lost, disturbed) = at_upper_bound(bracket, records);
    // Loss at one moment in trials at every load is a property of the device, not an accident.
    let is_accident = bracket.lower.is_some() && accident(records, bracket.goal).is_some();
    let is_decided = |record: &&TrialRecord| record.result.is_loss_decided(bracket.goal);
    if lost.iter().any(is_decided) {
        return is_accident;
    }
    let is_excusable = lost.iter().any(|record| record.has_excusable_loss());
    let all_disturbed = records
        .iter()
        .filter(|record| record.is_disturbed())
        .count();
    is_excusable
        || (!disturbed.is_empty() && disturbed.len() >= lost.len())
        || all_disturbed as f64 > DISTURBED_SHARE_OF_SEARCHES * records.len() as f64
        || is_accident
}

/// Returns the incident on the machine that may explain the loss that limits these trials; `None` if the loss is the device's.
pub fn accident(records: &[&TrialRecord], goal: LossRatio) -> Option<Bottleneck> {
    explain(records, goal).filter(|found| {
        matches!(
            found.cause,
            Cause::Event | Cause::HostSteal | Cause::Disturbed
        )
    })
}

/// Returns the evidence in `records` on why the search for this goal ended with this bracket. The records are the trials of its repetition, except
/// those that were rerun because of a disturbance.
pub fn signs_of(bracket: &Bracket, goal: LossRatio, records: &[&TrialRecord]) -> LimitSigns {
    let is_last_loss = |record: &&&TrialRecord| {
        Some(record.result.spec.rate) == bracket.upper
            && record.result.verdict(goal) == Verdict::Lost
    };
    let last_loss = records.iter().rev().find(is_last_loss);
    LimitSigns {
        cause: (bracket.limit == Limit::Dut)
            .then(|| explain(records, goal))
            .flatten()
            .map(|found| found.cause),
        is_last_loss_an_accident: last_loss.map(|record| accident(&[record], goal).is_some()),
    }
}

/// Returns whether the tester could have offered the load of the upper bound if other processes had not used its core, or the device's.
fn was_kept_from_it(bracket: &Bracket, records: &[&TrialRecord]) -> bool {
    let is_invalid =
        |record: &&&TrialRecord| record.result.verdict(bracket.goal) == Verdict::Invalid;
    let invalid: Vec<_> = records
        .iter()
        .filter(|r| Some(r.result.spec.rate) == bracket.upper)
        .filter(is_invalid)
        .collect();
    let done_to_it = invalid
        .iter()
        .filter(|record| was_done_to_it(record, Verdict::Invalid))
        .count();
    2 * done_to_it > invalid.len()
}

/// Returns whether others disturbed a trial of this verdict, whatever became of it: it was made again for that reason, or other work had the cores of the
/// device or the tester for long enough to matter. All sentences on disturbed trials count by this rule.
pub fn disturbed(record: &TrialRecord, verdict: Verdict) -> bool {
    record.result.was_made_again() || record.is_disturbed() || was_done_to_it(record, verdict)
}

/// Returns whether others used the cores of the tester or the device for long enough to explain the failure of the trial.
pub(crate) fn was_done_to_it(record: &TrialRecord, verdict: Verdict) -> bool {
    let took_from_device = record.result.faults.iter().any(Fault::is_of_the_machine);
    match verdict {
        Verdict::Passed => false,
        Verdict::Lost => {
            (took_from_device || record.result.was_late_for_others()) && record.has_excusable_loss()
        }
        Verdict::Invalid if record.result.has_fault_of_its_own() => false,
        Verdict::Invalid => {
            record.result.was_late_for_others()
                || (took_from_device && !record.result.is_beyond_tester())
        }
    }
}

/// Returns the trials at the upper bound that lost frames, and those that were invalid because of a disturbance.
fn at_upper_bound<'a>(
    bracket: &Bracket,
    records: &[&'a TrialRecord],
) -> (Vec<&'a TrialRecord>, Vec<&'a TrialRecord>) {
    let there = || {
        records
            .iter()
            .copied()
            .filter(|record| Some(record.result.spec.rate) == bracket.upper)
    };
    let with =
        |verdict| there().filter(move |record| record.result.verdict(bracket.goal) == verdict);
    (
        with(Verdict::Lost).collect(),
        with(Verdict::Invalid)
            .filter(|record| record.is_disturbed())
            .collect(),
    )
}

/// Returns whether a number found in these trials, for which higher is better, is only a lower bound: other work used the device's processors in many
/// of the trials, or in one that lost frames.
pub fn makes_lower_bound(records: &[&TrialRecord]) -> bool {
    let disturbed: Vec<_> = records
        .iter()
        .filter(|record| record.is_disturbed())
        .collect();
    disturbed.len() as f64 > DISTURBED_SHARE * records.len() as f64
        || disturbed.iter().any(|record| {
            record.result.verdict(LossRatio::ZERO) == Verdict::Lost && record.has_excusable_loss()
        })
}

/// Returns whether others held the device up for so long that even the ranks of median and minimum of its delays may have moved. The trial is then made
/// again, as long as there is patience.
pub fn is_held_up(record: &TrialRecord) -> bool {
    record.held_share() > HELD_SHARE
}

/// Returns whether a value of a trial is only an upper bound of the device's: others held the device up for so long that it may be longer than it would
/// have been on processors of its own.
pub fn makes_upper_bound(quantity: Quantity, record: &TrialRecord) -> bool {
    use Quantity::{
        HighDelay, IpdvMaximum, MinimumDelay, Pdv, ResponseTime, ResponseTimeDeviation,
        TypicalLatency, WorstCaseLatency,
    };
    let of_rank = matches!(quantity, TypicalLatency | MinimumDelay);
    let of_few_frames = matches!(
        quantity,
        WorstCaseLatency | HighDelay | Pdv | IpdvMaximum | ResponseTime | ResponseTimeDeviation
    );
    (of_rank && is_held_up(record)) || (of_few_frames && record.held_share() > HELD_SHARE_OF_TAIL)
}

/// The searches of a run that other work spoilt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpoiltSearches {
    /// The number of searches that a disturbance ended.
    pub disturbed: usize,
    /// The number of all searches.
    pub all: usize,
}

/// Returns how many searches a disturbance ended, if that is more than half of all.
pub fn mostly_disturbed(outcomes: &[Outcome]) -> Option<SpoiltSearches> {
    let limits: Vec<Limit> = outcomes
        .iter()
        .filter_map(|outcome| Some(outcome.brackets.first()?.limit))
        .collect();
    let disturbed = limits
        .iter()
        .filter(|limit| **limit == Limit::Disturbed)
        .count();
    let all = limits.len();
    (2 * disturbed > all).then_some(SpoiltSearches { disturbed, all })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Point;
    use crate::record::{CoreRole, CoreWatch, CpuSample, FORMAT, Watch};
    use crate::terms::{Direction, FrameRate, FrameSize};
    use crate::trial::{DirectionResult, Fault, TrialResult, TrialSpec};

    #[test]
    fn a_few_milliseconds_of_the_host_in_every_trial_are_no_disturbance() {
        let mut records: Vec<TrialRecord> = (0..9)
            .map(|_| trial(10_000, 0, vec![Fault::CpuStolen { milliseconds: 9 }]))
            .collect();
        records.push(trial(
            20_000,
            10_000,
            vec![Fault::CpuStolen { milliseconds: 9 }],
        ));
        assert_eq!(limit(Limit::Dut, &records), Limit::Dut);
        assert!(records.iter().all(|record| !record.is_disturbed()));
        assert!(
            trial(10_000, 0, vec![Fault::CpuStolen { milliseconds: 51 }]).is_disturbed(),
            "more than 5 % of it"
        );
        assert!(
            trial(10_000, 90, vec![Fault::CpuStolen { milliseconds: 9 }]).is_disturbed(),
            "all of the loss may be its doing"
        );
    }

    fn trial(rate: u64, lost: u64, faults: Vec<Fault>) -> TrialRecord {
        let spec = TrialSpec::constant(FrameRate(rate), 1_000_000_000);
        let mut forward = DirectionResult::counted(Direction::Forward, rate, rate - lost);
        forward.lost_by_bin = vec![lost / 10; 10];
        let result = TrialResult::new(spec, vec![forward], faults);
        let point = Point {
            test: "t".to_owned(),
            frame_size: FrameSize(84),
        };
        TrialRecord {
            format: FORMAT,
            point,
            repetition: 1,
            trial: 1,
            load: None,
            started: String::new(),
            result,
            watch: None,
        }
    }

    #[test]
    fn a_run_is_mostly_disturbed_above_half_of_its_searches() {
        let ended_by = |limits: &[Limit]| -> Vec<Outcome> {
            let bracket = |limit| Bracket {
                goal: LossRatio::ZERO,
                lower: Some(FrameRate(1)),
                upper: None,
                limit,
                exceed_ratio: 0.0,
                conditional_throughput: None,
            };
            let point = Point {
                test: "t".to_owned(),
                frame_size: FrameSize(84),
            };
            let outcome = |limit| Outcome {
                point: point.clone(),
                repetition: 1,
                trials: 1,
                invalid: 0,
                load: None,
                signs: Default::default(),
                brackets: vec![bracket(limit)],
                values: vec![],
            };
            limits.iter().map(|limit| outcome(*limit)).collect()
        };
        assert_eq!(
            mostly_disturbed(&ended_by(&[Limit::Disturbed, Limit::Disturbed, Limit::Dut])),
            Some(SpoiltSearches {
                disturbed: 2,
                all: 3
            })
        );
        assert_eq!(
            mostly_disturbed(&ended_by(&[Limit::Disturbed, Limit::Dut])),
            None
        );
        assert_eq!(mostly_disturbed(&[]), None);
    }

    fn taken(milliseconds: u64) -> Vec<Fault> {
        vec![Fault::CpuTaken { milliseconds }]
    }

    fn limit(limit: Limit, records: &[TrialRecord]) -> Limit {
        let bound = |rate| Some(FrameRate(rate));
        let bracket = Bracket {
            goal: LossRatio::ZERO,
            lower: bound(10_000),
            upper: bound(20_000),
            limit,
            exceed_ratio: 0.0,
            conditional_throughput: None,
        };
        weighed(bracket, &records.iter().collect::<Vec<_>>()).limit
    }

    #[test]
    fn a_loss_all_along_an_undisturbed_trial_is_the_devices() {
        assert_eq!(
            limit(
                Limit::Dut,
                &[trial(10_000, 0, vec![]), trial(20_000, 1000, vec![])]
            ),
            Limit::Dut
        );
    }

    #[test]
    fn a_loss_of_which_others_may_have_caused_a_part_is_not_the_devices_limit() {
        let passed = || (0..9).map(|_| trial(10_000, 0, vec![]));
        let with = |record| passed().chain([record]).collect::<Vec<_>>();
        // 100 ms at 20,000 frames/s are 2,000 frames.
        assert_eq!(
            limit(Limit::Dut, &with(trial(20_000, 3000, taken(100)))),
            Limit::Disturbed
        );
        assert_eq!(
            limit(Limit::Dut, &with(trial(20_000, 10_000, taken(10)))),
            Limit::Dut,
            "200 of 10,000 change nothing"
        );
    }

    #[test]
    fn a_load_at_which_others_disturbed_as_often_as_frames_were_lost_is_no_limit() {
        let mut records: Vec<TrialRecord> = (0..9).map(|_| trial(10_000, 0, vec![])).collect();
        records.push(trial(20_000, 10_000, vec![]));
        assert_eq!(limit(Limit::Dut, &records), Limit::Dut);
        records.push(trial(20_000, 1000, taken(100)));
        assert_eq!(limit(Limit::Dut, &records), Limit::Disturbed);
    }

    #[test]
    fn a_repetition_that_was_mostly_disturbed_has_no_limit_of_the_device() {
        let mut records: Vec<TrialRecord> = (0..3).map(|_| trial(10_000, 0, taken(100))).collect();
        records.push(trial(20_000, 10_000, vec![]));
        assert_eq!(limit(Limit::Dut, &records), Limit::Disturbed);
    }

    #[test]
    fn a_loss_in_one_moment_is_an_accident() {
        let mut lossy = trial(20_000, 50, vec![]);
        lossy.result.directions[0].lost_by_bin = vec![0, 0, 0, 30, 20, 0, 0, 0, 0, 0];
        lossy.watch = Some(idle().into());
        assert_eq!(
            limit(Limit::Dut, &[trial(10_000, 0, vec![]), lossy.clone()]),
            Limit::Disturbed
        );
        let mut again = lossy.clone();
        again.result.directions[0].lost_by_bin = vec![0, 0, 0, 50, 0, 0, 0, 0, 0, 0];
        assert_eq!(
            limit(Limit::Dut, &[lossy, again]),
            Limit::Dut,
            "what recurs at the same time is a habit of the device"
        );
    }

    /// A host that takes a core for 6 ms loses 120 frames at 20,000 frames/s. The counter of stolen time has ticks of 10 ms, so it may show nothing,
    /// and the device's process did not wait for a core, because it had one all the time.
    #[test]
    fn a_core_that_the_host_took_for_less_than_a_tick_makes_a_lower_bound_and_no_fault() {
        let mut lossy = trial(20_000, 120, vec![]);
        lossy.result.directions[0].lost_by_bin = vec![0, 0, 0, 120, 0, 0, 0, 0, 0, 0];
        let mut watch = Watch {
            waited_us: vec![150; 10],
            process_ms: Some(300),
            ..idle()
        };
        assert_eq!(
            (watch.stolen_ms(0), watch.taken_where_lost_ms(&lossy.result)),
            (0, None)
        );
        lossy.watch = Some(watch.clone().into());
        assert_eq!(
            lossy.result.verdict(LossRatio::ZERO),
            Verdict::Lost,
            "nothing excuses it"
        );
        assert_eq!(
            accident(&[&lossy], LossRatio::ZERO).map(|found| found.cause),
            Some(Cause::Event)
        );
        assert_eq!(
            limit(Limit::Dut, &[trial(10_000, 0, vec![]), lossy.clone()]),
            Limit::Disturbed
        );
        let nothing_passed = Bracket {
            goal: LossRatio::ZERO,
            lower: None,
            upper: Some(FrameRate(20_000)),
            limit: Limit::Dut,
            exceed_ratio: 0.0,
            conditional_throughput: None,
        };
        assert_eq!(
            weighed(nothing_passed, &[&lossy]).limit,
            Limit::Dut,
            "nor is there anything that it would be a bound of"
        );
        // If a tick falls within the theft, it is counted as stolen, and the trial is rerun.
        watch.cores[0].samples[3].steal = 100;
        let faults = vec![Fault::CpuStolen {
            milliseconds: watch.stolen_ms(0),
        }];
        assert_eq!(
            TrialResult {
                faults,
                ..lossy.result
            }
            .verdict(LossRatio::ZERO),
            Verdict::Invalid
        );
    }

    #[test]
    fn a_few_frames_lost_here_and_there_are_the_devices() {
        for bins in [
            vec![2],
            vec![1, 0, 0, 0, 0, 0, 0, 0, 0, 1],
            vec![3, 0, 0, 0, 0, 2],
            vec![0, 0, 40, 0, 0, 0, 0, 45, 0, 0],
        ] {
            let mut lossy = trial(20_000, bins.iter().sum(), vec![]);
            lossy.result.directions[0].lost_by_bin =
                bins.into_iter().chain([0; 10]).take(10).collect();
            lossy.watch = Some(idle().into());
            assert_eq!(
                limit(Limit::Dut, &[trial(10_000, 0, vec![]), lossy]),
                Limit::Dut
            );
        }
    }

    #[test]
    fn a_device_that_loses_in_a_moment_at_every_load_passes_nothing() {
        let mut lossy = trial(20_000, 50, vec![]);
        lossy.result.directions[0].lost_by_bin = vec![0, 0, 0, 50, 0, 0, 0, 0, 0, 0];
        lossy.watch = Some(idle().into());
        let bracket = Bracket {
            goal: LossRatio::ZERO,
            lower: None,
            upper: Some(FrameRate(20_000)),
            limit: Limit::Dut,
            exceed_ratio: 0.0,
            conditional_throughput: None,
        };
        assert_eq!(weighed(bracket, &[&lossy]).limit, Limit::Dut);
    }

    #[test]
    fn a_burst_that_was_lost_while_others_had_the_processors_is_a_lower_bound() {
        let passed = trial(10_000, 0, vec![]);
        let all: Vec<&TrialRecord> = vec![&passed; 9];
        assert!(!makes_lower_bound(&all));
        let lossy = trial(20_000, 3000, taken(100));
        assert!(makes_lower_bound(&[&all[..], &[&lossy]].concat()));
        let plain = trial(20_000, 10_000, taken(10));
        assert!(!makes_lower_bound(&[&all[..], &[&plain]].concat()));
    }

    /// Returns the record of a DUT core with capacity to spare.
    fn idle() -> Watch {
        let samples = vec![
            CpuSample {
                idle: 700,
                softirq: 300,
                ..CpuSample::default()
            };
            10
        ];
        let cores = vec![CoreWatch {
            core: 1,
            role: CoreRole::Dut,
            samples,
        }];
        Watch {
            interval_ns: 100_000_000,
            cores,
            ..Watch::default()
        }
    }

    #[test]
    fn what_others_kept_the_tester_from_is_not_the_testers_limit() {
        let disturbed = || trial(20_000, 1000, taken(500));
        assert_eq!(
            limit(Limit::Tester, &[disturbed(), disturbed(), disturbed()]),
            Limit::Disturbed
        );
        let stalled = || Fault::SenderStalled {
            direction: Direction::Forward,
            worst_lateness_ns: 1,
            frames: 5000,
        };
        let own = || trial(20_000, 1000, vec![stalled()]);
        assert_eq!(
            limit(Limit::Tester, &[own(), own(), disturbed()]),
            Limit::Tester
        );
        let mut slow = disturbed();
        slow.result.directions[0].intended += 5000;
        assert_eq!(
            limit(Limit::Tester, &[slow]),
            Limit::Tester,
            "it could not offer the load either"
        );
    }
}
