//! Settings of ethtool for what an interface does to frames by itself: offloads, ring sizes, the hash fields that select a frame's queue, how long its interrupts
//! wait for further frames, and flow control.
//! The kernel keeps them when an interface moves to another namespace, so they must be restored explicitly.
//!
//! # Flow control
//!
//! A device that cannot keep up may send PAUSE frames (IEEE 802.3, annex 31B), and the tester's NIC would then stop sending: the loss of the device would
//! look like a tester that is too slow. So flow control is off at the tester's interfaces, unless a plan keeps it. Many interfaces have none, and some
//! drivers cannot change it; neither is a reason not to measure, so this setting is not required to succeed. Nor is the number of queues: a backend that
//! cannot serve those that are there says so.

use crate::exec::{InterfaceError, Shell, TestbedError, Undo, warn};
use crate::facts::{COMBINED, FLOW_CONTROL, Machine, UDP_FLOWS};
use serde::{Deserialize, Serialize};

/// A kind of setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum NicKind {
    /// An offload, named as in `ethtool -k`: `on` or `off`.
    Offload,
    /// The size of the ring `rx` or `tx`, in frames.
    Ring,
    /// The fields of the RSS hash of `udp4` or `udp6`, as letters for `ethtool -N`.
    HashFields,
    /// The number of queues that send and receive, `combined`.
    Queues,
    /// Interrupt coalescing: the delays `rx-usecs` and `tx-usecs` in microseconds; `adaptive-rx` and `adaptive-tx`, by which the driver chooses them: `on` or
    /// `off`.
    Coalescing,
    /// Flow control by PAUSE frames: `autoneg`, `rx` or `tx`, as in `ethtool -A`: `on` or `off`.
    FlowControl,
}

/// A setting and its value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NicSetting {
    /// The kind of the setting.
    pub kind: NicKind,
    /// The name of the setting, as ethtool accepts it.
    pub name: String,
    /// The value, as ethtool accepts it.
    pub value: String,
}

/// The kinds, with the prefixes of their paths in the notes of a run.
const KINDS: [(NicKind, &str); 6] = [
    (NicKind::Offload, "ethtool/offload/"),
    (NicKind::Ring, "ethtool/ring/"),
    (NicKind::HashFields, "ethtool/hash/"),
    (NicKind::Queues, "ethtool/queues/"),
    (NicKind::Coalescing, "ethtool/coalescing/"),
    (NicKind::FlowControl, "ethtool/flow-control/"),
];

impl NicSetting {
    /// Returns the setting of this kind, name and value.
    pub fn new(kind: NicKind, name: impl Into<String>, value: impl Into<String>) -> Self {
        Self {
            kind,
            name: name.into(),
            value: value.into(),
        }
    }

    /// Returns the settings that turn flow control off. Its negotiation is among them, since drivers of Intel ignore the others while it is on.
    pub fn no_flow_control() -> [Self; 3] {
        FLOW_CONTROL.map(|(_, name)| Self::new(NicKind::FlowControl, name, "off"))
    }

    /// Returns the setting of this many queues.
    pub fn queues(number: u32) -> Self {
        Self::new(NicKind::Queues, COMBINED, number.to_string())
    }

    /// Returns the settings that fix the delay of the interrupts of received (`rx`) or sent (`tx`) frames, in microseconds.
    pub fn interrupt_delay(way: &str, delay_us: u32) -> [Self; 2] {
        [
            Self::new(NicKind::Coalescing, format!("adaptive-{way}"), "off"),
            Self::new(
                NicKind::Coalescing,
                format!("{way}-usecs"),
                delay_us.to_string(),
            ),
        ]
    }

    /// Returns whether the setting turns off what an interface need not have.
    fn is_needless_without(&self, before: &[Self]) -> bool {
        self.kind == NicKind::Coalescing
            && self.name.starts_with("adaptive-")
            && before.iter().all(|held| held.name != self.name)
    }

    /// Returns the path and value that represent the setting in a note.
    pub(super) fn noted(self) -> (String, String) {
        let (_, folder) = KINDS
            .iter()
            .find(|(kind, _)| *kind == self.kind)
            .expect("a kind is in the list");
        (format!("{folder}{}", self.name), self.value)
    }

