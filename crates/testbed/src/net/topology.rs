//! Namespaces of the tester and of one or more DUTs, joined in a row by veth pairs: every DUT has a `left` and a `right` interface, and the tester
//! has the two ends of the row.
//!
//! The core on which the DUT's work runs decides what is measured. By default, a veth receiver runs in the sender's processor time, so that an
//! overloaded DUT looks like a slow tester. The DUT's interfaces therefore pass their frames to the DUT's own cores (RPS).

use super::interfaces::defer_interrupts;
use super::namespace::{Namespace, name};
use crate::exec::{Shell, TestbedError};
use std::net::Ipv6Addr;

/// The names of the interfaces, the same in both namespaces.
pub const LINKS: [&str; 2] = ["left", "right"];

/// Sysctls of a device below /proc/sys/net, set before its links are created, to apply to each of them: forwarding, but no duplicate address
/// detection or reverse path filters.
pub(crate) const ROUTER_SYSCTLS: [(&str, &str); 6] = [
    ("ipv4/ip_forward", "1"),
    ("ipv6/conf/all/forwarding", "1"),
    ("ipv4/conf/all/rp_filter", "0"),
    ("ipv4/conf/default/rp_filter", "0"),
    ("ipv6/conf/default/accept_dad", "0"),
    ("ipv6/conf/default/router_solicitations", "0"),
];

/// The tester's cores and the DUT's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cores {
    /// The cores of the tester's threads.
    pub tester: Vec<u32>,
    /// The cores of the DUT's softirqs and processes.
    pub dut: Vec<u32>,
}

impl Cores {
    /// The most cores that the tester takes by default. With one queue for each port it has four tasks, to send and to receive in each direction: more
    /// cores would be idle.
    const MOST_OF_TESTER: usize = 4;

    /// Returns the cores that the tester takes of these by default.
    pub fn of_tester(allowed: &[u32]) -> Vec<u32> {
        allowed[..allowed.len().min(Self::MOST_OF_TESTER)].to_vec()
    }

    /// Divides the `allowed` cores: the DUT gets the upper half, at least one. A single core has to serve both.
    pub fn divide(allowed: &[u32]) -> Self {
        let half = allowed.len() / 2;
        match allowed {
            [] => Self {
                tester: vec![],
                dut: vec![],
            },
            [one] => Self {
                tester: vec![*one],
                dut: vec![*one],
            },
            _ => Self {
                tester: Self::of_tester(&allowed[..half]),
                dut: allowed[half..].to_vec(),
            },
        }
    }

    /// Returns the cores of device `index` in a row: an equal number for each or, if there are too few, all for all.
    pub fn of_device(&self, index: usize, devices: usize) -> Self {
        match self.dut.len() / devices.max(1) {
            0 => self.clone(),
            each => Self {
                dut: self.dut[index * each..(index + 1) * each].to_vec(),
                tester: self.tester.clone(),
            },
        }
    }

    /// Returns true if each of this number of devices in a row can have its own cores.
    pub fn are_enough_for(&self, devices: usize) -> bool {
        self.dut.len() >= devices
    }

    /// Returns true if tester and DUT share a core.
    pub fn are_shared(&self) -> bool {
        self.tester.iter().any(|core| self.dut.contains(core))
    }

    /// Returns sentences for the report about the layout of a DUT that is a process with shared-memory links.
    pub fn layout_in_memory(&self) -> Vec<String> {
        let links = "tester and DUT are processes of one kernel, joined by two links in shared memory (memif): no frame passes \
                     the kernel";
        let dut = format!(
            "the DUT's process is pinned to core {}",
            core_words(&self.dut)
        );
        [links.to_owned(), self.tester_words(), dut]
            .into_iter()
            .chain(self.sharing_words())
            .collect()
    }

    fn tester_words(&self) -> String {
        format!(
            "the tester's threads run on core {}",
            core_words(&self.tester)
        )
    }

    fn sharing_words(&self) -> Option<String> {
        self.are_shared().then(|| SHARED_CORE.to_owned())
    }
}

/// The sentence about a layout in which tester and device have no cores of their own.
pub const SHARED_CORE: &str =
    "tester and DUT share a core: the figures show what both can do together";

fn core_words(cores: &[u32]) -> String {
    cores
        .iter()
        .map(u32::to_string)
        .collect::<Vec<_>>()
        .join(", ")
}

