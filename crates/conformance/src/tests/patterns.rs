//! Which vectors a row of a table of rigs means.

use std::collections::BTreeSet;

/// Returns the names that a list of patterns means: a `*` at the end stands for any rest, a `!` at the begin takes names away. A pattern that changes
/// nothing is a mistake in the table.
pub(super) fn names_meant<'n>(
    patterns: &[&str],
    names: impl IntoIterator<Item = &'n str>,
) -> BTreeSet<String> {
    let names: Vec<&str> = names.into_iter().collect();
    let mut meant: BTreeSet<String> = BTreeSet::new();
    for pattern in patterns {
        let before = meant.len();
        if let Some(pattern) = pattern.strip_prefix('!') {
            meant.retain(|name| !fits(pattern, name));
        } else {
            let found = names.iter().filter(|name| fits(pattern, name));
            meant.extend(found.map(|name| (*name).to_owned()));
        }
        assert!(meant.len() != before, "{pattern} names no vector more");
    }
    meant
}

fn fits(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(begin) => name.starts_with(begin),
        None => name == pattern,
    }
}
