//! Which of the subscribers that a rule set could have take part.

use super::RuleError;

/// `count` subscribers, of which subscriber 0 has the number `first` in the rule set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Numbers {
    first: u64,
    count: u64,
    most: u64,
}

impl Numbers {
    /// All numbers below `most`.
    pub(super) fn all(most: u64) -> Self {
        Self { first: 0, count: most, most }
    }

    /// `count` numbers from `first` on, or all that follow; `what` is the rule set, for the error.
    pub(super) fn some(self, what: &'static str, first: u64, count: Option<u64>) -> Result<Self, RuleError> {
        let most = self.most;
        let count = count.unwrap_or(most.saturating_sub(first).max(1));
        if count == 0 {
            return Err(RuleError::NoSubscriber { what, most });
        }
        if first.checked_add(count).is_none_or(|end| end > most) {
            return Err(RuleError::Numbers { what, first, count, most });
        }
        Ok(Self { first, count, most })
    }

    pub(super) fn first(&self) -> u64 {
        self.first
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// The subscriber that has this number in the rule set.
    pub(super) fn subscriber(&self, number: u64) -> Option<u64> {
        number.checked_sub(self.first).filter(|&e| e < self.count)
    }
}
