//! Pages of more than one run: a comparison, a history, and how many subscribers a device carries.

pub mod comparison;
pub mod dimension;
pub mod history;
