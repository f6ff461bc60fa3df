//! What a recipe says of a device.

use super::traffic::check_link;
use super::{Dns, Ends, Link, Side, State, Subscribers, System, Traffic, check_name, dns, host};
use crate::dut::row::parts;
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
    pub host: Host,
    /// The operating system that its machine must run.
    #[serde(default)]
    pub system: System,
    /// True if it is untested: lists and reports say so.
    #[serde(default)]
    pub untested: bool,
    /// Kernel modules that a device in the lab is booted with.
    #[serde(default)]
    pub modules: Vec<String>,
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
    /// The translation of addresses; it is checked against the foreground traffic.
    #[serde(default)]
    pub translation: Option<Translation>,
    /// The state of the device, if it is stateful.
    #[serde(default)]
    pub state: Option<State>,
    /// The many subscribers behind its left link, if it serves such.
    #[serde(default)]
    pub subscribers: Option<Subscribers>,
    /// The configuration of the DNS server, if the device is one.
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
    /// Commands that reset the device during a trial; without them its daemon is restarted.
    #[serde(default)]
    pub reset: Vec<Step>,
    /// Commands that undo the set-up on a machine that outlives the run, in this order; a namespace goes with everything in it.
    #[serde(default)]
    pub teardown: Vec<Step>,
    /// Prints the version.
    pub version: Step,
    /// The recipes of the devices in a row that this one stands for; empty for one device.
    #[serde(skip)]
    pub parts: Vec<Recipe>,
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
    /// The customer's side of 464XLAT (RFC 6877): stateless, IPv4 on the left.
    Clat,
    /// CLAT and PLAT together (RFC 6877).
    #[serde(rename = "464xlat")]
    Xlat464,
    /// Mapping of address and port by translation (RFC 7599): border relay, customer edge, or both.
    MapT,
    /// Mapping of address and port by encapsulation (RFC 7597): border relay, customer edge, or both.
    MapE,
    /// Lightweight 4over6 (RFC 7596).
    Lw4o6,
    /// Dual-Stack Lite (RFC 6333).
    DsLite,
    /// Relay or router of 6to4 (RFC 3056).
    #[serde(rename = "6to4")]
    SixToFour,
    /// Border relay of 6rd (RFC 5969).
    #[serde(rename = "6rd")]
    SixRd,
    /// Gives names that have only IPv4 addresses IPv6 ones (RFC 6147).
    Dns64,
    /// Answers for a zone.
    DnsAuthority,
}

impl Technology {
    /// Returns the name of the technology as it is usually written.
    pub fn title(self) -> &'static str {
        match self {
            Self::Ipv4Router => "IPv4 router",
            Self::Ipv6Router => "IPv6 router",
            Self::Siit => "SIIT",
            Self::Nat44 => "stateful NAT44",
            Self::Nat64 => "stateful NAT64",
            Self::Nat66 => "stateful NAT66",
            Self::Nat46 => "stateful NAT46",
            Self::Clat => "464XLAT CLAT",
            Self::Xlat464 => "464XLAT",
            Self::MapT => "MAP-T",
            Self::MapE => "MAP-E",
            Self::Lw4o6 => "lw4o6",
            Self::DsLite => "DS-Lite",
            Self::SixToFour => "6to4",
            Self::SixRd => "6rd",
            Self::Dns64 => "DNS64 server",
            Self::DnsAuthority => "authoritative DNS server",
        }
    }

    /// Returns whether it answers queries, and forwards no frames.
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

/// The host on which a device runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Host {
    /// In a network namespace of this machine, set up by the recipe.
    #[default]
    Netns,
    /// In a virtual machine of the kernel lab, in such a namespace.
    Lab,
    /// Somewhere else, set up by the user: the recipe only says what traffic it understands.
    Manual,
}

/// A program, and where to get it: a Debian package or, where there is none, its source. One of the two must be named.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Need {
    /// The name of the program.
    pub program: String,
    /// The Debian package that has it.
    #[serde(default)]
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
    /// The path, relative to the directory.
    pub path: String,
    /// The content of the file.
    pub content: String,
}

/// A command: words separated by white space, no shell. What stands in braces is filled in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Step {
    /// The command line.
    pub run: String,
}

/// The placeholders that may stand in braces in a step.
const PLACEHOLDERS: [&str; 5] = ["dir", "left", "right", "table-size", "threads"];

/// The additional placeholders of a DNS server.
const OF_SERVERS: [&str; 6] = ["listen", "port", "domain", "zone", "authority", "authority-port"];

impl Recipe {
    /// The programs this recipe needs and this machine lacks.
    pub fn missing(&self) -> Vec<&Need> {
        self.needs.iter().filter(|need| !crate::exec::has_program(&need.program)).collect()
    }

    /// Returns whether the recipe is for Linux, the system of this machine, so that a namespace can be its host.
    pub fn is_for_namespaces(&self) -> bool {
        self.system == System::Linux
    }

    /// Returns the title, with a warning where the recipe is untested.
    pub fn honest_title(&self) -> String {
        if self.untested { format!("{} (untested recipe)", self.title) } else { self.title.clone() }
    }

    /// Returns whether the device can be reset in the middle of a trial.
    pub fn can_be_reset(&self) -> bool {
        self.daemon.is_some() || !self.reset.is_empty()
    }

    /// Destinations outside the ranges RFC 6815 leaves to tests, each with the reason.
    pub fn forbidden_destinations(&self) -> Vec<String> {
        let traffic = std::iter::once(&self.foreground).chain(&self.background);
        let ends = traffic.flat_map(|t| [t.left, t.right]);
        let mut problems: Vec<String> = ends
            .flat_map(|ends| ends.addresses().collect::<Vec<_>>())
            .filter_map(|address| Isolation::Unknown.admit(address).err())
            .map(|forbidden| forbidden.to_string())
            .collect();
        problems.sort();
        problems.dedup();
        problems
    }