/// The settings of a testbed's links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkSettings {
    /// The layer 3 MTU in octets.
    pub mtu: u32,
    /// The number of queues of each end in each direction.
    pub queues: u32,
}

impl LinkSettings {
    /// Returns links with one queue and this layer 3 MTU in octets.
    pub fn of_mtu(mtu: u32) -> Self {
        Self { mtu, queues: 1 }
    }
}

/// A testbed. Dropping it removes everything.
#[derive(Debug)]
pub struct Topology {
    /// The namespaces of the devices, at least one, from left to right.
    duts: Vec<Namespace>,
    tester: Namespace,
    cores: Cores,
    /// True if there is no device between the tester's ends.
    is_wire: bool,
}

impl Topology {
    /// Builds a testbed for this number of devices in a row. The right link of each is the left link of the next (RFC 8219 section 4.2: dual DUT).
    /// `run` distinguishes several testbeds of one process.
    ///
    /// # Errors
    /// If a command of iproute2 fails; what was built is removed.
    pub fn build_chain(
        shell: &Shell,
        run: &str,
        cores: Cores,
        links: LinkSettings,
        devices: usize,
    ) -> Result<Self, TestbedError> {
        shell.transcript().comment(&match devices {
            0 => "the tester's namespace".to_owned(),
            1 => "the tester's namespace and that of the device".to_owned(),
            many => format!("the tester's namespace and those of {many} devices in a row"),
        });
        let topology = Self::of_namespaces(shell, run, cores, devices)?;
        topology.join(shell, links)?;
        for (index, dut) in topology.duts.iter().enumerate() {
            let cores = topology.cores.of_device(index, topology.duts.len());
            for (link, mac) in LINKS.into_iter().zip(dut_macs(index)) {
                open_dut_end(dut, &cores.dut, link, links.queues, &mac)?;
            }
        }
        Ok(topology)
    }

    /// Builds a testbed without a device: the tester's two ports are the ends of one link. The namespace of a device exists, but is empty. The
    /// kernel processes received frames where it would do so on the last link behind a device, on the DUT's cores.
    ///
    /// # Errors
    /// A command fails. Everything done until then is undone.
    pub fn build_wire(
        shell: &Shell,
        run: &str,
        cores: Cores,
        links: LinkSettings,
    ) -> Result<Self, TestbedError> {
        shell.transcript().comment(
            "the tester's namespace, whose two ports are the ends of one link: there is no device",
        );
        let topology = Self {
            is_wire: true,
            ..Self::of_namespaces(shell, run, cores, 1)?
        };
        join(shell, LINKS, [topology.tester.name(); 2], links)?;
        let tester = topology.tester.shell();
        for link in LINKS {
            (0..links.queues).try_for_each(|queue| {
                tester.set(&receive_queue(link, queue), &mask(&topology.cores.dut))
            })?;
        }
        topology.open_tester_ends()?;
        Ok(topology)
    }

    fn of_namespaces(
        shell: &Shell,
        run: &str,
        cores: Cores,
        devices: usize,
    ) -> Result<Self, TestbedError> {
        let tester = Namespace::new(shell, &name(run, "tester"))?;
        let named = (0..devices.max(1)).map(|index| name(run, &dut_role(index)));
        let duts = named
            .map(|name| Namespace::new(shell, &name))
            .collect::<Result<Vec<_>, _>>()?;
        let topology = Self {
            duts,
            tester,
            cores,
            is_wire: false,
        };
        topology.quiet()?;
        Ok(topology)
    }

    /// Makes the tester's ends defer their interrupts in favour of polling threads.
    ///
    /// # Errors
    /// The kernel does not accept the settings.
    pub fn defer_interrupts(&self) -> Result<(), TestbedError> {
        LINKS
            .into_iter()
            .try_for_each(|link| defer_interrupts(&self.tester.shell(), link))
    }

    /// Returns the namespaces of all DUTs, from left to right.
    pub fn duts(&self) -> &[Namespace] {
        &self.duts
    }

    /// Returns the namespace of the tester's ports.
    pub fn tester(&self) -> &Namespace {
        &self.tester
    }

    /// Returns the cores of the tester and of the DUT.
    pub fn cores(&self) -> &Cores {
        &self.cores
    }

