//! The files that an archive contains in addition to the results: a description, and the checksums.

use super::files::{METADATA, PackedFile, sum_of};
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

/// Returns one line for each file: first the texts that the archive adds, then those of the results.
pub(super) fn sums(texts: &[(&'static str, String)], members: &[PackedFile]) -> String {
    let added = texts
        .iter()
        .map(|(name, text)| format!("{}  {name}\n", sum_of(text.as_bytes())));
    let of_results = members
        .iter()
        .map(|PackedFile { name, sum, .. }| format!("{sum}  {name}\n"));
    added.chain(of_results).collect()
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
        "{}: results of sixbench\n\n{began}Version: {version}\nTrials: {}\n{}\n\n{}\n{REST}",
        plan.name,
        records.len(),
        ending(stored),
        contents()
    );
    visible_lines(&text).into_owned()
}

/// Returns how the run ended, as a sentence.
pub(super) fn ending(stored: &StoredRun) -> &'static str {
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

/// A file, or a folder, that readers of an archive look for.
pub(super) struct DescribedFile {
    pub(super) name: &'static str,
    pub(super) description: &'static str,
}

impl DescribedFile {
    const fn new(name: &'static str, description: &'static str) -> Self {
        Self { name, description }
    }
}

pub(super) const CONTENTS: [DescribedFile; 9] = [
    DescribedFile::new("report.html", "the report: open it in a browser"),
    DescribedFile::new(
        "trials.jsonl",
        "every trial, one line each: the source of all results",
    ),
    DescribedFile::new(
        "resolved.toml",
        "the plan with every default; sixbench run resolved.toml repeats the run",
    ),
    DescribedFile::new(
        "facts.json",
        "versions, the machine and how it was set, configuration of the devices",
    ),
    DescribedFile::new("commands.sh", "every command of the testbed"),
    DescribedFile::new("results.csv", "the searches as a table"),
    DescribedFile::new("results.json", "every point with its result, for programs"),
    DescribedFile::new(
        "exports",
        "further formats, if they were exported; --to latex has the methods and how to cite them",
    ),
    DescribedFile::new(METADATA, "this list for programs (RO-Crate)"),
];

/// Returns a line for each of these files.
fn contents() -> String {
    CONTENTS
        .iter()
        .map(|file| format!("{:<22}  {}\n", file.name, file.description))
        .collect()
}

const REST: &str = "\
All but plan.toml, resolved.toml, recipes, trials.jsonl, facts.json, commands.sh and queries is derived: sixbench report DIR writes it again,
and sixbench export DIR --to FORMAT what is in exports.
Formats: https://github.com/sixbench/sixbench/blob/main/docs/RESULTS.md
Check: sha256sum -c SHA256SUMS
";
