//! Tables of requirements: counted by RFC, those that are violated with their frames, and devices side by side.

use crate::digest::{Digest, PointDigest};
use crate::layout::cell::Cell;
use crate::layout::table::{Column, Table};
use crate::wording::numbers::title;
use sixbench_method::lists::each_once;
use sixbench_method::trial::{JudgedFrame, JudgedVector, VectorResult};
use std::collections::BTreeMap;

/// A vector at a point.
pub(crate) struct VectorRow<'d> {
    pub(crate) point: &'d PointDigest<'d>,
    pub(crate) vector: &'d JudgedVector,
}

impl VectorRow<'_> {
    /// Returns the frames in words: those that were sent, those that are required, and those that came.
    pub(crate) fn frames(&self) -> String {
        let sent = self.vector.sent.iter().map(|frame| format!("sent {frame}"));
        let answer = self.vector.frames.iter().flat_map(frame_words);
        let none = self.vector.frames.is_empty();
        sent.chain(self.vector.reason.clone())
            .chain(answer)
            .chain(none.then(|| "nothing came, as required".to_owned()))
            .collect::<Vec<_>>()
            .join("; ")
    }
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
        .chain(frame.differences.iter().cloned())
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
    Table::of(
        "Requirements by RFC",
        heads.into_iter().chain(counts),
        rows,
    )
    .with_note(
        "Right: what the clause requires came, and nothing else. Allowed: a choice that the text allows. No answer: a frame is required and none came, \
         although the control frames did. Unknown: control frames were lost, so silence says nothing. Not applicable: the recipe has no address for the \
         vector.",
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

fn capitalised(word: &str) -> String {
    word[..1].to_uppercase() + &word[1..]
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
    Table::of("Requirements that are violated", violated_columns(), rows)
        .with_note("Known: the recipe or the plan names the vector. The frames of each are in vectors/ beside the report.")
        .with_notes(again)
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

/// A vector that at least one device violates.
struct SideBySideRow<'d> {
    vector: &'d JudgedVector,
}

/// Returns what each of several devices does with the vectors that at least one of them violates; without rows for a single device.
pub(super) fn side_by_side(digest: &Digest) -> Table {
    let points: Vec<&PointDigest> = digest
        .points
        .iter()
        .filter(|point| point.requirements().is_some())
        .collect();
    let mut violated: BTreeMap<&str, &JudgedVector> = BTreeMap::new();
    for row in rows(digest).filter(|row| points.len() > 1 && row.vector.result.is_violation()) {
        violated.entry(&row.vector.name).or_insert(row.vector);
    }
    let mut rows: Vec<SideBySideRow> = violated
        .into_values()
        .map(|vector| SideBySideRow { vector })
        .collect();
    rows.sort_by_key(|row| (row.vector.level, row.vector.rfc));
    let of_devices = points.into_iter().map(|point| {
        Column::text(title(point.test), move |row: &SideBySideRow| {
            found(point, &row.vector.name)
        })
    });
    let heads = [
        Column::text("Vector", |row: &SideBySideRow| row.vector.name.clone()),
        Column::text("Clause", |row: &SideBySideRow| row.vector.citation()),
        Column::text("Level", |row: &SideBySideRow| row.vector.level.word()),
    ];
    Table::of(
        "Devices side by side, clause by clause",
        heads.into_iter().chain(of_devices),
        rows,
    )
}

/// Returns the finding of a vector at a point; nothing if it was not sent.
fn found(point: &PointDigest, name: &str) -> Option<&'static str> {
    let vectors = &point.requirements()?.vectors;
    let vector = vectors.iter().find(|vector| vector.name == name)?;
    Some(vector.result.title())
}
