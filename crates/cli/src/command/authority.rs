//! `sixbench authority`: runs the tester's own authoritative name server alone, or writes its zone file for another server.

use super::isolation;
use crate::args;
use crate::exit::{Exit, Failed};
use crate::output::{self, tell};
use sixbench_engine::dns::authority::{AddressZone, Service};
use sixbench_engine::dns::names::NamePopulation;
use sixbench_engine::dns::zone_file;
use sixbench_method::plan::Names;
use sixbench_method::trial::dns::AuthorityCounts;
use sixbench_runner::owner::give_up_root;
use sixbench_runner::stop;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::thread::available_parallelism;

/// Serves until it is interrupted, or writes the zone file.
pub(crate) fn authority(arguments: args::AuthorityArgs) -> Result<Exit, Failed> {
    let population = NamePopulation {
        with_aaaa: arguments.with_aaaa,
    };
    let zone = AddressZone {
        domain: arguments.domain,
        population,
        ttl_s: arguments.ttl_s,
    };
    if let Some(names) = arguments.zone_file {
        give_up_root(&[])?;
        return write(&zone, names);
    }
    let threads = arguments
        .threads
        .or_else(|| available_parallelism().ok())
        .map_or(1, NonZeroUsize::get);
    let stop = stop::install()?;
    let zone = Arc::new(zone);
    let listen = isolation(arguments.force).admit(arguments.listen)?;
    let service = Service::bind(&listen, &zone, threads)
        .map_err(|error| Failed::new(Exit::Testbed, error))?;
    tell!("{}", introduction(&service, &zone));
    // The sockets are open, and nothing has been read from them.
    give_up_root(&[])?;
    let counts = service.run(&stop)?;
    tell!("{}", summary_line(&counts));
    Ok(Exit::Done)
}

fn introduction(service: &Service, zone: &AddressZone) -> String {
    let listening: Vec<String> = service.local().iter().map(ToString::to_string).collect();
    let AddressZone {
        domain, population, ..
    } = zone;
    format!(
        "{domain}: listening on {} over UDP and TCP; {} % of the names have an AAAA record; press Ctrl-C to stop",
        listening.join(", "),
        population.with_aaaa
    )
}

fn summary_line(counts: &AuthorityCounts) -> String {
    let AuthorityCounts {
        aaaa,
        a,
        other,
        malformed,
        over_tcp,
        overruns,
        ..
    } = counts;
    format!(
        "queries: {aaaa} AAAA, {a} A, {other} other, of these {over_tcp} over TCP; malformed {malformed}, lost {overruns}"
    )
}

/// Writes the zone file to stdout, which is open: it needs no right of root.
fn write(zone: &AddressZone, names: Names) -> Result<Exit, Failed> {
    tell!("{} lines", zone_file::lines(zone, names));
    output::stream(|out| zone_file::write_zone(out, zone, names))?;
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_told_in_a_line() {
        let counts = AuthorityCounts {
            aaaa: 7,
            a: 5,
            other: 1,
            over_tcp: 2,
            overruns: 3,
            ..AuthorityCounts::default()
        };
        assert_eq!(
            summary_line(&counts),
            "queries: 7 AAAA, 5 A, 1 other, of these 2 over TCP; malformed 0, lost 3"
        );
    }
}
