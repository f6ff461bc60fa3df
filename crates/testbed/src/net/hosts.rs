//! The tester's ends as hosts for TCP and DNS. The kernel's own sockets need addresses, and each end needs its own namespace. Otherwise the kernel
//! would deliver one end's traffic directly to the other, bypassing the device.

use super::interfaces::Interfaces;
use super::namespace::{Namespace, name};
use super::topology::{LINKS, LinkSettings, Topology, join, mask, receive_queue};
use crate::exec::{InterfaceError, Shell, TestbedError};
use crate::recipe::{Recipe, RecipeLink};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

const LOOP: &str = "loop";

/// The addresses of the client and the authority on the direct link between them, which bypasses the device. They are in the range for benchmarking
/// (RFC 5180 section 8).
pub const LOOP_ENDS: [Ipv6Addr; 2] = [
    Ipv6Addr::new(0x2001, 2, 0, 0xfffe, 0, 0, 0, 1),
    Ipv6Addr::new(0x2001, 2, 0, 0xfffe, 0, 0, 0, 2),
];

/// The prefix length of that link.
pub(crate) const LOOP_PREFIX: u8 = 64;

/// The prefix length of the addresses below.
const LOOP_IPV4_PREFIX: u8 = 30;

/// The same for IPv4, for an authority queried over IPv4. They avoid the addresses in recipes (RFC 2544).
const LOOP_ENDS_IPV4: [Ipv4Addr; 2] = [
    Ipv4Addr::new(198, 18, 255, 253),
    Ipv4Addr::new(198, 18, 255, 254),
];

/// Both ends of the tester with their addresses.
#[derive(Debug)]
pub struct Hosts {
    ends: [TesterEnd; 2],
    /// The tester's cores.
    cores: Vec<u32>,
    /// The namespace created for the right end, if any. Dropping it removes it.
    _own: Option<Namespace>,
}

#[derive(Clone, Debug)]
struct TesterEnd {
    namespace: String,
    link: String,
    shell: Shell,
}

impl TesterEnd {
    fn new(namespace: &Namespace, link: &str) -> Self {
        Self {
            namespace: namespace.name().to_owned(),
            link: link.to_owned(),
            shell: namespace.shell(),
        }
    }
}

impl Hosts {
    /// Moves the right end of a topology into a namespace of its own, and gives each end the addresses of `recipe` and those in `others`.
    ///
    /// # Errors
    /// If a command of iproute2 fails.
    pub fn settle(
        topology: &Topology,
        recipe: &Recipe,
        run: &str,
        others: (&[IpAddr], &[IpAddr]),
        shell: &Shell,
    ) -> Result<Self, TestbedError> {
        shell
            .transcript()
            .comment("the tester's ends as hosts, each in a namespace of its own");
        let far = Namespace::new(shell, &name(run, "far"))?;
        topology.tester().shell().line(&format!(
            "ip link set {} netns {}",
            LINKS[1],
            far.name()
        ))?;
        let ends = [
            TesterEnd::new(topology.tester(), LINKS[0]),
            TesterEnd::new(&far, LINKS[1]),
        ];
        let hosts = Self {
            ends,
            cores: topology.cores().tester.clone(),
            _own: Some(far),
        };
        for end in &hosts.ends {
            // Receiving frames here is the tester's work, not the device's.
            end.shell
                .set(&receive_queue(&end.link, 0), &mask(&hosts.cores))?;
        }
        hosts
            .add_addresses(recipe, others.0, others.1)
            .map(|()| hosts)
    }

    /// Takes both ends of the tester, which must be interfaces of this machine: else the error is `elsewhere`. `comment` goes to the transcript.
    fn on(
        interfaces: &Interfaces,
        cores: &[u32],
        elsewhere: InterfaceError,
        comment: &str,
    ) -> Result<Self, InterfaceError> {
        let ends: Vec<_> = interfaces
            .ends()
            .map(|(link, namespace)| TesterEnd::new(namespace, link))
            .collect();
        let hosts = Self {
            ends: ends.try_into().map_err(|_| elsewhere)?,
            cores: cores.to_vec(),
            _own: None,
        };
        hosts.ends[0].shell.transcript().comment(comment);
        Ok(hosts)
    }

