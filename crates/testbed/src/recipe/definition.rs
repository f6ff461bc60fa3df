//! The definition of a device by a recipe.

use super::{
    DeviceSide, Ends, RecipeCommand, RecipeLink, RecipeTraffic, StateSection, Subscribers, System,
    Technology, plain,
};
use ipnet::{IpNet, Ipv6Net};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sixbench_method::isolation::Isolation;
use sixbench_method::record::{LinkFacts, LinkKind, PathFacts};
use std::net::IpAddr;

/// The setup of one device, and the traffic that it understands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Recipe {
    /// A unique name: lower-case letters, digits, `-`.
    pub name: String,
    /// A one-line title for users.
    pub title: String,
    /// The kind of device.
    pub technology: Technology,
    /// The origin of the implementation.
    pub source: String,
    /// The host on which it runs.
    #[serde(default)]
    pub host: DeviceHost,
    /// Additional hosts on which it can run, under the name `NAME@HOST`, if that does not follow from its kind.
    #[serde(default)]
    pub other_hosts: Vec<DeviceHost>,
    /// The operating system that its machine must run.
    #[serde(default)]
    pub system: System,
    /// True if it is untested, which lists and reports mention.
    #[serde(default)]
    pub untested: bool,
    /// True if it polls for frames: its cores are then always busy, and their load does not reveal the bottleneck.
    #[serde(default)]
    pub polling: bool,
    /// True if its process takes frames from the interfaces itself: the kernel has no addresses on them and neither answers nor forwards.
    #[serde(default)]
    pub owns_links: bool,
    /// True for a wire that swaps source and destination of the Ethernet header.
    #[serde(default)]
    pub swaps_hardware_addresses: bool,
    /// Unpackaged programs that are built into the lab's cache from a source provided by the user.
    #[serde(default)]
    pub built: Vec<LabProgram>,
    /// Kernel modules loaded at boot for a device in the lab.
    #[serde(default, deserialize_with = "plain::names")]
    pub modules: Vec<String>,
    /// Kernel modules that this machine's own kernel must have. For a device moved here from the lab, these are the modules loaded there at boot.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "plain::names"
    )]
    pub kernel_modules: Vec<String>,
    /// Programs that must be installed.
    #[serde(default)]
    pub needs: Vec<RequiredProgram>,
    /// Known defects of the implementation. Frames that show them count as received and are reported separately.
    #[serde(default)]
    pub known_defects: Vec<KnownDefect>,
    /// The vectors of requirements that show these defects, by name. Empty where no vector applies to the technology.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "plain::names"
    )]
    pub defect_vectors: Vec<String>,
    /// The left link.
    pub left: RecipeLink,
    /// The right link.
    pub right: RecipeLink,
    /// The traffic that is translated, or simply forwarded.
    pub foreground: RecipeTraffic,
    /// Native IPv6 traffic through the device, if it carries any.
    #[serde(default)]
    pub background: Option<RecipeTraffic>,
    /// The translation of addresses, which is checked against the foreground traffic.
    #[serde(default)]
    pub translation: Option<TranslationSection>,
    /// The state of the device, if it is stateful.
    #[serde(default)]
    pub state: Option<StateSection>,
    /// The subscribers behind its left link, if it serves many.
    #[serde(default)]
    pub subscribers: Option<Subscribers>,
    /// The configuration of the DNS server, if the device is one.
    #[serde(default)]
    pub dns: Option<DnsSection>,
    /// The place where the device can filter, if it can (RFC 2544 section 11.4).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filters: Option<FilterPlace>,
    /// Configuration files.
    #[serde(default, rename = "file")]
    pub files: Vec<ConfigFile>,
    /// Commands that run in the device's namespace before the daemon starts.
    #[serde(default)]
    pub setup: Vec<RecipeCommand>,
    /// The process that is the device, if there is one.
    #[serde(default)]
    pub daemon: Option<RecipeCommand>,
    /// Commands that run after the daemon has started.
    #[serde(default)]
    pub after: Vec<RecipeCommand>,
    /// Succeeds once the device is ready; retried for five seconds.
    #[serde(default)]
    pub ready: Option<RecipeCommand>,
    /// Commands that reset the device during a trial. If there are none, its daemon is restarted.
    #[serde(default)]
    pub reset: Vec<RecipeCommand>,
    /// Commands that undo the setup on a machine that outlives the run, in this order. A namespace is removed with everything in it.
    #[serde(default)]
    pub teardown: Vec<RecipeCommand>,
    /// Prints the version.
    pub version: RecipeCommand,
    /// The recipes of the devices in the row that this one stands for. Empty for a single device.
    #[serde(skip)]
    pub parts: Vec<Recipe>,
}

