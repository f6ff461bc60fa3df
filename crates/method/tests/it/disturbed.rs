//! Searches on a machine where another program takes the device's core, or the tester's, for a part of every few seconds: the results of the run
//! command for a device of known capacity, with a virtual clock.

use sixbench_method::fixtures::plan;
use sixbench_method::measures::{Judgement, Outcome, TrialPurpose};
use sixbench_method::patience::Patience;
use sixbench_method::plan::{IpdvStream, Latency, Load, LossScan, Measure, PdvStream, Plan, Point};
use sixbench_method::record::{FORMAT, TrialRecord, Watch};
use sixbench_method::replay::{outcomes_of, resume};
use sixbench_method::search::{Bracket, Limit, SearchMethod};
use sixbench_method::status::InvalidCause;
use sixbench_method::terms::{Direction, FrameRate, LossRatio};
use sixbench_method::trial::{
    DirectionResult, Fault, LOSS_BIN_NS, Sending, TrialResult, TrialSpec, Verdict,
};
use sixbench_stats::SplitMix64;
use std::ops::Range;

const MS: u64 = 1_000_000;
const SECOND: u64 = 1000 * MS;

/// The core that the other program takes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Taken {
    Device,
    Tester,
}

/// A machine with a device of this capacity on which another program runs for `busy_ns` of every `period_ns`.
struct Machine {
    capacity: FrameRate,
    taken: Taken,
    period_ns: u64,
    busy_ns: u64,
    now_ns: u64,
    /// True if it is known at which times the other program held the device's core.
    has_moments: bool,
}

impl Machine {
    /// Returns whether the other program runs at `from_ns`, and for how long this does not change.
    fn until_change(&self, from_ns: u64) -> (bool, u64) {
        let place = from_ns % self.period_ns;
        if place < self.busy_ns {
            (true, self.busy_ns - place)
        } else {
            (false, self.period_ns - place)
        }
    }

    /// Performs a trial: frames for which the device had no core, beyond 20 ms of queue, are lost, and those for which the tester had none are sent
    /// late. A device that has been held up loses one of 200 frames until it has emptied its queue.
    fn measure(&mut self, spec: &TrialSpec) -> (TrialResult, Watch) {
        let mut lost_by_bin = vec![0; spec.duration_ns.div_ceil(LOSS_BIN_NS) as usize];
        let over = spec.rate.0.saturating_sub(self.capacity.0);
        for (bin, lost) in lost_by_bin.iter_mut().enumerate() {
            *lost = over * LOSS_BIN_NS.min(spec.duration_ns - bin as u64 * LOSS_BIN_NS) / SECOND;
        }
        let (mut taken_ns, mut longest_ns, mut late_at_end_ns) = (0, 0, 0);
        let mut at_ns = 0;
        while at_ns < spec.duration_ns {
            let (is_busy, change_ns) = self.until_change(self.now_ns + at_ns);
            let length_ns = change_ns.min(spec.duration_ns - at_ns);
            if is_busy {
                taken_ns += length_ns;
                longest_ns = longest_ns.max(length_ns);
                let is_last = at_ns + length_ns == spec.duration_ns;
                late_at_end_ns = if is_last { change_ns } else { 0 };
                if self.taken == Taken::Device {
                    self.lose(spec, at_ns..at_ns + length_ns, &mut lost_by_bin);
                }
            }
            at_ns += length_ns;
        }
        let watch = self.watch(spec);
        self.now_ns += spec.duration_ns + late_at_end_ns + 300 * MS;
        taken_ns += late_at_end_ns;
        let mut result = self.result(spec, lost_by_bin, (taken_ns, longest_ns, late_at_end_ns));
        if let Some(lost) = watch
            .lost_undisturbed(&result)
            .filter(|_| taken_ns > 0 && self.has_moments)
        {
            result.set_lost_undisturbed(lost);
        }
        (result, watch)
    }

