//! Interfaces that exist already: real NICs, cabled to a device. Looked at here; [`crate::net::interfaces`] takes them.

use crate::exec::{Shell, TestbedError};
use std::path::Path;

/// Checks that an interface may be used for test traffic.
pub fn check(shell: &Shell, interface: &str) -> Result<(), TestbedError> {
    // Not by /sys, which may be mounted of another network namespace than this process is in.
    let absent = |_: &TestbedError| format!("interface {interface} does not exist (see `ip link`)");
    let described = shell.look(&["ip", "-o", "link", "show", "dev", interface]).map_err(|error| error.explained(absent))?;
    if let Some(master) = described.split_whitespace().skip_while(|word| *word != "master").nth(1) {
        return Err(TestbedError::Other(format!(
            "interface {interface} belongs to {master}: test traffic on it would reach this host's own network; \
             use another, or take it out (ip link set {interface} nomaster)"
        )));
    }
    for family in ["-4", "-6"] {
        let routes = shell.look(&["ip", family, "route", "show", "default", "dev", interface])?;
        if !routes.trim().is_empty() {
            return Err(TestbedError::Other(format!(
                "interface {interface} carries the default route: test traffic on it would reach this host's own network; use another"
            )));
        }
    }
    let addresses = shell.look(&["ip", "-brief", "address", "show", "dev", interface, "scope", "global"])?;
    if addresses.split_whitespace().nth(2).is_some() {
        return Err(TestbedError::Other(format!(
            "interface {interface} has addresses of this host ({}) and is therefore in use; remove them (ip address flush dev \
             {interface}), or use another; the tester sets the recipe's addresses itself",
            addresses.split_whitespace().skip(2).collect::<Vec<_>>().join(", ")
        )));
    }
    check_routes(shell, interface)
}

/// Refuses an interface with routes that were set by hand: they would be lost while it is measured. The kernel restores only its own.
fn check_routes(shell: &Shell, interface: &str) -> Result<(), TestbedError> {
    for family in ["-4", "-6"] {
        let routes = shell.look(&["ip", family, "route", "show", "dev", interface])?;
        if let Some(route) = routes.lines().find(|route| !route.contains("proto kernel") && !route.contains("proto ra")) {
            return Err(TestbedError::Other(format!(
                "interface {interface} carries the route {} and is therefore in use; remove the route (ip {family} route del \
                 {} dev {interface}), or use another",
                route.trim(),
                route.split_whitespace().next().unwrap_or_default()
            )));
        }
    }
    Ok(())
}

/// Checks that datagrams of `octets` fit through an interface, the header around encapsulated ones included.
pub fn check_mtu(interface: &str, octets: u32) -> Result<(), TestbedError> {
    let read = std::fs::read_to_string(Path::new("/sys/class/net").join(interface).join("mtu"));
    let Some(mtu) = read.ok().and_then(|text| text.trim().parse::<u32>().ok()).filter(|mtu| *mtu < octets) else {
        return Ok(());
    };
    Err(TestbedError::Other(format!(
        "the MTU of {interface} is {mtu} octets, but the plan's largest datagrams have {octets}, including the outer header if \
         they are encapsulated; raise it (ip link set {interface} mtu {octets}; the device's, too), or leave out the largest \
         `frame-sizes`"
    )))
}

/// The rate of a NIC's medium, bit/s, where its driver says; a virtual interface has none, whatever it says.
pub fn link_rate(interface: &str) -> Option<u64> {
    let folder = std::path::Path::new("/sys/class/net").join(interface);
    if !folder.join("device").exists() {
        return None;
    }
    let speed: i64 = std::fs::read_to_string(folder.join("speed")).ok()?.trim().parse().ok()?;
    u64::try_from(speed).ok().filter(|megabits| *megabits > 0).map(|megabits| megabits * 1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interface_that_does_not_exist_is_refused() {
        let error = check(&Shell::new(), "sb-none").unwrap_err().to_string();
        assert_eq!(error, "interface sb-none does not exist (see `ip link`)");
    }

    #[test]
    fn datagrams_that_do_not_fit_are_refused_with_the_command_that_helps() {
        assert!(check_mtu("lo", 1500).is_ok());
        let error = check_mtu("lo", 70_000).unwrap_err().to_string();
        assert!(error.starts_with("the MTU of lo is 65536 octets, but the plan's largest datagrams have 70000"), "{error}");
        assert!(error.contains("ip link set lo mtu 70000"), "{error}");
    }

    #[test]
    fn the_loopback_interface_has_no_medium() {
        assert_eq!(link_rate("lo"), None);
    }
}
