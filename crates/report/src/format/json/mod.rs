//! `results.json`: points with their summaries and repetitions, for programs.

mod origin;

use crate::digest::{Digest, GoalDigest, InvalidReason, PointDigest, PointSample};
use crate::subject::{PointFields, RunFields, SUBJECTS};
use crate::wording::amount::unit_name;
use origin::{JsonRun, JsonStatus};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde::Serialize;
use sixbench_analysis::trust::Trust;
use sixbench_method::anomaly::{self, Anomaly};
use sixbench_method::measures::{LoadSource, Noun, Outcome, Quantity, Value};
use sixbench_method::plan::{Series, SizeMix};
use sixbench_method::record::LinkKind;
use sixbench_method::record::WarningLevel;
use sixbench_method::search::{Bracket, Limit};
use sixbench_method::status::StatusCounts;
use sixbench_method::terms::{Direction, Directions};
use sixbench_method::trial::AnomalyKind;
use sixbench_stats::Summary;
use std::collections::BTreeMap;

/// The version of the format of `results.json`. A field's meaning never changes under the same number.
pub const FORMAT: u32 = 2;

#[derive(Serialize, JsonSchema)]
struct JsonResults<'a> {
    format: u32,
    plan: &'a str,
    generated: &'a str,
    interrupted: bool,
    run: JsonRun<'a>,
    counts: StatusCounts,
    /// How far the figures may be trusted, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    trust: Option<&'a Trust>,
    /// The warnings of the run, the doubts about its numbers first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
    /// The frames that were neither received as they were sent nor simply lost, by test and kind.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    anomalies: Vec<JsonAnomaly<'a>>,
    /// The unit of every rate, where a point does not say otherwise.
    rate_unit: &'static str,
    points: Vec<JsonPoint<'a>>,
    #[serde(flatten)]
    subjects: RunFields<'a>,
}

/// An anomaly, with what follows from its counts.
#[derive(Serialize, JsonSchema)]
struct JsonAnomaly<'a> {
    #[serde(flatten)]
    anomaly: &'a Anomaly,
    /// The number as a share of the frames received or offered, by the kind; null if there were none of those.
    share: Option<f64>,
    level: WarningLevel,
}

impl<'a> JsonAnomaly<'a> {
    fn new(anomaly: &'a Anomaly) -> Self {
        Self {
            anomaly,
            share: anomaly.share(),
            level: anomaly.level(),
        }
    }
}

#[derive(Serialize, JsonSchema)]
struct JsonPoint<'a> {
    test: &'a str,
    title: &'a str,
    dut: &'a str,
    measure: &'static str,
    /// Only results of points of the same group may be compared.
    comparison_group: LinkKind,
    series: Option<&'a Series>,
    frame_size: u16,
    /// The mix of frame sizes of each trial, if they are not all of the same size; `frame_size` is then its rounded mean.
    #[serde(skip_serializing_if = "Option::is_none")]
    size_mix: Option<SizeMix>,
    /// The filter conditions of the device; left out where it has none but those of its recipe.
    #[serde(skip_serializing_if = "is_zero")]
    filters: u32,
    directions: Directions,
    #[serde(flatten)]
    status: Option<JsonStatus>,
    /// The unit of the rates in `goals`, where it is not that of the whole file.
    #[serde(skip_serializing_if = "Option::is_none")]
    rate_unit: Option<&'static str>,
    #[serde(flatten)]
    subjects: PointFields<'a>,
    /// The repetitions, one entry for each loss goal. For a test other than a throughput test, those of the search for its load.
    goals: Vec<JsonGoal>,
    /// Everything else that was measured.
    quantities: Vec<JsonQuantity>,
    repetitions: Vec<JsonRepetition<'a>>,
    /// The number of frames of each kind that were neither received as they were sent nor simply lost, in all trials of the point.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    anomalies: BTreeMap<AnomalyKind, u64>,
}

