//! The same rate in every losing trial.

use super::evidence::{FEWEST_TRIALS, PatternLoads, noun};
use crate::record::TrialRecord;
use crate::terms::{Direction, FrameRate};
use crate::units::show_rate;

/// Frames that passed in each of them: of fewer, the same number may be an accident.
const FEWEST_FRAMES: u64 = 1000;

/// The share by which the rates that passed may differ.
const LARGEST_SPREAD: f64 = 0.02;

/// What passed in a direction of the losing trials.
struct Plateau {
    direction: Direction,
    passed: FrameRate,
    loads: PatternLoads,
    trials: usize,
}

/// Returns the sentence on the directions with a plateau; `None` if there is none.
pub(super) fn sentence(lost: &[&TrialRecord]) -> Option<String> {
    let plateaus: Vec<String> = [Direction::Forward, Direction::Reverse]
        .into_iter()
        .filter_map(|direction| plateau(lost, direction))
        .map(|plateau| plateau.sentence(noun(lost)))
        .collect();
    (!plateaus.is_empty()).then(|| plateaus.join("; "))
}

fn plateau(lost: &[&TrialRecord], direction: Direction) -> Option<Plateau> {
    let mut trials: Vec<(FrameRate, f64)> = Vec::new();
    for record in lost {
        let spec = &record.result.spec;
        let mut directions = record.result.directions.iter();
        let Some(of) = directions.find(|of| of.direction == direction && of.not_received() > 0)
        else {
            continue;
        };
        if of.received < FEWEST_FRAMES {
            return None;
        }
        let passed = of.received as f64 * 1e9 / spec.duration_ns.max(1) as f64;
        trials.push((spec.rate, passed));
    }
    let loads = PatternLoads::spanning(trials.iter().map(|(load, _)| *load))?;
    let least = trials
        .iter()
        .map(|(_, passed)| *passed)
        .fold(f64::MAX, f64::min);
    let most = trials.iter().map(|(_, passed)| *passed).fold(0.0, f64::max);
    let is_flat = least > 0.0 && most - least <= LARGEST_SPREAD * most;
    (trials.len() >= FEWEST_TRIALS && is_flat && loads.is_wide()).then(|| Plateau {
        direction,
        passed: FrameRate(least.midpoint(most).round() as u64),
        loads,
        trials: trials.len(),
    })
}

impl Plateau {
    fn sentence(&self, noun: &str) -> String {
        let passed = show_rate(self.passed);
        let Self { loads, trials, .. } = self;
        let what = if noun == "queries" {
            "as many were answered rightly".to_owned()
        } else {
            format!("in the {} direction as much passed", self.direction)
        };
        format!(
            "consistent with a rate limit at about {passed} {noun}/s: {what} in each of {trials} losing trials at {loads} {noun}/s"
        )
    }
}
