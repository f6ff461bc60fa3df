//! `warnings.csv`: the warnings of the run, with doubts about its numbers first.

use super::run;
use crate::digest::Digest;

/// Returns one row for each warning, numbered in the same order as in the other outputs; only the header if there are none.
pub(crate) fn warnings_csv(digest: &Digest<'_>) -> String {
    let input = digest.input;
    let row = |(number, warning): (usize, &String)| {
        (String::new(), vec![input.plan.name.clone(), number.to_string(), warning.clone()])
    };
    run::file(digest, "plan,number,warning", (1..).zip(&input.facts.warnings).map(row))
}
