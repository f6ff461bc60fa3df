//! A file of vectors: the requirements of one RFC.

use super::answer::{
    Alternative, RequiredAnswer, alternative_of, check_sendable, expectation_of, frames_of,
};
use super::dns;
use super::frame_text::FrameSpec;
use super::mistake::{MistakeKind, NotationError};
use super::steps::{ExchangeStep, is_for_steps, steps_of};
use super::table::{LineText, SourceText, TableReader};
use crate::dns::{DnsExchange, TextLine};
use sixbench_method::trial::RequirementLevel;
use std::collections::BTreeSet;
use toml::de::DeTable;

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
    /// The frames that are sent, in this order; there is at least one, except in an exchange.
    pub send: Vec<FrameSpec>,
    /// The answer that must come.
    pub expect: RequiredAnswer,
    /// The choices that the text allows instead.
    pub allowed: Vec<Alternative>,
    /// True if the expected frames must come in their order.
    pub is_ordered: bool,
    /// The steps of an exchange; none of a vector that only sends and expects.
    pub steps: Vec<ExchangeStep>,
    /// True of an exchange with a device whose pool has four ports of one address.
    pub is_pool_small: bool,
    /// The query and its answer, of a vector for DNS servers: it sends no frames of its own, so that `send` and `allowed` are empty.
    pub dns: Option<Box<DnsExchange>>,
    /// Its line in the file, from 1.
    pub line: usize,
}

impl Vector {
    /// Returns what is sent, line by line, in the notation: the frames, of an exchange those of all steps, or the zone and the query of a vector for DNS
    /// servers.
    pub fn sent_lines(&self) -> Vec<String> {
        let Some(exchange) = &self.dns else {
            let in_steps = self.steps.iter().flat_map(|step| &step.send);
            let frames = self.send.iter().chain(in_steps);
            return frames.map(|frame| frame.text.clone()).collect();
        };
        let zone = exchange.zone.iter();
        zone.map(|line| format!("zone: {}", line.text))
            .chain([format!("dig {}", exchange.query.text)])
            .collect()
    }
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
    /// True if it is about customer edges and routers of sites, not about what serves them.
    pub is_for_edges: bool,
    /// The vectors, in the order of the file.
    pub vectors: Vec<Vector>,
}

const FILE_KEYS: [&str; 7] = [
    "rfc",
    "title",
    "read",
    "technologies",
    "part",
    "zone",
    "vector",
];
/// The only value of `part`.
const EDGE: &str = "edge";
const VECTOR_KEYS: [&str; 11] = [
    "name", "clause", "level", "sentence", "send", "expect", "allowed", "ordered", "pool", "given",
    "step",
];
/// The only value of `pool`.
const SMALL: &str = "small";
/// The keys of which an exchange has none: its steps have them.
const SINGLE_KEYS: [&str; 4] = ["send", "expect", "allowed", "ordered"];

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
        is_for_edges: table.is_word("part", EDGE, source),
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
    check_name(&name, source);
    if is_dns {
        return dns_vector_of(name.text, &table, common, source);
    }
    let steps = steps_of(&table, source);
    let mut vector = Vector {
        steps,
        ..unasked(name.text, &table, source)
    };
    vector.is_pool_small = table.is_word("pool", SMALL, source);
    if table.get("step").is_some() {
        refuse_single_keys(&table, source);
    } else {
        read_single(&mut vector, &table, source);
    }
    vector
}

/// Notes a name that has other characters than it may have.
fn check_name(name: &LineText, source: &mut SourceText) {
    if !name
        .text
        .bytes()
        .all(|octet| octet.is_ascii_lowercase() || octet.is_ascii_digit() || octet == b'-')
    {
        source.note(name.line, MistakeKind::Name(name.text.clone()));
    }
}

/// Reads what a vector without steps sends and expects.
fn read_single(vector: &mut Vector, table: &TableReader<'_>, source: &mut SourceText) {
    if table.get("given").is_some() || vector.is_pool_small {
        source.note(table.line, MistakeKind::Missing("step"));
    }
    vector.send = sent_frames(table, source);
    vector.expect = expectation_of(table, source);
    let allowed = table.tables("allowed", source).into_iter();
    vector.allowed = allowed.map(|table| alternative_of(table, source)).collect();
    vector.is_ordered = table.is_set("ordered", source);
    check_single(vector, source);
}

fn dns_vector_of(
    name: String,
    table: &TableReader<'_>,
    common: &[TextLine],
    source: &mut SourceText,
) -> Vector {
    let exchange = dns::exchange_of(&name, table, common, source);
    Vector {
        dns: Some(Box::new(exchange)),
        ..unasked(name, table, source)
    }
}

/// Returns a vector with its requirement, which does not send or expect anything yet.
fn unasked(name: String, table: &TableReader<'_>, source: &mut SourceText) -> Vector {
    Vector {
        name,
        clause: table.text("clause", source).text,
        level: level_of(table, source),
        sentence: table.text("sentence", source).text,
        send: Vec::new(),
        expect: RequiredAnswer::Nothing,
        allowed: Vec::new(),
        is_ordered: false,
        steps: Vec::new(),
        is_pool_small: false,
        dns: None,
        line: table.line,
    }
}

/// Notes keys of a vector without steps in one that has some.
fn refuse_single_keys(table: &TableReader<'_>, source: &mut SourceText) {
    for key in SINGLE_KEYS {
        if table.get(key).is_some() {
            let line = source.line_of_key(table, key);
            source.note(line, MistakeKind::BesideSteps(key));
        }
    }
}

/// Notes what only the steps of an exchange can have.
fn check_single(vector: &Vector, source: &mut SourceText) {
    let answers = vector.allowed.iter().map(|choice| &choice.expect);
    let expected = answers
        .chain([&vector.expect])
        .flat_map(|answer| match answer {
            RequiredAnswer::Nothing => &[][..],
            RequiredAnswer::Frames(frames) => frames,
        });
    if vector.send.iter().chain(expected).any(is_for_steps) {
        source.note(vector.line, MistakeKind::NeedsSteps);
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
