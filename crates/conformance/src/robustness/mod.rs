//! Malformed frames for a device, and what becomes of it: frames made from those of vectors by a grammar of mistakes, sent in batches, and the
//! smallest number of them that still makes the device crash. Nothing here sends a frame or reads a clock: whoever does is a [`RobustnessTarget`].
//!
//! From the bottom: `draft` has a datagram while mistakes are made in it, `base` the valid datagrams, `structure` the mistakes that insert headers and
//! options, `mutation` all of them, `coverage` what frames are drawn by, `grammar` the frame of each number, `reduce` the search for the smallest sequence, `memory` the judgement of what was
//! resident, `probe` the procedure, and `result` and `text` what is told of it.

mod base;
mod coverage;
mod draft;
mod grammar;
mod memory;
mod mutation;
mod probe;
mod reduce;
mod result;
mod structure;
mod text;

pub use base::{ValidDatagram, valid_datagrams};
pub use coverage::{CarriedProtocol, DatagramGroup, DrawnLength, FrameCoverage, MalformedKind};
pub use grammar::{DrawnFrame, FrameGrammar, MalformedFrame};
pub use memory::{DeviceMemory, MemoryCourse, MemoryOwner, MemoryVerdict};
pub use mutation::Mutation;
pub use probe::{BatchOutcome, RobustnessTarget, probe, replay};
pub use reduce::Reduction;
pub use result::{
    CrashRecord, CrashSign, KeptFrame, ProbeOutcome, RobustnessResults, UnreadableFrames,
    kept_frames,
};
