//! The subjects of a report, each in a folder: what the page, the verdict and `results.json` say of it.

pub(crate) mod clients;
pub(crate) mod connections;
pub(crate) mod degradation;
pub(crate) mod delay;
pub(crate) mod dns;
mod ranking;
pub(crate) mod throughput;
