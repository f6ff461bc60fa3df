//! `results.csv` and `results-values.csv`: one row for each number of a repetition, in full precision, with units in the header.

mod anomalies;
mod broadcasts;
mod bursts;
mod column;
mod points;
mod ramps;
mod refusals;
mod requirements;
mod run;
mod scaling;
mod sequence;
mod sizes;
mod warnings;

pub(crate) use broadcasts::broadcasts_csv;
pub(crate) use bursts::bursts_csv;
pub(crate) use points::points_csv;
pub(crate) use ramps::ramps_csv;
pub(crate) use refusals::refusals_csv;
pub(crate) use requirements::{requirements_by_device_csv, requirements_csv};
pub(crate) use run::Rows;
pub(crate) use scaling::scaling_csv;
pub(crate) use sequence::sequence_csv;
pub(crate) use sizes::sizes_csv;
pub(crate) use warnings::warnings_csv;

use crate::Input;
use crate::digest::Digest;
use crate::wording::amount::unit_name;
use crate::wording::numbers::{full_rate_unit, title};
use sixbench_method::measures::{Outcome, Value};
use sixbench_method::plan::{Measure, Test};
use sixbench_method::search::Bracket;
use sixbench_method::terms::FrameRate;
use std::borrow::Cow;

const POINT: &str = "plan,test,title,dut,frame_size_octets,directions,repetition";
/// The column at the end of each row of an outcome: only results of the same group may be compared.
const GROUP: &str = "comparison_group";
const BRACKET: &str = "goal_loss_ratio,lower_bound_frames_per_s_per_direction,upper_bound_frames_per_s_per_direction,limit,trials,invalid_trials,\
     measure,unit,result";
/// Columns that exist only if the plan tests DNS servers.
const QUERIES: &str = ",cached_percent,with_aaaa_percent,timeout_ns";
const VALUE: &str =
    "measure,quantity,direction,load_frames_per_s_per_direction,value,unit,is_at_least,is_at_most";

/// Columns that exist only if the plan sets the attributes of search goals (RFC 9971).
const GOALS: &str = ",goal_exceed_ratio,conditional_throughput_frames_per_s_per_direction";

/// Returns the completed searches as comma-separated values (RFC 4180, but with plain newlines). The lower bound for the goal 0 is the throughput; for
/// `establishment-rate` it is a rate of connections, and for `dns64` of queries. An empty bound is unknown.
pub(crate) fn results<'r>(digest: &'r Digest<'_>) -> Rows<'r> {
    let input = digest.input;
    let has_queries = input.plan.has_queries();
    let has_goals = input.plan.search.certainty.is_some();
    let columns = format!(
        "{BRACKET},{}{}{}",
        anomalies::columns(),
        if has_queries { QUERIES } else { "" },
        if has_goals { GOALS } else { "" }
    );
    let counts = anomalies::by_repetition(input.records);
    let row = move |o: &Outcome, b: &Bracket| {
        let names = if has_queries {
            names(input, o).to_vec()
        } else {
            Vec::new()
        };
        bracket(input, o, b)
            .into_iter()
            .chain(anomalies::cells(counts.get(&(&o.point, o.repetition))))
            .chain(names)
            .chain(has_goals.then(|| goal_attributes(b)).into_iter().flatten())
            .collect()
    };
    let rows = input
        .outcomes
        .iter()
        .flat_map(|o| o.brackets.iter().map(move |b| (o, b)));
    of_outcomes(digest, &columns, rows.map(move |(o, b)| (o, row(o, b))))
}

/// Returns all other results in the same form: one row for each value of each repetition.
pub(crate) fn values<'r>(digest: &'r Digest<'_>) -> Rows<'r> {
    let input = digest.input;
    let rows = input
        .outcomes
        .iter()
        .flat_map(move |o| o.values.iter().map(move |v| (o, value(input, o, v))));
    of_outcomes(digest, VALUE, rows)
}

fn of_outcomes<'r>(
    digest: &'r Digest<'_>,
    columns: &str,
    rows: impl Iterator<Item = (&'r Outcome, Vec<String>)> + 'r,
) -> Rows<'r> {
    let input = digest.input;
    let rows = rows.map(move |(outcome, fields)| {
        let on = digest
            .hosts
            .hosts(&outcome.point, outcome.repetition)
            .join(", ");
        let test = input.plan.test(&outcome.point.test);
        let group = test
            .map(|test| digest.group(test).name().to_owned())
            .unwrap_or_default();
        (
            on,
            point(input, outcome)
                .into_iter()
                .chain(fields)
                .chain([group])
                .map(Cow::Owned)
                .collect(),
        )
    });
    run::rows(digest, &format!("{POINT},{columns},{GROUP}"), rows)
}

