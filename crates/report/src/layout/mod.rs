//! Text for a terminal of a certain width: lines that break between words, and rows in aligned columns. The programs' lists and the summary of a run use it.

mod columns;
mod wrapping;

pub use columns::aligned;
pub use wrapping::wrapped;
