//! How far the figures of a run may be trusted, and why: high, fair or low, with the reasons in numbers. All rules are here; each looks at one thing, and
//! the worst of them is the level of the run.

use crate::bottleneck::Cause;
use crate::disturbance::was_done_to_it;
use crate::measures::Outcome;
use crate::plan::{Plan, Point};
use crate::record::{Facts, TrialRecord};
use crate::replay::by_outcome_point;
use crate::search::Limit;
use crate::status::{PlannedPoint, PointStatus};
use crate::terms::LossRatio;
use crate::trial::Verdict;
use crate::units::show_seconds;
use schemars::JsonSchema;
use serde::Serialize;
use sixbench_stats::{Summary, drift, median, modes};
use std::collections::{BTreeMap, BTreeSet};

/// How far figures may be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TrustLevel {
    /// Nothing speaks against them.
    High,
    /// They may be used, with the reasons in mind.
    Fair,
    /// They are bounds at most. Measure again.
    Low,
}

impl TrustLevel {
    /// Returns the word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::High => "high",
            Self::Fair => "fair",
            Self::Low => "low",
        }
    }

    /// The level of a share, which is fair above the first bound and low above the second.
    fn of(share: f64, [fair, low]: [f64; 2]) -> Self {
        match share {
            share if share > low => Self::Low,
            share if share > fair => Self::Fair,
            _ => Self::High,
        }
    }
}

/// The finding of one rule.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TrustReason {
    /// The level that it allows at most.
    pub level: TrustLevel,
    /// What was found, in numbers.
    pub text: String,
}

/// How far the figures of a run may be trusted.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Trust {
    /// The worst level of all rules.
    pub level: TrustLevel,
    /// The reasons, those that cost most trust first; each has the level that it allows.
    pub reasons: Vec<TrustReason>,
}

/// A rule, as `sixbench explain trust` and the documentation tell it.
#[derive(Clone, Copy, Debug)]
pub struct TrustRule {
    /// What is looked at.
    pub subject: &'static str,
    /// When trust is fair at most.
    pub fair: &'static str,
    /// When trust is low; empty where it never is for this reason.
    pub low: &'static str,
    judge: fn(&Evidence<'_>) -> Vec<TrustReason>,
}

/// Every rule.
pub const RULES: [TrustRule; 9] = [
    TrustRule {
        subject: "trials that others disturbed, invalid or made again",
        fair: "more than 10 % of all trials",
        low: "more than 30 %",
        judge: disturbed_trials,
    },
    TrustRule {
        subject: "searches that a disturbance ended",
        fair: "any",
        low: "at least half of those of a point",
        judge: disturbed_searches,
    },
    TrustRule { subject: "points that were tried and have no result", fair: "", low: "any", judge: without_result },
    TrustRule {
        subject: "spread of a point's repetitions (highest less lowest, by the median)",
        fair: "more than 10 %, or a single repetition",
        low: "more than 30 %",
        judge: spread,
    },
    TrustRule { subject: "repetitions that drift or fall into two modes", fair: "any", low: "", judge: unsteady },
    TrustRule {
        subject: "searches whose last loss stood in one moment",
        fair: "more than 20 % of them",
        low: "",
        judge: last_losses,
    },
    TrustRule {
        subject: "distance of the cores of tester and device (a cache line's round trip)",
        fair: "the longest is more than twice the shortest, but for a twentieth of the trials at either end",
        low: "",
        judge: moved_cores,
    },
    TrustRule {
        subject: "headroom of the tester's self-test (DNS)",
        fair: "it certified less than 1.5 times the highest rate that was measured",
        low: "",
        judge: headroom,
    },
    TrustRule { subject: "processors of the device at the limit", fair: "", low: "", judge: full_processors },
];

/// What the rules look at.
struct Evidence<'a> {
    plan: &'a Plan,
    facts: &'a Facts,
    records: &'a [TrialRecord],
    outcomes: &'a [Outcome],
    by_point: BTreeMap<&'a Point, Vec<&'a Outcome>>,
    /// The first loss goal of each test, by its name.
    goals: BTreeMap<&'a str, LossRatio>,
    planned: &'a [PlannedPoint<'a>],
}

