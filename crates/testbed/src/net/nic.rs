//! Settings of ethtool for what an interface does to frames by itself: offloads, ring sizes, and the hash fields that select a frame's queue. The
//! kernel keeps them when an interface moves to another namespace, so they must be restored explicitly.

use crate::exec::{Shell, TestbedError, Undo, warn};
use crate::facts::Machine;
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
const KINDS: [(NicKind, &str); 3] = [
    (NicKind::Offload, "ethtool/offload/"),
    (NicKind::Ring, "ethtool/ring/"),
    (NicKind::HashFields, "ethtool/hash/"),
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
    let machine = Machine::read(shell, &[interface]);
    let is_wanted = |kind: NicKind| wanted.iter().any(|setting| setting.kind == kind);
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
    let hashes = ["udp4", "udp6"].into_iter();
    let hashes = hashes.filter_map(|flow| {
        Some(NicSetting::new(
            NicKind::HashFields,
            flow,
            machine.hash_fields(interface, flow)?,
        ))
    });
    offloads
        .chain(rings)
        .chain(hashes)
        .filter(|setting| is_wanted(setting.kind))
        .collect()
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
    for setting in wanted
        .iter()
        .filter(|setting| setting.kind != NicKind::Offload)
    {
        let NicSetting { name, .. } = setting;
        match before
            .iter()
            .find(|held| (held.kind, &held.name) == (setting.kind, name))
            .map(|held| held.value.as_str())
        {
            None => return Err(refused(interface, setting, "it has no such setting")),
            Some("none") => {
                return Err(refused(
                    interface,
                    setting,
                    "it has none now, which could not be set again",
                ));
            }
            Some(_) => {}
        }
    }
    change(shell, interface, &before, wanted)?;
    // `ethtool -N` succeeds even if a driver ignores the fields.
    let after = held(shell, interface, wanted);
    let is_there =
        |setting: &&NicSetting| setting.kind != NicKind::HashFields || after.contains(setting);
    match wanted.iter().find(|setting| !is_there(setting)) {
        Some(setting) => Err(refused(interface, setting, "the driver does not take them")),
        None => Ok(()),
    }
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
    // Recorded first, because a command may have taken effect even if we did not see it finish.
    commands(interface, &changed)
        .into_iter()
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

/// Returns the commands for these settings: one for all offloads, because some depend on others.
fn commands(interface: &str, settings: &[NicSetting]) -> Vec<String> {
    let of = |kind| settings.iter().filter(move |setting| setting.kind == kind);
    let together = [("-K", NicKind::Offload), ("-G", NicKind::Ring)].map(|(option, kind)| {
        let words: String = of(kind)
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
    };
    let NicSetting { name, value, .. } = setting;
    TestbedError::Other(format!(
        "cannot set {what} {name} of interface {interface} to {value}: {why}; leave the key out of [testbed], or see ethtool"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use NicKind::{HashFields, Offload, Ring};

    #[test]
    fn a_note_is_read_back_and_the_path_of_a_file_is_no_setting() {
        for setting in [
            NicSetting::new(Offload, "rx-gro", "on"),
            NicSetting::new(Ring, "rx", "512"),
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
        ];
        let expected = [
            "ethtool -K e0 rx-gro off tx-checksumming on",
            "ethtool -G e0 rx 4096",
            "ethtool -N e0 rx-flow-hash udp4 sdfn",
        ];
        assert_eq!(commands("e0", &settings), expected);
    }
}