    /// Adds what a device lost that had no core in this part of the trial, millisecond by millisecond.
    fn lose(&self, spec: &TrialSpec, held_ns: Range<u64>, lost_by_bin: &mut [u64]) {
        let rate = spec.rate.0.min(self.capacity.0);
        let mut add = |of: Range<u64>, frames_per_second: u64| {
            let milliseconds = of.start / MS..of.end.min(spec.duration_ns) / MS;
            for at in milliseconds {
                let sent = |until: u64| frames_per_second * until / 1000;
                lost_by_bin[(at * MS / LOSS_BIN_NS) as usize] += sent(at + 1) - sent(at);
            }
        };
        let spare = self.capacity.0.saturating_sub(spec.rate.0).max(1);
        let emptied_ns = 20 * MS * self.capacity.0 / spare;
        add(
            held_ns.end..held_ns.end.saturating_add(emptied_ns),
            rate / 200,
        );
        add(
            (held_ns.start + 20 * MS).min(held_ns.end)..held_ns.end,
            rate,
        );
    }

    /// Returns what a monitor sees that began to sample 230 ms before the trial.
    fn watch(&self, spec: &TrialSpec) -> Watch {
        let (interval_ns, lead_ns) = (100 * MS, 230 * MS);
        let held_us = |sample: u64| {
            let of_sample = (0..100).filter(|ms| {
                let at_ns = (self.now_ns + self.period_ns + sample * interval_ns + ms * MS)
                    .saturating_sub(lead_ns);
                self.taken == Taken::Device && self.until_change(at_ns).0
            });
            of_sample.count() as u64 * 1000
        };
        let samples = (lead_ns + spec.duration_ns) / interval_ns + 1;
        Watch {
            interval_ns,
            lead_ns: Some(lead_ns),
            held_us: (0..samples).map(held_us).collect(),
            ..Watch::default()
        }
    }

    fn result(
        &self,
        spec: &TrialSpec,
        lost_by_bin: Vec<u64>,
        (taken_ns, longest_ns, late_ns): (u64, u64, u64),
    ) -> TrialResult {
        let offered = spec.frames();
        // After a stall the tester sends all frames that are due at once, and a device without room for them loses them.
        let burst = if self.taken == Taken::Tester {
            spec.rate.frames_in(longest_ns.saturating_sub(20 * MS))
        } else {
            0
        };
        let lost = (lost_by_bin.iter().sum::<u64>() + burst).min(offered);
        let nominal_ns = spec.duration_ns;
        let sending = Sending {
            nominal_ns,
            took_ns: nominal_ns + late_ns,
            worst_lateness_ns: longest_ns,
            late_frames: burst,
        };
        let counted = DirectionResult::counted(Direction::Forward, offered, offered - lost);
        let mut forward = DirectionResult { sending, ..counted };
        forward.lost_by_bin = lost_by_bin;
        let direction = Direction::Forward;
        let mut faults = Vec::new();
        match self.taken {
            _ if taken_ns == 0 => {}
            Taken::Device => faults.push(Fault::CpuTaken {
                milliseconds: taken_ns / MS,
            }),
            Taken::Tester => {
                faults.push(Fault::SenderStalled {
                    direction,
                    worst_lateness_ns: longest_ns,
                    frames: burst,
                });
                faults.push(Fault::TesterKeptOff {
                    microseconds: taken_ns / 1000,
                });
                if late_ns > 0 {
                    faults.push(Fault::SentTooSlowly {
                        direction,
                        nominal_ns,
                        took_ns: nominal_ns + late_ns,
                    });
                }
            }
        }
        TrialResult::new(*spec, vec![forward], faults)
    }

    /// Waits until the other program pauses, but no longer than `most_ns`; returns the waiting time.
    fn wait(&mut self, most_ns: u64) -> u64 {
        let look_ns = 220 * MS;
        let began_ns = self.now_ns;
        while self.now_ns - began_ns < most_ns {
            let was_busy = self.until_change(self.now_ns).0;
            self.now_ns += look_ns;
            if !was_busy && !self.until_change(self.now_ns).0 {
                break;
            }
        }
        self.now_ns - began_ns
    }
}

