//! Text laid out for where it is read: lines of a terminal that break between words, rows in aligned columns, tables, and text in LaTeX.

pub(crate) mod cell;
mod columns;
pub(crate) mod latex;
pub(crate) mod markdown;
pub(crate) mod table;
mod wrapping;

pub use columns::aligned;
pub use wrapping::wrapped;
