//! The order of clauses in the table.

use super::standard::parts;
use crate::clause::Clause;
use std::cmp::Reverse;

/// The RFCs of the table: the methodology itself first, then those it builds on.
pub(super) const RFCS: [u32; 11] = [
    8219, 9693, 3511, 2544, 9971, 9004, 6201, 5180, 4814, 2330, 1242,
];

/// Sorts clauses stably: those that compare equal stay in the order of the table.
pub(super) fn sort(clauses: &mut [Clause]) {
    clauses.sort_by_cached_key(key);
}

/// Returns the RFC of a clause and the numbers of its section: `RFC 8219 section 7.3.1` is 8219 and 7, 3, 1; `RFC 9693` has no numbers.
pub(super) fn place(clause: &str) -> Option<(u32, Vec<u32>)> {
    let (document, section) = parts(clause);
    let numbers = section
        .split('.')
        .filter(|number| !number.is_empty())
        .map(str::parse)
        .collect::<Result<_, _>>()
        .ok()?;
    Some((document.strip_prefix("RFC ")?.parse().ok()?, numbers))
}

/// Returns the sort key: by RFC, then the worst first, then by section.
pub(super) fn key(clause: &Clause) -> impl Ord + use<> {
    let (rfc, section) = place(clause.clause).unwrap_or_default();
    let rank = RFCS
        .iter()
        .position(|&known| known == rfc)
        .unwrap_or(RFCS.len());
    (rank, Reverse(clause.conformance), section)
}
