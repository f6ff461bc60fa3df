//! What a recipe says of a device.

use super::{DeviceSide, Ends, RecipeCommand, RecipeLink, RecipeTraffic, StateSection, Subscribers, System, Technology, plain};
use ipnet::{IpNet, Ipv6Net};
use serde::{Deserialize, Serialize};
use sixbench_method::isolation::Isolation;
use sixbench_method::record::{LinkFacts, PathFacts};
use std::net::IpAddr;

/// The set-up of one device, and the traffic that it understands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Recipe {
    /// Unique: lower-case letters, digits, `-`.
    pub name: String,
    /// One line for people.
    pub title: String,
    /// The kind of device.
    pub technology: Technology,
    /// The origin of the implementation.
    pub source: String,
    /// The host that it runs on.
    #[serde(default)]
    pub host: DeviceHost,
    /// Hosts that it runs on besides, under the name `NAME@HOST`, where that does not follow from what it is.
    #[serde(default)]
    pub other_hosts: Vec<DeviceHost>,
    /// The operating system that its machine must run.
    #[serde(default)]
    pub system: System,
    /// True if it is untested: lists and reports say so.
    #[serde(default)]
    pub untested: bool,
    /// True if it looks for frames without pause: its cores are busy whatever its load is, and do not show what limits it.
    #[serde(default)]
    pub polling: bool,
    /// True if its process takes frames from the interfaces itself: the kernel has no addresses on them and neither answers nor forwards.
    #[serde(default)]
    pub owns_links: bool,
    /// True of a wire that exchanges source and destination of the Ethernet header.
    #[serde(default)]
    pub swaps_hardware_addresses: bool,
    /// Programs in no package that are built into the lab's cache from a source of the user.
    #[serde(default)]
    pub built: Vec<LabProgram>,
    /// Kernel modules that a device in the lab is booted with.
    #[serde(default, deserialize_with = "plain::names")]
    pub modules: Vec<String>,
    /// Kernel modules that this machine's own kernel must have; of a device that was moved here from the lab, those it is booted with there.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "plain::names")]
    pub kernel_modules: Vec<String>,
    /// Programs that must be installed.
    #[serde(default)]
    pub needs: Vec<Need>,
    /// Defects the implementation is known to have. Frames that show them count as received and are reported apart.
    #[serde(default)]
    pub known_defects: Vec<KnownDefect>,
    /// The left link.
    pub left: RecipeLink,
    /// The right link.
    pub right: RecipeLink,
    /// The traffic that is translated, or simply forwarded.
    pub foreground: RecipeTraffic,
    /// Native IPv6 through the device, if it carries any.
    #[serde(default)]
    pub background: Option<RecipeTraffic>,
    /// The translation of addresses; it is checked against the foreground traffic.
    #[serde(default)]
    pub translation: Option<TranslationSection>,
    /// The state of the device, if it is stateful.
    #[serde(default)]
    pub state: Option<StateSection>,
    /// The many subscribers behind its left link, if it serves such.
    #[serde(default)]
    pub subscribers: Option<Subscribers>,
    /// The configuration of the DNS server, if the device is one.
    #[serde(default)]
    pub dns: Option<DnsSection>,
    /// Configuration files.
    #[serde(default, rename = "file")]
    pub files: Vec<ConfigFile>,
    /// Commands before the daemon starts, in the device's namespace.
    #[serde(default)]
    pub setup: Vec<RecipeCommand>,
    /// The process that is the device, if it is one.
    #[serde(default)]
    pub daemon: Option<RecipeCommand>,
    /// Commands after the daemon has started.
    #[serde(default)]
    pub after: Vec<RecipeCommand>,
    /// Succeeds when the device is ready; tried for five seconds.
    #[serde(default)]
    pub ready: Option<RecipeCommand>,
    /// Commands that reset the device during a trial; without them its daemon is restarted.
    #[serde(default)]
    pub reset: Vec<RecipeCommand>,
    /// Commands that undo the set-up on a machine that outlives the run, in this order; a namespace goes with everything in it.
    #[serde(default)]
    pub teardown: Vec<RecipeCommand>,
    /// Prints the version.
    pub version: RecipeCommand,
    /// The recipes of the devices in a row that this one stands for; empty for one device.
    #[serde(skip)]
    pub parts: Vec<Recipe>,
}