    /// Gives interfaces of this machine the addresses of `recipe` and those in `others`. `cores` are the tester's.
    ///
    /// # Errors
    /// If an address cannot be given.
    pub fn settle_on(
        interfaces: &Interfaces,
        cores: &[u32],
        recipe: &Recipe,
        others: (&[IpAddr], &[IpAddr]),
    ) -> Result<Self, TestbedError> {
        let comment = "the tester's ends as hosts";
        let hosts = Self::on(interfaces, cores, InterfaceError::NoHosts, comment)?;
        hosts
            .add_addresses(recipe, others.0, others.1)
            .map(|()| hosts)
    }

    /// Gives the left interface the addresses of `recipe` and those in `others`. The right interface is the tester's end of the link to the
    /// authority's machine, which is only used for the self-test.
    ///
    /// # Errors
    /// If an address cannot be given.
    pub fn settle_apart(
        interfaces: &Interfaces,
        cores: &[u32],
        recipe: &Recipe,
        others: &[IpAddr],
    ) -> Result<Self, TestbedError> {
        let comment = "the tester's left end as a host, and its right one for the self-test";
        let hosts = Self::on(
            interfaces,
            cores,
            InterfaceError::NoLinkToAuthority,
            comment,
        )?;
        let [near, far] = &hosts.ends;
        HostInterface::at(near).settle(&recipe.left, others)?;
        let far = HostInterface::at(far);
        far.open()?;
        far.add(LOOP_ENDS[0].into(), LOOP_PREFIX)?;
        Ok(hosts)
    }

    /// Gives two interfaces of this machine that a cable joins the addresses of the self-test, over both IP versions.
    ///
    /// # Errors
    /// If there are not two interfaces of this machine, or an address cannot be given.
    pub fn settle_joined(interfaces: &Interfaces, cores: &[u32]) -> Result<Self, TestbedError> {
        let comment = "two interfaces that a cable joins, for the self-test";
        let hosts = Self::on(interfaces, cores, InterfaceError::NoLoop, comment)?;
        for ((end, ipv4), ipv6) in hosts.ends.iter().zip(LOOP_ENDS_IPV4).zip(LOOP_ENDS) {
            let host = HostInterface::at(end);
            host.open()?;
            host.add(ipv4.into(), LOOP_IPV4_PREFIX)?;
            host.add(ipv6.into(), LOOP_PREFIX)?;
        }
        Ok(hosts)
    }

    /// Returns the IPv4 and the IPv6 address of the right interface of [`Hosts::settle_joined`].
    pub const fn joined() -> [IpAddr; 2] {
        [IpAddr::V4(LOOP_ENDS_IPV4[1]), IpAddr::V6(LOOP_ENDS[1])]
    }

    fn add_addresses(
        &self,
        recipe: &Recipe,
        left: &[IpAddr],
        right: &[IpAddr],
    ) -> Result<(), TestbedError> {
        let [near, far] = &self.ends;
        HostInterface::at(near).settle(&recipe.left, left)?;
        HostInterface::at(far).settle(&recipe.right, right)
    }

    /// Returns the names of the namespaces of the left and the right end.
    pub fn namespaces(&self) -> (String, String) {
        let [near, far] = &self.ends;
        (near.namespace.clone(), far.namespace.clone())
    }

    /// Joins both ends directly, bypassing the device, for the self-test of RFC 8219 section 9.2.1, which loops the tester's client and its
    /// authority. Returns the addresses of the left and the right end.
    ///
    /// # Errors
    /// If a command of iproute2 fails.
    pub fn loop_back(&self) -> Result<(IpAddr, IpAddr), TestbedError> {
        let [near, far] = &self.ends;
        let shell = near.shell.outside();
        shell
            .transcript()
            .comment("the tester's ends joined directly, for its self-test");
        join(
            &shell,
            [LOOP, LOOP],
            [&near.namespace, &far.namespace],
            LinkSettings::of_mtu(1500),
        )?;
        for (end, address) in self.ends.iter().zip(LOOP_ENDS) {
            end.shell.set(&receive_queue(LOOP, 0), &mask(&self.cores))?;
            let host = HostInterface {
                shell: &end.shell,
                link: LOOP,
            };
            host.open()?;
            host.add(address.into(), LOOP_PREFIX)?;
        }
        Ok((LOOP_ENDS[0].into(), LOOP_ENDS[1].into()))
    }

