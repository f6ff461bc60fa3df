//! Judges a run against the expectations of its plan.

use crate::comparison::ComparedValue;
use crate::gate::Gate;
use sixbench_method::measures::{Outcome, Quantity};
use sixbench_method::plan::{Expectation, Measure, Plan, Test};
use sixbench_method::terms::{Direction, FrameSize};

/// An expectation at one point, with the result found there.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgedExpectation<'a> {
    /// The test that is judged.
    pub test: &'a Test,
    /// The frame size.
    pub frame_size: FrameSize,
    /// The expectation of the plan.
    pub expectation: &'a Expectation,
    /// The subject of the expectation, in the direction with the worst result.
    pub subject: ComparedValue,
    /// The median that was found; `None` if there is no result.
    pub found: Option<Median>,
    /// Passed, TesterUnfit, Missing or Worse.
    pub verdict: Gate,
}

/// The median of the repetitions as far as it is known: if the tester or the plan cut repetitions off, it may have no upper bound; if the tester or other
/// work on the machine made delays too long, it may have no lower one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Median {
    /// The lower bound of the median; minus infinity if there is none.
    pub low: f64,
    /// The upper bound of the median; infinity if there is none.
    pub high: f64,
    /// The number of repetitions.
    pub n: usize,
}

/// Judges every expectation of a plan at each of its points, in the order of the plan.
pub fn judge<'a>(plan: &'a Plan, outcomes: &[Outcome]) -> Vec<JudgedExpectation<'a>> {
    let mut judged = Vec::new();
    for test in &plan.tests {
        for (expectation, &size) in test
            .expect
            .iter()
            .flat_map(|e| test.frame_sizes.iter().map(move |size| (e, size)))
        {
            if expectation.is_for(size) {
                let of_point = outcomes
                    .iter()
                    .filter(|o| o.point.test == test.name && o.point.frame_size == size)
                    .collect();
                judged.push(
                    PointRepetitions {
                        plan,
                        test,
                        size,
                        outcomes: of_point,
                    }
                    .judge(expectation),
                );
            }
        }
    }
    judged
}

struct PointRepetitions<'a, 'o> {
    plan: &'a Plan,
    test: &'a Test,
    size: FrameSize,
    outcomes: Vec<&'o Outcome>,
}

/// A value as far as it is known: its lower and its upper bound.
type Known = (f64, f64);

impl<'a> PointRepetitions<'a, '_> {
    fn judge(&self, expectation: &'a Expectation) -> JudgedExpectation<'a> {
        let judged = |subject, median: Option<Median>| JudgedExpectation {
            test: self.test,
            frame_size: self.size,
            expectation,
            subject,
            found: median,
            verdict: median.map_or(Gate::Missing, |median| median.against(expectation)),
        };
        let Some(quantity) = expectation.quantity else {
            return judged(self.searched(), self.rate());
        };
        let judged = self
            .directions(quantity, expectation)
            .into_iter()
            .map(|direction| {
                judged(
                    ComparedValue::Value(quantity, direction, expectation.rate),
                    self.median(quantity, direction, expectation),
                )
            });
        // The worst direction decides for the point.
        judged
            .reduce(|worst, next| {
                if next.verdict > worst.verdict {
                    next
                } else {
                    worst
                }
            })
            .expect("at least one direction")
    }

    fn searched(&self) -> ComparedValue {
        let goal = self.test.first_goal(self.plan);
        ComparedValue::rate(&self.test.measure, self.plan.search.accepted(goal))
    }

    fn rate(&self) -> Option<Median> {
        let known = self
            .outcomes
            .iter()
            .filter_map(|outcome| outcome.brackets.first())
            .map(|found| match found.known() {
                Some(rate) => (
                    rate.value,
                    if rate.is_at_least {
                        f64::INFINITY
                    } else {
                        rate.value
                    },
                ),
                None => (f64::NEG_INFINITY, f64::INFINITY),
            });
        Median::from_known(&known.collect::<Vec<Known>>())
    }

    /// Returns the directions that have values, or the first direction of the test if there are none.
    fn directions(&self, quantity: Quantity, expectation: &Expectation) -> Vec<Direction> {
        let has = |direction: &Direction| {
            self.outcomes
                .iter()
                .any(|o| value(o, quantity, *direction, expectation).is_some())
        };
        let found: Vec<Direction> = [Direction::Forward, Direction::Reverse]
            .into_iter()
            .filter(has)
            .collect();
        if found.is_empty() {
            self.test.directions.each()[..1].to_vec()
        } else {
            found
        }
    }

    /// Returns the median of a quantity; `None` if most repetitions have no value for a reason other than the tester, because nothing is known about
    /// those.
    fn median(
        &self,
        quantity: Quantity,
        direction: Direction,
        expectation: &Expectation,
    ) -> Option<Median> {
        let known = self.outcomes.iter().filter_map(|outcome| {
            match value(outcome, quantity, direction, expectation) {
                // Nothing is known of such a repetition: with a tester that was fit, it might have had any value.
                None if outcome.is_unfit(&self.test.measure) => {
                    Some((f64::NEG_INFINITY, f64::INFINITY))
                }
                found => found,
            }
        });
        let known: Vec<Known> = known.collect();
        // With half of the repetitions unknown, the median could be anything.
        Median::from_known(&known).filter(|_| 2 * known.len() > self.outcomes.len())
    }
}