/// Makes one repetition like the run command; returns its outcome and its trials.
fn repeat(plan: &Plan, machine: &mut Machine) -> (Outcome, Vec<TrialRecord>) {
    let point: Point = plan.tests[0].points().next().expect("a point");
    let (mut records, mut patience) = (Vec::new(), Patience::new(plan, &[]));
    let mut procedure = resume(plan, &point, 1, &records)
        .expect("nothing to replay")
        .procedure;
    while let Some(spec) = procedure.next_trial() {
        let (result, watch) = machine.measure(&spec);
        let mut record = record(&point, records.len() as u32 + 1, result);
        record.watch = Some(watch.into());
        let judgement = Judgement {
            purpose: TrialPurpose::Counts,
            ..procedure.judgement(&record.result)
        };
        if patience.excuse(&mut record, judgement) {
            patience.spend(machine.wait(patience.left_ns()));
        } else {
            procedure.learn(&record.result);
        }
        records.push(record);
    }
    (outcomes_of(plan, &point, &records).remove(0), records)
}

fn record(point: &Point, trial: u32, result: TrialResult) -> TrialRecord {
    let (point, started) = (point.clone(), String::new());
    TrialRecord {
        format: FORMAT,
        point,
        repetition: 1,
        trial,
        load: None,
        started,
        result,
        watch: None,
    }
}

/// Returns what a search says of a trial of which it is not known when it was disturbed.
fn undecided(verdict: Verdict) -> Judgement {
    Judgement {
        verdict,
        purpose: TrialPurpose::Counts,
        is_decided: false,
    }
}

/// Searches once; returns the bracket and the number of trials.
fn search(plan: &Plan, machine: &mut Machine) -> (Bracket, usize) {
    let (outcome, records) = repeat(plan, machine);
    (outcome.brackets[0], records.len())
}

/// Returns whether the bracket contains the capacity.
fn holds(bracket: &Bracket, capacity: FrameRate) -> bool {
    // A rate of less than one frame per tenth of a second is not detectable.
    let is_above = bracket.lower.is_none_or(|lower| lower.0 < capacity.0 + 10);
    is_above && (bracket.limit != Limit::Dut || bracket.upper.is_some_and(|upper| upper > capacity))
}

/// Returns a plan with trials of this length and one repetition, which searches to 1 %.
fn plan_of(duration_ns: u64) -> Plan {
    let mut plan = plan(SearchMethod::Binary, &[0.0]);
    (plan.trial.duration_ns, plan.search.width) = (duration_ns, 0.01);
    plan
}

/// Searches `count` times on devices of random capacity at random moments; returns the share of brackets that contain the capacity, the share limited
/// by the device, and the limits.
fn many(
    count: u64,
    duration_ns: u64,
    taken: Taken,
    [period_ns, busy_ns]: [u64; 2],
) -> (f64, f64, Vec<Limit>) {
    let mut random = SplitMix64::new(duration_ns ^ busy_ns);
    let plan = plan_of(duration_ns);
    let found: Vec<(bool, Limit)> = (0..count)
        .map(|_| {
            let capacity = FrameRate(20_000 + random.next_u64() % 900_000);
            let mut machine = Machine {
                capacity,
                taken,
                period_ns,
                busy_ns,
                now_ns: random.next_u64() % period_ns,
                has_moments: true,
            };
            let (bracket, _) = search(&plan, &mut machine);
            (holds(&bracket, capacity), bracket.limit)
        })
        .collect();
    let share = |is: &dyn Fn(&(bool, Limit)) -> bool| {
        found.iter().filter(|one| is(one)).count() as f64 / count as f64
    };
    (
        share(&|one| one.0),
        share(&|one| one.1 == Limit::Dut),
        found.iter().map(|one| one.1).collect(),
    )
}

