//! Every measurement finds the true value of a simulated DUT.

mod dns;
mod documented;
mod response;
mod stateful;

use super::*;
use crate::plan::*;
use crate::repeat::Repetition;
use crate::replay::outcomes;
use crate::search::{CapacityEstimate, Limit, RepetitionStart, SearchMethod, SearchSettings};
use crate::simulated::{Behaviour, SimulatedDut};
use crate::terms::{Direction, FrameRate, LossRatio, SECOND_NS};
use crate::trial::{
    DirectionResult, Fault, Measurer, TrialKind, TrialResult, TrialSettings, TrialSpec, Verdict,
};

const AT_THROUGHPUT: Load = Load::OfThroughput(1.0);

/// Returns a plan with one test of this measurement: up to 2 M frames/s, width 0.1 %, 1 s trials.
fn plan(measure: Measure) -> Plan {
    Plan {
        name: "simulated".into(),
        profile: Profile::Custom,
        seed: 1,
        trial: TrialSettings {
            duration_ns: SECOND_NS,
            residual_ns: 0,
            rest_ns: 0,
            frame_timeout_ns: 0,
            stall_ns: 1_000_000,
        },
        search: SearchSettings {
            method: SearchMethod::Binary,
            minimum: FrameRate(1_000),
            maximum: FrameRate(2_000_000),
            width: 0.001,
            goals: vec![LossRatio::ZERO],
            max_invalid: 3,
            start: RepetitionStart::Dithered,
            estimate: CapacityEstimate::Bounded,
            certainty: None,
        },
        patience_ns: Plan::USUAL_PATIENCE_NS,
        link_rate: None,
        interleave: false,
        exports: Vec::new(),
        reference: None,
        tests: vec![Test {
            title: "SIIT".into(),
            measure,
            repetitions: Repetition::Fixed(2),
            ..Test::new("siit", "simulated")
        }],
    }
}

fn dut(capacity: u64) -> SimulatedDut {
    SimulatedDut::new(Behaviour::HardLimit, FrameRate(capacity), 1)
}

/// Returns a DUT of 400,000 frames/s behind a tester that cannot offer more than `ceiling` of it.
fn behind_slow_tester(ceiling: f64) -> SimulatedDut {
    SimulatedDut::new(Behaviour::SlowTester { ceiling }, FrameRate(400_000), 1)
}

/// Returns the trials of one repetition, and its outcome.
fn repeat(
    plan: &Plan,
    earlier: &[Outcome],
    measurer: &mut dyn Measurer<Error = std::convert::Infallible>,
) -> (Vec<TrialSpec>, Outcome) {
    let point = plan.tests[0].points().next().unwrap();
    let mut procedure = procedure(plan, &plan.tests[0], point.frame_size, earlier, None);
    let (mut specs, mut invalid) = (Vec::new(), 0);
    while let Some(spec) = procedure.next_trial() {
        let Ok(result) = measurer.measure(&spec);
        invalid += u32::from(procedure.verdict(&result) == Verdict::Invalid);
        procedure.learn(&result);
        specs.push(spec);
        assert!(specs.len() < 200, "it does not end: {spec:?}");
    }
    let Findings { brackets, values } = procedure.findings();
    let (repetition, trials) = (earlier.len() as u32 + 1, specs.len() as u32);
    (
        specs,
        Outcome {
            point,
            repetition,
            trials,
            invalid,
            load: None,
            brackets,
            values,
            signs: Default::default(),
        },
    )
}

fn once(measure: Measure, mut dut: SimulatedDut) -> Outcome {
    repeat(&plan(measure), &[], &mut dut).1
}

/// Returns the values of a quantity, one for each direction.
fn values(outcome: &Outcome, quantity: Quantity) -> Vec<f64> {
    outcome
        .values
        .iter()
        .filter(|value| value.quantity == quantity)
        .map(|value| value.value)
        .collect()
}

#[track_caller]
fn assert_both_within(outcome: &Outcome, quantity: Quantity, truth: f64, tolerance: f64) {
    let found = values(outcome, quantity);
    assert_eq!(found.len(), 2, "{quantity:?}: {outcome:?}");
    assert!(
        found.iter().all(|value| (value - truth).abs() <= tolerance),
        "{quantity:?}: {found:?} are not {truth}"
    );
}