#[derive(Serialize, JsonSchema)]
struct JsonGoal {
    loss_ratio: f64,
    /// The share of the trials at a load that may lose more, RFC 9971 section 4.6.4.
    #[serde(skip_serializing_if = "is_no_share")]
    exceed_ratio: f64,
    summary: Option<Summary>,
    /// The statistics of the summary that are only lower bounds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    lower_bounds: Vec<&'static str>,
    dispersion_percent: Option<f64>,
    limited_by_dut: u32,
    limited_by_tester: u32,
    /// True if "tester" here and in `brackets` stands for connections of phase 1 that were not all opened or kept.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    hindered_by_phase_1: bool,
    /// True if it stands for names that were not cached as asked, or of which there were too few.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    hindered_by_names: bool,
    limited_by_maximum: u32,
    #[serde(skip_serializing_if = "is_zero")]
    disturbed: u32,
    without_result: u32,
    below_minimum: u32,
}

#[derive(Serialize, JsonSchema)]
struct JsonQuantity {
    quantity: Quantity,
    unit: &'static str,
    direction: Direction,
    load: u64,
    summary: Summary,
    mean: f64,
    standard_deviation: Option<f64>,
    dispersion_percent: Option<f64>,
    /// Values whose truth may be higher.
    at_least: usize,
    /// Values whose truth may be lower.
    at_most: usize,
}

#[derive(Serialize, JsonSchema)]
struct JsonRepetition<'a> {
    repetition: u32,
    trials: u32,
    invalid: u32,
    /// The names of the hosts that measured it, of a run that several measured.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    hosts: Vec<String>,
    /// The searches that its load came from, where others made them.
    #[serde(skip_serializing_if = "Option::is_none")]
    load: Option<&'a LoadSource>,
    brackets: Vec<JsonBracket>,
    /// In the unit that `quantities` name.
    values: &'a [Value],
}

#[derive(Serialize, JsonSchema)]
struct JsonBracket {
    loss_ratio: f64,
    lower: Option<u64>,
    upper: Option<u64>,
    limit: Limit,
    /// The rate that is typically forwarded at the lower bound, by RFC 9971 section 4.8.3; only of MLRsearch.
    #[serde(skip_serializing_if = "Option::is_none")]
    conditional_throughput: Option<u64>,
}

/// Returns the schema of `results.json`.
pub fn schema() -> Schema {
    SchemaSettings::draft2020_12()
        .for_serialize()
        .into_generator()
        .into_root_schema_for::<JsonResults<'_>>()
}

/// Returns the results as one JSON document, indented, ended by a newline.
///
/// # Panics
/// Never: nothing in it can fail to be written as JSON.
pub(crate) fn json(digest: &Digest<'_>) -> String {
    let input = digest.input;
    let results = JsonResults {
        format: FORMAT,
        plan: &input.plan.name,
        generated: input.generated,
        interrupted: input.interrupted,
        run: JsonRun::new(digest),
        warnings: digest.warnings_in_brief(),
        anomalies: digest.anomalies.iter().map(JsonAnomaly::new).collect(),
        counts: StatusCounts::count(&digest.planned),
        trust: digest.trust.as_ref(),
        rate_unit: Noun::Frames.per_second_and_direction(),
        points: digest.all_points().map(|p| point(digest, p)).collect(),
        subjects: run_fields(digest),
    };
    serde_json::to_string_pretty(&results).expect("strings, numbers and lists are always JSON")
        + "\n"
}

fn run_fields<'a>(digest: &Digest<'a>) -> RunFields<'a> {
    let mut fields = RunFields::default();
    for subject in SUBJECTS {
        subject.fill_run(&mut fields, digest);
    }
    fields
}

fn point_fields<'p>(digest: &Digest, point: &PointDigest<'p>) -> PointFields<'p> {
    let mut fields = PointFields::default();
    for subject in SUBJECTS {
        subject.fill_point(&mut fields, digest, point);
    }
    fields
}

