//! When, where and by which command, and what became of every point, for programs.

use crate::digest::{Digest, Headline, PointDigest};
use crate::findings::origin::machine_time;
use crate::findings::status::why;
use crate::span::Span;
use schemars::JsonSchema;
use serde::Serialize;
use sixbench_method::record::RunPart;
use std::collections::BTreeMap;

#[derive(Serialize, JsonSchema)]
pub(super) struct JsonRun<'a> {
    sixbench: &'a str,
    /// The start of the first trial; null without one.
    started: Option<String>,
    ended: Option<String>,
    /// The time between the two, seconds.
    seconds: Option<u64>,
    /// The start of the searches of later repetitions: `cold`, `dithered`, or `median` in old results.
    repetition_start: &'static str,
    labels: &'a BTreeMap<String, String>,
    /// Host, command, times and ending of each part; several where the run was resumed.
    parts: &'a [RunPart],
}

impl<'a> JsonRun<'a> {
    pub(super) fn new(digest: &Digest<'a>) -> Self {
        let (input, span) = (digest.input, digest.span);
        Self {
            sixbench: &input.facts.sixbench,
            started: span.map(|span| machine_time(span.from)),
            ended: span.map(|span| machine_time(span.to)),
            seconds: span.map(Span::seconds),
            repetition_start: input.plan.search.start.word(),
            labels: &input.facts.labels,
            parts: &input.facts.runs,
        }
    }
}

#[derive(Serialize, JsonSchema)]
pub(super) struct JsonStatus {
    /// `result`, `at-least`, `no-result` or `not-run`.
    status: &'static str,
    /// The name of the reason; null for a result.
    reason: Option<&'static str>,
    /// An explanation in words; empty for a result that lacks nothing.
    why: String,
    repetitions_with_result: u32,
    repetitions_made: u32,
    repetitions_planned: u32,
    /// The result, or null where there is none.
    result: Option<Headline>,
    /// The bounds of a rate that was not found, because something other than the device ended the search while they were more than 2:1 apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_found: Option<NotFoundBetween>,
}

/// Bounds, in the unit of the point's rates.
#[derive(Serialize, JsonSchema)]
struct NotFoundBetween {
    lower: u64,
    upper: u64,
}

impl JsonStatus {
    pub(super) fn new(digest: &Digest, point: &PointDigest) -> Option<Self> {
        let planned = point.planned(digest)?;
        Some(Self {
            status: planned.status.name(),
            reason: planned.status.reason(),
            why: why(planned),
            repetitions_with_result: planned.repetitions.with_result,
            repetitions_made: planned.repetitions.made,
            repetitions_planned: planned.repetitions.planned,
            result: point.result(digest),
            not_found: point.not_found().map(|(lower, upper)| NotFoundBetween {
                lower: lower.0,
                upper: upper.0,
            }),
        })
    }
}
