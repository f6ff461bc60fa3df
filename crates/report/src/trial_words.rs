//! A single trial in words: the results beyond the lines of the directions.

mod connections;
mod counts;
mod queries;

pub use connections::connections;
pub use counts::{direction, exchange};
pub use queries::queries;