fn point(input: &Input, outcome: &Outcome) -> [String; 7] {
    let test = input.plan.test(&outcome.point.test);
    [
        input.plan.name.clone(),
        outcome.point.test.clone(),
        test.map(title).unwrap_or_default(),
        test.map(|t| t.dut.clone()).unwrap_or_default(),
        outcome.point.frame_size.to_string(),
        test.map(directions).unwrap_or_default(),
        outcome.repetition.to_string(),
    ]
}

/// Returns the directions of a test: `forward+reverse`.
fn directions(test: &Test) -> String {
    test.directions
        .each()
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join("+")
}

/// Returns what RFC 9971 adds to the bounds: the exceed ratio of the goal, and the conditional throughput.
fn goal_attributes(bracket: &Bracket) -> [String; 2] {
    [
        bracket.exceed_ratio.to_string(),
        bound(bracket.conditional_throughput),
    ]
}

/// Returns a rate; an empty field where there is none.
fn bound(rate: Option<FrameRate>) -> String {
    rate.map(|rate| rate.0.to_string()).unwrap_or_default()
}

fn bracket(input: &Input, outcome: &Outcome, bracket: &Bracket) -> Vec<String> {
    let measure = input.plan.test(&outcome.point.test).map(|t| &t.measure);
    vec![
        bracket.goal.0.to_string(),
        bound(bracket.lower),
        bound(bracket.upper),
        unquoted(&bracket.limit),
        outcome.trials.to_string(),
        outcome.invalid.to_string(),
        measure.map(Measure::name).unwrap_or_default().to_owned(),
        measure.map(full_rate_unit).unwrap_or_default().to_owned(),
        status_of(bracket).to_owned(),
    ]
}

/// Returns how the lower bound of a search relates to the true value.
fn status_of(bracket: &Bracket) -> &'static str {
    match bracket.value() {
        _ if bracket.is_not_found() => "not-found",
        None => "none",
        Some(rate) if rate.is_at_least => "at-least",
        Some(_) => "found",
    }
}

/// Returns the percentages of cached names and of names with AAAA records, and the timeout, nanoseconds; empty strings for tests of other measures.
fn names(input: &Input, outcome: &Outcome) -> [String; 3] {
    match input
        .plan
        .test(&outcome.point.test)
        .and_then(|test| test.measure.dns())
    {
        Some(dns) => [
            dns.cached.to_string(),
            dns.with_aaaa.to_string(),
            dns.timeout_ns.to_string(),
        ],
        None => Default::default(),
    }
}

fn value(input: &Input, outcome: &Outcome, value: &Value) -> Vec<String> {
    let measure = input
        .plan
        .test(&outcome.point.test)
        .map(|t| t.measure.name())
        .unwrap_or_default();
    vec![
        measure.to_owned(),
        value.quantity.name().to_owned(),
        value.direction.to_string(),
        value.load.0.to_string(),
        value.value.to_string(),
        unit_name(value.quantity).to_owned(),
        value.is_at_least.to_string(),
        value.is_at_most.to_string(),
    ]
}

/// Returns the word for a variant in machine-readable formats: as in records, but without JSON's quotes and any settings.
fn unquoted(variant: &impl serde::Serialize) -> String {
    let word = |value: serde_json::Value| match value {
        serde_json::Value::Object(object) => object.keys().next().cloned(),
        value => value.as_str().map(str::to_owned),
    };
    serde_json::to_value(variant)
        .ok()
        .and_then(word)
        .unwrap_or_default()
}

/// Returns a row with these fields.
fn line<'f>(fields: impl IntoIterator<Item = &'f str>) -> String {
    fields.into_iter().map(quoted).collect::<Vec<_>>().join(",") + "\n"
}

fn quoted(field: &str) -> Cow<'_, str> {
    // A spreadsheet would treat it as a formula, and a formula can run programs.
    let is_formula = field.starts_with(['=', '+', '-', '@', '\t']) && field.parse::<f64>().is_err();
    let field = if is_formula {
        Cow::Owned(format!("'{field}"))
    } else {
        Cow::Borrowed(field)
    };
    if field.contains([',', '"', '\n', '\r']) {
        Cow::Owned(format!("\"{}\"", field.replace('"', "\"\"")))
    } else {
        field
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_a_spreadsheet_would_run_is_text_and_numbers_stay_numbers() {
        assert_eq!(
            quoted("=HYPERLINK(\"http://x\",\"y\")"),
            "\"'=HYPERLINK(\"\"http://x\"\",\"\"y\"\")\""
        );
        for formula in ["+1+1", "-cmd|' /C calc'!A0", "@SUM(A1)", "\tx"] {
            assert_eq!(quoted(formula), format!("'{formula}"));
        }
        for number in ["-1.5", "+2", "-1e-9", "-0"] {
            assert_eq!(quoted(number), number);
        }
    }

    #[test]
    fn a_comma_or_a_quote_is_quoted() {
        assert_eq!(quoted("a,b"), "\"a,b\"");
        assert_eq!(quoted("a \"b\""), "\"a \"\"b\"\"\"");
        assert_eq!(quoted("a b"), "a b");
    }
}
