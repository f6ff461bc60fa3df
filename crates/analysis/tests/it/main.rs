//! What is concluded from runs of simulated devices: trust, intervals and comparisons.
#![allow(missing_docs, reason = "tests")]

mod bars;
mod same_device;
mod trust;
