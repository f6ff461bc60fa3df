//! How far the figures of a run may be trusted, and why: high, fair or low, with the reasons in numbers. All rules are here; each looks at one thing, and
//! the worst of them is the level of the run.

mod finding;
mod sample;

pub use finding::{DisturbedPoint, DisturbedSearches, DisturbedTrials, Spread, TrustFinding};

use finding::percent;
use sample::JudgedSample;
use schemars::JsonSchema;
use serde::Serialize;
use sixbench_method::bottleneck::Cause;
use sixbench_method::disturbance::disturbed;
use sixbench_method::measures::Outcome;
use sixbench_method::plan::{Plan, Point};
use sixbench_method::record::{Facts, TrialRecord, by_point};
use sixbench_method::replay::by_outcome_point;
use sixbench_method::search::Limit;
use sixbench_method::status::{PlannedPoint, PointStatus};
use sixbench_method::terms::LossRatio;
use sixbench_method::trial::Verdict;
use sixbench_stats::{drift, median, modes};
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

    /// Returns the level of a share, which is fair above the first bound and low above the second.
    fn from_share(share: f64, [fair, low]: [f64; 2]) -> Self {
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
    /// What was found, in words.
    pub text: String,
    /// The same as data.
    pub found: TrustFinding,
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
pub const RULES: [TrustRule; 11] = [
    TrustRule {
        subject: "trials that other work disturbed, repeated or not",
        fair: "more than 10 % of all trials, or 20 % of those of a point that were not repeated",
        low: "more than 30 %, or 50 %",
        judge: disturbed_trials,
    },
    TrustRule {
        subject: "searches that a disturbance ended",
        fair: "any",
        low: "at least half of those of a point",
        judge: disturbed_searches,
    },
    TrustRule {
        subject: "other results that are lower bounds because of a disturbance",
        fair: "",
        low: "any",
        judge: disturbed_results,
    },
    TrustRule {
        subject: "points that were tried and have no result",
        fair: "",
        low: "any",
        judge: without_result,
    },
    TrustRule {
        subject: "spread of the repetitions of every quantity on the first screen (highest minus lowest, relative to the median; for a loss \
                  relative to the median or ten percentage points, whichever is more)",
        fair: "more than 10 %, or any around a median of zero",
        low: "more than 30 %",
        judge: spread,
    },
    TrustRule {
        subject: "number of repetitions of these quantities",
        fair: "one, or fewer than their point has",
        low: "",
        judge: repetitions,
    },
    TrustRule {
        subject: "repetitions that drift or fall into two modes",
        fair: "any",
        low: "",
        judge: unsteady,
    },
    TrustRule {
        subject: "searches whose last loss was a single event",
        fair: "more than 20 % of them",
        low: "",
        judge: last_losses,
    },
    TrustRule {
        subject: "distance of the cores of tester and device (a cache line's round trip)",
        fair: "the longest is more than twice the shortest, without the 5 % of the trials at either end",
        low: "",
        judge: moved_cores,
    },
    TrustRule {
        subject: "headroom of the tester's self-test (DNS)",
        fair: "it certified less than 1.5 times the highest rate that was measured",
        low: "",
        judge: headroom,
    },
    TrustRule {
        subject: "processors of the device at the limit",
        fair: "",
        low: "",
        judge: full_processors,
    },
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
    let goals = plan
        .tests
        .iter()
        .map(|test| (test.name.as_str(), test.first_goal(plan)))
        .collect();
    let evidence = Evidence {
        plan,
        facts,
        records,
        outcomes,
        by_point: by_outcome_point(outcomes),
        goals,
        planned,
    };
    let mut reasons: Vec<TrustReason> = RULES
        .iter()
        .flat_map(|rule| (rule.judge)(&evidence))
        .collect();
    reasons.sort_by_key(|reason| std::cmp::Reverse(reason.level));
    let level = reasons
        .first()
        .map_or(TrustLevel::High, |worst| worst.level);
    Some(Trust { level, reasons })
}

impl Trust {
    /// Returns the counts of disturbed trials, from which every sentence on them is made, and the level that they allow.
    pub fn disturbed_trials(&self) -> Option<(&DisturbedTrials, TrustLevel)> {
        self.reasons.iter().find_map(|reason| match &reason.found {
            TrustFinding::DisturbedTrials(found) => Some((found, reason.level)),
            _ => None,
        })
    }

    /// Returns whether a result was measured once, so that nothing is known of its spread.
    pub fn has_single_repetition(&self) -> bool {
        self.reasons
            .iter()
            .any(|reason| matches!(reason.found, TrustFinding::SingleRepetition { .. }))
    }
}

impl Evidence<'_> {
    /// Returns the first loss goal of the test of a point, zero loss for a point of no test of the plan.
    fn goal_at(&self, point: &Point) -> LossRatio {
        self.goals
            .get(point.test.as_str())
            .copied()
            .unwrap_or(LossRatio::ZERO)
    }

    /// Returns the points that have outcomes, each with the headline values of its repetitions.
    fn samples(&self) -> impl Iterator<Item = (Point, Vec<f64>)> {
        // Of a rate that is repeated, passing or not is the result, and no spread.
        let measured = self
            .plan
            .tests
            .iter()
            .filter(|test| test.measure.result_kind().has_spread());
        let points = measured.flat_map(|test| test.points().map(move |point| (test, point)));
        points.filter_map(|(test, point)| {
            let of_point = self.by_point.get(&point).into_iter().flatten();
            let values: Vec<f64> = of_point
                .filter_map(|outcome| outcome.headline(&test.measure))
                .collect();
            (!values.is_empty()).then_some((point, values))
        })
    }

    /// Returns the repetitions but for those of a rate that others have found: these have searched for nothing.
    fn searches(&self) -> impl Iterator<Item = &Outcome> {
        let repeating: BTreeSet<&str> = self
            .plan
            .tests
            .iter()
            .filter(|test| test.measure.result_kind().repeats_a_rate())
            .map(|test| test.name.as_str())
            .collect();
        self.outcomes.iter().filter(move |outcome| {
            outcome.load.is_none() || !repeating.contains(outcome.point.test.as_str())
        })
    }

    /// Returns the searches for the first goal, each with its point.
    fn limits(&self) -> Vec<(&Point, Limit)> {
        self.searches()
            .filter_map(|outcome| Some((&outcome.point, outcome.brackets.first()?.limit)))
            .collect()
    }
}

