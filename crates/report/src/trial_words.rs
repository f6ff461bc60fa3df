//! A single trial for people: what its outcome says beyond the lines of the directions.

mod connections;
mod counts;
mod queries;

pub use connections::connections;
pub use counts::{direction, exchange};
pub use queries::queries;
