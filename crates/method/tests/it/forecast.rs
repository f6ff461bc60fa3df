//! The forecast of a run, compared with runs on simulated devices with a virtual clock.

use sixbench_method::budget;
use sixbench_method::event::Event;
use sixbench_method::fixtures::plan;
use sixbench_method::forecast::Forecast;
use sixbench_method::measures::{Findings, Outcome, procedure};
use sixbench_method::plan::{IpdvStream, Load, Measure, PdvStream, Plan, Point, Selection};
use sixbench_method::record::{FORMAT, TrialRecord};
use sixbench_method::repeat::Repetition;
use sixbench_method::search::SearchMethod;
use sixbench_method::simulated::{Behaviour, SimulatedDut};
use sixbench_method::terms::FrameRate;
use sixbench_method::trial::{Measurer, TrialResult, Verdict};

const MS: u64 = 1_000_000;

/// The properties of a machine, and the state of its clock.
struct Machine {
    set_up_ns: u64,
    around_ns: u64,
    /// True if the residual wait takes place for a device that cannot keep up.
    waits_for_losses: bool,
    /// The share of trials that are invalid.
    stalls: f64,
    now_ns: u64,
    /// The time of each event, and the remaining time forecast after it.
    foreseen: Vec<(u64, u64)>,
    forecast: Forecast,
}

impl Machine {
    fn new(plan: &Plan, set_up_ns: u64, around_ns: u64, stalls: f64) -> Self {
        let forecast = Forecast::new(plan, &Selection::default());
        let foreseen = vec![(0, forecast.remaining_ns())];
        Self {
            set_up_ns,
            around_ns,
            waits_for_losses: true,
            stalls,
            now_ns: 0,
            foreseen,
            forecast,
        }
    }

    fn tell(&mut self, event: &Event) {
        self.forecast.note(self.now_ns, event);
        self.foreseen
            .push((self.now_ns, self.forecast.remaining_ns()));
    }

    /// Runs the plan like the run command: device by device, with repetitions in rounds over the points.
    fn run(self, plan: &Plan) -> Vec<(u64, u64)> {
        self.run_by_chance(plan, 0)
    }

    /// Does the same with different noise and stalls.
    fn run_by_chance(mut self, plan: &Plan, chance: u64) -> Vec<(u64, u64)> {
        for (seed, test) in plan.tests.iter().enumerate() {
            let capacity = FrameRate(plan.search.maximum.0 / (seed as u64 + 3));
            let noisy = Behaviour::Noisy { deviation: 0.01 };
            let mut dut = SimulatedDut::new(noisy, capacity, seed as u64 + 100 * chance)
                .with_stalls(self.stalls);
            let mut earlier = Vec::new();
            let mut is_up = false;
            for repetition in 1..=test.repetitions.most() {
                for point in test.points() {
                    let of = test.repetitions.most();
                    self.tell(&Event::MeasurementStarted {
                        point: point.clone(),
                        repetition,
                        of,
                        next: None,
                    });
                    if !is_up {
                        self.now_ns += self.set_up_ns;
                        self.tell(&Event::DutReady {
                            dut: test.dut.clone(),
                            version: String::new(),
                        });
                        is_up = true;
                    }
                    let outcome = self.measure(plan, seed, &point, repetition, &mut dut, &earlier);
                    self.tell(&Event::MeasurementEnded {
                        measure: test.measure.name().to_owned(),
                        outcome: outcome.clone(),
                    });
                    earlier.push(outcome);
                }
            }
        }
        self.foreseen
    }

    fn measure(
        &mut self,
        plan: &Plan,
        test: usize,
        point: &Point,
        repetition: u32,
        dut: &mut SimulatedDut,
        earlier: &[Outcome],
    ) -> Outcome {
        let of_point: Vec<Outcome> = earlier
            .iter()
            .filter(|outcome| outcome.point == *point)
            .cloned()
            .collect();
        let mut procedure = procedure(plan, &plan.tests[test], point.frame_size, &of_point, None);
        let (mut trials, mut invalid) = (0, 0);
        while let Some(spec) = procedure.next_trial() {
            self.tell(&Event::TrialStarted {
                point: point.clone(),
                spec,
            });
            let Ok(result) = dut.measure(&spec);
            let has_lost = result.directions.iter().any(|d| d.not_received() > 0);
            self.now_ns += spec.duration_ns
                + if has_lost && self.waits_for_losses {
                    plan.trial.residual_ns
                } else {
                    0
                };
            let verdict = procedure.verdict(&result);
            procedure.learn(&result);
            trials += 1;
            invalid += u32::from(verdict == Verdict::Invalid);
            self.tell(&ended(point, repetition, trials, result, verdict));
            self.now_ns += plan.trial.rest_ns + self.around_ns;
        }
        let Findings { brackets, values } = procedure.findings();
        Outcome {
            point: point.clone(),
            repetition,
            trials,
            invalid,
            load: None,
            brackets,
            values,
            signs: Default::default(),
        }
    }
}

fn ended(
    point: &Point,
    repetition: u32,
    trial: u32,
    result: TrialResult,
    verdict: Verdict,
) -> Event {
    let record = TrialRecord {
        format: FORMAT,
        point: point.clone(),
        repetition,
        trial,
        load: None,
        started: String::new(),
        result,
        watch: None,
    };
    Event::TrialEnded {
        record: Box::new(record),
        verdict,
    }
}

