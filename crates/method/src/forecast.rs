//! The remaining time of a run, corrected during the run by the actual times of set-ups and trials, and by the number of trials that measurements
//! have needed. Reads no clock: times are passed in, in nanoseconds since the run began.

use crate::budget::{self, Cost};
use crate::event::Event;
use crate::measures::Outcome;
use crate::plan::{Plan, Point, Selection};
use crate::simulated::gateway::extra_ns;
use crate::trial::Verdict;

/// The forecast of a run; see the module.
#[derive(Clone, Debug)]
pub struct Forecast {
    /// The part of the plan that the run measures; repetitions are counted by their position within it.
    selection: Selection,
    tests: Vec<TestForecast>,
    /// The expected times for setting up each device, nanoseconds; devices that are already set up are removed.
    set_ups_ns: Vec<u64>,
    set_up: ObservedShare,
    /// The time around trials apart from sending, over all tests.
    around: ObservedShare,
    /// The ratio of all trials to valid ones. If nothing else is known, it is also that of the trials needed to those expected.
    repeats: ObservedShare,
    measurement: Option<CurrentMeasurement>,
    trial: Option<CurrentTrial>,
    /// The time since which nothing has been measured; the time after it counts for the next device.
    idle_since_ns: u64,
}

#[derive(Clone, Debug)]
struct TestForecast {
    name: String,
    costs: [Cost; 2],
    /// Each point with the number of its finished repetitions.
    points: Vec<(Point, u32)>,
    repetitions: u32,
    /// The expected time around a trial, in nanoseconds; the next field holds the actual times.
    expected_around_ns: f64,
    around: ObservedShare,
    /// The trials of finished measurements relative to the expected ones, for first and for later repetitions.
    trials: [ObservedShare; 2],
}

#[derive(Clone, Debug)]
struct CurrentMeasurement {
    test: usize,
    point: usize,
    repetition: u32,
    trials: u32,
    /// True if its device was set up for it and no trial has begun since.
    has_new_device: bool,
}

#[derive(Clone, Copy, Debug)]
struct CurrentTrial {
    start_ns: u64,
    sending_ns: u64,
    has_ended: bool,
}

/// The observed amount relative to the expected one.
#[derive(Clone, Copy, Debug, Default)]
struct ObservedShare {
    seen: f64,
    expected: f64,
}

impl ObservedShare {
    fn add(&mut self, seen: f64, expected: f64) {
        self.seen += seen;
        self.expected += expected;
    }

    fn value(&self) -> Option<f64> {
        (self.expected > 0.0).then(|| self.seen / self.expected)
    }

    /// Returns the mean of the observations, each of which counts 1 in `expected`, with `otherwise` as one more.
    fn with(&self, otherwise: f64) -> f64 {
        (self.seen + otherwise) / (self.expected + 1.0)
    }
}

impl Forecast {
    /// Returns the forecast of a run that has not begun, and that measures this part of its plan.
    pub fn new(plan: &Plan, selection: &Selection) -> Self {
        let plan = &selection.narrowed(plan);
        Self {
            selection: selection.clone(),
            tests: plan
                .tests
                .iter()
                .zip(budget::costs(plan))
                .map(|(test, costs)| TestForecast {
                    name: test.name.clone(),
                    costs,
                    points: test.points().map(|point| (point, 0)).collect(),
                    repetitions: test.repetitions.most(),
                    expected_around_ns: budget::around_ns(test, &plan.trial) as f64,
                    around: ObservedShare::default(),
                    trials: [ObservedShare::default(); 2],
                })
                .collect(),
            set_ups_ns: budget::set_ups_ns(plan),
            set_up: ObservedShare::default(),
            around: ObservedShare::default(),
            repeats: ObservedShare::default(),
            measurement: None,
            trial: None,
            idle_since_ns: 0,
        }
    }

