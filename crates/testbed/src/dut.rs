//! A device under test, brought up by its recipe.

use crate::namespace;
use crate::recipe::{Recipe, Step};
use crate::shell::{Shell, TestbedError, Transcript, require};
use crate::topology::{LINKS, Topology};
use sixbench_method::record::DutFacts;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, Instant};

/// How long a device may take to be ready.
const PATIENCE: Duration = Duration::from_secs(5);

/// A running device. Dropping it ends its process and removes its directory; the rest goes with its namespace.
#[derive(Debug)]
pub struct Dut {
    facts: DutFacts,
    directory: PathBuf,
    transcript: Transcript,
    daemon: Option<Child>,
}

impl Dut {
    /// Brings the device up in the DUT's namespace of `topology`.
    pub fn bring_up(recipe: &Recipe, topology: &Topology) -> Result<Self, TestbedError> {
        if let Some(need) = recipe.missing().first() {
            return Err(TestbedError::Missing { program: need.program.clone(), package: need.package.clone() });
        }
        let shell = topology.dut().shell();
        shell.transcript().comment(&format!("the device: {}", recipe.title));
        add_addresses(recipe, &shell)?;
        let directory = make_directory(topology.dut().name(), &shell)?;
        let transcript = shell.transcript().clone();
        let mut dut = Self { facts: DutFacts::default(), directory, transcript, daemon: None };
        dut.write_files(recipe, &shell)?;
        dut.run_all(&recipe.setup, &shell)?;
        dut.start(recipe, topology, &shell)?;
        dut.run_all(&recipe.after, &shell)?;
        dut.wait_until_ready(recipe, &shell)?;
        dut.facts.title = recipe.title.clone();
        dut.facts.technology = recipe.technology.title().to_owned();
        dut.facts.version = version(recipe, &dut.directory, &shell)?;
        Ok(dut)
    }

    /// What the report says of the device.
    pub fn facts(&self) -> &DutFacts {
        &self.facts
    }

    /// An error when the device's process has ended, with the last lines it wrote.
    pub fn check_alive(&mut self) -> Result<(), TestbedError> {
        let Some(status) = self.daemon.as_mut().and_then(|child| child.try_wait().ok().flatten()) else { return Ok(()) };
        let log = std::fs::read_to_string(self.log()).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        let last = lines[lines.len().saturating_sub(5)..].join("; ");
        Err(TestbedError::Other(format!("{} ended by itself ({status}): {last}", self.facts.title)))
    }

    fn log(&self) -> PathBuf {
        self.directory.join("daemon.log")
    }

    fn write_files(&mut self, recipe: &Recipe, shell: &Shell) -> Result<(), TestbedError> {
        for file in &recipe.files {
            let content = filled(&file.content, &self.directory);
            shell.write(&self.directory.join(&file.path), &content)?;
            self.facts.files.insert(file.path.clone(), content);
        }
        Ok(())
    }

    fn run_all(&self, steps: &[Step], shell: &Shell) -> Result<(), TestbedError> {
        steps.iter().try_for_each(|step| shell.line(&filled(&step.run, &self.directory)).map(drop))
    }

    fn start(&mut self, recipe: &Recipe, topology: &Topology, shell: &Shell) -> Result<(), TestbedError> {
        let Some(daemon) = &recipe.daemon else { return Ok(()) };
        let line = filled(&daemon.run, &self.directory);
        if !shell.is_rehearsal() {
            // Asked here: of a program that setpriv cannot find only the log would tell.
            line.split_whitespace().next().map_or(Ok(()), require)?;
        }
        let pinned = format!("taskset -c {} {line}", topology.cores().dut_list());
        let words: Vec<String> = pinned.split_whitespace().map(str::to_owned).collect();
        self.facts.title = recipe.title.clone();
        self.daemon = shell.start(&words, &self.log())?;
        Ok(())
    }

    fn wait_until_ready(&mut self, recipe: &Recipe, shell: &Shell) -> Result<(), TestbedError> {
        let Some(ready) = recipe.ready.as_ref().filter(|_| !shell.is_rehearsal()) else { return Ok(()) };
        let line = filled(&ready.run, &self.directory);
        let end = Instant::now() + PATIENCE;
        loop {
            self.check_alive()?;
            match shell.look(&line.split_whitespace().collect::<Vec<_>>()) {
                Ok(_) => return Ok(()),
                Err(error) if Instant::now() > end => {
                    return Err(TestbedError::Other(format!("{} is not ready after 5 s: {error}", recipe.title)));
                }
                Err(_) => std::thread::sleep(Duration::from_millis(20)),
            }
        }
    }
}

impl Drop for Dut {
    fn drop(&mut self) {
        if let Some(child) = &mut self.daemon {
            let _ = child.kill();
            let _ = child.wait();
        }
        self.transcript.line(&format!("rm -r {}", self.directory.display()));
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

/// The version as the implementation prints it: the first line that is not empty.
fn version(recipe: &Recipe, directory: &Path, shell: &Shell) -> Result<String, TestbedError> {
    let line = filled(&recipe.version.run, directory);
    let printed =
        if shell.is_rehearsal() { String::new() } else { shell.look(&line.split_whitespace().collect::<Vec<_>>())? };
    Ok(printed.lines().map(str::trim).find(|l| !l.is_empty()).unwrap_or_default().to_owned())
}

fn add_addresses(recipe: &Recipe, shell: &Shell) -> Result<(), TestbedError> {
    for (name, link) in LINKS.iter().zip([&recipe.left, &recipe.right]) {
        for address in &link.dut {
            let no_dad = if address.addr().is_ipv6() { " nodad" } else { "" };
            shell.line(&format!("ip address add {address} dev {name}{no_dad}"))?;
        }
    }
    Ok(())
}

/// Ours alone, and new: in a directory somebody else had made under that name, root would write where its links point.
fn make_directory(name: &str, shell: &Shell) -> Result<PathBuf, TestbedError> {
    let path = namespace::directory(name);
    shell.run(&["mkdir", "-m", "700", &path.display().to_string()])?;
    Ok(path)
}

fn filled(text: &str, directory: &Path) -> String {
    let directory = directory.display().to_string();
    text.replace("{dir}", &directory).replace("{left}", LINKS[0]).replace("{right}", LINKS[1])
}
