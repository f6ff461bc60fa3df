//! A hand-made record for each cause.

use super::*;
use crate::plan::Point;
use crate::record::{
    CoreRole, CoreWatch, CpuSample, DeviceWatch, DropPlace, Drops, FORMAT, LossCounter, LossSource,
    Watch,
};
use crate::status::InvalidCause;
use crate::terms::{Direction, FrameSize, SECOND_NS};
use crate::trial::{DirectionResult, Fault, TrialKind, TrialResult, TrialSpec};

/// Returns a trial of 1.6 s with 16 samples, at this load and with these losses.
pub(super) fn trial(rate: u64, lost: u64, watch: Option<Watch>) -> TrialRecord {
    let spec = TrialSpec::constant(FrameRate(rate), 16 * SECOND_NS / 10);
    let forward = DirectionResult::counted(Direction::Forward, spec.frames(), spec.frames() - lost);
    TrialRecord {
        format: FORMAT,
        point: Point {
            test: "siit".into(),
            frame_size: FrameSize(84),
        },
        repetition: 1,
        trial: 1,
        load: None,
        started: String::new(),
        result: TrialResult::new(spec, vec![forward], vec![]),
        watch: watch.map(Into::into),
    }
}

fn sample(process: u16, softirq: u16, steal: u16) -> CpuSample {
    CpuSample {
        user: process / 2,
        system: process - process / 2,
        softirq,
        steal,
        idle: 1000 - process - softirq - steal,
    }
}

/// Returns a core of the DUT with this sample throughout, except for the first and the last one, in which it is idle.
fn core(core: u32, of: impl Fn(usize) -> CpuSample) -> CoreWatch {
    let at = |i: usize| {
        if i == 0 || i == 15 {
            sample(0, 0, 0)
        } else {
            of(i)
        }
    };
    CoreWatch {
        core,
        role: CoreRole::Dut,
        samples: (0..16).map(at).collect(),
    }
}

fn watch(mut cores: Vec<CoreWatch>) -> Watch {
    let busy = CoreWatch {
        core: 0,
        role: CoreRole::Tester,
        samples: vec![sample(1000, 0, 0); 16],
    };
    cores.push(busy);
    Watch {
        interval_ns: SECOND_NS / 10,
        cores,
        ..Watch::default()
    }
}

/// Returns four cores, numbered from 1, with these samples.
pub(super) fn cores(of: [fn(usize) -> CpuSample; 4]) -> Watch {
    watch((1..).zip(of).map(|(number, of)| core(number, of)).collect())
}

fn idle_cores() -> Watch {
    cores([|_| sample(20, 280, 0); 4])
}

pub(super) fn explain_all(trials: &[TrialRecord]) -> Option<Bottleneck> {
    explain(&trials.iter().collect::<Vec<_>>(), LossRatio::ZERO)
}

#[track_caller]
pub(super) fn assert_cause(trials: &[TrialRecord], cause: Cause, evidence: &str) {
    let found = explain_all(trials).unwrap();
    assert_eq!((found.cause, found.evidence.as_str()), (cause, evidence));
}

#[test]
fn one_core_full_of_softirqs_and_the_others_idle() {
    let softirq = cores([
        |i| {
            if i < 3 {
                sample(10, 600, 0)
            } else {
                sample(0, 980, 0)
            }
        },
        |_| sample(20, 20, 0),
        |_| sample(0, 40, 0),
        |_| sample(40, 0, 0),
    ]);
    let before = cores([
        |_| sample(0, 850, 0),
        |_| sample(0, 0, 0),
        |_| sample(0, 0, 0),
        |_| sample(0, 0, 0),
    ]);
    let trials = [
        trial(700_000, 0, Some(before)),
        trial(800_000, 500, Some(softirq)),
    ];
    let evidence = "in the losing trials core 1: 98 % softirq in 12 of 14 samples; cores 2, 3, 4 at 4 %; in the highest passing trial \
                    core 1 at 85 %";
    assert_cause(&trials, Cause::OneCoreSoftirq, evidence);
}

