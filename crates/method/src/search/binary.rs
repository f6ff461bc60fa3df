//! Binary search: the method of every paper on RFC 2544 section 26.1, although the RFC does not name one. It has one loss goal, and every trial has
//! the full duration, so the final value rests on full trials, as section 24 asks.

use super::invalid_trials::{GoalEvidence, InvalidTrialPolicy};
use super::range::{Bounds, ExpectedLoad, LoadRange};
use super::{Bracket, Limit, Search, SearchInfo, SearchSettings, Start};
use crate::terms::LossRatio;
use crate::trial::{TrialResult, TrialSpec};

/// The trials after a warm start: two to open the bracket and four halvings if the DUT is steady, a few more if it is noisy.
const WARM_TRIALS: f64 = 6.0;

pub(super) static INFO: SearchInfo = SearchInfo {
    word: "binary",
    name: "binary",
    title: "binary search",
    takes_several_goals: false,
    has_shorter_trials: false,
    trials: Some(trials),
    new: |settings, trial, start| Box::new(BinarySearch::new(settings, trial.duration_ns, start)),
};

fn trials(search: &SearchSettings, warm: bool) -> f64 {
    let (minimum, maximum) = (search.minimum.0 as f64, search.maximum.0 as f64);
    let intervals = (maximum - minimum) / (search.width * maximum).max(1.0);
    // One trial at the maximum, and one for each halving.
    let cold_trials = 1.0 + intervals.max(1.0).log2().ceil();
    if warm {
        cold_trials.min(WARM_TRIALS)
    } else {
        cold_trials
    }
}

/// Halves the interval between a load that met the goal and one that missed it.
///
/// A cold start tries the maximum first, so that a DUT that exceeds the plan's range is recognised, and then halves [minimum, maximum]. A warm start
/// tries the hint, then 16 widths above or below it, widens in doubling steps until the result is between two loads, and halves. In both cases this
/// search itself has tried both ends of the result.
#[derive(Clone, Debug)]
pub struct BinarySearch {
    goal: LossRatio,
    duration_ns: u64,
    range: LoadRange,
    aim: Option<ExpectedLoad>,
    known: Bounds,
    policy: InvalidTrialPolicy,
}

impl BinarySearch {
    /// Returns a search for the first of the settings' goals, or zero loss if there is none, in trials of `duration_ns` nanoseconds.
    pub fn new(settings: &SearchSettings, duration_ns: u64, start: Start) -> Self {
        Self {
            goal: settings.first_goal(),
            duration_ns,
            range: LoadRange::new(settings.minimum, settings.maximum, settings.width),
            aim: aim(start),
            known: Bounds::default(),
            policy: InvalidTrialPolicy::new(settings.max_invalid),
        }
    }

    fn limit(&self) -> Limit {
        match self.known.upper {
            None => Limit::Maximum,
            // The tester set the upper bound only if it is the lowest load beyond the tester; a lower miss would have replaced it.
            upper if upper == self.policy.beyond() => Limit::Tester,
            Some(_) => Limit::Dut,
        }
    }
}

fn aim(start: Start) -> Option<ExpectedLoad> {
    match start {
        Start::Cold => None,
        Start::Near(hint) => Some(ExpectedLoad::around(hint)),
    }
}

impl Search for BinarySearch {
    fn next_trial(&self) -> Option<TrialSpec> {
        let next = match self.aim {
            Some(aim) => self.range.gallop(self.known, aim),
            None => self.range.halve(self.known),
        };
        next.map(|rate| TrialSpec::constant(rate, self.duration_ns))
    }

    fn learn(&mut self, result: &TrialResult) {
        let rate = result.spec.rate;
        match self.policy.judge(result, result.verdict(self.goal)) {
            GoalEvidence::Met => self.known.lower = Some(rate),
            GoalEvidence::Missed | GoalEvidence::BeyondTester => self.known.upper = Some(rate),
            GoalEvidence::Nothing => {}
        }
    }

