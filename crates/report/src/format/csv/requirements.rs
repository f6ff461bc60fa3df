//! `requirements.csv`: what devices did with the vectors of requirements, one row for each vector of each point.

use super::column::{FileColumn, FileRow};
use super::run;
use crate::digest::Digest;
use crate::subject::requirements::{VectorRow, rows};

/// Returns one row for each vector; `None` if the run has none.
pub(crate) fn requirements_csv(digest: &Digest<'_>) -> Option<String> {
    let plan = digest.input.plan.name.as_str();
    let rows: Vec<_> = rows(digest)
        .map(|row| FileRow {
            hosts: String::new(),
            row,
        })
        .collect();
    (!rows.is_empty()).then(|| run::of_columns(digest, &columns(plan), rows))
}

fn columns(plan: &str) -> [FileColumn<'_, VectorRow<'_>>; 14] {
    [
        FileColumn::new("plan", move |_: &VectorRow| plan),
        FileColumn::new("test", |row: &VectorRow| row.point.test.name.clone()),
        FileColumn::new("dut", |row: &VectorRow| row.point.test.dut.clone()),
        FileColumn::new("vector", |row: &VectorRow| row.vector.name.clone()),
        FileColumn::new("rfc", |row: &VectorRow| row.vector.rfc),
        FileColumn::new("clause", |row: &VectorRow| row.vector.citation()),
        FileColumn::new("level", |row: &VectorRow| row.vector.level.word()),
        FileColumn::new("result", |row: &VectorRow| row.vector.result.title()),
        FileColumn::optional("choice", |row: &VectorRow| row.vector.choice.clone()),
        FileColumn::new("is_known", |row: &VectorRow| row.vector.is_known),
        FileColumn::new("attempts", |row: &VectorRow| row.vector.attempts),
        FileColumn::new("requirement", |row: &VectorRow| row.vector.sentence.clone()),
        FileColumn::new("frames", VectorRow::frames),
        FileColumn::optional("capture", |row: &VectorRow| row.vector.capture.clone()),
    ]
}
