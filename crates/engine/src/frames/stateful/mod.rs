//! Tests of stateful gateways (RFC 9693): an Initiator that opens connections, a Responder that learns how the DUT mapped them, and then frames
//! from both on these connections only.
//!
//! A connection is a number. The fields that the Initiator sends on it follow from the number, and the source to which the DUT translated them is
//! in the state table, so every field of every frame of phase 2 is known before it arrives, on either side.
//!
//! # A trial
//!
//! `frames::stateful`, by RFC 9693. A connection is a number, and everything else follows from it. `four_tuple` derives the Initiator's
//! addresses and ports from it (a keyed permutation of all combinations, in constant memory). `table` stores the source to which the DUT translated it (8
//! octets each, a ring of M). So every field of every frame of phase 2 is known before the frame arrives, on either side: a DUT that mixes up two
//! connections sends a wrong frame. (If M is below N, the source of a connection that the ring has lost is only checked against the pool.)
//!
//! 1. `runner::run::state` deletes the DUT's connections with the commands of its recipe and waits until the DUT counts none.
//! 2. Phase 1 (`phases`): frame i of the Initiator opens connection i, at the rate R. The Responder accepts any source in the recipe's pool,
//!    compares every other field with what was sent, and learns the source.
//! 3. Between the phases the DUT is asked for its own count, and `mapping` looks for two connections with one four-tuple behind the DUT, and
//!    determines how sources were mapped (in the terms of RFC 4787).
//! 4. What follows is the trial's `TrialKind`. `Establish`: if all frames arrived, the Responder sends one frame on each connection, and all must come
//!    back. `TearDown`: the recipe's command deletes the connections, timed. Any other: phase 2, after the delay D; `TrialSpec::phase_one` says that phase
//!    1 comes first. If phase 1 lost a frame, there is no phase 2, and the trial is invalid (`PhaseOneIncomplete`).
//! 5. The DUT is asked again. If its counts are not ours (`ConnectionsDiffer`), one of the two extremes of the RFC does not hold, and the
//!    trial is invalid. Connections that a full table has replaced are the DUT's loss: validation finds them.
//!
//! A plan sets N and the rate R in `plan::Stateful`. Searches turn each load that they want into such a trial (`measures::procedure`),
//! and the search for the capacity of the table is a search of searches (`measures::table_capacity`).

mod conversation;
mod four_tuple;
mod mapping;
mod phases;
mod table;

pub(crate) use conversation::{Conversation, ConversationStep, mapped};
pub(crate) use four_tuple::{Enumeration, FourTuple};
pub(crate) use table::{Mapped, StateTable};

use sixbench_method::plan;
use sixbench_method::terms::Direction;

/// The settings of a stateful test that the engine needs in addition to its paths and ranges.
#[derive(Clone, Debug)]
pub struct StatefulGateway {
    /// The direction in which connections are opened, which is the Initiator's.
    pub opens: Direction,
    /// The test's settings; N and R are the trial's.
    pub settings: plan::Stateful,
    /// The addresses and ports that sources are translated to.
    pub pool: TranslationPool,
}

impl StatefulGateway {
    /// Returns M, the number of entries of the state table, for N connections.
    pub(crate) fn entries(&self, connections: u64) -> u64 {
        self.settings.state_table.min(connections)
    }
}

/// Addresses and ports to which sources are translated. The addresses differ from that of the path only in their last 16 bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TranslationPool {
    /// First and last of these 16 bits, of one or more ranges.
    pub parts: Vec<(u16, u16)>,
    /// First and last port.
    pub ports: (u16, u16),
}

impl TranslationPool {
    #[inline]
    pub(crate) fn contains(&self, source: Mapped) -> bool {
        (self.ports.0..=self.ports.1).contains(&source.port)
            && self
                .parts
                .iter()
                .any(|(first, last)| (*first..=*last).contains(&source.part))
    }

    /// Returns a source for messages about sources outside the pool.
    pub(crate) fn first(&self) -> Mapped {
        Mapped {
            part: self.parts.first().map_or(0, |part| part.0),
            port: self.ports.0,
        }
    }
}
