//! What lets a change pass or stops it: the verdict of a comparison, and of what a plan expects.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A verdict, from the least serious to the most serious: where there are several, the last in this order decides.
///
/// - Worse is a finding about the device. Nothing that is measured later takes it back, so it comes first.
/// - Missing comes next: of what was never measured nothing is known, and it must be measured before anything else can be said.
/// - An unfit tester has measured, and says so; the cure is another machine or a quieter one.
/// - Inconclusive results are sound as far as they go; the cure is more repetitions, which would not help in any case above.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Gate {
    /// B is better or no difference is shown; every expectation is met.
    #[default]
    Passed,
    /// The measurements cannot show a difference: too few repetitions, or a sample that the tester or the plan cut off.
    Inconclusive,
    /// The tester had no valid trials, or could not go as far as it would have to.
    TesterUnfit,
    /// Something that should have been measured was not.
    Missing,
    /// B is worse than A; an expectation is missed.
    Worse,
}

#[cfg(test)]
mod tests {
    use super::Gate::{self, *};

    #[test]
    fn of_several_verdicts_the_most_serious_decides() {
        let worst = |all: &[Gate]| all.iter().copied().max().unwrap_or_default();
        assert_eq!(worst(&[Passed, Inconclusive]), Inconclusive);
        assert_eq!(worst(&[Inconclusive, TesterUnfit, Passed]), TesterUnfit);
        assert_eq!(worst(&[TesterUnfit, Missing, Inconclusive]), Missing);
        assert_eq!(worst(&[Missing, Worse, TesterUnfit]), Worse);
        assert_eq!(worst(&[]), Passed);
    }
}
