//! What the parts of an import report: mistakes, and notes on what is not taken over as it stands.

use sixbench_plan::Diagnostic;

/// A note on a key that has no counterpart, or was wrong without doing harm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The line it is about, from 1; 0: about the file as a whole.
    pub line: usize,
    /// The note, one sentence.
    pub text: String,
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
        self.notes.push(Note { line, text: text.into() });
    }
}
