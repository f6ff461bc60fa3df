//! Runs the system's tools detached from the terminal and waits for them with a timeout.

use super::{TestbedError, Wait, WaitContext};
use std::io::{Read, Write as _};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

/// Returns a command in its own process group, so that Ctrl-C on the terminal reaches only us.
pub(crate) fn command(words: &[String]) -> Command {
    use std::os::unix::process::CommandExt as _;
    let mut command = Command::new(&words[0]);
    command
        .args(&words[1..])
        .stdin(Stdio::null())
        .process_group(0);
    // Output is parsed, so it must not be in the user's language.
    command.env("PATH", search_path()).env("LC_ALL", "C");
    command
}

/// Returns the directories of programs. An ordinary user's PATH lacks those of the system's tools, and an empty environment has no PATH.
pub(crate) fn search_path() -> String {
    std::env::var("PATH").unwrap_or_else(|_| "/usr/local/bin:/usr/bin:/bin".to_owned())
        + ":/usr/sbin:/sbin"
}

/// Returns the processes of this machine whose name, as the kernel keeps it, is wanted.
pub(crate) fn processes_named(is_wanted: impl Fn(&str) -> bool) -> impl Iterator<Item = u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(move |process: &u32| {
            std::fs::read_to_string(format!("/proc/{process}/comm"))
                .is_ok_and(|name| is_wanted(name.trim_end_matches('\n')))
        })
}

/// A command that is running when a stop is requested gets this long to finish. One that is killed may leave its work half done.
const GRACE: Duration = Duration::from_millis(500);

/// Waits for a process to end and to close its output. `what` completes "waiting for ...".
///
/// # Errors
/// A stop was requested, or the reason why the process did not end. It is killed if it is still running.
pub(crate) fn wait(
    mut child: Child,
    timeout: Duration,
    context: &WaitContext,
    what: &dyn Fn() -> String,
) -> Result<Output, TestbedError> {
    let mut wait = context.wait(timeout, Duration::from_millis(1));
    let (out, err) = (collect(child.stdout.take()), collect(child.stderr.take()));
    let status = match ended_in(&mut wait, &mut child, what) {
        Ok(Some(status)) => status,
        other => {
            kill_group(&mut child);
            let late = TestbedError::Late {
                seconds: timeout.as_secs_f32(),
            };
            return Err(other.err().unwrap_or(late));
        }
    };
    // The group of a process that has ended can no longer be distinguished from a foreign one, so its members are only ended with the namespace.
    let held = |_| TestbedError::OutputHeld;
    let stdout = wait.receive(&out, what)?.map_err(held)?;
    let stderr = wait.receive(&err, what)?.map_err(held)?;
    Ok(Output {
        status,
        stdout,
        stderr,
    })
}

/// Waits for the end of a process. Returns `None` if it does not end in time.
fn ended_in(
    wait: &mut Wait<'_>,
    child: &mut Child,
    what: &dyn Fn() -> String,
) -> Result<Option<ExitStatus>, TestbedError> {
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(Some(status)),
            Ok(None) if !wait.is_over() => {}
            Ok(None) | Err(_) => return Ok(None),
        }
        if let Err(interrupted) = wait.rest(what) {
            return ended(child, Instant::now() + GRACE)
                .map(Some)
                .ok_or(interrupted);
        }
    }
}

pub(crate) fn ended(child: &mut Child, end: Instant) -> Option<ExitStatus> {
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if Instant::now() < end => std::thread::sleep(Duration::from_millis(1)),
            Ok(None) | Err(_) => return None,
        }
    }
}

/// Closes a process's standard input and waits for its end, which this should cause. Kills it after `timeout`.
pub(crate) fn end_by_input(child: &mut Child, timeout: Duration) {
    drop(child.stdin.take());
    let _ = ended(child, Instant::now() + timeout);
    let _ = child.kill();
    let _ = child.wait();
}

