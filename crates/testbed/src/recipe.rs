//! Recipes: devices under test as TOML data. A new DUT needs no Rust: `recipes/README.md` tells how to write one.

mod dns;
mod state;

pub use dns::Dns;
pub use state::{HostSwitch, Pool, PoolPorts, Side, State};

use crate::addresses;
use crate::shell::TestbedError;
use ipnet::IpNet;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::Path;

/// The recipes that come with sixbench.
const BUILT_IN: [(&str, &str); 20] = [
    ("bind9-dns64.toml", include_str!("../../../recipes/bind9-dns64.toml")),
    ("iptables-nat44.toml", include_str!("../../../recipes/iptables-nat44.toml")),
    ("knot-authority.toml", include_str!("../../../recipes/knot-authority.toml")),
    ("knotres-dns64.toml", include_str!("../../../recipes/knotres-dns64.toml")),
    ("linux-ipv4.toml", include_str!("../../../recipes/linux-ipv4.toml")),
    ("linux-ipv6.toml", include_str!("../../../recipes/linux-ipv6.toml")),
    ("linux-tbf.toml", include_str!("../../../recipes/linux-tbf.toml")),
    ("map646.toml", include_str!("../../../recipes/map646.toml")),
    ("nft-nat44-pool.toml", include_str!("../../../recipes/nft-nat44-pool.toml")),
    ("nft-nat44-random.toml", include_str!("../../../recipes/nft-nat44-random.toml")),
    ("nft-nat44.toml", include_str!("../../../recipes/nft-nat44.toml")),
    ("nft-nat66.toml", include_str!("../../../recipes/nft-nat66.toml")),
    ("nsd-authority.toml", include_str!("../../../recipes/nsd-authority.toml")),
    ("pdns-dns64.toml", include_str!("../../../recipes/pdns-dns64.toml")),
    ("tayga-nat46.toml", include_str!("../../../recipes/tayga-nat46.toml")),
    ("tayga-nat64.toml", include_str!("../../../recipes/tayga-nat64.toml")),
    ("tayga-siit-46.toml", include_str!("../../../recipes/tayga-siit-46.toml")),
    ("tayga-siit-prefix.toml", include_str!("../../../recipes/tayga-siit-prefix.toml")),
    ("tayga-siit.toml", include_str!("../../../recipes/tayga-siit.toml")),
    ("unbound-dns64.toml", include_str!("../../../recipes/unbound-dns64.toml")),
];

/// How to set up one device, and what traffic it understands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Recipe {
    /// Unique: letters, digits, `-`.
    pub name: String,
    /// One line for people.
    pub title: String,
    /// What kind of device it is.
    pub technology: Technology,
    /// Where the implementation comes from.
    pub source: String,
    /// Where it runs.
    #[serde(default)]
    pub host: Host,
    /// Programs that must be installed.
    #[serde(default)]
    pub needs: Vec<Need>,
    /// Defects the implementation is known to have. Frames that show them count as received and are reported apart.
    #[serde(default)]
    pub known_defects: Vec<KnownDefect>,
    /// The left link.
    pub left: Link,
    /// The right link.
    pub right: Link,
    /// The traffic that is translated, or simply forwarded.
    pub foreground: Traffic,
    /// Native IPv6 through the device, if it carries any.
    #[serde(default)]
    pub background: Option<Traffic>,
    /// How addresses are translated: checked against the foreground traffic.
    #[serde(default)]
    pub translation: Option<Translation>,
    /// What makes the device stateful, if it is.
    #[serde(default)]
    pub state: Option<State>,
    /// What makes it a DNS server, if it is one.
    #[serde(default)]
    pub dns: Option<Dns>,
    /// Configuration files.
    #[serde(default, rename = "file")]
    pub files: Vec<ConfigFile>,
    /// Commands before the daemon starts, in the device's namespace.
    #[serde(default)]
    pub setup: Vec<Step>,
    /// The process that is the device, if it is one.
    #[serde(default)]
    pub daemon: Option<Step>,
    /// Commands after the daemon has started.
    #[serde(default)]
    pub after: Vec<Step>,
    /// Succeeds when the device is ready; tried for five seconds.
    #[serde(default)]
    pub ready: Option<Step>,
    /// Commands that reset the device during a trial; without them its daemon is started anew.
    #[serde(default)]
    pub reset: Vec<Step>,
    /// Prints the version.
    pub version: Step,
}

