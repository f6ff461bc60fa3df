//! The device's two interfaces on another machine: brought up with the recipe's addresses and routes, and restored when everything is undone.

use crate::exec::{InterfaceError, InterfaceFault, MachineError, Shell, TestbedError, Undo};
use crate::recipe::{Recipe, RecipeLink, System};
use ipnet::{IpNet, Ipv6Net};
use std::net::{IpAddr, Ipv6Addr};
use std::time::Duration;

/// Link-local addresses of the left and right interface, used if they have none. They differ because the right interface of a device in a row
/// shares a link with the left one of the next device.
const LINK_LOCALS: [IpNet; 2] = [link_local_of(1), link_local_of(2)];

const fn link_local_of(last: u16) -> IpNet {
    IpNet::V6(Ipv6Net::new_assert(
        Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, last),
        64,
    ))
}

/// The longest wait for a carrier. Media with autonegotiation take seconds.
const TIMEOUT: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(100);

/// One interface of another machine while it is set up: what runs there, and the commands that restore it.
struct RemoteInterface<'a> {
    system: System,
    name: &'a str,
    shell: &'a Shell,
    undo: &'a Undo,
}

/// Brings both interfaces up with the recipe's addresses and routes. The carrier may only appear once the interface at the other end of the cable
/// is up.
pub(super) fn set_up(
    recipe: &Recipe,
    interfaces: &[String; 2],
    shell: &Shell,
    undo: &Undo,
) -> Result<(), TestbedError> {
    let links = [&recipe.left, &recipe.right].into_iter().zip(LINK_LOCALS);
    for (interface, (link, link_local)) in interfaces.iter().zip(links) {
        take_up(recipe.system, interface, shell, undo)?;
        RemoteInterface {
            system: recipe.system,
            name: interface,
            shell,
            undo,
        }
        .add_addresses(link, link_local)?;
    }
    Ok(())
}

/// Waits until both interfaces of a machine have a carrier. `others` describes what each should be cabled to.
pub(super) fn wait_for_carriers(
    system: System,
    interfaces: &[String; 2],
    others: &[String; 2],
    machine: &str,
    shell: &Shell,
) -> Result<(), TestbedError> {
    let mut wait = shell.wait(TIMEOUT, PAUSE);
    for (interface, other) in interfaces.iter().zip(others) {
        while !has_carrier(&described(system, interface, shell)?) {
            if wait.is_over() {
                let other = other.clone();
                let fault = InterfaceFault::NoCarrierThere { other };
                return Err(InterfaceError::there(interface, machine, fault).into());
            }
            wait.rest(|| format!("a carrier on interface {interface} of {machine}"))?;
        }
    }
    Ok(())
}

/// What an interface should be cabled to.
pub(super) struct CabledTo {
    /// The interface and its machine, for messages.
    pub(super) name: String,
    /// The hardware address, if it is known.
    pub(super) hardware: Option<String>,
}

impl CabledTo {
    /// Returns the error that `machine` finds something else, or nothing, where this should be.
    fn not_found(&self, machine: &str, found: Option<&str>, place: String) -> MachineError {
        MachineError::NotCabled {
            machine: machine.to_owned(),
            found: found.map(str::to_owned),
            place,
            other: self.name.clone(),
        }
    }
}

/// Checks that Linux resolves the neighbour `address` on an interface, to the hardware address of `other` if that is known: Linux answers for an
/// address on all of its interfaces. If `ip` on the machine cannot resolve a neighbour on request, the check passes.
pub(super) fn check_neighbour(
    address: IpAddr,
    interface: &str,
    other: &CabledTo,
    machine: &str,
    shell: &Shell,
) -> Result<(), TestbedError> {
    let ip_neigh = |words: &[&str]| shell.look(&[&["ip", "neigh"], words].concat());
    let address = address.to_string();
    let mut wait = shell.wait(TIMEOUT, PAUSE);
    loop {
        // The kernel gives up after three solicitations and is then asked again.
        match ip_neigh(&["replace", &address, "dev", interface, "use"]) {
            Err(TestbedError::Failed { .. }) => return Ok(()),
            other => other?,
        };
        let shown = ip_neigh(&["show", "to", &address, "dev", interface])?;
        let found = shown
            .split_whitespace()
            .skip_while(|word| *word != "lladdr")
            .nth(1);
        if found.is_some_and(|found| {
            other
                .hardware
                .as_ref()
                .is_none_or(|hardware| hardware == found)
        }) {
            return Ok(());
        }
        if wait.is_over() {
            let place = format!("the address {address} at its interface {interface}");
            return Err(other.not_found(machine, found, place).into());
        }
        wait.rest(|| format!("{machine} to find {address} at its interface {interface}"))?;
    }
}

