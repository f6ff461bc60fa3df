//! Results of one kind side by side, highest first, and what may be said in comparing them.

use crate::digest::{InvalidReason, Limits, PointDigest, RatedSummary};
use crate::wording::bound::Bound;
use crate::wording::numbers::{share_bound, supported};

#[derive(Clone)]
pub(super) struct RankedValue {
    pub(super) name: String,
    pub(super) median: f64,
    /// The highest repetition minus the lowest, which determines the digits of the median.
    spread: f64,
    limits: Limits,
    span: (f64, f64),
    /// What passing trials had beside frames that were received as they were sent: `, but with duplicate frames (100 % of those received)`; empty if
    /// nothing.
    pub(super) beside: String,
}

#[derive(Clone, Copy)]
pub(super) struct RankingWords {
    /// The verb for what the DUT did: `passed`, `opened`.
    pub(super) verb: &'static str,
    /// The limit set by the plan, as in `the highest load of the plan`.
    pub(super) ceiling: &'static str,
    /// The words for a device without a result above zero: `did not pass even the lowest load of the plan`.
    pub(super) nothing: &'static str,
}

/// Returns the results, highest median first, with equal ones in the order of the plan.
pub(super) fn ranking(results: impl Iterator<Item = RankedValue>) -> Vec<RankedValue> {
    let mut ranking: Vec<RankedValue> = results.collect();
    ranking.sort_by(|a, b| b.median.total_cmp(&a.median));
    ranking
}

/// Returns the sentence on the leader, followed by a comparison of each other result with it.
pub(super) fn with_others(
    first: String,
    ranking: &[RankedValue],
    kind: RankingWords,
) -> Vec<String> {
    let others = ranking
        .windows(2)
        .map(|pair| pair[1].beside(&ranking[0], &pair[0], kind));
    std::iter::once(first).chain(others).collect()
}

/// Returns all results in brief.
pub(super) fn listed(ranking: &[RankedValue]) -> String {
    let name = |(i, r): (usize, &RankedValue)| {
        let tie = i
            .checked_sub(1)
            .map(|above| r.tie(&ranking[above]))
            .unwrap_or_default();
        format!(
            "{} {}{}{tie}{}",
            r.name,
            r.amount(),
            r.in_brackets(),
            r.beside
        )
    };
    ranking
        .iter()
        .enumerate()
        .map(name)
        .collect::<Vec<_>>()
        .join("; ")
}

impl RankedValue {
    /// Returns the result of a point under this name; `None` without one.
    pub(super) fn new(name: String, point: &PointDigest) -> Option<Self> {
        let RatedSummary {
            summary,
            limits,
            span,
        } = point.rated()?;
        let beside = point.beside_the_goal();
        Some(Self {
            name,
            median: summary.median,
            spread: summary.max - summary.min,
            limits,
            span,
            beside,
        })
    }

    /// Returns the median: `412 k`, `at least 412 k`.
    pub(super) fn amount(&self) -> String {
        let bound = Bound::at_least_if(self.limits.is_median_open && self.median > 0.0);
        format!(
            "{}{}",
            bound.phrase().unwrap_or_default(),
            supported(self.median, self.spread, bound)
        )
    }

    /// Returns the reason why the true result may be higher, and the consequence; empty if it may not.
    pub(super) fn why_open(&self, kind: RankingWords) -> String {
        if self.limits.is_median_open {
            format!("{}: the device may be better", self.why_open_briefly(kind))
        } else {
            String::new()
        }
    }

    pub(super) fn why_open_briefly(&self, kind: RankingWords) -> String {
        match self.limits {
            l if l.unprepared > 0 => match l.reason {
                Some(InvalidReason::Names) => {
                    ", limited by the names, which were too few or not cached as intended"
                        .to_owned()
                }
                _ => {
                    ", limited by the connections of phase 1, not all of which were opened or kept"
                        .to_owned()
                }
            },
            l if l.disturbed > 0 => ", on a machine disturbed by other work".to_owned(),
            l if l.tester > 0 => ", limited by the tester".to_owned(),
            l if l.maximum > 0 => format!(", {}", kind.ceiling),
            _ => String::new(),
        }
    }

    /// Returns a remark for a list if something other than the DUT limited the result.
    pub(super) fn in_brackets(&self) -> &'static str {
        match self.limits {
            l if l.unprepared > 0 => match l.reason {
                Some(InvalidReason::Names) => " (limited by the names)",
                _ => " (limited by the connections of phase 1)",
            },
            l if l.disturbed > 0 => " (disturbed by other work)",
            l if l.tester > 0 => " (limited by the tester)",
            _ => "",
        }
    }

    /// Returns a comparison of this result with the leader, and with the one just above it.
    pub(super) fn beside(&self, leader: &Self, above: &Self, kind: RankingWords) -> String {
        let (name, verb) = (&self.name, kind.verb);
        if self.median == 0.0 {
            return format!("{name} {}.", kind.nothing);
        }
        let why = self.why_open_briefly(kind) + &self.beside;
        if self.limits.disturbed + leader.limits.disturbed > 0 {
            // A disturbed result does not bound a ratio in any way.
            return format!("{name} {verb} {}{why}.", self.amount());
        }
        let bound = Bound::of_ratio(self.limits.is_median_open, leader.limits.is_median_open);
        let Some(words) = bound.phrase() else {
            return format!(
                "{name} {verb} {}{why}: it is not shown which of the two is faster.",
                self.amount()
            );
        };
        let share = share_bound(self.median / leader.median, bound);
        let median = supported(self.median, self.spread, self.limits.bound());
        format!(
            "{name} reached {words}{share} of that: {median}{why}{}.",
            self.tie(above)
        )
    }

    /// Returns a note that no difference from the neighbour is shown, if their ranges overlap; empty if they do not, or if the true result may be
    /// higher.
    pub(super) fn tie(&self, above: &Self) -> String {
        let apart = self.span.1 < above.span.0;
        if apart || self.limits.is_median_open {
            String::new()
        } else {
            format!(" (no difference from {} shown)", above.name)
        }
    }
}
