//! The results of a run compared with the expectations of its plan: lines for the terminal, the verdict, and the reason for it.

use crate::wording::amount;
use crate::wording::requirements::counted_in_words;
use sixbench_analysis::comparison::ComparedValue;
use sixbench_analysis::expectation::{self, JudgedExpectation};
use sixbench_analysis::gate::Gate;
use sixbench_method::disturbance::{SpoiltSearches, mostly_disturbed};
use sixbench_method::measures::{Outcome, Quantity};
use sixbench_method::plan::{Expectation, Plan};
use sixbench_method::record::{Disturber, Facts, TrialRecord};
use sixbench_method::replay;
use sixbench_method::trial::{JudgedVector, RequirementLevel, RequirementResults};
use sixbench_method::units::{agreeing, counted, part_of, show_seconds};

/// The most points that a reason names, and the most requirements.
const MOST_NAMED: usize = 5;

/// The verdict on a completed run.
pub struct RunVerdict {
    /// One line for each expectation that was not met.
    pub lines: String,
    /// The verdict of the whole run.
    pub verdict: Gate,
    /// The reason for the verdict; `None` if there was nothing to judge.
    pub reason: Option<String>,
}

/// Judges a completed run. `what_helps` follows the points at which the tester was not fit.
pub fn judge(plan: &Plan, records: &[TrialRecord], facts: &Facts, what_helps: &str) -> RunVerdict {
    let outcomes = replay::outcomes(plan, records);
    let judged = expectation::judge(plan, &outcomes);
    let worst = judged
        .iter()
        .map(|one| one.verdict)
        .max()
        .unwrap_or_default();
    let lines = judged.iter().filter_map(|one| line(one, records)).collect();
    // A missed expectation or a missing result outweighs the disturbance; `Gate` is ordered.
    let spoilt = mostly_disturbed(&outcomes).filter(|_| worst <= Gate::TesterUnfit);
    if let Some(searches) = spoilt {
        return RunVerdict {
            lines,
            verdict: Gate::TesterUnfit,
            reason: Some(disturbed_reason(searches, &facts.disturbers, what_helps)),
        };
    }
    let unfit = unfit_points(plan, &outcomes);
    let of_points = if unfit.is_empty() {
        Gate::Passed
    } else {
        Gate::TesterUnfit
    };
    let verdict = worst.max(of_points);
    RunVerdict {
        lines,
        verdict,
        reason: reason(verdict, &judged, &unfit, what_helps),
    }
}

/// Returns the points at which the tester was not fit, each with the number of its repetitions.
fn unfit_points(plan: &Plan, outcomes: &[Outcome]) -> Vec<String> {
    expectation::unfit(plan, outcomes)
        .into_iter()
        .map(|(test, size, unfit, made)| {
            format!(
                "{} ({})",
                test.label(size),
                part_of(unfit, made, "repetition")
            )
        })
        .collect()
}

/// Returns how much of a mostly disturbed run gave results, and when to repeat it.
fn disturbed_reason(
    searches: SpoiltSearches,
    disturbers: &[Disturber],
    what_helps: &str,
) -> String {
    let mut longest: Vec<&Disturber> = disturbers.iter().collect();
    longest.sort_by_key(|disturber| std::cmp::Reverse(disturber.waited_ms));
    let seen = |d: &&Disturber| {
        format!(
            "{} (from {} to {}, waited for {})",
            d.describe(),
            d.first,
            d.last,
            show_seconds(d.waited_ms.div_ceil(1000))
        )
    };
    let named: Vec<String> = longest.iter().take(MOST_NAMED).map(seen).collect();
    let when = match &named[..] {
        [] => "the cores of tester and device are quiet".to_owned(),
        named => format!("these have ended or left the cores: {}", named.join(", ")),
    };
    format!(
        "other work disturbed {} of {} searches, whose results are lower bounds; run again when {when}{what_helps}",
        searches.disturbed, searches.all
    )
}