fn value(
    outcome: &Outcome,
    quantity: Quantity,
    direction: Direction,
    expectation: &Expectation,
) -> Option<Known> {
    let is_wanted = |load| expectation.rate.is_none_or(|rate| rate == load);
    let mut values = outcome
        .values
        .iter()
        .filter(|v| v.quantity == quantity && v.direction == direction && is_wanted(v.load));
    values.next().map(|found| {
        let low = if found.is_at_most {
            f64::NEG_INFINITY
        } else {
            found.value
        };
        (
            low,
            if found.is_at_least {
                f64::INFINITY
            } else {
                found.value
            },
        )
    })
}

impl Median {
    fn from_known(known: &[Known]) -> Option<Self> {
        let (low, high): (Vec<f64>, Vec<f64>) = known.iter().copied().unzip();
        Some(Self {
            low: sixbench_stats::median(&low)?,
            high: sixbench_stats::median(&high)?,
            n: known.len(),
        })
    }

    /// Returns the verdict on the median against the expectation. A median that is only a lower bound passes an `at_least` bound below it and misses
    /// no other: the tester cannot tell how far the device exceeds it. In the same way, one that is only an upper bound passes an `at_most` bound above
    /// it and misses no other.
    fn against(&self, expectation: &Expectation) -> Gate {
        let at_least = expectation.at_least.map_or(Gate::Passed, |bound| {
            if self.low >= bound {
                Gate::Passed
            } else if self.high < bound {
                Gate::Worse
            } else {
                Gate::TesterUnfit
            }
        });
        let at_most = expectation.at_most.map_or(Gate::Passed, |bound| {
            if self.high <= bound {
                Gate::Passed
            } else if self.low > bound {
                Gate::Worse
            } else {
                Gate::TesterUnfit
            }
        });
        at_least.max(at_most)
    }
}

/// Returns the points where a measurement has no result because the tester never achieved a valid trial, each with the number of such repetitions and
/// of all repetitions.
pub fn unfit<'a>(plan: &'a Plan, outcomes: &[Outcome]) -> Vec<(&'a Test, FrameSize, usize, usize)> {
    let points = plan
        .tests
        .iter()
        .flat_map(|test| test.frame_sizes.iter().map(move |&size| (test, size)));
    let counted = points.map(|(test, size)| {
        let made = outcomes
            .iter()
            .filter(|o| o.point.test == test.name && o.point.frame_size == size);
        let (unfit, fit): (Vec<_>, Vec<_>) =
            made.partition(|outcome| outcome.is_unfit(&test.measure));
        (test, size, unfit.len(), unfit.len() + fit.len())
    });
    counted.filter(|(_, _, unfit, _)| *unfit > 0).collect()
}

