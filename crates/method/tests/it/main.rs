//! The methods on simulated devices, with a virtual clock. Nothing here needs root or depends on the speed of the machine.
#![allow(missing_docs, reason = "tests")]

mod bars;
mod budget;
mod campaign;
mod common;
mod disturbed;
mod forecast;
mod held_up;
mod repetition;
mod replay;
mod same_device;
mod searches;
mod shared_throughput;
mod status;
mod trust;