/// Kinds of devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Technology {
    /// Forwards IPv4.
    Ipv4Router,
    /// Forwards IPv6.
    Ipv6Router,
    /// Stateless IP/ICMP translation (RFC 7915), by explicit maps (RFC 7757) or a prefix (RFC 6052).
    Siit,
    /// Network address and port translation between IPv4 networks (RFC 3022).
    Nat44,
    /// From IPv6 clients to IPv4 servers (RFC 6146).
    Nat64,
    /// Between IPv6 networks, with state.
    Nat66,
    /// From IPv4 clients to IPv6 servers, with state.
    Nat46,
    /// Gives names that have only IPv4 addresses IPv6 ones (RFC 6147).
    Dns64,
    /// Answers for a zone.
    DnsAuthority,
}

impl Technology {
    /// As the field writes it.
    pub fn title(self) -> &'static str {
        match self {
            Self::Ipv4Router => "IPv4 router",
            Self::Ipv6Router => "IPv6 router",
            Self::Siit => "SIIT",
            Self::Nat44 => "stateful NAT44",
            Self::Nat64 => "stateful NAT64",
            Self::Nat66 => "stateful NAT66",
            Self::Nat46 => "stateful NAT46",
            Self::Dns64 => "DNS64 server",
            Self::DnsAuthority => "authoritative DNS server",
        }
    }

    /// Whether it answers queries, and forwards no frames.
    pub fn is_dns(self) -> bool {
        matches!(self, Self::Dns64 | Self::DnsAuthority)
    }
}

/// Defects that spoil single frames whatever the load, so that without an exemption no load would ever be free of loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KnownDefect {
    /// Writes a UDP checksum of zero where all ones is due (RFC 768, RFC 8200 section 8.1): one frame in 65,536.
    ZeroUdpChecksum,
}

/// Where a device runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Host {
    /// In a network namespace of this machine, set up by the recipe.
    #[default]
    Netns,
    /// Somewhere else, set up by somebody else: the recipe only says what traffic it understands.
    Manual,
}

/// A program, and where to get it: a Debian package or, where there is none, its source. One of the two must be named.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Need {
    /// As it is called.
    pub program: String,
    /// The Debian package that has it.
    #[serde(default)]
    pub package: Option<String>,
    /// Where its source is, if no package has it.
    #[serde(default)]
    pub source: Option<String>,
}

impl Need {
    /// What to do when the program is not there.
    pub fn cure(&self) -> String {
        match (&self.package, &self.source) {
            (Some(package), _) => format!("apt-get install {package}"),
            (None, source) => format!("build it from {} and put it on the PATH", source.as_deref().unwrap_or("its source")),
        }
    }
}

/// One link between tester and device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Link {
    /// The device's addresses, with the link's prefix.
    pub dut: Vec<IpNet>,
    /// The tester's addresses: on link, answered for by the tester.
    pub tester: Vec<IpAddr>,
    /// Prefixes the device reaches by way of the tester: what addresses and networks that vary must lie in.
    #[serde(default)]
    pub routes: Vec<IpNet>,
}

/// Traffic, as one datagram from left to right looks on either side. The reverse direction swaps the ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Traffic {
    /// On the left link.
    pub left: Ends,
    /// On the right link.
    pub right: Ends,
    /// By how much the device lowers the hop limit.
    #[serde(default = "one")]
    pub hops: u8,
}

fn one() -> u8 {
    1
}

/// Source and destination of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Ends {
    /// Source.
    pub source: IpAddr,
    /// Destination.
    pub destination: IpAddr,
}

/// How addresses are translated.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Translation {
    /// Explicit address mappings of RFC 7757: IPv4 and IPv6 prefix.
    #[serde(default)]
    pub eam: Vec<(String, String)>,
    /// The prefix of RFC 6052.
    #[serde(default)]
    pub prefix: Option<String>,
}

/// A configuration file, written into the device's own directory (`{dir}`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ConfigFile {
    /// Relative to the directory.
    pub path: String,
    /// What stands in it.
    pub content: String,
}

/// A command: words separated by white space, no shell. What stands in braces is filled in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Step {
    /// The command line.
    pub run: String,
}

