//! The tables that the paragraphs refer to, except that of the parameters.

use crate::Input;
use crate::conformance::ReportedClauses;
use crate::digest::Digest;
use crate::layout::table::{Column, Table};
use sixbench_method::plan::Test;
use sixbench_method::record::DutFacts;
use std::collections::BTreeMap;

/// Returns a table of the tests with their devices and measures.
pub(super) fn tests(digest: &Digest<'_>) -> Table {
    let columns = [
        Column::text("Test", |test: &&Test| test.name.clone()),
        Column::text("Device", |test: &&Test| digest.dut_title(test)),
        Column::text("Measurement", |test: &&Test| test.measure.info().term.name),
        Column::text("Defined in", |test: &&Test| test.measure.info().term.clause),
        Column::text("Frame sizes", |test: &&Test| sizes(test)),
    ];
    Table::new("Tests", columns, &digest.input.plan.tests)
}

fn sizes(test: &Test) -> Option<String> {
    test.measure
        .family()
        .has_frame_sizes()
        .then(|| test.sizes_in_words())
}

/// A device, with the name of its recipe.
struct DutRow<'d> {
    recipe: &'d str,
    dut: &'d DutFacts,
}

/// Returns a table of the devices with their versions.
pub(super) fn devices(input: &Input) -> Table {
    let columns = [
        Column::text("Recipe", |row: &DutRow| row.recipe),
        Column::text("Device", |row: &DutRow| {
            if row.dut.title.is_empty() {
                row.recipe
            } else {
                &row.dut.title
            }
            .to_owned()
        }),
        Column::text("Version", |row: &DutRow| {
            row.dut
                .version
                .lines()
                .next()
                .unwrap_or_default()
                .to_owned()
        }),
        Column::text("Technology", |row: &DutRow| row.dut.technology.clone()),
        Column::text("Joined by", |row: &DutRow| {
            if row.dut.in_memory {
                "shared memory"
            } else {
                "Ethernet interfaces"
            }
        }),
    ];
    Table::new(
        "Devices under test",
        columns,
        input
            .facts
            .duts
            .iter()
            .map(|(recipe, dut)| DutRow { recipe, dut }),
    )
}

struct MachineFact<'d> {
    machine: &'d str,
    fact: &'d str,
    value: &'d str,
}

/// Returns a table of the facts of the tester's machine, and of the machines that devices have to themselves.
pub(super) fn machine(input: &Input) -> Table {
    let columns = [
        Column::text("Machine", |row: &MachineFact| row.machine.to_owned()),
        Column::text("Fact", |row: &MachineFact| row.fact.to_owned()),
        Column::text("Value", |row: &MachineFact| row.value.to_owned()),
    ];
    let own = facts("tester", &input.facts.host);
    let of_duts = input
        .facts
        .duts
        .iter()
        .flat_map(|(name, dut)| facts(name, &dut.machine));
    Table::new("Machines", columns, own.chain(of_duts))
}

fn facts<'d>(
    machine: &'d str,
    facts: &'d BTreeMap<String, String>,
) -> impl Iterator<Item = MachineFact<'d>> {
    facts.iter().map(move |(fact, value)| MachineFact {
        machine,
        fact,
        value,
    })
}

/// Returns a table of the clauses that are bent or broken.
pub(super) fn deviations(input: &Input) -> Table {
    let departures = ReportedClauses::of_plan(input.plan).departures();
    Table {
        title: "Deviations from the RFCs".to_owned(),
        ..departures
    }
}
