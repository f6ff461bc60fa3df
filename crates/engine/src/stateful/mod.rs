//! Tests of stateful gateways (RFC 9693): an Initiator that opens connections, a Responder that learns how the DUT mapped them, and then
//! frames of both on these connections only.
//!
//! A connection is a number. What the Initiator sends on it follows from the number, what the DUT made of its source is in the state table:
//! so every frame of phase 2 is known in every field before it arrives, on either side.

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

/// The settings of a stateful test that the engine needs beside its paths and ranges.
#[derive(Clone, Debug)]
pub struct StatefulGateway {
    /// The direction in which connections are opened: that of the Initiator.
    pub opens: Direction,
    /// The test's settings; N and R are those of the trial.
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

/// Addresses and ports that sources are translated to. The addresses differ from that of the path in their last 16 bits only.
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

    /// A source to be named where one outside was seen.
    pub(crate) fn first(&self) -> Mapped {
        Mapped { part: self.parts.first().map_or(0, |part| part.0), port: self.ports.0 }
    }
}
