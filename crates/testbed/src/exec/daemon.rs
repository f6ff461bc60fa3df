//! A long-running process: a device, or a server next to it. It ends with its owner, wherever it runs.

use super::{RemoteProcess, kill_group};
use std::process::{Child, ExitStatus};

/// A running process. Dropping it ends the process and everything that it has started.
#[derive(Debug)]
pub struct Daemon {
    /// The process itself, or the `ssh` that controls it.
    child: Child,
    remote: Option<RemoteProcess>,
    is_over: bool,
}

impl Daemon {
    /// Returns a process of this machine, in its own group.
    pub(crate) fn here(child: Child) -> Self {
        Self {
            child,
            remote: None,
            is_over: false,
        }
    }

    /// Returns a process on another machine, which ends when the input of `ssh` is closed.
    pub(crate) fn remote(ssh: Child, remote: RemoteProcess) -> Self {
        Self {
            child: ssh,
            remote: Some(remote),
            is_over: false,
        }
    }

    /// Returns its process ID on this machine, for the monitor, or `None` if it runs on another.
    pub fn process(&self) -> Option<u32> {
        self.remote.is_none().then(|| self.child.id())
    }

    /// Returns its process ID on the machine where it runs.
    pub(crate) fn number(&self) -> u32 {
        self.remote
            .as_ref()
            .map_or_else(|| self.child.id(), RemoteProcess::group)
    }

    /// Returns the exit status of the process, or `None` while it runs.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// Ends the process immediately, and waits until it has released its resources.
    pub(crate) fn end(&mut self) {
        if std::mem::replace(&mut self.is_over, true) {
            return;
        }
        match &self.remote {
            None => kill_group(&mut self.child),
            Some(remote) => remote.end(&mut self.child),
        }
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.end();
    }
}
