//! What an interface is on its machine, as `ip -o -d link` prints it, and what else uses it. An interface that frames do not leave directly by, or that has
//! another user, must not carry test traffic.

use super::occupied::is_over;
use crate::exec::{InterfaceFault, Shell, TestbedError, ip_link_del, ip_link_set};

/// Kinds of interfaces whose frames leave in datagrams, or in the network, of another interface of the machine. A VLAN is a network of its own.
const INDIRECT: [&str; 23] = [
    "macvlan",
    "macvtap",
    "ipvlan",
    "ipvtap",
    "vxlan",
    "geneve",
    "bareudp",
    "wireguard",
    "gre",
    "gretap",
    "erspan",
    "ip6gre",
    "ip6gretap",
    "ip6erspan",
    "ipip",
    "ip6tnl",
    "sit",
    "vti",
    "vti6",
    "xfrm",
    "ppp",
    "amt",
    "gtp",
];

/// Returns why an interface may not carry test traffic; `link` describes it as `ip -o -d link` does.
///
/// # Errors
/// `ip` cannot be run.
pub(crate) fn fault(
    shell: &Shell,
    interface: &str,
    link: &str,
) -> Result<Option<InterfaceFault>, TestbedError> {
    Ok(match of_link(link, interface) {
        Some(fault) => Some(fault),
        None => of_users(shell, interface, link)?,
    })
}

fn of_link(link: &str, interface: &str) -> Option<InterfaceFault> {
    let name = link
        .split_whitespace()
        .nth(1)
        .and_then(|word| word.trim_end_matches(':').split('@').next())
        .unwrap_or(interface);
    if name != interface {
        let name = name.to_owned();
        return Some(InterfaceFault::OtherName { name });
    }
    if let Some(master) = word_after(link, "master") {
        return Some(InterfaceFault::Port {
            master: master.to_owned(),
            take_out: ip_link_set(interface, "nomaster"),
        });
    }
    let mut kinds = link
        .split('\\')
        .filter_map(|part| part.split_whitespace().next());
    let kind = kinds.find(|kind| INDIRECT.contains(kind))?.to_owned();
    Some(InterfaceFault::Indirect { kind })
}

/// Returns the word behind `word` in a line.
pub(crate) fn word_after<'l>(line: &'l str, word: &str) -> Option<&'l str> {
    line.split_whitespace()
        .skip_while(|other| *other != word)
        .nth(1)
}

fn of_users(
    shell: &Shell,
    interface: &str,
    link: &str,
) -> Result<Option<InterfaceFault>, TestbedError> {
    if let Some(upper) = devices_on(shell, interface)?.into_iter().next() {
        let remove = ip_link_del(&upper);
        return Ok(Some(InterfaceFault::Lower { upper, remove }));
    }
    // A macvlan is not seen from here where it is in another namespace, such as that of a container, but its hardware address is.
    let addresses = shell
        .look(&["bridge", "fdb", "show", "dev", interface])
        .unwrap_or_default();
    if let Some(address) = addresses
        .lines()
        .find_map(|line| foreign_address(line, link))
    {
        let address = address.to_owned();
        return Ok(Some(InterfaceFault::OtherAddress { address }));
    }
    // The kernel deletes them when the interface goes. Kernels before 5.3 have none.
    let next_hops = shell
        .look(&["ip", "nexthop", "show", "dev", interface])
        .unwrap_or_default();
    let next_hop = next_hops.lines().find_map(|line| word_after(line, "id"));
    Ok(next_hop.map(|id| InterfaceFault::NextHop { id: id.to_owned() }))
}

/// Returns the hardware address of a line of `bridge fdb` if the interface takes frames for it beside its own and those of groups.
fn foreign_address<'l>(line: &'l str, link: &str) -> Option<&'l str> {
    let address = line.split_whitespace().next()?;
    let is_group = u8::from_str_radix(address.split(':').next()?, 16).ok()? & 1 != 0;
    (!is_group && line.contains(" self") && !link.contains(address)).then_some(address)
}

/// Returns the names of the devices that send and receive through an interface: VLANs, macvlans, tunnels bound to it.
fn devices_on(shell: &Shell, interface: &str) -> Result<Vec<String>, TestbedError> {
    let links = shell.look(&["ip", "-o", "-d", "link", "show"])?;
    Ok(links
        .lines()
        .filter_map(|line| device_on(line, interface))
        .map(str::to_owned)
        .collect())
}

