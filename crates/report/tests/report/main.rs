//! The views of runs that are built in code.
#![allow(missing_docs, reason = "tests")]

mod agreement;
mod anomalies;
mod bounds;
mod conditions;
mod dimension;
mod dns;
mod formats;
mod groups;
mod hosts;
mod measures;
mod paper;
mod points;
mod relative;
mod requirements;
mod response;
mod sample;
mod scaling;
mod schemas;
mod sequence;
mod soak;
mod stateful;
mod trust;
mod views;
