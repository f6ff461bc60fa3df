//! The holder of a machine's cores and ports, and its description for other runs that need them.

use serde::{Deserialize, Serialize};
use sixbench_method::units::agreeing;
use std::collections::BTreeSet;
use std::fmt::{self, Display, Formatter};
use std::path::PathBuf;

/// The environment variable that names another directory for locks.
pub(crate) const VARIABLE: &str = "SIXBENCH_LOCKS";

/// The reason why a run cannot have the resources that it needs exclusively.
#[derive(Debug, thiserror::Error)]
// The message above each variant explains its fields.
#[allow(missing_docs)]
pub enum LockError {
    /// Another run has one of the resources.
    #[error("{what} used by {holder}")]
    Held {
        what: String,
        holder: Box<LockHolder>,
    },
    /// Another machine that the run needs is in use by another tester, or by a run on that machine itself.
    #[error("the machine {machine} is used by {}", on_host(holder.as_deref()))]
    Machine {
        machine: String,
        holder: Option<Box<LockHolder>>,
    },
    /// This machine is the device of a tester on another machine.
    #[error("this machine is the device of {}", on_host(holder.as_deref()))]
    IsDevice { holder: Option<Box<LockHolder>> },
    /// The directory of the locks cannot be used.
    #[error("cannot use {} for the locks that keep runs apart: {why}; set {VARIABLE} to a directory that only this user can write to", path.display())]
    Directory { path: PathBuf, why: String },
}

impl LockError {
    /// Returns true if waiting helps.
    pub fn is_temporary(&self) -> bool {
        matches!(
            self,
            Self::Held { .. } | Self::Machine { .. } | Self::IsDevice { .. }
        )
    }
}

/// A run's description of itself and of the cores and ports that it uses exclusively.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LockHolder {
    /// The name of its plan, or its command.
    pub name: String,
    /// The name of its user, or of the user who called sudo.
    pub user: String,
    /// The name of its host.
    pub host: String,
    /// The ID of its process.
    pub process: u32,
    /// Its results directory, if it has one.
    pub directory: Option<PathBuf>,
    /// The time at which it acquired the locks.
    pub since: String,
    /// The cores of its tester and its device.
    pub cores: BTreeSet<u32>,
    /// The names of its tester's ports.
    pub ports: BTreeSet<String>,
    /// The inode number of the network namespace to which the interfaces belong.
    pub network: u64,
}

impl LockHolder {
    /// Returns a text about the resources that both need, or `None` if they can run at the same time.
    pub(crate) fn shared_with(&self, other: &Self) -> Option<String> {
        // The name of an interface is unique within a network namespace only, but the address of a backend everywhere. The kernel allows no colon in the
        // name of an interface.
        let is_same = |port: &&String| self.network == other.network || port.contains(':');
        let ports: Vec<String> = self
            .ports
            .intersection(&other.ports)
            .filter(is_same)
            .cloned()
            .collect();
        let cores: Vec<String> = self
            .cores
            .intersection(&other.cores)
            .map(u32::to_string)
            .collect();
        let both = [named("core", &cores), named("port", &ports)];
        let words: Vec<String> = both.into_iter().flatten().collect();
        let verb = if cores.len() + ports.len() == 1 {
            "is"
        } else {
            "are"
        };
        (!words.is_empty()).then(|| format!("{} {verb}", words.join(" and ")))
    }
}

/// Returns a description of a holder that may be on another machine.
fn on_host(holder: Option<&LockHolder>) -> String {
    holder.map_or_else(
        || "another tester".to_owned(),
        |holder| format!("{holder}, on {}", holder.host),
    )
}

/// Returns things with their noun, such as `cores 2, 3`, or `None` if there are none.
fn named(noun: &str, things: &[String]) -> Option<String> {
    (!things.is_empty()).then(|| {
        format!(
            "{} {}",
            agreeing(things.len() == 1, noun),
            things.join(", ")
        )
    })
}

impl Display for LockHolder {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self {
            name,
            user,
            process,
            since,
            ..
        } = self;
        write!(f, "`{name}` of {user} (process {process}")?;
        if let Some(directory) = &self.directory {
            write!(f, ", results in {}", directory.display())?;
        }
        write!(f, ") since {since}")
    }
}
