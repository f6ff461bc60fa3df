//! The mark of texts in a panel that start at their positions, for all code that draws them.

/// The first character of a text that starts at its position; kuva centres all texts.
pub(crate) const FROM_HERE: char = '\u{200b}';