fn point<'p>(digest: &Digest, point: &'p PointDigest) -> JsonPoint<'p> {
    let noun = point.test.measure.family().noun();
    JsonPoint {
        test: &point.test.name,
        title: &point.test.title,
        dut: &point.test.dut,
        measure: point.test.measure.name(),
        comparison_group: digest.group(point.test),
        series: point.test.series.as_ref(),
        frame_size: point.point.frame_size.0,
        size_mix: point.test.traffic.size_mix,
        filters: point.test.filters,
        directions: point.test.directions,
        status: JsonStatus::new(digest, point),
        rate_unit: (noun != Noun::Frames).then(|| noun.per_second_and_direction()),
        subjects: point_fields(digest, point),
        goals: point
            .goals
            .iter()
            .map(|g| goal(g, without_result(digest, point, g)))
            .collect(),
        quantities: point.samples.iter().map(quantity).collect(),
        repetitions: point
            .outcomes
            .iter()
            .map(|o| repetition(digest, o))
            .collect(),
        anomalies: anomaly::counts(point.records.iter().copied()),
    }
}

/// Returns the planned repetitions without a result, whether they were made or not. For a test that is not a search, those of its own result.
fn without_result(digest: &Digest, point: &PointDigest, goal: &GoalDigest) -> u32 {
    let Some(planned) = point.planned(digest) else {
        return 0;
    };
    let with_result = if point.is_searched() {
        goal.values.len() as u32
    } else {
        planned.repetitions.with_result
    };
    planned.repetitions.planned.saturating_sub(with_result)
}

fn goal(goal: &GoalDigest, without_result: u32) -> JsonGoal {
    JsonGoal {
        loss_ratio: goal.goal.loss_ratio.0,
        exceed_ratio: goal.goal.exceed_ratio,
        summary: goal.summary,
        lower_bounds: goal.limits.open.names(),
        dispersion_percent: goal.summary.and_then(|s| s.dispersion_percent()),
        limited_by_dut: goal.limits.dut,
        limited_by_tester: goal.limits.tester + goal.limits.unprepared,
        hindered_by_phase_1: goal.limits.reason == Some(InvalidReason::Connections),
        hindered_by_names: goal.limits.reason == Some(InvalidReason::Names),
        limited_by_maximum: goal.limits.maximum,
        disturbed: goal.limits.disturbed,
        without_result,
        below_minimum: goal.below_minimum,
    }
}

fn is_no_share(share: &f64) -> bool {
    *share == 0.0
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

fn quantity(sample: &PointSample) -> JsonQuantity {
    JsonQuantity {
        quantity: sample.quantity,
        unit: unit_name(sample.quantity),
        direction: sample.direction,
        load: sample.load.0,
        summary: sample.summary,
        mean: sample.mean,
        standard_deviation: sample.deviation,
        dispersion_percent: sample.summary.dispersion_percent(),
        at_least: sample.at_least,
        at_most: sample.at_most,
    }
}

fn repetition<'p>(digest: &Digest, outcome: &'p Outcome) -> JsonRepetition<'p> {
    let brackets = outcome.brackets.iter().map(bracket).collect();
    let &Outcome {
        repetition,
        trials,
        invalid,
        ref load,
        ref values,
        ..
    } = outcome;
    let hosts = if digest.hosts.are_several() {
        digest.hosts.hosts(&outcome.point, repetition)
    } else {
        Vec::new()
    };
    JsonRepetition {
        repetition,
        trials,
        invalid,
        hosts,
        load: load.as_ref(),
        brackets,
        values,
    }
}

fn bracket(bracket: &Bracket) -> JsonBracket {
    JsonBracket {
        loss_ratio: bracket.goal.0,
        lower: bracket.lower.map(|r| r.0),
        upper: bracket.upper.map(|r| r.0),
        limit: bracket.limit,
        conditional_throughput: bracket.conditional_throughput.map(|r| r.0),
    }
}
