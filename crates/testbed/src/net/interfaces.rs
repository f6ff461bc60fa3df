//! Interfaces of this machine as the tester's ends: each is moved into a network namespace of the tester's own, and given back later. With both
//! ends in one namespace, the kernel would deliver one end's traffic directly to the other, or even forward in the device's place. With separate
//! namespaces, all traffic between the ends passes through the device.

use super::existing::{self, OwnAddresses};
use super::lent_addresses;
use super::namespace::{Namespace, name};
use super::nic::{self, NicSetting};
use crate::exec::{InterfaceError, InterfaceFault, Shell, TestbedError, is_alive, warn};
use crate::facts::{Machine, UDP_FLOWS};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Autonegotiation takes some seconds.
const CARRIER_TIMEOUT: Duration = Duration::from_secs(20);

/// The directory of the notes about changes to this machine's interfaces. Only root can write there.
const NOTES: &str = "/run";
const NOTE_SUFFIX: &str = "-interfaces";

/// The settings of an interface that the kernel resets when it moves.
const SETTINGS: [&str; 2] = ["ipv4/conf", "ipv6/conf"];

/// The settings of an interface that replace interrupts by polling, with their values: an interrupt is deferred twice, and the kernel itself polls
/// every 200 us (Linux, Documentation/networking/napi.rst).
const POLLING: [(&str, &str); 2] = [
    ("napi_defer_hard_irqs", "2"),
    ("gro_flush_timeout", "200000"),
];

/// Makes an interface of the shell's namespace defer its interrupts in favour of polling threads.
pub(crate) fn defer_interrupts(shell: &Shell, interface: &str) -> Result<(), TestbedError> {
    POLLING
        .iter()
        .try_for_each(|(file, value)| shell.set(&polling_file(interface, file), value))
}

fn polling_file(interface: &str, file: &str) -> String {
    format!("/sys/class/net/{interface}/{file}")
}

/// The interfaces of this machine that are ends of the tester, one or two, each in its own namespace. Dropping this gives them back.
#[derive(Debug)]
pub struct Interfaces {
    shell: Shell,
    lent: Vec<LentInterface>,
    namespaces: Vec<Namespace>,
}

/// The state of an interface before it was moved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct LentInterface {
    name: String,
    is_up: bool,
    has_arp: bool,
    /// The sysctls below /proc/sys/net that differ from the defaults of new interfaces, and the files of [`POLLING`], each with its previous value;
    /// also [`NicSetting::noted`] for the settings that a plan changes.
    settings: Vec<(String, String)>,
    /// The commands that restore its addresses and routes.
    addresses: Vec<String>,
}

impl Interfaces {
    /// Checks the left and the right interface and moves each into its own namespace, where it is configured as `wanted` and up, and the kernel
    /// sends nothing on it. `own` says whether it may have addresses, which are restored later.
    ///
    /// # Errors
    /// An interface is in use by this machine, cannot be moved by the kernel, or cannot be configured as wanted. Everything done until then is
    /// undone.
    pub fn take(
        shell: &Shell,
        run: &str,
        names: [&str; 2],
        wanted: &[NicSetting],
        own: OwnAddresses,
    ) -> Result<Self, TestbedError> {
        Self::take_each(
            shell,
            run,
            &[("left", names[0]), ("right", names[1])],
            wanted,
            own,
        )
    }

    /// Does the same with the interface of one end, `left` or `right`, if the tester's other end is on another machine.
    ///
    /// # Errors
    /// As for [`Interfaces::take`].
    pub fn take_one(
        shell: &Shell,
        run: &str,
        end: (&str, &str),
        wanted: &[NicSetting],
        own: OwnAddresses,
    ) -> Result<Self, TestbedError> {
        Self::take_each(shell, run, &[end], wanted, own)
    }

