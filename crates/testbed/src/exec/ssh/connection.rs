//! The connection that all commands on a machine share: an ssh master whose session does nothing but wait. It ends when its standard input is
//! closed, and so also when this process is killed.

use super::directory::make_directory;
use super::{Destination, refusal};
use crate::exec::{TestbedError, WaitContext, command, end_by_input, missing};
use std::io::{BufRead as _, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Duration;

/// In addition to `ConnectTimeout`, for the key exchange and for servers that look up the client's name.
const TIMEOUT: Duration = Duration::from_secs(20);

/// The line that the session prints once it is established. A login script may print others before it.
const READY: &str = "sixbench is here";

/// An open connection, which is closed when this is dropped.
#[derive(Debug)]
pub(super) struct SshConnection {
    master: Child,
    directory: PathBuf,
}

impl SshConnection {
    pub(super) fn open(
        destination: &Destination,
        context: &WaitContext,
    ) -> Result<Self, TestbedError> {
        let directory = make_directory()?;
        let control = ["-M".to_owned(), "-S".to_owned(), socket(&directory)].to_vec();
        let words = destination.ssh(control, &format!("echo {READY}; exec cat >/dev/null"), &[]);
        let mut command = command(&words.inspect_err(|_| drop(std::fs::remove_dir(&directory)))?);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let master = command.spawn().map_err(|error| missing("ssh", error));
        let mut connection = Self {
            master: master.inspect_err(|_| drop(std::fs::remove_dir(&directory)))?,
            directory,
        };
        connection.wait_until_ready(destination, context)?;
        Ok(connection)
    }

    pub(super) fn options(&self) -> [String; 4] {
        [
            "-S".to_owned(),
            socket(&self.directory),
            "-o".to_owned(),
            "ControlMaster=no".to_owned(),
        ]
    }

    fn wait_until_ready(
        &mut self,
        destination: &Destination,
        context: &WaitContext,
    ) -> Result<(), TestbedError> {
        let said = self.master.stderr.take().map(chunks);
        let is_ready = self.master.stdout.take().map(answered);
        let what = || format!("a session on {}", destination.name);
        let mut wait = context.wait(TIMEOUT, Duration::ZERO);
        let answer = is_ready
            .map(|is_ready| wait.receive(&is_ready, &what))
            .transpose();
        // After a stop request, the drop need not wait for an ssh that has no connection yet.
        match answer.inspect_err(|_| drop(self.master.kill()))? {
            Some(Ok(())) => Ok(()),
            Some(Err(RecvTimeoutError::Timeout)) => {
                Err(refusal::silent(destination, TIMEOUT).into())
            }
            _ => {
                let said = said.map(said_until_now).unwrap_or_default();
                Err(refusal::explain(destination, &said).into())
            }
        }
    }
}

impl Drop for SshConnection {
    fn drop(&mut self) {
        end_by_input(&mut self.master, Duration::from_secs(2));
        // The master removes its socket unless it was killed.
        let _ = std::fs::remove_file(socket(&self.directory));
        let _ = std::fs::remove_dir(&self.directory);
    }
}

/// Returns a channel with a message once the session is established; closed if it ends first.
fn answered(stdout: ChildStdout) -> Receiver<()> {
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || {
        let is_ready = |line: std::io::Result<String>| line.is_ok_and(|line| line == READY);
        if BufReader::new(stdout).lines().any(is_ready) {
            // The receiver is gone after a timeout.
            let _ = send.send(());
        }
    });
    receive
}

/// Returns the output of a process in chunks as it arrives. A `ProxyCommand` that outlives its ssh may keep it from ever ending.
fn chunks(mut from: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || {
        let mut chunk = [0; 4096];
        while let Ok(count @ 1..) = from.read(&mut chunk) {
            // The receiver is gone once the connection is established.
            let _ = send.send(chunk[..count].to_vec());
        }
    });
    receive
}

/// Returns everything that a process wrote before it ended. A pause counts as the end, because the channel may never be closed: see [`chunks`].
fn said_until_now(chunks: Receiver<Vec<u8>>) -> String {
    let said: Vec<u8> = std::iter::from_fn(|| chunks.recv_timeout(Duration::from_millis(200)).ok())
        .flatten()
        .collect();
    String::from_utf8_lossy(&said).into_owned()
}

fn socket(directory: &Path) -> String {
    directory.join("control").display().to_string()
}