fn reason(level: TrustLevel, found: TrustFinding) -> TrustReason {
    TrustReason {
        level,
        text: found.to_string(),
        found,
    }
}

fn disturbed_trials(evidence: &Evidence<'_>) -> Vec<TrustReason> {
    let mut counts = DisturbedTrials {
        trials: evidence.records.len(),
        ..DisturbedTrials::default()
    };
    for record in evidence.records {
        let verdict = record.result.verdict(evidence.goal_at(&record.point));
        match (disturbed(record, verdict), verdict) {
            (true, _) if record.result.was_made_again() => counts.made_again += 1,
            (true, Verdict::Passed) => counts.passed += 1,
            (true, Verdict::Lost) => counts.lost += 1,
            (true, Verdict::Invalid) => counts.invalid += 1,
            (false, Verdict::Invalid) => counts.fell_short += 1,
            (false, Verdict::Passed | Verdict::Lost) => {}
        }
    }
    counts.worst = worst_point(evidence);
    counts.longest = evidence
        .facts
        .disturbers
        .iter()
        .max_by_key(|disturber| disturber.waited_ms)
        .cloned();
    vec![reason(
        counts.level(),
        TrustFinding::DisturbedTrials(counts),
    )]
}

/// Returns the point with the largest share of disturbed trials, of those that were not made again.
fn worst_point(evidence: &Evidence<'_>) -> Option<DisturbedPoint> {
    let of_point = |(point, records): (&Point, Vec<&TrialRecord>)| {
        let decide: Vec<_> = records
            .into_iter()
            .filter(|record| !record.result.was_made_again())
            .collect();
        let goal = evidence.goal_at(point);
        let count = decide
            .iter()
            .filter(|record| disturbed(record, record.result.verdict(goal)))
            .count();
        (count > 0).then(|| DisturbedPoint {
            point: point.clone(),
            disturbed: count,
            trials: decide.len(),
        })
    };
    let found = by_point(evidence.records).into_iter().filter_map(of_point);
    found.max_by(|a, b| a.percent().total_cmp(&b.percent()))
}