    fn take_each(
        shell: &Shell,
        run: &str,
        ends: &[(&str, &str)],
        wanted: &[NicSetting],
        own: OwnAddresses,
    ) -> Result<Self, TestbedError> {
        ends.iter()
            .try_for_each(|(_, interface)| existing::check(shell, interface, own))?;
        shell
            .transcript()
            .comment("the tester's interfaces, each in a namespace of its own");
        let lent = ends
            .iter()
            .map(|(_, interface)| LentInterface::read(shell, interface, wanted, own))
            .collect::<Result<Vec<_>, _>>()?;
        let namespaces = ends
            .iter()
            .map(|(role, _)| Namespace::new(shell, &name(run, role)))
            .collect::<Result<Vec<_>, _>>()?;
        // Before anything moves, so that a later run can also give back what a killed run had just moved.
        write_note(shell, &namespaces, &lent)?;
        // From here on, the drop gives back every interface that has been moved.
        let interfaces = Self {
            shell: shell.clone(),
            lent,
            namespaces,
        };
        for (lent, namespace) in interfaces.lent.iter().zip(&interfaces.namespaces) {
            move_into(shell, &lent.name, namespace)?;
            nic::apply(&namespace.shell(), &lent.name, wanted)?;
            namespace
                .shell()
                .line(&format!("ip link set {} up", lent.name))?;
        }
        Ok(interfaces)
    }

    /// Returns the names of the interfaces with their namespaces, the left one before the right one.
    pub fn ends(&self) -> impl Iterator<Item = (&str, &Namespace)> {
        self.lent
            .iter()
            .map(|lent| lent.name.as_str())
            .zip(&self.namespaces)
    }

    /// Returns the facts about the interfaces with their current settings, by name.
    pub fn facts(&self) -> BTreeMap<String, String> {
        self.ends()
            .flat_map(|(name, namespace)| {
                Machine::read(&namespace.shell(), &[name]).interface_facts(name)
            })
            .collect()
    }

    /// Returns the kinds of UDP (`udp4`, `udp6`) whose frames each interface with several queues spreads by their addresses alone, by interface.
    pub fn spread_by_addresses(&self) -> BTreeMap<String, Vec<&'static str>> {
        self.ends()
            .map(|(name, namespace)| {
                let hashes = UDP_FLOWS.map(|flow| format!("-n {name} rx-flow-hash {flow}"));
                let arguments = [&[format!("-x {name}")], &hashes[..]].concat();
                let machine = Machine::read_ethtool(&namespace.shell(), &arguments);
                (name.to_owned(), machine.spread_by_addresses(name))
            })
            .filter(|(_, flows)| !flows.is_empty())
            .collect()
    }

    /// Makes the interfaces defer their interrupts in favour of polling threads until they are given back.
    ///
    /// # Errors
    /// The kernel does not accept the settings.
    pub fn defer_interrupts(&self) -> Result<(), TestbedError> {
        self.ends()
            .try_for_each(|(interface, namespace)| defer_interrupts(&namespace.shell(), interface))
    }

    /// Waits until all interfaces have a carrier, which requires the device at their other ends.
    ///
    /// # Errors
    /// An interface has no carrier in time.
    pub fn wait_for_carriers(&self) -> Result<(), TestbedError> {
        let mut wait = self.shell.wait(CARRIER_TIMEOUT, Duration::from_millis(20));
        for (interface, namespace) in self.ends() {
            while !self.shell.is_rehearsal() && !has_carrier(&namespace.shell(), interface)? {
                if wait.is_over() {
                    let seconds = CARRIER_TIMEOUT.as_secs();
                    let fault = InterfaceFault::NoCarrier { seconds };
                    return Err(InterfaceError::here(interface, fault).into());
                }
                wait.rest(|| format!("a carrier on interface {interface}"))?;
            }
        }
        Ok(())
    }
}

impl Drop for Interfaces {
    fn drop(&mut self) {
        let home = own_home();
        let pairs = self.namespaces.iter().zip(&self.lent);
        let outcomes: Vec<_> = pairs
            .map(|(namespace, lent)| give_back(namespace.name(), lent, &home, &self.shell))
            .collect();
        if !outcomes.contains(&ReturnOutcome::Failed) && !self.shell.is_rehearsal() {
            let _ = fs::remove_file(note_of(std::process::id(), self.namespaces[0].name()));
        }
    }
}