    /// Parses the result of [`NicSetting::noted`]. Returns `None` for the path of a file.
    pub(super) fn of_note((path, value): &(String, String)) -> Option<Self> {
        KINDS
            .iter()
            .find_map(|(kind, folder)| Some(Self::new(*kind, path.strip_prefix(folder)?, value)))
    }
}

/// Returns an interface's current settings of the wanted kinds.
pub(super) fn held(shell: &Shell, interface: &str, wanted: &[NicSetting]) -> Vec<NicSetting> {
    if wanted.is_empty() {
        return Vec::new();
    }
    let is_wanted = |kind: NicKind| wanted.iter().any(|setting| setting.kind == kind);
    let machine = Machine::read_ethtool(shell, &arguments(interface, is_wanted));
    let offloads = machine
        .offloads(interface)
        .into_iter()
        .filter(|offload| !offload.is_fixed);
    let offloads = offloads.map(|offload| {
        NicSetting::new(
            NicKind::Offload,
            offload.name,
            if offload.is_on { "on" } else { "off" },
        )
    });
    let rings = machine.rings(interface).into_iter();
    let rings = rings.map(|ring| {
        NicSetting::new(
            NicKind::Ring,
            ring.name.to_lowercase(),
            ring.now.to_string(),
        )
    });
    let queues = machine.combined_queues(interface).into_iter();
    let flow_control = machine.flow_control(interface).into_iter();
    let flow_control =
        flow_control.map(|(name, value)| NicSetting::new(NicKind::FlowControl, name, value));
    offloads
        .chain(rings)
        .chain(hash_fields(&machine, interface))
        .chain(queues.map(NicSetting::queues))
        .chain(coalescing(&machine, interface))
        .chain(flow_control)
        .filter(|setting| is_wanted(setting.kind))
        .collect()
}

/// Returns the arguments with which ethtool prints the settings of the wanted kinds.
fn arguments(interface: &str, is_wanted: impl Fn(NicKind) -> bool) -> Vec<String> {
    let options = [
        (NicKind::Offload, format!("-k {interface}")),
        (NicKind::Ring, format!("-g {interface}")),
        (
            NicKind::HashFields,
            format!("-n {interface} rx-flow-hash udp4"),
        ),
        (
            NicKind::HashFields,
            format!("-n {interface} rx-flow-hash udp6"),
        ),
        (NicKind::Queues, format!("-l {interface}")),
        (NicKind::Coalescing, format!("-c {interface}")),
        (NicKind::FlowControl, format!("-a {interface}")),
    ];
    let wanted = options.into_iter().filter(|(kind, _)| is_wanted(*kind));
    wanted.map(|(_, arguments)| arguments).collect()
}

fn hash_fields(machine: &Machine, interface: &str) -> impl Iterator<Item = NicSetting> {
    let flows = UDP_FLOWS.into_iter();
    flows.filter_map(move |flow| {
        let fields = machine.hash_fields(interface, flow)?;
        Some(NicSetting::new(NicKind::HashFields, flow, fields))
    })
}

fn coalescing(machine: &Machine, interface: &str) -> impl Iterator<Item = NicSetting> {
    let settings = machine.coalescing(interface).into_iter();
    settings.map(|(name, value)| NicSetting::new(NicKind::Coalescing, name, value))
}

/// Refuses a setting that the interface does not have, or whose value before could not be set again afterwards.
fn check_restorable(
    interface: &str,
    setting: &NicSetting,
    before: &[NicSetting],
) -> Result<(), TestbedError> {
    let of_same_name = before
        .iter()
        .find(|held| (held.kind, &held.name) == (setting.kind, &setting.name));
    let why = match of_same_name.map(|held| held.value.as_str()) {
        None => "it has no such setting",
        Some("none") => "it has none now, which could not be set again",
        Some(_) => return Ok(()),
    };
    Err(refused(interface, setting, why))
}