/// Defects that spoil single frames whatever the load, so that without an exemption no load would ever be free of loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KnownDefect {
    /// Writes a UDP checksum of zero where all ones is due (RFC 768, RFC 8200 section 8.1): one frame in 65,536.
    ZeroUdpChecksum,
    /// Sends UDP over IPv4 without a checksum, which RFC 768 allows, but nothing then protects the ports and the payload: every such frame.
    NoUdpChecksum,
}

/// The host on which a device runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DeviceHost {
    /// In a network namespace of this machine, set up by the recipe.
    #[default]
    Netns,
    /// In a virtual machine of the kernel lab, in such a namespace.
    Lab,
    /// A process of this machine at two links in shared memory, of which it is the server.
    Memif,
    /// Somewhere else, set up by the user: the recipe only says what traffic it understands.
    Manual,
}

/// A program that is built into the lab's cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LabProgram {
    /// VPP of FD.io.
    Vpp,
}

/// A program, and where to get it: a Debian package or, where there is none, its source. One of the two must be named.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Need {
    /// The name of the program.
    #[serde(deserialize_with = "plain::name")]
    pub program: String,
    /// The Debian package that has it.
    #[serde(default, deserialize_with = "plain::optional_name")]
    pub package: Option<String>,
    /// The location of its source, if no package has it.
    #[serde(default)]
    pub source: Option<String>,
}

impl Need {
    /// Returns the advice for a user whose machine lacks the program.
    pub fn cure(&self) -> String {
        match (&self.package, &self.source) {
            (Some(package), _) => format!("apt-get install {package}"),
            (None, source) => format!("build it from {} and put it on the PATH", source.as_deref().unwrap_or("its source")),
        }
    }
}

/// The way addresses are translated.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, expecting = "struct Translation")]
pub struct TranslationSection {
    /// Explicit address mappings of RFC 7757: IPv4 and IPv6 prefix.
    #[serde(default)]
    pub eam: Vec<(String, String)>,
    /// The prefix of RFC 6052.
    #[serde(default)]
    pub prefix: Option<String>,
}

/// A server. Its foreground is the query as it looks on either link: on the left from the tester to the server's own address, on the right
/// from the server to the authority, which is the tester again. To an authoritative server the right link is that of a DNS64 server in its
/// place: it is checked, so that all recipes have the same form, but not used, because the query ends at the server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, expecting = "struct Dns")]
pub struct DnsSection {
    /// The port on which it listens.
    #[serde(default = "domain")]
    pub port: u16,
    /// The prefix of RFC 6052 in which it synthesises addresses; of a DNS64 server only, and of every one.
    #[serde(default)]
    pub prefix: Option<Ipv6Net>,
}

/// The port called `domain` (RFC 1035 section 4.2).
fn domain() -> u16 {
    53
}

/// A configuration file, written into the device's own directory (`{dir}`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ConfigFile {
    /// The path, relative to the directory.
    #[serde(deserialize_with = "plain::path_below")]
    pub path: String,
    /// The host for which it is written; without it, for each.
    #[serde(default)]
    pub host: Option<DeviceHost>,
    /// The content of the file.
    pub content: String,
}

impl Recipe {
    /// The programs this recipe needs and this machine lacks.
    pub fn missing(&self) -> Vec<&Need> {
        self.needs.iter().filter(|need| !crate::exec::has_program(&need.program)).collect()
    }

    /// The kernel modules that this machine must have for the device, or for the devices in a row.
    pub fn kernel_modules(&self) -> Vec<String> {
        let mut modules: Vec<String> = self.devices().iter().flat_map(|device| device.kernel_modules.clone()).collect();
        modules.dedup();
        modules
    }

    /// Returns whether the recipe is for Linux, the system of this machine, so that a namespace can be its host.
    pub fn is_for_namespaces(&self) -> bool {
        self.system == System::Linux
    }

