//! An implementation run by its recipe: its files, commands and process. It does not matter here whether it is the device under test or one of the
//! tester's ends.

use crate::dut::template_vars::{TemplateVars, Zone};
use crate::exec::{
    Daemon, DeviceError, LifeLock, Shell, TestbedError, Undo, allowed_cores, ending_line, family,
    quoted,
};
use crate::recipe::{DeviceHost, Recipe, RecipeCommand, Technology};
use sixbench_method::record::DutFacts;
use sixbench_method::text::visible;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The time that an implementation may take to become ready,
const TIMEOUT: Duration = Duration::from_secs(5);
/// plus this much per octet of the zone that it has to load.
const PER_OCTET: Duration = Duration::from_micros(1);

#[derive(Debug)]
pub(crate) struct ExecContext {
    /// The shell in the namespace, or on the machine.
    pub(crate) shell: Shell,
    /// The name of the namespace and of the directory.
    pub(crate) name: String,
    /// The implementation's cores. Empty if it has a machine of its own.
    pub(crate) cores: Vec<u32>,
    /// The record that undoes everything when it is dropped, on a machine that outlives the run.
    pub(crate) undo: Option<Undo>,
}

impl ExecContext {
    /// Returns the cores as a list for `taskset -c`.
    pub(crate) fn core_list(&self) -> String {
        self.cores
            .iter()
            .map(u32::to_string)
            .collect::<Vec<_>>()
            .join(",")
    }

    pub(crate) fn vars(&self) -> TemplateVars {
        let directory = self.directory().display().to_string();
        TemplateVars {
            directory,
            cores: self.core_list(),
            threads: self.cores.len().max(1),
            ..TemplateVars::default()
        }
    }

    fn directory(&self) -> PathBuf {
        self.shell.target().directory(&self.name)
    }

    /// Starts a daemon pinned to the cores of this place.
    pub(crate) fn start(
        &self,
        words: &[String],
        log: &Path,
    ) -> Result<Option<Daemon>, TestbedError> {
        // If the connection hangs, the session does not end, so the undo record must end the process.
        self.undo
            .as_ref()
            .map_or(Ok(()), |undo| undo.by_line_once(ending_line(log)))?;
        self.shell.start(&self.core_list(), words, log)
    }
}

/// Dropping this ends the process and removes its directory.
#[derive(Debug)]
pub(crate) struct RunningRecipe {
    /// Dropped first: the process must be gone when the rest is undone and the directory removed.
    daemon: Option<Daemon>,
    facts: DutFacts,
    recipe: Recipe,
    context: ExecContext,
    vars: TemplateVars,
    timeout: Duration,
    directory: Directory,
}

impl RunningRecipe {
    /// Brings up the implementation. An authoritative server gets the zone.
    pub(crate) fn bring_up(
        recipe: &Recipe,
        context: ExecContext,
        directory: Directory,
        vars: TemplateVars,
        zone: &Zone,
    ) -> Result<Self, TestbedError> {
        vars.check()?;
        let facts = DutFacts {
            title: recipe.honest_title(),
            technology: recipe.technology.title().to_owned(),
            in_memory: recipe.host == DeviceHost::Memif,
            ..DutFacts::default()
        };
        let recipe = recipe.clone();
        let mut running = Self {
            facts,
            recipe,
            context,
            vars,
            timeout: TIMEOUT,
            daemon: None,
            directory,
        };
        running.write_files()?;
        if running.recipe.technology == Technology::DnsAuthority {
            running.write_zone(zone)?;
        }
        running.set_up()?;
        running.start()?;
        running.run_all(&running.recipe.after)?;
        running.settle()?;
        running.facts.version = running.version()?;
        running.context.undo.iter().for_each(Undo::settle);
        Ok(running)
    }

    pub(crate) fn facts(&self) -> &DutFacts {
        &self.facts
    }

    pub(crate) fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    pub(crate) fn vars(&self) -> &TemplateVars {
        &self.vars
    }

    pub(crate) fn context(&self) -> &ExecContext {
        &self.context
    }

    /// Returns the implementation's own directory, which is empty at first.
    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Returns its process ID, or `None` if it does not run on this machine.
    pub(crate) fn process(&self) -> Option<u32> {
        self.daemon.as_ref().and_then(Daemon::process)
    }

