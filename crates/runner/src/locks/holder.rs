//! Who has cores and ports of a machine for itself, and how this is told to a run that needs them, too.

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt::{self, Display, Formatter};
use std::path::PathBuf;

/// The variable that names another directory for locks.
pub(super) const VARIABLE: &str = "SIXBENCH_LOCKS";

/// The reason why a run does not get what it needs for itself.
#[derive(Debug, thiserror::Error)]
// The message over each variant says what its fields are.
#[allow(missing_docs)]
pub enum LockError {
    /// Another run has some of it.
    #[error("{what} used by {holder}")]
    Held { what: String, holder: Box<LockHolder> },
    /// Another machine that the run needs is used by another tester, or by a run on that machine itself.
    #[error("the machine {machine} is used by {}", on_host(holder.as_deref()))]
    Machine { machine: String, holder: Option<Box<LockHolder>> },
    /// This machine is the device of a tester on another machine.
    #[error("this machine is the device of {}", on_host(holder.as_deref()))]
    IsDevice { holder: Option<Box<LockHolder>> },
    /// The directory of the locks cannot be used.
    #[error("cannot use {} for the locks that keep runs apart: {why}; set {VARIABLE} to a directory that only this user can write to", path.display())]
    Directory { path: PathBuf, why: String },
}

impl LockError {
    /// Returns whether waiting helps.
    pub fn is_temporary(&self) -> bool {
        matches!(self, Self::Held { .. } | Self::Machine { .. } | Self::IsDevice { .. })
    }
}

/// A run that has cores and ports of a machine for itself, as it describes itself to others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LockHolder {
    /// The name of its plan, or its command.
    pub name: String,
    /// The name of its user, the one who called sudo where one did.
    pub user: String,
    /// The name of its host.
    pub host: String,
    /// The number of its process.
    pub process: u32,
    /// Its results directory, if it has one.
    pub directory: Option<PathBuf>,
    /// The time since when it has them.
    pub since: String,
    /// The cores of its tester and its device.
    pub cores: BTreeSet<u32>,
    /// The names of its tester's ports.
    pub ports: BTreeSet<String>,
    /// The network namespace in which the names are those of interfaces, by the kernel's number.
    pub network: u64,
}

impl LockHolder {
    /// Returns what both need, in words; `None` where they can run at the same time.
    pub(super) fn shared_with(&self, other: &Self) -> Option<String> {
        // An interface is known by its name within a network namespace alone, and an address of a backend everywhere.
        let is_same = |port: &&String| self.network == other.network || port.contains(':');
        let ports: Vec<String> = self.ports.intersection(&other.ports).filter(is_same).cloned().collect();
        let cores: Vec<String> = self.cores.intersection(&other.cores).map(u32::to_string).collect();
        let both = [named("core", &cores), named("port", &ports)];
        let words: Vec<String> = both.into_iter().flatten().collect();
        let verb = if cores.len() + ports.len() == 1 { "is" } else { "are" };
        (!words.is_empty()).then(|| format!("{} {verb}", words.join(" and ")))
    }
}

/// Returns a holder on a machine that may be another than this one, in words.
fn on_host(holder: Option<&LockHolder>) -> String {
    holder.map_or_else(|| "another tester".to_owned(), |holder| format!("{holder}, on {}", holder.host))
}

/// Returns things with their noun, such as `cores 2, 3`; `None` where there are none.
fn named(noun: &str, things: &[String]) -> Option<String> {
    let plural = if things.len() == 1 { "" } else { "s" };
    (!things.is_empty()).then(|| format!("{noun}{plural} {}", things.join(", ")))
}

impl Display for LockHolder {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { name, user, process, since, .. } = self;
        write!(f, "`{name}` of {user} (process {process}")?;
        if let Some(directory) = &self.directory {
            write!(f, ", results in {}", directory.display())?;
        }
        write!(f, ") since {since}")
    }
}