/// Returns the expectations that an interrupted run has already missed; it cannot decide the others.
pub fn missed(plan: &Plan, records: &[TrialRecord]) -> String {
    let outcomes = replay::outcomes(plan, records);
    expectation::judge(plan, &outcomes)
        .iter()
        .filter(|judged| judged.verdict == Gate::Worse)
        .filter_map(|one| line(one, records))
        .collect()
}

fn line(judged: &JudgedExpectation<'_>, records: &[TrialRecord]) -> Option<String> {
    let what = match judged.verdict {
        Gate::Passed | Gate::Inconclusive => return None,
        Gate::Worse => "missed",
        Gate::TesterUnfit => "not known",
        Gate::Missing => "missing",
    };
    Some(format!(
        "{what}: {}{}\n",
        sentence(judged),
        violated(judged, records)
    ))
}

/// Returns the names of the requirements that an expectation is about and that the device violates: ` (64-df-1261, 64-tcp)`. Empty if it is about none.
fn violated(judged: &JudgedExpectation<'_>, records: &[TrialRecord]) -> String {
    let mut of_test = records
        .iter()
        .filter(|record| record.point.test == judged.test.name);
    let Some((results, quantity)) = of_test
        .rfind(|record| record.result.requirements().is_some())
        .and_then(|record| {
            record
                .result
                .requirements()
                .zip(judged.expectation.quantity)
        })
    else {
        return String::new();
    };
    let names: Vec<&str> = results
        .vectors
        .iter()
        .filter(|vector| is_counted(results, vector, quantity))
        .map(|vector| vector.name.as_str())
        .collect();
    match names.len().saturating_sub(MOST_NAMED) {
        _ if names.is_empty() => String::new(),
        0 => format!(" ({})", names.join(", ")),
        more => format!(" ({} and {more} more)", names[..MOST_NAMED].join(", ")),
    }
}

/// Returns whether a quantity counts this vector as one that is violated.
fn is_counted(results: &RequirementResults, vector: &JudgedVector, quantity: Quantity) -> bool {
    let is_violated = vector.result.is_violation();
    match quantity {
        Quantity::RequirementsViolated => is_violated,
        Quantity::MustsViolated => is_violated && vector.level == RequirementLevel::Must,
        Quantity::NewViolations => results.is_new_violation(vector),
        Quantity::ViolatedUnderLoad => results.is_violated_under_load_alone(vector),
        _ => false,
    }
}

/// Returns the value found for an expectation, and the expected bounds.
pub(crate) fn sentence(judged: &JudgedExpectation<'_>) -> String {
    let (label, subject) = (judged.test.label(judged.frame_size), judged.subject);
    if let Some(sentence) = of_requirements(judged) {
        return format!("{label}: {sentence}");
    }
    format!(
        "{label}: {subject}: {}, expected {}",
        found(judged),
        bounds(judged)
    )
}

/// Returns the number of requirements found, and the expected one: `1 MUST violated, expected none`. `None` of another quantity, and without a result.
fn of_requirements(judged: &JudgedExpectation<'_>) -> Option<String> {
    let ComparedValue::Value(quantity, ..) = judged.subject else {
        return None;
    };
    let median = judged.found?;
    let found = counted_in_words(quantity, median.low)?;
    let more = if median.high > median.low {
        " or more, because control frames were lost"
    } else {
        ""
    };
    let at_most = |most: f64| {
        if most < 1.0 {
            "none".to_owned()
        } else {
            format!("at most {most}")
        }
    };
    let Expectation {
        at_least: least,
        at_most: most,
        ..
    } = judged.expectation;
    let bounds: Vec<String> = [
        least.map(|least| format!("at least {least}")),
        most.map(at_most),
    ]
    .into_iter()
    .flatten()
    .collect();
    Some(format!("{found}{more}, expected {}", bounds.join(" and ")))
}

