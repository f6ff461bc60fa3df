//! Finds how two results directories differ, apart from their devices.

use super::owner;
use serde_json::Value;
use sixbench_method::record::{DutFacts, Facts};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Words in the names of host facts that are not compared, because these facts say nothing about the host's capabilities or are different every
/// time.
const UNSTEADY: [&str; 6] = ["memory", "load", "time", "date", "started", "ended"];

/// Returns warnings about a comparison of two results directories, the most serious first: the differences apart from the devices.
pub(crate) fn differences_of(directories: [&Path; 2]) -> Vec<String> {
    let facts = directories.map(facts);
    let unknown = facts.iter().zip(["A", "B"]).filter(|(facts, _)| facts.is_none()).map(|(_, side)| {
        format!("warning: {side} has no facts.json, so it is not known whether both were measured on the same machine")
    });
    let mut warnings: Vec<String> = unknown.collect();
    if let [Some(a), Some(b)] = &facts {
        warnings.extend(
            differences(a, b)
                .into_iter()
                .map(|text| format!("warning: A and B differ in more than their devices: {text}")),
        );
    }
    warnings
}

fn facts(directory: &Path) -> Option<Value> {
    let text = owner::open(directory)
        .and_then(|folder| folder.text("facts.json"))
        .ok()?;
    serde_json::from_str(&text).ok()
}

/// Returns one text for each difference: sixbench's version, the labels, and the facts about the hosts that both directories have.
fn differences(a: &Value, b: &Value) -> Vec<String> {
    let mut different = Vec::new();
    for (key, name) in [
        ("sixbench", "version of sixbench"),
        ("label", "label"),
        ("labels", "labels"),
    ] {
        let (a, b) = (&a[key], &b[key]);
        if is_given(a) | is_given(b) && a != b {
            different.push(format!("{name}: A {}, B {}", shown(a), shown(b)));
        }
    }
    let of_machines = machine_differences(a, b);
    different.extend(
        of_machines
            .iter()
            .map(|(name, a, b)| format!("{name}: {}", contrasted(name, a, b, &BESIDE))),
    );
    different
}

/// Returns true if a fact concerns the host's capabilities and is the same each time.
fn is_steady(name: &str) -> bool {
    !UNSTEADY
        .iter()
        .any(|word| name.split([' ', '_', '-']).any(|part| part == *word))
}

/// Returns a file's text without the numbers that change with every run: those in the names of directories and namespaces, `sb-4711.52-dut`.
fn without_run(text: &str) -> String {
    let mut parts = text.split("sb-");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        text + "sb-" + part.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.')
    })
}

/// Returns one text for each change since the previous run: sixbench's version, the machine, and the versions and configurations of devices that
/// both have.
pub(crate) fn changes_since(before: &Facts, run: &Facts) -> Vec<String> {
    let mut changes = Vec::new();
    if before.sixbench != run.sixbench {
        changes.push(format!("sixbench: {} → {}", before.sixbench, run.sixbench));
    }
    let [a, b] = [before, run].map(|facts| serde_json::to_value(facts).unwrap_or_default());
    let of_machines = machine_differences(&a, &b);
    changes.extend(
        of_machines
            .iter()
            .map(|(name, a, b)| format!("{name}: {}", contrasted(name, a, b, &IN_TURN))),
    );
    for (name, then, now) in before
        .duts
        .iter()
        .filter_map(|(name, then)| Some((name, then, run.duts.get(name)?)))
    {
        if then.version != now.version {
            changes.push(format!("{name}: {} → {}", then.version, now.version));
        }
        let is_other = |then: &String, now: &str| without_run(then) != without_run(now);
        let files = now.files.iter().filter(|(path, now)| {
            then.files
                .get(*path)
                .is_some_and(|then| is_other(then, now))
        });
        changes.extend(files.map(|(path, _)| format!("{name}: {path} is another")));
    }
    changes
}

/// Facts that identify a machine or its software, regardless of a plan's settings.
const IDENTITY: [&str; 5] = ["host name", "system", "kernel", "processor", "microcode"];

/// Returns one text for each change of a device since it was set up earlier in the same run: its version and its machines.
pub(crate) fn changes_of_machine(before: &DutFacts, now: &DutFacts) -> Vec<String> {
    let version = [("version".to_owned(), before.version.clone())]
        .into_iter()
        .filter(|(_, version)| !version.is_empty());
    let is_identity = |name: &&String| {
        IDENTITY
            .iter()
            .any(|fact| name.rsplit(": ").next() == Some(*fact))
    };
    let machine = before
        .machine
        .keys()
        .filter(is_identity)
        .map(|name| (name.clone(), before.machine[name].clone()));
    let of_now = |name: &str| {
        if name == "version" {
            Some(&now.version)
        } else {
            now.machine.get(name)
        }
    };
    let changed = version.chain(machine).filter_map(|(name, then)| {
        let now = of_now(&name).filter(|now| **now != then)?;
        Some(format!("{name}: {then} → {now}"))
    });
    changed.collect()
}

