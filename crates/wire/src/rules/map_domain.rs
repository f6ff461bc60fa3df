//! MAP domains of several rules.

use super::{MapRule, RuleError};

/// Mapping rules, no two of which claim the same address (RFC 7597 section 5).
///
/// RFC 7597 resolves overlaps by longest match. They are refused here, so that frames sent by one rule can only be expected by the same rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MapDomain(Vec<MapRule>);

impl MapDomain {
    /// Returns a domain of these rules.
    ///
    /// # Errors
    /// There is no rule, or two rules, which the error names, have overlapping IPv6 or IPv4 prefixes.
    pub fn new(rules: Vec<MapRule>) -> Result<Self, RuleError> {
        if rules.is_empty() {
            return Err(RuleError::EmptyDomain);
        }
        for (at, second) in rules.iter().enumerate() {
            rules[..at]
                .iter()
                .try_for_each(|first| disjoint(first, second))?;
        }
        Ok(Self(rules))
    }

    /// Returns the rules, in the order given.
    pub fn rules(&self) -> &[MapRule] {
        &self.0
    }
}

fn disjoint(first: &MapRule, second: &MapRule) -> Result<(), RuleError> {
    let (first6, second6) = (first.ipv6_prefix(), second.ipv6_prefix());
    if first6.overlaps(&second6) {
        return Err(RuleError::OverlappingIpv6 {
            first: first6,
            second: second6,
        });
    }
    let (first4, second4) = (first.ipv4_prefix(), second.ipv4_prefix());
    if first4.overlaps(&second4) {
        return Err(RuleError::OverlappingIpv4 {
            first: first4,
            second: second4,
        });
    }
    Ok(())
}
