//! A virtual router, booted in a network namespace whose interfaces become its own.

use super::KernelLab;
use super::guest::{self, Files, MachineSpec};
use crate::exec::{Daemon, ExecTarget, LabError, Shell, TestbedError, family, kill, quoted, warn};
use std::path::Path;
use std::time::{Duration, Instant};

/// The time that a machine may take until it runs commands. Two seconds are usual.
const TIMEOUT: Duration = Duration::from_secs(20);

/// The number of virtual cores of a machine: User-Mode Linux supports only one.
pub(crate) const VIRTUAL_CORES: usize = 1;

/// The number of lines of the console that an error quotes.
const LAST: usize = 4;

/// A running machine. Dropping it ends all processes in it. Its files remain in the caller's directory.
#[derive(Debug)]
pub struct VirtualMachine {
    kernel: String,
    files: Files,
    /// The shell outside the machine, in the namespace.
    namespace: Shell,
    /// `None` in a rehearsal.
    child: Option<Daemon>,
}

impl VirtualMachine {
    /// Boots the machine in the namespace of a shell. Returns once it runs commands, with forwarding enabled and its links up.
    ///
    /// # Errors
    /// A file cannot be written, or the machine does not come up within 20 seconds. The error contains the last lines of its console.
    pub fn boot(
        lab: &KernelLab,
        wanted: &MachineSpec,
        namespace: &Shell,
    ) -> Result<Self, TestbedError> {
        let files = Files::new(&wanted.directory);
        let names: Vec<&str> = wanted.links.iter().map(|link| link.name.as_str()).collect();
        namespace.transcript().comment(&format!(
            "a virtual machine (Linux {}) behind {}",
            lab.manifest().kernel,
            names.join(" and ")
        ));
        write_files(lab, wanted, &files, namespace)?;
        let words = ["sh".to_owned(), files.boot().display().to_string()];
        let child = namespace.start(&wanted.cores, &words, &files.console_log())?;
        let kernel = lab.manifest().kernel.clone();
        let mut machine = Self {
            kernel,
            files,
            namespace: namespace.clone(),
            child,
        };
        machine.wait_until_ready()?;
        Ok(machine)
    }

    fn wait_until_ready(&mut self) -> Result<(), TestbedError> {
        match self
            .shell()
            .with_timeout(TIMEOUT)
            .for_purpose("a virtual machine to boot")
            .run(&["true"])
        {
            Ok(_) => Ok(()),
            Err(TestbedError::Interrupted) => Err(TestbedError::Interrupted),
            Err(error) => {
                self.check_alive()?;
                Err(LabError::NoCommands {
                    seconds: TIMEOUT.as_secs(),
                    console: self.last_words(),
                    cause: error.to_string(),
                }
                .into())
            }
        }
    }

    /// Returns a shell inside the machine, with the same transcript. A command that never finishes ends with the machine.
    pub fn shell(&self) -> Shell {
        self.namespace.at(ExecTarget::Lab(self.files.inside()))
    }

    /// Returns the ID on this machine of its main process, the ancestor of all others, or `None` in a rehearsal.
    pub fn pid(&self) -> Option<u32> {
        self.child.as_ref().and_then(Daemon::process)
    }

    /// Returns an error if the machine has ended, with the last lines of its console.
    ///
    /// # Errors
    /// If that is so.
    pub fn check_alive(&mut self) -> Result<(), TestbedError> {
        let Some(status) = self.child.as_mut().and_then(Daemon::ended) else {
            return Ok(());
        };
        Err(LabError::Ended {
            status: status.to_string(),
            console: self.last_words(),
        }
        .into())
    }

    /// Returns a description of the machine.
    pub fn description(&self) -> String {
        format!(
            "a virtual machine in its namespace: User-Mode Linux {} with one virtual core, which receives and sends frames at \
             the ends of the links by AF_PACKET",
            self.kernel
        )
    }

    fn last_words(&self) -> String {
        let text = std::fs::read(self.files.console_log()).unwrap_or_default();
        last_words(&String::from_utf8_lossy(&text))
    }
}

/// Returns the last lines of a console, or the last ones up to a kernel panic.
fn last_words(console: &str) -> String {
    let lines: Vec<&str> = console
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    let end = lines
        .iter()
        .position(|line| line.contains("Kernel panic"))
        .map_or(lines.len(), |panic| panic + 1);
    lines[end.saturating_sub(LAST)..end].join("; ")
}

impl Drop for VirtualMachine {
    fn drop(&mut self) {
        let pid = quoted(&[self.files.pid().display().to_string()]);
        self.namespace
            .transcript()
            .line(&format!("kill -KILL $(cat {pid})"));
        let Some(mut child) = self.child.take() else {
            return;
        };
        end(&mut child);
        let number = child.number();
        if Path::new("/proc").join(number.to_string()).exists() {
            let what = "a virtual machine is still there";
            warn(what, &format!("process {number} lives"));
        }
    }
}

/// Kills the machine's kernel and with it all of its processes, then the process that waits for it.
fn end(child: &mut Daemon) {
    let kernels: Vec<String> = family(child.number())
        .iter()
        .skip(1)
        .map(u32::to_string)
        .collect();
    if !kernels.is_empty() {
        kill("KILL", &kernels);
    }
    let end = Instant::now() + Duration::from_secs(2);
    while child.ended().is_none() && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(2));
    }
    child.end();
}

fn write_files(
    lab: &KernelLab,
    wanted: &MachineSpec,
    files: &Files,
    namespace: &Shell,
) -> Result<(), TestbedError> {
    let here = namespace.outside();
    let folders = files.folders().map(|folder| folder.display().to_string());
    let words: Vec<&str> = ["mkdir", "-p"]
        .into_iter()
        .chain(folders.iter().map(String::as_str))
        .collect();
    here.run(&words)?;
    here.run(&["mkfifo", &files.console().display().to_string()])?;
    here.write(&files.inside(), guest::INSIDE)?;
    here.write(&files.init(), &guest::init(lab, wanted))?;
    here.write(&files.boot(), &guest::boot(lab, wanted, files))?;
    here.run(&["chmod", "755", &files.init().display().to_string()])
        .map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_panic_the_lines_that_led_to_it_are_told() {
        let console =
            "booting\r\nno such link\r\nKernel panic - not syncing: no init\r\nCPU: 0\r\n";
        assert_eq!(
            last_words(console),
            "booting; no such link; Kernel panic - not syncing: no init"
        );
        assert_eq!(last_words("a\n\nb\n"), "a; b");
    }
}
