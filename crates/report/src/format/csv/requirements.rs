//! What devices did with the vectors of requirements: `requirements.csv` has a row for each vector of each point, `requirements-by-device.csv` a column
//! for each test.

use super::column::FileColumn;
use super::run;
use crate::digest::Digest;
use crate::subject::requirements::{
    ComparedRfc, ComparedVector, VectorRow, answer_frames, compared, rows,
};
use sixbench_method::lists::each_once;
use sixbench_method::trial::VectorResult;

/// Returns one row for each vector; `None` if the run has none.
pub(crate) fn requirements_csv(digest: &Digest<'_>) -> Option<String> {
    run::of_whole_run(digest, &columns(&digest.input.plan.name), rows(digest))
}

fn columns(plan: &str) -> [FileColumn<'_, VectorRow<'_>>; 17] {
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
        FileColumn::optional("result_under_load", |row: &VectorRow| {
            row.result_under_load().map(VectorResult::title)
        }),
        FileColumn::optional("frames_under_load", |row: &VectorRow| {
            row.differing().map(answer_frames)
        }),
        FileColumn::optional("capture_under_load", |row: &VectorRow| {
            row.differing()?.capture.clone()
        }),
    ]
}

/// Returns `requirements-by-device.csv`: one row for each vector that was sent to several devices, with a column for the finding of each test; `None`
/// if there are none.
pub(crate) fn requirements_by_device_csv(digest: &Digest<'_>) -> Option<String> {
    let compared = compared(digest);
    let tests = each_once(
        compared
            .iter()
            .flat_map(|compared| &compared.points)
            .map(|point| point.test.name.as_str()),
    );
    let own = [
        "vector",
        "rfc",
        "clause",
        "level",
        "is_contested",
        "requirement",
    ];
    let names = [&own[..], &tests[..]].concat().join(",");
    let of_rfc = |compared: &ComparedRfc| -> Vec<Vec<String>> {
        let vectors = compared.vectors.iter();
        vectors.map(|row| cells(compared, row, &tests)).collect()
    };
    let rows = compared
        .iter()
        .flat_map(of_rfc)
        .map(|cells| (String::new(), cells));
    (!compared.is_empty()).then(|| run::file(digest, &names, rows))
}

fn cells(compared: &ComparedRfc, row: &ComparedVector, tests: &[&str]) -> Vec<String> {
    let vector = row.vector;
    let own = [
        vector.name.clone(),
        compared.rfc.to_string(),
        vector.citation(),
        vector.level.word().to_owned(),
        row.is_contested().to_string(),
        vector.sentence.clone(),
    ];
    let findings = tests.iter().map(|test| {
        let device = compared
            .points
            .iter()
            .position(|point| point.test.name == *test);
        device
            .and_then(|device| row.finding(device))
            .unwrap_or_default()
            .to_owned()
    });
    own.into_iter().chain(findings).collect()
}
