//! The lock of another machine, which keeps two testers from unknowingly using it at the same time. A session there holds a lock on a file as long
//! as its standard input stays open, so the lock is released when it is dropped here, when this process is killed, and when the connection breaks.

use crate::exec::{Remote, Shell, TestbedError, end_by_input, first_answer, refusal};
use std::process::{Child, Stdio};
use std::time::Duration;

/// The timeout for the session to end.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The prefix of the session's answers. Login scripts may print other lines.
const ANSWER: &str = "sixbench lock: ";

/// `$1` describes this tester, `$2` is the prefix of answers. Two programs lock files in the same way: flock of util-linux and lockf of FreeBSD
/// exit with 75 if another process has the lock. Each run on that machine itself has a locked file that describes it; one with the text of `$1` is
/// this tester, on the same machine as its device.
const SCRIPT: &str = r#"dir=${SIXBENCH_LOCKS:-}
[ -n "$dir" ] || if [ -d /run ]; then dir=/run/sixbench; else dir=/var/run/sixbench; fi
if command -v flock >/dev/null; then take() { flock -n -E 75 "$@"; }
elif command -v lockf >/dev/null; then take() { lockf -k -s -t 0 "$@"; }
else echo "$2unsupported"; exit
fi
umask 077
mkdir -p "$dir" && [ ! -L "$dir" ] || exit 1
for file in "$dir"/*.json; do
    [ -e "$file" ] && [ "$(cat "$file")" != "$1" ] || continue
    take "$file" true || { echo "$2held $(cat "$file")"; exit; }
done
take "$dir/machine" sh -c 'echo "$1" >"$3"; echo "$2taken"; exec cat >/dev/null' sh "$1" "$2" "$dir/machine.holder"
[ $? != 75 ] || echo "$2held $(cat "$dir/machine.holder")"
"#;

/// A machine's lock, held for one tester. Dropping it releases the lock.
#[derive(Debug)]
pub struct MachineLock {
    session: Child,
    /// The session's connection, which must outlive it.
    _remote: Remote,
}

impl Drop for MachineLock {
    fn drop(&mut self) {
        end_by_input(&mut self.session, TIMEOUT);
    }
}

/// The result of an attempt to lock a machine.
#[derive(Debug)]
pub enum LockAttempt {
    /// This tester now has the lock.
    Taken(MachineLock),
    /// Another tester, or a run on that machine itself, has the lock. Holds its description of itself.
    Held(String),
    /// The machine has no program for locking files.
    Unsupported,
}

impl MachineLock {
    /// Locks a machine for this tester. `holder` is a line that describes it to others.
    ///
    /// # Errors
    /// The machine cannot be reached, or its files cannot be written.
    pub fn take(
        machine: &Remote,
        holder: &str,
        shell: &Shell,
    ) -> Result<LockAttempt, TestbedError> {
        let remote = machine.reach(shell.context())?;
        let name = remote.destination().to_owned();
        let mut session = remote.start(
            SCRIPT,
            &[holder.to_owned(), ANSWER.to_owned()],
            Stdio::piped(),
        )?;
        let answer = first_answer(
            &mut session,
            shell.context(),
            &|| format!("the lock of {name}"),
            |line| line.strip_prefix(ANSWER).map(str::to_owned),
        );
        // Made before the answer is looked at, so that the session ends also where there is none.
        let lock = Self {
            session,
            _remote: remote,
        };
        let answer = answer?.ok_or_else(|| {
            refusal::lost(&name, "no answer about its lock (files in /run/sixbench)")
        })?;
        Ok(match answer.split_once(' ').unwrap_or((&answer, "")) {
            ("held", by) => LockAttempt::Held(by.to_owned()),
            ("taken", _) => LockAttempt::Taken(lock),
            _ => LockAttempt::Unsupported,
        })
    }
}