/// Applies the settings that a plan wants.
///
/// # Errors
/// The interface does not have such a setting, or does not accept the value.
pub(super) fn apply(
    shell: &Shell,
    interface: &str,
    wanted: &[NicSetting],
) -> Result<(), TestbedError> {
    if shell.is_rehearsal() {
        return commands(interface, wanted)
            .iter()
            .try_for_each(|line| shell.line(line).map(drop));
    }
    let before = held(shell, interface, wanted);
    let (optional, wanted): (Vec<NicSetting>, Vec<NicSetting>) = wanted
        .iter()
        .filter(|setting| !setting.is_needless_without(&before))
        .cloned()
        .partition(|setting| matches!(setting.kind, NicKind::FlowControl | NicKind::Queues));
    wanted
        .iter()
        .filter(|setting| setting.kind != NicKind::Offload)
        .try_for_each(|setting| check_restorable(interface, setting, &before))?;
    change(shell, interface, &before, &wanted)?;
    let (flow_control, queues): (Vec<NicSetting>, Vec<NicSetting>) = optional
        .into_iter()
        .partition(|setting| setting.kind == NicKind::FlowControl);
    set_queues(shell, interface, &before, &queues)?;
    if let Some(why) = stop_pausing(shell, interface, &before, &flow_control)? {
        let text = format!(
            "cannot turn off flow control of interface {interface}; a device that sends PAUSE frames would slow the tester down"
        );
        warn(&text, &why);
    }
    check_taken(shell, interface, &wanted)
}

/// Refuses settings that are not there after they were set: `ethtool -N` succeeds even if a driver ignores the fields, and `-C` if it takes another delay.
fn check_taken(shell: &Shell, interface: &str, wanted: &[NicSetting]) -> Result<(), TestbedError> {
    let after = held(shell, interface, wanted);
    let not_taken = wanted.iter().find(|setting| {
        matches!(setting.kind, NicKind::HashFields | NicKind::Coalescing)
            && !after.contains(setting)
    });
    let Some(setting) = not_taken else {
        return Ok(());
    };
    let why = match setting.kind {
        NicKind::HashFields => "the driver does not take them",
        _ => "the driver takes another value",
    };
    Err(refused(interface, setting, why))
}

/// Applies the number of queues to an interface that has queues which send and receive.
///
/// # Errors
/// The user wants to stop.
fn set_queues(
    shell: &Shell,
    interface: &str,
    before: &[NicSetting],
    wanted: &[NicSetting],
) -> Result<(), TestbedError> {
    if before.iter().any(|held| held.kind == NicKind::Queues)
        && let Err(error) = change(shell, interface, before, wanted)
    {
        warn(
            &format!("cannot set the number of queues of interface {interface}"),
            &error,
        );
    }
    shell.context().check()
}

/// Turns off flow control of an interface that has it. Drivers that do not let its negotiation be turned off may obey without. Returns why it is still on,
/// if it is.
///
/// # Errors
/// The user wants to stop.
fn stop_pausing(
    shell: &Shell,
    interface: &str,
    before: &[NicSetting],
    wanted: &[NicSetting],
) -> Result<Option<String>, TestbedError> {
    if wanted.is_empty() || before.iter().all(|held| held.kind != NicKind::FlowControl) {
        return Ok(None);
    }
    let mut why = None;
    for attempt in [wanted, &wanted[1..]] {
        let tried = change(shell, interface, before, attempt);
        shell.context().check()?;
        let after = held(shell, interface, wanted);
        let on = pausing(&after);
        why = match tried {
            Ok(()) if on.is_empty() => return Ok(None),
            Ok(()) => Some(format!("the driver leaves {} on", on.join(" and "))),
            Err(error) => Some(error.to_string()),
        };
    }
    Ok(why)
}

/// Returns the ways, `rx` and `tx`, in which an interface with these settings pauses or makes others pause.
fn pausing(settings: &[NicSetting]) -> Vec<&str> {
    settings
        .iter()
        .filter(|held| held.kind == NicKind::FlowControl && held.name != "autoneg")
        .filter(|held| held.value != "off")
        .map(|held| held.name.as_str())
        .collect()
}

