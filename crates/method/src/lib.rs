//! The methodology: what to measure, and when to stop. Nothing in this crate opens a socket, reads a clock or touches a file.
//!
//! # Order of the modules
//!
//! At most four files of `method` import each other: the list of searches and the searches (`.ci/check-house` counts). `trial` is below `search`, which
//! is below `measures`. Then come `plan`, the outcomes of repetitions, `record`, `throughput`, `bottleneck` and `disturbance`, then `replay`. Whatever
//! judges a run is in `analysis`, on top of it. Below the measures are `clause`, the
//! definition of one requirement, and `watch`, what was seen of the device's machine; `conformance` is above the plan. Two rooms still import each other: a plan
//! has measures, and a measure is one of a plan's tests.
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
pub mod fnv;
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