/// The octets of a process's output that are kept, because another machine may never stop sending.
const MOST_OUTPUT: u64 = 64 << 20;

/// Reads to the end in a separate thread, so that no process blocks on a full pipe.
fn collect(from: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || {
        let mut all = Vec::new();
        if let Some(mut from) = from {
            let _ = (&mut from).take(MOST_OUTPUT).read_to_end(&mut all);
            // The rest is read and discarded, so that the process can end.
            let _ = std::io::copy(&mut from, &mut std::io::sink());
        }
        // The receiver is gone after a timeout.
        let _ = send.send(all);
    });
    receive
}

/// Writes `input` to a process's standard input in a separate thread and closes it. Does nothing if the input is not piped.
pub(crate) fn feed(child: &mut Child, input: &str) {
    let Some(mut stdin) = child.stdin.take() else {
        return;
    };
    let input = input.to_owned();
    // A process that ended before it had read everything reports that itself.
    std::thread::spawn(move || drop(stdin.write_all(input.as_bytes())));
}

/// Kills a process and its descendants and waits until they have released their resources, such as the addresses they listen on.
pub(crate) fn kill_group(child: &mut Child) {
    // Descendants are looked up while their parents live: afterwards nothing connects them.
    let family = family(child.id());
    // The process itself comes first: this needs no other program, and its time of death matters in the middle of a trial.
    let _ = child.kill();
    kill("KILL", &[format!("-{}", child.id())]);
    let _ = child.wait();
    let end = Instant::now() + Duration::from_millis(500);
    while family.iter().any(|process| is_running(*process)) && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Returns a process and its descendants, as far as the parent-child links still exist.
pub(crate) fn family(process: u32) -> Vec<u32> {
    let mut family = vec![process];
    let mut at = 0;
    while let Some(parent) = family.get(at) {
        family.extend(children(*parent));
        at += 1;
    }
    family
}

/// Returns the cores on which each thread of a process may run, in ascending order.
pub(crate) fn allowed_cores(process: u32) -> Vec<Vec<u32>> {
    let threads = std::fs::read_dir(format!("/proc/{process}/task"))
        .into_iter()
        .flatten()
        .filter_map(Result::ok);
    let states =
        threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("status")).ok());
    states
        .filter_map(|state| {
            Some(core_list(
                state
                    .lines()
                    .find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?,
            ))
        })
        .collect()
}

/// Returns the cores in a list in the kernel's notation, such as `0-2,5`. `io` has the same for the nodes of memory: neither of the two crates knows the
/// other or a crate below both.
pub(crate) fn core_list(text: &str) -> Vec<u32> {
    text.trim()
        .split(',')
        .filter_map(|part| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            Some(first.trim().parse().ok()?..=last.trim().parse().ok()?)
        })
        .flatten()
        .collect()
}

fn children(parent: u32) -> Vec<u32> {
    let threads = std::fs::read_dir(format!("/proc/{parent}/task"))
        .into_iter()
        .flatten()
        .filter_map(Result::ok);
    let lists =
        threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok());
    lists
        .flat_map(|list| {
            list.split_whitespace()
                .filter_map(|pid| pid.parse().ok())
                .collect::<Vec<_>>()
        })
        .collect()
}

/// Returns the command line of a process; empty if there is none.
pub fn command_of(process: u32) -> String {
    let words = std::fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    let words = String::from_utf8_lossy(&words).replace('\0', " ");
    words
        .chars()
        .filter(|letter| !letter.is_control())
        .collect::<String>()
        .trim()
        .to_owned()
}

/// Returns true if the process is running, that is, if it exists and is not a zombie.
pub(super) fn is_running(process: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The name of the command, in parentheses, may itself contain spaces and parentheses.
    stat.rsplit_once(')')
        .is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
}

