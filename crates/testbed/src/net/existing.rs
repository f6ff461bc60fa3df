//! Checks existing interfaces, such as real NICs cabled to a device. [`crate::net::interfaces`] takes them over.

use super::link::{self, word_after};
use super::occupied::{self, RouteOver};
use crate::exec::{InterfaceError, InterfaceFault, Shell, TestbedError, ip_link_set};
use crate::facts::Machine;
use serde::{Deserialize, Serialize};
use sixbench_method::names::INTERFACE;
use std::net::Ipv6Addr;
use std::path::Path;

/// The rule for an interface that has addresses and routes of this machine when it is to carry test traffic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum OwnAddresses {
    /// The interface is refused, because it is in use.
    #[default]
    Refused,
    /// They are recorded, and restored with the interface.
    Lent,
}

/// Checks that an interface may be used for test traffic.
///
/// # Errors
/// An interface that does not exist, is not one that frames leave directly by, or has work of its own on this machine.
pub fn check(shell: &Shell, interface: &str, own: OwnAddresses) -> Result<(), TestbedError> {
    INTERFACE.check(interface).map_err(InterfaceError::Name)?;
    // /sys is not used, because it may show a network namespace other than this process's.
    let link = shell
        .look(&["ip", "-o", "-d", "link", "show", "dev", interface])
        .map_err(|error| {
            error.restated(|_| InterfaceError::here(interface, InterfaceFault::Absent))
        })?;
    if let Some(fault) = link::fault(shell, interface, &link)? {
        return Err(InterfaceError::here(interface, fault).into());
    }
    let routes = occupied::routes(shell, interface)?;
    check_wide_routes(&routes, interface)?;
    let described = shell.look(&["ip", "-o", "address", "show", "dev", interface])?;
    check_connections(shell, interface, &all_addresses(&described))?;
    if own == OwnAddresses::Lent {
        return Ok(());
    }
    let addresses = own_addresses(&described, &link);
    if !addresses.is_empty() {
        let fault = InterfaceFault::Addresses {
            addresses: addresses.join(", "),
            interface: interface.to_owned(),
        };
        return Err(InterfaceError::here(interface, fault).into());
    }
    Ok(check_routes(&routes, interface)?)
}

/// Refuses an interface that carries a TCP connection, such as the ssh session of the user who starts the run.
fn check_connections(
    shell: &Shell,
    interface: &str,
    addresses: &[&str],
) -> Result<(), TestbedError> {
    if addresses.is_empty() {
        return Ok(());
    }
    let established = shell.look(&["ss", "-Htn", "state", "established"])?;
    let own: Vec<&str> = addresses
        .iter()
        .map(|address| address.split('/').next().unwrap_or_default())
        .collect();
    let is_own = |local: &str| {
        own.contains(&host_of(local)) && zone_of(local).is_none_or(|zone| zone == interface)
    };
    let Some((local, peer)) = established
        .lines()
        .filter_map(ends_of)
        .find(|(local, _)| is_own(local))
    else {
        return Ok(());
    };
    let fault = InterfaceFault::Connection {
        local: local.to_owned(),
        peer: peer.to_owned(),
    };
    Err(InterfaceError::here(interface, fault).into())
}

/// Returns the local and the remote end of a connection in a line of `ss`, whose first two words are queue lengths.
fn ends_of(line: &str) -> Option<(&str, &str)> {
    let mut words = line.split_whitespace().skip(2);
    Some((words.next()?, words.next()?))
}

/// Returns the address of an end such as `10.0.0.1:22`, `[fd00::1]:22`, `[::ffff:10.0.0.1]:22` or `[fe80::1]%e0:22`.
fn host_of(end: &str) -> &str {
    let host = end
        .rsplit_once(':')
        .map_or(end, |(host, _)| host)
        .trim_start_matches('[');
    host.split(['%', ']'])
        .next()
        .unwrap_or(host)
        .trim_start_matches("::ffff:")
}

/// Returns the interface that an end of a link-local address names.
fn zone_of(end: &str) -> Option<&str> {
    let zone = end.rsplit_once(':')?.0.split_once('%')?.1;
    Some(zone.trim_end_matches(']'))
}

