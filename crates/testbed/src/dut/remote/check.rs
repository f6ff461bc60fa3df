//! Checks that an interface of another machine may be used by the device: it must neither carry the ssh connection nor have other work.

use crate::exec::{InterfaceError, InterfaceFault, Shell, TestbedError};
use crate::net::link::{self, word_after};
use crate::net::occupied::{self, RouteOver};
use crate::recipe::System;
use std::net::IpAddr;

/// The machine of an interface, and what names the interface in the plan.
pub(super) struct InterfacePlace<'a> {
    pub(super) machine: &'a str,
    /// The plan's keys that name it.
    pub(super) keys: &'a str,
    pub(super) system: System,
}

/// Refuses an interface that does not exist, is subordinate to another, has addresses or a device on top of it, or carries a default route of any
/// table or the ssh connection.
pub(super) fn check(
    shell: &Shell,
    place: &InterfacePlace<'_>,
    interface: &str,
) -> Result<(), TestbedError> {
    let InterfacePlace {
        machine,
        keys,
        system,
    } = *place;
    let refused = |fault| InterfaceError::there(interface, machine, fault);
    let described = shell.look(&describe(system, interface)).map_err(|error| {
        let keys = keys.to_owned();
        error.restated(|_| refused(InterfaceFault::AbsentThere { keys }))
    })?;
    if carries_default(shell, system, interface)? {
        return Err(refused(InterfaceFault::DefaultRouteThere).into());
    }
    if let Some(client) = client(shell)?
        .filter(|client| leads_to(shell, system, client).as_deref() == Some(interface))
    {
        return Err(refused(InterfaceFault::SshConnection {
            client: client.address,
        })
        .into());
    }
    if system == System::Linux {
        let link = shell.look(&["ip", "-o", "-d", "link", "show", "dev", interface])?;
        if let Some(fault) = link::fault(shell, interface, &link)? {
            return Err(refused(fault).into());
        }
    }
    let addresses = addresses(&described);
    if !addresses.is_empty() {
        let addresses = addresses.join(", ");
        return Err(refused(InterfaceFault::AddressesThere { addresses }).into());
    }
    Ok(())
}

fn describe(system: System, interface: &str) -> Vec<String> {
    let words: &[&str] = match system {
        System::Linux => &["ip", "address", "show", "dev", interface],
        _ => &["ifconfig", interface],
    };
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn carries_default(shell: &Shell, system: System, interface: &str) -> Result<bool, TestbedError> {
    if system == System::Linux {
        return Ok(occupied::routes(shell, interface)?
            .iter()
            .any(RouteOver::is_wide));
    }
    // The command fails if there is no default route. A lost connection is reported by the next command.
    let route_of = |inet| {
        shell
            .look(&["route", "-n", "get", inet, "default"])
            .unwrap_or_default()
    };
    Ok(["-inet", "-inet6"]
        .into_iter()
        .any(|inet| word_after(&route_of(inet), "interface:") == Some(interface)))
}

/// Our end of the ssh connection, as the machine sees it.
#[derive(Clone, Debug, PartialEq)]
struct SshClient {
    address: IpAddr,
    /// The interface of the machine that a link-local address names: the machine cannot tell it from the address.
    interface: Option<String>,
}

impl SshClient {
    /// Reads the first word of `SSH_CONNECTION`, such as `fe80::1%eth1`; `None` if sshd was not reached over a network.
    fn read(connection: &str) -> Option<Self> {
        let word = connection.split_whitespace().next()?;
        let (address, interface) = match word.split_once('%') {
            Some((address, interface)) => (address, Some(interface.to_owned())),
            None => (word, None),
        };
        let address = address.parse().ok()?;
        Some(Self { address, interface })
    }
}

fn client(shell: &Shell) -> Result<Option<SshClient>, TestbedError> {
    let printed = shell.look(&["sh", "-c", "echo $SSH_CONNECTION"])?;
    Ok(SshClient::read(&printed))
}

/// Returns the interface through which the machine reaches us.
fn leads_to(shell: &Shell, system: System, client: &SshClient) -> Option<String> {
    if client.interface.is_some() {
        return client.interface.clone();
    }
    let address = client.address;
    let address_text = address.to_string();
    let (route, key) = if system == System::Linux {
        (
            shell
                .look(&["ip", "-o", "route", "get", &address_text])
                .ok()?,
            "dev",
        )
    } else {
        let inet = if address.is_ipv4() { "-inet" } else { "-inet6" };
        (
            shell
                .look(&["route", "-n", "get", inet, &address_text])
                .ok()?,
            "interface:",
        )
    };
    word_after(&route, key).map(str::to_owned)
}

/// Addresses that reach beyond the link, as `ip` and `ifconfig` print them.
fn addresses(described: &str) -> Vec<&str> {
    let lines = described
        .lines()
        .map(str::trim)
        .filter(|line| line.starts_with("inet "));
    let six = described
        .lines()
        .map(str::trim)
        .filter(|line| line.starts_with("inet6 ") && !line.starts_with("inet6 fe80:"));
    lines
        .chain(six)
        .filter_map(|line| line.split_whitespace().nth(1))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::SshClient;

    #[test]
    fn a_link_local_address_of_ssh_names_its_interface() {
        let read = |text| {
            SshClient::read(text).map(|client| (client.address.to_string(), client.interface))
        };
        assert_eq!(
            read("fe80::1%eth1 40000 fe80::2%eth1 22\n"),
            Some(("fe80::1".to_owned(), Some("eth1".to_owned())))
        );
        assert_eq!(
            read("192.0.2.1 40000 192.0.2.2 22\n"),
            Some(("192.0.2.1".to_owned(), None))
        );
        assert_eq!(read("\n"), None);
    }

    use super::*;

    const LINUX: &str = "\
3: eth1@if4: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue master br0 state UP group default qlen 1000
    link/ether 02:73:62:00:00:01 brd ff:ff:ff:ff:ff:ff link-netns sb-1-near
    inet 10.0.0.1/24 scope global eth1
    inet6 2001:db8::1/64 scope global
    inet6 fe80::1/64 scope link
";

    const FREEBSD: &str = "\
em1: flags=8863<UP,BROADCAST,RUNNING,SIMPLEX,MULTICAST> metric 0 mtu 1500
\tether 02:73:62:00:00:01
\tinet 10.0.0.1 netmask 0xffffff00 broadcast 10.0.0.255
\tinet6 fe80::1%em1 prefixlen 64 scopeid 0x2
";

    #[test]
    fn addresses_are_read_as_ip_and_ifconfig_print_them() {
        assert_eq!(addresses(LINUX), ["10.0.0.1/24", "2001:db8::1/64"]);
        assert_eq!(addresses(FREEBSD), ["10.0.0.1"]);
    }

    #[test]
    fn a_route_tells_its_interface() {
        assert_eq!(
            word_after("10.9.0.1 dev mgmt src 10.9.0.2 uid 0 \\    cache", "dev"),
            Some("mgmt")
        );
        assert_eq!(
            word_after(
                "   route to: default\n    gateway: 10.0.0.1\n  interface: em0\n",
                "interface:"
            ),
            Some("em0")
        );
    }
}
