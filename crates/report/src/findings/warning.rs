//! The warnings of a run: frames that its devices should not have sent, and what the run itself recorded. All formats tell these, in this order.

use crate::digest::{Digest, PointDigest};
use crate::findings::warning_kind::WarningKind;
use crate::layout::cell::Cell;
use crate::layout::table::{Column, Table};
use crate::wording::anomalies::{frames_and_share, share_of_frames};
use crate::wording::numbers::{count, enumerated, title, whole};
use sixbench_method::anomaly::{Anomaly, AnomalyShare, beside_the_goal};
use sixbench_method::lists::by_key;
use sixbench_method::measures::Family;
use sixbench_method::plan::Test;
use sixbench_method::record::{Warning, WarningLevel};
use sixbench_method::trial::{AnomalyKind, ShareBase};
use sixbench_method::units::agreeing;

/// A warning of a report.
#[derive(Clone, Copy)]
pub(crate) enum ReportWarning<'d> {
    /// Frames of one kind, in the trials of one test.
    Anomaly(&'d Anomaly, AnomalyNames<'d>),
    /// A warning that the run recorded.
    Recorded(&'d Warning),
}

/// The names of a test and of its device in sentences.
#[derive(Clone, Copy)]
pub(crate) struct AnomalyNames<'d> {
    test: Option<&'d Test>,
    device: &'d str,
    /// The vectors that show the device's known defects.
    defect_vectors: &'d [String],
}

impl<'d> ReportWarning<'d> {
    /// Returns the text of the warning, without a period.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Anomaly(anomaly, names) => sentence(anomaly, *names),
            Self::Recorded(warning) => warning.to_string(),
        }
    }

    /// Returns the anomaly; `None` for a warning of the run.
    pub(crate) fn anomaly(&self) -> Option<&'d Anomaly> {
        match self {
            Self::Anomaly(anomaly, _) => Some(anomaly),
            Self::Recorded(_) => None,
        }
    }

    /// Returns its importance, as a word; empty for a text of version 0.1, whose order alone says it.
    pub(crate) fn level(&self) -> &'static str {
        let level = match self {
            Self::Anomaly(anomaly, _) => Some(anomaly.level()),
            Self::Recorded(warning) => warning.level(),
        };
        match level {
            Some(WarningLevel::Doubt) => "doubt",
            Some(WarningLevel::Note) => "note",
            None => "",
        }
    }
}

impl Digest<'_> {
    /// Returns every warning: frames that cast doubt on a figure, then the warnings that the run recorded, then stray frames.
    pub(crate) fn warnings(&self) -> Vec<ReportWarning<'_>> {
        let (doubts, notes): (Vec<_>, Vec<_>) = self
            .told_anomalies()
            .partition(|of| of.level() == WarningLevel::Doubt);
        let with_names = |of| ReportWarning::Anomaly(of, self.names(of));
        let recorded = self
            .input
            .facts
            .warnings
            .iter()
            .map(ReportWarning::Recorded);
        doubts
            .into_iter()
            .map(with_names)
            .chain(recorded)
            .chain(notes.into_iter().map(with_names))
            .collect()
    }

    /// Returns the anomalies that warnings are about: all but those which the loss tells.
    fn told_anomalies(&self) -> impl Iterator<Item = &Anomaly> {
        self.anomalies
            .iter()
            .filter(|anomaly| !anomaly.kind.is_plain_loss())
    }

    fn names(&self, of: &Anomaly) -> AnomalyNames<'_> {
        let test = self.input.plan.test(&of.test);
        let facts = test.and_then(|test| self.input.facts.duts.get(&test.dut));
        AnomalyNames {
            test,
            defect_vectors: facts.map_or(&[], |facts| &facts.defect_vectors),
            device: test.map_or("", |test| self.dut_title(test)),
        }
    }

    /// Returns the warnings for people: each kind once, with the test that has most of it. The tables of anomalies have every test.
    pub(crate) fn warnings_in_brief(&self) -> Vec<String> {
        let recorded = WarningKind::all_of(&self.input.facts.warnings);
        self.anomalies_in_brief()
            .into_iter()
            .chain(
                recorded
                    .iter()
                    .map(|kind| kind.in_brief(Warning::to_string)),
            )
            .collect()
    }

    /// Returns a sentence for each kind of anomaly, without a period.
    pub(crate) fn anomalies_in_brief(&self) -> Vec<String> {
        let kinds = by_key(self.told_anomalies().map(|of| (of.kind, of)));
        kinds
            .into_iter()
            .filter_map(|(_, of_kind)| self.in_brief(&of_kind))
            .collect()
    }

    fn in_brief(&self, of_kind: &[&Anomaly]) -> Option<String> {
        let most = of_kind.iter().copied().max_by(|a, b| {
            a.share()
                .unwrap_or(0.0)
                .total_cmp(&b.share().unwrap_or(0.0))
        })?;
        let others = of_kind.len() as u64 - 1;
        let others = if others > 0 {
            format!(" (and in {})", count(others, "more test"))
        } else {
            String::new()
        };
        Some(sentence(most, self.names(most)) + &others)
    }
}

