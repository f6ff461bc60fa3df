//! The connections of a stateful device in a trial, in the terms of RFC 9693 and, for its mapping of sources, of RFC 4787.

use sixbench_method::trial::{Connections, Mapping};
use sixbench_method::units::{counted, show_rate};

/// Returns the results of the connections, on separate lines from those of the directions.
pub fn connections(connections: &Connections) -> String {
    let mut lines = vec![opened(connections)];
    lines.extend(counted_by_the_device(connections));
    if connections.delay_ns > 0 {
        lines.push(format!(
            "phase 2 began {:.3} s after the first frame of phase 1",
            connections.delay_ns as f64 / 1e9
        ));
    }
    lines.extend(
        connections
            .torn_down_ns
            .map(|ns| format!("deleted by the device in {:.3} s", ns as f64 / 1e9)),
    );
    if connections.mapping.seen > 0 {
        lines.extend(mapped(&connections.mapping));
    }
    lines.extend(
        connections
            .icmp_errors
            .iter()
            .map(|errors| errors.sentence(connections.offered)),
    );
    lines.extend(connections.examples.iter().cloned());
    let indented = |(place, line): (usize, &String)| match place {
        0 => format!("  phase 1  {line}\n"),
        _ => format!("           {line}\n"),
    };
    lines.iter().enumerate().map(indented).collect()
}

fn opened(connections: &Connections) -> String {
    let Connections {
        established,
        offered,
        state_table,
        ..
    } = connections;
    let rate = show_rate(connections.rate);
    format!(
        "established {established} of {} at {rate}/s, state table of {state_table}",
        counted(*offered, "connection")
    )
}

/// Returns the DUT's counts of its connections at each time they were read; `None` if there is no count.
fn counted_by_the_device(connections: &Connections) -> Option<String> {
    let counted = connections.counted?;
    let before = connections
        .counted_before
        .filter(|before| *before > 0)
        .map(|before| format!(", {before} before it"));
    let after = connections
        .counted_after
        .map(|after| format!(", {after} at the end"));
    Some(format!(
        "counted by the device: {counted} after phase 1{}{}",
        before.unwrap_or_default(),
        after.unwrap_or_default()
    ))
}

/// Returns the DUT's mapping behaviour in the words of RFC 4787 sections 4.1 and 4.2.1.
fn mapped(mapping: &Mapping) -> Vec<String> {
    let behaviours = [
        ("endpoint-independent mapping", mapping.endpoint_independent),
        ("address-dependent mapping", mapping.address_dependent),
        (
            "address and port-dependent mapping",
            mapping.address_and_port_dependent,
        ),
    ];
    let of = mapping.sources;
    let seen: Vec<String> = behaviours
        .iter()
        .filter(|(_, n)| *n > 0)
        .map(|(name, n)| share(name, *n, of))
        .collect();
    let behaviour = match &seen[..] {
        [] => "mapping behaviour unknown: no source had several destinations".to_owned(),
        [one] => format!("{one} sources with several destinations"),
        several => format!("{} sources with several destinations", several.join(", ")),
    };
    let addresses = counted(mapping.addresses, "external address");
    let mut lines = vec![
        behaviour,
        format!(
            "{}; {addresses}",
            share("port preservation", mapping.ports_preserved, mapping.seen)
        ),
    ];
    if mapping.collisions > 0 {
        lines.push(format!(
            "mixed up: {} {} the same four-tuple as another one behind the device",
            counted(mapping.collisions, "connection"),
            if mapping.collisions == 1 {
                "has"
            } else {
                "have"
            }
        ));
    }
    lines
}

fn share(what: &str, n: u64, of: u64) -> String {
    if n == of {
        format!("{what}: all {of}")
    } else {
        format!("{what}: {n} of {of}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixbench_method::terms::FrameRate;

    const MAPPING: Mapping = Mapping {
        seen: 10_000,
        ports_preserved: 10_000,
        addresses: 1,
        collisions: 0,
        sources: 700,
        endpoint_independent: 700,
        address_dependent: 0,
        address_and_port_dependent: 0,
    };

    fn opened(mapping: Mapping) -> Connections {
        Connections {
            offered: 10_000,
            established: 9_999,
            rate: FrameRate(20_000),
            state_table: 10_000,
            delay_ns: 1_500_000_000,
            mapping,
            counted_before: Some(0),
            counted: Some(10_000),
            counted_after: Some(10_001),
            torn_down_ns: None,
            examples: vec!["10.0.0.2:1024 -> 198.18.0.2:1 was lost".to_owned()],
            icmp_errors: Vec::new(),
        }
    }

    #[test]
    fn what_became_of_the_connections_is_told_in_the_words_of_the_rfcs() {
        let mixed = Mapping {
            ports_preserved: 8_000,
            addresses: 4,
            collisions: 2,
            endpoint_independent: 100,
            address_and_port_dependent: 600,
            ..MAPPING
        };
        let unseen = Mapping {
            sources: 0,
            endpoint_independent: 0,
            ..MAPPING
        };
        let told: Vec<String> = [MAPPING, mixed, unseen]
            .map(|mapping| connections(&opened(mapping)))
            .into();
        insta::assert_snapshot!(told.join("\n"));
    }
}
