//! The mapping behaviour of each DUT, in the terms of RFC 4787.

use crate::digest::Digest;
use crate::layout::table::Table;
use crate::wording::numbers::{percent, whole};
use sixbench_method::plan::Test;
use sixbench_method::trial::Mapping;

pub(super) fn table(digest: &Digest) -> Table {
    let columns = "Device; Mapping; #Connections; #Ports preserved; #Addresses; #Sources|Seen; #Sources|Independent; \
        #Sources|By address; #Sources|By address and port; #Collisions"
        .split("; ");
    let rows = digest.stateful_duts().into_iter().filter_map(|test| Some(row(digest, test, &digest.mapping(&test.dut)?)));
    Table::new("Mapping behaviour", columns).with_rows(rows).with_note(
        "Terms of RFC 4787 section 4.1, from the trial with the most connections. Ports preserved: connections whose source \
         port was not changed (section 4.2.1). Addresses: different source addresses on the side of the Responder. Sources: \
         pairs of address and port that had several destinations (a sample if there are many): those whose mapping was the \
         same for all destinations, depended on the address, or depended on address and port. Collisions: connections of all \
         trials that arrived with the same four-tuple as another one.",
    )
}

fn row(digest: &Digest, test: &Test, mapping: &Mapping) -> Vec<String> {
    let share = |count: u64, of: u64| if of == 0 { "–".to_owned() } else { percent(count as f64 / of as f64) };
    let Mapping { seen, ports_preserved, addresses, collisions, sources, .. } = *mapping;
    let mut row = vec![digest.dut_title(test).to_owned(), behaviour(mapping).to_owned(), whole(seen)];
    row.extend([share(ports_preserved, seen), whole(addresses), whole(sources)]);
    row.extend(kinds(mapping).map(|(_, count)| share(count, sources)));
    row.push(whole(collisions));
    row
}

fn kinds(mapping: &Mapping) -> [(&'static str, u64); 3] {
    [
        ("endpoint-independent", mapping.endpoint_independent),
        ("address-dependent", mapping.address_dependent),
        ("address- and port-dependent", mapping.address_and_port_dependent),
    ]
}

/// Returns the mapping behaviour common to all sources, or a phrase saying that it was not seen or differed between sources, in which case the numbers
/// give the details.
fn behaviour(mapping: &Mapping) -> &'static str {
    let present: Vec<_> = kinds(mapping).into_iter().filter(|(_, count)| *count > 0).collect();
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
        let mapping = Mapping { sources: 3, endpoint_independent: 3, ..Mapping::default() };
        assert_eq!(behaviour(&mapping), "endpoint-independent");
        assert_eq!(behaviour(&Mapping { address_dependent: 1, ..mapping }), "not the same for all sources");
        assert!(behaviour(&Mapping::default()).starts_with("not seen"));
    }
}
