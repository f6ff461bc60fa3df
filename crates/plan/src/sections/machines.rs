//! The keys of `[testbed]` for devices on other machines: which machines, and which of their interfaces are cabled.

use crate::reader::Section;
use crate::reader::words::{DutHost, host, interface};
use sixbench_method::measures::Keys;
use sixbench_method::units::counted;
use sixbench_testbed::{RemoteMachine, SshConfig};

/// The interfaces of the machines, left and right.
const INTERFACES: [&str; 2] = ["dut-left", "dut-right"];

/// Returns the machines, from left to right. The keys that belong to machines are a mistake without one.
/// `config` is the file that ssh reads instead of its usual configuration.
pub(crate) fn read(
    section: &Section<'_>,
    config: Option<&SshConfig>,
    has_ports: bool,
) -> Vec<RemoteMachine> {
    let hosts = section.texts("host", host);
    let interfaces = INTERFACES.map(|key| section.texts(key, interface));
    let Some(names) = names(section, hosts) else {
        return Vec::new();
    };
    if names.is_empty() {
        refuse_keys_of_machines(section);
        return Vec::new();
    }
    if !has_ports {
        section.mistake(
            "host",
            "a DUT over ssh is cabled to interfaces of this machine: give `left` and `right`",
        );
    }
    for key in INTERFACES.into_iter().filter(|key| !section.is_given(key)) {
        section.mistake(
            "host",
            format!("a DUT over ssh needs a `{key}`: its interface that is cabled to this machine"),
        );
    }
    let [Some(left), Some(right)] = interfaces else {
        return Vec::new();
    };
    let [left, right] = [(INTERFACES[0], left), (INTERFACES[1], right)]
        .map(|(key, of)| for_each(section, key, of, names.len()));
    let pairs = left.into_iter().zip(right);
    names
        .iter()
        .zip(pairs)
        .map(|(name, (left, right)): (&String, (String, String))| {
            if left == right {
                let whose = if names.len() == 1 {
                    String::new()
                } else {
                    format!(" of {name}")
                };
                section.mistake(
                    INTERFACES[1],
                    format!("dut-left and dut-right{whose} must be two interfaces"),
                );
            }
            RemoteMachine::new(name, config, [left, right])
        })
        .collect()
}

/// Reports the keys that belong to machines in a plan without one.
fn refuse_keys_of_machines(section: &Section<'_>) {
    // The configuration also applies to the machines of an agent and of an authority.
    let of_others = section.is_given("agent") || section.is_given("authority");
    let config = (!of_others).then_some("ssh-config");
    for key in INTERFACES.into_iter().chain(config) {
        if section.is_given(key) {
            section.mistake_with_help(
                key,
                format!("`{key}` only applies to a DUT over ssh"),
                "add host = \"ssh:NAME\", or leave it out",
            );
        }
    }
}

/// Returns the names of the machines; empty if the DUT is in a namespace, or set up by the user. `None` if the value was not understood, in which case
/// it is unknown which of the other keys belong to it.
fn names(section: &Section<'_>, hosts: Option<Vec<DutHost>>) -> Option<Vec<String>> {
    let Some(hosts) = hosts else {
        return (!section.is_given("host")).then(Vec::new);
    };
    if hosts.is_empty() && !section.is_empty_list("host") {
        return None;
    }
    let names: Vec<String> = hosts
        .iter()
        .filter_map(|host| match host {
            DutHost::Ssh(name) => Some(name.clone()),
            DutHost::Netns => None,
        })
        .collect();
    if names.is_empty() && hosts.len() == 1 {
        return Some(names);
    }
    if names.is_empty() || names.len() < hosts.len() {
        let help = "a row of several in namespaces is one recipe, and `host` is \"netns\"";
        section.mistake_with_help(
            "host",
            "expected the machines of a row, each as \"ssh:NAME\"",
            help,
        );
        return None;
    }
    if let Some(twice) = names
        .iter()
        .enumerate()
        .find(|(index, name)| names[..*index].contains(name))
        .map(|(_, name)| name)
    {
        section.mistake(
            "host",
            format!("{twice} is named twice: each device of a row needs a machine of its own"),
        );
        return None;
    }
    Some(names)
}

