//! AF_XDP: frames straight between an interface and memory of ours, a socket for each of its queues, copy or zero-copy as the driver can.
//!
//! Cut by the kernel's own concepts: [`umem`] (the memory), [`ring`] (four queues of indices over it), `socket` (the calls),
//! `program` (the few instructions that steer frames to the socket).

mod port;
mod program;
mod ring;
mod socket;
mod umem;

pub(crate) use port::INFO;
