//! Determines in which order the two sides of a comparison were measured: one after the other, or alternately.

use crate::results::collection::CollectedRun;
use jiff::{Timestamp, Unit};
use sixbench_analysis::comparison::{RunOrder, SESSIONS_DIFFER};
use sixbench_method::record::TrialRecord;

/// Returns the order in which the runs of A and of B were made, with a note about it.
pub(crate) fn run_order(sides: [&[CollectedRun]; 2]) -> (RunOrder, String) {
    let runs = |side: usize| sides[side].iter().map(move |run| (run.started, side));
    let mut all: Vec<(Timestamp, usize)> = runs(0).chain(runs(1)).collect();
    all.sort();
    let is_turn = |pair: &[(Timestamp, usize)]| matches!(pair, [a, b] if a.1 != b.1);
    // Two runs in all, A and B, are one after the other, not in turns.
    if all.len() > 2 && all.chunks(2).all(is_turn) {
        (
            RunOrder::InTurns,
            format!(
                "note: the runs of A and B took turns, {} of each",
                all.len() / 2
            ),
        )
    } else {
        one_after_the_other(sides.map(|runs| span(runs.iter().flat_map(|run| &run.stored.records))))
    }
}

/// Returns the side that was measured first, A if that is unknown, with a note about it.
fn one_after_the_other(spans: [Option<TrialSpan>; 2]) -> (RunOrder, String) {
    let (order, when) = match spans {
        [Some(a), Some(b)] if b.0 < a.0 => (RunOrder::BFirst, between("B", b, "A", a)),
        [Some(a), Some(b)] => (RunOrder::AFirst, between("A", a, "B", b)),
        _ => (RunOrder::AFirst, String::new()),
    };
    let note = format!(
        "note: A and B were measured one after the other{when}, so a change of the machine between them looks like a difference. \
         Without a reference that both measured, only a difference of more than {:.0} % counts. \
         Two devices that are compared by name are measured in turns",
        SESSIONS_DIFFER * 100.0
    );
    (order, note)
}

/// The start times of the first and the last trial.
type TrialSpan = (Timestamp, Timestamp);

fn span<'r>(records: impl Iterator<Item = &'r TrialRecord>) -> Option<TrialSpan> {
    let starts = records.filter_map(|record| record.started.parse::<Timestamp>().ok());
    starts.fold(None, |span, start| match span {
        None => Some((start, start)),
        Some((first, last)) => Some((first.min(start), last.max(start))),
    })
}

fn between(first: &str, (_, ended): TrialSpan, second: &str, (started, _): TrialSpan) -> String {
    let minutes = started
        .since((Unit::Minute, ended))
        .map(|span| span.get_minutes())
        .unwrap_or_default();
    if started > ended {
        format!(" ({second} {} {first})", after(minutes))
    } else {
        format!(" ({second} was started while {first} was being measured)")
    }
}

fn after(minutes: i64) -> String {
    match minutes {
        0..=1 => "right after".to_owned(),
        2..=119 => format!("{minutes} minutes after"),
        120..=2879 => format!("{} hours after", minutes / 60),
        _ => format!("{} days after", minutes / 1440),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(from: &str, to: &str) -> TrialSpan {
        let time = |time: &str| format!("2026-11-{time}:00Z").parse().expect("a time");
        (time(from), time(to))
    }

    fn said(a: TrialSpan, b: TrialSpan) -> String {
        between("A", a, "B", b)
    }

    #[test]
    fn the_note_says_which_came_first_and_by_how_much() {
        let a = span("21T09:00", "21T09:30");
        assert_eq!(said(a, span("21T09:31", "21T10:00")), " (B right after A)");
        assert_eq!(
            said(a, span("21T10:15", "21T10:30")),
            " (B 45 minutes after A)"
        );
        assert_eq!(
            said(a, span("21T23:40", "22T01:00")),
            " (B 14 hours after A)"
        );
        assert_eq!(said(a, span("25T09:40", "25T11:00")), " (B 4 days after A)");
        assert_eq!(
            said(a, span("21T09:10", "21T11:00")),
            " (B was started while A was being measured)"
        );
    }

    #[test]
    fn records_without_times_are_one_after_the_other() {
        let (order, note) = one_after_the_other([None, None]);
        assert_eq!(order, RunOrder::AFirst);
        assert!(
            note.starts_with(
                "note: A and B were measured one after the other, so a change of the machine"
            ),
            "{note}"
        );
    }
}
