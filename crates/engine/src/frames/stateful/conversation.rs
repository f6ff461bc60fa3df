//! The connection to which a frame belongs, and its ports and addresses on either side of the DUT.

use super::table::place;
use super::{Enumeration, FourTuple, Mapped, StateTable, StatefulGateway, TranslationPool};
use crate::frames::profile::{AddressVariation, TrafficProfile};
use crate::frames::side::{AddressField, Viewpoint, version};
use sixbench_method::plan::ValueOrder;
use sixbench_method::terms::Direction;
use sixbench_stats::{MIX_STEP, mix};
use sixbench_wire::template::{part_of, with_part};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

/// The step of a stateful trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConversationStep {
    /// Phase 1: frame i of the Initiator opens connection i.
    Open,
    /// The Responder sends one frame on each connection that it knows.
    Validate,
    /// Phase 2: both ends send on pseudorandom connections, or in turn.
    Use,
}

/// The connections of a trial.
#[derive(Clone, Debug)]
pub(crate) struct Conversation {
    pub(crate) step: ConversationStep,
    pub(crate) table: Arc<StateTable>,
    enumeration: Enumeration,
    /// The first source and destination port of the Initiator's frames.
    first_ports: (u16, u16),
    /// N, the number of connections.
    connections: u64,
    orders: Orders,
    pub(crate) pool: TranslationPool,
    /// The Initiator's address and its peer's, on the Initiator's link.
    ends: [VariableAddress; 2],
    key: u64,
}

/// An address with its variable 32 bits.
#[derive(Clone, Copy, Debug)]
struct VariableAddress {
    address: IpAddr,
    at: usize,
    field: AddressField,
}

impl VariableAddress {
    fn new(address: IpAddr, variation: AddressVariation) -> Self {
        let version = version(address);
        let at = variation.begins_at(version);
        Self {
            address,
            at,
            field: AddressField::new(variation, version, part_of(address, at)),
        }
    }

    fn with(self, place: u32) -> IpAddr {
        with_part(self.address, self.at, self.field.at(place))
    }
}

#[derive(Clone, Copy, Debug)]
struct Orders {
    initiator: ValueOrder,
    responder: ValueOrder,
}

/// The places of the source and destination address, and the ports. The place of a translated source is its 16 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FourTupleFields {
    pub(crate) places: (u32, u32),
    pub(crate) ports: (u16, u16),
}

impl Conversation {
    /// Returns the connections; `None` if the ranges have too few combinations, or more than can be numbered.
    pub(crate) fn new(
        profile: &TrafficProfile,
        gateway: &StatefulGateway,
        connections: u64,
    ) -> Option<Self> {
        let ports = profile.ports(gateway.opens);
        let (source, destination) = profile.variations(gateway.opens);
        let ends = profile.paths(gateway.opens).foreground.sent.ends;
        let order = gateway.settings.enumeration;
        let mut addresses = [source, destination].map(AddressVariation::count);
        if let Some(subscribers) = profile
            .subscribers
            .as_ref()
            .filter(|_| gateway.opens == Direction::Forward)
        {
            addresses[0] = subscribers.count();
        }
        let enumeration = Enumeration::new(
            [ports.source, ports.destination],
            addresses,
            order,
            mix(profile.seed),
        )?;
        (connections <= enumeration.size()).then(|| Self {
            step: ConversationStep::Open,
            table: Arc::new(StateTable::new(gateway.entries(connections), connections)),
            enumeration,
            first_ports: (ports.source.first, ports.destination.first),
            // At least one, since `place` divides by it.
            connections: connections.max(1),
            orders: Orders {
                initiator: order,
                responder: gateway.settings.responder,
            },
            pool: gateway.pool.clone(),
            ends: [
                VariableAddress::new(ends.source, source),
                VariableAddress::new(ends.destination, destination),
            ],
            // Another key than that of the enumeration. Any constant would do; this one is the multiplier of MurmurHash2.
            key: mix(profile.seed ^ 0x5bd1_e995),
        })
    }

    /// Returns the number of four-tuples in the ranges.
    pub(crate) fn combinations(&self) -> u64 {
        self.enumeration.size()
    }

    /// Returns the same connections for another step.
    pub(crate) fn at(&self, step: ConversationStep) -> Self {
        Self {
            step,
            ..self.clone()
        }
    }

