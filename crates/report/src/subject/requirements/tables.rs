//! Tables of requirements: counted by RFC, and those that are violated with their frames.

use crate::digest::{Digest, PointDigest};
use crate::layout::cell::Cell;
use crate::layout::table::{Column, Table};
use crate::wording::numbers::{capitalised, title};
use sixbench_method::lists::each_once;
use sixbench_method::trial::{JudgedFrame, JudgedStep, JudgedVector, LoadedFinding, VectorResult};
use std::collections::BTreeMap;

/// A vector at a point.
pub(crate) struct VectorRow<'d> {
    pub(crate) point: &'d PointDigest<'d>,
    pub(crate) vector: &'d JudgedVector,
}

impl<'d> VectorRow<'d> {
    /// Returns the frames in words: those that were sent, those that are required, and those that came; of an exchange, step by step.
    pub(crate) fn frames(&self) -> String {
        let JudgedVector {
            sent,
            reason,
            frames,
            steps,
            result,
            ..
        } = self.vector;
        if *result == VectorResult::NotApplicable {
            return reason.clone().unwrap_or_default();
        }
        let sent = if steps.is_empty() {
            sent_words(sent)
        } else {
            Vec::new()
        };
        [sent, went_words(frames, steps, reason)]
            .concat()
            .join("; ")
    }

    /// Returns what was found under load: the result of the quiet run, where it was the same. `None` if no load was offered.
    pub(crate) fn result_under_load(&self) -> Option<VectorResult> {
        self.point.requirements()?.result_under_load(self.vector)
    }

    /// Returns what was found under load where it is another finding.
    pub(crate) fn differing(&self) -> Option<&'d LoadedFinding> {
        self.point.requirements()?.differing(self.vector)
    }

    /// Returns the worse result: the quiet one, or that under load.
    pub(crate) fn worst(&self) -> VectorResult {
        let loaded = self.result_under_load().unwrap_or(self.vector.result);
        loaded.min(self.vector.result)
    }
}

/// Returns the frames of a finding under load in words: those that are required, and those that came. Those that were sent are the vector's.
pub(crate) fn answer_frames(loaded: &LoadedFinding) -> String {
    went_words(&loaded.frames, &loaded.steps, &loaded.reason).join("; ")
}

/// Returns what was required and what came, with the reason for the result; of an exchange, step by step.
fn went_words(
    frames: &[JudgedFrame],
    steps: &[JudgedStep],
    reason: &Option<String>,
) -> Vec<String> {
    let reason: Vec<String> = reason.iter().cloned().collect();
    if steps.is_empty() {
        return [reason, answer_words(frames)].concat();
    }
    let steps = (1..)
        .zip(steps)
        .map(|(number, step)| step_words(number, step));
    steps.chain(reason).collect()
}

/// Returns a step of an exchange: `step 2, after 5 s: sent ..; required ..; came nothing`.
fn step_words(number: usize, step: &JudgedStep) -> String {
    let wait = step.wait_ms.map_or_else(String::new, |wait_ms| {
        format!(", after {} s", wait_ms as f64 / 1e3)
    });
    let words = [sent_words(&step.sent), answer_words(&step.frames)].concat();
    format!("step {number}{wait}: {}", words.join("; "))
}

fn sent_words(sent: &[String]) -> Vec<String> {
    sent.iter().map(|frame| format!("sent {frame}")).collect()
}

fn answer_words(frames: &[JudgedFrame]) -> Vec<String> {
    if frames.is_empty() {
        return vec!["required nothing; came nothing".to_owned()];
    }
    frames.iter().flat_map(frame_words).collect()
}

/// Returns a row for each vector of each point, in the order in which they were sent.
pub(crate) fn rows<'d>(digest: &'d Digest<'d>) -> impl Iterator<Item = VectorRow<'d>> {
    digest.points.iter().flat_map(of_point)
}

fn of_point<'d>(point: &'d PointDigest<'d>) -> impl Iterator<Item = VectorRow<'d>> {
    let vectors = point.requirements().map(|results| &results.vectors[..]);
    vectors
        .unwrap_or_default()
        .iter()
        .map(move |vector| VectorRow { point, vector })
}

