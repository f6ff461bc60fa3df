//! A process that is to stay: a device, or a server beside it. It ends with its owner, wherever it runs.

use super::{RemoteProcess, kill_group};
use std::process::{Child, ExitStatus};

/// A running process. Dropping it ends it, with what it has started.
#[derive(Debug)]
pub struct Daemon {
    /// The process itself, or the `ssh` that holds it.
    child: Child,
    remote: Option<RemoteProcess>,
    is_over: bool,
}

impl Daemon {
    /// A process of this machine, in a group of its own.
    pub(crate) fn here(child: Child) -> Self {
        Self { child, remote: None, is_over: false }
    }

    /// A process on another machine, which ends when the standard input of `ssh` does.
    pub(crate) fn remote(ssh: Child, remote: RemoteProcess) -> Self {
        Self { child: ssh, remote: Some(remote), is_over: false }
    }

    /// Returns its number on this machine, by which it can be watched; `None` where it runs on another.
    pub fn process(&self) -> Option<u32> {
        self.remote.is_none().then(|| self.child.id())
    }

    /// Returns its number on the machine where it runs.
    pub(crate) fn number(&self) -> u32 {
        self.remote.as_ref().map_or_else(|| self.child.id(), RemoteProcess::group)
    }

    /// Returns the exit status of the process, or `None` while it runs.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// Ends it at once, and waits until it holds nothing any more.
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
