//! A device under test, brought up by its recipe.
//!
//! # Devices in memory
//!
//! A recipe with `host = "memif"` is one process outside any namespace (`Dut::bring_up_in_memory`). Its directory contains the two sockets. It is held
//! like any daemon (`exec::daemon`), and is watched as a process, so that its processor time is counted separately. A kill -9 leaves behind a directory
//! of its user, whose name tells the next sweep the process, and a file whose lock is free that it is gone (`net::sweep`, `exec::life`). The tester opens `memif:` at the sockets, and retries for five
//! seconds if the device listens before its interface exists (`runner::ends`, `TesterLinks::Started`). `polling` is copied from the recipe into every
//! record (`Watch::polling`): `method::bottleneck` does not take the busy cores of such a device for its limit.

use super::remote;
use crate::dut::connections::ConnectionTable;
use crate::dut::running::{Directory, ExecContext, RunningRecipe, check_programs};
use crate::dut::template_vars::{DutOptions, ServerVars, TemplateVars, Zone};
use crate::exec::{Daemon, DeviceError, ExecTarget, Shell, ShellAccess, TestbedError};
use crate::lab::{BuiltVpp, VIRTUAL_CORES, VirtualMachine, cache};
use crate::monitor::{
    KernelLog, LossCounters, MemoryUse, MonitorTargets, NetnsHolder, WatchSource, WatchedDevice,
};
use crate::net::Sysctls;
use crate::net::directory_name;
use crate::net::namespace::Namespace;
use crate::net::topology::{Cores, LINKS, hand_over};
use crate::recipe::{DeviceHost, LabProgram, Recipe, System};
use sixbench_method::record::DutFacts;
use std::path::{Path, PathBuf};

/// A running device. Dropping it ends its process and removes its directory. Everything else is deleted with its namespace.
#[derive(Debug)]
pub(crate) struct Dut {
    /// The virtual machine in which the device runs, if any. It is dropped first, because its files are in the device's directory.
    machine: Option<VirtualMachine>,
    running: RunningRecipe,
    /// Sysctls of this machine, restored after the device is gone.
    _host: Option<Sysctls>,
    /// A process in the DUT's namespace through which its counters can be read.
    holder: Option<Daemon>,
}

impl Dut {
    /// Brings the device up in one of the namespaces of a topology, with a plan's options in addition to its recipe.
    pub(crate) fn bring_up_in(
        recipe: &Recipe,
        namespace: &Namespace,
        cores: &Cores,
        options: &DutOptions,
    ) -> Result<Self, TestbedError> {
        let recipe = &recipe.with_filters(options.filters);
        let (shell, name) = (namespace.shell(), namespace.name().to_owned());
        let outside = ExecContext {
            shell,
            name,
            cores: cores.dut.clone(),
            undo: None,
        };
        check_system(recipe)?;
        check_programs(recipe, &outside.shell)?;
        outside
            .shell
            .transcript()
            .comment(&format!("the device: {}", recipe.title));
        let directory = Directory::make(&outside)?;
        let machine = (recipe.host == DeviceHost::Lab)
            .then(|| {
                VirtualMachine::of_device(recipe, namespace, &outside.core_list(), directory.path())
            })
            .transpose()?;
        let shell = machine
            .as_ref()
            .map_or_else(|| outside.shell.clone(), VirtualMachine::shell);
        if recipe.owns_links {
            hand_over(&shell)?;
        } else {
            add_addresses(recipe, &shell)?;
        }
        let context = ExecContext {
            shell,
            name: outside.name.clone(),
            cores: outside.cores.clone(),
            undo: None,
        };
        let state = recipe.state.as_ref();
        let vars = with_options(recipe, options, context.vars())?;
        let host = state
            .map(|state| Sysctls::write(&vars.sysctls(state), &context.shell.outside()))
            .transpose()?;
        let running = RunningRecipe::bring_up(
            recipe,
            context,
            directory,
            vars,
            &options.zone.clone().unwrap_or_default(),
        )?;
        let holder = start_netns_holder(&outside, running.directory())?;
        Ok(Self {
            machine,
            running,
            _host: host,
            holder,
        })
    }

