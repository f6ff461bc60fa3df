//! The tester of frames: paced senders, verifying receivers, and the traffic, of which both derive frame i from the seed and the frame's number.
//!
//! # A trial
//!
//! 1. `frames::neighbour` asks both sides of the DUT for their hardware addresses by ARP or neighbour solicitation, which also tells the DUT ours.
//!    During the trial the receivers answer the DUT's requests. No static entries are needed. A group hardware address is neither accepted as a
//!    neighbour's nor answered.
//! 2. There is one template per kind of frame (foreground, background) and direction. Per frame only ports, 32 bits of the addresses, sequence number,
//!    time and checksums are patched. Ports and addresses are a function of seed, stream and the frame's number within its kind, so the
//!    receiver can compute them again.
//! 3. Frame i is due at start + i / rate, segment by segment where the rate changes (`trial::Schedule`). The sender busy-waits, sends whatever is due (at
//!    most 64 at a time) and records its lateness. In a closed loop each request that may be in flight has a slot, whose own share of the schedule is
//!    suspended while it waits (`frames::window`). The client that sent a request is recorded when the request leaves; it is not a function of the request's
//!    number.
//! 4. The receiver finds the tag, and with it everything the frame must look like. `frames::verify` compares field by field, from the hardware addresses
//!    (where neighbours were resolved) to the last octet: a VLAN tag is a mistranslation, padding up to 60 octets is not. The delay goes into histograms
//!    (`delay`): in time, late, tagged, and compared with the frame sent before. It ends when the clock is read after it was settled which frames
//!    a poll hands out, once for a batch (`delay::arrival`, `io::Receive`): no frame arrived later, so no delay is too short, even if the thread loses
//!    its core in between. The last time at which the port was empty bounds each arrival from the other side; the lengths of these intervals become
//!    the bounds of the delays. A frame is late only if it is late at both ends. A port may have several queues, each with its own sender and
//!    receiver (`frames::trial::Task`): of n queues, queue q sends the frames with the numbers q, q + n, q + 2n. A frame may arrive on any queue. Each
//!    receiver keeps a bitmap. `frames::tally` merges them at the end, so a duplicate on another queue is found, and `frames::outcome` makes one result
//!    of all. Reordering is counted only among frames that one queue sent and one received.
//! 5. `pacing::fault` turns what sender and receiver recorded into faults; `TrialResult::verdict` weighs them: `Passed`, `Lost`, `Invalid`.

mod broadcast;
mod burst_timer;
pub(crate) mod companion;
pub mod delay_line;
mod destinations;
mod flow;
mod footprint;
pub(crate) mod neighbour;
mod outcome;
pub mod profile;
mod ramp;
mod receiver;
mod responder;
pub mod selftest;
mod sender;
pub(crate) mod sent;
mod side;
mod size_order;
pub mod stateful;
pub(crate) mod stream;
mod subscriber;
mod tally;
mod tasks;
pub mod tester;
mod tester_port;
mod trial;
pub(crate) mod verify;
mod window;