/// Defects that corrupt individual frames at any load, so that without an exemption no load would be free of loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum KnownDefect {
    /// The device writes a UDP checksum of zero where all ones is required (RFC 768, RFC 8200 section 8.1): one frame in 65,536.
    ZeroUdpChecksum,
    /// The device sends UDP over IPv4 without a checksum. RFC 768 allows that, but ports and payload are unprotected: in every such frame.
    NoUdpChecksum,
}

/// The host on which a device runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DeviceHost {
    /// In a network namespace of this machine, set up by the recipe.
    #[default]
    Netns,
    /// In a virtual machine of the kernel lab, inside such a namespace.
    Lab,
    /// A process of this machine that serves two shared-memory links.
    Memif,
    /// Elsewhere, set up by the user. The recipe only defines which traffic the device understands.
    Manual,
}

impl DeviceHost {
    /// Returns the kind of links that the testbed makes to a device on such a host; unknown where the user makes them.
    pub fn links(self) -> LinkKind {
        match self {
            Self::Netns | Self::Lab => LinkKind::Virtual,
            Self::Memif => LinkKind::SharedMemory,
            Self::Manual => LinkKind::Unknown,
        }
    }
}

/// The place where a device that is set up by this recipe can filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FilterPlace {
    /// Where the kernel forwards datagrams that arrived on one of the two links: nftables' hook `forward`.
    Forward,
}

/// A program that is built into the lab's cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LabProgram {
    /// VPP of FD.io.
    Vpp,
}

/// A program and where to get it: a Debian package or, if there is none, its source. One of the two must be given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RequiredProgram {
    /// The name of the program.
    #[serde(deserialize_with = "plain::name")]
    pub program: String,
    /// The Debian package that contains it.
    #[serde(default, deserialize_with = "plain::optional_name")]
    pub package: Option<String>,
    /// The location of its source, if there is no package.
    #[serde(default)]
    pub source: Option<String>,
}

impl RequiredProgram {
    /// Returns the advice for a user whose machine lacks the program.
    pub fn cure(&self) -> String {
        match (&self.package, &self.source) {
            (Some(package), _) => format!("apt-get install {package}"),
            (None, source) => format!(
                "build it from {} and put it on the PATH",
                source.as_deref().unwrap_or("its source")
            ),
        }
    }
}

/// The translation of addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    rename_all = "kebab-case",
    deny_unknown_fields,
    expecting = "a table with `eam` or `prefix`"
)]
pub struct TranslationSection {
    /// Explicit address mappings (RFC 7757): IPv4 and IPv6 prefix.
    #[serde(default)]
    pub eam: Vec<(String, String)>,
    /// The IPv6 prefix (RFC 6052).
    #[serde(default)]
    pub prefix: Option<String>,
}

/// A DNS server. Its foreground is the query as it appears on either link: on the left from the tester to the server's own address, on the right
/// from the server to the authority, which is the tester again. For an authoritative server, the right link is the one that a DNS64 server would
/// have. It is checked, so that all recipes have the same form, but not used, because the query ends at the server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    rename_all = "kebab-case",
    deny_unknown_fields,
    expecting = "a table with the keys of [dns]"
)]
pub struct DnsSection {
    /// The port on which it listens.
    #[serde(default = "domain")]
    pub port: u16,
    /// The port on which it listens for DNS over TLS (RFC 7858); `None` if it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls_port: Option<u16>,
    /// The prefix (RFC 6052) in which it synthesises addresses. Required for DNS64 servers, and not allowed for others.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub prefix: Option<Ipv6Net>,
}

/// The port called `domain` (RFC 1035 section 4.2).
fn domain() -> u16 {
    53
}

/// A configuration file, written into the device's own directory (`{dir}`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ConfigFile {
    /// The path relative to that directory.
    #[serde(deserialize_with = "plain::path_below")]
    pub path: String,
    /// The host of the file. The default is every host.
    #[serde(default)]
    pub host: Option<DeviceHost>,
    /// The content of the file.
    pub content: String,
}

impl Recipe {
    /// Returns the programs that this recipe needs and this machine lacks.
    pub fn missing(&self) -> Vec<&RequiredProgram> {
        self.needs
            .iter()
            .filter(|need| !crate::exec::has_program(&need.program))
            .collect()
    }

    /// Returns the kernel modules that this machine must have for the device or the devices in the row.
    pub fn kernel_modules(&self) -> Vec<String> {
        let mut modules: Vec<String> = self
            .devices()
            .iter()
            .flat_map(|device| device.kernel_modules.clone())
            .collect();
        modules.sort();
        modules.dedup();
        modules
    }