/// Returns the name of the device that a line describes if it is on top of `interface`. The two ends of a veth pair name each other, and neither is
/// on the other.
fn device_on<'l>(line: &'l str, interface: &str) -> Option<&'l str> {
    let named = line.split_whitespace().nth(1)?.trim_end_matches(':');
    let (name, lower) = named.split_once('@').unwrap_or((named, ""));
    let is_veth = line.split_whitespace().any(|word| word == "veth");
    let is_on = lower == interface && !is_veth || is_over(line, interface);
    (name != interface && is_on).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interfaces_whose_frames_leave_by_another_one_are_refused_and_so_are_other_names() {
        let refused = |link: &str| of_link(link, "e0").expect(link).to_string();
        let tunnel = r"9: e0: <UP> mtu 1450 \    link/ether 02:00:00:00:00:01 \    vxlan id 5 remote 10.0.0.1 dev nic0 \ addrgenmode eui64";
        assert!(
            refused(tunnel).contains("of the kind vxlan"),
            "{}",
            refused(tunnel)
        );
        let shared = r"9: e0@nic0: <UP> mtu 1500 \    link/ether 02:00:00:00:00:01 \    macvlan mode bridge \ addrgenmode eui64";
        assert!(
            refused(shared).contains("of the kind macvlan"),
            "{}",
            refused(shared)
        );
        let port = r"3: e0@p0: <UP> mtu 1500 master br0 \    link/ether 02:00:00:00:00:01 \    veth \    bridge_slave state forwarding";
        assert!(
            refused(port).starts_with("belongs to br0"),
            "{}",
            refused(port)
        );
        let other = r"3: nic0: <UP> mtu 1500 \    link/ether 02:00:00:00:00:01 \    altname e0";
        assert!(refused(other).contains("use nic0"), "{}", refused(other));
        for kind in ["veth", "vlan protocol 802.1Q id 7", "addrgenmode eui64"] {
            assert_eq!(
                of_link(
                    &format!(
                        r"3: e0@p0: <UP> mtu 1500 \    link/ether 02:00:00:00:00:01 \    {kind}"
                    ),
                    "e0"
                ),
                None
            );
        }
    }

    #[test]
    fn a_hardware_address_that_is_not_the_interfaces_own_shows_a_user() {
        let link = r"3: e0: <UP> mtu 1500 \    link/ether fe:f1:13:ce:22:31 brd ff:ff:ff:ff:ff:ff";
        let of = |line| foreign_address(line, link);
        assert_eq!(
            of("ee:3e:41:78:13:95 self permanent"),
            Some("ee:3e:41:78:13:95")
        );
        for own in [
            "33:33:00:00:00:01 self permanent",
            "01:00:5e:00:00:01 self permanent",
            "fe:f1:13:ce:22:31 self permanent",
        ] {
            assert_eq!(of(own), None);
        }
    }

    #[test]
    fn devices_on_top_are_told_from_the_other_end_of_a_cable() {
        let on = |line| device_on(line, "e0");
        assert_eq!(
            on(
                "5: e0.7@e0: <BROADCAST> mtu 1500 \\ link/ether 02:00 promiscuity 0 \\ vlan protocol 802.1Q id 7"
            ),
            Some("e0.7")
        );
        assert_eq!(
            on(
                "6: mv@e0: <BROADCAST> mtu 1500 \\ link/ether 02:00 \\ macvlan mode bridge bcqueuelen 1000"
            ),
            Some("mv")
        );
        assert_eq!(
            on(
                "7: vx: <BROADCAST> mtu 1450 \\ link/ether 02:00 \\ vxlan id 5 remote 10.0.0.1 dev e0 srcport 0 0"
            ),
            Some("vx")
        );
        assert_eq!(
            on("8: e1@e0: <BROADCAST> mtu 1500 \\ link/ether 02:00 \\ veth addrgenmode eui64"),
            None
        );
        assert_eq!(
            on("9: e0@if3: <BROADCAST> mtu 1500 \\ link/ether 02:00 \\ macvlan mode bridge"),
            None,
            "it is itself on another"
        );
        assert_eq!(
            on("9: x@e01: <BROADCAST> mtu 1500 \\ link/ether 02:00 \\ macvlan mode bridge"),
            None
        );
    }
}
