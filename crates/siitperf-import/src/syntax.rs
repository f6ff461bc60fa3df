//! The lines of a siitperf configuration: a key, a value, and optionally a comment after `#`.

use super::findings::ImportFindings;
use sixbench_plan::{Diagnostic, nearest};
use std::ops::Range;

#[derive(Clone, Debug)]
pub(super) struct ConfigEntry<'a> {
    pub(super) key: &'a str,
    pub(super) value: &'a str,
    pub(super) line: usize,
    /// The octets of the source that hold the value.
    pub(super) span: Range<usize>,
}

/// Keys that were renamed, and their present names.
const RENAMED: [(&str, &str); 1] = [("Responder-ports", "Responder-tuples")];

/// Returns every key of `known` that has a value, once, in the order of the file.
pub(super) fn read<'a>(
    source: &'a str,
    known: &[String],
    findings: &mut ImportFindings,
) -> Vec<ConfigEntry<'a>> {
    let mut entries: Vec<ConfigEntry<'_>> = Vec::new();
    let mut start = 0;
    for (index, line) in source.split_inclusive('\n').enumerate() {
        if let Some(words) = LineWords::split(line, start)
            && let Some(entry) = entry(words, index + 1, known, findings)
        {
            match entries.iter().find(|earlier| earlier.key == entry.key) {
                Some(earlier) => findings.mistake(duplicate(earlier, &entry)),
                None => entries.push(entry),
            }
        }
        start += line.len();
    }
    entries
}

/// The words of a line before its comment, and their places.
struct LineWords<'a> {
    key: &'a str,
    value: &'a str,
    further: &'a str,
    key_at: usize,
    value_at: usize,
}

impl<'a> LineWords<'a> {
    /// Returns `None` for a line that has only white space and a comment. `start` is the octet of the source at which the line begins.
    fn split(line: &'a str, start: usize) -> Option<Self> {
        let text = line.split('#').next().unwrap_or(line);
        let (key_at, key, rest) = word(text, start);
        let (value_at, value, rest) = word(rest, key_at + key.len());
        (!key.is_empty()).then_some(Self {
            key,
            value,
            further: rest.trim(),
            key_at,
            value_at,
        })
    }
}

/// Splits off the first word of `text`, which begins at octet `start`; returns the word's place, the word and the rest.
fn word(text: &str, start: usize) -> (usize, &str, &str) {
    let trimmed = text.trim_start();
    let end = trimmed.find(char::is_whitespace).unwrap_or(trimmed.len());
    (
        start + text.len() - trimmed.len(),
        &trimmed[..end],
        &trimmed[end..],
    )
}

fn entry<'a>(
    words: LineWords<'a>,
    line: usize,
    known: &[String],
    findings: &mut ImportFindings,
) -> Option<ConfigEntry<'a>> {
    let key_span = words.key_at..words.key_at + words.key.len();
    let key = RENAMED
        .iter()
        .find(|(old, _)| *old == words.key)
        .map_or(words.key, |(_, present)| present);
    if !known.iter().any(|k| k == key) {
        findings.mistake(unknown(key, key_span, known));
        return None;
    }
    if words.value.is_empty() {
        findings.mistake(Diagnostic::new(
            key_span,
            format!("`{}` has no value", words.key),
        ));
        return None;
    }
    if !words.further.is_empty() {
        let text = format!(
            "{key}: `{}` after the value is ignored, as siitperf does; `#` begins a comment",
            words.further
        );
        findings.note(line, text);
    }
    let span = words.value_at..words.value_at + words.value.len();
    Some(ConfigEntry {
        key,
        value: words.value,
        line,
        span,
    })
}

fn unknown(key: &str, span: Range<usize>, known: &[String]) -> Diagnostic {
    let mistake = Diagnostic::new(span, format!("unknown key `{key}`"));
    let names: Vec<&str> = known.iter().map(String::as_str).collect();
    let same_letters = names
        .iter()
        .find(|name| name.eq_ignore_ascii_case(key))
        .copied();
    match same_letters.or_else(|| nearest(key, &names)) {
        Some(near) => mistake.help(format!("did you mean `{near}`?")),
        None => mistake.help("a line is `key value`, with siitperf's keys; `#` begins a comment"),
    }
}

fn duplicate(earlier: &ConfigEntry<'_>, later: &ConfigEntry<'_>) -> Diagnostic {
    let title = format!(
        "`{}` is set at line {} and again at line {}",
        later.key, earlier.line, later.line
    );
    Diagnostic::new(later.span.clone(), title)
        .help("siitperf uses the last one; keep the one that is meant")
}