fn disturbed_searches(evidence: &Evidence<'_>) -> Vec<TrustReason> {
    let limits = evidence.limits();
    let disturbed: Vec<&Point> = limits
        .iter()
        .filter(|(_, limit)| *limit == Limit::Disturbed)
        .map(|(point, _)| *point)
        .collect();
    let count = |point: &Point| DisturbedSearches {
        disturbed: disturbed.len(),
        searches: limits.len(),
        point: point.clone(),
        at_point: disturbed.iter().filter(|other| **other == point).count(),
        of_point: limits.iter().filter(|(other, _)| *other == point).count(),
    };
    let counts = || disturbed.iter().copied().map(count);
    let Some(found) = counts()
        .find(DisturbedSearches::is_most_of_point)
        .or_else(|| counts().next())
    else {
        return Vec::new();
    };
    let level = if found.is_most_of_point() {
        TrustLevel::Low
    } else {
        TrustLevel::Fair
    };
    vec![reason(level, TrustFinding::DisturbedSearches(found))]
}

/// Results of other kinds than searches, of which the status says that a disturbance made them lower bounds.
fn disturbed_results(evidence: &Evidence<'_>) -> Vec<TrustReason> {
    let searches: BTreeSet<&Point> = evidence
        .limits()
        .into_iter()
        .filter(|(_, limit)| *limit == Limit::Disturbed)
        .map(|(point, _)| point)
        .collect();
    let is_disturbed = |planned: &&PlannedPoint<'_>| {
        matches!(&planned.status, PointStatus::AtLeast(open) if open.is_of_a_disturbance())
            && !searches.contains(&planned.point)
    };
    let found: Vec<&PlannedPoint<'_>> = evidence.planned.iter().filter(is_disturbed).collect();
    let finding = |first: &&PlannedPoint<'_>| TrustFinding::DisturbedResults {
        points: found.len(),
        example: first.point.clone(),
    };
    found
        .first()
        .map(|first| reason(TrustLevel::Low, finding(first)))
        .into_iter()
        .collect()
}

fn without_result(evidence: &Evidence<'_>) -> Vec<TrustReason> {
    let missing = || {
        evidence
            .planned
            .iter()
            .filter(|planned| matches!(planned.status, PointStatus::NoResult(_)))
    };
    let finding = |first: &PlannedPoint<'_>| TrustFinding::WithoutResult {
        points: missing().count(),
        of: evidence.planned.len(),
        example: first.point.clone(),
    };
    missing()
        .next()
        .map(|first| reason(TrustLevel::Low, finding(first)))
        .into_iter()
        .collect()
}

fn spread(evidence: &Evidence<'_>) -> Vec<TrustReason> {
    let samples = evidence.judged();
    let spreads = samples
        .iter()
        .filter_map(|sample| Some((sample.spread_percent()?, sample)));
    let worst = spreads
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(percent, sample)| {
            let spread = Spread {
                percent,
                point: sample.point.clone(),
                quantity: sample.quantity.clone(),
                load: sample.load,
                is_loss: sample.is_loss(),
                n: sample.values.len(),
            };
            reason(
                TrustLevel::from_share(percent, [10.0, 30.0]),
                TrustFinding::Spread(spread),
            )
        });
    let around_zero: Vec<&JudgedSample> = samples
        .iter()
        .filter(|sample| sample.is_spread_around_zero())
        .collect();
    let around_zero = around_zero.first().map(|first| {
        let found = TrustFinding::SpreadOfZero {
            quantities: around_zero.len(),
            example: first.name(),
        };
        reason(TrustLevel::Fair, found)
    });
    worst.into_iter().chain(around_zero).collect()
}

fn repetitions(evidence: &Evidence<'_>) -> Vec<TrustReason> {
    let samples = evidence.judged();
    if samples.is_empty() {
        return vec![reason(TrustLevel::Fair, TrustFinding::NothingToJudge)];
    }
    let due = || samples.iter().filter(|sample| sample.is_due);
    let points = |samples: &mut dyn Iterator<Item = &JudgedSample>| {
        samples.map(|s| &s.point).collect::<BTreeSet<_>>().len()
    };
    let single = points(&mut samples.iter().filter(|sample| sample.values.len() == 1));
    let single = (single > 0).then(|| TrustFinding::SingleRepetition {
        points: single,
        of: points(&mut samples.iter()),
    });
    let lacking = |sample: &&JudgedSample| sample.repetitions.saturating_sub(sample.values.len());
    let worst = due()
        .filter(|sample| lacking(sample) > 0)
        .max_by_key(lacking);
    let missing = worst.map(|sample| TrustFinding::MissingValues {
        quantities: due().filter(|sample| lacking(sample) > 0).count(),
        example: sample.name(),
        with_value: sample.values.len(),
        of: sample.repetitions,
    });
    single
        .into_iter()
        .chain(missing)
        .map(|found| reason(TrustLevel::Fair, found))
        .collect()
}

