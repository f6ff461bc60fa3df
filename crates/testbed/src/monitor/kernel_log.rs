//! The log of the kernel that a device runs on: that of its virtual machine, or this machine's. Only what is new is looked at, and nothing is cleared.

use crate::exec::{Shell, TestbedError};

/// The command that prints the log, by the system call: a virtual machine has no /dev/kmsg of its own.
const COMMAND: [&str; 2] = ["dmesg", "-S"];
/// Texts by which a kernel reports a defect of its own.
const DEFECTS: [&str; 9] = [
    "WARNING:",
    "BUG:",
    "Oops",
    "Kernel panic",
    "general protection fault",
    "KASAN",
    "UBSAN",
    "refcount_t:",
    "list_add corruption",
];

/// The log of a kernel, as far as it was read.
#[derive(Clone, Debug)]
pub struct KernelLog {
    shell: Shell,
    /// The last line that was read, with its time.
    last: Option<String>,
    is_own: bool,
}

impl KernelLog {
    /// Returns the log at the place of a shell, of which everything until now counts as read; `None` if it cannot be read. `is_own` is true for the log
    /// of a kernel that is the device's alone.
    pub(crate) fn from_now(shell: &Shell, is_own: bool) -> Option<Self> {
        let text = shell.look(&COMMAND).ok()?;
        Some(Self {
            shell: shell.clone(),
            last: text.lines().last().map(str::to_owned),
            is_own,
        })
    }

    /// Returns true if the kernel is the device's alone, and not this machine's.
    pub fn is_own(&self) -> bool {
        self.is_own
    }

    /// Returns the new lines in which the kernel reports a defect of its own.
    ///
    /// # Errors
    /// The log cannot be read any more, or a stop was requested.
    pub fn new_defects(&mut self) -> Result<Vec<String>, TestbedError> {
        let text = self.shell.look(&COMMAND)?;
        let defects = defects_after(&text, self.last.as_deref());
        self.last = text.lines().last().map(str::to_owned).or(self.last.take());
        Ok(defects)
    }
}

/// Returns the lines about defects after a line, or among all lines if the log has lost it.
fn defects_after(text: &str, last: Option<&str>) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let read = last.and_then(|last| lines.iter().rposition(|line| *line == last));
    let new = &lines[read.map_or(0, |read| read + 1)..];
    new.iter()
        .filter(|line| DEFECTS.iter().any(|defect| line.contains(defect)))
        .map(|line| (*line).to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "[    1.0] WARNING: CPU: 0 PID: 1 at a.c:1\n[    2.0] nat64: up\n[    3.5] BUG: kernel NULL pointer dereference\n\
                       [    3.6] eth0: link\n[    3.7] Oops: 0002 [#1]\n";

    #[test]
    fn of_a_log_the_defects_are_told_that_are_new() {
        let new = [
            "[    3.5] BUG: kernel NULL pointer dereference",
            "[    3.7] Oops: 0002 [#1]",
        ];
        assert_eq!(defects_after(LOG, Some("[    2.0] nat64: up")), new);
        assert!(defects_after(LOG, LOG.lines().last()).is_empty());
        assert_eq!(defects_after(LOG, Some("[    0.5] overwritten")).len(), 3);
        assert_eq!(defects_after(LOG, None).len(), 3);
    }
}
