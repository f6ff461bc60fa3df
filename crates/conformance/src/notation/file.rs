//! A file of vectors: the requirements of one RFC.

use super::dns;
use super::frame_text::{FrameSpec, LayerFill, Operand, SpecValue};
use super::mistake::{MistakeKind, NotationError};
use super::table::{LineText, SourceText, TableReader};
use crate::dns::{DnsExchange, TextLine};
use std::collections::BTreeSet;
use toml::de::DeTable;

/// The level of a requirement, by the words of BCP 14.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub enum RequirementLevel {
    /// An absolute requirement.
    #[serde(rename = "MUST")]
    Must,
    /// A rule that the text states without a word of BCP 14.
    #[serde(rename = "stated")]
    Stated,
    /// A requirement with exceptions.
    #[serde(rename = "SHOULD")]
    Should,
    /// A choice of the device.
    #[serde(rename = "MAY")]
    May,
}

impl RequirementLevel {
    /// All levels, the strongest first.
    pub const ALL: [Self; 4] = [Self::Must, Self::Stated, Self::Should, Self::May];

    /// Returns its word in the notation.
    pub fn word(self) -> &'static str {
        match self {
            Self::Must => "MUST",
            Self::Stated => "stated",
            Self::Should => "SHOULD",
            Self::May => "MAY",
        }
    }
}

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

/// One requirement: what is sent, and what must come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vector {
    /// The name by which it is selected, unique in all files.
    pub name: String,
    /// The section of the RFC, such as `4.2`.
    pub clause: String,
    /// The level of the requirement.
    pub level: RequirementLevel,
    /// The requirement in one sentence.
    pub sentence: String,
    /// The frames that are sent, in this order; there is at least one.
    pub send: Vec<FrameSpec>,
    /// The answer that must come.
    pub expect: RequiredAnswer,
    /// The choices that the text allows instead.
    pub allowed: Vec<Alternative>,
    /// True if the expected frames must come in their order.
    pub is_ordered: bool,
    /// The query and its answer, of a vector for DNS servers: it sends no frames of its own, so that `send` and `allowed` are empty.
    pub dns: Option<Box<DnsExchange>>,
    /// Its line in the file, from 1.
    pub line: usize,
}

/// The requirements of one RFC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequirementFile {
    /// The number of the RFC.
    pub rfc: u32,
    /// Its title.
    pub title: String,
    /// The place and day of reading the text.
    pub read: String,
    /// The technologies to which it applies, by their names in recipes.
    pub technologies: Vec<String>,
    /// The vectors, in the order of the file.
    pub vectors: Vec<Vector>,
}

const FILE_KEYS: [&str; 6] = ["rfc", "title", "read", "technologies", "zone", "vector"];
const VECTOR_KEYS: [&str; 8] = [
    "name", "clause", "level", "sentence", "send", "expect", "allowed", "ordered",
];
const ALTERNATIVE_KEYS: [&str; 3] = ["name", "clause", "expect"];
const NOTHING: &str = "nothing";

/// Returns the requirements of a file; `name` is its name in errors.
///
/// # Errors
/// All mistakes, with their lines.
pub fn read(name: &str, text: &str) -> Result<RequirementFile, NotationError> {
    let mut source = SourceText::new(text);
    let file = match DeTable::parse(text) {
        Ok(table) => Some(file_of(
            TableReader {
                table: table.get_ref(),
                line: 1,
            },
            &mut source,
        )),
        Err(error) => {
            let line = source.line_of(error.span().map_or(0, |span| span.start));
            source.note(line, MistakeKind::Toml(error.message().to_owned()));
            None
        }
    };
    source.mistakes.sort_by_key(|mistake| mistake.line);
    match file {
        Some(file) if source.mistakes.is_empty() => Ok(file),
        _ => Err(NotationError {
            file: name.to_owned(),
            mistakes: source.mistakes,
        }),
    }
}