/// Returns true if this process may create namespaces and open raw sockets.
pub fn is_root() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let uids = status
        .lines()
        .find_map(|line| line.strip_prefix("Uid:"))
        .unwrap_or_default();
    // The second of the four is the effective user, whose rights count.
    uids.split_whitespace().nth(1) == Some("0")
}

/// Sends a signal with the shell's built-in `kill`, because no required package contains the program of that name.
pub(crate) fn kill(signal: &str, pids: &[String]) {
    let script = "signal=$1; shift; kill -s \"$signal\" -- \"$@\"";
    // Some processes may have ended meanwhile.
    let _ = Command::new("sh")
        .args(["-c", script, "kill", signal])
        .args(pids)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn cores_are_read_as_the_kernel_writes_them() {
        assert_eq!(core_list("\t0-2,5\n"), [0, 1, 2, 5]);
        assert_eq!(core_list("7"), [7]);
        assert!(!allowed_cores(std::process::id())[0].is_empty());
    }

    fn run_in(
        context: &WaitContext,
        script: &str,
        timeout: Duration,
    ) -> Result<Output, TestbedError> {
        let words = ["sh", "-c", script].map(str::to_owned);
        let child = command(&words)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("sh");
        wait(child, timeout, context, &|| "a script".to_owned())
    }

    fn run(script: &str, timeout: Duration) -> Result<Output, String> {
        run_in(&WaitContext::default(), script, timeout).map_err(|error| error.to_string())
    }

    fn stopped() -> WaitContext {
        WaitContext::default().stopped_by(Arc::new(AtomicBool::new(true)))
    }

    #[test]
    fn a_request_to_stop_ends_a_command_with_its_children_and_a_wait_for_what_it_left_running() {
        let timeout = Duration::from_secs(600);
        for script in ["sleep 61 & wait", "sleep 61 & exit 0"] {
            let start = Instant::now();
            let error = run_in(&stopped(), script, timeout).expect_err("interrupted");
            assert!(
                matches!(error, TestbedError::Interrupted),
                "{script}: {error}"
            );
            assert!(start.elapsed() < Duration::from_secs(30), "{script}");
        }
    }

    #[test]
    fn a_command_that_ends_within_a_moment_of_the_request_to_stop_is_not_cut_short() {
        // Repeated, because a busy machine may need more than the grace period.
        let is_whole = |_| {
            run_in(&stopped(), "echo done", Duration::from_secs(600))
                .is_ok_and(|output| output.stdout == b"done\n")
        };
        assert!((0..20).any(is_whole));
    }

    #[test]
    fn a_command_that_hangs_is_ended_with_its_children() {
        let file = std::env::temp_dir().join(format!("sb-{}-hangs", std::process::id()));
        let script = format!("sleep 61 & echo $! > {}; wait", file.display());
        // Long enough for the shell to start on a busy machine.
        assert_eq!(
            run(&script, Duration::from_millis(2500)).unwrap_err(),
            "it did not end within 2.5 s"
        );
        let pid = std::fs::read_to_string(&file).expect("a pid");
        std::fs::remove_file(&file).expect("removed");
        assert!(!is_running(pid.trim().parse().expect("a number")));
    }

    #[test]
    fn a_family_is_a_process_and_what_it_has_started() {
        let words = ["sh", "-c", "sleep 61 & sleep 62"].map(str::to_owned);
        let mut child = command(&words).spawn().expect("sh");
        let end = Instant::now() + Duration::from_secs(60);
        while family(child.id()).len() < 3 && Instant::now() < end {
            std::thread::yield_now();
        }
        let all = family(child.id());
        assert_eq!((all[0], all.len()), (child.id(), 3));
        kill_group(&mut child);
        assert!(!all.into_iter().any(is_running));
    }

    #[test]
    fn a_process_left_running_does_not_hold_us_for_ever() {
        let error = run("sleep 2 & exit 0", Duration::from_millis(300)).unwrap_err();
        assert!(error.contains("[daemon]"), "{error}");
    }
}