/// Returns the facts about machines that differ: their names, and their values in A and B. Earlier versions recorded fewer facts, so a fact that
/// only one side has is not compared.
pub(crate) fn machine_differences(a: &Value, b: &Value) -> Vec<(String, String, String)> {
    let of_b = of_machines(b);
    let differing = |(name, a): (String, String)| {
        let b = of_b.get(&name).filter(|b| **b != a)?.clone();
        Some((name, a, b))
    };
    of_machines(a).into_iter().filter_map(differing).collect()
}

/// Returns the facts about the host and about the devices' own machines by name, except those that are different every time. If the machines within
/// a run differ, the fact lists all values.
fn of_machines(facts: &Value) -> BTreeMap<String, String> {
    let steady = |machine: &Value| {
        let facts = machine
            .as_object()
            .into_iter()
            .flatten()
            .filter(|(name, _)| is_steady(name));
        facts
            .map(|(name, value)| (name.clone(), shown(value)))
            .collect::<Vec<_>>()
    };
    let mut all: BTreeMap<String, String> = steady(&facts["host"]).into_iter().collect();
    let mut of_duts = BTreeMap::<String, BTreeSet<String>>::new();
    for (name, value) in facts["duts"]
        .as_object()
        .into_iter()
        .flatten()
        .flat_map(|(_, dut)| steady(&dut["machine"]))
    {
        of_duts
            .entry(format!("the DUT's machine: {name}"))
            .or_default()
            .insert(value);
    }
    all.extend(
        of_duts
            .into_iter()
            .map(|(name, values)| (name, values.into_iter().collect::<Vec<_>>().join(" / "))),
    );
    all
}

/// Facts that are long lists: the suffix of their names, and the separator of the items.
const LISTS: [(&str, &str); 3] = [
    ("offloads", ", "),
    ("mitigations", "; "),
    ("kernel command line", " "),
];

/// The words that contrast two values.
struct Contrast {
    whole: fn(&str, &str) -> String,
    only_a: &'static str,
    only_b: &'static str,
}

/// Contrasts two results side by side.
const BESIDE: Contrast = Contrast {
    whole: |a, b| format!("A {a}, B {b}"),
    only_a: "only A has",
    only_b: "only B has",
};

/// Contrasts a run with the one after it.
const IN_TURN: Contrast = Contrast {
    whole: |a, b| format!("{a} → {b}"),
    only_a: "no longer",
    only_b: "now",
};

/// Returns two values of a fact in words. For lists, only the items that are on one side.
fn contrasted(name: &str, a: &str, b: &str, contrast: &Contrast) -> String {
    let whole = (contrast.whole)(a, b);
    let Some((_, separator)) = LISTS.iter().find(|(end, _)| name.ends_with(end)) else {
        return whole;
    };
    let alone = |words: &str, own: &str, other: &str| {
        let items: Vec<&str> = own
            .split(separator)
            .filter(|item| !other.split(separator).any(|others| others == *item))
            .collect();
        (!items.is_empty()).then(|| format!("{words} {}", items.join(separator)))
    };
    let sides: Vec<String> = [alone(contrast.only_a, a, b), alone(contrast.only_b, b, a)]
        .into_iter()
        .flatten()
        .collect();
    // Both have the same items in a different order.
    if sides.is_empty() {
        whole
    } else {
        sides.join(", ")
    }
}

fn is_given(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Object(map) => !map.is_empty(),
        _ => true,
    }
}

