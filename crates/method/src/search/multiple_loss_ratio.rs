//! Multiple Loss Ratio search, RFC 9971: several loss goals in one search, short trials before long ones, and each load judged by all trials at it.

use super::goal::Goal;
use super::range::LoadRange;
use super::selector::Selector;
use super::{Bracket, CapacityEstimate, Certainty, Search, SearchInfo, SearchSettings, Start};
use crate::terms::FrameRate;
use crate::trial::{TrialResult, TrialSettings, TrialSpec};
use std::cmp::Reverse;

pub(super) static INFO: SearchInfo = SearchInfo {
    word: "mlrsearch",
    name: "MLRsearch",
    title: "MLRsearch",
    takes_several_goals: true,
    has_shorter_trials: true,
    trials: None,
    new: |settings, trial, start| Box::new(search_for(settings, trial, start)),
};

/// Returns a search for the goals of the plan.
fn search_for(
    settings: &SearchSettings,
    trial: &TrialSettings,
    start: Start,
) -> MultipleLossRatioSearch {
    MultipleLossRatioSearch::new(
        goals(settings, trial.duration_ns),
        settings.minimum,
        settings.maximum,
        settings.max_invalid,
        start,
    )
    .estimating(settings.estimate)
}

/// Returns the goals that `settings` ask for, with full trials of `duration_ns` nanoseconds.
fn goals(settings: &SearchSettings, duration_ns: u64) -> Vec<Goal> {
    let certainty = settings
        .certainty
        .unwrap_or(Certainty::one_trial(duration_ns));
    // A resolved plan from another source may ask for any number of trials at a load.
    let most = duration_ns.saturating_mul(Certainty::MOST_TRIALS);
    let base = Goal {
        certainty: Certainty {
            duration_sum_ns: certainty.duration_sum_ns.clamp(duration_ns, most),
            ..certainty
        },
        ..Goal::rfc2544(settings.width, duration_ns)
    };
    let goals = settings.goals.iter();
    goals
        .map(|&loss_ratio| Goal { loss_ratio, ..base })
        .collect()
}

/// The Controller of RFC 9971. Every goal ends with a relevant lower and upper bound within its width, or at an end of
/// the range.
#[derive(Clone, Debug)]
pub struct MultipleLossRatioSearch {
    selectors: Vec<Selector>,
}

impl MultipleLossRatioSearch {
    /// Returns a search for all `goals` among the loads `minimum..=maximum`, in frames per second per direction.
    ///
    /// A cold start tries the maximum first and then the rate that was forwarded. After `max_invalid` consecutive invalid trials at one load, that
    /// load counts as beyond the tester.
    pub fn new(
        goals: Vec<Goal>,
        minimum: FrameRate,
        maximum: FrameRate,
        max_invalid: u32,
        start: Start,
    ) -> Self {
        Self {
            selectors: goals
                .into_iter()
                .map(|goal| {
                    let range = LoadRange::new(minimum, maximum, goal.width);
                    Selector::new(goal, range, max_invalid, start)
                })
                .collect(),
        }
    }
}

impl MultipleLossRatioSearch {
    /// Returns the same search with another way to estimate the capacity of the DUT.
    pub fn estimating(self, estimate: CapacityEstimate) -> Self {
        let selectors = self.selectors.into_iter();
        Self {
            selectors: selectors
                .map(|selector| selector.estimating(estimate))
                .collect(),
        }
    }
}

impl Search for MultipleLossRatioSearch {
    /// Returns the trial with the lowest load that any goal asks for, because its result also narrows the range of the goals above; of trials with
    /// equal loads, the longest, because it counts for all goals.
    fn next_trial(&self) -> Option<TrialSpec> {
        let nominated = self.selectors.iter().filter_map(Selector::nominate);
        nominated.min_by_key(|spec| (spec.rate, Reverse(spec.duration_ns)))
    }

    fn learn(&mut self, result: &TrialResult) {
        self.selectors
            .iter_mut()
            .for_each(|selector| selector.learn(result));
    }

