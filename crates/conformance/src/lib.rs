//! Requirements of RFCs on devices, as vectors: what is sent to a device, and what must come from it. This crate reads the files of vectors, builds
//! their frames, and judges what came. Nothing here opens a socket or reads a clock.
//!
//! From the bottom: `dns` knows zones, queries and answers, `frame` knows the layers and fields of datagrams, `setting` what vectors need to know of a
//! device, `notation` reads the files, `octets` turns a frame of a vector into octets for one device, `judge` compares what came with what is expected,
//! and `exchange` runs a vector of several steps. `robustness` makes malformed frames of those of vectors.
#![forbid(unsafe_code)]

pub mod dns;
pub mod exchange;
pub mod frame;
pub mod judge;
pub mod notation;
pub mod octets;
pub mod robustness;
pub mod setting;
pub mod summary;
#[cfg(test)]
mod tests;

pub use judge::{ControlFrames, FieldDifference, VectorJudgement, VectorResult, judge};
pub use notation::{NotationError, RequirementFile, RequirementLevel, Vector};
pub use setting::{DeviceSetting, PortRanges, Role, RoleAddresses, SubscriberSetting};
pub use summary::{DeviceResults, judged_vector, loaded_finding};
