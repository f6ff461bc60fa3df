//! Measures a plan with anything that can perform a trial, without a testbed or a results directory: a simulated device, or another tester.

use crate::run_clock::RunClock;
use sixbench_method::event::Event;
use sixbench_method::plan::{Plan, Point, Test};
use sixbench_method::record::{FORMAT, TrialRecord};
use sixbench_method::replay::{self, ResumedMeasurement};
use sixbench_method::trial::Measurer;

/// Performs all measurements of a plan with `measurer`, in the order of the plan, except that those at the throughput follow the searches for it.
/// `listener` receives each event. There is no pause between trials. Returns the records of all trials in the order in which they were performed.
///
/// # Errors
/// The measurer could not perform a trial.
pub fn perform_with<M: Measurer>(
    plan: &Plan,
    measurer: &mut M,
    listener: &mut dyn FnMut(&Event),
) -> Result<Vec<TrialRecord>, M::Error> {
    let (at_throughput, others): (Vec<&Test>, Vec<&Test>) = plan
        .tests
        .iter()
        .partition(|test| test.measure.is_at_throughput());
    let (clock, mut records) = (RunClock::start(), Vec::new());
    for test in others.into_iter().chain(at_throughput) {
        for point in test.points() {
            let made = |records: &[TrialRecord]| replay::outcomes_of(plan, &point, records);
            for repetition in 1..=test.repetitions.most() {
                if !replay::wants_more(test, &made(&records)) {
                    break;
                }
                let of = test.repetitions.most();
                listener(&Event::MeasurementStarted {
                    point: point.clone(),
                    repetition,
                    of,
                    next: None,
                });
                measurement(
                    plan,
                    &point,
                    repetition,
                    measurer,
                    &clock,
                    &mut records,
                    listener,
                )?;
                let measure = test.measure.name().to_owned();
                let outcome = made(&records)
                    .into_iter()
                    .find(|outcome| outcome.repetition == repetition);
                if let Some(outcome) = outcome {
                    listener(&Event::MeasurementEnded {
                        measure: measure.clone(),
                        outcome,
                    });
                }
            }
        }
    }
    Ok(records)
}

fn measurement<M: Measurer>(
    plan: &Plan,
    point: &Point,
    repetition: u32,
    measurer: &mut M,
    clock: &RunClock,
    records: &mut Vec<TrialRecord>,
    listener: &mut dyn FnMut(&Event),
) -> Result<(), M::Error> {
    let resumed = replay::resume(plan, point, repetition, records)
        .expect("the records are those of this plan");
    let ResumedMeasurement {
        mut procedure,
        mut trials,
        load,
    } = resumed;
    while let Some(spec) = procedure.next_trial() {
        listener(&Event::TrialStarted {
            point: point.clone(),
            spec,
        });
        let started = clock.now().to_string();
        let result = measurer.measure(&spec)?;
        trials += 1;
        let verdict = procedure.verdict(&result);
        procedure.learn(&result);
        let (point, load) = (point.clone(), load.clone().map(Box::new));
        let record = TrialRecord {
            format: FORMAT,
            point,
            repetition,
            trial: trials,
            load,
            started,
            result,
            watch: None,
        };
        records.push(record.clone());
        listener(&Event::TrialEnded {
            record: Box::new(record),
            verdict,
        });
    }
    Ok(())
}
