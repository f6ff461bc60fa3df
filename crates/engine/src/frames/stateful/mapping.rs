//! The DUT's mapping of the connections, from the state table after phase 1: whether any two collide, whether ports are preserved, and whether
//! the mapping is endpoint-independent (RFC 4787 section 4.1). This runs between the phases: it may allocate and sort.

use super::conversation::Conversation;
use super::{FourTuple, Mapped};
use crate::mix::mix;
use sixbench_method::trial::Mapping;
use std::collections::BTreeSet;

/// The number of sources from which the kind of mapping is determined: enough to be certain, few enough to sort quickly.
const SAMPLE: u64 = 200_000;

/// Returns the mapping seen in the table, and the pairs of connections that arrived with the same four-tuple.
pub(super) fn mapping(conversation: &Conversation) -> (Mapping, Vec<(u64, u64)>) {
    let mut mapping = Mapping::default();
    let mut parts = BTreeSet::new();
    for (connection, source) in conversation.table.iter() {
        mapping.seen += 1;
        mapping.ports_preserved += u64::from(conversation.ports(conversation.tuple(connection)).0 == source.port);
        parts.insert(source.part);
    }
    mapping.addresses = parts.len() as u64;
    let collisions = collisions(conversation);
    mapping.collisions = collisions.len() as u64;
    depend(conversation, &mut mapping);
    (mapping, collisions)
}

/// A connection as seen by the Responder.
type Outside = (Mapped, u32, u16);

fn outside(tuple: FourTuple, source: Mapped) -> Outside {
    (source, tuple.destination, tuple.destination_port)
}

/// Compares hashes first, with eight octets per connection; only connections with equal hashes are compared again.
fn collisions(conversation: &Conversation) -> Vec<(u64, u64)> {
    let hash = |(source, destination, port): Outside| {
        let far = u64::from(destination) << 16 | u64::from(port);
        mix(mix(far) ^ (u64::from(source.part) << 16 | u64::from(source.port)))
    };
    let hashed = |connection, source| hash(outside(conversation.tuple(connection), source));
    let mut hashes: Vec<u64> = conversation.table.iter().map(|(connection, source)| hashed(connection, source)).collect();
    hashes.sort_unstable();
    let twice: BTreeSet<u64> = hashes.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
    if twice.is_empty() {
        return Vec::new();
    }
    let mut suspects: Vec<(Outside, u64)> = conversation
        .table
        .iter()
        .map(|(connection, source)| (outside(conversation.tuple(connection), source), connection))
        .filter(|(outside, _)| twice.contains(&hash(*outside)))
        .collect();
    suspects.sort_unstable();
    suspects.windows(2).filter(|pair| pair[0].0 == pair[1].0).map(|pair| (pair[0].1, pair[1].1)).collect()
}

/// The source, the destination, and the mapped source.
type SeenMapping = ((u32, u16), (u32, u16), Mapped);

fn depend(conversation: &Conversation, mapping: &mut Mapping) {
    let every = mapping.seen.div_ceil(SAMPLE).max(1);
    let mut seen: Vec<SeenMapping> = Vec::new();
    for (connection, source) in conversation.table.iter() {
        let tuple = conversation.tuple(connection);
        let own = (tuple.source, tuple.source_port);
        // All connections of a source are taken, or none of them.
        if mix(u64::from(own.0) << 16 | u64::from(own.1)).is_multiple_of(every) {
            seen.push((own, (tuple.destination, tuple.destination_port), source));
        }
    }
    seen.sort_unstable();
    for of_source in seen.chunk_by(|a, b| a.0 == b.0).filter(|of_source| of_source.len() > 1) {
        mapping.sources += 1;
        *classify(of_source, mapping) += 1;
    }
}

