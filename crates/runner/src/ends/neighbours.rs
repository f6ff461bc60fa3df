//! Waits for a device on the plan's interfaces until it answers at the addresses in its recipe. If the tester's ends are hosts, their kernel
//! resolves neighbours by itself and drops datagrams that it cannot resolve in time. These must not count as the device's loss: its links have just
//! come up, and duplicate address detection may still be running.

use crate::error::RunError;
use crate::request::Site;
use sixbench_io::thread::in_namespace;
use sixbench_testbed::recipe::{Recipe, RecipeLink, Technology};
use sixbench_testbed::{Hosts, LOOP_ENDS};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// The timeout for resolving the device. Duplicate address detection takes two seconds, and a kernel solicits once per second.
const TIMEOUT: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(100);

/// The port named `discard` (RFC 863), which does not reply.
const DISCARD: u16 = 9;

/// Waits until the device is resolved at every address that is a gateway of the tester's ends. An authoritative server is queried on the left and
/// needs no right end.
///
/// # Errors
/// An address on one of the links was not resolved in time, or a stop was requested.
pub(crate) fn wait_for(recipe: &Recipe, hosts: &Hosts, site: &Site<'_>) -> Result<(), RunError> {
    let (left, right) = hosts.namespaces();
    let both = [
        ("left", left, &recipe.left),
        ("right", right, &recipe.right),
    ];
    let links = if recipe.technology == Technology::DnsAuthority {
        1
    } else {
        2
    };
    let end = Instant::now() + TIMEOUT;
    both.iter()
        .take(links)
        .try_for_each(|(side, namespace, link)| {
            gateways(link).try_for_each(|address| wait_for_one(site, side, namespace, address, end))
        })
}

/// Waits until the device is resolved on the left, and the authority's machine on the right, where a cable links it to the tester.
///
/// # Errors
/// An address on one of the links was not resolved in time, or a stop was requested.
pub(crate) fn wait_for_apart(
    recipe: &Recipe,
    hosts: &Hosts,
    machine: &str,
    site: &Site<'_>,
) -> Result<(), RunError> {
    let (left, right) = hosts.namespaces();
    let end = Instant::now() + TIMEOUT;
    gateways(&recipe.left)
        .try_for_each(|address| wait_for_one(site, "left", &left, address, end))?;
    let uncabled = |error| match error {
        RunError::NoAnswer {
            address, within_s, ..
        } => RunError::NoAuthority {
            machine: machine.to_owned(),
            address,
            within_s,
        },
        error => error,
    };
    wait_for_one(site, "right", &right, LOOP_ENDS[1].into(), end).map_err(uncabled)
}

fn gateways(link: &RecipeLink) -> impl Iterator<Item = IpAddr> + '_ {
    link.dut
        .iter()
        .filter(|prefix| link.tester.iter().any(|tester| prefix.contains(tester)))
        .map(|prefix| prefix.addr())
}

fn wait_for_one(
    site: &Site<'_>,
    side: &str,
    namespace: &str,
    address: IpAddr,
    end: Instant,
) -> Result<(), RunError> {
    let inside = site.shell.within(namespace);
    loop {
        in_namespace(namespace, || start_resolution(address)).map_err(RunError::Namespace)?;
        std::thread::sleep(PAUSE);
        let known = inside.look(&["ip", "neigh", "show", "to", &address.to_string()])?;
        if is_resolved(&known) {
            return Ok(());
        }
        if site.stop.load(Ordering::Relaxed) {
            return Err(RunError::Interrupted);
        }
        if Instant::now() > end {
            return Err(RunError::NoAnswer {
                side: side.to_owned(),
                address,
                within_s: TIMEOUT.as_secs(),
            });
        }
    }
}

/// Makes the kernel resolve the address. It does not matter whether the datagram arrives.
fn start_resolution(address: IpAddr) {
    let any: SocketAddr = if address.is_ipv6() {
        "[::]:0"
    } else {
        "0.0.0.0:0"
    }
    .parse()
    .expect("an address");
    let _ = UdpSocket::bind(any).and_then(|socket| socket.send_to(&[0], (address, DISCARD)));
}

fn is_resolved(entry: &str) -> bool {
    entry.contains("lladdr") && !entry.contains("FAILED")
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixbench_testbed::Library;
    use std::path::Path;

    #[test]
    fn an_entry_without_a_hardware_address_is_not_resolved() {
        assert!(is_resolved(
            "2001:2::1 dev nic0 lladdr 02:00:00:00:00:01 router REACHABLE \n"
        ));
        for entry in [
            "",
            "2001:2::1 dev nic0 INCOMPLETE \n",
            "2001:2::1 dev nic0 FAILED \n",
        ] {
            assert!(!is_resolved(entry), "{entry}");
        }
    }

    #[test]
    fn the_gateways_are_the_devices_addresses_beside_the_testers() {
        let library = Library::load::<&Path>(&[]).expect("recipes");
        let tayga = library.get("tayga-siit").expect("the recipe");
        let of_right: Vec<String> = gateways(&tayga.right)
            .map(|address| address.to_string())
            .collect();
        assert_eq!(of_right, ["198.19.0.1", "2001:2:0:8000::1"]);
    }
}
