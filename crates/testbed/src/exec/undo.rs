//! Undoes the setup of another machine: a shell there collects undo commands, one per line, and runs them from the last to the first when its
//! standard input is closed. That happens when the device is dropped (at the end, on an error, on a panic, on Ctrl-C), and also when this process
//! is killed or the connection breaks, as soon as sshd there notices. sshd may take hours to notice that a connection hangs, so the shell expects a
//! heartbeat every few seconds and undoes everything if it stops.

use super::{Remote, Shell, TestbedError, WaitContext, quoted, refusal, wait, warn};
use std::io::Write as _;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The interval between heartbeats.
const BEAT: Duration = Duration::from_secs(5);

/// The number of heartbeat intervals without a heartbeat after which the shell undoes everything. Together they are longer than ssh at this end
/// takes to give up a connection.
const NAPS: u32 = 12;

/// The timeout for the undo commands, all together.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Neither a signal nor a closed output may end the script before everything is undone. It reads its input through a process that the watchdog can
/// kill: `$1` is the length of a nap in seconds, `$2` the number of naps without a line of input after which it does. An empty line is just a
/// heartbeat.
const UNDO_SCRIPT: &str = r#"trap "" HUP INT TERM PIPE
sh -c 'echo $$; exec cat' | {
IFS= read -r reader
(
    naps=0 nap=
    trap 'naps=0; kill -s KILL $nap' USR1
    trap 'kill -s KILL $nap; exit' USR2
    while [ $naps -lt $2 ]; do sleep $1 & nap=$!; wait $nap; naps=$((naps+1)); done
    kill -s KILL $reader
) </dev/null >/dev/null 2>&1 &
watch=$!
n=0
while IFS= read -r line; do
    case $line in "") kill -s USR1 $watch ;; *) n=$((n+1)); eval "undo_$n=\$line" ;; esac
done
kill -s USR2 $watch 2>/dev/null
while [ $n -gt 0 ]; do
    eval "line=\$undo_$n"
    said=$( (eval "$line") 2>&1 </dev/null ) || echo "$line: $said"
    n=$((n-1))
done
} 2>/dev/null"#;

/// Dropping this undoes everything.
#[derive(Debug)]
pub(crate) struct Undo {
    shell: Shell,
    remote: Remote,
    undoing: Arc<Mutex<UndoShell>>,
    /// Dropping this sender ends the heartbeats.
    beats: Option<Sender<()>>,
    /// True once the setup is complete. Until then, commands that undo a half-finished step may fail.
    is_settled: AtomicBool,
}

#[derive(Debug)]
struct UndoShell {
    /// `None` in a rehearsal.
    process: Option<Child>,
    lines: Vec<String>,
}

impl Undo {
    /// Starts to record undo commands at `remote`. `shell` is any shell with the same transcript.
    pub(crate) fn open(remote: &Remote, shell: &Shell) -> Result<Self, TestbedError> {
        let arguments = [BEAT.as_secs().to_string(), NAPS.to_string()];
        let process = (!shell.is_rehearsal())
            .then(|| remote.start(UNDO_SCRIPT, &arguments, Stdio::piped()))
            .transpose()?;
        let undoing = Arc::new(Mutex::new(UndoShell {
            process,
            lines: Vec::new(),
        }));
        let beats = (!shell.is_rehearsal()).then(|| give_signs_of_life(undoing.clone()));
        Ok(Self {
            shell: shell.clone(),
            remote: remote.clone(),
            undoing,
            beats,
            is_settled: AtomicBool::new(false),
        })
    }

    /// Adds the words of the command that undoes the step that comes next.
    pub(crate) fn by(&self, words: &[String]) -> Result<(), TestbedError> {
        self.by_line(quoted(words))
    }

    /// Adds a shell line that undoes the step that comes next.
    ///
    /// # Errors
    /// The connection is lost.
    pub(crate) fn by_line(&self, line: String) -> Result<(), TestbedError> {
        // The shell on the other machine would treat the second line as another command.
        if line.contains('\n') {
            return Err(TestbedError::UndoLine { line });
        }
        let mut undoing = self.undoing();
        let sent = undoing
            .process
            .as_mut()
            .and_then(|process| process.stdin.as_mut())
            .map_or(Ok(()), |stdin| {
                writeln!(stdin, "{line}").and_then(|()| stdin.flush())
            });
        sent.map_err(|error| refusal::lost(self.remote.destination(), &error.to_string()))?;
        undoing.lines.push(line);
        Ok(())
    }

    /// Adds a line like [`Undo::by_line`], unless it was added before.
    pub(crate) fn by_line_once(&self, line: String) -> Result<(), TestbedError> {
        let is_there = self.undoing().lines.contains(&line);
        if is_there { Ok(()) } else { self.by_line(line) }
    }

