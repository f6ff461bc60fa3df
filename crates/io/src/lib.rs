//! Sends and receives frames through the kernel or the NIC, and reads the time. This is the only crate with `unsafe`; it knows neither protocols
//! nor methods.
//!
//! A [`Port`] is one end of a link. It has a transmitting and a receiving half, so that a paced sender can have a core to itself. Once open,
//! neither half allocates, locks or logs.

mod backend;
pub mod clock;
pub mod files;
pub mod limit;
mod numa;
mod port;
mod round_trip;
pub mod thread;
pub mod udp;

mod sys;

#[doc(hidden)]
pub use backend::fuzzing;
pub use backend::{BACKENDS, Backend, PortSpec, packet};
pub use numa::NumaNode;
pub use port::{
    BATCH, BackendInfo, Fill, Flushed, Halves, Obstacle, Port, PortError, PortOptions, PortRequest,
    Receive, Sent, Transmit,
};
pub use port::{loopback, pcap};
pub use round_trip::round_trip_ns;
pub use sys::counters::{CounterReader, InterfaceCounters};
pub use sys::interface::Interface;