    /// Processes an event that occurred at this time.
    pub fn note(&mut self, at_ns: u64, event: &Event) {
        match event {
            Event::MeasurementStarted {
                point, repetition, ..
            } => self.begin(point, *repetition),
            Event::DutReady { .. } => self
                .measurement
                .iter_mut()
                .for_each(|measurement| measurement.has_new_device = true),
            Event::TrialStarted { spec, .. } => {
                self.settle_set_up(at_ns);
                self.settle_trial(at_ns);
                self.trial = Some(CurrentTrial {
                    start_ns: at_ns,
                    sending_ns: spec.duration_ns + extra_ns(spec),
                    has_ended: false,
                });
            }
            Event::TrialEnded { verdict, record } => {
                self.repeats.add(
                    1.0,
                    if *verdict == Verdict::Invalid {
                        0.0
                    } else {
                        1.0
                    },
                );
                self.measurement
                    .iter_mut()
                    .for_each(|measurement| measurement.trials += 1);
                // A disturbed trial is followed by a wait, which says nothing about the time around a trial.
                let has_ended = !record.result.was_made_again();
                self.trial
                    .iter_mut()
                    .for_each(|trial| trial.has_ended = has_ended);
            }
            Event::MeasurementEnded { outcome, .. } => {
                self.settle_trial(at_ns);
                self.finish(outcome);
                self.idle_since_ns = at_ns;
            }
            _ => {}
        }
    }

    /// Processes a measurement that an earlier part of the run has finished.
    pub fn finish(&mut self, outcome: &Outcome) {
        self.measurement = None;
        let Some(test) = self
            .tests
            .iter_mut()
            .find(|test| test.name == outcome.point.test)
        else {
            return;
        };
        let Some((_, ended)) = test
            .points
            .iter_mut()
            .find(|(point, _)| *point == outcome.point)
        else {
            return;
        };
        let repetition = self.selection.ordinal(&outcome.point, outcome.repetition);
        if *ended < repetition {
            *ended = repetition;
            let kind = kind(repetition);
            test.trials[kind].add(f64::from(outcome.trials), test.costs[kind].trials);
        }
    }

    /// Returns the expected remaining time in nanoseconds.
    pub fn remaining_ns(&self) -> u64 {
        let set_up = self.set_up.value().unwrap_or(1.0);
        let set_ups_ns = self.set_ups_ns.iter().sum::<u64>() as f64 * set_up;
        let tests_ns: f64 = (0..self.tests.len()).map(|test| self.rest_of(test)).sum();
        (set_ups_ns + tests_ns + self.rest_of_measurement()) as u64
    }

    /// Returns the expected time for the measurements of these tests that have not begun, and for setting up a device for them, nanoseconds.
    pub fn remaining_of_ns(&self, is_wanted: impl Fn(&str) -> bool) -> u64 {
        let set_up_ns = self.set_ups_ns.last().copied().unwrap_or(0) as f64
            * self.set_up.value().unwrap_or(1.0);
        let tests_ns: f64 = self.wanted(is_wanted).map(|test| self.rest_of(test)).sum();
        (set_up_ns + tests_ns) as u64
    }

    /// Returns the expected time for the first repetitions of these tests, as far as they are still to be made, and for the rest of the current
    /// measurement, nanoseconds.
    pub fn first_repetitions_ns(&self, is_wanted: impl Fn(&str) -> bool) -> u64 {
        let first = kind(1);
        let of_test = |index: usize| {
            let test = &self.tests[index];
            let begun = |point: usize, ended: u32| ended > 0 || self.is_under_way(index, point);
            let points = test.points.iter().enumerate();
            let to_come = points
                .filter(|(point, (_, ended))| !begun(*point, *ended))
                .count();
            to_come as f64 * self.trials(test, first) * self.trial_ns(test, first)
        };
        let to_come: f64 = self.wanted(is_wanted).map(of_test).sum();
        (to_come + self.rest_of_measurement()) as u64
    }

    fn wanted(&self, is_wanted: impl Fn(&str) -> bool) -> impl Iterator<Item = usize> {
        (0..self.tests.len()).filter(move |index| is_wanted(&self.tests[*index].name))
    }

    fn is_under_way(&self, test: usize, point: usize) -> bool {
        self.measurement
            .as_ref()
            .is_some_and(|m| (m.test, m.point) == (test, point))
    }

