//! A remote machine that is to be the device, or one of several in a row.

use super::check::{self, InterfacePlace};
use super::{cores, hash, links, sysctls, tracking};
use crate::dut::running::ExecContext;
use crate::dut::template_vars::{DutOptions, TemplateVars};
use crate::exec::{ExecTarget, MachineError, Remote, Shell, SshConfig, TestbedError, Undo};
use crate::recipe::{DeviceHost, Recipe, System};
use sixbench_method::plan::CoreLimits;

/// The machine, and which of its interfaces are the device's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteMachine {
    remote: Remote,
    pub(super) interfaces: [String; 2],
}

impl RemoteMachine {
    /// By the name ssh knows it by; `config` is read instead of the usual ssh_config. `interfaces` are cabled to the tester's left and
    /// right. Nothing is opened yet: in a rehearsal it can be used as it is.
    pub fn new(destination: &str, config: Option<&SshConfig>, interfaces: [String; 2]) -> Self {
        Self {
            remote: Remote::new(destination, config),
            interfaces,
        }
    }

    /// Returns the file that ssh reads in place of its usual configuration.
    pub fn ssh_config(&self) -> Option<&SshConfig> {
        self.remote.config()
    }

    /// Opens the connection. See [`Remote::reach`] for its errors.
    ///
    /// # Errors
    /// Those of [`Remote::reach`].
    pub fn reach(&self, shell: &Shell) -> Result<Self, TestbedError> {
        Ok(Self {
            remote: self.remote.reach(shell.context())?,
            ..self.clone()
        })
    }

    /// Refuses, before anything is touched there, configurations that cannot work: another operating system, interfaces in use, or missing programs
    /// or cores.
    ///
    /// # Errors
    /// The first thing that does not fit, with the name of the machine.
    pub fn check(
        &self,
        recipe: &Recipe,
        wanted_cores: Option<u32>,
        shell: &Shell,
    ) -> Result<(), TestbedError> {
        let (shell, name) = (self.shell(shell), self.remote.destination());
        check_recipe(recipe, name)?;
        check_system(recipe, &shell, name)?;
        let place = InterfacePlace {
            machine: name,
            keys: "[testbed] (dut-left, dut-right)",
            system: recipe.system,
        };
        self.interfaces
            .iter()
            .try_for_each(|interface| check::check(&shell, &place, interface))?;
        check_programs(recipe, &shell, name)?;
        check_modules(recipe, &shell, name)?;
        match wanted_cores {
            Some(_) if recipe.system != System::Linux => Err(MachineError::CoresOfLinux {
                machine: name.to_owned(),
                system: recipe.system.title(),
            }
            .into()),
            Some(wanted) => Ok(cores::check(wanted, &cores::online(&shell)?, name)?),
            None => Ok(()),
        }
    }

    /// Returns the machine as ssh reaches it.
    pub fn remote(&self) -> &Remote {
        &self.remote
    }

    /// Returns the name by which ssh knows the machine.
    pub fn name(&self) -> &str {
        self.remote.destination()
    }

    /// Returns its left and right interface.
    pub fn interfaces(&self) -> &[String; 2] {
        &self.interfaces
    }

    /// Returns the number of cores that the device of a recipe may use here, or `None` for all.
    pub(super) fn cores_of(&self, recipe: &Recipe, limits: &CoreLimits) -> Option<u32> {
        limits.of_device([
            recipe.name.split('@').next().unwrap_or_default(),
            self.name(),
        ])
    }

    pub(super) fn shell(&self, shell: &Shell) -> Shell {
        shell.at(ExecTarget::Ssh(self.remote.clone()))
    }
}

/// Refuses recipes with nothing to set up there.
fn check_recipe(recipe: &Recipe, machine: &str) -> Result<(), MachineError> {
    let (name, machine) = (recipe.name.clone(), machine.to_owned());
    let error = match recipe.host {
        DeviceHost::Memif => MachineError::SharedMemory {
            recipe: name,
            machine,
        },
        _ if recipe.is_bare_wire() => MachineError::Wire {
            recipe: name,
            machine,
        },
        _ if !recipe.built.is_empty() => MachineError::OwnLab {
            recipe: name,
            machine,
        },
        DeviceHost::Manual => MachineError::ByHand {
            recipe: name,
            machine,
        },
        DeviceHost::Netns | DeviceHost::Lab => return Ok(()),
    };
    Err(error)
}

