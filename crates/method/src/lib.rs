//! The methodology: what to measure, when to stop, and how to interpret the results. Nothing in this crate opens a socket, reads a clock or touches a
//! file.
#![forbid(unsafe_code)]

pub mod anomaly;
pub mod bottleneck;
pub mod budget;
pub mod campaign;
pub mod comparison;
pub mod conformance;
pub mod dimension;
pub mod disturbance;
pub mod event;
pub mod expectation;
pub mod forecast;
pub mod gate;
pub mod history;
pub mod isolation;
pub mod lists;
pub mod measures;
pub mod mix;
pub mod names;
pub mod patience;
pub mod plan;
pub mod record;
pub mod repeat;
pub mod replay;
pub mod scaling;
pub mod search;
pub mod simulated;
pub mod status;
pub mod terms;
pub mod text;
pub mod throughput;
pub mod trial;
pub mod trust;
pub mod units;
