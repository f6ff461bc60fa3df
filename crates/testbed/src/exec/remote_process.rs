//! A daemon on another machine. A shell there starts it and ends it when its own standard input is closed: when we close it, when we are killed, or
//! when the connection breaks.

use super::{Remote, TestbedError, WaitContext, end_by_input, failed, kill_group, quoted, wait};
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// The timeout for a session to start and for killed processes to disappear.
const TIMEOUT: Duration = Duration::from_secs(10);

/// sshd makes every session a process group. Its ID is printed first, and one signal ends all of its members. `$1` is the log. A file next to it
/// contains the group's ID for as long as the group should live.
const HOLDER: &str = r#"echo $$
log=$1; shift; exec 3<&0
echo $$ >"$log.group"
( cat <&3; rm -f "$log.group"; kill -s KILL 0 ) >/dev/null 2>&1 &
"$@" </dev/null >"$log" 2>&1 3<&-"#;

/// Returns the shell line that ends a daemon on its machine if it is still running. `log` is the daemon's log.
pub(crate) fn ending_line(log: &Path) -> String {
    let file = quoted(&[format!("{}.group", log.display())]);
    format!("[ ! -e {file} ] || kill -s KILL -- -\"$(cat {file})\"")
}

#[derive(Debug)]
pub(crate) struct RemoteProcess {
    remote: Remote,
    group: u32,
}

impl RemoteProcess {
    /// Starts `words` there with the output going to `log`. Also returns the `ssh` that controls the process.
    pub(super) fn start(
        remote: &Remote,
        words: &[String],
        log: &Path,
        context: &WaitContext,
    ) -> Result<(Child, Self), TestbedError> {
        let arguments = [&[log.display().to_string()], words].concat();
        let mut ssh = remote.start(HOLDER, &arguments, Stdio::piped())?;
        let what = || format!("a session on {}", remote.destination());
        let group = first_answer(&mut ssh, context, &what, |line| line.trim().parse().ok());
        if let Some(group) = group.inspect_err(|_| kill_group(&mut ssh))? {
            Ok((
                ssh,
                Self {
                    remote: remote.clone(),
                    group,
                },
            ))
        } else {
            drop(ssh.stdin.take());
            let output = wait(
                ssh,
                Duration::from_secs(1),
                &WaitContext::default(),
                &String::new,
            );
            let said = match output {
                Ok(output) => String::from_utf8_lossy(&output.stderr).into_owned(),
                Err(why) => why.to_string(),
            };
            Err(failed(&remote.command_line(words), "not started", &said))
        }
    }

    pub(crate) fn group(&self) -> u32 {
        self.group
    }

    /// Ends the group and waits until all of its members are gone.
    pub(crate) fn end(&self, ssh: &mut Child) {
        end_by_input(ssh, TIMEOUT);
        let gone = format!(
            "n=0; while kill -s 0 -- -{} 2>/dev/null && [ $n -lt 50 ]; do sleep 0.01; n=$((n+1)); done",
            self.group
        );
        let words = ["sh", "-c", &gone].map(str::to_owned);
        // If the connection is lost, the next command over it reports that.
        let _ = self
            .remote
            .capture(&words, None, TIMEOUT, &WaitContext::default());
    }
}

/// Returns the value of the first line of a process's output for which `read` returns one, or `None` if there is none in time.
///
/// # Errors
/// A stop was requested.
pub(crate) fn first_answer<T: Send + 'static>(
    process: &mut Child,
    context: &WaitContext,
    what: &dyn Fn() -> String,
    read: impl Fn(&str) -> Option<T> + Send + 'static,
) -> Result<Option<T>, TestbedError> {
    let Some(stdout) = process.stdout.take() else {
        return Ok(None);
    };
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || {
        let answer = BufReader::new(stdout)
            .lines()
            .map_while(Result::ok)
            .find_map(|line| read(&line));
        // The receiver is gone after a timeout.
        let _ = send.send(answer);
    });
    Ok(context
        .wait(TIMEOUT, Duration::ZERO)
        .receive(&receive, what)?
        .ok()
        .flatten())
}
