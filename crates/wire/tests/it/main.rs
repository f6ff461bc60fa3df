//! Frames as etherparse sees them, which shares no code with this crate.
#![allow(missing_docs, reason = "tests")]

mod encapsulated_frames;
mod icmp_errors;
mod patched_frames;
