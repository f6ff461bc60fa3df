//! Backends: the ways to send and receive frames.

pub mod packet;
pub mod xdp;
