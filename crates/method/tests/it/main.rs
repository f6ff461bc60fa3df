//! The methods on simulated devices, with a virtual clock. Nothing here needs root or depends on the speed of the machine.
#![allow(missing_docs, reason = "tests")]

mod budget;
mod campaign;
mod disturbed;
mod forecast;
mod held_up;
mod repetition;
mod replay;
mod searches;
mod shared_throughput;
mod status;