/// Returns every measurement made at a load.
fn at_load(load: Load) -> [Measure; 5] {
    let duration_ns = SECOND_NS;
    [
        Measure::Latency(Latency {
            load,
            duration_ns: 2 * SECOND_NS,
            tag_after_ns: SECOND_NS,
            tagged: 10_000,
        }),
        Measure::Pdv(PdvStream { load, duration_ns }),
        Measure::Ipdv(IpdvStream { load, duration_ns }),
        Measure::Reset(Reset {
            load,
            before_ns: SECOND_NS,
            after_ns: 2 * SECOND_NS,
        }),
        recovery(),
    ]
}

fn recovery() -> Measure {
    Measure::Recovery(Recovery {
        overload: 1.1,
        duration_ns: SECOND_NS,
        after_ns: 2 * SECOND_NS,
    })
}

fn reset() -> Measure {
    Measure::Reset(Reset {
        load: AT_THROUGHPUT,
        before_ns: SECOND_NS,
        after_ns: 2 * SECOND_NS,
    })
}

fn back_to_back() -> Measure {
    Measure::BackToBack(BackToBack {
        rate: FrameRate(1_488_095),
        longest_ns: 2 * SECOND_NS,
        step_frames: 10,
    })
}

fn scan(until_lossless: bool) -> Measure {
    let rates = (1..=10)
        .rev()
        .map(|tenth| FrameRate(tenth * 100_000))
        .collect();
    Measure::FrameLossRate(LossScan {
        rates,
        until_lossless,
    })
}

/// Returns the rates and the loss in per cent of the forward direction.
fn curve(outcome: &Outcome) -> Vec<(u64, f64)> {
    let forward = outcome
        .values
        .iter()
        .filter(|value| value.direction == Direction::Forward);
    forward.map(|value| (value.load.0, value.value)).collect()
}

#[test]
fn throughput_is_the_capacity_whether_frames_may_wait_or_not() {
    for buffer in [0, 1_000] {
        let found = once(Measure::Throughput, dut(700_000).with_buffer(buffer))
            .throughput()
            .unwrap();
        assert!(found.0.abs_diff(700_000) < 7_000, "{found}");
    }
}

#[test]
fn the_loss_scan_ends_after_two_rates_without_loss() {
    let measured = curve(&once(scan(true), dut(800_000)));
    assert_eq!(
        measured.iter().map(|point| point.0).collect::<Vec<_>>(),
        [1_000_000, 900_000, 800_000, 700_000]
    );
    assert!(
        (measured[0].1 - 20.0).abs() < 1e-9 && (measured[1].1 - 100.0 / 9.0).abs() < 1e-9,
        "{measured:?}"
    );
    assert_eq!((measured[2].1, measured[3].1), (0.0, 0.0));
}

#[test]
fn two_rates_without_loss_end_the_scan_only_in_succession() {
    let band = Behaviour::LossInversion {
        from: 0.85,
        to: 0.95,
        loss: 0.01,
    };
    let measured = curve(&once(
        scan(true),
        SimulatedDut::new(band, FrameRate(1_000_000), 1),
    ));
    assert_eq!(
        measured,
        [
            (1_000_000, 0.0),
            (900_000, 1.0),
            (800_000, 0.0),
            (700_000, 0.0)
        ]
    );
}

#[test]
fn a_known_loss_is_found_exactly_at_every_rate() {
    let measured = curve(&once(scan(false), dut(2_000_000).with_base_loss(0.0025)));
    assert_eq!(measured.len(), 10);
    assert!(
        measured
            .iter()
            .all(|(_, percent)| (percent - 0.25).abs() < 1e-12),
        "{measured:?}"
    );
}

#[test]
fn a_rate_beyond_the_tester_has_no_loss() {
    let measured = curve(&once(scan(false), behind_slow_tester(1.01)));
    assert_eq!(
        measured.iter().map(|point| point.0).collect::<Vec<_>>(),
        [400_000, 300_000, 200_000, 100_000]
    );
}

#[test]
fn latency_is_that_of_the_delay_line() {
    let [latency, ..] = at_load(AT_THROUGHPUT);
    let outcome = once(latency, dut(100_000).with_delay(80_000, 40_000));
    assert_both_within(&outcome, Quantity::TypicalLatency, 100_000.0, 1_000.0);
    assert_both_within(&outcome, Quantity::WorstCaseLatency, 119_960.0, 40.0);
    assert_eq!(values(&outcome, Quantity::Pdv), [0.0; 0]);
}