    /// Marks the setup as complete: from now on, failures of undo commands are reported.
    pub(crate) fn settle(&self) {
        self.is_settled.store(true, Ordering::Relaxed);
    }

    /// Returns an error if the connection is lost. Everything then has been or will soon be undone.
    pub(crate) fn check(&self) -> Result<(), TestbedError> {
        let mut undoing = self.undoing();
        match undoing
            .process
            .as_mut()
            .and_then(|process| process.try_wait().ok().flatten())
        {
            Some(status) => Err(refusal::lost(
                self.remote.destination(),
                &format!("ssh ended ({status})"),
            )),
            None => Ok(()),
        }
    }

    fn undoing(&self) -> MutexGuard<'_, UndoShell> {
        lock(&self.undoing)
    }

    /// Undoes everything; returns the commands that failed, with their messages.
    fn run(&self, mut process: Child) -> Result<String, TestbedError> {
        drop(process.stdin.take());
        // This ignores stop requests, which undoing usually follows.
        let output = wait(process, TIMEOUT, &WaitContext::default(), &String::new)?;
        let said = String::from_utf8_lossy(&output.stderr);
        if output.status.success() {
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        } else {
            Err(refusal::lost(self.remote.destination(), &said))
        }
    }
}

fn lock(undoing: &Mutex<UndoShell>) -> MutexGuard<'_, UndoShell> {
    undoing.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sends heartbeats to the shell until the returned sender is dropped.
fn give_signs_of_life(undoing: Arc<Mutex<UndoShell>>) -> Sender<()> {
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || {
        while receive.recv_timeout(BEAT) == Err(RecvTimeoutError::Timeout) {
            let mut undoing = lock(&undoing);
            if let Some(stdin) = undoing
                .process
                .as_mut()
                .and_then(|process| process.stdin.as_mut())
            {
                // If the connection is lost, the next command that uses it reports that.
                let _ = stdin.write_all(b"\n").and_then(|()| stdin.flush());
            }
        }
    });
    send
}

impl Drop for Undo {
    fn drop(&mut self) {
        drop(self.beats.take());
        let (process, lines) = {
            let mut undoing = self.undoing();
            (undoing.process.take(), std::mem::take(&mut undoing.lines))
        };
        for line in lines.into_iter().rev() {
            self.shell
                .transcript()
                .line(&quoted(&self.remote.shown(line)));
        }
        let what = format!("not everything was undone on {}", self.remote.destination());
        match process.map(|process| self.run(process)) {
            Some(Ok(said)) if !said.is_empty() && self.is_settled.load(Ordering::Relaxed) => {
                warn(&what, &said.trim().replace('\n', "; "));
            }
            Some(Err(error)) => warn(&what, &error),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::command;
    use std::path::{Path, PathBuf};
    use std::time::Instant;

    /// Starts the shell of the other machine on this one, with short naps and an undo command that creates a file.
    fn undoing(name: &str) -> (Child, PathBuf) {
        let undone = std::env::temp_dir().join(format!("sb-{}-undone-{name}", std::process::id()));
        let words = ["sh", "-c", UNDO_SCRIPT, "sixbench", "0.2", "5"].map(str::to_owned);
        let mut child = command(&words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("sh");
        writeln!(
            child.stdin.as_mut().expect("piped"),
            "touch {}",
            undone.display()
        )
        .expect("written");
        (child, undone)
    }

    fn wait_for(file: &Path) {
        let end = Instant::now() + Duration::from_secs(60);
        while !file.exists() {
            assert!(Instant::now() < end, "it is not undone");
            std::thread::sleep(Duration::from_millis(10));
        }
        std::fs::remove_file(file).expect("removed");
    }

    #[test]
    fn everything_is_undone_when_the_input_ends_and_what_fails_is_told() {
        let (mut child, undone) = undoing("ends");
        writeln!(
            child.stdin.as_mut().expect("piped"),
            "echo it is gone; false"
        )
        .expect("written");
        let output = child.wait_with_output().expect("ended");
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            "echo it is gone; false: it is gone\n"
        );
        assert!(output.status.success());
        wait_for(&undone);
    }

    #[test]
    fn everything_is_undone_when_no_sign_of_life_comes_any_more_although_the_input_goes_on() {
        let (mut child, undone) = undoing("hangs");
        for _ in 0..15 {
            std::thread::sleep(Duration::from_millis(100));
            assert!(!undone.exists(), "signs of life came");
            child
                .stdin
                .as_mut()
                .expect("piped")
                .write_all(b"\n")
                .expect("written");
        }
        wait_for(&undone);
        assert!(child.wait().expect("ended").success());
    }
}
