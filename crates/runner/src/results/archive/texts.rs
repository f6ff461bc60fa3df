//! The files that an archive contains in addition to the results: a description, and the checksums.

use super::files::{PackedFile, README};
use crate::results::store::StoredRun;
use jiff::Timestamp;
use sixbench_method::record::Ending;
use sixbench_method::text::visible_lines;

/// Returns the end of the run in seconds since 1970: from the facts or, failing that, from the last trial; zero if neither is known.
pub(super) fn end_s(stored: &StoredRun) -> u64 {
    let of_facts = stored
        .facts
        .runs
        .last()
        .and_then(|part| part.ended.as_deref());
    let of_trials = stored.records.last().map(|record| record.started.as_str());
    let time = of_facts
        .or(of_trials)
        .and_then(|text| text.parse::<Timestamp>().ok());
    time.and_then(|time| time.as_second().try_into().ok())
        .unwrap_or(0)
}

/// Returns one line for each file.
pub(super) fn sums(members: &[PackedFile], readme_sum: &str) -> String {
    let lines = members
        .iter()
        .map(|PackedFile { name, sum, .. }| format!("{sum}  {name}\n"));
    format!("{readme_sum}  {README}\n{}", lines.collect::<String>())
}

/// Returns the text for readers of the archive.
pub(super) fn readme(stored: &StoredRun) -> String {
    let StoredRun {
        plan,
        records,
        facts,
        ..
    } = stored;
    let began = facts.runs.first().map_or_else(String::new, |part| {
        let end = facts
            .runs
            .last()
            .and_then(|part| part.ended.as_deref())
            .unwrap_or("an unknown time");
        format!(
            "Measured on {} from {} to {end}.\nCommand: {}\n",
            part.host, part.started, part.command
        )
    });
    let version = if facts.sixbench.is_empty() {
        "an unknown version"
    } else {
        &facts.sixbench
    };
    let text = format!(
        "{}: results of sixbench\n\n{began}Version: {version}\nTrials: {}\n{}\n\n{CONTENTS}",
        plan.name,
        records.len(),
        ending(stored)
    );
    visible_lines(&text).into_owned()
}

fn ending(stored: &StoredRun) -> &'static str {
    match stored.facts.runs.last().map(|part| &part.ending) {
        Some(Some(Ending::Complete)) => "The run is complete.",
        Some(Some(Ending::Interrupted)) => {
            "The run was interrupted: the results are those of the trials that were made."
        }
        Some(Some(Ending::TimeUp { .. })) => {
            "The run's time was up: the results are those of the trials that were made."
        }
        Some(Some(Ending::Failed { .. })) => {
            "An error ended the run (facts.json): the results are those of the trials that were made."
        }
        Some(None) | None => "How the run ended is not recorded.",
    }
}

const CONTENTS: &str = "\
report.html     the report: open it in a browser
trials.jsonl    every trial, one line each: the source of all results
resolved.toml   the plan with every default; sixbench run resolved.toml repeats the run
facts.json      versions, the machine and how it was set, configuration of the devices
commands.sh     every command of the testbed
results.csv     the searches as a table
results.json    every point with its result, for programs
exports         further formats, if they were exported; --to latex has the methods and how to cite them

All but plan.toml, resolved.toml, recipes, trials.jsonl, facts.json, commands.sh and queries is derived: sixbench report DIR writes it again,
and sixbench export DIR --to FORMAT what is in exports.
Formats: https://github.com/sixbench/sixbench/blob/main/docs/RESULTS.md
Check: sha256sum -c SHA256SUMS
";
