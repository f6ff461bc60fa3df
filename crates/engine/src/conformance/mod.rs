//! Vectors of requirements, sent to a device over two ports. Nothing here is timed or paced: a few frames are sent, and their answers are waited for.
//!
//! Each vector is bracketed by control frames, UDP datagrams that the device is known to forward, in the direction of the vector: without them its
//! silence says nothing. What got no answer is sent once more, so that a single loss is not taken for the device's doing. Answers are recognised by the
//! pattern of their payload; a frame without one counts, too, because an error of ICMP may have been cut before it. A device may send without end: of
//! what comes for a vector, a few frames are kept and the rest is counted.
//!
//! Malformed frames go out in batches, a few hundred in a second, with control frames behind each batch.
//!
//! Through a stateful device the control frames go from the inside to the outside, and then back to where they came from.

mod addresses;
pub mod dns;
mod exchange;
mod link;
mod load;
mod malformed;
mod passes;
mod steps;
mod tester;

pub use exchange::KEPT_FRAMES;
pub use link::VectorPort;
pub use load::{LOAD_PORTS, VectorLoad};
pub use malformed::BatchReport;
pub use passes::{LoadedRun, VectorProgress, VectorRun};
pub use tester::{VectorRecord, VectorTester};