    /// Routes the left end's queries to an address of the right end, and the responses, over the direct link.
    ///
    /// # Errors
    /// If a route cannot be added.
    pub fn reach_over_loop(&self, address: IpAddr) -> Result<(), TestbedError> {
        let near = &self.ends[0].shell;
        match address {
            IpAddr::V6(address) => near
                .line(&format!(
                    "ip route add {address}/128 via {} dev {LOOP}",
                    LOOP_ENDS[1]
                ))
                .map(drop),
            IpAddr::V4(address) => {
                for (end, own) in self.ends.iter().zip(LOOP_ENDS_IPV4) {
                    end.shell.line(&format!(
                        "ip address add {own}/{LOOP_IPV4_PREFIX} dev {LOOP}"
                    ))?;
                }
                near.line(&format!(
                    "ip route add {address}/32 via {} dev {LOOP}",
                    LOOP_ENDS_IPV4[1]
                ))
                .map(drop)
            }
        }
    }

    /// Returns a shell inside the right end's namespace and the namespace's name.
    pub(crate) fn far(&self) -> (Shell, &str) {
        (self.ends[1].shell.clone(), &self.ends[1].namespace)
    }

    /// Returns the tester's cores.
    pub(crate) fn cores(&self) -> &[u32] {
        &self.cores
    }
}

struct HostInterface<'a> {
    shell: &'a Shell,
    link: &'a str,
}

impl<'a> HostInterface<'a> {
    fn at(end: &'a TesterEnd) -> Self {
        Self {
            shell: &end.shell,
            link: &end.link,
        }
    }

    fn settle(&self, link: &RecipeLink, others: &[IpAddr]) -> Result<(), TestbedError> {
        self.open()?;
        // The kernel gives the links no link-local address (`addrgenmode none`), so that addresses are the same in each run. The device's ends are fe80::1 on
        // the left and fe80::3 on the right (`topology::link_local`): 2 is free on either link.
        self.shell.line(&format!(
            "ip address add fe80::2/64 dev {} nodad",
            self.link
        ))?;
        for tester in &link.tester {
            let Some(dut) = link.dut.iter().find(|prefix| prefix.contains(tester)) else {
                continue;
            };
            self.add(*tester, dut.prefix_len())?;
            // The last address of a family determines its default route.
            self.shell
                .line(&format!("ip route replace default via {}", dut.addr()))?;
        }
        others
            .iter()
            .filter(|address| !link.tester.contains(address))
            .try_for_each(|&address| {
                let whole = if address.is_ipv4() { 32 } else { 128 };
                self.add(address, whole)
            })
    }

    /// Enables IPv6 and ARP on the link, and sets it up. A host takes addresses, routes and a hop limit from its routers; the tester must not, since the
    /// device is its router.
    fn open(&self) -> Result<(), TestbedError> {
        let name = self.link;
        for deaf in [
            "ipv4/conf/all/accept_redirects",
            "ipv4/conf/LINK/accept_redirects",
            "ipv6/conf/LINK/accept_redirects",
            "ipv6/conf/LINK/accept_ra",
        ] {
            self.shell.set(
                &format!("/proc/sys/net/{}", deaf.replace("LINK", name)),
                "0",
            )?;
        }
        self.shell
            .set(&format!("/proc/sys/net/ipv6/conf/{name}/disable_ipv6"), "0")?;
        self.shell
            .line(&format!("ip link set {name} arp on up"))
            .map(drop)
    }

    fn add(&self, address: IpAddr, length: u8) -> Result<(), TestbedError> {
        let no_dad = if address.is_ipv6() { " nodad" } else { "" };
        self.shell
            .line(&format!(
                "ip address add {address}/{length} dev {}{no_dad}",
                self.link
            ))
            .map(drop)
    }
}
