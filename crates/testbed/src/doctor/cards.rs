//! Judges the network cards of the machine: where their interrupts are served, and what they do by themselves. The card that the machine itself is reached
//! by is among them; which cards carry test traffic is known to a plan alone.

use super::finding::Finding;
use crate::exec::{Shell, processes_named};
use crate::facts::{Machine, ranges};
use crate::net::Cores;
use crate::net::interrupts::Placement;
use std::fs;
use std::path::Path;

/// Returns the findings about the network cards of this machine, given the cores that sixbench may use.
pub(super) fn findings(allowed: &[u32]) -> Vec<Finding> {
    let names = cards(Path::new("/sys/class/net"));
    if names.is_empty() {
        return Vec::new();
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let machine = Machine::read(&Shell::new(), &names);
    let mut findings = judged(&machine, &names, &Cores::of_tester(allowed));
    if processes_named(|name| name == "irqbalance")
        .next()
        .is_some()
    {
        findings.push(Finding::warning(
            "irqbalance is running: it may move the interrupts of network cards onto the tester's cores during a run",
            "systemctl stop irqbalance",
        ));
    }
    findings
}

/// Returns the interfaces that have hardware, sorted.
pub(super) fn cards(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .filter(|entry| entry.path().join("device").exists())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    names
}

/// Returns the findings about these cards for a tester with these cores.
fn judged(machine: &Machine, cards: &[&str], tester: &[u32]) -> Vec<Finding> {
    cards
        .iter()
        .flat_map(|card| {
            [
                interrupts(machine, card, tester),
                flow_control(machine, card),
                spreading(machine, card),
                sleep(machine, card),
            ]
        })
        .flatten()
        .collect()
}

fn interrupts(machine: &Machine, card: &str, tester: &[u32]) -> Option<Finding> {
    let numbers = machine.interrupts_of(card);
    let now = machine.cores_of_interrupts(card);
    if numbers.is_empty() {
        return None;
    }
    let (at, tester_cores) = (ranges(&now), ranges(tester));
    Some(match Placement::for_interface(machine, card, tester) {
        Placement::OnCores(cores) if now.iter().all(|core| !tester.contains(core)) => {
            Finding::good(format!(
                "the interrupts of {card} are served by cores {at}, away from those that a tester takes ({tester_cores}); a run keeps them on {}",
                ranges(&cores)
            ))
        }
        Placement::OnCores(cores) => {
            let list: Vec<String> = numbers.iter().map(u32::to_string).collect();
            let files = match &list[..] {
                [one] => one.clone(),
                _ => format!("{{{}}}", list.join(",")),
            };
            Finding {
                cure: Some(format!(
                    "echo {} | tee /proc/irq/{files}/smp_affinity_list",
                    ranges(&cores)
                )),
                ..Finding::good(format!(
                    "the interrupts of {card} may be served by cores {at}, and a tester takes {tester_cores}: a run that uses the card moves them \
                     and puts them back; before other programs"
                ))
            }
        }
        Placement::WithPriority(_) => Finding::warning(
            format!(
                "the interrupts of {card} are served by the tester's own cores ({tester_cores}), since there are no others: a run that uses the \
                 card raises ksoftirqd there, and the tester can be late"
            ),
            "leave one core for interrupts: list fewer cores in `tester-cores` of [testbed]",
        ),
    })
}

fn flow_control(machine: &Machine, card: &str) -> Option<Finding> {
    let settings = machine.flow_control(card);
    let on: Vec<&str> = settings
        .iter()
        .filter(|(name, value)| *name != "autoneg" && value == "on")
        .map(|(name, _)| *name)
        .collect();
    (!on.is_empty()).then(|| {
        Finding::good(format!(
            "flow control of {card} is on ({}): a run that uses the card turns it off and on again, unless the plan says `flow-control = \"keep\"`",
            on.join(", ")
        ))
    })
}

/// Tests vary ports, and not addresses, unless a plan says otherwise.
fn spreading(machine: &Machine, card: &str) -> Option<Finding> {
    let flows = machine.spread_by_addresses(card);
    let commands: Vec<String> = flows
        .iter()
        .map(|flow| format!("ethtool -N {card} rx-flow-hash {flow} sdfn"))
        .collect();
    (!flows.is_empty()).then(|| {
        Finding::warning(
            format!(
                "{card} chooses the queue of a received frame by its addresses alone ({}): a test that varies ports alone has one queue, and the core that \
                 serves it, receive everything",
                flows.join(", ")
            ),
            format!("{}, or `rss-hash = \"sdfn\"` in [testbed]", commands.join("; ")),
        )
    })
}

/// A link with Energy-Efficient Ethernet (IEEE 802.3az) sleeps when nothing is sent, and takes some microseconds to wake up.
fn sleep(machine: &Machine, card: &str) -> Option<Finding> {
    machine.sleeps(card).then(|| {
        Finding::warning(
            format!(
                "Energy-Efficient Ethernet of {card} is on: its link sleeps between frames, and delays at low rates include the time to wake it"
            ),
            format!("ethtool --set-eee {card} eee off"),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Severity;

    fn machine(cores_of_interrupts: &str) -> Machine {
        let lines = [
            "/sys/devices/system/cpu/online:0-3".to_owned(),
            format!("/sys/class/net/e0/interrupts:{cores_of_interrupts}"),
            format!("/sys/class/net/e0/irq/25:{cores_of_interrupts}"),
            format!("/sys/class/net/e0/irq/26:{cores_of_interrupts}"),
            "ethtool -a e0:Autonegotiate:\ton".to_owned(),
            "ethtool -a e0:RX:\ton".to_owned(),
            "ethtool -a e0:TX:\toff".to_owned(),
            "ethtool --show-eee e0:\tEEE status: enabled - active".to_owned(),
        ];
        Machine::parse("", &lines.join("\n"))
    }

    #[test]
    fn interrupts_on_the_testers_cores_come_with_the_command_that_moves_them() {
        let found = judged(&machine("0-3"), &["e0", "e1"], &[0, 1]);
        assert_eq!(found.len(), 3, "{found:#?}");
        assert!(
            found[0]
                .what
                .contains("may be served by cores 0-3, and a tester takes 0-1")
        );
        assert_eq!(
            found[0].cure.as_deref(),
            Some("echo 2-3 | tee /proc/irq/{25,26}/smp_affinity_list")
        );
        assert!(found[1].what.starts_with("flow control of e0 is on (rx)"));
        assert_eq!(
            found[2].cure.as_deref(),
            Some("ethtool --set-eee e0 eee off")
        );
        let away = &judged(&machine("2-3"), &["e0"], &[0, 1])[0];
        assert_eq!(
            (away.severity, away.cure.as_deref()),
            (Severity::Good, None)
        );
        let all = &judged(&machine("2-3"), &["e0"], &[0, 1, 2, 3])[0];
        assert_eq!(all.severity, Severity::Warning);
        assert!(
            all.cure
                .as_deref()
                .is_some_and(|cure| cure.contains("`tester-cores`"))
        );
    }

    #[test]
    fn a_card_that_spreads_by_addresses_alone_comes_with_the_commands_that_add_ports() {
        let card = |queues: &str, fields: &str| {
            let lines = [
                "ethtool -x e0:RX flow hash indirection table for e0 with 2 RX ring(s):".to_owned(),
                format!("ethtool -x e0:    0:      {queues}"),
                "ethtool -n e0 rx-flow-hash udp4:UDP over IPV4 flows use these fields:".to_owned(),
                "ethtool -n e0 rx-flow-hash udp4:IP SA".to_owned(),
                format!("ethtool -n e0 rx-flow-hash udp4:{fields}"),
            ];
            judged(&Machine::parse("", &lines.join("\n")), &["e0"], &[0])
        };
        let found = card("0     1     0     1", "IP DA");
        assert_eq!(
            found[0].cure.as_deref(),
            Some("ethtool -N e0 rx-flow-hash udp4 sdfn, or `rss-hash = \"sdfn\"` in [testbed]")
        );
        assert_eq!(card("0     0     0     0", "IP DA"), []);
        assert_eq!(
            card("0     1     0     1", "L4 bytes 0 & 1 [TCP/UDP src port]"),
            []
        );
    }

    #[test]
    fn an_interface_without_hardware_is_no_card() {
        let root = std::env::temp_dir().join(format!("sb-{}-cards", std::process::id()));
        fs::create_dir_all(root.join("e0/device")).expect("a directory");
        fs::create_dir_all(root.join("lo")).expect("a directory");
        let found = cards(&root);
        fs::remove_dir_all(&root).expect("removed");
        assert_eq!(found, ["e0"]);
    }
}
