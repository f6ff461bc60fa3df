//! What results mean: how far they can be trusted, whether two of them differ, whether they meet what was expected of them, and what follows from them.
//! It reads plans, records and facts as they are published. Nothing in this crate needs rights, a tester, a socket, a clock or a file.
#![forbid(unsafe_code)]

pub mod comparison;
pub mod dimension;
pub mod expectation;
pub mod gate;
pub mod history;
pub mod mix;
pub mod scaling;
pub mod trust;