/// Returns the hardware address of an interface, or `None` on a system that does not report it as Linux does.
pub(super) fn hardware_address(interface: &str, shell: &Shell) -> Option<String> {
    let read = shell
        .look(&["cat", &format!("/sys/class/net/{interface}/address")])
        .ok()?;
    Some(read.trim().to_owned()).filter(|address| !address.is_empty())
}

/// A flag on Linux, a separate line elsewhere. Interfaces without a medium have no such line and need none.
fn has_carrier(printed: &str) -> bool {
    let status = printed
        .lines()
        .find_map(|line| line.trim().strip_prefix("status: "));
    status.map_or(!printed.contains("NO-CARRIER"), |status| {
        !status.starts_with("no ")
    })
}

pub(super) fn take_up(
    system: System,
    interface: &str,
    shell: &Shell,
    undo: &Undo,
) -> Result<(), TestbedError> {
    // Recorded first, because a command may have taken effect even if we did not see it finish.
    if !is_up(system, interface, shell)? {
        undo.by_line(system.link(interface, "down"))?;
    }
    shell.line(&system.link(interface, "up")).map(drop)
}

fn is_up(system: System, interface: &str, shell: &Shell) -> Result<bool, TestbedError> {
    Ok(has_flag_up(&described(system, interface, shell)?))
}

fn described(system: System, interface: &str, shell: &Shell) -> Result<String, TestbedError> {
    match system {
        System::Linux => shell.look(&["ip", "link", "show", "dev", interface]),
        _ => shell.look(&["ifconfig", interface]),
    }
}

/// Every system prints `<BROADCAST,UP,...>` in the first line.
fn has_flag_up(printed: &str) -> bool {
    let flags = printed
        .lines()
        .next()
        .and_then(|line| line.split_once('<')?.1.split_once('>'));
    flags.is_some_and(|(flags, _)| flags.split(',').any(|flag| flag == "UP"))
}

impl RemoteInterface<'_> {
    /// An address that existed before is left alone, so the undo command is recorded after the command, which no stop request interrupts
    /// ([`Shell::run`]).
    fn add_addresses(&self, link: &RecipeLink, wanted: IpNet) -> Result<(), TestbedError> {
        let link_local = if self.system == System::Linux {
            self.missing_link_local(link, wanted)?
        } else {
            None
        };
        let addresses = link
            .dut
            .iter()
            .chain(&link_local)
            .map(|address| self.system.address(*address, self.name));
        let routes = link.routes.iter().filter_map(|route| {
            Some(
                self.system
                    .route(*route, link.gateway_to(route)?, self.name),
            )
        });
        addresses.chain(routes).try_for_each(|[add, remove]| {
            self.shell.line(&add)?;
            self.undo.by_line(remove)
        })
    }

    /// Returns the link-local address to add. Without one, Linux does not solicit neighbours for the traffic it forwards, and some setups do not create
    /// one by themselves.
    fn missing_link_local(
        &self,
        link: &RecipeLink,
        wanted: IpNet,
    ) -> Result<Option<IpNet>, TestbedError> {
        if !link.dut.iter().any(|address| address.addr().is_ipv6()) {
            return Ok(None);
        }
        let there = self.shell.look(&[
            "ip", "-6", "address", "show", "dev", self.name, "scope", "link",
        ])?;
        Ok(there.trim().is_empty().then_some(wanted))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_without_a_carrier_says_so_in_its_own_way() {
        assert!(!has_carrier(
            "3: eth1: <NO-CARRIER,BROADCAST,MULTICAST,UP> mtu 1500 qdisc mq state DOWN"
        ));
        assert!(has_carrier(
            "3: eth1: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP"
        ));
        assert!(!has_carrier(
            "em1: flags=8802<BROADCAST,UP> mtu 1500\n\tstatus: no carrier\n"
        ));
        assert!(has_carrier(
            "em1: flags=8843<UP,BROADCAST> mtu 1500\n\tmedia: Ethernet autoselect\n\tstatus: active\n"
        ));
    }

    #[test]
    fn a_link_that_is_up_says_so_in_its_flags() {
        assert!(has_flag_up(
            "3: eth1: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state DOWN"
        ));
        assert!(!has_flag_up(
            "3: eth1: <BROADCAST,MULTICAST> mtu 1500 qdisc noop state UP"
        ));
        assert!(has_flag_up(
            "em1: flags=8863<UP,BROADCAST,RUNNING> metric 0 mtu 1500"
        ));
        assert!(!has_flag_up("em1: flags=8862<BROADCAST,SIMPLEX> metric 0"));
    }
}
