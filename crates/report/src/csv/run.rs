//! The columns that the rows of every file end with: when, where and by which command was measured, and the labels.

use crate::Input;
use crate::origin::{Span, command, hosts, machine_time};

const COLUMNS: &str = "run_started,run_ended,host,command,sixbench";

/// Returns the names of the columns: those of every run, then `label_KEY` for each label.
pub(super) fn columns(input: &Input) -> String {
    let labels: String = input.facts.labels.keys().map(|key| format!(",label_{key}")).collect();
    format!("{COLUMNS}{labels}")
}

/// Returns what stands in them: the same in every row.
pub(super) fn fields(input: &Input) -> Vec<String> {
    let [started, ended] = times(Span::of(input.records.iter()));
    let of_run = [started, ended, hosts(input), command(input).to_owned(), input.facts.sixbench.clone()];
    of_run.into_iter().chain(input.facts.labels.values().cloned()).collect()
}

/// Returns both ends of a span, empty where there is none.
pub(super) fn times(span: Option<Span>) -> [String; 2] {
    span.map_or_else(Default::default, |span| [span.from, span.to].map(machine_time))
}
