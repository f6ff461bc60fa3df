//! A shell on another machine that prints its counters once for each line it reads. It does not sample by itself, so that samples belong to
//! the moments of the monitor here, and no clock is needed there. It ends when its standard input does: with this process.

use crate::exec::{Remote, TestbedError, end_by_input};
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdout, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

/// For the shell to end when its input has.
const TIMEOUT: Duration = Duration::from_secs(2);

/// Starts one process for each request, beside the session's shell. Of Linux's files it prints only those lines that are read here: on a
/// machine with many interrupts all of their counters would otherwise be encrypted ten times a second. An empty line ends an answer.
const LOOK: &str = r"while read -r question; do
    sed -n '/^cpu/p;/^Mem/p' /proc/stat /proc/meminfo 2>/dev/null
    echo
done";

/// Ends when dropped.
#[derive(Debug)]
pub(crate) struct Sampler {
    ssh: Child,
    answers: Receiver<(Instant, String)>,
}

impl Sampler {
    /// Starts the shell at `remote`; nothing is asked yet.
    pub(crate) fn start(remote: &Remote) -> Result<Self, TestbedError> {
        let mut ssh = remote.start(LOOK, &[], Stdio::piped())?;
        let answers = read(ssh.stdout.take());
        Ok(Self { ssh, answers })
    }

    /// Asks. Of a connection that is lost the answer will not come.
    pub(crate) fn ask(&mut self) {
        if let Some(stdin) = &mut self.ssh.stdin {
            let _ = stdin.write_all(b"\n").and_then(|()| stdin.flush());
        }
    }

    /// The next answer, with the moment it came: lines `cpu...` of /proc/stat and `Mem...` of /proc/meminfo, none where the machine has no
    /// such files. `None` where it has not come within so long.
    pub(crate) fn answer(&self, timeout: Duration) -> Option<(Instant, String)> {
        self.answers.recv_timeout(timeout).ok()
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        end_by_input(&mut self.ssh, TIMEOUT);
    }
}

/// Answers as they come, in a thread of its own.
fn read(stdout: Option<ChildStdout>) -> Receiver<(Instant, String)> {
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || {
        let mut answer = String::new();
        for line in stdout.map(BufReader::new).into_iter().flat_map(|lines| lines.lines().map_while(Result::ok)) {
            if !line.is_empty() {
                answer.extend([line.as_str(), "\n"]);
            } else if send.send((Instant::now(), std::mem::take(&mut answer))).is_err() {
                return;
            }
        }
    });
    receive
}
