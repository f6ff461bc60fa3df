//! What became wrong or right of the requirements of RFCs, in words.

use crate::wording::requirements::under_load;
use sixbench_analysis::comparison::{
    Comparison, RequirementChange, RequirementComparison, RequirementTurn,
};
use sixbench_method::units::counted;

/// The most names of vectors of only one side that a line has.
const MOST_NAMED: usize = 5;

/// Returns a line for each requirement that changed and, for a test of which none did, one that says so.
pub(super) fn requirements(compared: &Comparison<'_>) -> String {
    compared.requirements.iter().map(of_test).collect()
}

/// Returns the number of requirements that B violates and A meets, with the words for the verdict.
pub(super) fn violated(compared: &Comparison<'_>) -> (usize, String) {
    let wrong = count(compared, RequirementTurn::BecameWrong);
    let words = format!("B violates {} that A meets", counted(wrong, "requirement"));
    (wrong, words)
}

/// Returns the number of requirements of which nothing is known in B, with the words for the verdict.
pub(super) fn unknown(compared: &Comparison<'_>) -> (usize, String) {
    let unknown = count(compared, RequirementTurn::NotKnown);
    let verb = if unknown == 1 { "is" } else { "are" };
    let words = format!(
        "{} {verb} no longer known, because control frames were lost",
        counted(unknown, "requirement")
    );
    (unknown, words)
}

/// Returns the verdict where nothing became wrong.
pub(super) fn cured(compared: &Comparison<'_>) -> String {
    match count(compared, RequirementTurn::BecameRight) {
        0 => "no requirement became wrong or right".to_owned(),
        right => format!("{} became right in B", counted(right, "requirement")),
    }
}

fn count(compared: &Comparison<'_>, turn: RequirementTurn) -> usize {
    let changes = compared.requirements.iter().flat_map(|of| &of.changes);
    changes.filter(|change| change.change == turn).count()
}

fn of_test(found: &RequirementComparison) -> String {
    let title = &found.title;
    let mut lines: Vec<String> = found
        .changes
        .iter()
        .map(|change| format!("{title}: {}\n", sentence(change)))
        .collect();
    if lines.is_empty() {
        lines.push(format!(
            "{title}: none of {} became wrong or right\n",
            counted(found.compared, "requirement")
        ));
    }
    lines.extend(other_loads(found));
    lines.extend(alone("A", title, &found.only_a));
    lines.extend(alone("B", title, &found.only_b));
    lines.concat()
}

fn sentence(change: &RequirementChange) -> String {
    format!(
        "{} {}{} ({}, {}), {} in A and {} in B. {}",
        change.vector,
        change.change.verb(),
        under_load(change),
        change.clause,
        change.level.word(),
        change.a.title(),
        change.b.title(),
        change.sentence
    )
}

/// Returns the line on loads that differ; `None` if both sides were asked under the same one, or under none.
fn other_loads(found: &RequirementComparison) -> Option<String> {
    let loads = match (found.load_a, found.load_b) {
        (None, None) => return None,
        (Some(a), Some(b)) if a == b => return None,
        (Some(a), Some(b)) => format!("A was asked under a load of {a}, and B under one of {b}"),
        (Some(load), None) => format!("A alone was asked under load ({load})"),
        (None, Some(load)) => format!("B alone was asked under load ({load})"),
    };
    Some(format!(
        "{}: {loads}, so that what was found under load is not compared\n",
        found.title
    ))
}

/// Returns the line on the vectors that only one side was asked.
fn alone(side: &str, title: &str, names: &[String]) -> Option<String> {
    let more = names.len().saturating_sub(MOST_NAMED);
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    let shown = names
        .iter()
        .take(MOST_NAMED)
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(", ");
    (!names.is_empty()).then(|| {
        format!(
            "{title}: {side} alone was sent {}: {shown}{more}\n",
            counted(names.len(), "vector")
        )
    })
}
