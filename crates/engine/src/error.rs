//! The reasons why no trial could be performed.

use crate::memory::OutOfMemory;
use sixbench_io::PortError;
use sixbench_method::isolation::Forbidden;
use sixbench_method::trial::IcmpErrors;
use sixbench_method::units::counted;
use sixbench_wire::{MacAddress, WireError};
use std::io;
use std::net::IpAddr;

/// The reason why no trial could be performed.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// The ranges of ports and addresses are too small for the requested connections.
    #[error(
        "{connections} connections need as many combinations of ports and addresses, and no more than 2^63; \
         the test's ranges have {combinations}: widen `ports`, `left-addresses` or `right-addresses`, or lower `connections`"
    )]
    Combinations {
        /// N, the number of connections.
        connections: u64,
        /// The number of combinations in the ranges.
        combinations: u128,
    },
    /// The DUT's connections could not be counted.
    #[error("cannot count the device's connections: {0}")]
    Counter(String),
    /// A trial opens connections through a device that is not described as stateful.
    #[error("the trial opens connections, but the device's recipe has no [state]")]
    Stateless,
    /// The Responder saw nothing in phase 1.
    #[error(
        "the Responder saw none of the {connections} frames of phase 1; does the device translate and forward from the \
         Initiator's side to the other, does it have routes to both, and is it set up for the addresses of [foreground] in its \
         recipe?{}", answered(*.connections, .errors)
    )]
    NothingArrived {
        /// Frames sent.
        connections: u64,
        /// The ICMP errors that answered them.
        errors: Vec<IcmpErrors>,
    },
    /// No control frame of a conformance test passes the device, so nothing can be said of it.
    #[error(
        "no result: the control frames, UDP datagrams between the two hosts of the recipe, do not pass the device in either direction; \
         does it forward at all, and is it set up for the addresses of [foreground] in its recipe?"
    )]
    NoControlFrame,
    /// A stateful device has translated to an address that a host on the Internet could have.
    #[error(transparent)]
    Forbidden(#[from] Forbidden),
    /// A port failed.
    #[error(transparent)]
    Port(#[from] PortError),
    /// The frames of the profile cannot be built.
    #[error("cannot build the test frames: {0}")]
    Frame(#[from] WireError),
    /// The DUT does not answer.
    #[error(
        "{port}: no answer from {address} after {tries} requests; is the DUT up, and is that its address on this link?"
    )]
    Silent {
        /// The tester's port.
        port: String,
        /// The DUT's address that was requested.
        address: IpAddr,
        /// The number of requests.
        tries: u32,
    },
    /// The DUT answers, but not as the protocol demands.
    #[error(
        "{port}: asked for the hardware address of {address}; {} came and {} refused: {why}; correct what the device answers to ARP \
         requests and neighbour solicitations (RFC 826, RFC 4861 section 7.1.2), or its address in the recipe",
        counted(*.answers, "answer"),
        if *.answers == 1 { "was" } else { "were" }
    )]
    AnswersRefused {
        /// The tester's port.
        port: String,
        /// The DUT's address asked for.
        address: IpAddr,
        /// The number of answers.
        answers: u64,
        /// The reason for the first.
        why: String,
    },
    /// The DUT answers with a hardware address that no station has.
    #[error(
        "{port}: {address} says that its hardware address is {claimed}, which no station can have, and is not believed (RFC 1812 section 3.3.2); \
         correct what the device answers to ARP requests and neighbour solicitations"
    )]
    NoStation {
        /// The tester's port.
        port: String,
        /// The DUT's address asked for.
        address: IpAddr,
        /// The address of a group, or one of only zeroes.
        claimed: MacAddress,
    },
    /// Requests through a stateful gateway: no frame of phase 2 opens a connection, so none has a reply of its own.
    #[error(
        "the trial consists of requests and replies, but connections are opened before it; replies are only for devices without [state]"
    )]
    StatefulResponse,
    /// The trial's tables do not fit into memory.
    #[error(transparent)]
    Memory(#[from] OutOfMemory),
    /// A tester with one end on another machine cannot run this trial.
    #[error("a tester on two machines cannot make a trial of {0}")]
    OnTwoMachines(&'static str),
    /// The other machine with an end of the tester could not run its part of the trial; with its error message.
    #[error("{0}")]
    OtherMachine(String),
    /// The other machine with an end of the tester was lost during the trial.
    #[error("the other machine of the tester was lost during the trial")]
    Parted,
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
    /// Another call to the system failed.
    #[error("cannot run the tester: {0}")]
    System(#[from] io::Error),
}

/// Returns what the device answered to `offered` frames of which none arrived, to be appended to a sentence; nothing if it did not answer.
fn answered(offered: u64, errors: &[IcmpErrors]) -> String {
    errors
        .iter()
        .map(|errors| {
            let advice = errors
                .advice()
                .map_or_else(String::new, |advice| format!(" ({advice})"));
            format!("; {}{advice}", errors.sentence(offered))
        })
        .collect()
}