fn found(judged: &JudgedExpectation<'_>) -> String {
    let Some(median) = judged.found else {
        return "no result".to_owned();
    };
    let shown = |value| amount::exact(&judged.subject, value);
    match (median.low, median.high) {
        (f64::NEG_INFINITY, f64::INFINITY) => {
            "most repetitions say nothing about the device, because the tester had no valid trial or other work disturbed them"
                .to_owned()
        }
        (f64::NEG_INFINITY, high) => {
            format!("a median of {} or less, because the tester or other work may have made delays too long", shown(high))
        }
        (low, high) if high > low => {
            format!("a median of {} or more, where the tester, the plan's maximum or other work ended the search", shown(low))
        }
        (low, _) => format!("a median of {}", shown(low)),
    }
}

fn bounds(judged: &JudgedExpectation<'_>) -> String {
    let bound = |word: &str, bound: Option<f64>| {
        bound.map(|value| format!("{word} {}", amount::exact(&judged.subject, value)))
    };
    let bounds = [
        bound("at least", judged.expectation.at_least),
        bound("at most", judged.expectation.at_most),
    ];
    bounds
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(" and ")
}

/// Returns the points at which the tester was not fit, in words.
fn unfit_in_words(unfit: &[String], what_helps: &str) -> String {
    let named = unfit[..unfit.len().min(MOST_NAMED)].join(", ");
    let more = unfit.len().saturating_sub(MOST_NAMED);
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    format!(
        "the tester was not fit: it had no valid trial, or only disturbed ones, at {named}{more}{what_helps}"
    )
}

fn reason(
    verdict: Gate,
    judged: &[JudgedExpectation<'_>],
    unfit: &[String],
    what_helps: &str,
) -> Option<String> {
    let all = judged.len();
    let count = judged
        .iter()
        .filter(|judged| judged.verdict == verdict)
        .count();
    match verdict {
        Gate::Passed if all == 0 => None,
        Gate::Passed => Some(format!(
            "the plan's {} met at {}",
            agreeing(all == 1, "expectation"),
            counted(all, "point")
        )),
        Gate::Worse => Some(format!("{} missed", part_of(count, all, "expectation"))),
        Gate::Missing => Some(format!(
            "{} without a result",
            part_of(count, all, "expectation")
        )),
        Gate::TesterUnfit if count == 0 => Some(unfit_in_words(unfit, what_helps)),
        Gate::TesterUnfit => {
            let besides = if unfit.is_empty() {
                String::new()
            } else {
                format!("; besides, {}", unfit_in_words(unfit, what_helps))
            };
            Some(format!(
                "{} could not be decided, because the tester, the plan's maximum or other work ended the search or made delays too long{besides}",
                part_of(count, all, "expectation")
            ))
        }
        Gate::Inconclusive => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn disturber(who: &str, waited_ms: u64) -> Disturber {
        let at = |time: &str| format!("2026-11-23T{time}Z");
        let (who, core) = who.split_once(" on ").expect("a core");
        Disturber {
            who: who.to_owned(),
            cores: vec![core.to_owned()],
            first: at("06:10:00"),
            last: at("06:12:30"),
            waited_ms,
        }
    }

    #[test]
    fn a_mostly_disturbed_run_names_who_must_leave_the_cores() {
        let disturbers = [
            disturber("the host of this virtual machine on core 0", 220),
            disturber("rustc (process 41) on core 1", 61_000),
        ];
        let searches = SpoiltSearches {
            disturbed: 3,
            all: 4,
        };
        assert_eq!(
            disturbed_reason(searches, &disturbers, ""),
            "other work disturbed 3 of 4 searches, whose results are lower bounds; run again when these have ended or left the cores: \
             rustc (process 41) on core 1 (from 2026-11-23T06:10:00Z to 2026-11-23T06:12:30Z, waited for 61 s), \
             the host of this virtual machine on core 0 (from 2026-11-23T06:10:00Z to 2026-11-23T06:12:30Z, waited for 1 s)"
        );
        assert!(
            disturbed_reason(searches, &[], "; see")
                .ends_with("run again when the cores of tester and device are quiet; see")
        );
    }
}