/// Returns the interface of each machine; a single name applies to every machine.
fn for_each(section: &Section<'_>, key: &str, given: Vec<String>, machines: usize) -> Vec<String> {
    match &given[..] {
        [one] => vec![one.clone(); machines],
        several if several.len() == machines => given,
        // A value that was not understood has already been reported.
        [] if !section.is_empty_list(key) => given,
        several => {
            let machines = counted(machines as u32, "machine");
            let text = format!(
                "`{key}` has {} interfaces for {machines}: give one for each",
                several.len()
            );
            section.mistake(key, text);
            Vec::new()
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture_tests::{SMALLEST, mistakes};
    use crate::parse;
    use sixbench_testbed::RemoteMachine;

    const DUTS: [&str; 1] = ["linux-ipv4"];

    fn plan(testbed: &str) -> String {
        format!("{SMALLEST}[testbed]\nleft = \"e0\"\nright = \"e1\"\n{testbed}")
    }

    fn machine(name: &str, interfaces: [&str; 2]) -> RemoteMachine {
        RemoteMachine::new(name, None, interfaces.map(str::to_owned))
    }

    #[test]
    fn each_machine_of_a_row_has_its_own_interfaces() {
        let hosts = "host = [\"ssh:ce\", \"ssh:root@10.0.0.2\"]\n";
        let machines = |keys: &str| {
            parse(&plan(&format!("{hosts}{keys}")), &DUTS)
                .expect("a plan")
                .links
                .machines
        };
        let own = machines("dut-left = [\"a\", \"b\"]\ndut-right = [\"c\", \"d\"]\n");
        assert_eq!(
            own,
            [
                machine("ce", ["a", "c"]),
                machine("root@10.0.0.2", ["b", "d"])
            ]
        );
        let same = machines("dut-left = \"a\"\ndut-right = [\"b\"]\n");
        assert_eq!(
            same,
            [
                machine("ce", ["a", "b"]),
                machine("root@10.0.0.2", ["a", "b"])
            ]
        );
    }

    #[test]
    fn mistakes_in_the_machines_of_a_row_are_told_at_their_line() {
        let told = |keys: &str| mistakes(&plan(&format!("{keys}\n")), &DUTS);
        let interfaces = "dut-left = \"a\"\ndut-right = \"b\"";
        let twice = told(&format!("host = [\"ssh:ce\", \"ssh:ce\"]\n{interfaces}"));
        assert!(
            twice.contains("ce is named twice") && twice.contains("plan.toml:8:"),
            "{twice}"
        );
        let mixed = told(&format!("host = [\"ssh:ce\", \"netns\"]\n{interfaces}"));
        assert!(
            mixed.contains("expected the machines of a row, each as \"ssh:NAME\""),
            "{mixed}"
        );
        let three = told(
            "host = [\"ssh:ce\", \"ssh:br\"]\ndut-left = [\"a\", \"b\", \"c\"]\ndut-right = \"d\"",
        );
        assert!(
            three.contains("`dut-left` has 3 interfaces for 2 machines: give one for each"),
            "{three}"
        );
        assert!(three.contains("plan.toml:9:"), "{three}");
        let same =
            told("host = [\"ssh:ce\", \"ssh:br\"]\ndut-left = [\"a\", \"d\"]\ndut-right = \"d\"");
        assert!(
            same.contains("dut-left and dut-right of br must be two interfaces"),
            "{same}"
        );
        let none = told("host = [\"ssh:ce\", \"ssh:br\"]\ndut-left = \"a\"");
        assert!(none.contains("needs a `dut-right`"), "{none}");
        assert!(
            told(&format!("host = []\n{interfaces}")).contains("expected the machines of a row")
        );
    }
}