fn frame_words(frame: &JudgedFrame) -> Vec<String> {
    let required = match &frame.expected {
        Some(expected) => format!("required {expected}"),
        None => "required nothing".to_owned(),
    };
    let came = match &frame.came {
        Some(came) => format!("came {came}"),
        None => "came nothing".to_owned(),
    };
    [required, came]
        .into_iter()
        .chain(frame.differences.iter().map(ToString::to_string))
        .collect()
}

/// The vectors of an RFC at a point.
struct RfcRow<'d> {
    point: &'d PointDigest<'d>,
    rfc: u32,
    vectors: Vec<&'d JudgedVector>,
}

/// Returns the requirements counted by device and RFC.
pub(super) fn by_rfc(digest: &Digest) -> Table {
    let counts = VectorResult::ALL.map(|finding| {
        Column::number(capitalised(finding.title()), move |row: &RfcRow| {
            let found = row.vectors.iter().filter(|vector| vector.result == finding);
            Cell::Count(found.count() as u64)
        })
    });
    let heads = [
        Column::text("Test", |row: &RfcRow| title(row.point.test)),
        Column::text("Device", |row: &RfcRow| {
            digest.dut_title(row.point.test).to_owned()
        }),
        Column::number("RFC", |row: &RfcRow| Cell::Number(row.rfc.into())),
    ];
    let rows = digest.points.iter().flat_map(rfcs);
    Table::new(
        "Requirements by RFC",
        heads.into_iter().chain(counts),
        rows,
    )
    .with_note(
        "Each requirement is a vector: what is sent to the device, and what must come from it, between two control frames, which the device is known to \
         forward. Wrong: something else came. No answer: nothing came, although the control frames did. Unknown: control frames were lost, so silence says \
         nothing. Allowed: a choice that the text allows. Not applicable: the device does not have what the vector needs.",
    )
}

fn rfcs<'d>(point: &'d PointDigest<'d>) -> Vec<RfcRow<'d>> {
    let mut found: BTreeMap<u32, Vec<&JudgedVector>> = BTreeMap::new();
    for row in of_point(point) {
        found.entry(row.vector.rfc).or_default().push(row.vector);
    }
    found
        .into_iter()
        .map(|(rfc, vectors)| RfcRow {
            point,
            rfc,
            vectors,
        })
        .collect()
}

/// Returns the requirements that are violated, the strongest first, each with the frames.
pub(super) fn violated(digest: &Digest) -> Table {
    let mut rows: Vec<VectorRow> = rows(digest)
        .filter(|row| row.vector.result.is_violation())
        .collect();
    rows.sort_by_key(|row| (row.vector.level, row.vector.result));
    let devices = each_once(rows.iter().map(|row| row.point.test.dut.as_str()));
    let again = devices
        .iter()
        .map(|dut| format!("Again: sixbench conformance {dut} --vector VECTOR."))
        .collect::<Vec<_>>();
    let known = digest.points.iter().filter_map(known_violations);
    Table::new("Requirements that are violated", violated_columns(), rows)
        .with_note(
            "Level: the word of the text, or stated where a rule has none. Known: the recipe or the plan names the vector. The frames of each are in vectors/ \
             beside the report.",
        )
        .with_notes(known)
        .with_notes(again)
}

/// Returns the note on the known violations of a test; `None` if nobody names any of the vectors that were sent.
fn known_violations(point: &PointDigest) -> Option<String> {
    let known = point.requirements()?.known_violations()?;
    Some(format!("{}: known violations: {known}.", title(point.test)))
}

fn violated_columns<'d>() -> Vec<Column<'d, VectorRow<'d>>> {
    vec![
        Column::text("Test", |row: &VectorRow| title(row.point.test)),
        Column::text("Vector", |row: &VectorRow| row.vector.name.clone()),
        Column::text("Clause", |row: &VectorRow| row.vector.citation()),
        Column::text("Level", |row: &VectorRow| row.vector.level.word()),
        Column::text("Result", |row: &VectorRow| row.vector.result.title()),
        Column::text(
            "Known",
            |row: &VectorRow| {
                if row.vector.is_known { "yes" } else { "no" }
            },
        ),
        Column::text("Requirement", |row: &VectorRow| row.vector.sentence.clone()),
        Column::text("Frames", VectorRow::frames),
    ]
}