#[test]
fn of_a_thousand_disturbed_searches_the_truth_is_in_97_of_100_and_none_is_the_testers_limit() {
    let (device, tester) = ([3 * SECOND, 1500 * MS], [SECOND, 300 * MS]);
    let all = [
        many(250, 750 * MS, Taken::Device, device),
        many(250, 200 * MS, Taken::Tester, tester),
        many(250, 2 * SECOND, Taken::Device, device),
        many(250, 2 * SECOND, Taken::Tester, tester),
    ];
    let held = all.iter().map(|one| one.0).sum::<f64>() / 4.0;
    assert!(held >= 0.97, "{:?}", all.each_ref().map(|one| one.0));
    assert!(
        all.iter().all(|one| !one.2.contains(&Limit::Tester)),
        "{:?}",
        all.each_ref().map(|one| &one.2[..9])
    );
    // If a trial fits between two disturbances, waiting finds the result; otherwise the result says that it was disturbed.
    assert!(
        all[0].1 > 0.9 && all[1].1 > 0.9,
        "{:?}",
        all.each_ref().map(|one| one.1)
    );
    assert!(
        all[2]
            .2
            .iter()
            .chain(&all[3].2)
            .any(|limit| *limit == Limit::Disturbed)
    );
}

#[test]
fn a_search_needs_fewer_trials_where_the_times_of_disturbances_are_known() {
    let plan = plan_of(750 * MS);
    let repeated = |has_moments| -> usize {
        let search = |seed: u64| {
            let mut machine = Machine {
                capacity: FrameRate(300_000),
                taken: Taken::Device,
                period_ns: 3 * SECOND,
                busy_ns: 1500 * MS,
                now_ns: seed * 100 * MS,
                has_moments,
            };
            let (_, records) = repeat(&plan, &mut machine);
            records
                .iter()
                .filter(|record| record.result.was_made_again())
                .count()
        };
        (0..30).map(search).sum()
    };
    let (with, without) = (repeated(true), repeated(false));
    assert!(4 * with < 3 * without, "{with} instead of {without}");
}

#[test]
fn a_quiet_machine_and_a_tester_that_is_too_slow_by_itself_are_judged_as_ever() {
    let plan = plan_of(SECOND);
    let mut machine = Machine {
        capacity: FrameRate(300_000),
        taken: Taken::Device,
        period_ns: SECOND,
        busy_ns: 0,
        now_ns: 0,
        has_moments: true,
    };
    let (bracket, trials) = search(&plan, &mut machine);
    assert!(
        holds(&bracket, machine.capacity) && bracket.limit == Limit::Dut && trials < 20,
        "{bracket:?}, {trials} trials"
    );
    let mut slow = TrialResult::new(TrialSpec::constant(FrameRate(1000), SECOND), vec![], vec![]);
    slow.faults.push(Fault::SentTooSlowly {
        direction: Direction::Forward,
        nominal_ns: SECOND,
        took_ns: 2 * SECOND,
    });
    slow.faults
        .push(Fault::TesterKeptOff { microseconds: 3000 });
    let mut record = record(&plan.tests[0].points().next().expect("a point"), 1, slow);
    let verdict = record.result.verdict(LossRatio::ZERO);
    assert!(
        !Patience::new(&plan, &[]).excuse(&mut record, undecided(verdict)),
        "3 ms do not make it late by a second"
    );
}

/// Returns a machine whose device receives nothing, because another program has its core all the time.
fn starved() -> Machine {
    Machine {
        capacity: FrameRate(0),
        taken: Taken::Device,
        period_ns: 3600 * SECOND,
        busy_ns: 3600 * SECOND,
        now_ns: 0,
        has_moments: true,
    }
}