/// Returns how far the figures of a run may be trusted; `None` where nothing was measured. `planned` are its points with their statuses.
pub fn trust(
    plan: &Plan,
    facts: &Facts,
    records: &[TrialRecord],
    outcomes: &[Outcome],
    planned: &[PlannedPoint<'_>],
) -> Option<Trust> {
    if records.is_empty() {
        return None;
    }
    let goals = plan.tests.iter().map(|test| (test.name.as_str(), test.first_goal(plan))).collect();
    let evidence = Evidence { plan, facts, records, outcomes, by_point: by_outcome_point(outcomes), goals, planned };
    let mut reasons: Vec<TrustReason> = RULES.iter().flat_map(|rule| (rule.judge)(&evidence)).collect();
    reasons.sort_by_key(|reason| std::cmp::Reverse(reason.level));
    let level = reasons.first().map_or(TrustLevel::High, |worst| worst.level);
    Some(Trust { level, reasons })
}

impl Evidence<'_> {
    /// Returns the first loss goal of the test of a point, zero loss for a point of no test of the plan.
    fn goal_at(&self, point: &Point) -> LossRatio {
        self.goals.get(point.test.as_str()).copied().unwrap_or(LossRatio::ZERO)
    }

    /// The points that have outcomes, each with the values of its repetitions.
    fn samples(&self) -> impl Iterator<Item = (Point, Vec<f64>)> {
        // Of a rate that is repeated, passing or not is the result, and no spread.
        let measured = self.plan.tests.iter().filter(|test| !test.measure.repeats_a_rate());
        let points = measured.flat_map(|test| test.points().map(move |point| (test, point)));
        points.filter_map(|(test, point)| {
            let of_point = self.by_point.get(&point).into_iter().flatten();
            let values: Vec<f64> = of_point.filter_map(|outcome| outcome.headline(&test.measure)).collect();
            (!values.is_empty()).then_some((point, values))
        })
    }

    /// The repetitions but for those of a rate that others have found: these have searched for nothing.
    fn searches(&self) -> impl Iterator<Item = &Outcome> {
        let repeating: BTreeSet<&str> =
            self.plan.tests.iter().filter(|test| test.measure.repeats_a_rate()).map(|test| test.name.as_str()).collect();
        self.outcomes.iter().filter(move |outcome| outcome.load.is_none() || !repeating.contains(outcome.point.test.as_str()))
    }

    /// The searches for the first goal, each with its point.
    fn limits(&self) -> Vec<(&Point, Limit)> {
        self.searches().filter_map(|outcome| Some((&outcome.point, outcome.brackets.first()?.limit))).collect()
    }
}

fn reason(level: TrustLevel, text: String) -> TrustReason {
    TrustReason { level, text }
}

fn percent(part: usize, of: usize) -> f64 {
    100.0 * part as f64 / of.max(1) as f64
}

fn disturbed_trials(evidence: &Evidence<'_>) -> Vec<TrustReason> {
    let all = evidence.records.len();
    let verdict = |record: &&TrialRecord| record.result.verdict(evidence.goal_at(&record.point));
    let invalid: Vec<_> = evidence.records.iter().filter(|record| verdict(record) == Verdict::Invalid).collect();
    let is_disturbed = |record: &&&TrialRecord| record.result.was_made_again() || was_done_to_it(record, Verdict::Invalid);
    let disturbed = invalid.iter().filter(is_disturbed).count();
    let (share, others) = (percent(disturbed, all), invalid.len() - disturbed);
    let own = if others > 0 { format!(", and {others} were invalid because the tester fell short") } else { String::new() };
    let longest = evidence.facts.disturbers.iter().max_by_key(|disturber| disturber.waited_ms);
    let longest = longest.filter(|_| disturbed > 0).map_or_else(String::new, |longest| {
        let seconds = show_seconds(longest.waited_ms.div_ceil(1000));
        format!("; the run waited longest for {} ({seconds}, last at {})", longest.words(), longest.last)
    });
    let text = format!("others disturbed {disturbed} of {all} trials ({share:.0} %){own}{longest}");
    vec![reason(TrustLevel::of(share, [10.0, 30.0]), text)]
}

fn disturbed_searches(evidence: &Evidence<'_>) -> Vec<TrustReason> {
    let limits = evidence.limits();
    let disturbed: Vec<&Point> =
        limits.iter().filter(|(_, limit)| *limit == Limit::Disturbed).map(|(point, _)| *point).collect();
    let Some(first) = disturbed.first() else { return Vec::new() };
    let of = |point: &Point| limits.iter().filter(|(other, _)| *other == point).count();
    let ended = |point: &Point| disturbed.iter().filter(|other| **other == point).count();
    let worst = disturbed.iter().copied().find(|point| 2 * ended(point) >= of(point));
    let point = worst.unwrap_or(first);
    let text = format!(
        "a disturbance ended {} of {} searches; at {point} {} of {}: a lower bound",
        disturbed.len(),
        limits.len(),
        ended(point),
        of(point)
    );
    vec![reason(if worst.is_some() { TrustLevel::Low } else { TrustLevel::Fair }, text)]
}

fn without_result(evidence: &Evidence<'_>) -> Vec<TrustReason> {
    let missing = || evidence.planned.iter().filter(|planned| matches!(planned.status, PointStatus::NoResult(_)));
    let Some(first) = missing().next() else { return Vec::new() };
    let all = evidence.planned.len();
    vec![reason(
        TrustLevel::Low,
        format!("{} of {all} points were tried and have no result, such as {}", missing().count(), first.point),
    )]
}

