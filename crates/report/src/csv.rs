//! `results.csv`: one row for each repetition and loss goal, every digit, units in the header.

use crate::Input;
use crate::words::title;
use sixbench_method::record::Outcome;
use sixbench_method::search::{Bracket, Limit};
use sixbench_method::terms::FrameRate;

const HEADER: &str = "plan,test,title,dut,frame_size_octets,directions,repetition,goal_loss_ratio,\
    lower_bound_frames_per_s_per_direction,upper_bound_frames_per_s_per_direction,limit,trials,invalid_trials";

/// The completed repetitions as comma-separated values (RFC 4180, but with plain newlines). The lower bound of the goal 0 is the
/// throughput; an empty bound is not known.
pub fn csv(input: &Input) -> String {
    let rows = input.outcomes.iter().flat_map(|o| o.brackets.iter().map(move |b| row(input, o, b)));
    std::iter::once(HEADER.to_owned()).chain(rows).map(|line| line + "\n").collect()
}

fn row(input: &Input, outcome: &Outcome, bracket: &Bracket) -> String {
    let test = input.plan.test(&outcome.point.test);
    let bound = |rate: Option<FrameRate>| rate.map(|r| r.0.to_string()).unwrap_or_default();
    let fields = [
        input.plan.name.clone(),
        outcome.point.test.clone(),
        test.map(title).unwrap_or_default(),
        test.map(|t| t.dut.clone()).unwrap_or_default(),
        outcome.point.frame_size.to_string(),
        test.map(|t| t.directions.each().iter().map(ToString::to_string).collect::<Vec<_>>().join("+")).unwrap_or_default(),
        outcome.repetition.to_string(),
        bracket.goal.0.to_string(),
        bound(bracket.lower),
        bound(bracket.upper),
        limit_name(bracket.limit).to_owned(),
        outcome.trials.to_string(),
        outcome.invalid.to_string(),
    ];
    fields.map(|field| quoted(&field)).join(",")
}

/// The word for a limit in formats for machines.
pub(crate) fn limit_name(limit: Limit) -> &'static str {
    match limit {
        Limit::Dut => "dut",
        Limit::Tester => "tester",
        Limit::Maximum => "maximum",
    }
}

fn quoted(field: &str) -> String {
    match field.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", field.replace('"', "\"\"")),
        false => field.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comma_or_a_quote_is_quoted() {
        assert_eq!(quoted("a,b"), "\"a,b\"");
        assert_eq!(quoted("a \"b\""), "\"a \"\"b\"\"\"");
        assert_eq!(quoted("a b"), "a b");
    }
}