#[test]
fn a_device_without_a_core_that_receives_nothing_is_disturbed_whatever_is_measured() {
    let (load, duration_ns) = (Load::Rate(FrameRate(10_000)), SECOND);
    let latency = Latency {
        load,
        duration_ns,
        tag_after_ns: SECOND / 2,
        tagged: 500,
    };
    let loss = LossScan {
        rates: vec![FrameRate(10_000)],
        until_lossless: false,
    };
    let measures = [
        Measure::Throughput,
        Measure::FrameLossRate(loss),
        Measure::Latency(latency),
        Measure::Pdv(PdvStream { load, duration_ns }),
        Measure::Ipdv(IpdvStream { load, duration_ns }),
    ];
    for measure in measures {
        let mut plan = plan_of(SECOND);
        plan.tests[0].measure = measure.clone();
        let (outcome, records) = repeat(&plan, &mut starved());
        assert!(
            records[0].result.was_made_again(),
            "the first trial of {}",
            measure.name()
        );
        assert!(
            outcome.is_unfit(&measure),
            "{}: {outcome:?}",
            measure.name()
        );
        let all: Vec<&TrialRecord> = records.iter().collect();
        assert_eq!(
            InvalidCause::find(&all),
            InvalidCause::Disturbed,
            "{}",
            measure.name()
        );
    }
}

#[test]
fn a_phase_1_that_others_may_have_kept_from_opening_all_connections_is_made_again() {
    let plan = plan_of(SECOND);
    let point = plan.tests[0].points().next().expect("a point");
    let is_made_again = |lost, taken_ms: Option<u64>| {
        let faults = taken_ms
            .map(|milliseconds| Fault::CpuTaken { milliseconds })
            .into_iter();
        let faults = faults
            .chain([Fault::PhaseOneIncomplete {
                lost,
                of: 1000,
                rate: 1000,
            }])
            .collect();
        let result = TrialResult::new(TrialSpec::constant(FrameRate(1000), SECOND), vec![], faults);
        let verdict = result.verdict(LossRatio::ZERO);
        Patience::new(&plan, &[]).excuse(&mut record(&point, 1, result), undecided(verdict))
    };
    assert!(is_made_again(1000, Some(950)) && is_made_again(30, Some(40)));
    assert!(
        !is_made_again(1000, None) && !is_made_again(1000, Some(60)),
        "60 of 1000 connections are not what it lacks"
    );
}

/// Returns a trial that lost all that it lost in one tenth of a second, with what else happened to it.
fn lost_at_once(plan: &Plan, faults: Vec<Fault>) -> TrialRecord {
    let point = plan.tests[0].points().next().expect("a point");
    let mut direction = DirectionResult::counted(Direction::Forward, 1000, 950);
    direction.lost_by_bin = vec![0, 0, 0, 0, 50, 0, 0, 0, 0, 0];
    let spec = TrialSpec::constant(FrameRate(1000), SECOND);
    record(&point, 1, TrialResult::new(spec, vec![direction], faults))
}

#[test]
fn a_resumed_run_tries_a_loss_at_one_moment_again_as_one_that_was_not_interrupted() {
    let plan = plan_of(SECOND);
    let judged = |earlier: &[TrialRecord], faults, verdict| {
        let mut record = lost_at_once(&plan, faults);
        let is_excused = Patience::new(&plan, earlier).excuse(&mut record, undecided(verdict));
        (is_excused, record)
    };
    let is_excused = |earlier: &[TrialRecord], faults| judged(earlier, faults, Verdict::Lost);
    let (is_first_excused, accident) = is_excused(&[], vec![]);
    let taken = vec![Fault::CpuTaken { milliseconds: 60 }];
    let (is_disturbed_excused, disturbed) = is_excused(&[], taken);
    assert!(is_first_excused && is_disturbed_excused);
    assert!(
        is_excused(&[disturbed], vec![]).0,
        "the earlier trial was made again because of other work, and the device has lost once"
    );
    assert!(
        !is_excused(&[accident], vec![]).0,
        "the device has lost twice at this load"
    );
    // Too little was taken to explain the loss, but an invalid trial is made again for it.
    let taken = vec![Fault::CpuTaken { milliseconds: 1 }];
    let (is_invalid_excused, invalid) = judged(&[], taken, Verdict::Invalid);
    assert!(is_invalid_excused);
    assert!(
        is_excused(&[invalid], vec![]).0,
        "the earlier trial was made again because it was invalid, not for its loss at one moment"
    );
}
