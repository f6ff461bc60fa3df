//! Two namespaces, tester and DUT, joined by two veth pairs, `left` and `right` on both sides.
//!
//! Where the DUT's work runs decides what is measured: by default a veth's receiver runs on the sender's time, and an overloaded DUT looks
//! like a slow tester. So the DUT's interfaces hand their frames to cores of the DUT's own (RPS).

use crate::namespace::{Namespace, name};
use crate::shell::{Shell, TestbedError};

/// The names of the interfaces, the same in both namespaces.
pub const LINKS: [&str; 2] = ["left", "right"];

/// Of the DUT's interfaces, the same in every run; locally administered.
const DUT_MACS: [&str; 2] = ["02:73:62:00:00:01", "02:73:62:00:00:02"];

/// Which cores do whose work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cores {
    /// The tester's threads.
    pub tester: Vec<u32>,
    /// The DUT: its softirqs and its processes.
    pub dut: Vec<u32>,
}

impl Cores {
    /// Divides the `allowed` cores: the DUT gets the upper half, at least one; a single core must serve both.
    pub fn divide(allowed: &[u32]) -> Self {
        let half = allowed.len() / 2;
        match allowed {
            [] => Self { tester: vec![], dut: vec![] },
            [one] => Self { tester: vec![*one], dut: vec![*one] },
            _ => Self { tester: allowed[..half.min(4)].to_vec(), dut: allowed[half..].to_vec() },
        }
    }

    /// Whether tester and DUT share a core.
    pub fn are_shared(&self) -> bool {
        self.tester.iter().any(|core| self.dut.contains(core))
    }
}

/// The built testbed. Dropping it removes everything.
#[derive(Debug)]
pub struct Topology {
    dut: Namespace,
    tester: Namespace,
    cores: Cores,
}

impl Topology {
    /// Builds it. `run` tells several testbeds of one process apart; `mtu` in octets of layer 3.
    pub fn build(shell: &Shell, run: &str, cores: Cores, mtu: u32) -> Result<Self, TestbedError> {
        shell.transcript().comment("two namespaces, two links");
        let tester = Namespace::new(shell, &name(run, "tester"))?;
        let dut = Namespace::new(shell, &name(run, "dut"))?;
        let topology = Self { dut, tester, cores };
        topology.quiet()?;
        for (link, mac) in LINKS.into_iter().zip(DUT_MACS) {
            topology.join(shell, link, mtu)?;
            topology.open_dut_end(link, mac)?;
        }
        Ok(topology)
    }

    /// The namespace of the DUT.
    pub fn dut(&self) -> &Namespace {
        &self.dut
    }

    /// The namespace of the tester's ports.
    pub fn tester(&self) -> &Namespace {
        &self.tester
    }

    /// Who runs where.
    pub fn cores(&self) -> &Cores {
        &self.cores
    }

    /// How it is laid out, one sentence each, for the report.
    pub fn layout(&self) -> Vec<String> {
        let list = |cores: &[u32]| cores.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
        let mut layout = vec![
            "tester and DUT are network namespaces of one kernel, joined by two veth pairs; offloads are off".to_owned(),
            format!("the tester's threads run on core {}", list(&self.cores.tester)),
            format!(
                "the DUT's interfaces hand received frames to core {} (RPS), where its processes are pinned, too; \
                 the last step, into the tester's ring, is taken there as well",
                list(&self.cores.dut)
            ),
        ];
        if self.cores.are_shared() {
            layout.push("tester and DUT share a core: the figures show what both together can do".to_owned());
        }
        layout
    }

    /// Kernel switches of the DUT before its links exist, so that they hold for each of them.
    fn quiet(&self) -> Result<(), TestbedError> {
        let dut = self.dut.shell();
        dut.transcript().comment("the DUT forwards; no duplicate address detection, no reverse path filter");
        for (key, value) in [
            ("ipv4/ip_forward", "1"),
            ("ipv6/conf/all/forwarding", "1"),
            ("ipv4/conf/all/rp_filter", "0"),
            ("ipv4/conf/default/rp_filter", "0"),
            ("ipv6/conf/default/accept_dad", "0"),
            ("ipv6/conf/default/router_solicitations", "0"),
        ] {
            dut.set(&format!("/proc/sys/net/{key}"), value)?;
        }
        // The tester speaks for itself; its kernel must be silent on the links.
        self.tester.shell().set("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1")
    }

    fn join(&self, shell: &Shell, link: &str, mtu: u32) -> Result<(), TestbedError> {
        join(shell, link, [&self.tester, &self.dut], mtu)?;
        self.tester.shell().line(&format!("ip link set {link} arp off"))?;
        self.tester.shell().line(&format!("ip link set {link} up")).map(drop)
    }

    /// The DUT's end: its work goes to the DUT's cores.
    fn open_dut_end(&self, link: &str, mac: &str) -> Result<(), TestbedError> {
        let dut = self.dut.shell();
        dut.line(&format!("ip link set {link} address {mac}"))?;
        dut.set(&receive_queue(link), &mask(&self.cores.dut))?;
        dut.line(&format!("ip link set {link} up"))?;
        // Without one, the kernel asks nobody on behalf of frames it forwards, and gives a neighbour up 8 s after it was last heard of.
        dut.line(&format!("ip address add fe80::1/64 dev {link} nodad")).map(drop)
    }
}

/// A link, of the same name on both sides, without offloads: every frame is one that a wire could carry.
pub(crate) fn join(shell: &Shell, link: &str, sides: [&Namespace; 2], mtu: u32) -> Result<(), TestbedError> {
    let [one, other] = sides.map(Namespace::name);
    shell.line(&format!("ip link add {link} netns {one} type veth peer name {link} netns {other}"))?;
    for side in sides {
        let inside = side.shell();
        inside.line(&format!("ethtool -K {link} tx off rx off tso off gso off gro off"))?;
        inside.line(&format!("ip link set {link} mtu {mtu} addrgenmode none"))?;
    }
    Ok(())
}

/// Where the kernel is told which cores work on what an interface receives.
pub(crate) fn receive_queue(link: &str) -> String {
    format!("/sys/class/net/{link}/queues/rx-0/rps_cpus")
}

/// Cores as the kernel reads a CPU mask.
pub(crate) fn mask(cores: &[u32]) -> String {
    let mut words = vec![0u32; cores.iter().max().map_or(1, |core| *core as usize / 32 + 1)];
    for core in cores {
        words[*core as usize / 32] |= 1 << (core % 32);
    }
    words.iter().rev().map(|word| format!("{word:x}")).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_cores_are_one_each_and_eight_are_four_each() {
        let cores = Cores::divide(&[0, 1]);
        assert_eq!((cores.tester, cores.dut), (vec![0], vec![1]));
        let cores = Cores::divide(&[0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!((cores.tester, cores.dut), (vec![0, 1, 2, 3], vec![4, 5, 6, 7]));
        assert!(Cores::divide(&[3]).are_shared());
    }

    #[test]
    fn masks_are_hexadecimal_words_from_the_highest_core_down() {
        assert_eq!(mask(&[1]), "2");
        assert_eq!(mask(&[4, 5, 6, 7]), "f0");
        assert_eq!(mask(&[0, 33]), "2,1");
    }
}
