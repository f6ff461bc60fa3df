//! A device under test, brought up by its recipe.

use crate::connections::ConnectionTable;
use crate::monitor::Watched;
use crate::namespace;
use crate::recipe::{Recipe, Step};
use crate::shell::{Shell, TestbedError, require};
use crate::switches::HostSwitches;
use crate::topology::{LINKS, Topology};
use sixbench_method::record::DutFacts;
use std::path::PathBuf;
use std::process::Child;
use std::time::{Duration, Instant};

/// How long a device may take to be ready.
const PATIENCE: Duration = Duration::from_secs(5);

/// A running device. Dropping it ends its process and removes its directory; the rest goes with its namespace.
#[derive(Debug)]
pub struct Dut {
    facts: DutFacts,
    recipe: Recipe,
    directory: PathBuf,
    filling: Filling,
    shell: Shell,
    /// Switches of this machine, set back when the device is gone.
    _host: Option<HostSwitches>,
    /// The DUT's cores, as `taskset -c` reads a list.
    cores: String,
    daemon: Option<Child>,
    /// Lives in the DUT's namespace for the sake of its counters.
    anchor: Option<Child>,
}

impl Dut {
    /// Brings the device up in the DUT's namespace of `topology`.
    pub fn bring_up(recipe: &Recipe, topology: &Topology) -> Result<Self, TestbedError> {
        Self::bring_up_with_table(recipe, topology, None)
    }