fn classify<'m>(of_source: &[SeenMapping], mapping: &'m mut Mapping) -> &'m mut u64 {
    let is_one = |connections: &[SeenMapping]| connections.windows(2).all(|pair| pair[0].2 == pair[1].2);
    if is_one(of_source) {
        &mut mapping.endpoint_independent
    } else if of_source.chunk_by(|a, b| a.1.0 == b.1.0).all(is_one) {
        &mut mapping.address_dependent
    } else {
        &mut mapping.address_and_port_dependent
    }
}

#[cfg(test)]
mod tests {
    use super::super::{StatefulGateway, TranslationPool};
    use super::*;
    use crate::frames::profile::{AddressVariation, TrafficProfile};
    use sixbench_method::plan::{AddressPart, Ports, Stateful, ValueOrder, ValueRange};
    use sixbench_method::terms::{Direction, FrameRate, FrameSize};

    fn range(first: u16, last: u16) -> ValueRange {
        ValueRange { first, last, order: ValueOrder::Pseudorandom }
    }

    /// Returns 120 connections: 10 source ports, and 4 ports on each of 3 destinations.
    fn conversation(map: impl Fn(FourTuple) -> Mapped) -> Conversation {
        let address = |text: &str| text.parse().expect("address");
        let addresses = ValueRange { first: 2, last: 4, order: ValueOrder::Pseudorandom };
        let part = AddressPart { range: addresses, ipv4_offset: 2, ipv6_offset: 14 };
        let profile = TrafficProfile {
            forward_ports: Ports { source: range(1000, 1009), destination: range(1, 4) },
            right_variation: AddressVariation::Part(part),
            ..TrafficProfile::identity(address("10.0.0.2"), address("198.19.0.2"), FrameSize(84))
        };
        let gateway = StatefulGateway {
            opens: Direction::Forward,
            settings: Stateful::new(120, FrameRate(1), 0),
            pool: TranslationPool { parts: vec![(1, 9)], ports: (1, 65535) },
        };
        let conversation = Conversation::new(&profile, &gateway, 120).expect("enough combinations");
        (0..120).for_each(|connection| conversation.table.learn(connection, map(conversation.tuple(connection))));
        conversation
    }

    fn preserving(tuple: FourTuple) -> Mapped {
        Mapped { part: 1, port: 1000 + tuple.source_port }
    }

    #[test]
    fn a_nat_that_keeps_ports_is_endpoint_independent() {
        let (mapping, collisions) = mapping(&conversation(preserving));
        assert!(collisions.is_empty());
        assert_eq!((mapping.seen, mapping.ports_preserved, mapping.addresses), (120, 120, 1));
        assert_eq!((mapping.sources, mapping.endpoint_independent), (10, 10));
    }

    #[test]
    fn mappings_that_depend_on_the_destination_are_told_apart() {
        let by_address = |tuple: FourTuple| Mapped { part: 1 + tuple.destination as u16, ..preserving(tuple) };
        let (of_address, _) = mapping(&conversation(by_address));
        assert_eq!((of_address.address_dependent, of_address.endpoint_independent, of_address.addresses), (10, 0, 3));
        let by_port = |tuple: FourTuple| Mapped { port: 2000 + 10 * tuple.destination_port + tuple.source_port, part: 1 };
        let (of_port, _) = mapping(&conversation(by_port));
        assert_eq!((of_port.address_and_port_dependent, of_port.ports_preserved), (10, 0));
    }

    #[test]
    fn two_connections_with_one_four_tuple_collide() {
        let mixed_up =
            |tuple: FourTuple| if tuple.source_port == 3 { Mapped { part: 1, port: 1004 } } else { preserving(tuple) };
        let conversation = conversation(mixed_up);
        let (mapping, collisions) = mapping(&conversation);
        assert_eq!((mapping.collisions, collisions.len()), (12, 12));
        for (one, other) in collisions {
            let ports = [one, other].map(|connection| conversation.tuple(connection).source_port);
            assert!(ports.contains(&3) && ports.contains(&4), "{ports:?}");
        }
    }
}