fn check_system(recipe: &Recipe, shell: &Shell, machine: &str) -> Result<(), TestbedError> {
    let (printed, wanted) = (shell.look(&["uname", "-s"])?, recipe.system.title());
    let runs = printed.trim();
    if runs == wanted {
        return Ok(());
    }
    Err(MachineError::OtherSystem {
        recipe: recipe.name.clone(),
        wanted,
        machine: machine.to_owned(),
        runs: runs.to_owned(),
    }
    .into())
}

fn check_programs(recipe: &Recipe, shell: &Shell, machine: &str) -> Result<(), TestbedError> {
    recipe
        .needs
        .iter()
        .try_for_each(|need| match shell.require(&need.program) {
            Err(TestbedError::Missing { program, .. }) => Err(TestbedError::Missing {
                program,
                cure: Some(format!("on {machine}: {}", need.cure())),
            }),
            other => other,
        })
}

/// Refuses a machine whose kernel has no Jool, or not the module that the device needs. Linux's own modules are not checked, because they may be
/// built into a kernel without a list of them. Jool's never are.
fn check_modules(recipe: &Recipe, shell: &Shell, machine: &str) -> Result<(), TestbedError> {
    let mut modules = recipe
        .modules
        .iter()
        .chain(&recipe.kernel_modules)
        .filter(|module| module.starts_with("jool"));
    modules.try_for_each(|module| {
        let look = format!("test -d /sys/module/{module} || modprobe -n -q {module} || echo no");
        if shell.look(&["sh", "-c", &look])?.trim().is_empty() {
            return Ok(());
        }
        Err(MachineError::NoModule {
            machine: machine.to_owned(),
            module: module.clone(),
            device: recipe.name.clone(),
            origin: recipe.source.clone(),
        }
        .into())
    })
}

/// Prepares the machine for a device: cores, sysctls, addresses and routes, each with its undo command. The links may still have no carrier. The
/// device's files are in a directory of the name `directory`, which must be its own: machines in a row may share a file system.
pub(in crate::dut) fn prepare(
    recipe: &Recipe,
    machine: &RemoteMachine,
    directory: &str,
    options: &DutOptions,
    shell: &Shell,
) -> Result<(ExecContext, TemplateVars), TestbedError> {
    let recipe = &recipe.with_filters(options.filters);
    let (here, shell) = (shell.clone(), machine.shell(shell));
    let name = machine.name();
    let wanted_cores = machine.cores_of(recipe, &options.cores);
    if !shell.is_rehearsal() {
        machine.check(recipe, wanted_cores, &here)?;
    }
    shell
        .transcript()
        .comment(&format!("the machine {name}, over ssh"));
    let undo = Undo::open(&machine.remote, &here)?;
    if let Some(wanted) = wanted_cores {
        cores::keep(wanted, name, &shell, &undo)?;
    }
    if let Some(fields) = &options.rss_hash {
        hash::set(
            fields,
            machine.name(),
            &machine.interfaces,
            recipe,
            &shell,
            &undo,
        )?;
    }
    if recipe.system == System::Linux {
        sysctls::forward(recipe, &machine.interfaces, &shell, &undo)?;
        if recipe
            .state
            .as_ref()
            .is_some_and(tracking::is_of_the_machine)
        {
            tracking::exempt(&shell, &undo)?;
        }
    }
    links::set_up(recipe, &machine.interfaces, &shell, &undo)?;
    let threads = threads(&shell);
    let context = ExecContext {
        shell,
        name: directory.to_owned(),
        cores: vec![],
        undo: Some(undo),
    };
    let vars = TemplateVars {
        threads,
        links: Some(machine.interfaces.clone()),
        ..context.vars()
    };
    Ok((context, vars))
}

/// Writes the machine-wide sysctls that a stateful device needs.
pub(in crate::dut) fn write_sysctls(
    recipe: &Recipe,
    context: &ExecContext,
    vars: &TemplateVars,
) -> Result<(), TestbedError> {
    let Some(undo) = &context.undo else {
        return Ok(());
    };
    let mut all = recipe.state.iter().flat_map(|state| vars.sysctls(state));
    all.try_for_each(|(file, value)| sysctls::write(&file, &value, &context.shell, undo))
}

/// Returns one thread per online core.
fn threads(shell: &Shell) -> usize {
    // POSIX leaves this name to the system, so it may be unknown.
    let printed = shell
        .look(&["getconf", "_NPROCESSORS_ONLN"])
        .unwrap_or_default();
    printed.trim().parse().unwrap_or(1).max(1)
}