    /// Brings up a process on this machine that serves two shared-memory links. It needs no namespace, hence no root. `run` distinguishes several
    /// devices of one process.
    ///
    /// # Errors
    /// A command fails, a process ends, or sockets do not appear in time. Everything done until then is undone.
    pub(crate) fn bring_up_in_memory(
        recipe: &Recipe,
        run: &str,
        cores: &Cores,
        shell: &Shell,
        options: &DutOptions,
    ) -> Result<Self, TestbedError> {
        let name = directory_name(run);
        let context = ExecContext {
            shell: shell.outside(),
            name,
            cores: cores.dut.clone(),
            undo: None,
        };
        check_programs(recipe, &context.shell)?;
        context
            .shell
            .transcript()
            .comment(&format!("the device: {}", recipe.title));
        let directory = Directory::make(&context)?;
        let sockets = sockets(directory.path());
        let links = Some(
            sockets
                .each_ref()
                .map(|socket| socket.display().to_string()),
        );
        let vars = with_options(
            recipe,
            options,
            TemplateVars {
                links,
                ..context.vars()
            },
        )?;
        let mut running =
            RunningRecipe::bring_up(recipe, context, directory, vars, &Zone::default())?;
        running.wait_for_sockets(&sockets)?;
        Ok(Self {
            machine: None,
            running,
            _host: None,
            holder: None,
        })
    }

    /// Brings the device up on a prepared machine of its own. Everything done there is undone in reverse order when this is dropped, and also when
    /// the connection breaks or this process is killed.
    ///
    /// # Errors
    /// A command fails or the connection is lost. Everything done until then is undone.
    pub(crate) fn bring_up_on(
        recipe: &Recipe,
        context: ExecContext,
        vars: TemplateVars,
        options: &DutOptions,
    ) -> Result<Self, TestbedError> {
        let recipe = &recipe.with_filters(options.filters);
        context
            .shell
            .transcript()
            .comment(&format!("the device: {}", recipe.title));
        let vars = with_options(recipe, options, vars)?;
        remote::write_sysctls(recipe, &context, &vars)?;
        let directory = Directory::make(&context)?;
        let running = RunningRecipe::bring_up(
            recipe,
            context,
            directory,
            vars,
            &options.zone.clone().unwrap_or_default(),
        )?;
        Ok(Self {
            machine: None,
            running,
            _host: None,
            holder: None,
        })
    }

    pub(crate) fn facts(&self) -> &DutFacts {
        self.running.facts()
    }

    /// Returns a description of the host on which the device runs, or `None` if that is just a namespace in which the kernel delivers frames to it.
    pub(crate) fn layout(&self) -> Option<String> {
        let Recipe {
            name,
            host,
            owns_links,
            ..
        } = self.running.recipe();
        if let Some(machine) = &self.machine {
            return Some(format!("the device {name} is {}", machine.description()));
        }
        (*owns_links && *host == DeviceHost::Netns).then(|| {
            format!(
                "the device {name} takes frames from its interfaces itself; before RPS, so that the kernel's part of it runs where \
                 the frame was sent, on the tester's core"
            )
        })
    }

    /// Makes the kernel in front of a device in user space forward datagrams with a source route, until the device is gone. RFC 1812 section 5.3.13.4:
    /// a router must support them, and must not discard them by default. Linux does (`accept_source_route` of `all` is 0), silently, so that the
    /// device would never see them. A device inside the kernel is in front of that check, and one that takes its frames itself, without it.
    pub(crate) fn accept_source_routes(&self) -> Result<(), TestbedError> {
        const COMMAND: &str =
            "for file in /proc/sys/net/ipv4/conf/*/accept_source_route; do echo 1 > $file; done";
        let recipe = self.running.recipe();
        let has_own_kernel = matches!(recipe.host, DeviceHost::Netns | DeviceHost::Lab);
        if recipe.daemon.is_none() || recipe.owns_links || !has_own_kernel {
            return Ok(());
        }
        let shell = &self.running.context().shell;
        shell.run(&["sh", "-c", COMMAND]).map(drop)
    }

