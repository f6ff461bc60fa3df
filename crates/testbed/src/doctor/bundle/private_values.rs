//! The private values of a machine that have no form of their own: the names of it, its neighbours and its users, and its serial numbers.

use super::placeholders::PrivateKind;
use std::fs;

/// Files whose only line is a name of the machine.
const HOST_FILES: [&str; 3] = [
    "/proc/sys/kernel/hostname",
    "/proc/sys/kernel/domainname",
    "/etc/hostname",
];

/// Files whose only line is a number that no other machine has.
const SERIAL_FILES: [&str; 8] = [
    "/etc/machine-id",
    "/var/lib/dbus/machine-id",
    "/proc/sys/kernel/random/boot_id",
    "/sys/class/dmi/id/product_serial",
    "/sys/class/dmi/id/product_uuid",
    "/sys/class/dmi/id/board_serial",
    "/sys/class/dmi/id/chassis_serial",
    "/sys/class/dmi/id/chassis_asset_tag",
];

/// Variables of the environment with the name of a user.
const USER_VARIABLES: [&str; 3] = ["SUDO_USER", "USER", "LOGNAME"];

/// The first number of a person's account; those below belong to the system and are the same everywhere.
const FIRST_PERSON: u32 = 1000;

/// Names that are the same on every machine, and values by which makers say that there is none.
const EVERYBODYS: [&str; 14] = [
    "localhost",
    "localhost.localdomain",
    "localdomain",
    "ip6-localhost",
    "ip6-loopback",
    "ip6-localnet",
    "ip6-mcastprefix",
    "ip6-allnodes",
    "ip6-allrouters",
    "root",
    "nobody",
    "(none)",
    "none",
    "default string",
];

/// Returns the private values that the files below `root` tell, and the environment of this process.
pub(super) fn of_machine(root: &str) -> Vec<(String, PrivateKind)> {
    let (hosts, serials) = (lines(root, &HOST_FILES), lines(root, &SERIAL_FILES));
    let users = read(root, "/etc/passwd")
        .lines()
        .filter_map(person)
        .collect();
    let variables = USER_VARIABLES
        .iter()
        .filter_map(|name| std::env::var(name).ok());
    let all = [
        (PrivateKind::Host, short_names(&hosts)),
        (PrivateKind::Host, hosts),
        (PrivateKind::Host, neighbours(&read(root, "/etc/hosts"))),
        (PrivateKind::Host, domains(&read(root, "/etc/resolv.conf"))),
        (PrivateKind::User, users),
        (PrivateKind::User, variables.collect()),
        (PrivateKind::Serial, serials),
    ];
    let values = all
        .into_iter()
        .flat_map(|(kind, values)| values.into_iter().map(move |value| (value, kind)));
    values
        .filter(|(value, _)| {
            !value.is_empty() && !EVERYBODYS.contains(&value.to_lowercase().as_str())
        })
        .collect()
}

/// Returns the only line of each of these files.
fn lines(root: &str, paths: &[&str]) -> Vec<String> {
    let texts = paths.iter().map(|path| read(root, path));
    texts.map(|text| text.trim().to_owned()).collect()
}

fn read(root: &str, path: &str) -> String {
    fs::read_to_string(format!("{root}{path}")).unwrap_or_default()
}

/// Returns the first labels of names that have several: `lab7` of `lab7.example.net`.
fn short_names(names: &[String]) -> Vec<String> {
    let parted = names.iter().filter_map(|name| name.split_once('.'));
    parted.map(|(first, _)| first.to_owned()).collect()
}

/// Returns the names in a table of hosts, without what follows a `#`.
fn neighbours(hosts: &str) -> Vec<String> {
    let entries = hosts.lines().filter_map(|line| line.split('#').next());
    let names = entries.flat_map(|entry| entry.split_whitespace().skip(1));
    names.map(str::to_owned).collect()
}

/// Returns the domains that a resolver appends to names.
fn domains(configuration: &str) -> Vec<String> {
    let lines = configuration
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>());
    let of_domains = lines.filter(|words| matches!(words.first(), Some(&("search" | "domain"))));
    of_domains
        .flat_map(|words| {
            words[1..]
                .iter()
                .map(|name| (*name).to_owned())
                .collect::<Vec<_>>()
        })
        .collect()
}

/// Returns the name of an account that belongs to a person.
fn person(account: &str) -> Option<String> {
    let mut fields = account.split(':');
    let name = fields.next()?;
    let number: u32 = fields.nth(1)?.parse().ok()?;
    (number >= FIRST_PERSON).then(|| name.to_owned())
}
