//! The mapping behaviour of each DUT, in the terms of RFC 4787.

use crate::digest::Digest;
use crate::layout::cell::Cell;
use crate::layout::table::{Column, Table};
use sixbench_method::plan::Test;
use sixbench_method::trial::Mapping;

/// The mapping behaviour of a device.
struct MappingRow<'d> {
    device: &'d str,
    mapping: Mapping,
}

pub(super) fn table(digest: &Digest) -> Table {
    let rows = digest
        .stateful_duts()
        .into_iter()
        .filter_map(|test| row(digest, test));
    Table::new("Mapping behaviour", columns(), rows).with_note(
        "Terms of RFC 4787 section 4.1, from the trial with the most connections. Ports preserved: connections whose source \
         port was not changed (section 4.2.1). Addresses: different source addresses on the side of the Responder. Sources: \
         pairs of address and port that had several destinations (a sample if there are many): those whose mapping was the \
         same for all destinations, depended on the address, or depended on address and port. Collisions: connections of all \
         trials that arrived with the same four-tuple as another one.",
    )
}

fn row<'d>(digest: &'d Digest, test: &'d Test) -> Option<MappingRow<'d>> {
    Some(MappingRow {
        device: digest.dut_title(test),
        mapping: digest.mapping(&test.dut)?,
    })
}

fn columns<'d>() -> Vec<Column<'d, MappingRow<'d>>> {
    vec![
        Column::text("Device", |row: &MappingRow| row.device),
        Column::text("Mapping", |row: &MappingRow| behaviour(&row.mapping)),
        Column::number("Connections", |row: &MappingRow| {
            Cell::Count(row.mapping.seen)
        }),
        Column::number("Ports preserved", |row: &MappingRow| {
            share(row.mapping.ports_preserved, row.mapping.seen)
        }),
        Column::number("Addresses", |row: &MappingRow| {
            Cell::Count(row.mapping.addresses)
        }),
        Column::number_in("Sources", "Seen", |row: &MappingRow| {
            Cell::Count(row.mapping.sources)
        }),
        Column::number_in("Sources", "Independent", |row: &MappingRow| {
            row.share_of_sources(row.mapping.endpoint_independent)
        }),
        Column::number_in("Sources", "By address", |row: &MappingRow| {
            row.share_of_sources(row.mapping.address_dependent)
        }),
        Column::number_in("Sources", "By address and port", |row: &MappingRow| {
            row.share_of_sources(row.mapping.address_and_port_dependent)
        }),
        Column::number("Collisions", |row: &MappingRow| {
            Cell::Count(row.mapping.collisions)
        }),
    ]
}

impl MappingRow<'_> {
    fn share_of_sources(&self, count: u64) -> Option<Cell> {
        share(count, self.mapping.sources)
    }
}

fn share(count: u64, of: u64) -> Option<Cell> {
    (of > 0).then(|| Cell::Share(count as f64 / of as f64))
}

fn kinds(mapping: &Mapping) -> [(&'static str, u64); 3] {
    [
        ("endpoint-independent", mapping.endpoint_independent),
        ("address-dependent", mapping.address_dependent),
        (
            "address- and port-dependent",
            mapping.address_and_port_dependent,
        ),
    ]
}

/// Returns the mapping behaviour common to all sources, or a phrase saying that it was not seen or differed between sources, in which case the numbers
/// give the details.
fn behaviour(mapping: &Mapping) -> &'static str {
    let present: Vec<_> = kinds(mapping)
        .into_iter()
        .filter(|(_, count)| *count > 0)
        .collect();
    match present.as_slice() {
        [] => "not seen: no source had several destinations",
        [(name, _)] => name,
        _ => "not the same for all sources",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapping_is_named_where_all_sources_had_it() {
        let mapping = Mapping {
            sources: 3,
            endpoint_independent: 3,
            ..Mapping::default()
        };
        assert_eq!(behaviour(&mapping), "endpoint-independent");
        assert_eq!(
            behaviour(&Mapping {
                address_dependent: 1,
                ..mapping
            }),
            "not the same for all sources"
        );
        assert!(behaviour(&Mapping::default()).starts_with("not seen"));
    }
}