#[test]
fn a_process_that_fills_one_core() {
    let daemon = cores([
        |_| sample(20, 30, 0),
        |_| sample(700, 290, 0),
        |_| sample(0, 0, 0),
        |_| sample(0, 0, 0),
    ]);
    let evidence = "in the losing trials core 2: 70 % user and system in 14 of 14 samples; cores 1, 3, 4 at 2 %";
    assert_cause(
        &[trial(100_000, 9, Some(daemon))],
        Cause::OneProcess,
        evidence,
    );
}

#[test]
fn a_process_that_the_scheduler_moves_from_core_to_core() {
    let wandering = cores([
        |i| sample(if i % 3 == 0 { 990 } else { 10 }, 0, 0),
        |i| sample(if i % 3 == 1 { 980 } else { 0 }, 0, 0),
        |i| sample(if i % 3 == 2 { 995 } else { 0 }, 0, 0),
        |_| sample(0, 0, 0),
    ]);
    let evidence = "in the losing trials user and system time of cores 1, 2, 3, 4 add up to one core in 14 of 14 samples, and none of \
                    them is full";
    assert_cause(
        &[trial(100_000, 9, Some(wandering))],
        Cause::OneProcess,
        evidence,
    );
}

#[test]
fn every_core_full_is_a_dut_at_its_end() {
    let all = cores([
        |_| sample(0, 990, 0),
        |_| sample(0, 970, 0),
        |_| sample(0, 950, 0),
        |_| sample(0, 960, 0),
    ]);
    assert_eq!(
        explain_all(&[trial(9, 1, Some(all))]).unwrap().cause,
        Cause::AllCores
    );
    let nearly = cores([
        |_| sample(0, 990, 0),
        |_| sample(0, 850, 0),
        |_| sample(0, 850, 0),
        |_| sample(0, 820, 0),
    ]);
    assert_eq!(
        explain_all(&[trial(9, 1, Some(nearly))]).unwrap().cause,
        Cause::AllCores
    );
    let only = watch(vec![core(1, |_| sample(0, 1000, 0))]);
    assert_cause(
        &[trial(9, 1, Some(only))],
        Cause::AllCores,
        "in the losing trials core 1: 100 % softirq in 14 of 14 samples",
    );
}

#[test]
fn drops_at_an_interface_while_cores_are_idle() {
    let mut watch = idle_cores();
    watch.drops = vec![Drops {
        place: DropPlace::Backlog,
        way: "received".into(),
        samples: vec![0, 300, 150],
    }];
    let evidence = "450 dropped at backlog (received), of 500 missing; in the losing trials cores 1, 2, 3, 4 at 30 %";
    assert_cause(
        &[trial(800_000, 500, Some(watch))],
        Cause::QueueOverflow,
        evidence,
    );
}

#[test]
fn a_few_drops_do_not_explain_the_losses() {
    let mut watch = idle_cores();
    watch.drops = vec![Drops {
        place: DropPlace::Interface("veth0".into()),
        way: "sent".into(),
        samples: vec![3],
    }];
    let evidence =
        "in the losing trials cores 1, 2, 3, 4 at 30 %; 3 dropped at veth0 (sent), of 500 missing";
    assert_cause(
        &[trial(800_000, 500, Some(watch))],
        Cause::Unexplained,
        evidence,
    );
}

#[test]
fn losses_in_two_bins_are_an_accident() {
    let mut lost = trial(800_000, 100, Some(idle_cores()));
    lost.result.directions[0].lost_by_bin = vec![0, 0, 0, 0, 2, 0, 0, 0, 0, 50, 48, 0, 0, 0, 0, 0];
    let evidence = "in 1 of 1 trials; in the first, 98 of 100 missing frames were due around 0.9 s of 1.6 s; in the losing trials \
                    cores 1, 2, 3, 4 at 30 %";
    assert_cause(std::slice::from_ref(&lost), Cause::Event, evidence);
    lost.result.directions[0].lost_by_bin = vec![10; 16];
    assert_eq!(explain_all(&[lost]).unwrap().cause, Cause::Unexplained);
}