    fn begin(&mut self, point: &Point, repetition: u32) {
        let Some(index) = self.tests.iter().position(|test| test.name == point.test) else {
            return;
        };
        let repetition = self.selection.ordinal(point, repetition);
        // Repetitions are made in rounds: a point of the test that was skipped in the previous round needs no more.
        let test = &mut self.tests[index];
        let (left_out, all) = (|ended: u32| ended + 1 < repetition, test.repetitions);
        test.points
            .iter_mut()
            .filter(|(_, ended)| left_out(*ended))
            .for_each(|(_, ended)| *ended = all);
        let Some(place) = test.points.iter().position(|(p, _)| p == point) else {
            return;
        };
        self.measurement = Some(CurrentMeasurement {
            test: index,
            point: place,
            repetition,
            trials: 0,
            has_new_device: false,
        });
    }

    /// Counts the time before the first trial on a new device as its set-up, including the shutdown of the previous device.
    fn settle_set_up(&mut self, at_ns: u64) {
        let Some(measurement) = self
            .measurement
            .as_mut()
            .filter(|measurement| measurement.has_new_device)
        else {
            return;
        };
        measurement.has_new_device = false;
        if let Some(expected_ns) = self.set_ups_ns.pop() {
            self.set_up
                .add((at_ns - self.idle_since_ns) as f64, expected_ns as f64);
        }
    }

    /// Ends a trial, which lasts until the next one begins or the measurement ends.
    fn settle_trial(&mut self, at_ns: u64) {
        let Some(trial) = self.trial.take().filter(|trial| trial.has_ended) else {
            return;
        };
        let around_ns = (at_ns - trial.start_ns) as f64 - trial.sending_ns as f64;
        if let Some(measurement) = &self.measurement {
            let test = &mut self.tests[measurement.test];
            test.around.add(around_ns, 1.0);
            self.around.add(around_ns, test.expected_around_ns);
        }
    }

    /// Returns the time for the measurements of a test that have not begun, nanoseconds.
    fn rest_of(&self, index: usize) -> f64 {
        let test = &self.tests[index];
        let rest = test.points.iter().enumerate().map(|(point, (_, ended))| {
            let begun = ended + u32::from(self.is_under_way(index, point));
            let repetitions = (begun + 1..=test.repetitions).map(kind);
            repetitions
                .map(|kind| self.trials(test, kind) * self.trial_ns(test, kind))
                .sum::<f64>()
        });
        rest.sum()
    }

    fn rest_of_measurement(&self) -> f64 {
        let Some(measurement) = &self.measurement else {
            return 0.0;
        };
        let (test, kind) = (&self.tests[measurement.test], kind(measurement.repetition));
        // A measurement that has had its expected trials is about to end, or takes one more.
        let trials = (self.trials(test, kind) - f64::from(measurement.trials)).max(0.5);
        trials * self.trial_ns(test, kind)
    }

    fn trials(&self, test: &TestForecast, kind: usize) -> f64 {
        /// The number of a test's own measurements that weigh as much as the evidence from other tests: a single one may take half the usual number
        /// of trials, or twice as many.
        const OWN: f64 = 4.0;
        let cost = test.costs[kind].trials;
        let of_others = self
            .share_of_all(kind)
            .or(self.repeats.value())
            .unwrap_or(1.0);
        let ObservedShare { seen, expected } = test.trials[kind];
        cost * (seen + of_others * OWN * cost) / (expected + OWN * cost).max(f64::MIN_POSITIVE)
    }

    /// Returns the ratio of actual to expected trials in the measurements of all tests.
    fn share_of_all(&self, kind: usize) -> Option<f64> {
        let mut all = ObservedShare::default();
        self.tests
            .iter()
            .for_each(|test| all.add(test.trials[kind].seen, test.trials[kind].expected));
        all.value()
    }

    /// Returns the time of a trial including the time around it, in nanoseconds.
    fn trial_ns(&self, test: &TestForecast, kind: usize) -> f64 {
        let cost = test.costs[kind];
        cost.sending_ns / cost.trials.max(1.0)
            + test
                .around
                .with(test.expected_around_ns * self.around.value().unwrap_or(1.0))
    }
}

/// Returns the index of a repetition's kind: 0 for the first one, 1 for later ones, which start from earlier results.
fn kind(repetition: u32) -> usize {
    usize::from(repetition > 1)
}