    fn brackets(&self) -> Vec<Bracket> {
        self.selectors.iter().map(Selector::bracket).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::{Limit, run};
    use crate::simulated::{Behaviour, SimulatedDut};
    use crate::terms::{Direction, LossRatio, SECOND_NS};
    use crate::trial::{DirectionResult, Fault};
    use sixbench_stats::SplitMix64;

    fn three_goals() -> Vec<Goal> {
        let base = Goal::rfc2544(0.001, 60 * SECOND_NS);
        [0.0, 0.0001, 0.001]
            .map(|loss| Goal {
                loss_ratio: LossRatio(loss),
                ..base
            })
            .to_vec()
    }

    fn search(goals: Vec<Goal>, start: Start) -> MultipleLossRatioSearch {
        MultipleLossRatioSearch::new(goals, FrameRate(1_000), FrameRate(10_000_000), 3, start)
    }

    fn hard(capacity: u64) -> SimulatedDut {
        SimulatedDut::new(Behaviour::HardLimit, FrameRate(capacity), 1)
    }

    #[test]
    fn a_hard_limit_takes_three_short_trials_and_two_of_each_longer_kind() {
        let mut search = search(vec![Goal::rfc2544(0.001, 60 * SECOND_NS)], Start::Cold);
        let mut dut = hard(1_000_000);
        let mut durations = Vec::new();
        while let Some(spec) = search.next_trial() {
            durations.push(spec.duration_ns / SECOND_NS);
            let Ok(result) = crate::trial::Measurer::measure(&mut dut, &spec);
            search.learn(&result);
        }
        assert_eq!(durations, [1, 1, 1, 7, 7, 60, 60]);
        let found = search.brackets()[0];
        assert_eq!(
            (found.lower, found.limit),
            (Some(FrameRate(1_000_000)), Limit::Dut)
        );
    }

    /// Returns the trials of a search on a device that forwards nothing above four times its capacity, with full trials as short as the first ones.
    fn trials_on_livelock(capacity: u64, estimate: CapacityEstimate) -> u32 {
        let goal = Goal::rfc2544(0.03, SECOND_NS);
        let mut search = search(vec![goal], Start::Cold).estimating(estimate);
        let livelock = Behaviour::Livelock { nothing_from: 4.0 };
        let mut dut = SimulatedDut::new(livelock, FrameRate(capacity), 1);
        let trials = run(&mut search, &mut dut).expect("no error");
        let found = search.brackets()[0];
        let (lower, upper) = (found.lower.expect("a bound"), found.upper.expect("a bound"));
        assert_eq!(found.limit, Limit::Dut);
        assert!(lower.0 <= capacity && capacity < upper.0, "{found:?}");
        assert!((upper.0 - lower.0) as f64 <= 0.03 * upper.0 as f64);
        trials
    }

    #[test]
    fn a_device_that_forwards_nothing_when_overloaded_is_not_searched_from_the_minimum_on() {
        for capacity in [35_000, 60_000, 400_000] {
            let [bounded, literal] = [CapacityEstimate::Bounded, CapacityEstimate::Literal]
                .map(|estimate| trials_on_livelock(capacity, estimate));
            assert!(bounded + 4 <= literal, "{capacity}: {bounded}, {literal}");
        }
    }

    #[test]
    fn a_load_that_the_tester_cannot_offer_is_not_tried_again_while_the_device_is_slower() {
        let goal = Goal::rfc2544(0.03, SECOND_NS);
        let mut search = search(vec![goal], Start::Cold).estimating(CapacityEstimate::Bounded);
        let slow = Behaviour::SlowTester { ceiling: 2.0 };
        let mut dut = SimulatedDut::new(slow, FrameRate(3_000_000), 1);
        let trials = run(&mut search, &mut dut).expect("no error");
        let found = search.brackets()[0];
        assert_eq!(
            (trials, found.lower, found.limit),
            (3, Some(FrameRate(3_000_000)), Limit::Dut)
        );
    }

    #[test]
    fn three_goals_on_a_hard_limit_differ_by_the_loss_they_accept() {
        let mut search = search(three_goals(), Start::Cold);
        run(&mut search, &mut hard(1_000_000)).unwrap();
        for (bracket, truth) in search
            .brackets()
            .iter()
            .zip([1_000_000, 1_000_100, 1_001_001])
        {
            let (lower, upper) = (bracket.lower.unwrap().0, bracket.upper.unwrap().0);
            assert!(lower <= truth && truth <= upper, "{bracket:?} {truth}");
            assert!(
                (upper - lower) as f64 <= 0.001 * upper as f64,
                "{bracket:?}"
            );
        }
    }

    #[test]
    fn a_known_loss_ratio_meets_the_goal_that_accepts_it_and_no_stricter_one() {
        let mut search = search(three_goals(), Start::Cold);
        run(&mut search, &mut hard(1_000_000).with_base_loss(0.0005)).unwrap();
        let lower = search
            .brackets()
            .iter()
            .map(|b| b.lower.is_some())
            .collect::<Vec<_>>();
        assert_eq!(lower, [false, false, true]);
    }

    #[test]
    fn a_dut_better_than_the_plan_allows_is_told_by_the_maximum() {
        let mut search = search(three_goals(), Start::Cold);
        let trials = run(&mut search, &mut hard(20_000_000)).unwrap();
        assert!(search.brackets().iter().all(|b| b.limit == Limit::Maximum));
        assert_eq!(trials, 3);
    }

    #[test]
    fn a_slow_tester_is_not_blamed_on_the_dut() {
        let slow = Behaviour::SlowTester { ceiling: 0.5 };
        for estimate in [CapacityEstimate::Bounded, CapacityEstimate::Literal] {
            let mut search = search(three_goals(), Start::Cold).estimating(estimate);
            let mut dut = SimulatedDut::new(slow, FrameRate(1_000_000), 1);
            run(&mut search, &mut dut).unwrap();
            for bracket in search.brackets() {
                assert_eq!(bracket.limit, Limit::Tester);
                let lower = bracket.lower.unwrap().0;
                assert!((499_500..=500_000).contains(&lower), "{bracket:?}");
            }
        }
    }

    /// Returns a result with random loss and faults, whatever the load.
    fn adversary(spec: TrialSpec, random: &mut SplitMix64) -> TrialResult {
        let offered = spec.frames();
        let kept = [1.0, 1.0, 0.99995, 0.9995, 0.5, 0.0][(random.next_u64() % 6) as usize];
        let received = (offered as f64 * kept) as u64;
        let stall = Fault::SenderStalled {
            direction: Direction::Forward,
            worst_lateness_ns: 1,
            frames: random.next_u64() % offered.max(1),
        };
        let faults = if random.uniform() < 0.3 {
            vec![stall]
        } else {
            vec![]
        };
        let directions = vec![DirectionResult::counted(
            Direction::Forward,
            offered,
            received,
        )];
        TrialResult::new(spec, directions, faults)
    }

    #[test]
    fn whatever_the_verdicts_the_search_ends() {
        let mut worst = 0;
        for seed in 0..2_000 {
            let mut goals = three_goals();
            goals.push(Goal {
                loss_ratio: LossRatio(0.0001),
                certainty: Certainty::tst009(30 * SECOND_NS),
                ..Goal::rfc2544(0.0005, 30 * SECOND_NS)
            });
            let start = [Start::Cold, Start::Near(FrameRate(700_000))][(seed % 2) as usize];
            let estimate =
                [CapacityEstimate::Bounded, CapacityEstimate::Literal][(seed / 2 % 2) as usize];
            let mut search = search(goals, start).estimating(estimate);
            let mut random = SplitMix64::new(seed);
            let mut trials = 0;
            while let Some(spec) = search.next_trial() {
                search.learn(&adversary(spec, &mut random));
                trials += 1;
                assert!(trials < 500, "seed {seed} does not end");
            }
            worst = worst.max(trials);
        }
        assert!(worst > 50, "the adversary is too kind: {worst}");
    }
}