    /// Returns sentences for the report about the layout.
    pub fn layout(&self) -> Vec<String> {
        if self.is_wire {
            let wire = "there is no device: the tester's two ports are the ends of one veth pair in its network namespace; offloads \
                        are off";
            let received = format!(
                "received frames are handed to core {} (RPS), where a device would be: the last step, into the tester's ring, runs \
                 there",
                core_words(&self.cores.dut)
            );
            return [wire.to_owned(), self.cores.tester_words(), received]
                .into_iter()
                .chain(self.cores.sharing_words())
                .collect();
        }
        let mut layout = vec![
            match self.duts.len() {
                1 => {
                    "tester and DUT are network namespaces of one kernel, joined by two veth pairs; offloads are off".to_owned()
                }
                devices => format!(
                    "tester and {devices} DUTs are network namespaces of one kernel, joined in a row by veth pairs; offloads are off"
                ),
            },
            self.cores.tester_words(),
            format!(
                "the DUT's interfaces hand received frames to core {} (RPS), to which its processes are also pinned; the last \
                 step, into the tester's ring, runs there as well",
                core_words(&self.cores.dut)
            ),
        ];
        if self.duts.len() > 1 {
            layout.push(if self.cores.are_enough_for(self.duts.len()) {
                "each device in the row has the same number of these cores for itself".to_owned()
            } else {
                "the devices in the row share these cores".to_owned()
            });
        }
        layout.extend(self.cores.sharing_words());
        layout
    }

    fn quiet(&self) -> Result<(), TestbedError> {
        let tester = self.tester.shell();
        tester
            .transcript()
            .comment("DUTs forward; no duplicate address detection, no reverse path filter");
        for dut in self.duts.iter().map(Namespace::shell) {
            ROUTER_SYSCTLS
                .iter()
                .try_for_each(|(key, value)| dut.set(&format!("/proc/sys/net/{key}"), value))?;
        }
        // The tester itself answers for its addresses, so its kernel must not send anything on the links.
        tester.set("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1")
    }

    /// Joins the tester, the devices and again the tester, each with its right neighbour.
    fn join(&self, shell: &Shell, links: LinkSettings) -> Result<(), TestbedError> {
        let [left, right] = LINKS;
        let (first, last) = (&self.duts[0], &self.duts[self.duts.len() - 1]);
        join(
            shell,
            [left, left],
            [self.tester.name(), first.name()],
            links,
        )?;
        for pair in self.duts.windows(2) {
            join(
                shell,
                [right, left],
                [pair[0].name(), pair[1].name()],
                links,
            )?;
        }
        join(
            shell,
            [right, right],
            [self.tester.name(), last.name()],
            links,
        )?;
        self.open_tester_ends()
    }

    fn open_tester_ends(&self) -> Result<(), TestbedError> {
        for link in LINKS {
            self.tester
                .shell()
                .line(&format!("ip link set {link} arp off"))?;
            self.tester
                .shell()
                .line(&format!("ip link set {link} up"))?;
        }
        Ok(())
    }
}

/// Sets up an end of a DUT, with its work on that DUT's cores.
fn open_dut_end(
    dut: &Namespace,
    cores: &[u32],
    link: &str,
    queues: u32,
    mac: &str,
) -> Result<(), TestbedError> {
    let dut = dut.shell();
    dut.line(&format!("ip link set {link} address {mac}"))?;
    (0..queues).try_for_each(|queue| dut.set(&receive_queue(link, queue), &mask(cores)))?;
    dut.line(&format!("ip link set {link} up"))?;
    // Without a link-local address, the kernel sends no solicitations for forwarded frames, and drops a neighbour 8 s after its last message.
    dut.line(&format!(
        "ip address add {}/64 dev {link} nodad",
        link_local(link)
    ))
    .map(drop)
}

/// Leaves the links to a device that takes frames from them itself: this machine's kernel must neither answer nor forward frames for it, and must
/// accept every frame.
pub(crate) fn hand_over(shell: &Shell) -> Result<(), TestbedError> {
    shell
        .transcript()
        .comment("the links belong to the device, so this machine's kernel must not use them");
    shell.set("/proc/sys/net/ipv4/ip_forward", "0")?;
    for link in LINKS {
        shell.set(&format!("/proc/sys/net/ipv6/conf/{link}/disable_ipv6"), "1")?;
        shell.line(&format!("ip address flush dev {link}"))?;
        shell.line(&format!("ip link set {link} promisc on"))?;
    }
    Ok(())
}

