//! The documents that clauses cite, and the sections of each that were read: `docs/standards.toml`, read once. A clause whose section was not read is
//! not judged.

use crate::clause::{Clause, Conformance};
use serde::Deserialize;
use std::sync::LazyLock;

static STANDARDS: LazyLock<Vec<Standard>> = LazyLock::new(|| {
    let text = include_str!("../../../../docs/standards.toml");
    let file: StandardsFile =
        toml::from_str(text).expect("docs/standards.toml is part of the program and tested");
    file.standard
});

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StandardsFile {
    standard: Vec<Standard>,
}

/// A document that clauses cite, and what of it was read.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Standard {
    /// The document as clauses cite it: `RFC 8219`.
    pub document: String,
    /// Its title.
    pub title: String,
    /// The text that was read: of the RFC, of a draft, of a paper.
    pub text: String,
    /// The day on which the sections were compared with the clauses, as in `2026-11-26`.
    pub read: String,
    /// The sections that were read.
    pub sections: Vec<String>,
}

/// Returns all documents that clauses may cite.
pub fn standards() -> &'static [Standard] {
    &STANDARDS
}

/// Returns the document and the section of a clause: `RFC 8219 section 7.2` is `RFC 8219` and `7.2`. The section is empty if none is cited.
pub fn parts(clause: &str) -> (&str, &str) {
    clause.split_once(" section ").unwrap_or((clause, ""))
}

/// Returns whether the section that the clause cites was read.
pub fn is_read(clause: &str) -> bool {
    let (document, section) = parts(clause);
    standards().iter().any(|standard| {
        standard.document == document && standard.sections.iter().any(|read| read == section)
    })
}

/// Returns the clause as it is, or, if its section was not read, without a judgement.
pub(super) fn as_read(clause: Clause) -> Clause {
    if is_read(clause.clause) {
        clause
    } else {
        Clause {
            conformance: Conformance::Unchecked,
            ..clause
        }
    }
}
