//! The tester's ends as hosts: for TCP, the kernel's own sockets need addresses, and each end a namespace of its own. Without that the
//! kernel would hand what one end sends to the other, and the device would see nothing.

use crate::namespace::{Namespace, name};
use crate::recipe::{Link, Recipe};
use crate::shell::{Shell, TestbedError};
use crate::topology::{LINKS, Topology, mask, receive_queue};
use std::net::IpAddr;

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
}

/// One end.
struct Host {
    shell: Shell,
    link: &'static str,
}

impl Host {
    fn settle(&self, link: &Link, others: &[IpAddr], cores: &[u32]) -> Result<(), TestbedError> {
        let name = self.link;
        self.shell.set(&format!("/proc/sys/net/ipv6/conf/{name}/disable_ipv6"), "0")?;
        // What this end receives is the tester's work, not the device's.
        self.shell.set(&receive_queue(name), &mask(cores))?;
        self.shell.line(&format!("ip link set {name} arp on up"))?;
        self.shell.line(&format!("ip address add fe80::2/64 dev {name} nodad"))?;
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

    fn add(&self, address: IpAddr, length: u8) -> Result<(), TestbedError> {
        let no_dad = if address.is_ipv6() { " nodad" } else { "" };
        self.shell.line(&format!("ip address add {address}/{length} dev {}{no_dad}", self.link)).map(drop)
    }
}
