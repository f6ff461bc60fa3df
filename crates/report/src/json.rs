//! `results.json`: points with their summaries and repetitions, for programs.

use crate::Input;
use crate::csv::limit_name;
use crate::digest::{Digest, GoalDigest, PointDigest};
use serde::Serialize;
use sixbench_method::record::Outcome;
use sixbench_method::search::Bracket;
use sixbench_method::stats::Summary;
use sixbench_method::terms::Directions;

/// The version of the format of `results.json`. A field's meaning never changes under the same number.
pub const FORMAT: u32 = 1;

#[derive(Serialize)]
struct Results<'a> {
    format: u32,
    plan: &'a str,
    generated: &'a str,
    interrupted: bool,
    rate_unit: &'static str,
    points: Vec<JsonPoint<'a>>,
}

#[derive(Serialize)]
struct JsonPoint<'a> {
    test: &'a str,
    title: &'a str,
    dut: &'a str,
    frame_size: u16,
    directions: Directions,
    goals: Vec<Goal>,
    repetitions: Vec<Repetition>,
}

/// The repetitions of a point, summarised for one loss goal.
#[derive(Serialize)]
struct Goal {
    loss_ratio: f64,
    summary: Option<Summary>,
    limited_by_dut: u32,
    limited_by_tester: u32,
    limited_by_maximum: u32,
    without_result: u32,
    below_minimum: u32,
}

#[derive(Serialize)]
struct Repetition {
    repetition: u32,
    trials: u32,
    invalid: u32,
    brackets: Vec<JsonBracket>,
}

#[derive(Serialize)]
struct JsonBracket {
    loss_ratio: f64,
    lower: Option<u64>,
    upper: Option<u64>,
    limit: &'static str,
}

/// The results as one JSON document, indented, ended by a newline.
///
/// # Panics
/// Never: nothing in it can fail to be written as JSON.
pub fn json(input: &Input) -> String {
    let digest = Digest::new(input);
    let results = Results {
        format: FORMAT,
        plan: &input.plan.name,
        generated: input.generated,
        interrupted: input.interrupted,
        rate_unit: "frames/s per direction",
        points: digest.points.iter().map(point).collect(),
    };
    serde_json::to_string_pretty(&results).expect("strings, numbers and lists are always JSON") + "\n"
}

fn point<'p>(point: &'p PointDigest) -> JsonPoint<'p> {
    JsonPoint {
        test: &point.test.name,
        title: &point.test.title,
        dut: &point.test.dut,
        frame_size: point.point.frame_size.0,
        directions: point.test.directions,
        goals: point.goals.iter().map(goal).collect(),
        repetitions: point.outcomes.iter().map(|o| repetition(o)).collect(),
    }
}

fn goal(goal: &GoalDigest) -> Goal {
    Goal {
        loss_ratio: goal.goal.0,
        summary: goal.summary,
        limited_by_dut: goal.limits.dut,
        limited_by_tester: goal.limits.tester,
        limited_by_maximum: goal.limits.maximum,
        without_result: goal.unmeasured,
        below_minimum: goal.below_minimum,
    }
}

fn repetition(outcome: &Outcome) -> Repetition {
    let brackets = outcome.brackets.iter().map(bracket).collect();
    Repetition { repetition: outcome.repetition, trials: outcome.trials, invalid: outcome.invalid, brackets }
}

fn bracket(bracket: &Bracket) -> JsonBracket {
    JsonBracket {
        loss_ratio: bracket.goal.0,
        lower: bracket.lower.map(|r| r.0),
        upper: bracket.upper.map(|r| r.0),
        limit: limit_name(bracket.limit),
    }
}