    pub(crate) fn access(&self) -> ShellAccess {
        self.running.context().shell.access()
    }

    /// Returns the paths of the sockets that the device serves, left and right, or `None` if it has interfaces.
    pub(crate) fn sockets(&self) -> Option<[PathBuf; 2]> {
        (self.running.recipe().host == DeviceHost::Memif).then(|| sockets(self.running.directory()))
    }

    /// Returns an error if the device has ended or its machine no longer answers. Without this check, a hanging connection would go unnoticed.
    pub(crate) fn check_alive(&mut self) -> Result<(), TestbedError> {
        self.machine
            .as_mut()
            .map_or(Ok(()), VirtualMachine::check_alive)?;
        self.running.context().shell.check_answers()?;
        self.running.check_alive()
    }

    pub(crate) fn connections(&self) -> Option<ConnectionTable> {
        let state = self.running.recipe().state.as_ref()?;
        let (shell, vars) = (
            self.running.context().shell.clone(),
            self.running.vars().clone(),
        );
        Some(ConnectionTable::new(
            &self.running.recipe().name,
            state,
            shell,
            vars,
        ))
    }

    /// Returns the counters of the device's kernel; none of a device that has no network of its own.
    pub(crate) fn loss_counters(&self) -> LossCounters {
        let recipe = self.running.recipe();
        if recipe.system != System::Linux || recipe.host == DeviceHost::Memif {
            return LossCounters::default();
        }
        let counters = LossCounters::read(&self.running.context().shell);
        if self.machine.is_some() {
            counters.without_own_frames()
        } else {
            counters
        }
    }

    /// Returns the memory of the device at present.
    pub(crate) fn memory_use(&self) -> MemoryUse {
        let guest = self.machine.as_ref().map(VirtualMachine::shell);
        MemoryUse::read(self.running.process(), guest.as_ref())
    }

    /// Returns the log of the kernel that the device runs on, from now on; `None` if it cannot be read.
    pub(crate) fn kernel_log(&self) -> Option<KernelLog> {
        let shell = &self.running.context().shell;
        KernelLog::from_now(shell, self.machine.is_some())
    }

    pub(crate) fn watched(&self) -> MonitorTargets {
        let holder = self.holder.as_ref().and_then(Daemon::process);
        let machine = self.machine.as_ref().and_then(VirtualMachine::pid);
        let name = self.running.recipe().name.clone();
        let remote = match self.running.context().shell.target() {
            ExecTarget::Ssh(remote) => Some(remote.destination().to_owned()),
            _ => None,
        };
        MonitorTargets {
            polling: self.running.recipe().polling,
            processes: self.running.process().into_iter().chain(machine).collect(),
            devices: self
                .source()
                .map(|source| WatchedDevice {
                    name,
                    machine: remote,
                    source,
                })
                .into_iter()
                .collect(),
            holders: holder
                .map(|process| NetnsHolder {
                    device: None,
                    process,
                })
                .into_iter()
                .collect(),
            // A virtual machine's connections are not in any file of this kernel.
            tracked: holder.filter(|_| self.running.recipe().state.is_some() && machine.is_none()),
        }
    }

    /// Returns how to watch the device's own processors, or `None` if it has none of its own or runs on a system without /proc/stat.
    fn source(&self) -> Option<WatchSource> {
        let shell = &self.running.context().shell;
        match shell.target() {
            ExecTarget::Ssh(remote)
                if self.running.recipe().system == System::Linux && !shell.is_rehearsal() =>
            {
                Some(WatchSource::OtherMachine(remote.clone()))
            }
            _ => {
                let process = self.machine.as_ref().and_then(VirtualMachine::pid)?;
                Some(WatchSource::VirtualMachine {
                    process,
                    cores: VIRTUAL_CORES,
                })
            }
        }
    }