/// Returns a value in words. Labels are shown as the user types them: `key=value`.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(map) if map.is_empty() => "none".to_owned(),
        Value::Object(map) => map
            .iter()
            .map(|(key, value)| format!("{key}={}", shown(value)))
            .collect::<Vec<_>>()
            .join(" "),
        Value::Null => "none".to_owned(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_kernel_of_a_machine_of_a_row_is_a_change_and_other_cores_are_none() {
        let facts = |kernel: &str, cores: &str| DutFacts {
            version: "1".to_owned(),
            machine: [("br: kernel", kernel), ("br: cores", cores)]
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into(),
            ..DutFacts::default()
        };
        assert_eq!(
            changes_of_machine(&facts("6.1", "16"), &facts("6.12", "4")),
            ["br: kernel: 6.1 → 6.12"]
        );
        assert_eq!(
            changes_of_machine(&DutFacts::default(), &facts("6.1", "4")),
            Vec::<String>::new(),
            "nothing was set up before"
        );
        let newer = DutFacts {
            version: "2".to_owned(),
            ..facts("6.1", "16")
        };
        assert_eq!(
            changes_of_machine(&facts("6.1", "16"), &newer),
            ["version: 1 → 2"]
        );
    }
    use serde_json::json;

    #[test]
    fn what_is_another_since_the_run_before_is_named_with_the_devices() {
        use sixbench_method::record::DutFacts;
        let facts = |kernel: &str, version: &str, text: &str| {
            let host = [
                ("kernel", kernel),
                (
                    "e0: offloads",
                    if kernel == "6.1.0" { "gro, tso" } else { "tso" },
                ),
            ];
            let host = host
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into();
            let files = [("tayga.conf".to_owned(), text.to_owned())].into();
            let dut = DutFacts {
                version: version.to_owned(),
                files,
                ..DutFacts::default()
            };
            Facts {
                sixbench: "0.1.0".to_owned(),
                host,
                duts: [("tayga".to_owned(), dut)].into(),
                ..Facts::default()
            }
        };
        let (then, now) = (facts("6.1.0", "0.9.2", "x"), facts("6.1.2", "0.9.5", "y"));
        let expected = [
            "e0: offloads: no longer gro",
            "kernel: 6.1.0 → 6.1.2",
            "tayga: 0.9.2 → 0.9.5",
            "tayga: tayga.conf is another",
        ];
        assert_eq!(changes_since(&then, &now), expected);
        assert_eq!(changes_since(&now, &now), [""; 0]);
        let of_process = |number| {
            facts(
                "6.1.2",
                "0.9.5",
                &format!("data-dir /tmp/sb-{number}.{number}-dut\n"),
            )
        };
        assert_eq!(changes_since(&of_process(31), &of_process(4711)), [""; 0]);
    }

    fn told(a: Value, b: Value) -> Vec<String> {
        differences(&a, &b)
    }

    #[test]
    fn another_processor_kernel_version_or_label_is_named() {
        let a = json!({ "sixbench": "0.1.0", "host": { "processor": "X", "kernel": "6.1", "memory": "1 kB", "cores": "4" } });
        let b = json!({ "sixbench": "0.2.0", "host": { "processor": "Y", "kernel": "6.2", "memory": "2 kB", "cores": "4" } });
        let expected = [
            "version of sixbench: A 0.1.0, B 0.2.0",
            "kernel: A 6.1, B 6.2",
            "processor: A X, B Y",
        ];
        assert_eq!(told(a.clone(), b), expected);
        assert_eq!(told(a.clone(), a.clone()), [""; 0]);
        let labelled = json!({ "sixbench": "0.1.0", "labels": { "commit": "abc", "branch": "main" }, "host": a["host"] });
        assert_eq!(
            told(a.clone(), labelled.clone()),
            ["labels: A none, B branch=main commit=abc"]
        );
        assert_eq!(told(labelled.clone(), labelled), [""; 0]);
    }

    #[test]
    fn another_governor_ring_or_offload_is_named_and_of_lists_only_what_differs() {
        let a = json!({ "host": {
            "frequency governor": "performance", "e0: ring sizes": "RX 512 of 4096", "e0: offloads": "gro, tso, rxvlan",
            "kernel command line": "ro quiet mitigations=auto", "mitigations": "a: x; b: y", "net.core.rmem_max": "1",
        } });
        let b = json!({ "host": {
            "frequency governor": "powersave", "e0: ring sizes": "RX 4096 of 4096", "e0: offloads": "tso, rxvlan",
            "kernel command line": "ro quiet isolcpus=2-3 mitigations=off", "mitigations": "b: y; a: x", "net.core.rmem_max": "1",
        } });
        let expected = [
            "e0: offloads: only A has gro",
            "e0: ring sizes: A RX 512 of 4096, B RX 4096 of 4096",
            "frequency governor: A performance, B powersave",
            "kernel command line: only A has mitigations=auto, only B has isolcpus=2-3 mitigations=off",
            "mitigations: A a: x; b: y, B b: y; a: x",
        ];
        assert_eq!(told(a, b), expected);
    }

    #[test]
    fn the_machines_of_devices_over_ssh_are_compared_whatever_the_devices_are_called() {
        let of = |name: &str, governor: &str| json!({ "host": {}, "duts": { name: { "machine": { "frequency governor": governor, "memory": name } } } });
        let expected = ["the DUT's machine: frequency governor: A performance, B powersave"];
        assert_eq!(
            told(of("tayga", "performance"), of("jool", "powersave")),
            expected
        );
        assert_eq!(
            told(of("tayga", "performance"), of("jool", "performance")),
            [""; 0]
        );
        assert_eq!(
            told(
                of("tayga", "performance"),
                json!({ "host": {}, "duts": { "jool": {} } })
            ),
            [""; 0]
        );
    }

    #[test]
    fn what_an_earlier_version_did_not_note_is_no_difference() {
        let (less, more) = (
            json!({ "host": { "kernel": "6.1" } }),
            json!({ "labels": {}, "host": { "kernel": "6.1", "governor": "p" } }),
        );
        assert_eq!(told(less, more), [""; 0]);
    }

    #[test]
    fn results_without_facts_say_so() {
        let nowhere = Path::new("/no/such/results");
        let warnings = differences_of([nowhere, nowhere]);
        assert_eq!(warnings.len(), 2);
        assert!(warnings[1].contains("B has no facts.json"), "{warnings:?}");
    }
}
