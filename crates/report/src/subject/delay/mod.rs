//! Delays, and the other quantities that are measured in one trial per repetition.

pub(crate) mod sentences;
