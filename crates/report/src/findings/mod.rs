//! What is to be said of a run beside its numbers: its origin and basis, the state of its points, their bottlenecks and steadiness, trust, warnings.

pub(crate) mod basis;
pub(crate) mod bottleneck;
pub(crate) mod faults;
pub(crate) mod origin;
pub(crate) mod status;
pub(crate) mod steadiness;
pub(crate) mod trust;
pub(crate) mod warning;
pub(crate) mod warning_kind;
