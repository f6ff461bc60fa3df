//! The cables of a testbed whose links are ports that the plan names, for the report.

use sixbench_io::PortSpec;
use sixbench_method::record::{Cable, CableEnd};
use sixbench_method::terms::Direction;
use sixbench_plan::Links;
use sixbench_testbed::{Recipe, RemoteMachine};
use std::collections::BTreeMap;

/// The facts by which the ports of a testbed are described.
pub(crate) struct PortFacts<'a> {
    /// Those of this machine by name, with those of an agent's machine, prefixed with its name.
    pub(crate) tester: &'a BTreeMap<String, String>,
    /// Those of the machines that devices have for themselves, in a row prefixed with the name of the machine.
    pub(crate) devices: &'a BTreeMap<String, String>,
    /// Those of the authority's own machine.
    pub(crate) authority: &'a BTreeMap<String, String>,
}

/// Returns the cables from the tester's left port to its right port; none if the testbed builds its links itself.
pub(crate) fn cables(links: &Links, recipe: &Recipe, facts: &PortFacts<'_>) -> Vec<Cable> {
    let Some([left, right]) = &links.ports else {
        return Vec::new();
    };
    let mut ends = vec![tester_end(links, left, Direction::Forward, facts)];
    for machine in &links.machines {
        ends.extend(device_ends(
            machine,
            links.machines.len() > 1,
            facts.devices,
        ));
    }
    if links.machines.is_empty() && !recipe.is_bare_wire() {
        ends.extend([CableEnd::unknown(), CableEnd::unknown()]);
    }
    if let Some(authority) = &links.authority {
        let ports = authority.interfaces().iter();
        ends.extend(ports.map(|port| CableEnd::described(authority.name(), port, facts.authority)));
    }
    ends.push(tester_end(links, right, Direction::Reverse, facts));
    ends.chunks_exact(2)
        .map(|pair| Cable {
            left: pair[0].clone(),
            right: pair[1].clone(),
        })
        .collect()
}

/// Returns the end at the tester's port that sends in a direction: of this machine, or of an agent's.
fn tester_end(links: &Links, port: &PortSpec, sends: Direction, facts: &PortFacts<'_>) -> CableEnd {
    let agent = links.agent.as_ref().filter(|agent| agent.sends == sends);
    match agent {
        Some(agent) => {
            let machine = agent.remote.destination();
            let facts = of_machine(facts.tester, machine);
            CableEnd::described(machine, &agent.interface, &facts)
        }
        None => CableEnd::described(CableEnd::TESTER, &port.to_string(), facts.tester),
    }
}

fn device_ends(
    machine: &RemoteMachine,
    is_in_row: bool,
    facts: &BTreeMap<String, String>,
) -> [CableEnd; 2] {
    let name = machine.name();
    let own = if is_in_row {
        of_machine(facts, name)
    } else {
        facts.clone()
    };
    machine
        .interfaces()
        .each_ref()
        .map(|port| CableEnd::described(name, port, &own))
}

/// Returns the facts whose names are prefixed with that of a machine, without the prefix.
fn of_machine(facts: &BTreeMap<String, String>, machine: &str) -> BTreeMap<String, String> {
    let prefix = format!("{machine}: ");
    facts
        .iter()
        .filter_map(|(name, fact)| Some((name.strip_prefix(&prefix)?.to_owned(), fact.clone())))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixbench_testbed::Library;

    const SMALLEST: &str = "name = \"p\"\n[[test]]\nname = \"t\"\ndut = \"linux-ipv4\"\n";

    /// Returns the drawn cables of a plan with this table `[testbed]` and a device.
    fn drawn(testbed: &str, dut: &str, facts: &PortFacts<'_>) -> Vec<String> {
        let library = Library::load::<&std::path::Path>(&[]).expect("the built-in recipes");
        let loaded = sixbench_plan::load(&format!("{SMALLEST}[testbed]\n{testbed}"), &library);
        let recipe = library.get(dut).expect("a recipe");
        let cables = cables(&loaded.expect("a plan").links, recipe, facts);
        cables.iter().map(ToString::to_string).collect()
    }

    fn facts(all: &[(&str, &str)]) -> BTreeMap<String, String> {
        all.iter()
            .map(|(name, fact)| ((*name).to_owned(), (*fact).to_owned()))
            .collect()
    }

    #[test]
    fn every_cable_from_left_to_right_is_drawn_with_both_ports() {
        let tester = facts(&[
            ("e0: driver", "igb"),
            ("e0: speed in Mbit/s", "1000"),
            ("other: e7: driver", "mlx5_core"),
        ]);
        let devices = facts(&[("ce: e5: driver", "e1000e"), ("br: e3: driver", "ice")]);
        let none = BTreeMap::new();
        let of = PortFacts {
            tester: &tester,
            devices: &devices,
            authority: &none,
        };
        let ends = "left = \"e0\"\nright = \"e1\"\n";
        assert_eq!(drawn("", "linux-ipv4", &of), [""; 0], "veth pairs");
        assert_eq!(
            drawn(ends, "wire-ipv6", &of),
            ["tester e0 (igb, 1 Gbit/s) --- tester e1"]
        );
        assert_eq!(
            drawn(ends, "linux-ipv4", &of),
            [
                "tester e0 (igb, 1 Gbit/s) --- device",
                "device --- tester e1"
            ]
        );
        let row = "host = [\"ssh:ce\", \"ssh:br\"]\ndut-left = [\"e5\", \"e2\"]\ndut-right = [\"e6\", \"e3\"]\n";
        assert_eq!(
            drawn(&format!("{ends}{row}"), "linux-ipv4-row", &of),
            [
                "tester e0 (igb, 1 Gbit/s) --- ce e5 (e1000e)",
                "ce e6 --- br e2",
                "br e3 (ice) --- tester e1"
            ]
        );
        let apart = "left = \"e0\"\nagent = \"ssh:other\"\nagent-right = \"e7\"\n";
        assert_eq!(
            drawn(apart, "wire-ipv6", &of),
            ["tester e0 (igb, 1 Gbit/s) --- other e7 (mlx5_core)"]
        );
    }
}
