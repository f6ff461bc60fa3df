//! The requirements of RFCs that became wrong or right, by run and device.

use super::tested::TestedHistory;
use crate::wording::numbers::{count, title};
use crate::wording::requirements::under_load;
use serde::Serialize;
use serde_json::{Value, json};
use sixbench_analysis::comparison::{RequirementChange, RequirementTurn};
use sixbench_analysis::history::{DatedRequirementChange, RequirementHistory};
use sixbench_method::lists::{by_key, each_once};
use sixbench_method::units::counted;

/// The changes of one device between two runs.
#[derive(Serialize)]
pub(super) struct BrokenRequirements {
    /// The first run with the new findings.
    run: String,
    /// The report of that run.
    link: Option<String>,
    device: String,
    /// The version of the device, or those that it had since the last run with the old findings.
    version: String,
    /// The other changes since the run with the old findings, in words.
    changed: Vec<String>,
    rows: Vec<BrokenRow>,
}

/// One requirement.
#[derive(Serialize)]
struct BrokenRow {
    vector: String,
    clause: String,
    level: &'static str,
    turn: String,
    /// The class of the verdict in the style sheet.
    class: &'static str,
    before: &'static str,
    after: &'static str,
    requirement: String,
}

/// Returns what became wrong or right, in the order of the runs.
pub(super) fn broken(document: &TestedHistory<'_>) -> Vec<BrokenRequirements> {
    let mut found: Vec<(usize, BrokenRequirements)> = Vec::new();
    for history in &document.requirements {
        let dated = history.changes.iter().map(|dated| (dated.at, dated));
        found.extend(
            by_key(dated)
                .into_iter()
                .map(|(at, changes)| (at, broken_at(document, history, at, &changes))),
        );
    }
    found.sort_by_key(|(at, _)| *at);
    found.into_iter().map(|(_, broken)| broken).collect()
}

fn broken_at(
    document: &TestedHistory<'_>,
    history: &RequirementHistory<'_>,
    at: usize,
    changes: &[&DatedRequirementChange],
) -> BrokenRequirements {
    let dut = &history.test.dut;
    let known = changes.iter().map(|dated| dated.before).min().unwrap_or(at);
    let versions = each_once((known..=at).filter_map(|run| version(document, history, run)));
    // The versions of this device stand beside its name.
    let of_device: Vec<String> = versions
        .windows(2)
        .map(|pair| format!("{dut}: {} → {}", pair[0], pair[1]))
        .collect();
    let mut changed = document.changed_between(known, at);
    changed.retain(|change| !of_device.contains(change));
    let run = &document.input.runs[at];
    BrokenRequirements {
        run: run.name.clone(),
        link: run.link.clone(),
        device: title(history.test),
        version: versions.join(" → "),
        changed,
        rows: changes.iter().map(|dated| row(&dated.change)).collect(),
    }
}

/// Returns the version of the device in a run that has one on record.
fn version<'d>(
    document: &TestedHistory<'d>,
    history: &RequirementHistory<'_>,
    run: usize,
) -> Option<&'d str> {
    let facts = document.input.runs[run].facts.duts.get(&history.test.dut);
    facts
        .map(|facts| facts.version.as_str())
        .filter(|version| !version.is_empty())
}

fn row(change: &RequirementChange) -> BrokenRow {
    BrokenRow {
        vector: change.vector.clone(),
        clause: change.clause.clone(),
        level: change.level.word(),
        turn: format!("{}{}", change.change.verb(), under_load(change)),
        class: match change.change {
            RequirementTurn::BecameWrong | RequirementTurn::NotKnown => "worse",
            RequirementTurn::BecameRight => "better",
        },
        before: change.a.title(),
        after: change.b.title(),
        requirement: change.sentence.clone(),
    }
}

/// Returns the sentence on all of them; `None` if no two runs asked for the same requirement.
pub(super) fn headline(document: &TestedHistory<'_>) -> Option<String> {
    let all = || document.requirements.iter();
    let compared: usize = all().map(|history| history.compared).sum();
    let runs = each_once(all().flat_map(|history| history.entries.iter().copied())).len();
    let turned = |turn| {
        let changes = all().flat_map(|history| &history.changes);
        changes.filter(|dated| dated.change.change == turn).count()
    };
    let words = [
        (RequirementTurn::BecameWrong, "became wrong"),
        (RequirementTurn::BecameRight, "became right"),
    ];
    let turned: Vec<String> = words
        .into_iter()
        .map(|(turn, words)| (turned(turn), words))
        .filter(|(number, _)| *number > 0)
        .map(|(number, words)| format!("{} {words}", counted(number, "requirement")))
        .collect();
    let over = format!("over {}", count(runs as u64, "run"));
    match turned.as_slice() {
        _ if compared == 0 => None,
        [] => Some(format!(
            "None of {} became wrong or right {over}",
            counted(compared, "requirement")
        )),
        turned => Some(format!("{} {over}", turned.join(" and "))),
    }
}

/// Returns a line for each device and run at which something changed, and below it one for each requirement.
pub(super) fn lines(document: &TestedHistory<'_>) -> String {
    broken(document).iter().map(lines_of).collect()
}

fn lines_of(broken: &BrokenRequirements) -> String {
    let also = match broken.changed.as_slice() {
        [] => String::new(),
        changed => format!("; also new there: {}", changed.join("; ")),
    };
    let version = match broken.version.as_str() {
        "" => String::new(),
        version => format!(" ({version})"),
    };
    let rows = broken.rows.iter().map(|row| {
        format!(
            "    {} {} ({}, {}), {} before and {} now. {}\n",
            row.vector, row.turn, row.clause, row.level, row.before, row.after, row.requirement
        )
    });
    format!(
        "  {}, {}{version}{also}\n{}",
        broken.run,
        broken.device,
        rows.collect::<String>()
    )
}

/// Returns the requirements as `history.json` has them.
pub(super) fn value(document: &TestedHistory<'_>) -> Value {
    let tests = document.requirements.iter().map(|history| {
        let changes = history
            .changes
            .iter()
            .map(|dated| change_value(document, history, dated));
        json!({
            "test": history.test.name,
            "device": history.test.dut,
            "title": title(history.test),
            "runs": history.entries,
            "compared": history.compared,
            "changes": changes.collect::<Vec<_>>(),
        })
    });
    Value::Array(tests.collect())
}

fn change_value(
    document: &TestedHistory<'_>,
    history: &RequirementHistory<'_>,
    dated: &DatedRequirementChange,
) -> Value {
    let change = &dated.change;
    json!({
        "run_before": dated.before,
        "run": dated.at,
        "vector": change.vector,
        "clause": change.clause,
        "level": change.level,
        "sentence": change.sentence,
        "before": change.a,
        "after": change.b,
        "change": change.change,
        "under_load": change.under_load,
        "version_before": version(document, history, dated.before),
        "version": version(document, history, dated.at),
    })
}
