//! Everything about this machine that someone who looks for a fault from afar must know, as texts without anything that says whose machine it is.
//!
//! Private values of which the machine itself tells (host and user names, serial numbers) are known before; addresses have forms of their own, by which
//! [`Placeholders`] finds them. Both are replaced in all texts, the findings among them.

mod placeholders;
mod private_values;

use super::cards::cards;
use crate::exec::Shell;
use crate::facts::Machine;
use placeholders::Placeholders;
use std::path::Path;
use std::time::Duration;

const SCRIPT: &str = include_str!("collect.sh");
/// The time that the machine may take to describe itself: some cards answer slowly.
const PATIENCE: Duration = Duration::from_secs(120);

/// The texts of a bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bundle {
    /// Each text by the name of its file.
    pub texts: Vec<(&'static str, String)>,
    /// How many private values were replaced, of each kind: `2 of mac, 1 of host`.
    pub replaced: String,
}

/// Describes this machine, with texts that the caller has, such as findings. Takes some seconds.
pub fn bundle(texts: Vec<(&'static str, String)>) -> Bundle {
    bundle_below("", &Shell::new().with_timeout(PATIENCE), texts)
}

/// Describes the machine whose files are below `root`.
fn bundle_below(root: &str, shell: &Shell, mut texts: Vec<(&'static str, String)>) -> Bundle {
    let names = cards(Path::new(&format!("{root}/sys/class/net")));
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let machine = Machine::read_below(root, shell, &names);
    let facts = machine.facts(&[], &names);
    let facts = facts.iter().map(|(name, fact)| format!("{name}: {fact}\n"));
    texts.push(("facts.txt", facts.collect()));
    texts.push(("machine.txt", machine.to_string()));
    texts.push(("more.txt", collected(root, shell, &names)));

    let mut placeholders = Placeholders::default();
    placeholders.learn(private_values::of_machine(root));
    for (_, text) in &texts {
        placeholders.learn_serials(text);
    }
    for (_, text) in &mut texts {
        *text = placeholders.replace(text);
    }
    Bundle {
        texts,
        replaced: placeholders.counts(),
    }
}

/// Returns the lines of the script, without the directory of a machine's files.
fn collected(root: &str, shell: &Shell, cards: &[&str]) -> String {
    let words = ["sh", "-c", SCRIPT, "sh", root].into_iter();
    let words: Vec<&str> = words.chain(cards.iter().copied()).collect();
    match shell.look(&words) {
        Ok(printed) => {
            let lines = printed.lines();
            let lines = lines.map(|line| line.strip_prefix(root).unwrap_or(line));
            lines.map(|line| format!("{line}\n")).collect()
        }
        Err(error) => format!("the machine did not describe itself: {error}\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::tests::{FakeMachine, SERVER};

    /// Files with private values of every kind, in the places where machines have them.
    const PRIVATE: [(&str, &str); 14] = [
        ("proc/sys/kernel/domainname", "corp.example"),
        (
            "proc/cmdline",
            "root=UUID=6b29fc40-ca47-1067-b31d-00dd010662da ip=10.9.8.7::10.9.8.1:255.255.255.0:lab7:e0 quiet",
        ),
        (
            "proc/version",
            "Linux version 6.1.0 (builder@lab7.corp.example)",
        ),
        (
            "etc/hosts",
            "127.0.0.1 localhost\n10.9.8.6 rack-b12 rack-b12.corp.example # alice",
        ),
        (
            "etc/resolv.conf",
            "search lan.example\nnameserver 2001:db8:5::53",
        ),
        (
            "etc/passwd",
            "root:x:0:0::/root:/bin/sh\nalice:x:1000:1000::/home/alice:/bin/sh\nsvc:x:101:101::/:/bin/false",
        ),
        ("etc/machine-id", "0123456789abcdef0123456789abcdef"),
        ("sys/class/dmi/id/product_serial", "CZJ2040QX7"),
        ("sys/class/dmi/id/product_name", "Server G10 CZJ2040QX7"),
        ("sys/class/net/enx0c42a1b2c3d4/device/numa_node", "0"),
        ("sys/class/net/enx0c42a1b2c3d4/address", "0c:42:a1:b2:c3:d4"),
        ("sys/class/net/enx0c42a1b2c3d4/operstate", "up"),
        ("sys/bus/pci/devices/0000:5e:00.0/class", "0x020000"),
        ("sys/bus/pci/devices/0000:5e:00.0/device", "0x159b"),
    ];

    #[test]
    fn what_says_whose_machine_it_is_is_in_no_text_and_the_rest_is() {
        let machine = FakeMachine::new("bundle", &SERVER);
        for (path, content) in PRIVATE {
            machine.write(path, content);
        }
        let found = "other work of alice (/home/alice/run) on lab7; ssh comes from 10.9.8.5 over enx0c42a1b2c3d4 (0C:42:A1:B2:C3:D4)";
        let bundle = bundle_below(
            &machine.root(),
            &Shell::new(),
            vec![("findings.jsonl", found.to_owned())],
        );
        let all: String = bundle.texts.iter().map(|(_, text)| text.as_str()).collect();
        let private = [
            "lab7",
            "corp.example",
            "lan.example",
            "rack-b12",
            "alice",
            "10.9.8",
            "255.255",
            "2001:db8",
            "0c42a1b2c3d4",
            "0c:42:a1",
            "czj2040qx7",
            "6b29fc40",
            "0123456789abcdef",
        ];
        for value in private {
            assert!(!all.to_lowercase().contains(value), "{value}: {all}");
        }
        for fact in [
            "processor: X 9000\n",
            "/proc/cmdline:root=UUID=serial-",
            "/sys/bus/pci/devices/0000:5e:00.0/device:0x159b\n",
            "/sys/class/net/mac-1/operstate:up\n",
            "/proc/irq/9/smp_affinity_list:0-3\n",
            "/sys/class/dmi/id/product_name:Server G10 serial-",
            "other work of user-1 (/home/user-1/run) on host-1; ssh comes from address-1 over mac-1 (mac-1)",
        ] {
            assert!(all.contains(fact), "{fact}: {all}");
        }
        assert!(
            bundle.replaced.starts_with("1 of mac, "),
            "{}",
            bundle.replaced
        );
    }
}
