//! The findings of an examination of the host.

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// As it should be.
    Good,
    /// Measuring works, but results may be disturbed.
    Warning,
    /// Measuring does not work.
    Blocker,
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The severity of the finding.
    pub severity: Severity,
    /// A description of the finding.
    pub what: String,
    /// The action that fixes the problem, if there is one.
    pub cure: Option<String>,
}

impl Finding {
    pub(super) fn good(what: impl Into<String>) -> Self {
        Self {
            severity: Severity::Good,
            what: what.into(),
            cure: None,
        }
    }

    pub(super) fn bad(
        severity: Severity,
        what: impl Into<String>,
        cure: impl Into<String>,
    ) -> Self {
        Self {
            severity,
            what: what.into(),
            cure: Some(cure.into()),
        }
    }

    pub(super) fn warning(what: impl Into<String>, cure: impl Into<String>) -> Self {
        Self::bad(Severity::Warning, what, cure)
    }
}
