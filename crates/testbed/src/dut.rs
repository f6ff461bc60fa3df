//! A device under test, brought up by its recipe.

use crate::connections::ConnectionTable;
use crate::filling::{Filling, Server, Wishes};
use crate::monitor::Watched;
use crate::recipe::Recipe;
use crate::running::{Place, Running, check_programs};
use crate::shell::{Shell, TestbedError};
use crate::switches::HostSwitches;
use crate::topology::{LINKS, Topology};
use sixbench_method::record::DutFacts;
use std::process::Child;

/// A running device. Dropping it ends its process and removes its directory; the rest goes with its namespace.
#[derive(Debug)]
pub struct Dut {
    running: Running,
    /// Switches of this machine, set back when the device is gone.
    _host: Option<HostSwitches>,
    /// Lives in the DUT's namespace for the sake of its counters.
    anchor: Option<Child>,
}

impl Dut {
    /// Brings the device up in the DUT's namespace of `topology`.
    pub fn bring_up(recipe: &Recipe, topology: &Topology) -> Result<Self, TestbedError> {
        Self::bring_up_with(recipe, topology, &Wishes::default())
    }

    /// As [`Self::bring_up`], with what a plan wants beyond the recipe.
    pub fn bring_up_with(recipe: &Recipe, topology: &Topology, wishes: &Wishes) -> Result<Self, TestbedError> {
        let shell = topology.dut().shell();
        check_programs(recipe, &shell)?;
        shell.transcript().comment(&format!("the device: {}", recipe.title));
        add_addresses(recipe, &shell)?;
        let place = Place { shell, name: topology.dut().name().to_owned(), cores: topology.cores().dut.clone() };
        let state = recipe.state.as_ref();
        let zone = wishes.zone.clone().unwrap_or_default();
        let filling = Filling {
            table_size: wishes.table_size.or(state.and_then(|state| state.table_size)),
            server: Server::of(recipe, &zone),
            ..place.filling()
        };
        let host = state.map(|state| HostSwitches::write(state, &place.shell.outside(), &filling)).transpose()?;
        let running = Running::bring_up(recipe, place, filling, &zone)?;
        let anchor = lay_anchor(&running)?;
        Ok(Self { running, _host: host, anchor })
    }

    /// What the report says of the device.
    pub fn facts(&self) -> &DutFacts {
        self.running.facts()
    }

    /// An error when the device's process has ended, with the last lines it wrote.
    pub fn check_alive(&mut self) -> Result<(), TestbedError> {
        self.running.check_alive()
    }

    /// Its connections, where it is stateful.
    pub fn connections(&self) -> Option<ConnectionTable> {
        let state = self.running.recipe().state.as_ref()?;
        Some(ConnectionTable::new(state, self.running.place().shell.clone(), self.running.filling().clone()))
    }

    /// Whom a monitor can watch.
    pub fn watched(&self) -> Watched {
        Watched { process: self.running.process(), anchor: self.anchor.as_ref().map(Child::id) }
    }

    /// Resets the device while frames go on coming: by its recipe's own commands, or by starting its daemon anew (process reset,
    /// RFC 6201 section 4.2.2). Does not wait until it forwards again: that is what is measured.
    pub fn reset(&mut self) -> Result<(), TestbedError> {
        self.comment("reset during a trial");
        if !self.running.recipe().reset.is_empty() {
            return self.running.run_all(&self.running.recipe().reset);
        }
        self.running.start_anew()
    }

    /// Starts the device's daemon anew and waits until it is ready, where its recipe wants that before every trial.
    pub fn restart_for_trial(&mut self) -> Result<(), TestbedError> {
        if !self.running.recipe().state.as_ref().is_some_and(|state| state.restart) {
            return Ok(());
        }
        self.restart()
    }

    /// Starts the device's daemon anew and waits until it is ready: a DNS server has an empty cache then.
    pub fn restart(&mut self) -> Result<(), TestbedError> {
        self.comment("restart before a trial");
        self.running.restart()
    }

    fn comment(&self, text: &str) {
        self.running.place().shell.transcript().comment(text);
    }
}

impl Drop for Dut {
    fn drop(&mut self) {
        if let Some(anchor) = &mut self.anchor {
            let _ = anchor.kill();
            let _ = anchor.wait();
        }
    }
}

fn lay_anchor(running: &Running) -> Result<Option<Child>, TestbedError> {
    running.place().shell.transcript().comment("a process in the namespace, by which its drop counters are read");
    let words = ["sleep", "infinity"].map(str::to_owned);
    running.place().start(&words, &running.directory().join("anchor.log"))
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
