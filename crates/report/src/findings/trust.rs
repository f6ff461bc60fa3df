//! A line on how far the figures may be trusted.

use crate::digest::Digest;
use crate::wording::numbers::capitalised;
use serde::Serialize;
use sixbench_analysis::trust::{RULES, Trust, TrustFinding, TrustLevel, TrustReason};

/// Returns the line above the results; `None` if nothing was measured.
pub(crate) fn sentence(digest: &Digest<'_>) -> Option<String> {
    let trust = digest.trust.as_ref()?;
    let reasons: Vec<&str> = decisive(trust).map(|reason| reason.text.as_str()).collect();
    Some(format!(
        "Trust: {}. {}.",
        trust.level.word(),
        capitalised(&reasons.join("; "))
    ))
}

/// Returns the reasons that reduce trust or, if there are none, those that support the figures. If a note tells of disturbed trials, so does this line,
/// however few they are.
fn decisive(trust: &Trust) -> impl Iterator<Item = &TrustReason> {
    let is_noted = |reason: &TrustReason| matches!(&reason.found, TrustFinding::DisturbedTrials(found) if found.not_made_again() > 0);
    let is_told = move |reason: &TrustReason| reason.level != TrustLevel::High || is_noted(reason);
    trust
        .reasons
        .iter()
        .filter(move |reason| trust.level == TrustLevel::High || is_told(reason))
}

/// The most reasons that are shown unfolded.
const MOST_TOLD: usize = 3;

/// The trust level as the page shows it.
#[derive(Serialize)]
pub(crate) struct TrustBox {
    level: TrustLevel,
    /// The decisive reasons as sentences; at most three.
    told: Vec<String>,
    /// All other reasons, folded.
    folded: Vec<String>,
}

impl TrustBox {
    pub(crate) fn of(trust: &Trust) -> Self {
        let sentence = |reason: &TrustReason| {
            let level = if reason.level == TrustLevel::High {
                String::new()
            } else {
                format!(" ({})", reason.level.word())
            };
            format!("{}{level}.", capitalised(&reason.text))
        };
        let decides = |reason: &&TrustReason| reason.level == trust.level;
        let told: Vec<&TrustReason> = trust
            .reasons
            .iter()
            .filter(decides)
            .take(MOST_TOLD)
            .collect();
        let is_told = |reason: &&TrustReason| told.iter().any(|one| std::ptr::eq(*one, *reason));
        let folded = trust
            .reasons
            .iter()
            .filter(|reason| !is_told(reason))
            .map(sentence)
            .collect();
        // The box itself shows the level of these reasons.
        Self {
            level: trust.level,
            told: told
                .iter()
                .map(|reason| format!("{}.", capitalised(&reason.text)))
                .collect(),
            folded,
        }
    }
}

/// Returns the rules in words, one per line: what is examined, and when it makes the trust fair or low.
pub(crate) fn rules() -> String {
    let bounds = |word: &str, when: &str| {
        if when.is_empty() {
            String::new()
        } else {
            format!("; {word}: {when}")
        }
    };
    RULES
        .iter()
        .map(|rule| {
            format!(
                "- {}{}{}\n",
                rule.subject,
                bounds("fair", rule.fair),
                bounds("low", rule.low)
            )
        })
        .collect()
}