    /// Everything that is wrong with the recipe, each in one line.
    pub(super) fn problems(&self) -> Vec<String> {
        let mut problems: Vec<String> =
            check_name(&self.name).map_err(|wrong| format!("name: {wrong}")).err().into_iter().collect();
        for (name, traffic) in [("foreground", Some(&self.foreground)), ("background", self.background.as_ref())] {
            if let Some(traffic) = traffic {
                problems.extend(traffic.problems(name, (&self.left, &self.right)));
            }
        }
        check_link("left", &self.left, &mut problems);
        check_link("right", &self.right, &mut problems);
        self.check_overlap(&mut problems);
        // What a DNS server asks is a query of its own.
        let is_changed = self.translation.is_some() || self.state.is_some() || self.subscribers.is_some();
        let is_translated = is_changed || self.is_tunnel() || self.technology.is_dns();
        if !is_translated && self.foreground.left != self.foreground.right {
            problems.push("foreground: the addresses differ left and right, but there is no [translation]".to_owned());
        }
        if let Some(state) = &self.state {
            problems.extend(state.problems(self.translated_source(state)));
            if state.restart && self.daemon.is_none() {
                problems.push("[state]: `restart` needs a [daemon] that can be started anew".to_owned());
            }
        }
        problems.extend(self.subscribers.iter().flat_map(Subscribers::problems));
        problems.extend(dns::problems(self));
        problems.extend(host::problems(self));
        self.check_steps(&mut problems);
        for need in self.needs.iter().filter(|need| need.package.is_none() && need.source.is_none()) {
            problems.push(format!("needs: where is {} to be had? Name its `package` or its `source`", need.program));
        }
        problems
    }

    /// Returns whether frames are encapsulated on one of its links.
    pub fn is_tunnel(&self) -> bool {
        self.foreground.left.outer.is_some() || self.foreground.right.outer.is_some()
    }

    /// Returns whether datagrams keep their IP version all the way, possibly encapsulated: no device rebuilds a header.
    pub fn keeps_headers(&self) -> bool {
        parts(self).iter().all(|part| part.foreground.left.source.is_ipv4() == part.foreground.right.source.is_ipv4())
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
    pub fn translated_source(&self, state: &State) -> IpAddr {
        match state.initiator {
            Side::Left => self.foreground.right.source,
            Side::Right => self.foreground.left.destination,
        }
    }

    fn check_overlap(&self, problems: &mut Vec<String>) {
        let pairs = self.left.dut.iter().flat_map(|l| self.right.dut.iter().map(move |r| (l, r)));
        for (left, right) in pairs.filter(|(l, r)| l.contains(&r.trunc()) || r.contains(&l.trunc())) {
            problems.push(format!("the prefixes of the links overlap: {left} on the left, {right} on the right"));
        }
    }

    fn check_steps(&self, problems: &mut Vec<String>) {
        let of_rule: Vec<_> = self.subscribers.iter().flat_map(Subscribers::words).collect();
        let of_rule = of_rule.iter().map(|(word, _)| word.as_str());
        let known: Vec<&str> =
            PLACEHOLDERS.into_iter().chain(self.dns.iter().flat_map(|_| OF_SERVERS)).chain(of_rule).collect();
        let single = [&self.daemon, &self.ready];
        let steps = self
            .setup
            .iter()
            .chain(&self.after)
            .chain(&self.reset)
            .chain(&self.teardown)
            .chain(single.into_iter().flatten())
            .chain([&self.version]);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recipe::Library;
    use crate::recipe::built_in::BUILT_IN;
    use std::path::Path;

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
        let files: Vec<&str> = BUILT_IN.iter().map(|(file, _)| file.trim_end_matches(".toml")).collect();
        assert!(files.iter().all(|name| library.get(name).is_some()), "each is named as its file is: {:?}", library.names());
        assert_eq!(library.names().len(), files.len());
        assert!(library.iter().all(|r| r.forbidden_destinations().is_empty()));
    }

    #[test]
    fn a_name_that_is_a_path_is_refused_of_one_device_and_of_a_row() {
        for name in ["../../x", "/abs/x", "..", "", "a\\nb"] {
            let error = error(&siit().replace("name = \"tayga-siit\"", &format!("name = \"{name}\"")));
            assert!(error.contains("name: a recipe's name is made of"), "{error}");
            let mut library = Library::load::<&Path>(&[]).expect("good recipes");
            let row = built_in("linux-ipv4-row.toml").replace("name = \"linux-ipv4-row\"", &format!("name = \"{name}\""));
            let error = library.add_chain("row.toml", &row).expect_err("refused").to_string();
            assert!(error.contains("name: a recipe's name is made of"), "{error}");
        }
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
    fn every_jool_that_translates_from_ipv4_is_known_for_its_checksum_wherever_it_runs() {
        let library = Library::load::<&Path>(&[]).expect("good recipes");
        let everywhere = library.iter().chain(library.elsewhere.values());
        let is_jool = |recipe: &&Recipe| recipe.source.contains("ool") && !recipe.keeps_headers();
        let jools: Vec<&Recipe> = everywhere.filter(is_jool).collect();
        assert!(jools.len() > 8, "{:?}", jools.iter().map(|recipe| &recipe.name).collect::<Vec<_>>());
        for recipe in jools {
            assert_eq!(recipe.known_defects, [KnownDefect::ZeroUdpChecksum], "{}", recipe.name);
        }
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