impl LentInterface {
    fn read(
        shell: &Shell,
        interface: &str,
        wanted: &[NicSetting],
        own: OwnAddresses,
    ) -> Result<Self, TestbedError> {
        let described = shell.look(&["ip", "-o", "link", "show", "dev", interface])?;
        let flags = described
            .split_once('<')
            .and_then(|(_, rest)| rest.split_once('>'))
            .map_or("", |(flags, _)| flags);
        let has = |flag| flags.split(',').any(|own| own == flag);
        let polling = POLLING.iter().filter_map(|(file, _)| {
            let path = polling_file(interface, file);
            let held = fs::read_to_string(&path).ok()?;
            Some((path, held.trim().to_owned()))
        });
        let held = nic::held(shell, interface, wanted)
            .into_iter()
            .map(NicSetting::noted);
        let settings = SETTINGS
            .iter()
            .flat_map(|folder| own_settings(folder, interface))
            .chain(polling)
            .chain(held)
            .collect();
        let addresses = match own {
            OwnAddresses::Lent => lent_addresses::commands(shell, interface)?,
            OwnAddresses::Refused => Vec::new(),
        };
        Ok(Self {
            name: interface.to_owned(),
            is_up: has("UP"),
            has_arp: !has("NOARP"),
            settings,
            addresses,
        })
    }

    fn to_lines(&self) -> String {
        let Self {
            name,
            is_up,
            has_arp,
            settings,
            addresses,
        } = self;
        let settings: String = settings
            .iter()
            .map(|(path, value)| format!("setting {path} {value}\n"))
            .collect();
        let addresses: String = addresses
            .iter()
            .map(|command| format!("command {command}\n"))
            .collect();
        format!("interface {name} {is_up} {has_arp}\n{settings}{addresses}")
    }
}

/// Returns the settings that differ from the default for this interface only. Some cannot be read before they have been set.
fn own_settings(folder: &str, interface: &str) -> Vec<(String, String)> {
    let root = Path::new("/proc/sys/net").join(folder);
    let entries = fs::read_dir(root.join(interface))
        .into_iter()
        .flatten()
        .filter_map(Result::ok);
    let read = |owner: &str, file: &std::ffi::OsStr| {
        Some(
            fs::read_to_string(root.join(owner).join(file))
                .ok()?
                .trim()
                .to_owned(),
        )
    };
    let mut settings: Vec<(String, String)> = entries
        .filter_map(|entry| {
            let file = entry.file_name();
            let own = read(interface, &file)?;
            let is_own =
                read("default", &file).is_some_and(|default| default != own) && !own.is_empty();
            // The interface keeps its MTU when it moves.
            let path = root.join(interface).join(&file);
            (is_own && file != "mtu").then(|| (path.to_string_lossy().into_owned(), own))
        })
        .collect();
    settings.sort();
    settings
}

/// Moves an interface into a namespace, where the kernel must not send anything: the tester itself answers for its addresses.
fn move_into(shell: &Shell, interface: &str, namespace: &Namespace) -> Result<(), TestbedError> {
    let inside = namespace.shell();
    // The interface takes the defaults of the namespace when it enters.
    inside.set("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1")?;
    inside.set("/proc/sys/net/ipv6/conf/default/accept_dad", "0")?;
    inside.set("/proc/sys/net/ipv6/conf/default/router_solicitations", "0")?;
    shell
        .line(&format!(
            "ip link set {interface} netns {}",
            namespace.name()
        ))
        .map_err(|error| {
            error.restated(|cause| {
                InterfaceError::here(interface, InterfaceFault::NotMoved { cause })
            })
        })?;
    inside
        .line(&format!("ip link set {interface} arp off"))
        .map(drop)
}

fn has_carrier(shell: &Shell, interface: &str) -> Result<bool, TestbedError> {
    Ok(shell
        .look(&["ip", "-o", "link", "show", "dev", interface])?
        .contains("LOWER_UP"))
}

/// The namespace to which interfaces are given back.
struct Home {
    /// The namespace in the form accepted by `ip link set netns`.
    target: String,
    /// Its name under /run/netns, or `None` if this process is in it.
    name: Option<String>,
}

fn own_home() -> Home {
    let own = std::process::id();
    // For users who replay the transcript, the first process is equivalent and still exists.
    let first = namespace_of("1").filter(|first| Some(*first) == namespace_of("self"));
    Home {
        target: first.map_or(own, |_| 1).to_string(),
        name: None,
    }
}