    /// Returns whether a run of the device runs commands of the recipe: of one that the user sets up by hand only those about its connections.
    pub fn runs_commands(&self) -> bool {
        let of_state = |state: &StateSection| state.steps().next().is_some() || !state.host.is_empty();
        self.devices().iter().any(|part| part.host != DeviceHost::Manual || part.state.iter().any(of_state))
    }

    /// Returns the title, with a warning where the recipe is untested.
    pub fn honest_title(&self) -> String {
        if self.untested { format!("{} (untested recipe)", self.title) } else { self.title.clone() }
    }

    /// Returns whether the device can be reset in the middle of a trial. Links in shared memory end with the process at their other end.
    pub fn can_be_reset(&self) -> bool {
        (self.daemon.is_some() && self.host != DeviceHost::Memif) || !self.reset.is_empty()
    }

    /// Returns the addresses outside the ranges that RFC 6815 leaves to tests, each with the reason. All addresses count to which the tester, the device
    /// or, in a row, one of its devices may send.
    pub fn forbidden_destinations(&self) -> Vec<String> {
        let all = std::iter::once(self).chain(&self.parts).flat_map(Self::destinations);
        let forbidden = all.filter_map(|address| Isolation::Unknown.admit(address).err());
        let mut problems: Vec<String> = forbidden.map(|forbidden| forbidden.to_string()).collect();
        problems.sort();
        problems.dedup();
        problems
    }

    /// Returns the addresses of the traffic, those of both links, and the first and last address of each prefix that sources are translated to.
    fn destinations(&self) -> Vec<IpAddr> {
        let traffic = std::iter::once(&self.foreground).chain(&self.background);
        let of_traffic =
            traffic.flat_map(|traffic| [traffic.left, traffic.right]).flat_map(|ends| ends.addresses().collect::<Vec<_>>());
        let links = [&self.left, &self.right];
        let of_links = links.into_iter().flat_map(|link| link.dut.iter().map(IpNet::addr).chain(link.tester.iter().copied()));
        let pools = self.state.iter().flat_map(|state| &state.pool).map(|pool| pool.ends());
        of_traffic.chain(of_links).chain(pools.flat_map(|(first, last)| [first, last])).collect()
    }

    /// Returns the recipes of the devices that this one stands for, from left to right: those of a row, or itself.
    pub fn devices(&self) -> &[Self] {
        if self.parts.is_empty() { std::slice::from_ref(self) } else { &self.parts }
    }

    /// Returns whether frames are encapsulated on one of its links.
    pub fn is_tunnel(&self) -> bool {
        self.foreground.left.outer.is_some() || self.foreground.right.outer.is_some()
    }

    /// Returns whether datagrams keep their IP version all the way, possibly encapsulated: no device rebuilds a header.
    pub fn keeps_headers(&self) -> bool {
        self.devices().iter().all(|part| part.foreground.left.source.is_ipv4() == part.foreground.right.source.is_ipv4())
    }

    /// Octets by which encapsulated frames are longer than the datagram's own.
    pub fn overhead(&self) -> u16 {
        self.foreground.left.overhead().max(self.foreground.right.overhead())
    }

    /// Returns the facts on the datagrams' path, or `None` where they are plain from the technology.
    pub fn path_facts(&self) -> Option<PathFacts> {
        let link = |ends: Ends| LinkFacts { is_ipv4: ends.source.is_ipv4(), overhead: ends.overhead() };
        let facts = PathFacts {
            devices: self.parts.iter().map(|part| part.name.clone()).collect(),
            left: link(self.foreground.left),
            right: link(self.foreground.right),
            subscribers: self.subscribers.as_ref().map(|section| section.count),
            rule: self.subscribers.iter().flat_map(Subscribers::words).map(|(word, value)| (word.to_owned(), value)).collect(),
        };
        let is_plain = facts.devices.is_empty() && facts.subscribers.is_none() && !self.is_tunnel();
        (!is_plain).then_some(facts)
    }

    /// Returns the source address that the foreground frames of the Initiator have behind the device.
    pub fn translated_source(&self, state: &StateSection) -> IpAddr {
        match state.initiator {
            DeviceSide::Left => self.foreground.right.source,
            DeviceSide::Right => self.foreground.left.destination,
        }
    }
}
