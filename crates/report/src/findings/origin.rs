//! The time, place and command of a measurement.

use crate::Input;
use crate::digest::Digest;
use crate::findings::status::ended;
use crate::layout::table::{Column, Table};
use crate::span::Span;
use crate::wording::numbers::{count, stretch};
use jiff::{Timestamp, tz::TimeZone};
use sixbench_method::plan::Point;
use sixbench_method::record::{CodeFile, CodeOrigin, Ending, RepetitionHosts, RunPart};
use sixbench_method::status::Stop;
use sixbench_method::trial::Verdict;
use sixbench_method::units::{agreeing, part_of};
use std::collections::{BTreeMap, BTreeSet};

/// Returns a time in machine-readable form, to the second.
pub(crate) fn machine_time(time: Timestamp) -> String {
    time.to_zoned(TimeZone::UTC)
        .strftime("%Y-%m-%dT%H:%M:%SZ")
        .to_string()
}

/// Returns the names of the run's hosts, each once, separated by commas.
pub(crate) fn hosts(input: &Input) -> String {
    let names: BTreeSet<&str> = input
        .facts
        .runs
        .iter()
        .map(|part| part.host.as_str())
        .collect();
    names
        .into_iter()
        .filter(|name| !name.is_empty())
        .collect::<Vec<_>>()
        .join(", ")
}

/// Returns the command that started the run; empty if it was not recorded.
pub(crate) fn command<'a>(input: &Input<'a>) -> &'a str {
    input
        .facts
        .runs
        .first()
        .map_or("", |part| part.command.as_str())
}

/// Returns the time and the host of the measurement, and the labels: `Measured 2026-11-21 09:00:00 to 09:14:12 UTC (14 min) on alpha`.
pub(crate) fn sentence(digest: &Digest) -> String {
    let input = digest.input;
    let hosts = hosts(input);
    let on = if hosts.is_empty() {
        String::new()
    } else {
        format!(" on {hosts}")
    };
    let when = match digest.span {
        Some(span) => format!(
            "Measured {} ({}){on}",
            span.describe(),
            stretch(span.seconds())
        ),
        None => format!("Nothing was measured{on}"),
    };
    match labels(input) {
        labels if labels.is_empty() => when,
        labels => format!("{when}; {labels}"),
    }
}

/// Returns the expected duration of a complete run in one part: ` instead of the expected 3 min; 30 of 100 trials were invalid`.
pub(crate) fn expected(digest: &Digest) -> String {
    let input = digest.input;
    let [part] = &input.facts.runs[..] else {
        return String::new();
    };
    let Some(estimate_s) = part
        .estimate_s
        .filter(|_| part.ending == Some(Ending::Complete))
    else {
        return String::new();
    };
    let expected = stretch(estimate_s);
    let invalid = match digest.counted(Verdict::Invalid) {
        0 => String::new(),
        1 => format!("; {} was invalid", part_of(1, input.records.len(), "trial")),
        invalid => format!(
            "; {} were invalid",
            part_of(invalid, input.records.len(), "trial")
        ),
    };
    match digest.span.map(|span| stretch(span.seconds())) {
        Some(taken) if taken == expected => format!(", as expected{invalid}"),
        _ => format!(" instead of the expected {expected}{invalid}"),
    }
}

/// Returns the labels of the run: `kernel=6.12, rack=b4`.
pub(crate) fn labels(input: &Input) -> String {
    input
        .facts
        .labels
        .iter()
        .map(|(key, value)| format!("{key}={value}"))
        .collect::<Vec<_>>()
        .join(", ")
}

struct RunFact {
    name: &'static str,
    value: String,
}

/// Returns the run as a table of names and values, as far as they were recorded.
pub(crate) fn table(digest: &Digest) -> Table {
    let (input, span) = (digest.input, digest.span);
    let of_host = |name: &str| input.facts.host.get(name).cloned().unwrap_or_default();
    let mut facts = vec![
        (
            "Measured",
            span.map_or_else(|| "nothing".to_owned(), Span::describe),
        ),
        (
            "Duration",
            span.map(|span| stretch(span.seconds()) + &expected(digest))
                .unwrap_or_default(),
        ),
        ("Host", hosts(input)),
        ("Command", command(input).to_owned()),
        ("Search", search(input)),
    ];
    facts.extend(
        input
            .facts
            .labels
            .iter()
            .map(|(key, value)| ("Label", format!("{key}={value}"))),
    );
    if input.facts.runs.len() > 1 {
        facts.extend(input.facts.runs.iter().map(|part| ("Part", of_part(part))));
    }
    facts.extend(
        on_hosts(&digest.hosts)
            .into_iter()
            .map(|line| ("Measured on", line)),
    );
    facts.extend([
        ("sixbench", input.facts.sixbench.clone()),
        ("Kernel", of_host("kernel")),
        ("Processor", of_host("processor")),
        ("Report written", input.generated.to_owned()),
    ]);
    let rows = facts
        .into_iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| RunFact { name, value });
    let columns = [
        Column::text("Fact", |fact: &RunFact| fact.name),
        Column::text("Value", |fact: &RunFact| fact.value.clone()),
    ];
    Table::new(
        format!("The run: {}", lower(&sentence(digest))),
        columns,
        rows,
    )
}

