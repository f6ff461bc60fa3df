//! The steps of a vector that is an exchange: what is sent from either side, what must come, and how long is waited in between.

use super::answer::{
    Alternative, RequiredAnswer, alternative_of, check_sendable, expectation_of, frames_of,
};
use super::frame_text::{FrameSpec, LayerFill, SpecValue};
use super::mistake::MistakeKind;
use super::named::{NamedValue, NumberClass};
use super::table::{LineText, SourceText, TableReader};
use super::wait::WaitTime;
use crate::frame::{FieldForm, Side};
use std::collections::BTreeSet;

/// One step: a wait, then frames that are sent, and then what must come. What comes while it waits belongs to it, too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExchangeStep {
    /// The wait before it.
    pub wait: Option<WaitTime>,
    /// The frames that are sent, in this order; there may be none.
    pub send: Vec<FrameSpec>,
    /// The answer that must come.
    pub expect: RequiredAnswer,
    /// The choices that the text allows instead.
    pub allowed: Vec<Alternative>,
    /// True if the expected frames must come in their order.
    pub is_ordered: bool,
    /// True if the requirement only builds on it: a device that does otherwise here cannot be asked.
    pub is_given: bool,
    /// Its line in the file, from 1.
    pub line: usize,
}

const STEP_KEYS: [&str; 5] = ["wait", "send", "expect", "allowed", "ordered"];

/// Returns the steps of a vector: those that are given, and then those of the requirement. None if it is no exchange.
pub(super) fn steps_of(table: &TableReader<'_>, source: &mut SourceText) -> Vec<ExchangeStep> {
    let given = table.tables("given", source).into_iter();
    let mut steps: Vec<ExchangeStep> = given.map(|step| step_of(step, true, source)).collect();
    let own = table.tables("step", source).into_iter();
    steps.extend(own.map(|step| step_of(step, false, source)));
    let mut bound = BTreeSet::new();
    let is_first_family = steps
        .iter()
        .find_map(|step| step.send.first())
        .map(has_family);
    for step in &steps {
        check_names(step, &mut bound, source);
        check_sides(step, is_first_family.unwrap_or_default(), source);
    }
    steps
}

fn step_of(table: TableReader<'_>, is_given: bool, source: &mut SourceText) -> ExchangeStep {
    table.check_keys(&STEP_KEYS, source);
    let texts = table.texts("send", source);
    let line = source.line_of_key(&table, "send");
    let send = texts.map_or(Vec::new(), |texts| frames_of("send", texts, line, source));
    check_sendable(&send, line, source);
    let wait = table.get("wait").and_then(|_| wait_of(&table, source));
    if send.is_empty() && table.get("wait").is_none() {
        source.note(table.line, MistakeKind::EmptyStep);
    }
    ExchangeStep {
        wait,
        send,
        expect: expectation_of(&table, source),
        allowed: table
            .tables("allowed", source)
            .into_iter()
            .map(|table| alternative_of(table, source))
            .collect(),
        is_ordered: table.is_set("ordered", source),
        is_given,
        line: table.line,
    }
}

fn wait_of(table: &TableReader<'_>, source: &mut SourceText) -> Option<WaitTime> {
    let LineText { text, line } = table.text("wait", source);
    let wait = WaitTime::parse(&text);
    if wait.is_none() {
        source.note(line, MistakeKind::Wait(text));
    }
    wait
}

fn frames_in(answer: &RequiredAnswer) -> &[FrameSpec] {
    match answer {
        RequiredAnswer::Nothing => &[],
        RequiredAnswer::Frames(frames) => frames,
    }
}

/// Notes a value that only the device can choose, but that is sent first: a port is the tester's choice there, an address cannot be.
fn check_names(step: &ExchangeStep, bound: &mut BTreeSet<String>, source: &mut SourceText) {
    for frame in &step.send {
        for (named, form) in named_in(frame) {
            let is_new = bound.insert(named.name.clone());
            if is_new && (form == FieldForm::Address || named.class == NumberClass::PortSet) {
                source.note(step.line, MistakeKind::Unbound(named.name.clone()));
            }
        }
    }
    let allowed = step.allowed.iter().map(|choice| &choice.expect);
    for frame in allowed.chain([&step.expect]).flat_map(frames_in) {
        bound.extend(named_in(frame).map(|(named, _)| named.name.clone()));
    }
}

/// Returns true for a frame on a side that has the name of a version of IP.
fn has_family(frame: &FrameSpec) -> bool {
    matches!(frame.side, Side::Ipv4 | Side::Ipv6)
}

/// Notes a step whose frames name their sides in another way than the first one of the vector.
fn check_sides(step: &ExchangeStep, is_by_family: bool, source: &mut SourceText) {
    let allowed = step.allowed.iter().map(|choice| &choice.expect);
    let expected = allowed.chain([&step.expect]).flat_map(frames_in);
    let is_other = |frame: &FrameSpec| has_family(frame) != is_by_family;
    if step.send.iter().chain(expected).any(is_other) {
        source.note(step.line, MistakeKind::StepSide);
    }
}

/// Returns the named values of a frame, each with the form of its field.
pub(crate) fn named_in(frame: &FrameSpec) -> impl Iterator<Item = (&NamedValue, FieldForm)> {
    let fields = frame.layers.iter().flat_map(|layer| &layer.fields);
    fields.filter_map(|given| match &given.value {
        SpecValue::Named(named) => Some((named, given.field.form)),
        _ => None,
    })
}

/// Returns true if a frame has a value with a name, or a side of a stateful device.
pub(super) fn is_for_steps(frame: &FrameSpec) -> bool {
    named_in(frame).next().is_some() || matches!(frame.side, Side::Inside | Side::Outside)
}

impl ExchangeStep {
    /// Returns true if nothing need come: its silence must be told from a path that does not work.
    pub fn may_be_silent(&self) -> bool {
        let allowed = self.allowed.iter().map(|choice| &choice.expect);
        allowed
            .chain([&self.expect])
            .any(|answer| *answer == RequiredAnswer::Nothing)
    }

    /// Returns the number of frames that the requirement expects.
    pub fn expected_frames(&self) -> usize {
        frames_in(&self.expect).len()
    }

    /// Returns true if a frame carries octets of the vector's payload.
    pub fn sends_payload(&self) -> bool {
        let layers = self.send.iter().flat_map(|frame| &frame.layers);
        layers
            .map(|layer| &layer.fill)
            .any(|fill| matches!(fill, LayerFill::Pattern { .. }))
    }
}
