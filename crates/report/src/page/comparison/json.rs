//! A comparison as one line of JSON.

use super::words::title;
use serde_json::{Value, json};
use sixbench_analysis::comparison::{Comparison, ComparisonRow, OneSidedAnomaly, PointComparison};
use sixbench_method::anomaly::AnomalyShare;
use sixbench_method::measures::Noun;

/// Returns a comparison as JSON, with the keys of docs/RESULTS.md except the exit code and its explanation.
pub fn json(compared: &Comparison<'_>, names: &[String; 2], warnings: &[String]) -> Value {
    json!({
        "unit": compared.unit,
        "comparison": compared.measured_points().map(|point| of_point(point, names)).collect::<Vec<_>>(),
        "missing": compared.missing,
        "tester_unfit": compared.unfit,
        "reference": compared.reference,
        "anomalies": compared.anomalies.iter().map(of_anomaly).collect::<Vec<_>>(),
        "requirements": compared.requirements,
        "warnings": warnings,
        "verdict": compared.gate(),
    })
}

/// Returns the anomalous frames of one kind that only one side had.
fn of_anomaly(found: &OneSidedAnomaly<'_>) -> Value {
    let AnomalyShare {
        kind,
        frames,
        share,
    } = found.frames;
    let of = kind.base().word();
    json!({ "side": found.which, "test": found.test.name, "kind": kind, "frames": frames, "share": share, "of": of })
}

fn of_point(point: &PointComparison<'_>, [a, b]: &[String; 2]) -> Value {
    // Frames sent through the kernel's sockets do not have a size set by the plan.
    let frame_size = point
        .a
        .measure
        .family()
        .has_frame_sizes()
        .then_some(point.frame_size);
    json!({
        "a": title(point.a, a),
        "b": title(point.b, b),
        "test_a": point.a.name,
        "test_b": point.b.name,
        "frame_size": frame_size,
        "rows": point.rows.iter().map(of_row).collect::<Vec<_>>(),
    })
}

/// Returns a row as JSON, with its title, noun and unit, and with the fields of its finding at the same level.
fn of_row(row: &ComparisonRow) -> Value {
    let mut value = json!(row);
    if let (Some(fields), Some(Value::Object(finding))) =
        (value.as_object_mut(), value_of_finding(row))
    {
        fields.remove("finding");
        fields.extend(finding);
        fields.insert("title".to_owned(), json!(row.subject.to_string()));
        fields.insert(
            "noun".to_owned(),
            json!(row.subject.noun().map(Noun::plural)),
        );
        fields.insert("unit".to_owned(), json!(row.subject.unit()));
    }
    value
}

/// Returns the verdict of a row's finding and, if it is inconclusive, the reason.
#[expect(clippy::unnecessary_wraps, reason = "a column's cell may be empty")]
fn value_of_finding(row: &ComparisonRow) -> Option<Value> {
    use sixbench_analysis::comparison::ComparisonFinding;
    Some(match row.finding {
        ComparisonFinding::Better => json!({ "verdict": "better" }),
        ComparisonFinding::Worse => json!({ "verdict": "worse" }),
        ComparisonFinding::NoDifferenceShown => json!({ "verdict": "no-difference-shown" }),
        ComparisonFinding::TooFewRepetitions { needed } => {
            json!({ "verdict": "inconclusive", "reason": "too-few-repetitions", "needed": needed })
        }
        ComparisonFinding::CutOff => json!({ "verdict": "inconclusive", "reason": "cut-off" }),
        ComparisonFinding::Dependent => json!({ "verdict": "inconclusive", "reason": "dependent" }),
        ComparisonFinding::Drifting => json!({ "verdict": "inconclusive", "reason": "drifting" }),
        ComparisonFinding::NotInTurns => {
            json!({ "verdict": "inconclusive", "reason": "not-in-turns" })
        }
        ComparisonFinding::WithinReference => {
            json!({ "verdict": "inconclusive", "reason": "within-reference" })
        }
        ComparisonFinding::MachineChanged => {
            json!({ "verdict": "inconclusive", "reason": "machine-changed" })
        }
    })
}