fn all_addresses(described: &str) -> Vec<&str> {
    let lines = described.lines().filter(|line| {
        line.split_whitespace()
            .any(|word| word == "inet" || word == "inet6")
    });
    lines
        .filter_map(|line| {
            line.split_whitespace()
                .skip_while(|word| !word.starts_with("inet"))
                .nth(1)
        })
        .collect()
}

/// Returns all addresses but the link-local one that the kernel gives every interface that is up, and gives it again when it comes back.
fn own_addresses<'d>(described: &'d str, link: &str) -> Vec<&'d str> {
    let is_made_by_kernel = |address: &str| match word_after(link, "addrgenmode") {
        Some("none") => false,
        // Made of a secret or at random, it cannot be distinguished from one that was set by hand.
        Some("stable_secret" | "random") => true,
        _ => link_local_of_mac(link).is_none_or(|own| address == format!("{own}/64")),
    };
    let is_of_kernel = |line: &str, address: &str| {
        address.starts_with("fe80:") && (line.contains(" kernel_ll ") || is_made_by_kernel(address))
    };
    let pairs = described.lines().flat_map(|line| {
        all_addresses(line)
            .into_iter()
            .map(move |address| (line, address))
    });
    pairs
        .filter(|(line, address)| !is_of_kernel(line, address))
        .map(|(_, address)| address)
        .collect()
}

/// Returns the link-local address that is made of the hardware address (RFC 4291, appendix A); `None` without a hardware address.
fn link_local_of_mac(link: &str) -> Option<Ipv6Addr> {
    let octets = word_after(link, "link/ether")?
        .split(':')
        .map(|octet| u8::from_str_radix(octet, 16));
    let [a, b, c, d, e, f] = octets
        .collect::<Result<Vec<_>, _>>()
        .ok()?
        .try_into()
        .ok()?;
    let pair = |high, low| u16::from_be_bytes([high, low]);
    Some(Ipv6Addr::new(
        0xfe80,
        0,
        0,
        0,
        pair(a ^ 2, b),
        pair(c, 0xff),
        pair(0xfe, d),
        pair(e, f),
    ))
}

fn check_wide_routes(routes: &[RouteOver], interface: &str) -> Result<(), InterfaceError> {
    let Some(wide) = routes.iter().find(|route| route.is_wide()) else {
        return Ok(());
    };
    let route = if wide.line.starts_with("default") && !wide.line.contains(" table ") {
        "the default route".to_owned()
    } else {
        format!("a route to much of the Internet ({})", wide.line)
    };
    Err(InterfaceError::here(
        interface,
        InterfaceFault::WideRoute { route },
    ))
}

/// Refuses an interface with manually added routes in any table. They would be lost during the run, as the kernel only restores its own.
fn check_routes(routes: &[RouteOver], interface: &str) -> Result<(), InterfaceError> {
    let Some(route) = routes.iter().find(|route| !route.is_of_kernel()) else {
        return Ok(());
    };
    let table = route
        .line
        .split(" table ")
        .nth(1)
        .and_then(|rest| rest.split(' ').next());
    let of_table = table
        .map(|table| format!(" table {table}"))
        .unwrap_or_default();
    let (family, destination) = (route.family, route.destination());
    let fault = InterfaceFault::Route {
        route: route.line.clone(),
        remove: format!("ip {family} route del {destination} dev {interface}{of_table}"),
    };
    Err(InterfaceError::here(interface, fault))
}

/// Checks that datagrams of `octets`, including the outer header of encapsulated ones, fit the MTU of an interface.
///
/// # Errors
/// If the MTU is smaller, with both numbers. An MTU that cannot be read is taken for large enough.
pub fn check_mtu(interface: &str, octets: u32) -> Result<(), TestbedError> {
    let read = std::fs::read_to_string(Path::new("/sys/class/net").join(interface).join("mtu"));
    let Some(mtu) = read
        .ok()
        .and_then(|text| text.trim().parse::<u32>().ok())
        .filter(|mtu| *mtu < octets)
    else {
        return Ok(());
    };
    Err(InterfaceError::SmallMtu {
        interface: interface.to_owned(),
        mtu,
        octets,
        raise: ip_link_set(interface, &format!("mtu {octets}")),
    }
    .into())
}