#[test]
fn pdv_is_that_of_the_delay_line() {
    let [_, pdv, ..] = at_load(AT_THROUGHPUT);
    let outcome = once(pdv, dut(100_000).with_delay(80_000, 40_000));
    assert_both_within(&outcome, Quantity::Pdv, 39_960.0, 40.0);
    assert_both_within(&outcome, Quantity::MinimumDelay, 80_000.0, 10.0);
    assert_both_within(&outcome, Quantity::HighDelay, 119_960.0, 40.0);
}

#[test]
fn ipdv_is_that_of_the_delay_line() {
    let [_, _, ipdv, ..] = at_load(AT_THROUGHPUT);
    let outcome = once(ipdv, dut(100_000).with_delay(80_000, 40_000));
    assert_both_within(&outcome, Quantity::IpdvMinimum, -40_000.0, 1_000.0);
    assert_both_within(&outcome, Quantity::IpdvMedian, 0.0, 400.0);
    assert_both_within(&outcome, Quantity::IpdvMaximum, 40_000.0, 1_000.0);
}

#[test]
fn a_lossy_dut_has_delays_all_the_same() {
    for measure in &at_load(Load::Rate(FrameRate(200_000)))[..3] {
        let outcome = once(measure.clone(), dut(100_000).with_delay(80_000, 40_000));
        assert!(outcome.headline(measure).is_some(), "{measure:?}");
    }
}

#[test]
fn back_to_back_frames_are_as_many_as_the_queue_and_the_capacity_take() {
    for (capacity, buffer) in [(1_000_000, 10_000), (100_000, 500), (1_400_000, 64)] {
        let truth = buffer as f64 / (1.0 - capacity as f64 / 1_488_095.0);
        let outcome = once(back_to_back(), dut(capacity).with_buffer(buffer));
        assert_both_within(&outcome, Quantity::BackToBackFrames, truth - 5.0, 5.0);
        assert!(outcome.values.iter().all(|value| !value.is_at_least));
    }
}

#[test]
fn a_dut_that_never_fills_its_queue_takes_one_burst() {
    let outcome = once(back_to_back(), dut(1_500_000));
    assert_both_within(&outcome, Quantity::BackToBackFrames, 2_976_190.0, 0.0);
    assert!(
        outcome.values.iter().all(|value| value.is_at_least) && outcome.trials == 1,
        "{outcome:?}"
    );
}

#[test]
fn bursts_are_no_faster_than_the_medium() {
    let mut plan = plan(back_to_back());
    plan.link_rate = Some(1_000_000_000);
    let (specs, _) = repeat(&plan, &[], &mut dut(2_000_000));
    assert_eq!(
        specs[0].rate,
        FrameRate::theoretical_maximum(1_000_000_000, 84)
    );
}

#[test]
fn recovery_takes_as_long_as_losses_go_on() {
    let outcome = once(recovery(), dut(500_000).with_recovery(300_000_000));
    assert_both_within(&outcome, Quantity::RecoveryTime, 0.3e9, 1e4);
    assert!(outcome.values.iter().all(|value| !value.is_at_least));
    let at_once = once(recovery(), dut(500_000));
    assert_both_within(&at_once, Quantity::RecoveryTime, 0.0, 0.0);
    let never = once(recovery(), dut(500_000).with_recovery(u64::MAX));
    assert!(
        never.values.iter().all(|value| value.is_at_least),
        "{never:?}"
    );
}

#[test]
fn an_overload_is_no_faster_than_the_medium() {
    let mut plan = plan(recovery());
    plan.link_rate = Some(1_000_000_000);
    let medium = FrameRate::theoretical_maximum(1_000_000_000, 84);
    plan.search.maximum = medium;
    let (specs, outcome) = repeat(&plan, &[], &mut dut(medium.0 - 20_000));
    assert!(outcome.throughput() < Some(medium));
    assert_eq!(specs.last().unwrap().rate, medium);
}