    pub(crate) fn check_alive(&mut self) -> Result<(), TestbedError> {
        self.context.undo.as_ref().map_or(Ok(()), Undo::check)?;
        let Some(status) = self.daemon.as_mut().and_then(Daemon::ended) else {
            return Ok(());
        };
        Err(DeviceError::Ended {
            title: self.facts.title.clone(),
            status: status.to_string(),
            last: self.context.shell.last_lines(&self.log(), 5).join("; "),
        }
        .into())
    }

    /// Restarts the process without waiting until it is ready.
    pub(crate) fn start_anew(&mut self) -> Result<(), TestbedError> {
        self.end_daemon();
        self.start()
    }

    /// Restarts the process, runs the commands that follow it, and waits until it is ready.
    pub(crate) fn restart(&mut self) -> Result<(), TestbedError> {
        self.start_anew()?;
        self.run_all(&self.recipe.after)?;
        self.settle()
    }

    pub(crate) fn run_all(&self, steps: &[RecipeCommand]) -> Result<(), TestbedError> {
        steps.iter().try_for_each(|step| {
            self.context
                .shell
                .run(&self.vars.command_words(&step.run))
                .map(drop)
        })
    }

    /// Runs the commands before the daemon. On a machine that outlives the run, the teardown is recorded once the first of them has succeeded: if
    /// it fails because an object already exists, that object is not ours to remove. A stop request does not interrupt the command
    /// ([`Shell::run`]).
    fn set_up(&self) -> Result<(), TestbedError> {
        let (first, others) = self.recipe.setup.split_at(self.recipe.setup.len().min(1));
        self.run_all(first)?;
        self.note_teardown()?;
        self.run_all(others)
    }

    fn note_teardown(&self) -> Result<(), TestbedError> {
        let Some(undo) = &self.context.undo else {
            return Ok(());
        };
        // The undo commands run in reverse order.
        let steps = self.recipe.teardown.iter().rev();
        steps
            .map(|step| self.vars.command_words(&step.run))
            .try_for_each(|words| undo.by(&words))
    }

    fn log(&self) -> PathBuf {
        self.directory().join("daemon.log")
    }

    fn end_daemon(&mut self) {
        if let Some(daemon) = &mut self.daemon {
            // A daemon may consist of several processes, which share a group.
            self.context
                .shell
                .transcript()
                .line(&self.context.shell.target().kill_line(daemon.number()));
            daemon.end();
        }
    }

    fn write_files(&mut self) -> Result<(), TestbedError> {
        for file in &self.recipe.files {
            let content = self.vars.fill_file(&file.content);
            self.context
                .shell
                .write(&self.directory().join(&file.path), &content)?;
            self.facts.files.insert(file.path.clone(), content);
        }
        Ok(())
    }

    /// The zone is not part of the facts: it can be many megabytes and can be recomputed.
    fn write_zone(&mut self, zone: &Zone) -> Result<(), TestbedError> {
        let text = zone.file();
        let octets = u32::try_from(text.len()).unwrap_or(u32::MAX);
        self.timeout = TIMEOUT + PER_OCTET * octets;
        self.context
            .shell
            .write_large(Path::new(&self.vars.zone_path()), &text)
    }

    fn start(&mut self) -> Result<(), TestbedError> {
        let Some(daemon) = &self.recipe.daemon else {
            return Ok(());
        };
        let words = self.vars.command_words(&daemon.run);
        if !self.context.shell.is_rehearsal() {
            // Checked here, because setpriv would report a missing program only in the log.
            words
                .first()
                .map_or(Ok(()), |program| self.context.shell.require(program))?;
        }
        self.daemon = self.context.start(&words, &self.log())?;
        Ok(())
    }

    /// Waits until the implementation is ready, and confines it to its cores.
    fn settle(&mut self) -> Result<(), TestbedError> {
        self.wait_until_ready()?;
        self.keep_to_cores()
    }

    /// Some implementations, such as Knot DNS, pin their threads to the machine's cores by number, which could be the tester's cores here. A
    /// polling one is given its cores and pins one thread to each.
    fn keep_to_cores(&self) -> Result<(), TestbedError> {
        let Some(daemon) = self.process() else {
            return Ok(());
        };
        let own = &self.context.cores;
        let is_kept = |cores: &Vec<u32>| {
            if self.recipe.polling {
                cores.iter().all(|core| own.contains(core))
            } else {
                cores == own
            }
        };
        let is_astray = |process: &u32| !allowed_cores(*process).iter().all(is_kept);
        for process in family(daemon).into_iter().filter(is_astray) {
            self.context.shell.line(&format!(
                "taskset -a -c -p {} {process}",
                self.context.core_list()
            ))?;
        }
        Ok(())
    }