/// What may stand in braces in a step.
const PLACEHOLDERS: [&str; 5] = ["dir", "left", "right", "table-size", "threads"];

/// And besides, where the device is a DNS server.
const OF_SERVERS: [&str; 6] = ["listen", "port", "domain", "zone", "authority", "authority-port"];

/// All recipes by name.
#[derive(Clone, Debug, Default)]
pub struct Library(BTreeMap<String, Recipe>);

impl Library {
    /// The built-in recipes and those in `directories`, which may replace built-in ones.
    pub fn load<P: AsRef<Path>>(directories: &[P]) -> Result<Self, TestbedError> {
        let mut library = Self::default();
        for (file, text) in BUILT_IN {
            library.add(file, text)?;
        }
        for directory in directories {
            library.add_directory(directory.as_ref())?;
        }
        Ok(library)
    }

    /// These and the recipes in `directory`, which may replace some.
    pub fn with_directory(mut self, directory: &Path) -> Result<Self, TestbedError> {
        self.add_directory(directory)?;
        Ok(self)
    }

    fn add_directory(&mut self, directory: &Path) -> Result<(), TestbedError> {
        let file_error = |what, path: &Path| {
            let path = path.to_owned();
            move |source| TestbedError::File { what, path, source }
        };
        let entries = std::fs::read_dir(directory).map_err(file_error("read the recipes in", directory))?;
        let mut files: Vec<_> = entries.filter_map(|e| Some(e.ok()?.path())).collect();
        files.retain(|file| file.extension().is_some_and(|e| e == "toml"));
        files.sort();
        for file in files {
            let text = std::fs::read_to_string(&file).map_err(file_error("read", &file))?;
            self.add(&file.display().to_string(), &text)?;
        }
        Ok(())
    }

    fn add(&mut self, file: &str, text: &str) -> Result<(), TestbedError> {
        let recipe: Recipe = toml::from_str(text).map_err(|e| TestbedError::Other(format!("{file}: {e}")))?;
        let problems = recipe.problems();
        if !problems.is_empty() {
            return Err(TestbedError::Other(format!("{file} is no good recipe:\n  {}", problems.join("\n  "))));
        }
        self.0.insert(recipe.name.clone(), recipe);
        Ok(())
    }

    /// The recipe of this name.
    pub fn get(&self, name: &str) -> Option<&Recipe> {
        self.0.get(name)
    }

    /// All recipes, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Recipe> {
        self.0.values()
    }

    /// All names, ascending.
    pub fn names(&self) -> Vec<&str> {
        self.0.keys().map(String::as_str).collect()
    }
}

impl Recipe {
    /// The programs this recipe needs and this machine lacks.
    pub fn missing(&self) -> Vec<&Need> {
        self.needs.iter().filter(|need| !crate::shell::has_program(&need.program)).collect()
    }

    /// Whether the device can be reset in the middle of a trial.
    pub fn can_be_reset(&self) -> bool {
        self.daemon.is_some() || !self.reset.is_empty()
    }

    /// Destinations outside the ranges RFC 6815 leaves to tests, each with the reason.
    pub fn forbidden_destinations(&self) -> Vec<String> {
        let traffic = std::iter::once(&self.foreground).chain(&self.background);
        let ends = traffic.flat_map(|t| [t.left, t.right]);
        let mut problems: Vec<String> = ends
            .flat_map(|ends| [ends.source, ends.destination])
            .filter_map(|address| addresses::check(address).err())
            .collect();
        problems.sort();
        problems.dedup();
        problems
    }

