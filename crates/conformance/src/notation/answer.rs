//! What must come for a vector or for one of its steps, and the frames that are sent for it.

use super::frame_text::{FrameSpec, LayerFill, Operand, SpecValue};
use super::mistake::MistakeKind;
use super::table::{LineText, SourceText, TableReader};

/// The answer that must come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequiredAnswer {
    /// Silence is required.
    Nothing,
    /// These frames, and no other.
    Frames(Vec<FrameSpec>),
}

/// A choice that the text allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alternative {
    /// Its name.
    pub name: String,
    /// The section of the RFC that allows it.
    pub clause: String,
    /// The answer of a device that makes this choice.
    pub expect: RequiredAnswer,
}

const ALTERNATIVE_KEYS: [&str; 3] = ["name", "clause", "expect"];
const NOTHING: &str = "nothing";

pub(super) fn alternative_of(table: TableReader<'_>, source: &mut SourceText) -> Alternative {
    table.check_keys(&ALTERNATIVE_KEYS, source);
    let (name, clause) = (
        table.text("name", source).text,
        table.text("clause", source).text,
    );
    Alternative {
        name,
        clause,
        expect: expectation_of(&table, source),
    }
}

pub(super) fn expectation_of(table: &TableReader<'_>, source: &mut SourceText) -> RequiredAnswer {
    let Some(texts) = table.texts("expect", source) else {
        source.note(table.line, MistakeKind::Missing("expect"));
        return RequiredAnswer::Nothing;
    };
    match &texts[..] {
        [only] if only.text == NOTHING => RequiredAnswer::Nothing,
        _ => {
            let line = source.line_of_key(table, "expect");
            RequiredAnswer::Frames(frames_of("expect", texts, line, source))
        }
    }
}

pub(super) fn frames_of(
    key: &'static str,
    texts: Vec<LineText>,
    line: usize,
    source: &mut SourceText,
) -> Vec<FrameSpec> {
    if texts.is_empty() {
        source.note(line, MistakeKind::NoFrames(key));
    }
    let frames =
        texts
            .into_iter()
            .filter_map(|LineText { text, line }| match FrameSpec::parse(&text) {
                Ok(frame) => Some(frame),
                Err(mistake) => {
                    source.note(line, MistakeKind::Frame(mistake));
                    None
                }
            });
    frames.collect()
}

/// Notes values that a frame which is sent cannot have.
pub(super) fn check_sendable(frames: &[FrameSpec], line: usize, source: &mut SourceText) {
    for layer in frames.iter().flat_map(|frame| &frame.layers) {
        for given in &layer.fields {
            if !is_sendable(&given.value) {
                source.note(
                    line,
                    MistakeKind::NotSendable {
                        layer: layer.kind.name(),
                        field: given.field.name,
                    },
                );
            }
        }
        if let LayerFill::Pattern { length, .. } = &layer.fill
            && !is_sendable(length)
        {
            source.note(
                line,
                MistakeKind::NotSendable {
                    layer: layer.kind.name(),
                    field: "length",
                },
            );
        }
    }
}

fn is_sendable(value: &SpecValue) -> bool {
    match value {
        SpecValue::Any | SpecValue::Same => false,
        SpecValue::Sum(terms) => terms
            .iter()
            .all(|term| term.operand != Operand::SentHopLimit),
        SpecValue::Address(_)
        | SpecValue::Role(_)
        | SpecValue::Bad
        | SpecValue::Right
        | SpecValue::Whole
        | SpecValue::Named(_)
        | SpecValue::ZeroSum => true,
    }
}