    fn brackets(&self) -> Vec<Bracket> {
        let Bounds { lower, upper } = self.known;
        vec![Bracket {
            goal: self.goal,
            lower,
            upper,
            limit: self.limit(),
            exceed_ratio: 0.0,
            conditional_throughput: None,
        }]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::{CapacityEstimate, RepetitionStart, SearchMethod, run};
    use crate::simulated::{Behaviour, SimulatedDut};
    use crate::terms::FrameRate;

    fn settings() -> SearchSettings {
        SearchSettings {
            method: SearchMethod::Binary,
            minimum: FrameRate(1_000),
            maximum: FrameRate(1_000_000),
            width: 0.001,
            goals: vec![LossRatio::ZERO],
            max_invalid: 3,
            start: RepetitionStart::Dithered,
            estimate: CapacityEstimate::Bounded,
            certainty: None,
        }
    }

    fn search(start: Start, dut: &mut SimulatedDut) -> (Bracket, u32) {
        let mut search = BinarySearch::new(&settings(), 60_000_000_000, start);
        let trials = run(&mut search, dut).unwrap();
        (search.brackets()[0], trials)
    }

    fn hard(capacity: u64) -> SimulatedDut {
        SimulatedDut::new(Behaviour::HardLimit, FrameRate(capacity), 1)
    }

    #[test]
    fn a_hard_limit_ends_between_two_tested_loads() {
        let (found, trials) = search(Start::Cold, &mut hard(314_159));
        let (lower, upper) = (found.lower.unwrap().0, found.upper.unwrap().0);
        assert!(lower <= 314_159 && 314_159 < upper, "{found:?}");
        assert!((upper - lower) as f64 <= 0.001 * upper as f64);
        assert_eq!((found.limit, trials), (Limit::Dut, 13));
    }

    #[test]
    fn a_right_hint_costs_two_trials_and_four_halvings() {
        let (found, trials) = search(Start::Near(FrameRate(314_159)), &mut hard(314_159));
        assert_eq!((found.limit, trials), (Limit::Dut, 6));
    }

    #[test]
    fn a_dut_better_than_the_plan_allows_takes_one_trial() {
        let (found, trials) = search(Start::Cold, &mut hard(2_000_000));
        assert_eq!(
            (found.lower, found.upper),
            (Some(FrameRate(1_000_000)), None)
        );
        assert_eq!((found.limit, trials), (Limit::Maximum, 1));
    }

    #[test]
    fn a_dut_that_fails_at_the_minimum_has_no_lower_bound() {
        for start in [Start::Cold, Start::Near(FrameRate(500_000))] {
            let (found, _) = search(start, &mut hard(10));
            assert_eq!((found.lower, found.upper), (None, Some(FrameRate(1_000))));
        }
    }

    #[test]
    fn a_slow_tester_is_not_blamed_on_the_dut() {
        let slow = Behaviour::SlowTester { ceiling: 0.5 };
        let (found, trials) = search(
            Start::Cold,
            &mut SimulatedDut::new(slow, FrameRate(400_000), 1),
        );
        assert_eq!(found.limit, Limit::Tester);
        assert_eq!(found.lower.unwrap().0 / 1_000, 199);
        assert!(trials > 15, "invalid trials are repeated: {trials}");
    }

    #[test]
    fn a_hiccup_of_the_tester_costs_one_trial_and_nothing_else() {
        let steady = search(Start::Cold, &mut hard(314_159)).0;
        let stalling = |seed| {
            let dut = SimulatedDut::new(Behaviour::HardLimit, FrameRate(314_159), seed);
            search(Start::Cold, &mut dut.with_stalls(0.05))
        };
        let all: Vec<(Bracket, u32)> = (0..20).map(stalling).collect();
        assert!(all.iter().all(|(found, _)| *found == steady));
        let repeated: u32 = all.iter().map(|(_, trials)| trials - 13).sum();
        assert!((3..40).contains(&repeated), "{repeated}");
    }
}
