//! One requirement of an RFC, and the conformance of a test to it.

pub(crate) mod numbers;

use serde::Deserialize;
use std::fmt;

/// The document of all clauses on connections. No section is cited, because none was read: `docs/standards.toml`.
pub(crate) const RFC_9693: &str = "RFC 9693";

/// The strength of a requirement, by the capitalised words of RFC 2544 section 5 and BCP 14.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// MUST, REQUIRED, SHALL.
    Must,
    /// SHOULD, RECOMMENDED.
    Should,
    /// MAY, OPTIONAL.
    May,
}

/// The degree to which a test meets a requirement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Conformance {
    /// The requirement is met; for a MAY, the option is used.
    Met,
    /// Not judged, because the section that the clause cites was not read: `docs/standards.toml`.
    Unchecked,
    /// A SHOULD is not met, or a requirement is met only in part.
    #[serde(rename = "bent")]
    Partial,
    /// A MUST is not met.
    #[serde(rename = "broken")]
    Violated,
}

/// One requirement, and the conformance of a test to it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Clause {
    /// RFC and section, `RFC 8219 section 7.2`.
    pub clause: &'static str,
    /// The strength of the requirement.
    pub level: Level,
    /// The requirement itself.
    pub requirement: &'static str,
    /// The behaviour of this test, with numbers.
    pub actual: String,
    /// The result of comparing the two.
    pub conformance: Conformance,
}

impl Clause {
    /// Returns the clause of a MUST, which is violated where it is not met.
    pub(crate) fn must(
        clause: &'static str,
        requirement: &'static str,
        actual: impl Into<String>,
        is_met: bool,
    ) -> Self {
        Self {
            clause,
            level: Level::Must,
            requirement,
            actual: actual.into(),
            conformance: if is_met {
                Conformance::Met
            } else {
                Conformance::Violated
            },
        }
    }

    /// Returns the clause of a SHOULD, which is met in part where it is not met.
    pub(crate) fn should(
        clause: &'static str,
        requirement: &'static str,
        actual: impl Into<String>,
        is_met: bool,
    ) -> Self {
        Self {
            level: Level::Should,
            ..Self::must(clause, requirement, actual, is_met).or_in_part(true)
        }
    }

    /// Returns the clause for something that is permitted and done here; permitted behaviour that is not used is not listed.
    pub(crate) fn may(
        clause: &'static str,
        requirement: &'static str,
        actual: impl Into<String>,
    ) -> Self {
        Self {
            clause,
            level: Level::May,
            requirement,
            actual: actual.into(),
            conformance: Conformance::Met,
        }
    }

    /// Returns the clause as partially met rather than violated if part of the requirement is met.
    pub(crate) fn or_in_part(self, does_a_part: bool) -> Self {
        match self.conformance {
            Conformance::Violated if does_a_part => Self {
                conformance: Conformance::Partial,
                ..self
            },
            _ => self,
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Must => "MUST",
            Self::Should => "SHOULD",
            Self::May => "MAY",
        })
    }
}

impl fmt::Display for Conformance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Met => "met",
            Self::Unchecked => "not checked against the text",
            Self::Partial => "bent",
            Self::Violated => "broken",
        })
    }
}