    /// Returns the connection for frame `index` of its sender.
    #[inline]
    pub(crate) fn connection(&self, view: Viewpoint, index: u64) -> u64 {
        match (self.step, view.of_initiator) {
            (ConversationStep::Open, _) => index,
            (ConversationStep::Validate, _) => self.table.connection_at(index % self.table.len()),
            (ConversationStep::Use, true) => place(
                self.connections,
                self.orders.initiator,
                index,
                self.random(index),
            ),
            // The complement of the random number, so that the two ends do not use the same connections at the same time.
            (ConversationStep::Use, false) => self.table.connection_at(self.table.place(
                self.orders.responder,
                index,
                !self.random(index),
            )),
        }
    }

    #[inline]
    fn random(&self, index: u64) -> u64 {
        mix(self.key.wrapping_add(index.wrapping_mul(MIX_STEP)))
    }

    /// Returns the four-tuple of the Initiator's frames on a connection, as sent on its own link.
    #[inline]
    pub(crate) fn tuple(&self, connection: u64) -> FourTuple {
        self.enumeration.tuple(connection)
    }

    /// Returns the source and destination port of the Initiator's frames on its own link.
    pub(crate) fn ports(&self, tuple: FourTuple) -> (u16, u16) {
        (
            self.first_ports.0.wrapping_add(tuple.source_port),
            self.first_ports.1.wrapping_add(tuple.destination_port),
        )
    }

    /// Returns a description of a connection from the Initiator's point of view.
    pub(crate) fn describe(&self, connection: u64) -> String {
        let tuple = self.tuple(connection);
        let ports = self.ports(tuple);
        let ends = [
            self.ends[0].with(tuple.source),
            self.ends[1].with(tuple.destination),
        ];
        let [source, destination] = [
            SocketAddr::new(ends[0], ports.0),
            SocketAddr::new(ends[1], ports.1),
        ];
        format!("connection {connection}, {source} to {destination}")
    }

    /// Returns a description in one line of a connection whose only frame was lost; `None` in phase 2, where every connection has many.
    pub(crate) fn explain_missing(&self, connection: u64) -> Option<String> {
        let what = match self.step {
            ConversationStep::Open => "its frame did not arrive",
            ConversationStep::Validate => "the Responder's frame did not come back",
            ConversationStep::Use => return None,
        };
        Some(format!("{}: {what}", self.describe(connection)))
    }

    /// Returns the fields of a frame on a connection. `seen` is the source of a frame that has arrived: if the table does not know the
    /// connection, that source counts as right if it is in the pool. A frame whose source is not known has the pool's first.
    #[inline]
    pub(crate) fn fields(
        &self,
        view: Viewpoint,
        connection: u64,
        seen: Option<Mapped>,
    ) -> FourTupleFields {
        let tuple = self.tuple(connection);
        let (own_port, other_port) = self.ports(tuple);
        let own = if view.at_initiator {
            (tuple.source, own_port)
        } else {
            let Mapped { part, port } = self.source(connection, seen);
            (u32::from(part), port)
        };
        let other = (tuple.destination, other_port);
        let (from, to) = if view.of_initiator {
            (own, other)
        } else {
            (other, own)
        };
        FourTupleFields {
            places: (from.0, to.0),
            ports: (from.1, to.1),
        }
    }

    #[inline]
    fn source(&self, connection: u64, seen: Option<Mapped>) -> Mapped {
        let known = if self.step == ConversationStep::Open {
            None
        } else {
            self.table.get(connection)
        };
        known
            .or(seen.filter(|seen| self.pool.contains(*seen)))
            .unwrap_or_else(|| self.pool.first())
    }

    /// Returns whether sources are learned in this step, on this side.
    pub(crate) fn learns(&self, view: Viewpoint) -> bool {
        self.step == ConversationStep::Open && view.is_translated()
    }

    /// Learns the source of a frame that was right.
    #[inline]
    pub(crate) fn learn(&self, view: Viewpoint, connection: u64, source: Mapped) {
        if self.learns(view) {
            self.table.learn(connection, source);
        }
    }
}

/// Returns the source of an arrived frame as it is stored in the table.
#[inline]
pub(crate) fn mapped(address: IpAddr, port: u16) -> Mapped {
    let part = match address {
        IpAddr::V4(address) => u16::from_be_bytes([address.octets()[2], address.octets()[3]]),
        IpAddr::V6(address) => address.segments()[7],
    };
    Mapped { part, port }
}