#[test]
fn what_is_missing_of_a_dns_server_is_queries() {
    let queries = |rate, missing, watch| {
        let mut record = trial(rate, missing, Some(watch));
        record.result.spec.kind = TrialKind::Queries;
        record
    };
    let mut lost = queries(800_000, 100, idle_cores());
    lost.result.directions[0].lost_by_bin = vec![0, 0, 0, 0, 2, 0, 0, 0, 0, 50, 48, 0, 0, 0, 0, 0];
    let evidence = "in 1 of 1 trials; in the first, 98 of 100 missing queries were due around 0.9 s of 1.6 s; in the losing trials \
                    cores 1, 2, 3, 4 at 30 %";
    assert_cause(&[lost], Cause::Event, evidence);
    let robbed = watch(vec![core(1, |_| sample(0, 300, 300))]);
    let trials = [
        queries(700_000, 0, idle_cores()),
        queries(800_000, 500, robbed),
    ];
    let found = explain_all(&trials).expect("a cause");
    assert_eq!(found.cause, Cause::HostSteal);
    assert!(
        found
            .evidence
            .ends_with("; 0 % while every query was answered"),
        "{}",
        found.evidence
    );
}

#[test]
fn one_accident_among_three_losing_trials_is_not_the_limit() {
    let mut trials = [801_000, 802_000, 803_000].map(|rate| trial(rate, 160, Some(idle_cores())));
    trials[0].result.directions[0].lost_by_bin =
        vec![0, 160, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    trials[1..]
        .iter_mut()
        .for_each(|trial| trial.result.directions[0].lost_by_bin = vec![10; 16]);
    assert_eq!(explain_all(&trials).unwrap().cause, Cause::Unexplained);
}

#[test]
fn a_full_core_is_no_accident_even_when_its_queue_overflows_only_at_the_end() {
    let mut lost = trial(
        800_000,
        100,
        Some(watch(vec![core(1, |_| sample(0, 1000, 0))])),
    );
    lost.result.directions[0].lost_by_bin = [vec![0; 15], vec![100]].concat();
    assert_eq!(explain_all(&[lost]).unwrap().cause, Cause::AllCores);
}

#[test]
fn time_taken_by_the_host_comes_before_everything_seen_in_what_is_left() {
    let robbed = cores([
        |_| sample(0, 300, 0),
        |i| sample(0, 300, if i == 7 { 700 } else { 0 }),
        |_| sample(0, 0, 0),
        |_| sample(0, 0, 0),
    ]);
    let trials = [
        trial(700_000, 0, Some(idle_cores())),
        trial(800_000, 500, Some(robbed)),
    ];
    let evidence = "core 2: 5 % of its time, up to 70 % of a sample; 0 % while frames passed";
    assert_cause(&trials, Cause::HostSteal, evidence);
}

#[test]
fn a_host_that_takes_as_much_while_frames_pass_is_not_the_cause() {
    let robbed = || watch(vec![core(1, |_| sample(0, 940, 60))]);
    let trials = [
        trial(700_000, 0, Some(robbed())),
        trial(800_000, 500, Some(robbed())),
    ];
    assert_eq!(explain_all(&trials).unwrap().cause, Cause::AllCores);
}

#[test]
fn a_load_at_which_no_trial_was_valid_is_the_testers_end() {
    let slow = Fault::SentTooSlowly {
        direction: Direction::Forward,
        nominal_ns: SECOND_NS,
        took_ns: 2 * SECOND_NS,
    };
    let invalid = |rate| {
        let mut record = trial(rate, 0, Some(idle_cores()));
        record.result.faults = vec![slow.clone()];
        record
    };
    let evidence = "all 2 trials at 900000 frames/s were invalid: forward: sending took 2000.000 ms instead of 1000.000 ms";
    assert_cause(
        &[trial(800_000, 0, None), invalid(900_000), invalid(900_000)],
        Cause::Tester,
        evidence,
    );
    let overcome = [
        trial(800_000, 0, None),
        invalid(800_000),
        trial(850_000, 5, Some(idle_cores())),
        invalid(900_000),
    ];
    assert_eq!(explain_all(&overcome).unwrap().cause, Cause::Unexplained);
    assert_eq!(
        explain_all(&[trial(800_000, 0, None), invalid(500_000)]),
        None,
        "a higher load passed"
    );
}

/// Returns a losing trial with these counters of the connection tracking table.
fn refused(counters: &[(&str, u64)], of: Watch) -> [TrialRecord; 1] {
    let drops = |&(way, count): &(&str, u64)| Drops {
        place: DropPlace::Conntrack,
        way: way.into(),
        samples: vec![0, count],
    };
    [trial(
        800_000,
        500,
        Some(Watch {
            drops: counters.iter().map(drops).collect(),
            ..of
        }),
    )]
}

#[test]
fn a_full_connection_tracking_table_is_named_as_the_reason() {
    let full = || watch(vec![core(1, |_| sample(0, 1000, 0))]);
    let evidence = "the connection tracking table was full and made room by dropping others (early_drop): 480, frames of \
                    unknown connections (invalid): 20, of 500 missing";
    assert_cause(
        &refused(&[("invalid", 20), ("early_drop", 480)], full()),
        Cause::ConnectionTable,
        evidence,
    );
    let evidence = "no free port or bucket (insert_failed): 500, of 500 missing";
    assert_cause(
        &refused(&[("insert_failed", 500)], idle_cores()),
        Cause::ConnectionTable,
        evidence,
    );
    let evidence = "table full (drop): 300, of 500 missing";
    assert_cause(
        &refused(&[("drop", 300)], idle_cores()),
        Cause::ConnectionTable,
        evidence,
    );
}

#[test]
fn a_few_refused_connections_are_told_and_not_the_reason() {
    let full = watch(vec![core(1, |_| sample(0, 1000, 0))]);
    let evidence = "in the losing trials core 1: 100 % softirq in 14 of 14 samples; no free port or bucket (insert_failed): 3";
    assert_cause(
        &refused(&[("insert_failed", 3)], full),
        Cause::AllCores,
        evidence,
    );
    let unknown = refused(&[("invalid", 500)], idle_cores());
    assert_eq!(
        explain_all(&unknown).unwrap().cause,
        Cause::Unexplained,
        "no reason for a loss"
    );
}

#[test]
fn a_phase_1_that_lost_frames_is_no_limit_of_the_tester() {
    let mut record = trial(900_000, 0, Some(idle_cores()));
    record.result.directions.clear();
    record.result.faults = vec![Fault::PhaseOneIncomplete {
        lost: 7,
        of: 100,
        rate: 1000,
    }];
    let counter = Drops {
        place: DropPlace::Conntrack,
        way: "drop".into(),
        samples: vec![7],
    };
    record
        .watch
        .iter_mut()
        .for_each(|watch| watch.drops = vec![counter.clone()]);
    let found = explain_all(&[record]).unwrap();
    assert_eq!(found.cause, Cause::PhaseOne);
    assert!(
        found.evidence.starts_with(
            "the only trial at 900000 frames/s was invalid: 7 of 100 frames of phase 1"
        )
    );
    assert!(
        found.evidence.ends_with("; table full (drop): 7"),
        "{}",
        found.evidence
    );
}

#[test]
fn a_device_that_polls_is_not_said_to_lack_processor_time() {
    let full = || watch(vec![core(1, |_| sample(1000, 0, 0))]);
    let polling = Watch {
        polling: true,
        ..full()
    };
    assert_eq!(
        explain_all(&[trial(800_000, 500, Some(full()))])
            .unwrap()
            .cause,
        Cause::AllCores
    );
    let evidence = "in the losing trials core 1 at 100 %";
    assert_cause(
        &[trial(800_000, 500, Some(polling))],
        Cause::Polling,
        evidence,
    );
}

#[test]
fn idle_cores_without_drops_are_unexplained() {
    let found = explain_all(&[trial(800_000, 500, Some(idle_cores()))]).unwrap();
    let sentence = "the cores have idle time and no interface counts drops: look elsewhere, for example at the memory bus or \
                    the NIC (in the losing trials cores 1, 2, 3, 4 at 30 %)";
    assert_eq!(
        (found.cause, found.to_string().as_str()),
        (Cause::Unexplained, sentence)
    );
}

#[test]
fn no_core_has_time_to_spare_that_was_full_in_the_trial_that_reports_draw() {
    let one = |softirq: u16| Some(watch(vec![core(1, move |_| sample(0, softirq, 0))]));
    let trials = [
        trial(700_000, 0, one(840)),
        trial(750_000, 0, one(1000)),
        trial(800_000, 500, one(840)),
    ];
    let evidence = "in the highest passing trial core 1: 100 % softirq in 14 of 14 samples; in the losing trials core 1 at 84 %";
    assert_cause(&trials, Cause::AllCores, evidence);
    let evidence =
        "in the losing trials core 1 at 84 %; in the highest passing trial core 1 at 80 %";
    assert_cause(
        &[trial(750_000, 0, one(800)), trial(800_000, 500, one(840))],
        Cause::Unexplained,
        evidence,
    );
}

#[test]
fn only_the_losing_trials_next_to_the_limit_are_looked_at() {
    let overload = || Some(watch(vec![core(1, |_| sample(0, 1000, 0))]));
    let at_limit = || Some(watch(vec![core(1, |_| sample(0, 300, 0))]));
    let trials = [
        trial(10_000_000, 99, overload()),
        trial(2_000_000, 99, overload()),
        trial(800_000, 5, at_limit()),
    ];
    assert_eq!(explain_all(&trials).unwrap().cause, Cause::Unexplained);
}

#[test]
fn nothing_lost_or_nobody_watching_explains_nothing() {
    assert_eq!(explain_all(&[]), None);
    assert_eq!(explain_all(&[trial(800_000, 0, Some(idle_cores()))]), None);
    assert_eq!(explain_all(&[trial(800_000, 500, None)]), None);
    let trials = [trial(800_000, 500, Some(idle_cores()))];
    assert_eq!(
        explain(&[&trials[0]], LossRatio(0.01)),
        None,
        "the goal accepts this loss"
    );
}

/// Returns a device whose cores, numbered from 0, have these idle times, in per mille.
fn device(name: &str, idle: &[u16]) -> DeviceWatch {
    let cores = (0..)
        .zip(idle)
        .map(|(number, idle)| core(number, |_| sample(0, 1000 - idle, 0)))
        .collect();
    DeviceWatch {
        device: name.to_owned(),
        machine: None,
        cores,
        memory: vec![],
    }
}

/// Returns a trial of a chain of these devices on a host that gives them this many cores.
fn chain(devices: Vec<DeviceWatch>, host_cores: u32) -> TrialRecord {
    let of_host = (1..=host_cores)
        .map(|number| core(number, |_| sample(0, 500, 0)))
        .collect();
    trial(
        9,
        0,
        Some(Watch {
            devices,
            ..watch(of_host)
        }),
    )
}

#[track_caller]
fn assert_weakest(trial: TrialRecord, words: &str) {
    assert_eq!(weakest(&[&trial]).expect("two devices").to_string(), words);
}

#[test]
fn with_one_core_each_the_plat_was_the_bottleneck_of_464xlat_and_the_ce_of_map_t() {
    assert_weakest(
        chain(vec![device("clat", &[200]), device("plat", &[0])], 2),
        "the bottleneck is plat: its busiest core was less idle by 20 points (plat: 0 % idle; clat: 20 % idle)",
    );
    assert_weakest(
        chain(vec![device("ce", &[18]), device("br", &[310])], 0),
        "the bottleneck is ce: its busiest core was less idle by 29 points (ce: 2 % idle; br: 31 % idle)",
    );
}

#[test]
fn one_full_core_of_many_is_a_bottleneck_where_the_mean_says_otherwise() {
    assert_weakest(
        chain(vec![device("ce", &[400, 400]), device("br", &[900, 20])], 4),
        "the bottleneck is br: its busiest core was less idle by 38 points (br: 2 % idle on core 1, 46 % on all 2; ce: 40 % idle on \
         core 0, 40 % on all 2)",
    );
}

#[test]
fn two_devices_that_are_nearly_as_busy_are_not_told_apart() {
    assert_weakest(
        chain(vec![device("ce", &[120]), device("br", &[30])], 2),
        "it is undecided which of br and ce is the bottleneck: their busiest cores are 9 points apart, but a difference of 10 \
         is needed (br: 3 % idle; ce: 12 % idle)",
    );
}

#[test]
fn devices_that_share_a_core_have_no_idle_time_to_compare() {
    assert_weakest(
        chain(vec![device("clat", &[690]), device("plat", &[380])], 1),
        "it is undecided which of plat and clat is the bottleneck: they share core 1 of the host, so a device that waits for a \
         core looks idle (plat used 62 % of a core; clat used 31 % of a core)",
    );
}

#[test]
fn where_all_cores_have_time_to_spare_no_device_is_blamed() {
    assert_weakest(
        chain(vec![device("clat", &[900]), device("plat", &[600])], 2),
        "no device is short of processor time: look elsewhere, for example at queues and links (plat: 60 % idle; clat: 90 % \
         idle)",
    );
}

#[test]
fn one_device_is_no_chain_and_the_trials_of_all_repetitions_count() {
    assert_eq!(weakest(&[&chain(vec![device("jool", &[0])], 1)]), None);
    let trials = [[100, 900], [300, 700]]
        .map(|[ce, br]| chain(vec![device("ce", &[ce]), device("br", &[br])], 2));
    let found = weakest(&trials.iter().collect::<Vec<_>>()).expect("two devices");
    assert_eq!(
        (found.devices[0].least_percent, found.weakest),
        (20.0, ChainBottleneck::First { margin: 60.0 })
    );
}

#[test]
fn in_a_row_over_machines_the_core_that_is_full_is_told_with_its_device_and_its_machine() {
    let on = |machine: &str, of: DeviceWatch| DeviceWatch {
        machine: Some(machine.to_owned()),
        ..of
    };
    let row = |rate, lost, ce: &[u16]| {
        let devices = vec![
            on("m1", device("ce", ce)),
            on("m2", device("br", &[700, 650])),
        ];
        trial(
            rate,
            lost,
            Some(Watch {
                devices,
                ..watch(vec![])
            }),
        )
    };
    let trials = [row(700_000, 0, &[300, 900]), row(800_000, 500, &[20, 900])];
    let evidence = "on ce on m1 in the losing trials core 0: 98 % softirq in 14 of 14 samples; core 1 at 10 %; on ce on m1 in the highest \
                    passing trial core 0 at 70 %";
    assert_cause(&trials, Cause::OneCoreSoftirq, evidence);
    let words = "the bottleneck is ce on m1: its busiest core was less idle by 63 points (ce on m1: 2 % idle on core 0, 46 % on all 2; br \
                 on m2: 65 % idle on core 1, 68 % on all 2)";
    assert_weakest(row(1, 0, &[20, 900]), words);
}

#[test]
fn a_dut_that_is_not_watched_by_itself_is_as_idle_as_the_host_s_cores_that_are_its() {
    let trial = trial(
        9,
        0,
        Some(watch(vec![
            core(1, |_| sample(0, 900, 0)),
            core(2, |_| sample(0, 500, 0)),
        ])),
    );
    let [jool] = &idleness(&[&trial], "Jool")[..] else {
        panic!("one device")
    };
    assert_eq!(
        (jool.device.as_str(), jool.cores, jool.least_idle_core),
        ("Jool", 2, 1)
    );
    assert_eq!((jool.least_percent, jool.mean_percent), (10.0, 30.0));
    assert_eq!(idleness(&[], "Jool"), []);
}

/// Returns four cores of which a thread takes less than one.
pub(super) fn spare_cores() -> Watch {
    cores([|_| sample(20, 80, 0); 4])
}

/// Returns a losing trial at this load, of which so many frames a second passed.
fn limited(rate: u64, passed: u64, watch: Option<Watch>) -> TrialRecord {
    trial(rate, (rate - passed) * 16 / 10, watch)
}

/// Returns the cause of a plateau, with this watch in all of its trials.
fn cause_of(watch: Watch) -> Option<Cause> {
    let trials = [40_000, 20_000, 12_000].map(|rate| limited(rate, 10_000, Some(watch.clone())));
    explain_all(&trials).map(|found| found.cause)
}

#[test]
fn the_same_rate_at_any_load_with_time_to_spare_is_consistent_with_a_rate_limit() {
    let trials = [
        limited(40_000, 10_000, Some(spare_cores())),
        limited(20_000, 10_050, Some(spare_cores())),
        limited(10_100, 10_020, Some(spare_cores())),
        trial(9_900, 0, Some(spare_cores())),
    ];
    let evidence = "consistent with a rate limit at about 10.0k frames/s: in the forward direction as much passed in each of 3 losing trials at 10.1k \
                    to 40.0k frames/s; in the losing trials cores 1, 2, 3, 4 at 10 %; in the highest passing trial cores 1, 2, 3, 4 at 10 %";
    assert_cause(&trials, Cause::RateLimit, evidence);
}

#[test]
fn frames_that_stayed_in_the_device_at_no_known_place_may_have_met_a_rate_limit() {
    let stayed = |source| Watch {
        losses: vec![LossCounter {
            device: None,
            source,
            name: "left".to_owned(),
            frames: 1_000_000,
        }],
        ..spare_cores()
    };
    let cause = |source| cause_of(stayed(source));
    assert_eq!(cause(LossSource::Passage), Some(Cause::RateLimit));
    assert_eq!(cause(LossSource::NftRule), Some(Cause::Refused));
}

/// Returns what is found where a counter of the device's network card counted most of the missing frames, while its cores had time to spare.
fn found_at_port(name: &str) -> Bottleneck {
    let dropped = LossCounter {
        device: None,
        source: LossSource::Port,
        name: name.to_owned(),
        frames: 412,
    };
    let watch = Watch {
        losses: vec![dropped],
        ..spare_cores()
    };
    let trials = [
        trial(10_000, 420, Some(watch)),
        trial(9_000, 0, Some(spare_cores())),
    ];
    explain_all(&trials).expect("a cause")
}

#[test]
fn a_network_card_that_dropped_the_frames_shows_a_queue_that_overflowed_and_no_refusal() {
    let found = found_at_port("eth1 rx_missed_errors");
    assert_eq!(found.cause, Cause::QueueOverflow);
    let evidence = "at 10000 frames/s of 420 missing frames, 412 in eth1 rx_missed_errors: ";
    assert!(found.evidence.starts_with(evidence), "{}", found.evidence);
}

#[test]
fn frames_that_were_damaged_on_the_cable_show_no_queue_that_overflowed_but_the_link() {
    for counter in ["rx_crc_errors", "tx_carrier_errors"] {
        let found = found_at_port(&format!("eth1 {counter}"));
        assert_eq!(found.cause, Cause::Link, "{counter}");
        assert!(found.evidence.contains("412 in eth1"), "{}", found.evidence);
    }
}

#[test]
fn a_link_that_went_down_in_every_trial_at_a_load_is_the_cause() {
    let went_down = |rate| {
        let mut record = trial(rate, 100, None);
        record.result.faults.push(Fault::LinkWentDown {
            interface: "eth1".to_owned(),
            times: 1,
        });
        record
    };
    let trials = [went_down(10_000), went_down(10_000), trial(9_000, 0, None)];
    let found = explain_all(&trials).expect("a cause");
    assert_eq!(found.cause, Cause::Link);
    assert!(
        found.evidence.ends_with(
            "were invalid: the link of eth1 went down once during the trial: a cable, a transceiver, or the device's end of it"
        ),
        "{}",
        found.evidence
    );
}

#[test]
fn frames_that_the_link_of_the_tester_lost_are_the_links_and_neither_the_devices_nor_the_testers() {
    let mut record = trial(10_000, 100, None);
    record.result.faults.push(Fault::LostOnLink {
        direction: Direction::Forward,
        interface: "eth1".to_owned(),
        counter: "rx_crc_errors".to_owned(),
        frames: 100,
    });
    let trials = [record, trial(9_000, 0, None)];
    assert_eq!(
        trials[0].result.verdict(LossRatio::ZERO),
        Verdict::Invalid,
        "they explain the loss"
    );
    assert_eq!(explain_all(&trials).expect("a cause").cause, Cause::Link);
    let invalid = [&trials[0]];
    assert_eq!(InvalidCause::find(&invalid), InvalidCause::Link);
}

#[test]
fn the_cores_of_a_device_that_polls_say_nothing_of_a_rate_limit() {
    let watch = Watch {
        polling: true,
        ..spare_cores()
    };
    assert_eq!(cause_of(watch.clone()), Some(Cause::Polling));
    // The counters of the interfaces come first: where frames stayed is not known, and neither is whether a core had time to spare.
    let stayed = LossCounter {
        device: None,
        source: LossSource::Passage,
        name: "left".to_owned(),
        frames: 1_000_000,
    };
    let losses = vec![stayed];
    assert_eq!(cause_of(Watch { losses, ..watch }), Some(Cause::Refused));
}

#[test]
fn a_plateau_is_no_rate_limit_where_a_core_may_be_the_reason() {
    let cause = |trials: &[TrialRecord]| explain_all(trials).map(|found| found.cause);
    let flat = |watch: fn() -> Option<Watch>| {
        [40_000, 20_000, 12_000].map(|rate| limited(rate, 10_000, watch()))
    };
    assert_eq!(cause(&flat(|| None)), None, "unknown cores");
    let full = || {
        Some(cores([
            |_| sample(0, 980, 0),
            |_| sample(0, 0, 0),
            |_| sample(0, 0, 0),
            |_| sample(0, 0, 0),
        ]))
    };
    assert_eq!(cause(&flat(full)), Some(Cause::OneCoreSoftirq));
    // A thread that is on two cores in turn, and waits at times.
    let shared = || {
        Some(cores([
            |_| sample(300, 150, 0),
            |_| sample(300, 150, 0),
            |_| sample(0, 0, 0),
            |_| sample(0, 0, 0),
        ]))
    };
    assert_eq!(cause(&flat(shared)), Some(Cause::Unexplained));
    let rising =
        [40_000, 20_000, 12_000].map(|rate| limited(rate, 9_000 + rate / 10, Some(spare_cores())));
    assert_eq!(cause(&rising), Some(Cause::Unexplained), "not flat");
    let near = [12_000, 11_000, 10_500].map(|rate| limited(rate, 10_000, Some(spare_cores())));
    assert_eq!(cause(&near), Some(Cause::Unexplained), "loads too near");
    let few = [40_000, 20_000, 12_000].map(|rate| limited(rate, 1, Some(spare_cores())));
    assert_eq!(cause(&few), Some(Cause::Unexplained), "one frame or two");
    let two = [40_000, 20_000].map(|rate| limited(rate, 10_000, Some(spare_cores())));
    assert_eq!(cause(&two), Some(Cause::Unexplained), "two trials");
    let bursts = flat(|| Some(spare_cores())).map(|mut record| {
        record.result.spec.kind = TrialKind::Burst;
        record
    });
    assert_eq!(cause(&bursts), Some(Cause::Unexplained), "no constant load");
}
