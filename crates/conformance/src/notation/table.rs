//! Tables of TOML, read key by key: every mistake is noted with its line, and reading goes on.

use super::mistake::{Mistake, MistakeKind};
use crate::dns::TextLine;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The lines of a file, and the mistakes found in it so far.
pub(super) struct SourceText {
    pub(super) mistakes: Vec<Mistake>,
    /// The offsets at which the lines after the first begin.
    line_starts: Vec<usize>,
}

/// A text in a file, and the line of its value.
#[derive(Clone, Debug)]
pub(super) struct LineText {
    pub(super) text: String,
    pub(super) line: usize,
}

impl SourceText {
    pub(super) fn new(text: &str) -> Self {
        let line_starts = text.match_indices('\n').map(|(at, _)| at + 1);
        Self {
            mistakes: Vec::new(),
            line_starts: line_starts.collect(),
        }
    }

    /// Returns the line, from 1, of an octet of the text.
    pub(super) fn line_of(&self, offset: usize) -> usize {
        self.line_starts.partition_point(|start| *start <= offset) + 1
    }

    /// Returns the line of a key's value, or that of its table if the key is missing.
    pub(super) fn line_of_key(&self, table: &TableReader<'_>, key: &str) -> usize {
        table
            .get(key)
            .map_or(table.line, |value| self.line_of(value.span().start))
    }

    /// Returns true if this mistake is already noted.
    pub(super) fn has_noted(&self, line: usize, kind: &MistakeKind) -> bool {
        self.mistakes
            .iter()
            .any(|mistake| mistake.line == line && mistake.kind == *kind)
    }

    pub(super) fn note(&mut self, line: usize, kind: MistakeKind) {
        self.mistakes.push(Mistake { line, kind });
    }
}

/// A table, and where it begins.
#[derive(Clone, Copy)]
pub(super) struct TableReader<'v> {
    pub(super) table: &'v DeTable<'v>,
    pub(super) line: usize,
}

impl<'v> TableReader<'v> {
    /// Notes every key that is not among the known ones.
    pub(super) fn check_keys(&self, known: &[&str], source: &mut SourceText) {
        for key in self
            .table
            .keys()
            .filter(|key| !known.contains(&key.get_ref().as_ref()))
        {
            let line = source.line_of(key.span().start);
            source.note(
                line,
                MistakeKind::UnknownKey {
                    key: key.get_ref().to_string(),
                    known: known.join(", "),
                },
            );
        }
    }

    pub(super) fn get(&self, key: &str) -> Option<&'v Spanned<DeValue<'v>>> {
        self.table.get(key)
    }

    /// Returns a text; notes if it is missing.
    pub(super) fn text(&self, key: &'static str, source: &mut SourceText) -> LineText {
        if let Some(value) = self.get(key) {
            text_of(key, value, source)
        } else {
            source.note(self.line, MistakeKind::Missing(key));
            LineText {
                text: String::new(),
                line: self.line,
            }
        }
    }

    /// Returns a text, or a list of texts; `None` if the key is missing.
    pub(super) fn texts(
        &self,
        key: &'static str,
        source: &mut SourceText,
    ) -> Option<Vec<LineText>> {
        let value = self.get(key)?;
        Some(match value.get_ref() {
            DeValue::Array(list) => list.iter().map(|item| text_of(key, item, source)).collect(),
            _ => vec![text_of(key, value, source)],
        })
    }

    /// Returns the lines of a text that are neither empty nor comments (`; ...`), each with its number; `None` if the key is missing.
    pub(super) fn lines(
        &self,
        key: &'static str,
        source: &mut SourceText,
    ) -> Option<Vec<TextLine>> {
        let value = self.get(key)?;
        let LineText { text, line } = text_of(key, value, source);
        // TOML leaves out a line break directly after the opening quotes.
        let is_at_once =
            source.line_of(value.span().end.saturating_sub(1)) - line == text.matches('\n').count();
        let first = if is_at_once { line } else { line + 1 };
        let numbered = text.lines().zip(first..).map(|(text, number)| TextLine {
            number,
            text: text.trim().to_owned(),
        });
        Some(numbered.filter(is_neither_empty_nor_comment).collect())
    }

    /// Returns the tables of a list; none if the key is missing.
    pub(super) fn tables(
        &self,
        key: &'static str,
        source: &mut SourceText,
    ) -> Vec<TableReader<'v>> {
        let Some(value) = self.get(key) else {
            return Vec::new();
        };
        let line = source.line_of(value.span().start);
        let items: Option<Vec<TableReader<'v>>> = value.get_ref().as_array().and_then(|list| {
            list.iter()
                .map(|item| {
                    Some(TableReader {
                        table: item.get_ref().as_table()?,
                        line: source.line_of(item.span().start),
                    })
                })
                .collect()
        });
        items.unwrap_or_else(|| {
            source.note(
                line,
                MistakeKind::Type {
                    key: key.to_owned(),
                    expected: "a list of tables",
                },
            );
            Vec::new()
        })
    }

    /// Returns a switch, false if the key is missing.
    pub(super) fn is_set(&self, key: &'static str, source: &mut SourceText) -> bool {
        let Some(value) = self.get(key) else {
            return false;
        };
        value.get_ref().as_bool().unwrap_or_else(|| {
            let line = source.line_of(value.span().start);
            source.note(
                line,
                MistakeKind::Type {
                    key: key.to_owned(),
                    expected: "true or false",
                },
            );
            false
        })
    }

    /// Returns true if a key is there; notes if its value is not the only one that it may have.
    pub(super) fn is_word(
        &self,
        key: &'static str,
        known: &'static str,
        source: &mut SourceText,
    ) -> bool {
        if self.get(key).is_none() {
            return false;
        }
        let given = self.text(key, source);
        if given.text != known {
            source.note(
                given.line,
                MistakeKind::UnknownWord {
                    key,
                    word: given.text,
                    known,
                },
            );
        }
        true
    }

    /// Returns a number of up to 32 bits; notes if it is missing.
    pub(super) fn number(&self, key: &'static str, source: &mut SourceText) -> u32 {
        let Some(value) = self.get(key) else {
            source.note(self.line, MistakeKind::Missing(key));
            return 0;
        };
        let number = value
            .get_ref()
            .as_integer()
            .and_then(|number| number.as_str().parse().ok());
        number.unwrap_or_else(|| {
            let line = source.line_of(value.span().start);
            source.note(
                line,
                MistakeKind::Type {
                    key: key.to_owned(),
                    expected: "a number",
                },
            );
            0
        })
    }
}

fn is_neither_empty_nor_comment(line: &TextLine) -> bool {
    !line.text.is_empty() && (!line.text.starts_with(';') || line.text.starts_with(";;"))
}

fn text_of(key: &str, value: &Spanned<DeValue<'_>>, source: &mut SourceText) -> LineText {
    let line = source.line_of(value.span().start);
    let text = value.get_ref().as_str().unwrap_or_else(|| {
        source.note(
            line,
            MistakeKind::Type {
                key: key.to_owned(),
                expected: "a text",
            },
        );
        ""
    });
    LineText {
        text: text.to_owned(),
        line,
    }
}