#[test]
fn a_reset_takes_as_long_by_loss_as_by_timestamps() {
    let outcome = once(reset(), dut(500_000).with_outage(700_000_000));
    assert_both_within(&outcome, Quantity::ResetTimeByLoss, 0.7e9, 1e4);
    assert_both_within(&outcome, Quantity::ResetTimeByTimestamps, 0.7e9, 1e4);
    assert!(outcome.values.iter().all(|value| !value.is_at_least));
    let unimpressed = once(reset(), dut(500_000));
    assert_both_within(&unimpressed, Quantity::ResetTimeByLoss, 0.0, 0.0);
    assert_both_within(&unimpressed, Quantity::ResetTimeByTimestamps, 0.0, 0.0);
}

#[test]
fn a_dut_that_does_not_come_back_has_only_a_bound_by_loss() {
    let outcome = once(reset(), dut(500_000).with_outage(u64::MAX));
    assert_both_within(&outcome, Quantity::ResetTimeByLoss, 2e9, 1e4);
    assert!(
        outcome.values.iter().all(|value| value.is_at_least),
        "{outcome:?}"
    );
    assert_eq!(
        values(&outcome, Quantity::ResetTimeByTimestamps),
        [0.0; 0],
        "no frame came after the silence"
    );
}

#[test]
fn a_stray_loss_at_the_end_is_no_dut_that_stays_away() {
    let settings = Reset {
        load: Load::Rate(FrameRate(100_000)),
        before_ns: SECOND_NS,
        after_ns: 2 * SECOND_NS,
    };
    let outcome = once(
        Measure::Reset(settings),
        dut(500_000).with_outage(700_000_000).with_base_loss(0.0001),
    );
    assert_both_within(
        &outcome,
        Quantity::ResetTimeByLoss,
        0.7e9 + 3e9 * 0.0001,
        1e5,
    );
    assert_both_within(&outcome, Quantity::ResetTimeByTimestamps, 0.7e9, 1e5);
    assert!(
        outcome.values.iter().all(|value| !value.is_at_least),
        "{outcome:?}"
    );
}

#[test]
fn the_throughput_is_searched_for_once_and_kept() {
    for measure in at_load(AT_THROUGHPUT) {
        let plan = plan(measure);
        let mut dut = dut(500_000);
        let (searched, first) = repeat(&plan, &[], &mut dut);
        assert!(
            searched.len() > 8 && first.throughput().is_some(),
            "{first:?}"
        );
        let (again, second) = repeat(&plan, std::slice::from_ref(&first), &mut dut);
        assert_eq!(again, [*searched.last().unwrap()], "the same trial");
        assert_eq!(second.brackets, []);
        let (third, _) = repeat(&plan, &[first, second], &mut dut);
        assert_eq!(third, again);
    }
}

#[test]
fn a_share_of_the_throughput_is_that_share() {
    let [latency, ..] = at_load(Load::OfThroughput(0.5));
    let (specs, outcome) = repeat(&plan(latency), &[], &mut dut(500_000));
    assert_eq!(
        specs.last().unwrap().rate.0,
        outcome.throughput().unwrap().0 / 2
    );
}

#[test]
fn a_rate_of_the_plan_needs_no_search() {
    for measure in &at_load(Load::Rate(FrameRate(123_456)))[..4] {
        let (specs, outcome) = repeat(&plan(measure.clone()), &[], &mut dut(500_000));
        assert_eq!(
            (specs.len(), specs[0].rate, outcome.brackets.len()),
            (1, FrameRate(123_456), 0)
        );
    }
}

#[test]
fn a_repetition_without_throughput_has_no_load_to_measure_at_and_the_next_one_searches_again() {
    for measure in at_load(AT_THROUGHPUT) {
        let plan = plan(measure.clone());
        let (_, first) = repeat(&plan, &[], &mut dut(10));
        assert_eq!((first.throughput(), first.values.len()), (None, 0));
        let (_, second) = repeat(
            &plan,
            &[first],
            &mut dut(500_000)
                .with_delay(50_000, 100)
                .with_outage(SECOND_NS / 10),
        );
        assert!(
            second.throughput().is_some() && second.headline(&measure).is_some(),
            "{second:?}"
        );
    }
}