/// Applies the settings to an interface of another machine. `undo` restores those that were there.
///
/// # Errors
/// Those of [`apply`].
pub(crate) fn set_until_undone(
    shell: &Shell,
    interface: &str,
    wanted: &[NicSetting],
    undo: &Undo,
) -> Result<(), TestbedError> {
    let before = if shell.is_rehearsal() {
        Vec::new()
    } else {
        held(shell, interface, wanted)
    };
    let is_changed = |held: &&NicSetting| {
        held.value != "none"
            && wanted
                .iter()
                .any(|setting| (setting.kind, &setting.name) == (held.kind, &held.name))
    };
    let changed: Vec<NicSetting> = before.iter().filter(is_changed).cloned().collect();
    // Recorded first, because a command may have taken effect even if we did not see it finish. The last line recorded is the first that is run.
    commands(interface, &changed)
        .into_iter()
        .rev()
        .try_for_each(|line| undo.by_line(line))?;
    apply(shell, interface, wanted)
}

/// Restores an interface's previous settings.
pub(super) fn restore(shell: &Shell, interface: &str, before: &[NicSetting]) {
    let now = held(shell, interface, before);
    if let Err(error) = change(shell, interface, &now, before) {
        warn(
            &format!("cannot set interface {interface} back (see ethtool)"),
            &error,
        );
    }
}

/// Changes only the settings that differ, because a driver may reset its link even if a setting stays the same.
fn change(
    shell: &Shell,
    interface: &str,
    now: &[NicSetting],
    wanted: &[NicSetting],
) -> Result<(), TestbedError> {
    let other: Vec<NicSetting> = wanted
        .iter()
        .filter(|setting| !now.contains(setting))
        .cloned()
        .collect();
    commands(interface, &other)
        .iter()
        .try_for_each(|line| shell.line(line).map(drop))
}

/// Returns the commands for these settings: one for all offloads, because some depend on others. Drivers take delays only while they do not choose them
/// (`adaptive`), so that this is turned on last.
fn commands(interface: &str, settings: &[NicSetting]) -> Vec<String> {
    let of = |kind| settings.iter().filter(move |setting| setting.kind == kind);
    let (chosen, fixed): (Vec<_>, Vec<_>) =
        of(NicKind::Coalescing).partition(|setting| setting.value == "on");
    let together = [
        ("-K", of(NicKind::Offload).collect()),
        ("-G", of(NicKind::Ring).collect()),
        ("-L", of(NicKind::Queues).collect()),
        ("-C", fixed),
        ("-C", chosen),
        ("-A", of(NicKind::FlowControl).collect()),
    ]
    .map(|(option, settings): (&str, Vec<&NicSetting>)| {
        let words: String = settings
            .iter()
            .map(|setting| format!(" {} {}", setting.name, setting.value))
            .collect();
        (!words.is_empty()).then(|| format!("ethtool {option} {interface}{words}"))
    });
    let hash = |setting: &NicSetting| {
        format!(
            "ethtool -N {interface} rx-flow-hash {} {}",
            setting.name, setting.value
        )
    };
    together
        .into_iter()
        .flatten()
        .chain(of(NicKind::HashFields).map(hash))
        .collect()
}