    /// Resets the device while frames keep coming, with its recipe's commands or by restarting its daemon (process reset, RFC 6201 section 4.2.2).
    /// Does not wait until it forwards again, because that time is what is measured.
    pub(crate) fn reset(&mut self) -> Result<(), TestbedError> {
        self.comment("reset during a trial");
        if !self.running.recipe().reset.is_empty() {
            return self.running.run_all(&self.running.recipe().reset);
        }
        self.running.start_anew()
    }

    /// Restarts the device's daemon and waits until it is ready, if its recipe requires that before every trial.
    pub(crate) fn restart_for_trial(&mut self) -> Result<(), TestbedError> {
        if !self
            .running
            .recipe()
            .state
            .as_ref()
            .is_some_and(|state| state.restart)
        {
            return Ok(());
        }
        self.restart()
    }

    /// Restarts the device's daemon and waits until it is ready. A DNS server then has an empty cache.
    pub(crate) fn restart(&mut self) -> Result<(), TestbedError> {
        self.comment("restart before a trial");
        self.running.restart()
    }

    fn comment(&self, text: &str) {
        self.running.context().shell.transcript().comment(text);
    }
}

/// Returns `vars`, which holds the properties of the place, with the plan's options added.
///
/// # Errors
/// A program that the recipe needs has not been built.
fn with_options(
    recipe: &Recipe,
    options: &DutOptions,
    vars: TemplateVars,
) -> Result<TemplateVars, TestbedError> {
    let zone = options.zone.clone().unwrap_or_default();
    let table_size = options
        .table_size
        .or(recipe.state.as_ref().and_then(|state| state.table_size));
    let vpp = if recipe.built.contains(&LabProgram::Vpp) {
        BuiltVpp::find(&cache())?.directory.display().to_string()
    } else {
        String::new()
    };
    Ok(TemplateVars {
        table_size,
        recipe_links: Some([recipe.left.clone(), recipe.right.clone()]),
        vpp,
        server: ServerVars::for_recipe(recipe, &zone),
        rule: TemplateVars::rule_of(recipe),
        subscribers: options
            .subscribers
            .get(&recipe.name)
            .cloned()
            .unwrap_or_default(),
        ..vars
    })
}

/// Checks that the recipe is for this machine's operating system, since its namespaces run it, too.
fn check_system(recipe: &Recipe) -> Result<(), DeviceError> {
    if recipe.is_for_namespaces() {
        return Ok(());
    }
    Err(DeviceError::NeedsMachine {
        recipe: recipe.name.clone(),
        system: recipe.system.title(),
    })
}

/// Returns the paths of the sockets of a device with shared-memory links, left and right.
fn sockets(directory: &Path) -> [PathBuf; 2] {
    LINKS.map(|link| directory.join(format!("{link}.sock")))
}

fn start_netns_holder(
    context: &ExecContext,
    directory: &Path,
) -> Result<Option<Daemon>, TestbedError> {
    context
        .shell
        .transcript()
        .comment("a process in the namespace, by which its drop counters are read");
    let words = ["sleep", "infinity"].map(str::to_owned);
    context.start(&words, &directory.join("anchor.log"))
}

fn add_addresses(recipe: &Recipe, shell: &Shell) -> Result<(), TestbedError> {
    for (name, link) in LINKS.iter().zip([&recipe.left, &recipe.right]) {
        for address in &link.dut {
            // Until duplicate address detection is over, an address cannot be used. The link has no other host that could have it.
            let no_dad = if address.addr().is_ipv6() {
                " nodad"
            } else {
                ""
            };
            shell.line(&format!("ip address add {address} dev {name}{no_dad}"))?;
        }
        for route in &link.routes {
            let gateway = link
                .gateway_to(route)
                .map(|gateway| gateway.to_string())
                .unwrap_or_default();
            shell.line(&format!("ip route add {route} via {gateway} dev {name}"))?;
        }
    }
    Ok(())
}