/// Returns the rate of a NIC's medium in bit/s, if its driver reports it. A virtual interface has none, whatever it reports.
pub fn link_rate(interface: &str) -> Option<u64> {
    let folder = std::path::Path::new("/sys/class/net").join(interface);
    if !folder.join("device").exists() {
        return None;
    }
    let speed: i64 = std::fs::read_to_string(folder.join("speed"))
        .ok()?
        .trim()
        .parse()
        .ok()?;
    u64::try_from(speed)
        .ok()
        .filter(|megabits| *megabits > 0)
        .map(|megabits| megabits * 1_000_000)
}

/// Returns the number of queues by which an interface sends and receives; `None` if it has no such queues, or does not tell.
pub fn queues(shell: &Shell, interface: &str) -> Option<u32> {
    Machine::read_ethtool(shell, &[format!("-l {interface}")]).combined_queues(interface)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interface_that_does_not_exist_is_refused() {
        let error = check(&Shell::new(), "sb-none", OwnAddresses::Refused)
            .unwrap_err()
            .to_string();
        assert_eq!(error, "interface sb-none does not exist (see `ip link`)");
    }

    #[test]
    fn addresses_of_any_scope_are_own_ones_but_the_one_that_the_kernel_makes() {
        let described = "\
3: e0    inet 169.254.7.1/16 scope link e0\\       valid_lft forever preferred_lft forever
3: e0    inet 10.0.0.1 peer 10.0.0.2/32 scope host e0\\       valid_lft forever preferred_lft forever
3: e0    inet6 fec0::1/64 scope site \\       valid_lft forever preferred_lft forever
3: e0    inet6 fe80::53/64 scope link \\       valid_lft forever preferred_lft forever
3: e0    inet6 fe80::3c2d:b7ff:fe1a:1/64 scope link \\       valid_lft forever preferred_lft forever
";
        let link = |mode: &str| {
            format!(
                "3: e0: <UP> mtu 1500 \\    link/ether 3e:2d:b7:1a:00:01 brd ff \\    addrgenmode {mode} numtxqueues 1"
            )
        };
        let others = ["169.254.7.1/16", "10.0.0.1", "fec0::1/64", "fe80::53/64"];
        assert_eq!(own_addresses(described, &link("eui64")), others);
        assert_eq!(
            own_addresses(described, &link("stable_secret")),
            others[..3],
            "it cannot be told"
        );
        assert_eq!(
            own_addresses(described, &link("none")).len(),
            5,
            "the kernel would not make it again"
        );
        let told = "3: e0    inet6 fe80::7/64 scope link proto kernel_ll \\       valid_lft forever preferred_lft forever";
        assert_eq!(own_addresses(told, &link("eui64")), Vec::<&str>::new());
    }

    #[test]
    fn the_ends_of_connections_are_read_as_ss_prints_them() {
        let local = |line| ends_of(line).map(|(local, _)| (host_of(local), zone_of(local)));
        assert_eq!(
            local("0      36        10.0.0.1:22      10.0.0.9:51544"),
            Some(("10.0.0.1", None))
        );
        assert_eq!(
            local("0      0         [::ffff:10.0.0.1]:22      [::ffff:10.0.0.9]:51544"),
            Some(("10.0.0.1", None))
        );
        for line in [
            "0 0 [fe80::1%e0]:22 [fe80::2]:51544",
            "0 0 [fe80::1]%e0:22 [fe80::2]:51544",
        ] {
            assert_eq!(local(line), Some(("fe80::1", Some("e0"))));
        }
    }

    #[test]
    fn datagrams_that_do_not_fit_are_refused_with_the_command_that_helps() {
        assert!(check_mtu("lo", 1500).is_ok());
        let error = check_mtu("lo", 70_000).unwrap_err().to_string();
        assert!(
            error.starts_with(
                "the MTU of lo is 65536 octets, but the plan's largest datagrams have 70000"
            ),
            "{error}"
        );
        assert!(error.contains("ip link set lo mtu 70000"), "{error}");
    }

    #[test]
    fn the_loopback_interface_has_no_medium() {
        assert_eq!(link_rate("lo"), None);
    }
}