/// Returns whether a test's name already says which device it is about, as `TAYGA (SIIT)` does of `TAYGA, SIIT`.
fn names_device(name: &str, device: &str) -> bool {
    let of_device = lowercase_words(device);
    lowercase_words(name)
        .iter()
        .all(|word| of_device.contains(word))
}

fn lowercase_words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

/// Returns `TAYGA (tayga-siit): 4,000 duplicate frames, 100 % of those received, in 5 of 7 trials, first in trial 1 of repetition 1 at 84 bytes`.
fn sentence(anomaly: &Anomaly, names: AnomalyNames<'_>) -> String {
    let Anomaly {
        kind,
        frames,
        trials,
        all_trials,
        first,
        ..
    } = anomaly;
    let name = names.test.map_or_else(|| anomaly.test.clone(), title);
    let device = if names.device.is_empty() {
        &anomaly.device
    } else {
        names.device
    };
    let name = if names_device(&name, device) {
        name
    } else {
        format!("{name} ({device})")
    };
    let size = if is_of_queries(names.test) {
        String::new()
    } else {
        format!(" at {}\u{a0}bytes", first.frame_size)
    };
    let of = frames_and_share(
        &noun(*kind, *frames, names.test),
        *frames,
        anomaly.share(),
        &base(*kind, names.test),
    );
    format!(
        "{name}: {of}, in {trials} of {}, first in trial {} of repetition {}{size}{}",
        count((*all_trials).into(), "trial"),
        first.trial,
        first.repetition,
        shown_by(*kind, names)
    )
}

/// Returns which vectors show a known defect: `; shown by the vector 64-udp-sum-zero (sixbench conformance tayga-siit --vector 64-udp-sum-zero)`.
fn shown_by(kind: AnomalyKind, names: AnomalyNames<'_>) -> String {
    let vectors = names.defect_vectors;
    let (AnomalyKind::Defective, Some(first), Some(test)) = (kind, vectors.first(), names.test)
    else {
        return String::new();
    };
    format!(
        "; shown by the {} {} (sixbench conformance {} --vector {first})",
        agreeing(vectors.len() == 1, "vector"),
        vectors.join(", "),
        test.dut
    )
}

/// Returns the noun for so many of these frames, which are answers or connections in tests of those.
pub(crate) fn noun(kind: AnomalyKind, frames: u64, test: Option<&Test>) -> String {
    if kind == AnomalyKind::Icmp && is_of_queries(test) {
        return agreeing(frames == 1, "network error").into_owned();
    }
    let measured = match test.map(|test| test.measure.family()) {
        Some(Family::Queries) => "answer",
        Some(Family::Tcp) => "connection",
        Some(Family::Frames | Family::Requests | Family::PhaseOne | Family::Vectors) | None => {
            "frame"
        }
    };
    kind.noun(frames).replacen("frame", measured, 1)
}

