//! When to send: the pacer, sending by it, and the faults of a sender that could not keep up. Frames, queries and connections are paced alike.

pub(crate) mod fault;
pub(crate) mod pacer;
pub(crate) mod reach;
pub(crate) mod sending;
pub(crate) mod stall;
