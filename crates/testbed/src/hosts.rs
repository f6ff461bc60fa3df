//! The tester's ends as hosts: for TCP, the kernel's own sockets need addresses, and each end a namespace of its own. Without that the
//! kernel would hand what one end sends to the other, and the device would see nothing.

use crate::namespace::{Namespace, name};
use crate::recipe::{Link, Recipe};
use crate::shell::{Shell, TestbedError};
use crate::topology::{LINKS, Topology, join, mask, receive_queue};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The link from one end to the other, past the device.
const LOOP: &str = "loop";

/// The addresses of the loop's left and right end, /64, in the range for benchmarking (RFC 5180 section 8).
const LOOP_ENDS: [Ipv6Addr; 2] =
    [Ipv6Addr::new(0x2001, 2, 0, 0xfffe, 0, 0, 0, 1), Ipv6Addr::new(0x2001, 2, 0, 0xfffe, 0, 0, 0, 2)];

/// The same of IPv4, /30, for an authority that is asked over IPv4: out of the way of what recipes use (RFC 2544).
const LOOP_ENDS_IPV4: [Ipv4Addr; 2] = [Ipv4Addr::new(198, 18, 255, 253), Ipv4Addr::new(198, 18, 255, 254)];

/// Both ends with their addresses. The left one stays in the tester's namespace.
#[derive(Debug)]
pub struct Hosts {
    left: String,
    far: Namespace,
}

impl Hosts {
    /// Moves the right end into a namespace of its own, and gives both the addresses of `recipe` and those beside them.
    pub fn settle(
        topology: &Topology,
        recipe: &Recipe,
        run: &str,
        (left, right): (&[IpAddr], &[IpAddr]),
        shell: &Shell,
    ) -> Result<Self, TestbedError> {
        shell.transcript().comment("the tester's ends as hosts, each in a namespace of its own");
        let far = Namespace::new(shell, &name(run, "far"))?;
        topology.tester().shell().line(&format!("ip link set {} netns {}", LINKS[1], far.name()))?;
        let hosts = Self { left: topology.tester().name().to_owned(), far };
        let cores = &topology.cores().tester;
        Host { shell: topology.tester().shell(), link: LINKS[0] }.settle(&recipe.left, left, cores)?;
        Host { shell: hosts.far.shell(), link: LINKS[1] }.settle(&recipe.right, right, cores)?;
        Ok(hosts)
    }

    /// The namespaces of the left and the right end.
    pub fn namespaces(&self) -> (String, String) {
        (self.left.clone(), self.far.name().to_owned())
    }

    /// Joins both ends directly, past the device: for the self-test of RFC 8219 section 9.2.1, which loops the tester's client and its
    /// authority. Returns the addresses of the left and the right end.
    pub fn loop_back(&self, topology: &Topology) -> Result<(IpAddr, IpAddr), TestbedError> {
        let shell = topology.tester().shell().outside();
        shell.transcript().comment("the tester's ends joined directly, for its self-test");
        join(&shell, [LOOP, LOOP], [topology.tester(), &self.far], 1500)?;
        for (shell, address) in [topology.tester().shell(), self.far.shell()].into_iter().zip(LOOP_ENDS) {
            let host = Host { shell, link: LOOP };
            host.open(&topology.cores().tester)?;
            host.add(address.into(), 64)?;
        }
        Ok((LOOP_ENDS[0].into(), LOOP_ENDS[1].into()))
    }

    /// Leads the left end's queries for an address of the right end over the direct link, and their answers back.
    pub fn reach_over_loop(&self, topology: &Topology, address: IpAddr) -> Result<(), TestbedError> {
        let near = topology.tester().shell();
        match address {
            IpAddr::V6(address) => near.line(&format!("ip route add {address}/128 via {} dev {LOOP}", LOOP_ENDS[1])).map(drop),
            IpAddr::V4(address) => {
                for (shell, own) in [&near, &self.far.shell()].into_iter().zip(LOOP_ENDS_IPV4) {
                    shell.line(&format!("ip address add {own}/30 dev {LOOP}"))?;
                }
                near.line(&format!("ip route add {address}/32 via {} dev {LOOP}", LOOP_ENDS_IPV4[1])).map(drop)
            }
        }
    }

    /// Where the right end is.
    pub(crate) fn far(&self) -> &Namespace {
        &self.far
    }
}

/// One end.
struct Host {
    shell: Shell,
    link: &'static str,
}

impl Host {
    fn settle(&self, link: &Link, others: &[IpAddr], cores: &[u32]) -> Result<(), TestbedError> {
        self.open(cores)?;
        self.shell.line(&format!("ip address add fe80::2/64 dev {} nodad", self.link))?;
        for tester in &link.tester {
            let Some(dut) = link.dut.iter().find(|prefix| prefix.contains(tester)) else { continue };
            self.add(*tester, dut.prefix_len())?;
            // Two addresses of one family have one way out.
            self.shell.line(&format!("ip route replace default via {}", dut.addr()))?;
        }
        others.iter().filter(|address| !link.tester.contains(address)).try_for_each(|&address| {
            let whole = if address.is_ipv4() { 32 } else { 128 };
            self.add(address, whole)
        })
    }

    /// The link speaks.
    fn open(&self, cores: &[u32]) -> Result<(), TestbedError> {
        let name = self.link;
        self.shell.set(&format!("/proc/sys/net/ipv6/conf/{name}/disable_ipv6"), "0")?;
        // What this end receives is the tester's work, not the device's.
        self.shell.set(&receive_queue(name), &mask(cores))?;
        self.shell.line(&format!("ip link set {name} arp on up")).map(drop)
    }

    fn add(&self, address: IpAddr, length: u8) -> Result<(), TestbedError> {
        let no_dad = if address.is_ipv6() { " nodad" } else { "" };
        self.shell.line(&format!("ip address add {address}/{length} dev {}{no_dad}", self.link)).map(drop)
    }
}
