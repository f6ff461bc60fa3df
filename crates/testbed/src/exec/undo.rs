//! What was set up on another machine, undone there: a shell that gathers the commands that undo, one line each, and runs them from the
//! last to the first when its standard input ends. That is when the device is dropped, at the end, on an error, on a panic, on Ctrl-C; and
//! by itself when this process is killed or the connection breaks, as soon as the sshd there notices.

use super::{Remote, Shell, TestbedError, WaitContext, quoted, refusal, wait, warn};
use std::io::Write as _;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(60);

/// Neither a signal nor a closed output may end it before everything is undone.
const UNDO_SCRIPT: &str = r#"trap "" HUP INT TERM PIPE
n=0
while IFS= read -r line; do n=$((n+1)); eval "undo_$n=\$line"; done
while [ $n -gt 0 ]; do
    eval "line=\$undo_$n"
    said=$( (eval "$line") 2>&1 </dev/null ) || echo "$line: $said"
    n=$((n-1))
done"#;

/// Undoes everything when dropped.
#[derive(Debug)]
pub(crate) struct Undo {
    shell: Shell,
    remote: Remote,
    undoing: Mutex<UndoShell>,
    /// True once everything is set up. Before that, the commands that undo a half-finished step may fail.
    is_settled: AtomicBool,
}

#[derive(Debug)]
struct UndoShell {
    /// None in a rehearsal.
    process: Option<Child>,
    lines: Vec<String>,
}

impl Undo {
    /// Begins to keep what is to be undone at `remote`; `shell` is any of the same transcript.
    pub(crate) fn open(remote: &Remote, shell: &Shell) -> Result<Self, TestbedError> {
        let process = (!shell.is_rehearsal()).then(|| remote.start(UNDO_SCRIPT, &[], Stdio::piped())).transpose()?;
        let undoing = Mutex::new(UndoShell { process, lines: Vec::new() });
        Ok(Self { shell: shell.clone(), remote: remote.clone(), undoing, is_settled: AtomicBool::new(false) })
    }

    /// Adds the words of the command that undoes the next thing to be undone.
    pub(crate) fn by(&self, words: &[String]) -> Result<(), TestbedError> {
        self.by_line(quoted(words))
    }

    /// Adds a line of shell that undoes the next thing to be undone.
    ///
    /// # Errors
    /// The connection is lost.
    pub(crate) fn by_line(&self, line: String) -> Result<(), TestbedError> {
        // The shell over there would take the second for another command.
        if line.contains('\n') {
            return Err(TestbedError::Other(format!("cannot undo with `{line}`: it has more than one line")));
        }
        let mut undoing = self.undoing();
        let sent = undoing
            .process
            .as_mut()
            .and_then(|process| process.stdin.as_mut())
            .map_or(Ok(()), |stdin| writeln!(stdin, "{line}").and_then(|()| stdin.flush()));
        sent.map_err(|error| refusal::lost(self.remote.destination(), &error.to_string()))?;
        undoing.lines.push(line);
        Ok(())
    }

    /// Everything is set up: from now on what cannot be undone is worth telling.
    pub(crate) fn settle(&self) {
        self.is_settled.store(true, Ordering::Relaxed);
    }

    /// Returns an error if the connection is lost: then everything is undone already, or soon.
    pub(crate) fn check(&self) -> Result<(), TestbedError> {
        let mut undoing = self.undoing();
        match undoing.process.as_mut().and_then(|process| process.try_wait().ok().flatten()) {
            Some(status) => Err(refusal::lost(self.remote.destination(), &format!("ssh ended ({status})"))),
            None => Ok(()),
        }
    }

    fn undoing(&self) -> MutexGuard<'_, UndoShell> {
        self.undoing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lines that failed, with what they said.
    fn run(&self, mut process: Child) -> Result<String, TestbedError> {
        drop(process.stdin.take());
        // Although a stop may be requested: undoing is what it is for.
        let output = wait(process, TIMEOUT, &WaitContext::default(), &String::new)?;
        let said = String::from_utf8_lossy(&output.stderr);
        match output.status.success() {
            true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
            false => Err(refusal::lost(self.remote.destination(), &said)),
        }
    }
}

impl Drop for Undo {
    fn drop(&mut self) {
        let (process, lines) = {
            let mut undoing = self.undoing();
            (undoing.process.take(), std::mem::take(&mut undoing.lines))
        };
        for line in lines.into_iter().rev() {
            self.shell.transcript().line(&quoted(&self.remote.shown(line)));
        }
        let what = format!("not everything was undone on {}", self.remote.destination());
        match process.map(|process| self.run(process)) {
            Some(Ok(said)) if !said.is_empty() && self.is_settled.load(Ordering::Relaxed) => {
                warn(&what, &TestbedError::Other(said.trim().replace('\n', "; ")));
            }
            Some(Err(error)) => warn(&what, &error),
            _ => {}
        }
    }
}