fn spread(evidence: &Evidence<'_>) -> Vec<TrustReason> {
    let samples: Vec<(Point, Vec<f64>)> = evidence.samples().collect();
    let share = |values: &[f64]| Summary::of(values).and_then(|summary| summary.dispersion_percent());
    let several = samples.iter().filter(|(_, values)| values.len() > 1);
    let several = several.filter_map(|(point, values)| Some((share(values)?, point, values.len())));
    let worst = several.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(share, point, n)| {
        let text = format!("the repetitions of a point spread by up to {share:.0} % of the median ({point}, n = {n})");
        reason(TrustLevel::of(share, [10.0, 30.0]), text)
    });
    let single = samples.iter().filter(|(_, values)| values.len() == 1).count();
    let single = (single > 0).then(|| {
        let text = format!("{single} of {} points have one repetition: nothing is known of their spread", samples.len());
        reason(TrustLevel::Fair, text)
    });
    worst.into_iter().chain(single).collect()
}

fn unsteady(evidence: &Evidence<'_>) -> Vec<TrustReason> {
    let samples: Vec<(Point, Vec<f64>)> = evidence.samples().collect();
    let drifting = samples.iter().filter(|(_, values)| drift(values).is_some()).count();
    let bimodal = samples.iter().filter(|(_, values)| modes(values).is_some()).count();
    if drifting + bimodal == 0 {
        return Vec::new();
    }
    let text = format!("of {} points {drifting} drift and {bimodal} have two modes", samples.len());
    vec![reason(TrustLevel::Fair, text)]
}

fn last_losses(evidence: &Evidence<'_>) -> Vec<TrustReason> {
    let last: Vec<bool> = evidence.searches().filter_map(|outcome| outcome.signs.is_last_loss_an_accident).collect();
    if last.is_empty() {
        return Vec::new();
    }
    let momentary = last.iter().filter(|is_an_accident| **is_an_accident).count();
    let share = percent(momentary, last.len());
    let text = format!(
        "the loss that ended a search stood in one moment in {momentary} of {} searches, and all along in the others",
        last.len()
    );
    vec![reason(if share > 20.0 { TrustLevel::Fair } else { TrustLevel::High }, text)]
}

fn moved_cores(evidence: &Evidence<'_>) -> Vec<TrustReason> {
    let trips = || evidence.records.iter().filter_map(|record| record.watch.as_deref()).flat_map(|watch| &watch.round_trips_ns);
    // A single look may have been interrupted.
    let sorted = {
        let mut sorted: Vec<u64> = trips().copied().collect();
        sorted.sort_unstable();
        sorted
    };
    let (Some(least), Some(most)) = (sorted.get(sorted.len() / 20), sorted.get(sorted.len() * 19 / 20)) else {
        return Vec::new();
    };
    if *most <= 2 * least {
        return Vec::new();
    }
    let text = format!(
        "a cache line took {least} to {most} ns from the tester's core to the device's and back: the host moves them, and rates change"
    );
    vec![reason(TrustLevel::Fair, text)]
}

fn headroom(evidence: &Evidence<'_>) -> Vec<TrustReason> {
    let of_dut = |(name, facts): (&String, &crate::record::DutFacts)| {
        let certified = facts.certificates.last()?.rate;
        let tests: Vec<&str> =
            evidence.plan.tests.iter().filter(|test| test.dut == *name).map(|test| test.name.as_str()).collect();
        let samples = evidence.samples().filter(|(point, _)| tests.contains(&point.test.as_str()));
        let most = samples.filter_map(|(_, values)| median(&values)).fold(0.0, f64::max);
        (most > 0.0).then(|| (certified as f64 / most, name.clone()))
    };
    let least = evidence.facts.duts.iter().filter_map(of_dut).min_by(|a, b| a.0.total_cmp(&b.0));
    let finding = |(times, name): (f64, String)| {
        let level = if times < 1.5 { TrustLevel::Fair } else { TrustLevel::High };
        reason(level, format!("the tester's self-test certified {times:.1} times the rate measured of {name}"))
    };
    least.map(finding).into_iter().collect()
}

fn full_processors(evidence: &Evidence<'_>) -> Vec<TrustReason> {
    let ended = evidence.searches().filter(|o| o.brackets.first().is_some_and(|bracket| bracket.limit == Limit::Dut));
    let causes: Vec<Option<Cause>> = ended.map(|outcome| outcome.signs.cause).collect();
    let is_full = |cause: &&Option<Cause>| matches!(cause, Some(Cause::OneCoreSoftirq | Cause::OneProcess | Cause::AllCores));
    let full = causes.iter().filter(is_full).count();
    let text = || format!("the device's processors were full in {full} of {} searches that it ended", causes.len());
    if causes.is_empty() { Vec::new() } else { vec![reason(TrustLevel::High, text())] }
}
