//! The findings of an import: mistakes, and notes on settings that are not taken over unchanged.

use sixbench_plan::Diagnostic;
use std::fmt;

/// A note on a key that has no counterpart, or whose error does no harm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The line that the note is about, from 1; 0 if it is about the whole file.
    pub line: usize,
    /// The note, a single sentence.
    pub text: String,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.text),
            line => write!(f, "line {line}: {}", self.text),
        }
    }
}

/// The mistakes and notes found so far.
#[derive(Default)]
pub(super) struct ImportFindings {
    pub(super) mistakes: Vec<Diagnostic>,
    pub(super) notes: Vec<Note>,
}

impl ImportFindings {
    pub(super) fn mistake(&mut self, mistake: Diagnostic) {
        self.mistakes.push(mistake);
    }

    pub(super) fn note(&mut self, line: usize, text: impl Into<String>) {
        self.notes.push(Note {
            line,
            text: text.into(),
        });
    }
}