    /// As [`Self::bring_up`], with a connection tracking table of so many entries where its recipe can set that.
    pub fn bring_up_with_table(recipe: &Recipe, topology: &Topology, table_size: Option<u64>) -> Result<Self, TestbedError> {
        let shell = topology.dut().shell();
        // A rehearsal runs nothing, and so needs nothing.
        if let Some(need) = recipe.missing().first().filter(|_| !shell.is_rehearsal()) {
            return Err(TestbedError::Missing { program: need.program.clone(), cure: need.cure() });
        }
        shell.transcript().comment(&format!("the device: {}", recipe.title));
        add_addresses(recipe, &shell)?;
        let directory = make_directory(topology.dut().name(), &shell)?;
        let state = recipe.state.as_ref();
        let filling = Filling {
            directory: directory.display().to_string(),
            table_size: table_size.or(state.and_then(|state| state.table_size)),
        };
        let host = state.map(|state| HostSwitches::write(state, &shell.outside(), &filling)).transpose()?;
        let cores = topology.cores().dut_list();
        let (facts, recipe) = (DutFacts::default(), recipe.clone());
        let mut dut = Self { facts, recipe, directory, filling, shell, _host: host, cores, daemon: None, anchor: None };
        dut.write_files()?;
        dut.run_all(&dut.recipe.setup)?;
        dut.start()?;
        dut.run_all(&dut.recipe.after)?;
        dut.wait_until_ready()?;
        dut.anchor = dut.lay_anchor()?;
        dut.facts.title = dut.recipe.title.clone();
        dut.facts.technology = dut.recipe.technology.title().to_owned();
        dut.facts.version = version(&dut.recipe, &dut.filling, &dut.shell)?;
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

    /// Its connections, where it is stateful.
    pub fn connections(&self) -> Option<ConnectionTable> {
        let state = self.recipe.state.as_ref()?;
        Some(ConnectionTable::new(state, self.shell.clone(), self.filling.clone()))
    }

    /// Whom a monitor can watch.
    pub fn watched(&self) -> Watched {
        Watched { process: self.daemon.as_ref().map(Child::id), anchor: self.anchor.as_ref().map(Child::id) }
    }

    /// Resets the device while frames go on coming: by its recipe's own commands, or by starting its daemon anew (process reset,
    /// RFC 6201 section 4.2.2). Does not wait until it forwards again: that is what is measured.
    pub fn reset(&mut self) -> Result<(), TestbedError> {
        self.shell.transcript().comment("reset during a trial");
        if !self.recipe.reset.is_empty() {
            return self.run_all(&self.recipe.reset);
        }
        self.kill_daemon();
        self.start()
    }

    /// Starts the device's daemon anew and waits until it is ready, where its recipe wants that before every trial.
    pub fn restart_for_trial(&mut self) -> Result<(), TestbedError> {
        if !self.recipe.state.as_ref().is_some_and(|state| state.restart) {
            return Ok(());
        }
        self.shell.transcript().comment("restart before a trial");
        self.kill_daemon();
        self.start()?;
        self.run_all(&self.recipe.after)?;
        self.wait_until_ready()
    }

    fn kill_daemon(&mut self) {
        if let Some(daemon) = &mut self.daemon {
            self.shell.transcript().line(&format!("kill -KILL {}", daemon.id()));
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }

    fn write_files(&mut self) -> Result<(), TestbedError> {
        for file in &self.recipe.files {
            let content = self.filling.fill(&file.content);
            self.shell.write(&self.directory.join(&file.path), &content)?;
            self.facts.files.insert(file.path.clone(), content);
        }
        Ok(())
    }

    fn run_all(&self, steps: &[Step]) -> Result<(), TestbedError> {
        steps.iter().try_for_each(|step| self.shell.line(&self.filling.fill(&step.run)).map(drop))
    }

    fn start(&mut self) -> Result<(), TestbedError> {
        let Some(daemon) = &self.recipe.daemon else { return Ok(()) };
        let line = self.filling.fill(&daemon.run);
        if !self.shell.is_rehearsal() {
            // Asked here: of a program that setpriv cannot find only the log would tell.
            line.split_whitespace().next().map_or(Ok(()), require)?;
        }
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        self.facts.title = self.recipe.title.clone();
        self.daemon = self.shell.start(&self.cores, &words, &self.log())?;
        Ok(())
    }

    fn lay_anchor(&self) -> Result<Option<Child>, TestbedError> {
        self.shell.transcript().comment("a process in the namespace, by which its drop counters are read");
        let words = ["sleep", "infinity"].map(str::to_owned);
        self.shell.start(&self.cores, &words, &self.directory.join("anchor.log"))
    }

    fn wait_until_ready(&mut self) -> Result<(), TestbedError> {
        if self.shell.is_rehearsal() {
            return Ok(());
        }
        let Some(ready) = &self.recipe.ready else { return Ok(()) };
        let line = self.filling.fill(&ready.run);
        let end = Instant::now() + PATIENCE;
        loop {
            self.check_alive()?;
            match self.shell.look(&line.split_whitespace().collect::<Vec<_>>()) {
                Ok(_) => return Ok(()),
                Err(error) if Instant::now() > end => {
                    return Err(TestbedError::Other(format!("{} is not ready after 5 s: {error}", self.recipe.title)));
                }
                Err(_) => std::thread::sleep(Duration::from_millis(20)),
            }
        }
    }
}

impl Drop for Dut {
    fn drop(&mut self) {
        for child in [&mut self.daemon, &mut self.anchor].into_iter().flatten() {
            let _ = child.kill();
            let _ = child.wait();
        }
        self.shell.transcript().line(&format!("rm -r {}", self.directory.display()));
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

/// The version as the implementation prints it: the first line that is not empty.
fn version(recipe: &Recipe, filling: &Filling, shell: &Shell) -> Result<String, TestbedError> {
    let line = filling.fill(&recipe.version.run);
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
        for route in &link.routes {
            let gateway = link.gateway_to(route).map(|gateway| gateway.to_string()).unwrap_or_default();
            shell.line(&format!("ip route add {route} via {gateway} dev {name}"))?;
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

/// What the words in braces of a recipe stand for.
#[derive(Clone, Debug)]
pub(crate) struct Filling {
    pub(crate) directory: String,
    /// Entries of the connection tracking table.
    pub(crate) table_size: Option<u64>,
}

impl Filling {
    pub(crate) fn fill(&self, text: &str) -> String {
        let size = self.table_size.map(|size| size.to_string()).unwrap_or_default();
        let text = text.replace("{dir}", &self.directory).replace("{table-size}", &size);
        text.replace("{left}", LINKS[0]).replace("{right}", LINKS[1])
    }
}
