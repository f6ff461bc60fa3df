//! Where a text of a panel begins, for all that draw one.

/// Begins a text that starts where it is placed; kuva centres all.
pub(super) const FROM_HERE: char = '\u{200b}';