/// Returns the files whose commands the run executed, each with its digest; empty if they were not recorded.
pub(crate) fn code(input: &Input) -> Table {
    let columns = [
        Column::text("Recipe", |file: &&CodeFile| file.of.clone()),
        Column::text("File", |file: &&CodeFile| file.path.clone()),
        Column::text("Came from", |file: &&CodeFile| came_from(file.origin)),
        Column::text("SHA-256", |file: &&CodeFile| file.sha256.clone()),
    ];
    Table::new("Files whose commands were run", columns, &input.facts.code)
}

fn came_from(origin: CodeOrigin) -> &'static str {
    match origin {
        CodeOrigin::BuiltIn => "sixbench",
        CodeOrigin::CommandLine => "the command line",
        CodeOrigin::Plan => "the plan",
    }
}

/// Returns a line for each host if there are several: `alpha: v4/84 repetitions 1, 3; v6/84 repetition 2`.
fn on_hosts(hosts: &RepetitionHosts<'_>) -> Vec<String> {
    if !hosts.are_several() {
        return Vec::new();
    }
    let of_host = |host: &str| {
        let mut points: BTreeMap<&Point, Vec<String>> = BTreeMap::new();
        for (point, repetition, _) in hosts.iter().filter(|(_, _, hosts)| hosts.contains(host)) {
            points
                .entry(point)
                .or_default()
                .push(repetition.to_string());
        }
        let of_point = |(point, repetitions): (&Point, Vec<String>)| {
            let noun = agreeing(repetitions.len() == 1, "repetition");
            format!("{point} {noun} {}", repetitions.join(", "))
        };
        format!(
            "{host}: {}",
            points
                .into_iter()
                .map(of_point)
                .collect::<Vec<_>>()
                .join("; ")
        )
    };
    hosts.all().into_iter().map(of_host).collect()
}

/// Returns how the run searches: `binary search; every repetition starts cold, where the first one does`; empty if nothing is searched for.
fn search(input: &Input) -> String {
    let is_made = input
        .plan
        .tests
        .iter()
        .any(|test| test.measure.is_searched_rate() || test.measure.is_at_throughput());
    let search = &input.plan.search;
    if is_made {
        format!("{}; {}", search.method.info().title, search.start.phrase())
    } else {
        String::new()
    }
}

fn lower(sentence: &str) -> String {
    sentence[..1].to_lowercase() + &sentence[1..]
}

/// Returns a description of a part: `2026-11-21T09:00:00Z to 2026-11-21T09:05:00Z on alpha: the run was interrupted (sixbench run plan.toml)`.
fn of_part(part: &RunPart) -> String {
    let end = match &part.ending {
        Some(Ending::Complete) => "complete".to_owned(),
        Some(Ending::Interrupted) => ended(&Stop::Interrupted),
        Some(Ending::TimeUp { within_s }) => ended(&Stop::TimeUp {
            within_s: *within_s,
        }),
        Some(Ending::Failed { error }) => ended(&Stop::Failed {
            error: error.clone(),
        }),
        None => ended(&Stop::CutOff),
    };
    let until = part.ended.as_deref().unwrap_or("–");
    format!(
        "{} to {until} on {}: {end} ({})",
        part.started, part.host, part.command
    )
}

/// Returns the mark of an incomplete run, or an empty string for a complete one.
pub(crate) fn mark(input: &Input) -> &'static str {
    match (input.interrupted, Stop::from_facts(input.facts)) {
        (false, _) => "",
        (true, Stop::Failed { .. } | Stop::SetUpFailed { .. }) => "ended by an error",
        (true, Stop::CutOff | Stop::TimeUp { .. }) => "incomplete",
        (true, Stop::Interrupted | Stop::Unknown) => "interrupted",
    }
}

/// Returns ` of the first of 3 parts` for a run that was resumed or merged; empty for a run in one part.
pub(crate) fn of_parts(input: &Input) -> String {
    match input.facts.runs.len() {
        0 | 1 => String::new(),
        parts => format!(" of the first of {}", count(parts as u64, "part")),
    }
}

/// Returns `in 2 parts` for a run that was resumed or merged; empty for a run in one part.
pub(crate) fn parts(input: &Input) -> String {
    match input.facts.runs.len() {
        0 | 1 => String::new(),
        parts => format!("in {}", count(parts as u64, "part")),
    }
}