fn unsteady(evidence: &Evidence<'_>) -> Vec<TrustReason> {
    let samples: Vec<(Point, Vec<f64>)> = evidence.samples().collect();
    let drifting = samples
        .iter()
        .filter(|(_, values)| drift(values).is_some())
        .count();
    let bimodal = samples
        .iter()
        .filter(|(_, values)| modes(values).is_some())
        .count();
    if drifting + bimodal == 0 {
        return Vec::new();
    }
    vec![reason(
        TrustLevel::Fair,
        TrustFinding::Unsteady {
            drifting,
            bimodal,
            of: samples.len(),
        },
    )]
}

/// The share of searches, per cent, that may end with a loss within one moment before the trust in them is only fair. Chosen, not derived: a device loses
/// in a moment now and then, and one such loss among five searches moves no median of theirs.
const MOST_MOMENTARY: f64 = 20.0;

fn last_losses(evidence: &Evidence<'_>) -> Vec<TrustReason> {
    let last: Vec<bool> = evidence
        .searches()
        .filter_map(|outcome| outcome.signs.is_last_loss_an_accident)
        .collect();
    if last.is_empty() {
        return Vec::new();
    }
    let momentary = last
        .iter()
        .filter(|is_an_accident| **is_an_accident)
        .count();
    let share = percent(momentary, last.len());
    let level = if share > MOST_MOMENTARY {
        TrustLevel::Fair
    } else {
        TrustLevel::High
    };
    vec![reason(
        level,
        TrustFinding::LastLosses {
            momentary,
            of: last.len(),
        },
    )]
}

fn moved_cores(evidence: &Evidence<'_>) -> Vec<TrustReason> {
    let trips = || {
        evidence
            .records
            .iter()
            .filter_map(|record| record.watch.as_deref())
            .flat_map(|watch| &watch.round_trips_ns)
    };
    // A single look may have been interrupted.
    let sorted = {
        let mut sorted: Vec<u64> = trips().copied().collect();
        sorted.sort_unstable();
        sorted
    };
    let (Some(least), Some(most)) = (
        sorted.get(sorted.len() / 20),
        sorted.get(sorted.len() * 19 / 20),
    ) else {
        return Vec::new();
    };
    if *most <= 2 * least {
        return Vec::new();
    }
    vec![reason(
        TrustLevel::Fair,
        TrustFinding::MovedCores {
            least_ns: *least,
            most_ns: *most,
        },
    )]
}

fn headroom(evidence: &Evidence<'_>) -> Vec<TrustReason> {
    let of_dut = |(name, facts): (&String, &sixbench_method::record::DutFacts)| {
        let certified = facts.certificates.last()?.rate;
        let tests: Vec<&str> = evidence
            .plan
            .tests
            .iter()
            .filter(|test| test.dut == *name)
            .map(|test| test.name.as_str())
            .collect();
        let samples = evidence
            .samples()
            .filter(|(point, _)| tests.contains(&point.test.as_str()));
        let most = samples
            .filter_map(|(_, values)| median(&values))
            .fold(0.0, f64::max);
        (most > 0.0).then(|| (certified as f64 / most, name.clone()))
    };
    let least = evidence
        .facts
        .duts
        .iter()
        .filter_map(of_dut)
        .min_by(|a, b| a.0.total_cmp(&b.0));
    let finding = |(times, device): (f64, String)| {
        let level = if times < 1.5 {
            TrustLevel::Fair
        } else {
            TrustLevel::High
        };
        reason(level, TrustFinding::Headroom { times, device })
    };
    least.map(finding).into_iter().collect()
}

fn full_processors(evidence: &Evidence<'_>) -> Vec<TrustReason> {
    let ended = evidence.searches().filter(|o| {
        o.brackets
            .first()
            .is_some_and(|bracket| bracket.limit == Limit::Dut)
    });
    let causes: Vec<Option<Cause>> = ended.map(|outcome| outcome.signs.cause).collect();
    let is_full = |cause: &&Option<Cause>| {
        matches!(
            cause,
            Some(Cause::OneCoreSoftirq | Cause::OneProcess | Cause::AllCores)
        )
    };
    let full = causes.iter().filter(is_full).count();
    let found = || {
        reason(
            TrustLevel::High,
            TrustFinding::FullProcessors {
                full,
                of: causes.len(),
            },
        )
    };
    if causes.is_empty() {
        Vec::new()
    } else {
        vec![found()]
    }
}
