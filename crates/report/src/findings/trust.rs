//! A line on how far the figures may be trusted.

use crate::digest::Digest;
use crate::wording::numbers::{capitalised, share};
use serde::Serialize;
use sixbench_analysis::trust::{RULES, Trust, TrustFinding, TrustLevel, TrustReason};
use sixbench_method::units::part_of;

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
const MOST_UNFOLDED: usize = 2;

/// The trust level as the page shows it.
#[derive(Serialize)]
pub(crate) struct TrustBox {
    level: TrustLevel,
    /// The first decisive reasons, in brief.
    in_brief: String,
    /// The trials by verdict, and every reason in full, folded.
    reasons: Vec<String>,
}

impl TrustBox {
    pub(crate) fn new(trust: &Trust, trials: String) -> Self {
        let sentence = |reason: &TrustReason| {
            let level = match reason.level {
                TrustLevel::High => String::new(),
                level if level == trust.level => String::new(),
                level => format!(" ({})", level.word()),
            };
            format!("{}{level}.", capitalised(&reason.text))
        };
        Self {
            level: trust.level,
            in_brief: in_brief(trust),
            reasons: std::iter::once(format!("{trials}."))
                .chain(trust.reasons.iter().map(sentence))
                .collect(),
        }
    }
}

/// Returns the first reasons for the level in one sentence, and what can be done about them.
fn in_brief(trust: &Trust) -> String {
    let decisive = || {
        trust
            .reasons
            .iter()
            .filter(|reason| reason.level == trust.level)
            .map(|reason| &reason.found)
    };
    let reasons: Vec<String> = decisive().take(MOST_UNFOLDED).map(brief).collect();
    let is_disturbed = |found: &TrustFinding| {
        matches!(
            found,
            TrustFinding::DisturbedTrials(_)
                | TrustFinding::DisturbedSearches(_)
                | TrustFinding::DisturbedResults { .. }
        )
    };
    let remedy = if trust.level != TrustLevel::High && decisive().any(is_disturbed) {
        " Stop the other work, and run again."
    } else {
        ""
    };
    format!("{}.{remedy}", capitalised(&reasons.join("; ")))
}

/// Returns a finding without its details: `other work disturbed 43 % of the trials`.
fn brief(found: &TrustFinding) -> String {
    match found {
        TrustFinding::DisturbedTrials(trials) if trials.disturbed() > 0 => {
            let of_run = share(trials.disturbed() as f64 / trials.trials as f64);
            let of_point = trials.deciding_point().map(|point| {
                let of_point = share(point.disturbed as f64 / point.trials as f64);
                format!(", {of_point} of those that decide at {}", point.point)
            });
            let of_point = of_point.unwrap_or_default();
            format!("other work disturbed {of_run} of the trials{of_point}")
        }
        TrustFinding::DisturbedSearches(found) => format!(
            "a disturbance ended {}, so {} (≥)",
            part_of(found.disturbed, found.searches, "search"),
            found.those_are_bounds()
        ),
        found => found.to_string(),
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