/// Returns the inode number of a process's network namespace.
fn namespace_of(process: &str) -> Option<u64> {
    fs::metadata(format!("/proc/{process}/ns/net"))
        .ok()
        .map(|metadata| metadata.ino())
}

/// Returns the namespace with this inode number, if it is this process's own or has a name.
fn home_of(number: u64) -> Option<Home> {
    if namespace_of("self") == Some(number) {
        return Some(own_home());
    }
    let mut named = fs::read_dir("/run/netns")
        .into_iter()
        .flatten()
        .filter_map(Result::ok);
    let found = named
        .find(|entry| fs::metadata(entry.path()).is_ok_and(|metadata| metadata.ino() == number))?;
    let name = found.file_name().to_string_lossy().into_owned();
    Some(Home {
        target: name.clone(),
        name: Some(name),
    })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReturnOutcome {
    /// The interface is not in the namespace: it was never moved, or it no longer exists.
    NotThere,
    Returned,
    Failed,
}

fn give_back(namespace: &str, lent: &LentInterface, home: &Home, shell: &Shell) -> ReturnOutcome {
    let shell = &shell.for_undoing();
    let inside = shell.within(namespace);
    if !shell.is_rehearsal()
        && inside
            .look(&["ip", "link", "show", "dev", &lent.name])
            .is_err()
    {
        return ReturnOutcome::NotThere;
    }
    match restore(&inside, lent, home, shell) {
        Ok(()) => ReturnOutcome::Returned,
        Err(error) => {
            let what = format!(
                "cannot give interface {} back (ip -n {namespace} link set {} netns 1)",
                lent.name, lent.name
            );
            warn(&what, &error);
            ReturnOutcome::Failed
        }
    }
}

fn restore(
    inside: &Shell,
    lent: &LentInterface,
    home: &Home,
    shell: &Shell,
) -> Result<(), TestbedError> {
    let LentInterface {
        name,
        is_up,
        has_arp,
        settings,
        addresses,
    } = lent;
    inside.line(&format!("ip link set {name} down"))?;
    inside.line(&format!("ip address flush dev {name}"))?;
    inside.line(&format!(
        "ip link set {name} arp {}",
        if *has_arp { "on" } else { "off" }
    ))?;
    inside.line(&format!("ip link set {name} netns {}", home.target))?;
    let outside = home
        .name
        .as_ref()
        .map_or_else(|| shell.clone(), |home| shell.within(home));
    let of_nic: Vec<NicSetting> = settings.iter().filter_map(NicSetting::of_note).collect();
    nic::restore(&outside, name, &of_nic);
    for (path, value) in settings
        .iter()
        .filter(|setting| NicSetting::of_note(setting).is_none())
    {
        // Some settings follow from others and cannot be written.
        if let Err(error) = outside.set(path, value) {
            warn(
                &format!("cannot set {path} of interface {name} back to {value}"),
                &error,
            );
        }
    }
    if *is_up {
        outside.line(&format!("ip link set {name} up"))?;
    }
    for command in addresses {
        // The kernel may already have restored some of them by itself.
        if let Err(error) = outside.line(command) {
            warn(
                &format!("cannot give interface {name} back what it had ({command})"),
                &error,
            );
        }
    }
    Ok(())
}

/// Writes the note from which a later run can give back the interfaces if this run cannot.
fn write_note(
    shell: &Shell,
    namespaces: &[Namespace],
    lent: &[LentInterface],
) -> Result<(), TestbedError> {
    if shell.is_rehearsal() {
        return Ok(());
    }
    let number = namespace_of("self").unwrap_or_default();
    let lines: String = namespaces
        .iter()
        .zip(lent)
        .map(|(namespace, lent)| format!("namespace {}\n{}", namespace.name(), lent.to_lines()))
        .collect();
    let path = note_of(std::process::id(), namespaces[0].name());
    fs::write(&path, format!("home {number}\n{lines}")).map_err(TestbedError::file("write", &path))
}

/// Returns the path of the note for namespaces that were created together. It contains the name of the first, because a process may have several
/// sets.
fn note_of(process: u32, namespace: &str) -> PathBuf {
    let run = namespace
        .strip_prefix(&format!("sb-{process}-"))
        .unwrap_or(namespace);
    Path::new(NOTES).join(format!("sb-{process}-{run}{NOTE_SUFFIX}"))
}

fn owner(note: &Path) -> Option<u32> {
    let name = note.file_name()?.to_str()?;
    name.strip_suffix(NOTE_SUFFIX)?
        .strip_prefix("sb-")?
        .split('-')
        .next()?
        .parse()
        .ok()
}

/// Parses a note. Returns the inode number of the home namespace, and each interface with the namespace it is in.
fn read_note(text: &str) -> (u64, Vec<(String, LentInterface)>) {
    let (mut home, mut namespace, mut all) =
        (0, String::new(), Vec::<(String, LentInterface)>::new());
    for line in text.lines() {
        let mut words = line.splitn(3, ' ');
        match (words.next(), words.next(), words.next()) {
            (Some("home"), Some(number), None) => home = number.parse().unwrap_or_default(),
            (Some("namespace"), Some(name), None) => name.clone_into(&mut namespace),
            (Some("interface"), Some(name), Some(state)) => {
                let (is_up, has_arp) = state.split_once(' ').unwrap_or_default();
                let (is_up, has_arp) = (is_up == "true", has_arp == "true");
                let lent = LentInterface {
                    name: name.to_owned(),
                    is_up,
                    has_arp,
                    ..LentInterface::default()
                };
                all.push((namespace.clone(), lent));
            }
            (Some("setting"), Some(path), Some(value)) => {
                all.iter_mut()
                    .last()
                    .into_iter()
                    .for_each(|(_, lent)| lent.settings.push((path.to_owned(), value.to_owned())));
            }
            (Some("command"), Some(program), Some(rest)) => {
                all.iter_mut()
                    .last()
                    .into_iter()
                    .for_each(|(_, lent)| lent.addresses.push(format!("{program} {rest}")));
            }
            _ => {}
        }
    }
    (home, all)
}

/// Gives back the interfaces of runs that were killed before they could do so, and returns their names. An interface destroyed with its namespace,
/// or without a home namespace, is forgotten.
pub fn give_back_stale(shell: &Shell) -> Vec<String> {
    let entries = fs::read_dir(NOTES)
        .into_iter()
        .flatten()
        .filter_map(Result::ok)
        .map(|entry| entry.path());
    let mut returned = Vec::new();
    for note in entries.filter(|path| owner(path).is_some_and(|process| !is_alive(process))) {
        let (number, lent) = read_note(&fs::read_to_string(&note).unwrap_or_default());
        let home = home_of(number);
        let outcomes: Vec<ReturnOutcome> = home
            .iter()
            .flat_map(|home| {
                lent.iter()
                    .map(|(namespace, lent)| give_back(namespace, lent, home, shell))
            })
            .collect();
        let given_back = lent
            .iter()
            .zip(&outcomes)
            .filter(|(_, outcome)| **outcome == ReturnOutcome::Returned);
        returned.extend(given_back.map(|((_, lent), _)| lent.name.clone()));
        if !outcomes.contains(&ReturnOutcome::Failed) {
            let _ = fs::remove_file(&note);
        }
    }
    returned
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_tells_its_process_and_is_read_back() {
        assert_eq!(owner(&note_of(7, "sb-7-left")), Some(7));
        assert_eq!(owner(Path::new("/run/sb-7-switches")), None);
        let setting = (
            "/proc/sys/net/ipv6/conf/e0/accept_ra".to_owned(),
            "0".to_owned(),
        );
        let lent = [
            LentInterface {
                name: "e0".to_owned(),
                is_up: true,
                has_arp: true,
                settings: vec![setting],
                addresses: vec!["ip address replace 10.0.0.1/24 dev e0".to_owned()],
            },
            LentInterface {
                name: "e1".to_owned(),
                has_arp: true,
                ..LentInterface::default()
            },
        ];
        let text = format!(
            "home 42\nnamespace sb-7-left\n{}namespace sb-7-right\n{}",
            lent[0].to_lines(),
            lent[1].to_lines()
        );
        let [first, second] = lent;
        let expected = vec![
            ("sb-7-left".to_owned(), first),
            ("sb-7-right".to_owned(), second),
        ];
        assert_eq!(read_note(&text), (42, expected));
    }
}