#[test]
fn an_unfit_tester_ends_every_measurement_without_a_value() {
    for measure in at_load(Load::Rate(FrameRate(100_000))).into_iter().chain([
        scan(true),
        scan(false),
        back_to_back(),
    ]) {
        let outcome = once(measure, behind_slow_tester(0.0));
        assert_eq!(
            (outcome.throughput(), outcome.values.len()),
            (None, 0),
            "{outcome:?}"
        );
        assert!(outcome.trials > 0);
    }
    let throughput = once(Measure::Throughput, behind_slow_tester(0.0));
    assert_eq!(
        (throughput.throughput(), throughput.brackets[0].limit),
        (None, Limit::Tester)
    );
}

/// A DUT behind a tester whose receiver stalls in the first trials.
struct LateLooks {
    dut: SimulatedDut,
    trials: u32,
    /// The number of frames due during the stall beyond those missing: losses that the stall does not explain count as lost.
    frames: i64,
}

impl Measurer for LateLooks {
    type Error = std::convert::Infallible;

    fn measure(&mut self, spec: &TrialSpec) -> Result<TrialResult, Self::Error> {
        let mut result = self.dut.measure(spec)?;
        if self.trials > 0 {
            self.trials -= 1;
            let missing = result
                .directions
                .iter()
                .map(DirectionResult::not_received)
                .sum::<u64>();
            let frames = missing.saturating_add_signed(self.frames);
            result.faults.push(Fault::ReceiverStalled {
                direction: Direction::Forward,
                worst_gap_ns: 10_000_000,
                frames,
            });
        }
        Ok(result)
    }
}

#[test]
fn delays_that_the_tester_spoilt_are_measured_anew() {
    for measure in &at_load(Load::Rate(FrameRate(100_000)))[..3] {
        let tried = |trials| {
            let mut tester = LateLooks {
                dut: dut(500_000).with_delay(50_000, 100),
                trials,
                frames: 5_000,
            };
            let (specs, outcome) = repeat(&plan(measure.clone()), &[], &mut tester);
            (
                specs.len(),
                outcome.invalid,
                outcome.headline(measure).is_some(),
            )
        };
        assert_eq!(
            [0, 1, 2, 3].map(tried),
            [(1, 0, true), (2, 1, true), (3, 2, true), (3, 3, false)],
            "{measure:?}"
        );
    }
}

#[test]
fn a_stall_that_spoils_one_quantity_of_a_trial_leaves_none_so_that_all_have_the_same_repetitions() {
    for measure in &at_load(Load::Rate(FrameRate(100_000)))[..3] {
        let tried = |trials| {
            // So many of 100,000 frames move the 99.9th percentile and the extremes, and neither the median nor the minimum.
            let mut tester = LateLooks {
                dut: dut(500_000).with_delay(50_000, 100),
                trials,
                frames: 900,
            };
            let (specs, outcome) = repeat(&plan(measure.clone()), &[], &mut tester);
            (specs.len(), outcome.invalid, outcome.values.len())
        };
        let (trials, invalid, all) = tried(2);
        assert_eq!((trials, invalid), (3, 2), "{measure:?}");
        assert!(all > 2, "{measure:?}");
        assert_eq!(tried(3), (3, 3, 0), "{measure:?}");
    }
}

/// A device overloaded in the forward direction only, behind a tester that stalls for 64 frames of the reverse direction in every trial.
struct Lopsided(SimulatedDut);

impl Measurer for Lopsided {
    type Error = std::convert::Infallible;

    fn measure(&mut self, spec: &TrialSpec) -> Result<TrialResult, Self::Error> {
        let mut result = self.0.measure(spec)?;
        result.directions[1].received = result.directions[1].offered - 70;
        result.faults.push(Fault::ReceiverStalled {
            direction: Direction::Reverse,
            worst_gap_ns: 1_500_000,
            frames: 64,
        });
        Ok(result)
    }
}

#[test]
fn the_loss_of_one_direction_is_given_although_that_of_the_other_may_be_the_testers() {
    let rates = vec![FrameRate(800_000)];
    let plan = plan(Measure::FrameLossRate(LossScan {
        rates,
        until_lossless: false,
    }));
    let (specs, outcome) = repeat(&plan, &[], &mut Lopsided(dut(500_000)));
    assert_eq!((specs.len(), outcome.invalid), (3, 3), "it is tried again");
    let losses: Vec<_> = outcome
        .values
        .iter()
        .map(|value| (value.direction, value.value))
        .collect();
    assert_eq!(losses, [(Direction::Forward, 37.5)]);
}

