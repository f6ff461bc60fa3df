//! Tests of stateful gateways (RFC 9693): an Initiator that opens connections, a Responder that learns how the DUT mapped them, and then frames
//! from both on these connections only.
//!
//! A connection is a number. The fields that the Initiator sends on it follow from the number, and the source to which the DUT translated them is
//! in the state table, so every field of every frame of phase 2 is known before it arrives, on either side.

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
        let is_within = |(first, last): &(u16, u16)| (*first..=*last).contains(&source.part);
        (self.ports.0..=self.ports.1).contains(&source.port) && self.parts.iter().any(is_within)
    }

    /// Returns a source for messages about sources outside the pool.
    pub(crate) fn first(&self) -> Mapped {
        Mapped { part: self.parts.first().map_or(0, |part| part.0), port: self.ports.0 }
    }
}
