//! The DUT's mapping of the connections, from the state table after phase 1: whether any two collide, whether ports are preserved, and whether
//! the mapping is endpoint-independent (RFC 4787 section 4.1). This runs between the phases: it may allocate and sort.

use super::conversation::Conversation;
use super::{FourTuple, Mapped};
use crate::memory::{LargeTable, OutOfMemory, reserved};
use sixbench_method::trial::Mapping;
use sixbench_stats::mix;
use std::collections::BTreeSet;

/// The number of sources from which the kind of mapping is determined: enough to be certain, few enough to sort quickly.
const SAMPLE: u64 = 200_000;

/// Returns the mapping seen in the table, and the pairs of connections that arrived with the same four-tuple.
///
/// # Errors
/// Their tables do not fit into memory. Most sizes depend on what the device did, so they are known only now.
pub(super) fn mapping(
    conversation: &Conversation,
) -> Result<(Mapping, Vec<(u64, u64)>), OutOfMemory> {
    let mut mapping = Mapping::default();
    let mut parts = BTreeSet::new();
    for (connection, source) in conversation.table.iter() {
        mapping.seen += 1;
        mapping.ports_preserved +=
            u64::from(conversation.ports(conversation.tuple(connection)).0 == source.port);
        parts.insert(source.part);
    }
    mapping.addresses = parts.len() as u64;
    let collisions = collisions(conversation)?;
    mapping.collisions = collisions.len() as u64;
    depend(conversation, &mut mapping)?;
    Ok((mapping, collisions))
}

/// A connection as seen by the Responder.
type Outside = (Mapped, u32, u16);

fn outside(tuple: FourTuple, source: Mapped) -> Outside {
    (source, tuple.destination, tuple.destination_port)
}

/// Compares hashes first, with eight octets per connection; only connections with equal hashes are compared again.
fn collisions(conversation: &Conversation) -> Result<Vec<(u64, u64)>, OutOfMemory> {
    let hash = |(source, destination, port): Outside| {
        let far = u64::from(destination) << 16 | u64::from(port);
        mix(mix(far) ^ (u64::from(source.part) << 16 | u64::from(source.port)))
    };
    let seen = || {
        let all = conversation.table.iter();
        all.map(|(connection, source)| {
            (outside(conversation.tuple(connection), source), connection)
        })
    };
    let mut hashes = collected(|| seen().map(|(outside, _)| hash(outside)))?;
    hashes.sort_unstable();
    keep_repeated(&mut hashes);
    let mut suspects =
        collected(|| seen().filter(|(outside, _)| hashes.binary_search(&hash(*outside)).is_ok()))?;
    suspects.sort_unstable();
    let collides = |pair: &&[(Outside, u64)]| pair[0].0 == pair[1].0;
    collected(|| {
        suspects
            .windows(2)
            .filter(collides)
            .map(|pair| (pair[0].1, pair[1].1))
    })
}

/// Returns all items in a vector of exactly their number; `items` is called twice, so that they can be counted first.
fn collected<I: Iterator>(items: impl Fn() -> I) -> Result<Vec<I::Item>, OutOfMemory> {
    let mut all = reserved(items().count(), LargeTable::Connections)?;
    all.extend(items());
    Ok(all)
}

/// Leaves of sorted values one of each that is there more than once.
fn keep_repeated(sorted: &mut Vec<u64>) {
    let mut kept = 0;
    for index in 1..sorted.len() {
        let value = sorted[index];
        // What was kept is below the previous index, so that it overwrites nothing that is still compared.
        if value == sorted[index - 1] && (kept == 0 || sorted[kept - 1] != value) {
            sorted[kept] = value;
            kept += 1;
        }
    }
    sorted.truncate(kept);
}

/// The source, the destination, and the mapped source.
type SeenMapping = ((u32, u16), (u32, u16), Mapped);

fn depend(conversation: &Conversation, mapping: &mut Mapping) -> Result<(), OutOfMemory> {
    let every = mapping.seen.div_ceil(SAMPLE).max(1);
    let as_seen = |(connection, source): (u64, Mapped)| {
        let tuple = conversation.tuple(connection);
        (
            (tuple.source, tuple.source_port),
            (tuple.destination, tuple.destination_port),
            source,
        )
    };
    // All connections of a source are taken, or none of them.
    let is_taken = |(own, _, _): &SeenMapping| {
        mix(u64::from(own.0) << 16 | u64::from(own.1)).is_multiple_of(every)
    };
    let mut seen = collected(|| conversation.table.iter().map(as_seen).filter(is_taken))?;
    seen.sort_unstable();
    for of_source in seen
        .chunk_by(|a, b| a.0 == b.0)
        .filter(|of_source| of_source.len() > 1)
    {
        mapping.sources += 1;
        *classify(of_source, mapping) += 1;
    }
    Ok(())
}

