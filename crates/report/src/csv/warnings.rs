//! `warnings.csv`: what the run warned of, the doubts about its numbers first.

use super::{line, run};
use crate::Input;

/// Returns one row for each warning, numbered in the order of the other outputs; of a run without any the header alone.
pub(crate) fn warnings_csv(input: &Input) -> String {
    let run = run::fields(input);
    let row = |(number, warning): (usize, &String)| {
        let own = [input.plan.name.clone(), number.to_string(), warning.clone()];
        line(own.into_iter().chain(run.iter().cloned()))
    };
    let rows = (1..).zip(&input.facts.warnings).map(row);
    std::iter::once(format!("plan,number,warning,{}\n", run::columns(input))).chain(rows).collect()
}
