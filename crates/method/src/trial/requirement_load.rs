//! The counts of the traffic beside vectors of requirements that are sent once more under load, from those of the trials that made it.

use super::requirements::{LoadedDirection, RequirementLoad};
use super::{DirectionResult, TrialResult, Verdict};
use crate::terms::{FrameRate, FrameSize, LossRatio};

impl RequirementLoad {
    /// Returns the load that these trials made.
    pub fn of_trials(rate: FrameRate, frame_size: FrameSize, trials: &[TrialResult]) -> Self {
        // Any loss is a result, so that only the tester's own faults invalidate.
        let invalid = trials
            .iter()
            .filter(|trial| trial.verdict(LossRatio(1.0)) == Verdict::Invalid);
        let mut directions: Vec<LoadedDirection> = Vec::new();
        for counted in trials.iter().flat_map(|trial| &trial.directions) {
            let known = directions
                .iter_mut()
                .find(|known| known.direction == counted.direction);
            match known {
                Some(known) => known.add(counted),
                None => directions.push(LoadedDirection::counted(counted)),
            }
        }
        Self {
            rate,
            frame_size,
            trials: trials.len() as u32,
            invalid_trials: invalid.count() as u32,
            directions,
        }
    }
}

impl LoadedDirection {
    fn counted(result: &DirectionResult) -> Self {
        Self {
            direction: result.direction,
            offered: result.offered,
            received: result.received,
            wrong: result.mistranslated + result.corrupt,
        }
    }

    fn add(&mut self, result: &DirectionResult) {
        let further = Self::counted(result);
        self.offered += further.offered;
        self.received += further.received;
        self.wrong += further.wrong;
    }

    /// Returns the number of frames that did not come back.
    pub fn lost(&self) -> u64 {
        self.offered
            .saturating_sub(self.received)
            .saturating_sub(self.wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::Direction;
    use crate::trial::{Fault, TrialSpec};

    #[test]
    fn the_counts_of_all_trials_are_added_and_those_of_an_unfit_tester_are_said() {
        let rate = FrameRate(1000);
        let trial = |received, corrupt, faults| {
            let mut forward = DirectionResult::counted(Direction::Forward, 5000, received);
            forward.corrupt = corrupt;
            let reverse = DirectionResult::counted(Direction::Reverse, 5000, 5000);
            TrialResult::new(
                TrialSpec::constant(rate, 5_000_000_000),
                vec![forward, reverse],
                faults,
            )
        };
        let slow = Fault::SentTooSlowly {
            direction: Direction::Forward,
            nominal_ns: 5_000_000_000,
            took_ns: 6_000_000_000,
        };
        let trials = [trial(4000, 10, vec![]), trial(5000, 0, vec![slow])];
        let load = RequirementLoad::of_trials(rate, FrameSize(84), &trials);
        assert_eq!((load.trials, load.invalid_trials), (2, 1));
        let [forward, reverse] = &load.directions[..] else {
            panic!("two directions, not {:?}", load.directions);
        };
        assert_eq!(
            (forward.offered, forward.received, forward.wrong),
            (10_000, 9000, 10)
        );
        assert_eq!((forward.lost(), reverse.lost()), (990, 0));
    }
}