fn file_of(table: TableReader<'_>, source: &mut SourceText) -> RequirementFile {
    table.check_keys(&FILE_KEYS, source);
    let technologies = table.texts("technologies", source).unwrap_or_default();
    if technologies.is_empty() {
        source.note(table.line, MistakeKind::Missing("technologies"));
    }
    let common = table.lines("zone", source).unwrap_or_default();
    let mut names = BTreeSet::new();
    let vectors = table.tables("vector", source).into_iter().map(|vector| {
        let read = vector_of(vector, &common, source);
        if !names.insert(read.name.clone()) {
            source.note(read.line, MistakeKind::RepeatedName(read.name.clone()));
        }
        read
    });
    let vectors = vectors.collect();
    RequirementFile {
        rfc: table.number("rfc", source),
        title: table.text("title", source).text,
        read: table.text("read", source).text,
        technologies: technologies
            .into_iter()
            .map(|technology| technology.text)
            .collect(),
        vectors,
    }
}

fn vector_of(table: TableReader<'_>, common: &[TextLine], source: &mut SourceText) -> Vector {
    let is_dns = table.get(dns::QUERY).is_some();
    let keys = if is_dns {
        &dns::DNS_VECTOR_KEYS[..]
    } else {
        &VECTOR_KEYS
    };
    table.check_keys(keys, source);
    let name = table.text("name", source);
    if !name
        .text
        .bytes()
        .all(|octet| octet.is_ascii_lowercase() || octet.is_ascii_digit() || octet == b'-')
    {
        source.note(name.line, MistakeKind::Name(name.text.clone()));
    }
    if is_dns {
        return dns_vector_of(name.text, &table, common, source);
    }
    let send = sent_frames(&table, source);
    Vector {
        name: name.text,
        clause: table.text("clause", source).text,
        level: level_of(&table, source),
        sentence: table.text("sentence", source).text,
        send,
        expect: expectation_of(&table, source),
        allowed: table
            .tables("allowed", source)
            .into_iter()
            .map(|table| alternative_of(table, source))
            .collect(),
        is_ordered: table.is_set("ordered", source),
        dns: None,
        line: table.line,
    }
}

fn dns_vector_of(
    name: String,
    table: &TableReader<'_>,
    common: &[TextLine],
    source: &mut SourceText,
) -> Vector {
    let exchange = dns::exchange_of(&name, table, common, source);
    Vector {
        name,
        clause: table.text("clause", source).text,
        level: level_of(table, source),
        sentence: table.text("sentence", source).text,
        send: Vec::new(),
        expect: RequiredAnswer::Nothing,
        allowed: Vec::new(),
        is_ordered: false,
        dns: Some(Box::new(exchange)),
        line: table.line,
    }
}

fn sent_frames(table: &TableReader<'_>, source: &mut SourceText) -> Vec<FrameSpec> {
    let Some(texts) = table.texts("send", source) else {
        source.note(table.line, MistakeKind::Missing("send"));
        return Vec::new();
    };
    let line = source.line_of_key(table, "send");
    let frames = frames_of("send", texts, line, source);
    check_sendable(&frames, line, source);
    frames
}

impl SourceText {
    fn line_of_key(&self, table: &TableReader<'_>, key: &str) -> usize {
        table
            .get(key)
            .map_or(table.line, |value| self.line_of(value.span().start))
    }
}

fn level_of(table: &TableReader<'_>, source: &mut SourceText) -> RequirementLevel {
    let LineText { text, line } = table.text("level", source);
    let level = RequirementLevel::ALL
        .into_iter()
        .find(|level| level.word() == text);
    level.unwrap_or_else(|| {
        if table.get("level").is_some() {
            source.note(
                line,
                MistakeKind::UnknownWord {
                    key: "level",
                    word: text,
                    known: "MUST, SHOULD, MAY, stated",
                },
            );
        }
        RequirementLevel::Stated
    })
}

fn alternative_of(table: TableReader<'_>, source: &mut SourceText) -> Alternative {
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

fn expectation_of(table: &TableReader<'_>, source: &mut SourceText) -> RequiredAnswer {
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

fn frames_of(
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
fn check_sendable(frames: &[FrameSpec], line: usize, source: &mut SourceText) {
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
        | SpecValue::ZeroSum => true,
    }
}