#[test]
fn losses_at_an_overload_or_a_reset_are_the_result_and_a_small_hiccup_of_the_tester_does_not_spoil_it()
 {
    for measure in &at_load(AT_THROUGHPUT)[3..] {
        let dut = || {
            dut(500_000)
                .with_outage(SECOND_NS / 10)
                .with_recovery(SECOND_NS / 10)
        };
        let (specs, outcome) = repeat(
            &plan(measure.clone()),
            &[],
            &mut LateLooks {
                dut: dut(),
                trials: 0,
                frames: 0,
            },
        );
        let last = *specs.last().unwrap();
        let mut late = LateLooks {
            dut: dut(),
            trials: 1,
            frames: i64::MIN,
        };
        let (again, second) = repeat(&plan(measure.clone()), &[outcome], &mut late);
        assert_eq!(
            (again, second.invalid, second.headline(measure).is_some()),
            (vec![last], 0, true),
            "{measure:?}"
        );
    }
}

#[test]
fn a_reset_whose_losses_may_be_the_testers_is_measured_anew() {
    let [.., reset, _] = at_load(Load::Rate(FrameRate(100_000)));
    let mut late = LateLooks {
        dut: dut(500_000).with_outage(SECOND_NS / 10),
        trials: 1,
        frames: 0,
    };
    let (specs, outcome) = repeat(&plan(reset), &[], &mut late);
    assert_eq!((specs.len(), outcome.invalid), (2, 1));
}

#[test]
fn flows_that_start_one_after_the_other_make_longer_trials_and_the_same_throughput() {
    let mut plan = plan(Measure::Throughput);
    plan.tests[0].traffic.flows = Some(Flows {
        count: 4,
        step_ns: SECOND_NS,
    });
    let (specs, outcome) = repeat(&plan, &[], &mut dut(700_000));
    assert!(specs.iter().all(|spec| spec.kind
        == TrialKind::Ramp {
            flows: 4,
            step_ns: SECOND_NS
        }));
    assert!(
        specs.iter().all(|spec| spec.duration_ns == 4 * SECOND_NS),
        "{specs:?}"
    );
    let found = outcome.throughput().unwrap();
    assert!(found.0.abs_diff(700_000) < 7_000, "{found}");
}

#[test]
fn no_frame_is_tagged_before_all_flows_have_run_for_the_wait() {
    let [latency, ..] = at_load(Load::Rate(FrameRate(100_000)));
    let mut plan = plan(latency);
    plan.tests[0].traffic.flows = Some(Flows {
        count: 4,
        step_ns: SECOND_NS,
    });
    let (specs, outcome) = repeat(&plan, &[], &mut dut(700_000).with_delay(50_000, 100));
    assert_eq!(
        (specs[0].duration_ns, specs[0].tagging.unwrap().after_ns),
        (5 * SECOND_NS, 4 * SECOND_NS)
    );
    assert_both_within(&outcome, Quantity::TypicalLatency, 50_050.0, 10.0);
}

#[test]
fn flows_that_start_at_once_need_no_ramp() {
    let mut plan = plan(Measure::Throughput);
    plan.tests[0].traffic.flows = Some(Flows {
        count: 4,
        step_ns: 0,
    });
    let (specs, _) = repeat(&plan, &[], &mut dut(700_000));
    assert!(
        specs
            .iter()
            .all(|spec| spec.kind == TrialKind::Constant && spec.duration_ns == SECOND_NS)
    );
}

#[test]
fn the_headline_is_the_worse_direction() {
    let value = |direction, value| Value {
        quantity: Quantity::Pdv,
        direction,
        load: FrameRate(1),
        value,
        is_at_least: false,
        is_at_most: false,
    };
    let mut outcome = once(back_to_back(), dut(1_000_000).with_buffer(100));
    let burst = outcome.headline(&back_to_back()).unwrap();
    outcome.values[0].value = burst / 2.0;
    assert_eq!(outcome.headline(&back_to_back()), Some(burst / 2.0));
    outcome.values = vec![
        value(Direction::Forward, 3.0),
        value(Direction::Reverse, 7.0),
    ];
    let [_, pdv, ..] = at_load(AT_THROUGHPUT);
    assert_eq!(
        (outcome.headline(&pdv), outcome.headline(&scan(true))),
        (Some(7.0), None)
    );
    assert_eq!(outcomes(&plan(pdv), &[]), []);
}