/// Returns the link-local address of a device's interface. Two devices on one link have different ones.
pub(crate) fn link_local(link: &str) -> Ipv6Addr {
    Ipv6Addr::new(
        0xfe80,
        0,
        0,
        0,
        0,
        0,
        0,
        if link == LINKS[0] { 1 } else { 3 },
    )
}

fn dut_role(index: usize) -> String {
    if index == 0 {
        "dut".to_owned()
    } else {
        format!("dut{}", index + 1)
    }
}

/// Returns the hardware addresses of a device's interfaces, locally administered and the same in every run.
fn dut_macs(index: usize) -> [String; 2] {
    [1, 2].map(|end| format!("02:73:62:00:{index:02x}:{end:02x}"))
}

/// Creates a link between two namespaces, with a name in each. Offloads are disabled, so that every frame is one that a wire could carry.
pub(crate) fn join(
    shell: &Shell,
    names: [&str; 2],
    namespaces: [&str; 2],
    LinkSettings { mtu, queues }: LinkSettings,
) -> Result<(), TestbedError> {
    let ([link, other_link], [one, other]) = (names, namespaces);
    let many = veth_queues(queues);
    shell.line(&format!(
        "ip link add {link} netns {one}{many} type veth peer name {other_link} netns {other}{many}"
    ))?;
    for (namespace, link) in namespaces.into_iter().zip(names) {
        let inside = shell.within(namespace);
        inside.line(&format!(
            "ethtool -K {link} tx off rx off tso off gso off gro off"
        ))?;
        inside.line(&format!("ip link set {link} mtu {mtu} addrgenmode none"))?;
    }
    Ok(())
}

/// Returns the arguments of `ip link add` for this number of queues at an end of a veth pair: none for one, the default.
pub fn veth_queues(queues: u32) -> String {
    if queues > 1 {
        format!(" numtxqueues {queues} numrxqueues {queues}")
    } else {
        String::new()
    }
}

/// Returns the file that determines the cores on which the kernel processes frames that an interface receives on a queue.
pub(crate) fn receive_queue(link: &str, queue: u32) -> String {
    format!("/sys/class/net/{link}/queues/rx-{queue}/rps_cpus")
}

pub(crate) fn mask(cores: &[u32]) -> String {
    let mut words = vec![0u32; cores.iter().max().map_or(1, |core| *core as usize / 32 + 1)];
    for core in cores {
        words[*core as usize / 32] |= 1 << (core % 32);
    }
    words
        .iter()
        .rev()
        .map(|word| format!("{word:x}"))
        .collect::<Vec<_>>()
        .join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_cores_are_one_each_and_eight_are_four_each() {
        let cores = Cores::divide(&[0, 1]);
        assert_eq!((cores.tester, cores.dut), (vec![0], vec![1]));
        let cores = Cores::divide(&[0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(
            (cores.tester, cores.dut),
            (vec![0, 1, 2, 3], vec![4, 5, 6, 7])
        );
        assert!(Cores::divide(&[3]).are_shared());
    }

    #[test]
    fn devices_in_a_row_have_as_many_cores_each_and_share_what_does_not_suffice() {
        let of = |dut: &[u32], devices| {
            let cores = Cores {
                tester: vec![0],
                dut: dut.to_vec(),
            };
            (0..devices)
                .map(|index| cores.of_device(index, devices).dut)
                .collect::<Vec<_>>()
        };
        assert_eq!(of(&[1, 2, 3, 4], 2), [[1, 2], [3, 4]]);
        assert_eq!(
            of(&[1, 2, 3], 2),
            [[1], [2]],
            "the third would make one of them the stronger"
        );
        assert_eq!(of(&[1], 2), [[1], [1]]);
        assert_eq!(of(&[1, 2], 1), [[1, 2]]);
    }

    #[test]
    fn masks_are_hexadecimal_words_from_the_highest_core_down() {
        assert_eq!(mask(&[1]), "2");
        assert_eq!(mask(&[4, 5, 6, 7]), "f0");
        assert_eq!(mask(&[0, 33]), "2,1");
    }
}