    /// Everything that is wrong with the recipe, each in one line.
    fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        for (name, traffic) in [("foreground", Some(&self.foreground)), ("background", self.background.as_ref())] {
            if let Some(traffic) = traffic {
                self.check_traffic(name, traffic, &mut problems);
            }
        }
        check_link("left", &self.left, &mut problems);
        check_link("right", &self.right, &mut problems);
        self.check_overlap(&mut problems);
        // What a DNS server asks is a query of its own.
        let is_translated = self.translation.is_some() || self.state.is_some() || self.technology.is_dns();
        if !is_translated && self.foreground.left != self.foreground.right {
            problems.push("foreground: the addresses differ left and right, but there is no [translation]".to_owned());
        }
        if let Some(state) = &self.state {
            problems.extend(state.problems(self.translated_source(state)));
            if state.restart && self.daemon.is_none() {
                problems.push("[state]: `restart` needs a [daemon] that can be started anew".to_owned());
            }
        }
        problems.extend(dns::problems(self));
        self.check_steps(&mut problems);
        for need in self.needs.iter().filter(|need| need.package.is_none() && need.source.is_none()) {
            problems.push(format!("needs: where is {} to be had? Name its `package` or its `source`", need.program));
        }
        problems
    }

    /// What the foreground frames of the Initiator have as their source behind the device.
    pub fn translated_source(&self, state: &State) -> IpAddr {
        match state.initiator {
            Side::Left => self.foreground.right.source,
            Side::Right => self.foreground.left.destination,
        }
    }

    fn check_traffic(&self, name: &str, traffic: &Traffic, problems: &mut Vec<String>) {
        for (side, ends) in [("left", traffic.left), ("right", traffic.right)] {
            if ends.source.is_ipv4() != ends.destination.is_ipv4() {
                problems.push(format!(
                    "{name}.{side}: source {} and destination {} are of different families",
                    ends.source, ends.destination
                ));
            }
        }
        if !self.left.tester.contains(&traffic.left.source) {
            problems.push(format!("{name}.left: the source {} is no tester address of [left]", traffic.left.source));
        }
        if !self.right.tester.contains(&traffic.right.destination) {
            let destination = traffic.right.destination;
            problems.push(format!("{name}.right: the destination {destination} is no tester address of [right]"));
        }
        if name == "background" && (traffic.left != traffic.right || traffic.left.source.is_ipv4()) {
            problems.push("background: native IPv6 traffic has the same IPv6 addresses left and right".to_owned());
        }
        if traffic.hops == 0 {
            problems.push(format!("{name}: hops must be at least 1: a router or translator lowers the hop limit"));
        }
    }

    fn check_overlap(&self, problems: &mut Vec<String>) {
        let pairs = self.left.dut.iter().flat_map(|l| self.right.dut.iter().map(move |r| (l, r)));
        for (left, right) in pairs.filter(|(l, r)| l.contains(&r.trunc()) || r.contains(&l.trunc())) {
            problems.push(format!("the prefixes of the links overlap: {left} on the left, {right} on the right"));
        }
    }

    fn check_steps(&self, problems: &mut Vec<String>) {
        let known: Vec<&str> = PLACEHOLDERS.into_iter().chain(self.dns.iter().flat_map(|_| OF_SERVERS)).collect();
        let single = [&self.daemon, &self.ready];
        let steps =
            self.setup.iter().chain(&self.after).chain(&self.reset).chain(single.into_iter().flatten()).chain([&self.version]);
        let steps = steps.chain(self.state.iter().flat_map(State::steps));
        for step in steps {
            if step.run.trim().is_empty() {
                problems.push("a step has an empty `run`".to_owned());
            }
            for name in placeholders(&step.run).filter(|name| !known.contains(name)) {
                let known: Vec<String> = known.iter().map(|name| format!("{{{name}}}")).collect();
                problems.push(format!("`{}`: unknown placeholder {{{name}}} (known: {})", step.run, known.join(", ")));
            }
        }
        for file in self.files.iter().filter(|f| f.path.starts_with('/') || f.path.contains("..")) {
            problems.push(format!("file `{}`: its path must be relative to {{dir}}", file.path));
        }
    }
}

/// Words in braces, unless a `$` makes them a format of the command's own.
fn placeholders(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices('{').filter_map(move |(at, _)| {
        let is_own = text[..at].ends_with('$');
        let end = text[at..].find('}')?;
        (!is_own).then(|| &text[at + 1..at + end])
    })
}

fn check_link(name: &str, link: &Link, problems: &mut Vec<String>) {
    for tester in &link.tester {
        let Some(dut) = link.neighbour_of(*tester) else {
            problems.push(format!("[{name}]: the tester's {tester} lies in no prefix of the dut on that link"));
            continue;
        };
        if dut == *tester {
            problems.push(format!("[{name}]: {tester} belongs to both tester and dut"));
        }
    }
    for route in link.routes.iter().filter(|route| link.gateway_to(route).is_none()) {
        problems.push(format!("[{name}]: no address of the tester is of the family of the route {route}"));
    }
}

