//! A machine across the room that is to be the device.

use super::{check, cores, links, sysctls, tracking};
use crate::dut::running::ExecContext;
use crate::dut::template_vars::{DutOptions, TemplateVars};
use crate::exec::{ExecTarget, Remote, Shell, TestbedError, Undo};
use crate::recipe::{DeviceHost, Recipe, System};
use std::path::Path;

/// The machine, and which of its interfaces are the device's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteMachine {
    pub(super) remote: Remote,
    interfaces: [String; 2],
}

impl RemoteMachine {
    /// By the name ssh knows it by; `config` is read instead of the usual ssh_config. `interfaces` are cabled to the tester's left and
    /// right. Nothing is opened yet: in a rehearsal it can be used as it is.
    pub fn new(destination: &str, config: Option<&Path>, interfaces: [String; 2]) -> Self {
        Self { remote: Remote::new(destination, config), interfaces }
    }

    /// Opens the connection; see [`Remote::reach`] for its errors.
    pub fn reach(&self, shell: &Shell) -> Result<Self, TestbedError> {
        Ok(Self { remote: self.remote.reach(shell.context())?, ..self.clone() })
    }

    /// Refuses, before anything is touched there, what cannot work: another system, interfaces that have work of their own, programs or
    /// cores it has not got.
    pub fn check(&self, recipe: &Recipe, wanted_cores: Option<u32>, shell: &Shell) -> Result<(), TestbedError> {
        let (shell, name) = (self.shell(shell), self.remote.destination());
        check_recipe(recipe, name)?;
        check_system(recipe, &shell, name)?;
        self.interfaces.iter().try_for_each(|interface| check::check(&shell, name, recipe.system, interface))?;
        check_programs(recipe, &shell, name)?;
        match wanted_cores {
            Some(_) if recipe.system != System::Linux => Err(TestbedError::Other(format!(
                "`cores` takes cores of Linux machines offline, but {name} runs {}: leave the key out, and set the cores there",
                recipe.system.title()
            ))),
            Some(wanted) => cores::check(wanted, &cores::online(&shell)?, name),
            None => Ok(()),
        }
    }

    /// The name ssh knows it by.
    pub fn name(&self) -> &str {
        self.remote.destination()
    }

    /// Who runs where, in a sentence for the report.
    pub fn layout(&self) -> String {
        let [left, right] = &self.interfaces;
        format!(
            "the DUT is the machine {}, set up over ssh by its recipe; its interfaces {left} and {right} are cabled to the tester's",
            self.remote.destination()
        )
    }

    fn shell(&self, shell: &Shell) -> Shell {
        shell.at(ExecTarget::Ssh(self.remote.clone()))
    }
}

/// A recipe that leaves the device to the user has nothing to set up, and a row of devices is more than one machine.
fn check_recipe(recipe: &Recipe, machine: &str) -> Result<(), TestbedError> {
    if !recipe.parts.is_empty() {
        let (name, count) = (&recipe.name, recipe.parts.len());
        let text =
            format!("{name} consists of {count} devices in a row, but {machine} is one machine: name a recipe of one device");
        return Err(TestbedError::Other(text));
    }
    if recipe.host == DeviceHost::Memif {
        let text = format!("{} runs at links in shared memory, which do not reach {machine}: name another recipe", recipe.name);
        return Err(TestbedError::Other(text));
    }
    if recipe.is_bare_wire() {
        let text = format!("{} is no device but a wire from port to port: leave `host = \"ssh:{machine}\"` out", recipe.name);
        return Err(TestbedError::Other(text));
    }
    if !recipe.built.is_empty() {
        let text =
            format!("{} runs what the lab of this machine has, which {machine} has not: name another recipe", recipe.name);
        return Err(TestbedError::Other(text));
    }
    if recipe.host != DeviceHost::Manual {
        return Ok(());
    }
    let text =
        format!("{} is set up by hand: leave `host = \"ssh:{machine}\"` out of [testbed], or name another recipe", recipe.name);
    Err(TestbedError::Other(text))
}

fn check_system(recipe: &Recipe, shell: &Shell, machine: &str) -> Result<(), TestbedError> {
    let runs = shell.look(&["uname", "-s"])?;
    let wanted = recipe.system.title();
    if runs.trim() == wanted {
        return Ok(());
    }
    let text =
        format!("{} is a recipe for {wanted}, but {machine} runs {}: name another recipe or machine", recipe.name, runs.trim());
    Err(TestbedError::Other(text))
}

fn check_programs(recipe: &Recipe, shell: &Shell, machine: &str) -> Result<(), TestbedError> {
    for need in &recipe.needs {
        match shell.require(&need.program) {
            Err(TestbedError::Missing { program, .. }) => {
                return Err(TestbedError::Missing { program, cure: Some(format!("on {machine}: {}", need.cure())) });
            }
            other => other?,
        }
    }
    Ok(())
}

/// Makes the machine the place of a device: cores, sysctls, addresses and routes, each to be undone. `run` tells several devices of one
/// process apart.
pub(in crate::dut) fn prepare(
    recipe: &Recipe,
    machine: &RemoteMachine,
    (run, options): (&str, &DutOptions),
    shell: &Shell,
) -> Result<(ExecContext, TemplateVars), TestbedError> {
    let (here, shell) = (shell.clone(), machine.shell(shell));
    let name = machine.remote.destination();
    if !shell.is_rehearsal() {
        machine.check(recipe, options.cores, &here)?;
    }
    shell.transcript().comment(&format!("the machine {name}, over ssh"));
    let undo = Undo::open(&machine.remote, &here)?;
    if let Some(wanted) = options.cores {
        cores::keep(wanted, name, &shell, &undo)?;
    }
    if recipe.system == System::Linux {
        sysctls::forward(recipe, &machine.interfaces, &shell, &undo)?;
        recipe.state.as_ref().map_or(Ok(()), |_| tracking::exempt(&shell, &undo))?;
    }
    links::set_up(recipe, &machine.interfaces, name, (&shell, &undo))?;
    let threads = threads(&shell);
    let directory = crate::net::namespace::name(run, "ssh");
    let context = ExecContext { shell, name: directory, cores: vec![], undo: Some(undo) };
    let vars = TemplateVars { threads, links: Some(machine.interfaces.clone()), ..context.vars() };
    Ok((context, vars))
}

/// Sysctls of the whole machine that a stateful device needs.
pub(in crate::dut) fn write_sysctls(recipe: &Recipe, context: &ExecContext, vars: &TemplateVars) -> Result<(), TestbedError> {
    let Some(undo) = &context.undo else { return Ok(()) };
    let mut all = recipe.state.iter().flat_map(|state| vars.sysctls(state));
    all.try_for_each(|(file, value)| sysctls::write(&file, &value, &context.shell, undo))
}

/// As many as cores are online there.
fn threads(shell: &Shell) -> usize {
    // POSIX leaves the name to systems, and some may not know it.
    let printed = shell.look(&["getconf", "_NPROCESSORS_ONLN"]).unwrap_or_default();
    printed.trim().parse().unwrap_or(1).max(1)
}