    /// Returns true if the recipe is for Linux, the operating system of this machine, so that it can run in a namespace.
    pub fn is_for_namespaces(&self) -> bool {
        self.system == System::Linux
    }

    /// Returns true if a run executes commands of the recipe. For a device that the user sets up, these are only the ones about its connections.
    pub fn runs_commands(&self) -> bool {
        let of_state =
            |state: &StateSection| state.steps().next().is_some() || !state.host.is_empty();
        self.devices()
            .iter()
            .any(|part| part.host != DeviceHost::Manual || part.state.iter().any(of_state))
    }

    /// Returns the title, with a warning if the recipe is untested.
    pub fn honest_title(&self) -> String {
        if self.untested {
            format!("{} (untested recipe)", self.title)
        } else {
            self.title.clone()
        }
    }

    /// Returns true if the device can be reset during a trial. Shared-memory links would end with the process that serves them.
    pub fn can_be_reset(&self) -> bool {
        (self.daemon.is_some() && self.host != DeviceHost::Memif) || !self.reset.is_empty()
    }

    /// Returns the addresses outside the ranges that RFC 6815 leaves to tests, each with the reason. All addresses count to which the tester, the device
    /// or, in a row, one of its devices may send.
    pub fn forbidden_destinations(&self) -> Vec<String> {
        let all = std::iter::once(self)
            .chain(&self.parts)
            .flat_map(Self::destinations);
        let forbidden = all.filter_map(|address| Isolation::Unknown.admit(address).err());
        let mut problems: Vec<String> = forbidden.map(|forbidden| forbidden.to_string()).collect();
        problems.sort();
        problems.dedup();
        problems
    }

    /// Returns the addresses of the traffic, those of both links, and the first and last address of each prefix that sources are translated to.
    fn destinations(&self) -> Vec<IpAddr> {
        let traffic = std::iter::once(&self.foreground).chain(&self.background);
        let of_traffic = traffic
            .flat_map(|traffic| [traffic.left, traffic.right])
            .flat_map(|ends| ends.addresses().collect::<Vec<_>>());
        let links = [&self.left, &self.right];
        let of_links = links.into_iter().flat_map(|link| {
            link.dut
                .iter()
                .map(IpNet::addr)
                .chain(link.tester.iter().copied())
        });
        let pools = self
            .state
            .iter()
            .flat_map(|state| &state.pool)
            .map(|pool| pool.ends());
        of_traffic
            .chain(of_links)
            .chain(pools.flat_map(|(first, last)| [first, last]))
            .collect()
    }

    /// Returns the recipes of the devices that this one stands for, from left to right: those of a row, or itself.
    pub fn devices(&self) -> &[Self] {
        if self.parts.is_empty() {
            std::slice::from_ref(self)
        } else {
            &self.parts
        }
    }

    /// Returns true if frames are encapsulated on one of its links.
    pub fn is_tunnel(&self) -> bool {
        self.foreground.left.outer.is_some() || self.foreground.right.outer.is_some()
    }

    /// Returns true if datagrams keep their IP version all the way, possibly encapsulated, so that no device translates headers.
    pub fn keeps_headers(&self) -> bool {
        self.devices().iter().all(|part| {
            part.foreground.left.source.is_ipv4() == part.foreground.right.source.is_ipv4()
        })
    }

    /// Returns the length in octets that encapsulation adds to a datagram.
    pub fn overhead(&self) -> u16 {
        self.foreground
            .left
            .overhead()
            .max(self.foreground.right.overhead())
    }

    /// Returns the facts about the datagrams' path, or `None` if they are obvious from the technology.
    pub fn path_facts(&self) -> Option<PathFacts> {
        let link = |ends: Ends| LinkFacts {
            is_ipv4: ends.source.is_ipv4(),
            overhead: ends.overhead(),
        };
        let facts = PathFacts {
            devices: self.parts.iter().map(|part| part.name.clone()).collect(),
            left: link(self.foreground.left),
            right: link(self.foreground.right),
            subscribers: self.subscribers.as_ref().map(|section| section.count),
            rule: self
                .subscribers
                .iter()
                .flat_map(Subscribers::placeholders)
                .map(|(word, value)| (word.clone(), value))
                .collect(),
        };
        let is_plain = facts.devices.is_empty() && facts.subscribers.is_none() && !self.is_tunnel();
        (!is_plain).then_some(facts)
    }

    /// Returns the source address of the Initiator's foreground frames behind the device.
    pub fn translated_source(&self, state: &StateSection) -> IpAddr {
        match state.initiator {
            DeviceSide::Left => self.foreground.right.source,
            DeviceSide::Right => self.foreground.left.destination,
        }
    }
}
