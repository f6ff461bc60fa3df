//! Processes of the system's own tools: started apart from the terminal, waited for with patience but not for ever.

use std::io::Read;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

/// A command in a process group of its own, so that Ctrl-C on the terminal reaches only us.
pub(crate) fn command(words: &[String]) -> Command {
    use std::os::unix::process::CommandExt as _;
    let mut command = Command::new(&words[0]);
    let path = std::env::var("PATH").unwrap_or_default();
    command.args(&words[1..]).stdin(Stdio::null()).process_group(0);
    // An ordinary user's PATH lacks the system's tools.
    command.env("PATH", format!("{path}:/usr/sbin:/sbin")).env("LC_ALL", "C");
    command
}

/// Waits for the end of a process and of its output; otherwise says why that did not come.
pub(crate) fn wait(mut child: Child, patience: Duration) -> Result<Output, String> {
    let end = Instant::now() + patience;
    let (out, err) = (collect(child.stdout.take()), collect(child.stderr.take()));
    let Some(status) = ended(&mut child, end) else {
        kill_group(&mut child);
        return Err(format!("it did not end within {} s", patience.as_secs_f32()));
    };
    let rest = || end.saturating_duration_since(Instant::now());
    // What is in the group of a process that has ended cannot be told from a stranger's any more: the namespace's end is its end.
    let held = |_| "it ended, but something it left running holds its output; start that as the recipe's [daemon]".to_owned();
    let stdout = out.recv_timeout(rest()).map_err(held)?;
    let stderr = err.recv_timeout(rest()).map_err(held)?;
    Ok(Output { status, stdout, stderr })
}

fn ended(child: &mut Child, end: Instant) -> Option<ExitStatus> {
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if Instant::now() < end => std::thread::sleep(Duration::from_millis(1)),
            Ok(None) | Err(_) => return None,
        }
    }
}

/// Reads to the end in a thread of its own, so that a full pipe stops nobody.
fn collect(from: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || {
        let mut all = Vec::new();
        if let Some(mut from) = from {
            let _ = from.read_to_end(&mut all);
        }
        // Nobody receives after the patience has ended.
        let _ = send.send(all);
    });
    receive
}

fn kill_group(child: &mut Child) {
    kill("KILL", &[format!("-{}", child.id())]);
    let _ = child.kill();
    let _ = child.wait();
}

/// Sends a signal. By the shell's own `kill`: the program of that name is in no package that must be installed.
pub(crate) fn kill(signal: &str, pids: &[String]) {
    let line = format!("kill -s {signal} -- {}", pids.join(" "));
    // Some may have ended by themselves meanwhile.
    let _ = Command::new("sh").args(["-c", &line]).stdout(Stdio::null()).stderr(Stdio::null()).status();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(script: &str, patience: Duration) -> Result<Output, String> {
        let words = ["sh", "-c", script].map(str::to_owned);
        let child = command(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("sh");
        wait(child, patience)
    }

    #[test]
    fn a_command_that_hangs_is_ended_with_its_children() {
        let file = std::env::temp_dir().join(format!("sb-{}-hangs", std::process::id()));
        let script = format!("sleep 61 & echo $! > {}; wait", file.display());
        assert_eq!(run(&script, Duration::from_millis(500)).unwrap_err(), "it did not end within 0.5 s");
        let pid = std::fs::read_to_string(&file).expect("a pid");
        std::fs::remove_file(&file).expect("removed");
        // Gone, or dead and not yet collected by its new parent; a signal needs a moment to work.
        let is_dead = || {
            let state = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
            state.is_empty() || state.contains(") Z ")
        };
        let end = Instant::now() + Duration::from_secs(2);
        while !is_dead() && Instant::now() < end {
            std::thread::yield_now();
        }
        assert!(is_dead());
    }

    #[test]
    fn a_process_left_running_does_not_hold_us_for_ever() {
        let error = run("sleep 2 & exit 0", Duration::from_millis(300)).unwrap_err();
        assert!(error.contains("[daemon]"), "{error}");
    }
}
