//! Vectors of several steps, run against a stateful device: what to send next, the values that got names, and the judgement of each step. Nothing here
//! sends or waits: whoever runs an exchange does that, and tells it what came.

mod names;
mod run;
mod zero_sum;

pub use names::FreshNumbers;
pub use run::{DeviceTimers, ExchangeRun, StepFrames};
