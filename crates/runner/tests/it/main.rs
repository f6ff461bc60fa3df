//! A program that embeds sixbench, and the estimate of a run against runs on simulated devices. Nothing here needs root.
#![allow(missing_docs, reason = "tests")]

mod estimate;
mod example;
