//! Numbers, amounts, bounds, trials and events in words. Nothing here knows the digest of a run.

pub(crate) mod amount;
pub(crate) mod anomalies;
pub(crate) mod bound;
pub mod event_words;
pub mod expectations;
pub(crate) mod faults;
pub(crate) mod numbers;
pub(crate) mod requirements;
pub mod trial_words;