/// Anomalies of one kind in the trials of a test.
struct AnomalyRow<'d> {
    anomaly: &'d Anomaly,
    /// `None` if the plan does not have the test.
    test: Option<&'d Test>,
}

fn columns<'d>() -> Vec<Column<'d, AnomalyRow<'d>>> {
    vec![
        Column::text("Test", |row: &AnomalyRow| {
            row.test.map_or_else(|| row.anomaly.test.clone(), title)
        }),
        Column::text("Kind", |row: &AnomalyRow| {
            noun(row.anomaly.kind, row.anomaly.frames, row.test)
        }),
        Column::number("Number", |row: &AnomalyRow| Cell::Count(row.anomaly.frames)),
        Column::number("Share", |row: &AnomalyRow| {
            row.anomaly.share().map(share_of_frames)
        }),
        Column::text("Of those", |row: &AnomalyRow| {
            row.anomaly.kind.base().word()
        }),
        Column::text("Trials", |row: &AnomalyRow| {
            format!("{} of {}", row.anomaly.trials, row.anomaly.all_trials)
        }),
        Column::text("First (size, repetition, trial)", |row: &AnomalyRow| {
            first(row.anomaly)
        }),
    ]
}

fn first(anomaly: &Anomaly) -> String {
    let first = &anomaly.first;
    format!(
        "{}, repetition {}, trial {}",
        first.frame_size, first.repetition, first.trial
    )
}

/// Returns the words for the frames that a number of these is a share of, which are queries in tests of DNS: `those received`, `the queries offered`.
pub(crate) fn base(kind: AnomalyKind, test: Option<&Test>) -> String {
    let are_queries = kind.base() == ShareBase::Offered && is_of_queries(test);
    format!(
        "{} {}",
        if are_queries { "the queries" } else { "those" },
        kind.base().word()
    )
}

fn is_of_queries(test: Option<&Test>) -> bool {
    test.is_some_and(|test| test.measure.family().is_answered())
}

/// The title of the table of anomalies.
pub(crate) const BY_TEST: &str = "Anomalies by test";

/// Returns a table with a row for each test and kind of anomaly.
pub(crate) fn by_test(digest: &Digest) -> Table {
    let are_of_queries = digest
        .anomalies
        .iter()
        .all(|of| is_of_queries(digest.names(of).test));
    let note = if are_of_queries {
        "In all trials, losing ones included; the share is of the answers received or the queries offered in the same trials. Those that cast doubt on a \
         figure come first: more than one in a thousand."
    } else {
        "Frames in all trials, losing ones included; the share is of the frames received or offered in the same trials. Those that cast doubt on a \
         figure come first: more than one frame in a thousand."
    };
    let rows = digest.anomalies.iter().map(|anomaly| AnomalyRow {
        anomaly,
        test: digest.names(anomaly).test,
    });
    Table::new(BY_TEST, columns(), rows).with_note(note)
}

impl PointDigest<'_> {
    /// Returns what the device sent in passing trials that their loss goal says nothing about: `, but with duplicate frames (100 % of those received)`.
    /// Empty if there was nothing of the kind.
    pub(crate) fn beside_the_goal(&self) -> String {
        let kinds = beside_the_goal(&self.records, self.first_goal());
        let words: Vec<String> = kinds.iter().map(|found| beside(found, self.test)).collect();
        if words.is_empty() {
            String::new()
        } else {
            format!(", but with {}", enumerated(&words))
        }
    }
}

fn beside(found: &AnomalyShare, test: &Test) -> String {
    let noun = noun(found.kind, found.frames, Some(test));
    match found.share {
        Some(of) => format!(
            "{noun} ({} of {})",
            share_of_frames(of),
            base(found.kind, Some(test))
        ),
        None => format!("{} {noun}", whole(found.frames)),
    }
}