fn classify<'m>(of_source: &[SeenMapping], mapping: &'m mut Mapping) -> &'m mut u64 {
    let is_one =
        |connections: &[SeenMapping]| connections.windows(2).all(|pair| pair[0].2 == pair[1].2);
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
        ValueRange {
            first,
            last,
            order: ValueOrder::Pseudorandom,
        }
    }

    /// Returns 120 connections: 10 source ports, and 4 ports on each of 3 destinations.
    fn conversation(map: impl Fn(FourTuple) -> Mapped) -> Conversation {
        let address = |text: &str| text.parse().expect("address");
        let addresses = ValueRange {
            first: 2,
            last: 4,
            order: ValueOrder::Pseudorandom,
        };
        let part = AddressPart {
            range: addresses,
            ipv4_offset: 2,
            ipv6_offset: 14,
        };
        let profile = TrafficProfile {
            forward_ports: Ports {
                source: range(1000, 1009),
                destination: range(1, 4),
            },
            right_variation: AddressVariation::Part(part),
            ..TrafficProfile::identity(address("10.0.0.2"), address("198.19.0.2"), FrameSize(84))
        };
        let gateway = StatefulGateway {
            opens: Direction::Forward,
            settings: Stateful::new(120, FrameRate(1), 0),
            pool: TranslationPool {
                parts: vec![(1, 9)],
                ports: (1, 65535),
            },
        };
        let conversation = Conversation::new(&profile, &gateway, 120).expect("enough combinations");
        (0..120).for_each(|connection| {
            conversation
                .table
                .learn(connection, map(conversation.tuple(connection)));
        });
        conversation
    }

    fn preserving(tuple: FourTuple) -> Mapped {
        Mapped {
            part: 1,
            port: 1000 + tuple.source_port,
        }
    }

    #[test]
    fn a_nat_that_keeps_ports_is_endpoint_independent() {
        let (mapping, collisions) = mapping(&conversation(preserving)).expect("room");
        assert!(collisions.is_empty());
        assert_eq!(
            (mapping.seen, mapping.ports_preserved, mapping.addresses),
            (120, 120, 1)
        );
        assert_eq!((mapping.sources, mapping.endpoint_independent), (10, 10));
    }

    #[test]
    fn mappings_that_depend_on_the_destination_are_told_apart() {
        let by_address = |tuple: FourTuple| Mapped {
            part: 1 + tuple.destination as u16,
            ..preserving(tuple)
        };
        let (of_address, _) = mapping(&conversation(by_address)).expect("room");
        assert_eq!(
            (
                of_address.address_dependent,
                of_address.endpoint_independent,
                of_address.addresses
            ),
            (10, 0, 3)
        );
        let by_port = |tuple: FourTuple| Mapped {
            port: 2000 + 10 * tuple.destination_port + tuple.source_port,
            part: 1,
        };
        let (of_port, _) = mapping(&conversation(by_port)).expect("room");
        assert_eq!(
            (of_port.address_and_port_dependent, of_port.ports_preserved),
            (10, 0)
        );
    }

    #[test]
    fn two_connections_with_one_four_tuple_collide() {
        let mixed_up = |tuple: FourTuple| {
            if tuple.source_port == 3 {
                Mapped {
                    part: 1,
                    port: 1004,
                }
            } else {
                preserving(tuple)
            }
        };
        let conversation = conversation(mixed_up);
        let (mapping, collisions) = mapping(&conversation).expect("room");
        assert_eq!((mapping.collisions, collisions.len()), (12, 12));
        for (one, other) in collisions {
            let ports = [one, other].map(|connection| conversation.tuple(connection).source_port);
            assert!(ports.contains(&3) && ports.contains(&4), "{ports:?}");
        }
    }

    #[test]
    fn repeated_values_are_kept_once() {
        let mut values = vec![1, 1, 2, 3, 3, 3, 3, 4, 5, 5];
        keep_repeated(&mut values);
        assert_eq!(values, [1, 3, 5]);
        values.truncate(1);
        keep_repeated(&mut values);
        assert!(values.is_empty());
    }
}
