//! A shell on another machine that prints its counters once for each line it reads. It does not sample by itself, so that samples match the
//! monitor's times here and no clock is needed there. It ends when its input is closed, and so with this process.

use crate::exec::{Remote, TestbedError, end_by_input};
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdout, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

/// The timeout for the shell to end after its input is closed.
const TIMEOUT: Duration = Duration::from_secs(2);

/// Starts one process per query, in addition to the session's shell. It prints only the lines of Linux's files that are used here; on a machine
/// with many interrupts, all of their counters would otherwise have to be encrypted ten times a second. An empty line ends an answer.
const LOOK: &str = r"while read -r question; do
    sed -n '/^cpu/p;/^Mem/p' /proc/stat /proc/meminfo 2>/dev/null
    echo
done";

/// Ended when dropped.
#[derive(Debug)]
pub(crate) struct Sampler {
    ssh: Child,
    answers: Receiver<(Instant, String)>,
}

impl Sampler {
    /// Starts the shell at `remote` without querying it yet.
    pub(crate) fn start(remote: &Remote) -> Result<Self, TestbedError> {
        let mut ssh = remote.start(LOOK, &[], Stdio::piped())?;
        let answers = read(ssh.stdout.take());
        Ok(Self { ssh, answers })
    }

    /// Sends a query. If the connection is lost, no answer will arrive.
    pub(crate) fn ask(&mut self) {
        if let Some(stdin) = &mut self.ssh.stdin {
            let _ = stdin.write_all(b"\n").and_then(|()| stdin.flush());
        }
    }

    /// Returns the next answer and its time of arrival: lines `cpu...` of /proc/stat and `Mem...` of /proc/meminfo, or nothing if the machine does
    /// not have these files. Returns `None` after the timeout.
    pub(crate) fn answer(&self, timeout: Duration) -> Option<(Instant, String)> {
        self.answers.recv_timeout(timeout).ok()
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        end_by_input(&mut self.ssh, TIMEOUT);
    }
}

/// Receives answers in a separate thread.
fn read(stdout: Option<ChildStdout>) -> Receiver<(Instant, String)> {
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || {
        let mut answer = String::new();
        for line in stdout
            .map(BufReader::new)
            .into_iter()
            .flat_map(|lines| lines.lines().map_while(Result::ok))
        {
            if !line.is_empty() {
                answer.extend([line.as_str(), "\n"]);
            } else if send
                .send((Instant::now(), std::mem::take(&mut answer)))
                .is_err()
            {
                return;
            }
        }
    });
    receive
}