/// Returns whether a measure searches for a rate, either as its result or as the load it is made at.
pub fn has_rate(measure: &Measure) -> bool {
    measure.is_searched_rate() || measure.is_at_throughput()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixbench_method::fixtures::outcome;
    use sixbench_method::measures::Value;
    use sixbench_method::plan::{Load, PdvStream, Profile};
    use sixbench_method::search::{
        Bracket, CapacityEstimate, Limit, RepetitionStart, SearchMethod, SearchSettings,
    };
    use sixbench_method::terms::{FrameRate, LossRatio};
    use sixbench_method::trial::TrialSettings;

    fn plan(test: Test) -> Plan {
        let trial = TrialSettings {
            duration_ns: 1,
            residual_ns: 0,
            rest_ns: 0,
            frame_timeout_ns: 0,
            stall_ns: 1,
        };
        let search = SearchSettings {
            method: SearchMethod::Binary,
            minimum: FrameRate(1_000),
            maximum: FrameRate(200_000),
            width: 0.01,
            goals: vec![LossRatio::ZERO],
            max_invalid: 3,
            start: RepetitionStart::Cold,
            estimate: CapacityEstimate::Bounded,
            certainty: None,
        };
        Plan {
            seed: 1,
            ..Plan::new("p", Profile::Smoke, trial, search, vec![test])
        }
    }

    fn found(size: u16, rates: &[(Option<u64>, Limit)]) -> Vec<Outcome> {
        let bracket = |&(rate, limit): &(Option<u64>, Limit)| {
            vec![Bracket {
                goal: LossRatio::ZERO,
                lower: rate.map(FrameRate),
                upper: None,
                limit,
                exceed_ratio: 0.0,
                conditional_throughput: None,
            }]
        };
        rates
            .iter()
            .zip(1..)
            .map(|(rate, i)| Outcome {
                brackets: bracket(rate),
                ..outcome("t", size, i)
            })
            .collect()
    }

    fn verdicts(test: Test, outcomes: &[Outcome]) -> Vec<Gate> {
        judge(&plan(test), outcomes)
            .iter()
            .map(|judged| judged.verdict)
            .collect()
    }

    fn of_rates(expectation: Expectation, rates: &[(Option<u64>, Limit)]) -> Gate {
        verdicts(
            Test {
                expect: vec![expectation],
                ..Test::new("t", "d")
            },
            &found(84, rates),
        )[0]
    }

    fn between(at_least: Option<f64>, at_most: Option<f64>) -> Expectation {
        Expectation {
            at_least,
            at_most,
            ..Expectation::at_least(0.0)
        }
    }

    #[test]
    fn the_median_is_held_against_both_bounds() {
        let rates = [90_000, 100_000, 130_000].map(|rate| (Some(rate), Limit::Dut));
        let judged = |at_least, at_most| of_rates(between(at_least, at_most), &rates);
        assert_eq!(judged(Some(100_000.0), None), Gate::Passed);
        assert_eq!(judged(Some(100_001.0), None), Gate::Worse);
        assert_eq!(judged(Some(50_000.0), Some(99_999.0)), Gate::Worse);
        assert_eq!(judged(None, Some(100_000.0)), Gate::Passed);
        assert_eq!(
            of_rates(between(Some(1_000.0), None), &[(None, Limit::Dut); 3]),
            Gate::Worse,
            "nothing passed"
        );
    }

    #[test]
    fn what_the_tester_or_the_plan_cut_off_passes_bounds_below_it_and_misses_none() {
        for limit in [Limit::Tester, Limit::Maximum, Limit::Disturbed] {
            let rates = [(Some(100_000), limit); 3];
            assert_eq!(
                of_rates(between(Some(90_000.0), None), &rates),
                Gate::Passed
            );
            assert_eq!(
                of_rates(between(Some(110_000.0), None), &rates),
                Gate::TesterUnfit,
                "the device may do more"
            );
            assert_eq!(
                of_rates(between(None, Some(110_000.0)), &rates),
                Gate::TesterUnfit
            );
            assert_eq!(
                of_rates(between(None, Some(90_000.0)), &rates),
                Gate::Worse,
                "it does more"
            );
        }
    }

    #[test]
    fn a_repetition_of_which_nothing_is_known_leaves_a_median_of_the_others() {
        let (known, unknown) = ((Some(100_000), Limit::Dut), (None, Limit::Tester));
        assert_eq!(
            of_rates(between(Some(100_000.0), None), &[known, unknown, known]),
            Gate::Passed
        );
        assert_eq!(
            of_rates(between(Some(100_001.0), None), &[known, unknown, known]),
            Gate::Worse
        );
        assert_eq!(
            of_rates(between(Some(100_000.0), None), &[unknown, unknown, known]),
            Gate::TesterUnfit
        );
    }

    #[test]
    fn an_expectation_without_a_result_is_missing() {
        let sizes = Test {
            frame_sizes: vec![FrameSize(84), FrameSize(128)],
            ..Test::new("t", "d")
        };
        let rates = found(84, &[(Some(100_000), Limit::Dut)]);
        let both = Test {
            expect: vec![Expectation::at_least(1e5)],
            ..sizes.clone()
        };
        assert_eq!(verdicts(both, &rates), [Gate::Passed, Gate::Missing]);
        let one = Expectation {
            frame_size: Some(FrameSize(84)),
            ..Expectation::at_least(1e5)
        };
        assert_eq!(
            verdicts(
                Test {
                    expect: vec![one],
                    ..sizes
                },
                &rates
            ),
            [Gate::Passed]
        );
    }

    #[test]
    fn each_direction_of_a_quantity_is_judged_by_itself() {
        let measure = Measure::Pdv(PdvStream {
            load: Load::OfThroughput(1.0),
            duration_ns: 1,
        });
        let value = |direction, value| Value {
            quantity: Quantity::Pdv,
            direction,
            load: FrameRate(1),
            value,
            is_at_least: false,
            is_at_most: false,
        };
        let values = vec![
            value(Direction::Forward, 200_000.0),
            value(Direction::Reverse, 400_000.0),
        ];
        let outcomes = [Outcome {
            values,
            ..outcome("t", 84, 1)
        }];
        let most = |bound| Expectation {
            quantity: Some(Quantity::Pdv),
            ..between(None, Some(bound))
        };
        let judged = |bound, outcomes: &[Outcome]| {
            let plan = plan(Test {
                measure: measure.clone(),
                expect: vec![most(bound)],
                ..Test::new("t", "d")
            });
            let judged = judge(&plan, outcomes);
            (judged[0].verdict, judged[0].subject)
        };
        assert_eq!(judged(400_000.0, &outcomes).0, Gate::Passed);
        let reverse = ComparedValue::Value(Quantity::Pdv, Direction::Reverse, None);
        assert_eq!(judged(300_000.0, &outcomes), (Gate::Worse, reverse));
        let nothing_passed = found(84, &[(None, Limit::Dut)]);
        assert_eq!(judged(300_000.0, &nothing_passed).0, Gate::Missing);
        let unfit = [Outcome {
            invalid: 4,
            ..outcome("t", 84, 1)
        }];
        assert_eq!(judged(300_000.0, &unfit).0, Gate::TesterUnfit);
    }

    #[test]
    fn a_delay_that_may_be_shorter_meets_a_maximum_above_it_and_misses_none() {
        let measure = Measure::Pdv(PdvStream {
            load: Load::OfThroughput(1.0),
            duration_ns: 1,
        });
        let value = |value, is_at_most| {
            let (quantity, direction, load) = (Quantity::Pdv, Direction::Forward, FrameRate(1));
            vec![Value {
                quantity,
                direction,
                load,
                value,
                is_at_least: false,
                is_at_most,
            }]
        };
        let verdict = |bounds: (Option<f64>, Option<f64>), are_bounds: [bool; 3]| {
            let expect = vec![Expectation {
                quantity: Some(Quantity::Pdv),
                ..between(bounds.0, bounds.1)
            }];
            let made = are_bounds.into_iter().zip([290.0, 300.0, 310.0]).zip(1..);
            let outcomes: Vec<Outcome> = made
                .map(|((is_bound, of), i)| Outcome {
                    values: value(of, is_bound),
                    ..outcome("t", 84, i)
                })
                .collect();
            verdicts(
                Test {
                    measure: measure.clone(),
                    expect,
                    ..Test::new("t", "d")
                },
                &outcomes,
            )[0]
        };
        assert_eq!(
            verdict((None, Some(300.0)), [true; 3]),
            Gate::Passed,
            "at most 300"
        );
        assert_eq!(
            verdict((None, Some(299.0)), [true; 3]),
            Gate::TesterUnfit,
            "it may be 299"
        );
        assert_eq!(
            verdict((None, Some(299.0)), [true, false, false]),
            Gate::Worse,
            "the median is 300 in any case"
        );
        assert_eq!(
            verdict((None, Some(299.0)), [false, true, false]),
            Gate::TesterUnfit
        );
        assert_eq!(verdict((Some(200.0), None), [true; 3]), Gate::TesterUnfit);
    }

    #[test]
    fn points_at_which_the_tester_was_unfit_are_named_with_their_repetitions() {
        let plan = plan(Test::new("t", "d"));
        let rates = [
            (Some(100_000), Limit::Tester),
            (None, Limit::Tester),
            (None, Limit::Dut),
        ];
        let unfit: Vec<_> = unfit(&plan, &found(84, &rates))
            .into_iter()
            .map(|(test, size, n, of)| (test.label(size), n, of))
            .collect();
        assert_eq!(unfit, [("t/84".to_owned(), 1, 3)]);
    }
}
