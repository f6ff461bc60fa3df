//! A daemon on another machine. A shell there holds it and waits for the end of its own standard input, which is ours: so it ends when we
//! end it, when we are killed, and when the connection breaks.

use super::{Remote, TestbedError, WaitContext, end_by_input, failed, kill_group, quoted, wait};
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// For a session to begin, and for what is killed to be gone.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Every session of sshd is a process group of its own: its number is said first, and one signal ends all that is in it. `$1` is the log, beside
/// which the number stands as long as the group is to live.
const HOLDER: &str = r#"echo $$
log=$1; shift; exec 3<&0
echo $$ >"$log.group"
( cat <&3; rm -f "$log.group"; kill -s KILL 0 ) >/dev/null 2>&1 &
"$@" </dev/null >"$log" 2>&1 3<&-"#;

/// Returns the line that ends a daemon where it runs, should nobody have ended it before; `log` is that of the daemon.
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
    /// Starts `words` there; their output goes to `log`. Returns the `ssh` that holds them, too.
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
        match group.inspect_err(|_| kill_group(&mut ssh))? {
            Some(group) => Ok((ssh, Self { remote: remote.clone(), group })),
            None => {
                drop(ssh.stdin.take());
                let output = wait(ssh, Duration::from_secs(1), &WaitContext::default(), &String::new);
                let said = match output {
                    Ok(output) => String::from_utf8_lossy(&output.stderr).into_owned(),
                    Err(why) => why.to_string(),
                };
                Err(failed(&remote.words(words), "not started", &said))
            }
        }
    }

    pub(crate) fn group(&self) -> u32 {
        self.group
    }

    /// Ends the group, and waits until nothing of it is left.
    pub(crate) fn end(&self, ssh: &mut Child) {
        end_by_input(ssh, TIMEOUT);
        let gone =
            format!("n=0; while kill -s 0 -- -{} 2>/dev/null && [ $n -lt 50 ]; do sleep 0.01; n=$((n+1)); done", self.group);
        let words = ["sh", "-c", &gone].map(str::to_owned);
        // The next command over a connection that is lost reports it.
        let _ = self.remote.capture(&words, None, TIMEOUT, &WaitContext::default());
    }
}

/// Returns what the first line means that a process prints and that means something to `read`; `None` where none comes in time.
///
/// # Errors
/// A stop was requested.
pub(crate) fn first_answer<T: Send + 'static>(
    process: &mut Child,
    context: &WaitContext,
    what: &dyn Fn() -> String,
    read: impl Fn(&str) -> Option<T> + Send + 'static,
) -> Result<Option<T>, TestbedError> {
    let Some(stdout) = process.stdout.take() else { return Ok(None) };
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || {
        let answer = BufReader::new(stdout).lines().map_while(Result::ok).find_map(|line| read(&line));
        // There is no receiver after the timeout.
        let _ = send.send(answer);
    });
    Ok(context.wait(TIMEOUT, Duration::ZERO).receive(&receive, what)?.ok().flatten())
}