/// Returns a plan with three devices, short trials and seven repetitions.
fn short_plan(method: SearchMethod) -> Plan {
    let mut plan = plan(method, &[0.0]);
    (
        plan.trial.duration_ns,
        plan.trial.residual_ns,
        plan.trial.rest_ns,
    ) = (750 * MS, 200 * MS, 50 * MS);
    plan.search.width = 0.02;
    let test = plan.tests.remove(0);
    plan.tests = ["a", "b", "c"]
        .map(|name| sixbench_method::plan::Test {
            name: name.into(),
            dut: name.into(),
            ..test.clone()
        })
        .into();
    plan.tests
        .iter_mut()
        .for_each(|test| test.repetitions = Repetition::Fixed(7));
    plan
}

/// Returns the error of the remaining time forecast after this share of the run, relative to the actual remaining time.
fn error_after(foreseen: &[(u64, u64)], share: f64) -> f64 {
    let end_ns = foreseen.last().expect("events").0;
    let (at_ns, rest_ns) = *foreseen
        .iter()
        .find(|(at_ns, _)| *at_ns as f64 >= share * end_ns as f64)
        .expect("events");
    let came_ns = (end_ns - at_ns) as f64;
    (rest_ns as f64 - came_ns).abs() / came_ns
}

#[test]
fn after_half_of_a_run_the_rest_is_known_to_a_quarter_and_later_to_an_eighth_of_the_run() {
    for method in [SearchMethod::Binary, SearchMethod::Mlrsearch] {
        for (set_up_ns, around_ns, stalls) in [
            (500 * MS, 0, 0.0),
            (8_000 * MS, 40 * MS, 0.0),
            (2_000 * MS, 900 * MS, 0.0),
            (1_000 * MS, 50 * MS, 0.4),
        ] {
            let plan = short_plan(method);
            // The number of invalid trials in the remaining part is random, so the median of several runs is judged.
            let run = |chance| {
                Machine::new(&plan, set_up_ns, around_ns, stalls).run_by_chance(&plan, chance)
            };
            let runs: Vec<_> = (0..9).map(run).collect();
            // If the last device takes a different time from the others, the difference is a growing share of the shrinking remainder.
            for (share, most) in [(0.5, 0.25), (0.6, 0.25), (0.75, 0.4), (0.9, 1.0)] {
                let mut errors: Vec<f64> = runs
                    .iter()
                    .map(|foreseen| error_after(foreseen, share))
                    .collect();
                errors.sort_by(f64::total_cmp);
                let error = errors[errors.len() / 2];
                assert!(
                    error < most && error * (1.0 - share) < 0.125,
                    "{method:?}, set-up {set_up_ns}, around {around_ns}, stalls {stalls}: off by {error} after {share}"
                );
            }
            assert!(
                runs.iter()
                    .all(|foreseen| foreseen.last().expect("events").1 == 0),
                "nothing is left"
            );
        }
    }
}

#[test]
fn the_estimate_of_before_is_corrected_where_a_machine_is_slow() {
    let plan = short_plan(SearchMethod::Binary);
    let foreseen = Machine::new(&plan, 15_000 * MS, 1_500 * MS, 0.3).run(&plan);
    assert!(error_after(&foreseen, 0.0) > 0.4, "else this shows nothing");
    assert!(
        error_after(&foreseen, 0.25) < 0.35,
        "{}",
        error_after(&foreseen, 0.25)
    );
    assert!(
        error_after(&foreseen, 0.5) < 0.25,
        "{}",
        error_after(&foreseen, 0.5)
    );
}

#[test]
fn measurements_of_several_kinds_are_foreseen_each_by_its_own() {
    let mut plan = short_plan(SearchMethod::Mlrsearch);
    let (load, duration_ns) = (Load::OfThroughput(1.0), 1_500 * MS);
    plan.tests[1].measure = Measure::Pdv(PdvStream { load, duration_ns });
    plan.tests[2].measure = Measure::Ipdv(IpdvStream { load, duration_ns });
    let foreseen = Machine::new(&plan, 3_000 * MS, 100 * MS, 0.1).run(&plan);
    for share in [0.3, 0.5, 0.7] {
        assert!(
            error_after(&foreseen, share) < 0.25,
            "{share}: {}",
            error_after(&foreseen, share)
        );
    }
}

#[test]
fn a_forecast_begins_with_the_budget() {
    let plan = short_plan(SearchMethod::Binary);
    let budget = budget::estimate(&plan);
    assert_eq!(
        Forecast::new(&plan, &Selection::default())
            .remaining_ns()
            .div_ceil(1_000 * MS),
        budget.seconds
    );
}

#[test]
fn what_an_earlier_part_of_the_run_finished_is_not_counted() {
    let plan = short_plan(SearchMethod::Binary);
    let mut forecast = Forecast::new(&plan, &Selection::default());
    let whole_ns = forecast.remaining_ns();
    let points: Vec<Point> = plan.tests[0].points().collect();
    for repetition in 1..=7 {
        for point in &points {
            let trials = if repetition == 1 { 7 } else { 6 };
            let (brackets, values) = (Vec::new(), Vec::new());
            forecast.finish(&Outcome {
                point: point.clone(),
                repetition,
                trials,
                invalid: 0,
                load: None,
                brackets,
                values,
                signs: Default::default(),
            });
        }
    }
    let share = forecast.remaining_ns() as f64 / whole_ns as f64;
    assert!((0.6..0.75).contains(&share), "{share}");
}
