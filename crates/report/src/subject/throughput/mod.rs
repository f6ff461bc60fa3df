//! Throughputs, the results that come first.

pub(crate) mod sentences;