impl Link {
    /// The tester's address by way of which the device reaches `route`.
    pub fn gateway_to(&self, route: &IpNet) -> Option<IpAddr> {
        self.tester.iter().copied().find(|tester| tester.is_ipv4() == route.addr().is_ipv4())
    }

    /// Whether frames from the device to `address` come to the tester without its being asked for a hardware address of every one.
    pub fn leads_to(&self, address: IpAddr) -> bool {
        let is_on_link = self.dut.iter().any(|prefix| prefix.contains(&address));
        self.tester.contains(&address) || (!is_on_link && self.routes.iter().any(|route| route.contains(&address)))
    }

    /// The device's address in whose prefix `tester` lies.
    pub fn neighbour_of(&self, tester: IpAddr) -> Option<IpAddr> {
        self.dut.iter().find(|prefix| prefix.contains(&tester)).map(IpNet::addr)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn siit() -> String {
        built_in("tayga-siit.toml")
    }

    fn built_in(name: &str) -> String {
        BUILT_IN.iter().find(|(file, _)| *file == name).expect("a built-in recipe").1.to_owned()
    }

    fn error(text: &str) -> String {
        Library::default().add("r.toml", text).expect_err("an error").to_string()
    }

    #[test]
    fn the_built_in_recipes_are_good_and_send_only_to_test_addresses() {
        let library = Library::load::<&Path>(&[]).expect("good recipes");
        let files = BUILT_IN.map(|(file, _)| file.trim_end_matches(".toml"));
        assert!(files.iter().all(|name| library.get(name).is_some()), "each is named as its file is: {:?}", library.names());
        assert_eq!(library.names().len(), files.len());
        assert!(library.iter().all(|r| r.forbidden_destinations().is_empty()));
    }

    #[test]
    fn every_recipe_in_the_folder_is_built_in() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../recipes");
        let files =
            std::fs::read_dir(folder).expect("recipes").map(|e| e.expect("a file").file_name().into_string().expect("a name"));
        let mut files: Vec<_> = files.filter(|name| name.ends_with(".toml")).collect();
        files.sort();
        assert_eq!(files, BUILT_IN.map(|(file, _)| file));
    }

    #[test]
    fn an_unknown_key_is_shown_at_its_line() {
        let error = error(&siit().replace("title =", "titel ="));
        assert!(error.contains("r.toml: TOML parse error at line"), "{error}");
        assert!(error.contains("titel"), "{error}");
    }

    #[test]
    fn a_program_without_a_package_is_to_be_built_from_its_source() {
        let recipe: Recipe = toml::from_str(&built_in("map646.toml")).expect("a recipe");
        let cure = "build it from https://github.com/keiichishima/map646 and put it on the PATH";
        assert_eq!(recipe.needs[0].cure(), cure);
        let recipe: Recipe = toml::from_str(&siit()).expect("a recipe");
        assert_eq!(recipe.needs[0].cure(), "apt-get install tayga");
        let error = error(&siit().replace(", package = \"tayga\"", ""));
        assert!(error.contains("needs: where is tayga to be had?"), "{error}");
    }

    #[test]
    fn addresses_of_different_families_are_refused() {
        let error = error(&siit().replace("destination = \"198.19.0.2\"", "destination = \"2001:2:0:8000::2\""));
        assert!(error.contains("foreground.right: source 198.18.0.2 and destination 2001:2:0:8000::2"), "{error}");
    }

    #[test]
    fn overlapping_links_and_strange_addresses_are_all_told_at_once() {
        let text = siit().replace("2001:2:0:8000::1/64", "2001:2::9/48").replace("{dir}/tayga.conf -n", "{etc}/tayga.conf -n");
        let error = error(&text);
        assert!(error.contains("the prefixes of the links overlap: 2001:2::1/64 on the left, 2001:2::9/48"), "{error}");
        assert!(error.contains("unknown placeholder {etc}"), "{error}");
    }

    #[test]
    fn a_destination_on_the_internet_is_noticed() {
        let text = siit().replace("2001:2:0:8000", "2a00:1450:4001:800");
        let recipe: Recipe = toml::from_str(&text).expect("a recipe");
        assert!(recipe.forbidden_destinations()[0].contains("RFC 6815"), "{:?}", recipe.forbidden_destinations());
    }
}
