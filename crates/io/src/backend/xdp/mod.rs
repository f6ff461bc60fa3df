//! AF_XDP: frames go directly between an interface and our memory, with a socket for each queue, by copy or zero-copy as the driver allows.
//!
//! The modules follow the kernel's own concepts: [`umem`] (the memory), [`ring`] (four queues of indices into it), `socket` (the calls),
//! `program` (the few instructions that steer frames to the socket).

mod port;
mod program;
mod ring;
mod socket;
mod umem;

pub(crate) use port::INFO;
