//! The tables that the paragraphs refer to, except that of the parameters.

use crate::Input;
use crate::conformance;
use crate::digest::Digest;
use crate::layout::table::Table;
use sixbench_method::record::DutFacts;

/// Returns a table of the tests with their devices and measures.
pub(super) fn tests(digest: &Digest<'_>) -> Table {
    let rows = digest.input.plan.tests.iter().map(|test| {
        let sizes: Vec<String> = test.frame_sizes.iter().map(ToString::to_string).collect();
        let sizes = if test.measure.needs_hosts() { "\u{2013}".to_owned() } else { sizes.join(", ") };
        let term = &test.measure.info().term;
        vec![test.name.clone(), digest.dut_title(test).to_owned(), term.name.to_owned(), term.clause.to_owned(), sizes]
    });
    Table::new("Tests", ["Test", "Device", "Measurement", "Defined in", "Frame sizes"]).with_rows(rows)
}

/// Returns a table of the devices with their versions.
pub(super) fn devices(input: &Input) -> Table {
    let joined = |dut: &DutFacts| if dut.in_memory { "shared memory" } else { "Ethernet interfaces" }.to_owned();
    let version = |dut: &DutFacts| dut.version.lines().next().unwrap_or_default().to_owned();
    let rows = input.facts.duts.iter().map(|(name, dut)| {
        let title = if dut.title.is_empty() { name.clone() } else { dut.title.clone() };
        vec![name.clone(), title, version(dut), dut.technology.clone(), joined(dut)]
    });
    Table::new("Devices under test", ["Recipe", "Device", "Version", "Technology", "Joined by"]).with_rows(rows)
}

/// Returns a table of the facts of the tester's machine, and of the machines that devices have to themselves.
pub(super) fn machine(input: &Input) -> Table {
    let row = |of: &str, (name, value): (&String, &String)| vec![of.to_owned(), name.clone(), value.clone()];
    let own = input.facts.host.iter().map(|fact| row("tester", fact));
    let of_duts = input.facts.duts.iter().flat_map(|(name, dut)| dut.machine.iter().map(move |fact| row(name, fact)));
    Table::new("Machines", ["Machine", "Fact", "Value"]).with_rows(own.chain(of_duts))
}

/// Returns a table of the clauses that are bent or broken.
pub(super) fn deviations(input: &Input) -> Table {
    let departures = conformance::departures(&conformance::table(input));
    Table { title: "Deviations from the RFCs".to_owned(), ..departures }
}
