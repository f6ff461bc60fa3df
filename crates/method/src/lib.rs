//! The methodology: what to measure, and when to stop. Nothing in this crate opens a socket, reads a clock or touches a file.
#![forbid(unsafe_code)]

pub mod anomaly;
pub mod bottleneck;
pub mod budget;
pub mod campaign;
mod clause;
pub mod conformance;
pub mod disturbance;
pub mod event;
#[cfg(any(test, feature = "fixtures"))]
pub mod fixtures;
pub mod forecast;
pub mod isolation;
pub mod lists;
pub mod measures;
pub mod names;
pub mod patience;
pub mod plan;
pub mod record;
pub mod repeat;
pub mod replay;
pub mod search;
pub mod simulated;
pub mod status;
pub mod terms;
pub mod text;
pub mod throughput;
pub mod trial;
pub mod units;
mod watch;