    fn wait_until_ready(&mut self) -> Result<(), TestbedError> {
        if self.context.shell.is_rehearsal() {
            return Ok(());
        }
        let Some(ready) = &self.recipe.ready else {
            return Ok(());
        };
        let words = self.vars.command_words(&ready.run);
        let shell = self.context.shell.clone();
        let mut wait = shell.wait(self.timeout, Duration::from_millis(20));
        loop {
            self.check_alive()?;
            match shell.look(&words) {
                Ok(_) => return Ok(()),
                Err(error) if wait.is_over() => {
                    return Err(error.restated(|cause| DeviceError::NotReady {
                        title: self.recipe.title.clone(),
                        seconds: self.timeout.as_secs(),
                        cause,
                    }));
                }
                Err(_) => wait.rest(|| format!("{} to be ready", self.recipe.title))?,
            }
        }
    }

    /// Waits until the process serves all of these sockets.
    ///
    /// # Errors
    /// The process has ended, a stop was requested, or a socket has not appeared in time.
    pub(crate) fn wait_for_sockets(&mut self, sockets: &[PathBuf]) -> Result<(), TestbedError> {
        if self.context.shell.is_rehearsal() {
            return Ok(());
        }
        let shell = self.context.shell.clone();
        let mut wait = shell.wait(self.timeout, Duration::from_millis(20));
        while let Some(missing) = sockets.iter().find(|socket| !socket.exists()) {
            self.check_alive()?;
            if wait.is_over() {
                return Err(DeviceError::NotServing {
                    title: self.recipe.title.clone(),
                    socket: missing.clone(),
                    seconds: self.timeout.as_secs(),
                    last: shell.last_lines(&self.log(), 5).join("; "),
                }
                .into());
            }
            wait.rest(|| format!("{} to be ready", self.recipe.title))?;
        }
        Ok(())
    }

    /// Returns the version that the implementation prints: its first line that is not empty, with words separated by one space (dpkg-query prints a
    /// tab).
    fn version(&self) -> Result<String, TestbedError> {
        let printed = self
            .context
            .shell
            .look(&self.vars.command_words(&self.recipe.version.run))?;
        let first = printed
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
            .find(|line| !line.is_empty())
            .unwrap_or_default();
        Ok(visible(&first).into_owned())
    }
}

/// Checks that the programs a recipe needs are installed, except in a rehearsal, which runs nothing.
pub(crate) fn check_programs(recipe: &Recipe, shell: &Shell) -> Result<(), TestbedError> {
    match recipe.missing().first().filter(|_| !shell.is_rehearsal()) {
        Some(need) => Err(TestbedError::Missing {
            program: need.program.clone(),
            cure: Some(need.cure()),
        }),
        None => Ok(()),
    }
}

/// A device's directory. Dropping this removes the directory, unless an undo record does so.
#[derive(Debug)]
pub(crate) struct Directory {
    path: PathBuf,
    shell: Shell,
    is_undone_there: bool,
    /// Released after the directory has been removed.
    _alive: Option<LifeLock>,
}

impl Directory {
    /// Makes the directory of the device in this place. It must be new and ours alone: in a directory made by another user, root would write
    /// through that user's links.
    pub(crate) fn make(context: &ExecContext) -> Result<Self, TestbedError> {
        let path = context.directory();
        let name = path.display().to_string();
        let alive = (!context.shell.is_rehearsal()).then(LifeLock::take);
        context.shell.run(&["mkdir", "-m", "700", &name])?;
        let words = ["rm", "-rf", &name].map(str::to_owned);
        context
            .undo
            .as_ref()
            .map_or(Ok(()), |undo| undo.by(&words))?;
        Ok(Self {
            path,
            shell: context.shell.clone(),
            is_undone_there: context.undo.is_some(),
            _alive: alive,
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        if !self.is_undone_there {
            self.shell.transcript().line(&format!(
                "rm -r {}",
                quoted(&[self.path.display().to_string()])
            ));
        }
        self.shell.target().remove(&self.path);
    }
}