fn refused(interface: &str, setting: &NicSetting, why: &str) -> TestbedError {
    let what = match setting.kind {
        NicKind::Offload => "the offload",
        NicKind::Ring => "the ring",
        NicKind::HashFields => "the RSS hash fields of",
        NicKind::Queues => "the queues",
        NicKind::Coalescing => "the interrupt coalescing",
        NicKind::FlowControl => "the flow control",
    };
    let NicSetting { name, value, .. } = setting;
    InterfaceError::Setting {
        interface: interface.to_owned(),
        what,
        setting: name.clone(),
        value: value.clone(),
        why: why.to_owned(),
    }
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::ExecTarget;
    use NicKind::{Coalescing, FlowControl, HashFields, Offload, Ring};
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::PathBuf;

    #[test]
    fn a_note_is_read_back_and_the_path_of_a_file_is_no_setting() {
        for setting in [
            NicSetting::new(Offload, "rx-gro", "on"),
            NicSetting::new(Ring, "rx", "512"),
            NicSetting::new(FlowControl, "rx", "on"),
            NicSetting::new(Coalescing, "rx-usecs", "3"),
        ] {
            assert_eq!(NicSetting::of_note(&setting.clone().noted()), Some(setting));
        }
        let file = (
            "/proc/sys/net/ipv6/conf/e0/accept_ra".to_owned(),
            "0".to_owned(),
        );
        assert_eq!(NicSetting::of_note(&file), None);
    }

    #[test]
    fn what_is_set_together_is_one_command() {
        let settings = [
            NicSetting::new(Ring, "rx", "4096"),
            NicSetting::new(HashFields, "udp4", "sdfn"),
            NicSetting::new(Offload, "rx-gro", "off"),
            NicSetting::new(Offload, "tx-checksumming", "on"),
            NicSetting::new(FlowControl, "autoneg", "off"),
            NicSetting::new(FlowControl, "rx", "off"),
            NicSetting::queues(2),
            NicSetting::new(Coalescing, "adaptive-rx", "on"),
            NicSetting::new(Coalescing, "rx-usecs", "8"),
        ];
        let expected = [
            "ethtool -K e0 rx-gro off tx-checksumming on",
            "ethtool -G e0 rx 4096",
            "ethtool -L e0 combined 2",
            "ethtool -C e0 rx-usecs 8",
            "ethtool -C e0 adaptive-rx on",
            "ethtool -A e0 autoneg off rx off",
            "ethtool -N e0 rx-flow-hash udp4 sdfn",
        ];
        assert_eq!(commands("e0", &settings), expected);
    }

    /// The driver of a network card, as `ethtool` shows it: flow control is on at first, and `ethtool -A` runs this line of a shell script, in which `$2` and
    /// what follows are the settings, and `$state` is the file with what `ethtool -a` prints.
    struct FakeDriver(PathBuf);

    impl FakeDriver {
        fn new(name: &str, line: &str) -> Self {
            let at = std::env::temp_dir().join(format!("sixbench-{name}-{}", std::process::id()));
            fs::create_dir_all(&at).expect("a directory");
            let (path, state) = (at.display(), at.join("state"));
            let ethtool = format!(
                "#!/bin/sh\nstate={}\noption=$1\nshift\n[ \"$option\" = -A ] || exec cat $state\n{line}\n",
                state.display()
            );
            fs::write(
                &state,
                "Pause parameters for e0:\nAutonegotiate:\ton\nRX:\t\ton\nTX:\t\ton\n",
            )
            .expect("a file");
            fs::write(at.join("ethtool"), ethtool).expect("a file");
            let executable = fs::Permissions::from_mode(0o700);
            fs::set_permissions(at.join("ethtool"), executable).expect("its mode");
            let inside = format!("PATH={path}:$PATH\nexec \"$@\"\n");
            fs::write(at.join("inside"), inside).expect("a file");
            Self(at)
        }

        /// Returns why flow control is still on after it was to be turned off.
        fn still_on(&self) -> Option<String> {
            let shell = Shell::new().at(ExecTarget::Lab(self.0.join("inside")));
            let wanted = NicSetting::no_flow_control();
            let before = held(&shell, "e0", &wanted);
            assert_eq!(before.len(), 3, "{before:?}");
            stop_pausing(&shell, "e0", &before, &wanted).expect("no stop")
        }
    }

    impl Drop for FakeDriver {
        fn drop(&mut self) {
            fs::remove_dir_all(&self.0).expect("removed");
        }
    }

    #[test]
    fn flow_control_that_a_driver_leaves_on_is_told() {
        let obeys = FakeDriver::new("obeys", "sed -i s/on$/off/ $state");
        assert_eq!(obeys.still_on(), None);
        let refuses = FakeDriver::new("refuses", "echo not supported >&2; exit 1");
        let why = refuses.still_on().expect("it is on");
        assert!(why.contains("not supported"), "{why}");
        let without_autoneg = FakeDriver::new(
            "partly",
            "case $* in *autoneg*) exit 1 ;; *) sed -i '/X:/s/on$/off/' $state ;; esac",
        );
        assert_eq!(without_autoneg.still_on(), None);
        let silent = FakeDriver::new("silent", "sed -i '/RX/s/on$/off/' $state");
        let why = silent.still_on();
        assert_eq!(why.as_deref(), Some("the driver leaves tx on"));
    }
}
