//! The plan file: the meaning of its tables and keys.

use crate::defaults::{PlanDefaults, standard_search, standard_trial};
use crate::reader::diagnostic::Diagnostic;
use crate::reader::words::{
    self, any, backend, core, hash_fields, identifier, interrupt_delay, profile, queues, ring_size,
    setting,
};
use crate::reader::{Mistakes, Section, table_of};
use crate::resolved;
use crate::sections::agent::{self, AgentMachine, TesterEnds, read_ends};
use crate::sections::authority;
use crate::sections::dns;
use crate::sections::filters::unfit_filters;
use crate::sections::machines;
use crate::sections::search;
use crate::sections::test::{check_tests, read_reference, read_tests, read_useful_reference};
use crate::sections::vector_load::unfit_loads;
use sixbench_io::{Backend, PortSpec};
use sixbench_method::measures::Keys;
use sixbench_method::plan::{ExportFormat, Plan, Profile, Test};
use sixbench_method::record::SkippedTest;
use sixbench_method::trial::TrialSettings;
use sixbench_method::units;
use sixbench_testbed::existing::OwnAddresses;
use sixbench_testbed::{AuthorityMachine, Library, NicKind, NicSetting, RemoteMachine, SshConfig};
use std::num::NonZeroU32;
use toml::de::DeTable;

/// A plan, and the links on which it runs.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadedPlan {
    /// The plan, with every default filled in.
    pub plan: Plan,
    /// The links on which it runs.
    pub links: Links,
    /// Optional tests that were removed from the plan because their devices are not available here.
    pub left_out: Vec<SkippedTest>,
}

/// The links on which frames are sent and received.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Links {
    /// The left and the right port: two interfaces of this machine, cabled to the DUT, or two ports that are not interfaces. `None` stands for
    /// namespaces and veth, built for the run.
    pub ports: Option<[PortSpec; 2]>,
    /// The machine of one of the two ports, if the tester is on two machines; the port is then an interface of that machine.
    pub agent: Option<AgentMachine>,
    /// The machines between the two ports, from left to right, if the testbed sets them up: one for each device in a row. Empty if the user sets them
    /// up, or if there are no ports.
    pub machines: Vec<RemoteMachine>,
    /// The machine of the authoritative server behind a DNS64 server; `None` if it runs on the tester. If it is set, `left` is cabled to the device and
    /// `right` to that machine.
    pub authority: Option<AuthorityMachine>,
    /// The backend that sends and receives on the interfaces.
    pub io: Backend,
    /// The number of queues of each port; `None` leaves it to the backend, and means one for links built for the run.
    pub queues: Option<NonZeroU32>,
    /// True if the tester's threads poll the interfaces' drivers instead of waiting for interrupts.
    pub busy_poll: bool,
    /// The frequency governor of the cores in use while a device is measured; `None` leaves it unchanged.
    pub governor: Option<String>,
    /// The handling of addresses that the two interfaces have on this machine: refused, or removed for the run and restored.
    pub own_addresses: OwnAddresses,
    /// Settings of the two interfaces while a device is measured, apart from flow control.
    pub nic: Vec<NicSetting>,
    /// The flow control of the two interfaces while a device is measured.
    pub flow_control: FlowControl,
    /// Cores of the tester's threads; if empty, they are chosen automatically.
    pub tester_cores: Vec<u32>,
    /// Cores of a DUT in a namespace; if empty, they are chosen automatically.
    pub dut_cores: Vec<u32>,
}

/// The flow control of the tester's interfaces, by which a device could make the tester send more slowly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FlowControl {
    /// It is turned off, where an interface has it.
    #[default]
    Off,
    /// It is left as it is.
    Kept,
}

impl Links {
    /// Returns all settings that the two interfaces have while a device is measured.
    pub fn interface_settings(&self) -> Vec<NicSetting> {
        let mut settings = self.nic.clone();
        if self.flow_control == FlowControl::Off {
            settings.extend(NicSetting::no_flow_control());
        }
        settings
    }

    /// Returns whether the user sets up the device between two ports.
    pub fn is_set_up_by_hand(&self) -> bool {
        self.ports.is_some() && self.machines.is_empty()
    }

    /// Returns the names of the interfaces of this machine that are ports of the tester, left before right; only one if the other is an agent's.
    pub fn own_interfaces(&self) -> Vec<&str> {
        self.own_ports().filter_map(PortSpec::interface).collect()
    }

    /// Returns the ports of this machine, left before right.
    pub fn own_ports(&self) -> impl Iterator<Item = &PortSpec> {
        let agents = self.agent.as_ref().map(|agent| agent.sends as usize);
        let ports = self.ports.iter().flatten().enumerate();
        ports
            .filter(move |(side, _)| agents != Some(*side))
            .map(|(_, port)| port)
    }

    /// Returns the names of the left and the right port; `None` unless both are interfaces of this machine.
    pub fn interfaces(&self) -> Option<[&str; 2]> {
        let [left, right] = self.ports.as_ref().filter(|_| self.agent.is_none())?;
        Some([left.interface()?, right.interface()?])
    }
}

/// Reads a plan file or a resolved plan. `duts` are the names of the known recipes.
///
/// # Errors
/// All mistakes in the file, each with its place.
pub fn parse(source: &str, duts: &[&str]) -> Result<LoadedPlan, Vec<Diagnostic>> {
    let table = table_of(source)?;
    let mistakes = Mistakes::default();
    let file = Section::new(
        table.get_ref(),
        // A mistake of the whole file is shown at its first octet, if it has one.
        0..source.len().min(1),
        "the plan",
        &mistakes,
    );
    // Reading a plan file consumes the section, which then reports keys that nothing has read.
    let again = file.again();
    let loaded = if resolved::is_resolved(table.get_ref()) {
        read_resolved(&file, source, duts)
    } else {
        read_file(file, duts)
    };
    // If a key could not be read, its default may stand in for the intended value, so the check would be misleading.
    loaded
        .iter()
        .filter(|_| mistakes.are_none())
        .for_each(|loaded| check_sent(&again, &loaded.plan));
    let found = mistakes.into_inner();
    match loaded {
        Some(loaded) if found.is_empty() => Ok(loaded),
        _ => Err(found),
    }
}

/// Reads a plan file or a resolved plan whose devices are in `library`. Does the same as [`parse`], and also marks the tests that send no IPv6 frames or
/// nothing else, which depends on the recipes of their devices.
///
/// # Errors
/// All mistakes in the file, each with its place.
pub fn load(source: &str, library: &Library) -> Result<LoadedPlan, Vec<Diagnostic>> {
    let mut loaded = parse(source, &library.names()).map_err(|mistakes| {
        let of_devices = dns::with_devices_that_do_not_fit(source, library, mistakes);
        [
            of_devices,
            unfit_loads(source, library, Backend::Auto),
            unfit_filters(source, library, links_of(source).is_set_up_by_hand()),
        ]
        .concat()
    })?;
    let unfit = [
        unfit_loads(source, library, loaded.links.io),
        unfit_filters(source, library, loaded.links.is_set_up_by_hand()),
    ]
    .concat();
    if !unfit.is_empty() {
        return Err(unfit);
    }
    for test in &mut loaded.plan.tests {
        let traffic = library.get(&test.dut).map(|recipe| &recipe.foreground);
        let is_ipv4 = traffic.is_some_and(|t| t.left.source.is_ipv4() && t.right.source.is_ipv4());
        test.ipv4_only = is_ipv4 && test.foreground.background_percent() == 0.0;
        test.ipv6_forwarded =
            traffic.is_some_and(|t| t.left.source.is_ipv6() && t.right.source.is_ipv6());
    }
    Ok(loaded)
}

/// Returns the directories of further recipes that a plan names, as written; mistakes are left for [`parse`] to report.
pub fn recipe_directories(source: &str) -> Vec<String> {
    let (table, _) = DeTable::parse_recoverable(source);
    let directories = table
        .get_ref()
        .get("recipes")
        .and_then(|value| value.get_ref().as_array());
    directories
        .into_iter()
        .flatten()
        .filter_map(|item| Some(item.get_ref().as_str()?.to_owned()))
        .collect()
}

/// Returns the links of a plan that has been read before; mistakes and the tests are ignored.
pub fn links_of(source: &str) -> Links {
    let (table, _) = DeTable::parse_recoverable(source);
    let mistakes = Mistakes::default();
    let file = Section::new(table.get_ref(), 0..0, "the plan", &mistakes);
    read_testbed(&file).0
}

/// Reads a resolved plan, and makes the same checks as for a plan file, in case the user has edited it.
fn read_resolved(file: &Section<'_>, source: &str, duts: &[&str]) -> Option<LoadedPlan> {
    let plan = resolved::plan_of(source)
        .map_err(|mistake| file.add(mistake))
        .ok()?;
    if let Some(section) = file.section("search", "[search]") {
        search::check(&section, &plan.search);
    }
    check_tests(file, duts);
    let _ = read_reference(file, &plan.tests);
    Some(LoadedPlan {
        plan,
        links: read_testbed(file).0,
        left_out: Vec::new(),
    })
}

fn read_file(file: Section<'_>, duts: &[&str]) -> Option<LoadedPlan> {
    let name = file.required_text("name", identifier);
    let profile = file.text("profile", profile).unwrap_or(Profile::Smoke);
    let seed = file.number("seed", |t| {
        t.parse()
            .map_err(|_| format!("expected a whole number, not `{t}`"))
    });
    let interleave = file.truth("interleave").unwrap_or(false);
    let exports = file.texts("exports", |word| word.parse::<ExportFormat>());
    // Read before, by `recipe_directories`.
    let _ = file.texts("recipes", words::path);
    let (trial, patience_ns) = file.section("trial", "[trial]").map_or_else(
        || usual_trial(profile),
        |section| read_trial(section, profile),
    );
    let search = file
        .section("search", "[search]")
        .map_or(standard_search(profile), |s| {
            search::read(s, profile, &trial)
        });
    let (links, link_rate) = read_testbed(&file);
    let is_method_given = file
        .section("search", "[search]")
        .is_some_and(|section| section.mentions("method"));
    let machines: Vec<&str> = links.machines.iter().map(RemoteMachine::name).collect();
    let defaults = PlanDefaults {
        profile,
        trial,
        search: &search,
        is_method_given,
        link_rate,
        duts,
        machines: &machines,
    };
    let mut tests = read_tests(&file, &defaults);
    if let Some(tests) = &mut tests {
        fit_to_machines(&file, &links, tests);
    }
    let reference = read_useful_reference(&file, tests.as_deref().unwrap_or_default());
    file.finish();
    // A plan with other durations follows none of the named profiles.
    let profile = if trial == standard_trial(profile) {
        profile
    } else {
        Profile::Custom
    };
    let plan = Plan {
        name: name?,
        profile,
        // Any number would do; with a fixed one, two runs of a plan send the same frames.
        seed: seed.unwrap_or(42),
        trial,
        patience_ns,
        search,
        link_rate,
        interleave,
        reference,
        exports: exports.unwrap_or_default(),
        tests: tests?,
    };
    Some(LoadedPlan {
        plan,
        links,
        left_out: Vec::new(),
    })
}

/// Checks the tests against the other machines of `[testbed]`, and gives those that need one the authority there.
fn fit_to_machines(file: &Section<'_>, links: &Links, tests: &mut [Test]) {
    if links.agent.is_none() && links.authority.is_none() {
        return;
    }
    let Some(section) = file.section("testbed", "[testbed]") else {
        return;
    };
    if links.agent.is_some() {
        agent::check_tests(&section, tests);
    }
    if let Some(machine) = &links.authority {
        authority::assign(&section, machine, tests);
    }
}

fn usual_trial(profile: Profile) -> (TrialSettings, u64) {
    let trial = standard_trial(profile);
    (trial, usual_patience_ns(&trial))
}

/// Returns a patience that is enough for several attempts even if trials are long.
fn usual_patience_ns(trial: &TrialSettings) -> u64 {
    Plan::USUAL_PATIENCE_NS.max(LEAST_ATTEMPTS * trial.duration_ns)
}

/// Returns the settings of trials, and the patience with disturbed trials, nanoseconds.
fn read_trial(section: Section<'_>, profile: Profile) -> (TrialSettings, u64) {
    let standard = standard_trial(profile);
    let time = |key, default| section.value(key, units::duration_ns).unwrap_or(default);
    let trial = TrialSettings {
        duration_ns: time("duration", standard.duration_ns),
        residual_ns: time("residual", standard.residual_ns),
        rest_ns: time("rest", standard.rest_ns),
        frame_timeout_ns: time("frame-timeout", standard.frame_timeout_ns),
        stall_ns: time("stall", standard.stall_ns),
    };
    let patience_ns = time("patience", usual_patience_ns(&trial));
    check_trial(&section, &trial);
    section.finish();
    (trial, patience_ns)
}

/// The number of disturbed trials that the default patience with a point covers, regardless of their duration.
const LEAST_ATTEMPTS: u64 = 5;

fn check_trial(section: &Section<'_>, trial: &TrialSettings) {
    if trial.duration_ns < TrialSettings::SHORTEST_NS {
        section.mistake("duration", "a trial lasts at least 10ms");
    }
    if trial.stall_ns == 0 {
        section.mistake("stall", "the stall bound must be above zero");
    }
}

/// Reports tests with a trial that would send nothing: for a search, at the key that causes it; otherwise at the test.
fn check_sent(file: &Section<'_>, plan: &Plan) {
    for (test, empty) in plan
        .tests
        .iter()
        .filter_map(|test| Some((test, test.empty_trial(plan)?)))
    {
        let search = file
            .section("search", "[search]")
            .filter(|search| empty.is_of_search && search.is_given("minimum"));
        let trial = file
            .section("trial", "[trial]")
            .filter(|trial| empty.is_of_search && trial.is_given("duration"));
        if let Some((section, key)) = search
            .map(|section| (section, "minimum"))
            .or(trial.map(|section| (section, "duration")))
        {
            section.mistake_with_help(
                key,
                empty.to_string(),
                format!("it is a trial of the test {}", test.name),
            );
            // The key is that of all tests, so one report of it is enough.
            return;
        }
        mark_test(file, &test.name, &empty.to_string());
    }
}

/// Reports a mistake at the key of a test that sets its load or its duration, else at the test.
fn mark_test(file: &Section<'_>, name: &str, title: &str) {
    // The names in a series begin with that of the test.
    let is_of = |own: &str| {
        name.strip_prefix(own)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let tests = file.sections("test", "[[test]]");
    let section = tests
        .iter()
        .find(|section| section.text("name", any).is_some_and(|own| is_of(&own)));
    let Some(section) = section else { return };
    let key = ["rate", "rates", "rate-per-client", "duration"]
        .into_iter()
        .find(|key| section.is_given(key));
    section.mistake(key.unwrap_or("measure"), title);
}

fn read_testbed(file: &Section<'_>) -> (Links, Option<u64>) {
    let Some(section) = file.section("testbed", "[testbed]") else {
        return Default::default();
    };
    let config = section.text("ssh-config", words::path).map(SshConfig::new);
    let config = config.as_ref();
    let TesterEnds { ports, agent } = read_ends(&section, config);
    let has_interfaces = ports
        .iter()
        .flatten()
        .filter(|port| port.interface().is_some())
        .count()
        == 2;
    let nic = read_nic(&section, has_interfaces);
    let links = Links {
        machines: machines::read(&section, config, ports.is_some()),
        authority: authority::read(&section, config, has_interfaces),
        ports,
        agent,
        io: section.text("io", backend).unwrap_or_default(),
        queues: section.number("queues", queues),
        busy_poll: section.truth("busy-poll").unwrap_or_default(),
        governor: section.text("governor", setting),
        own_addresses: read_own_addresses(&section, has_interfaces),
        nic,
        flow_control: read_flow_control(&section, has_interfaces),
        tester_cores: cores(&section, "tester-cores"),
        dut_cores: cores(&section, "dut-cores"),
    };
    let link_rate = section.value("link-rate", units::bit_rate);
    section.finish();
    (links, link_rate)
}

/// Reads a list of cores, each named once.
fn cores(section: &Section<'_>, key: &'static str) -> Vec<u32> {
    let cores = section.numbers(key, core).unwrap_or_default();
    let twice = cores
        .iter()
        .enumerate()
        .find(|(index, core)| cores[..*index].contains(core));
    if let Some((_, twice)) = twice {
        section.mistake(key, format!("core {twice} is named twice"));
    }
    cores
}

/// Reads the settings for the two interfaces.
fn read_nic(section: &Section<'_>, has_interfaces: bool) -> Vec<NicSetting> {
    let offloads = [("offloads-on", "on"), ("offloads-off", "off")].map(|(key, value)| {
        let names = section.texts(key, setting).unwrap_or_default();
        names
            .into_iter()
            .map(move |name| NicSetting::new(NicKind::Offload, name, value))
    });
    let rings = [("rx-ring", "rx"), ("tx-ring", "tx")].map(|(key, name)| {
        let size = section.number(key, ring_size);
        size.map(|size| NicSetting::new(NicKind::Ring, name, size.to_string()))
    });
    let fields = section.text("rss-hash", hash_fields);
    let fields = fields.iter().flat_map(|fields| {
        // Drivers have a hash for each IP version, and a translator has both versions.
        ["udp4", "udp6"].map(|flow| NicSetting::new(NicKind::HashFields, flow, fields))
    });
    let settings: Vec<NicSetting> = offloads
        .into_iter()
        .flatten()
        .chain(rings.into_iter().flatten())
        .chain(read_interrupt_delays(section))
        .chain(fields)
        .collect();
    let keys = [
        "offloads-on",
        "offloads-off",
        "rx-ring",
        "tx-ring",
        "rx-usecs",
        "tx-usecs",
        "rss-hash",
    ];
    for key in keys {
        check_interfaces(section, key, has_interfaces);
    }
    settings
}

fn read_interrupt_delays(section: &Section<'_>) -> impl Iterator<Item = NicSetting> {
    let delays = [("rx-usecs", "rx"), ("tx-usecs", "tx")].map(|(key, way)| {
        let delay_us = section.number(key, interrupt_delay);
        delay_us.map(|delay_us| NicSetting::interrupt_delay(way, delay_us))
    });
    delays.into_iter().flatten().flatten()
}

fn read_flow_control(section: &Section<'_>, has_interfaces: bool) -> FlowControl {
    let words = [("off", FlowControl::Off), ("keep", FlowControl::Kept)];
    let wanted = section.text("flow-control", |text| {
        units::word(text, "a setting of flow control", &words)
    });
    check_interfaces(section, "flow-control", has_interfaces);
    wanted.unwrap_or_default()
}

fn read_own_addresses(section: &Section<'_>, has_interfaces: bool) -> OwnAddresses {
    let may_have = section.truth("lend-addresses").unwrap_or_default();
    check_interfaces(section, "lend-addresses", has_interfaces);
    if may_have {
        OwnAddresses::Lent
    } else {
        OwnAddresses::Refused
    }
}

/// Reports a key that applies to interfaces of this machine but is given without any.
fn check_interfaces(section: &Section<'_>, key: &'static str, has_interfaces: bool) {
    if section.is_given(key) && !has_interfaces {
        section.mistake_with_help(
            key,
            format!("`{key}` only applies to interfaces of this machine"),
            "name them as `left` and `right`, or leave it out",
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture_tests::{SMALLEST, mistakes};
    use crate::render;
    use sixbench_method::plan::{Measure, TrafficSettings};
    use sixbench_method::repeat::Repetition;
    use sixbench_method::terms::{Direction, Directions};
    use sixbench_testbed::Remote;

    const DUTS: [&str; 2] = ["linux-ipv4", "tayga-siit"];

    #[test]
    fn the_smallest_plan_gets_every_default() {
        let plan = parse(SMALLEST, &DUTS).expect("a plan").plan;
        assert_eq!(plan.profile, Profile::Smoke);
        assert_eq!(plan.tests[0].frame_sizes.len(), 8);
        assert_eq!(plan.tests[0].traffic, TrafficSettings::RFC_4814);
        assert_eq!(plan.tests[0].measure, Measure::Throughput);
        assert_eq!(plan.tests[0].directions, Directions::Both);
    }

    #[test]
    fn a_test_may_have_a_maximum_of_its_own_above_the_minimum_of_all() {
        let with = |maximum: &str| parse(&format!("{SMALLEST}maximum = \"{maximum}\"\n"), &DUTS);
        let plan = with("30M").expect("a plan").plan;
        assert_eq!(plan.tests[0].search_settings(&plan).maximum.0, 30_000_000);
        let of_all = parse(SMALLEST, &DUTS).expect("a plan").plan;
        assert_eq!(of_all.tests[0].search_settings(&of_all), of_all.search);
        let mistakes = with("1").expect_err("a mistake");
        assert_eq!(
            mistakes[0].title,
            "the maximum rate must be above the minimum of [search]"
        );
    }

    #[test]
    fn the_rfc_profile_has_the_durations_of_the_rfc() {
        let plan = parse(&format!("profile = \"rfc\"\n{SMALLEST}"), &DUTS)
            .expect("a plan")
            .plan;
        assert_eq!(plan.trial.duration_ns, 60_000_000_000);
        assert_eq!(plan.trial.rest_ns, 5_000_000_000);
        assert_eq!(plan.tests[0].repetitions, Repetition::Fixed(20));
    }

    #[test]
    fn durations_of_ones_own_are_no_named_profile() {
        let plan = parse(
            &format!("profile = \"rfc\"\n{SMALLEST}[trial]\nduration = \"5s\"\n"),
            &DUTS,
        );
        assert_eq!(plan.expect("a plan").plan.profile, Profile::Custom);
    }

    #[test]
    fn all_mistakes_are_told_at_once_each_at_its_line() {
        let source = "name = \"two words\"
profil = \"rfc\"

[search]
minimum = \"2M\"
maximum = \"1M\"
width = \"1%\"

[[test]]
name = \"a\"
dut = \"linux-ipv5\"
frame-sizes = [64, 512, 10000]
directions = \"sideways\"

[[test]]
name = \"a\"
dut = \"tayga-siit\"
background = \"110%\"
";
        let mistakes = parse(source, &DUTS).expect_err("mistakes");
        insta::assert_snapshot!(render("plan.toml", source, &mistakes, false));
    }

    #[test]
    fn broken_toml_is_shown_at_its_place() {
        let source = "name = \"p\"\n[[test]\nname = 3\n";
        let mistakes = parse(source, &DUTS).expect_err("mistakes");
        assert_eq!(
            source[..mistakes[0].span.start].lines().count(),
            2,
            "{mistakes:?}"
        );
    }

    #[test]
    fn a_dut_over_ssh_has_interfaces_on_both_machines() {
        let testbed = "[testbed]\nleft = \"e0\"\nright = \"e1\"\nhost = \"ssh:dut\"\ndut-left = \"f0\"\ndut-right = \"f1\"\n";
        let links = parse(&format!("{SMALLEST}{testbed}"), &DUTS)
            .expect("a plan")
            .links;
        assert_eq!(
            links.machines,
            [RemoteMachine::new(
                "dut",
                None,
                ["f0", "f1"].map(str::to_owned)
            )]
        );
        let netns = parse(&format!("{SMALLEST}[testbed]\nhost = \"netns\"\n"), &DUTS)
            .expect("a plan")
            .links;
        assert_eq!(netns, Links::default());
    }

    #[test]
    fn mistakes_of_a_dut_over_ssh_are_told_each_at_its_line() {
        for (name, testbed) in [
            ("half", "host = \"ssh:dut\"\ndut-left = \"f0\"\n"),
            (
                "no_host",
                "left = \"e0\"\nright = \"e1\"\ndut-left = \"f0\"\nssh-config = \"c\"\n",
            ),
            (
                "strange",
                "left = \"e0\"\nright = \"e1\"\ndut-left = \"f0\"\nhost = \"ssh:-oProxyCommand=x\"\n",
            ),
            (
                "twice",
                "left = \"e0\"\nright = \"e1\"\nhost = \"ssh:dut\"\ndut-left = \"f0\"\ndut-right = \"f0\"\n",
            ),
        ] {
            let source = format!("{SMALLEST}[testbed]\n{testbed}");
            let mistakes = parse(&source, &DUTS).expect_err("mistakes");
            insta::assert_snapshot!(
                format!("ssh_{name}"),
                render("plan.toml", &source, &mistakes, false)
            );
        }
    }

    #[test]
    fn control_characters_in_what_people_are_asked_about_are_told_at_their_line() {
        let machine = "right = \"e1\"\nhost = \"ssh:dut\"\ndut-left = \"f0\"\ndut-right = \"f1\"\n";
        for (key, more) in [
            ("left = \"memif:/run/a{}\"", "right = \"memif:/run/b\"\n"),
            (
                "left = \"dpdk:net_pcap0,tx_pcap=/x{}\"",
                "right = \"dpdk:net_null0\"\n",
            ),
            ("ssh-config = \"c{}\"", &format!("left = \"e0\"\n{machine}")),
            (
                "agent-program = \"/x{}\"",
                "left = \"e0\"\nagent = \"ssh:far\"\nagent-right = \"e1\"\n",
            ),
        ] {
            for hostile in ["\\u001b[30m", "\\n", "\\u202e", "\\u2028"] {
                let told = mistakes(
                    &format!(
                        "{SMALLEST}[testbed]\n{}\n{more}",
                        key.replace("{}", hostile)
                    ),
                    &DUTS,
                );
                assert!(
                    told.contains("expected a text without control characters, but `"),
                    "{key}: {told}"
                );
                assert!(
                    told.contains(&format!("plan.toml:{}:", SMALLEST.lines().count() + 2)),
                    "{key}: {told}"
                );
            }
        }
        let told = mistakes(
            &format!("recipes = [\"evil\\u001b[30m\"]\n{SMALLEST}"),
            &DUTS,
        );
        assert!(
            told.contains("plan.toml:1:") && told.contains("`evil\\u001b[30m` has"),
            "{told}"
        );
    }

    #[test]
    fn a_tester_on_two_machines_has_one_end_here_and_one_there() {
        let links = |testbed: &str| {
            parse(&format!("{SMALLEST}[testbed]\n{testbed}"), &DUTS)
                .expect("a plan")
                .links
        };
        let right = links("left = \"e0\"\nagent = \"ssh:far\"\nagent-right = \"f1\"\n");
        let agent = right.agent.as_ref().expect("an agent");
        assert_eq!(
            (
                agent.remote.destination(),
                agent.interface.as_str(),
                agent.program.as_str()
            ),
            ("far", "f1", "sixbench")
        );
        assert_eq!(
            (agent.sends, right.own_interfaces(), right.interfaces()),
            (Direction::Reverse, vec!["e0"], None)
        );
        let left = links(
            "right = \"e1\"\nagent = \"ssh:far\"\nagent-left = \"f0\"\nagent-cores = [2, 3]\nagent-program = \"/opt/sixbench\"\n\
             ssh-config = \"c\"\n",
        );
        let agent = left.agent.as_ref().expect("an agent");
        assert_eq!(
            (agent.sends, left.own_interfaces(), &agent.cores[..]),
            (Direction::Forward, vec!["e1"], &[2, 3][..])
        );
        assert_eq!(
            (
                agent.program.as_str(),
                agent.remote == Remote::new("far", Some(&SshConfig::new("c")))
            ),
            ("/opt/sixbench", true)
        );
    }

    #[test]
    fn mistakes_of_a_tester_on_two_machines_are_told_each_at_its_line() {
        let agent = "agent = \"ssh:far\"\n";
        for (name, testbed, test) in [
            (
                "alone",
                "left = \"e0\"\nright = \"e1\"\nagent-cores = [1]\nagent-program = \"x\"\n"
                    .to_owned(),
                "",
            ),
            (
                "both_here",
                format!("left = \"e0\"\nright = \"e1\"\n{agent}"),
                "",
            ),
            (
                "same_end",
                format!("left = \"e0\"\n{agent}agent-left = \"f0\"\n"),
                "",
            ),
            (
                "strange",
                "left = \"e0\"\nagent = \"far\"\nagent-right = \"f 0\"\nagent-program = \"-x\"\n"
                    .to_owned(),
                "",
            ),
            (
                "refused",
                format!("left = \"e0\"\n{agent}agent-right = \"f1\"\n"),
                "[[test]]\nname = \"rtt\"\ndut = \"linux-ipv4\"\nmeasure = \"response-time\"\nrate-per-client = \"1k\"\n\
                 [[test]]\nname = \"tcp\"\ndut = \"linux-ipv4\"\nmeasure = \"tcp-capacity\"\n\
                 [[test]]\nname = \"states\"\ndut = \"linux-ipv4\"\nmeasure = \"establishment-rate\"\nconnections = \"1k\"\n",
            ),
        ] {
            let source = format!("{SMALLEST}{test}[testbed]\n{testbed}");
            let mistakes = parse(&source, &DUTS).expect_err("mistakes");
            insta::assert_snapshot!(
                format!("agent_{name}"),
                render("plan.toml", &source, &mistakes, false)
            );
        }
    }

    #[test]
    fn settings_of_the_machine_are_read_and_those_of_interfaces_need_some() {
        let keys = "flow-control = \"keep\"\ngovernor = \"performance\"\nlend-addresses = true\nrx-ring = 4096\nrx-usecs = 0\nrss-hash = \"sdfn\"\noffloads-off = [\"rx-gro\", \"tx-udp-segmentation\"]\n";
        let of = |ports: &str| parse(&format!("{SMALLEST}[testbed]\n{ports}{keys}"), &DUTS);
        let links = of("left = \"e0\"\nright = \"e1\"\n").expect("a plan").links;
        assert_eq!(
            (links.governor.as_deref(), links.own_addresses),
            (Some("performance"), OwnAddresses::Lent)
        );
        let expected = [
            (NicKind::Offload, "rx-gro", "off"),
            (NicKind::Offload, "tx-udp-segmentation", "off"),
            (NicKind::Ring, "rx", "4096"),
            (NicKind::Coalescing, "adaptive-rx", "off"),
            (NicKind::Coalescing, "rx-usecs", "0"),
            (NicKind::HashFields, "udp4", "sdfn"),
            (NicKind::HashFields, "udp6", "sdfn"),
        ];
        assert_eq!(
            links.nic,
            expected.map(|(kind, name, value)| NicSetting::new(kind, name, value))
        );
        assert_eq!(
            links.interface_settings(),
            links.nic,
            "flow control is kept"
        );
        let plain = format!("{SMALLEST}[testbed]\nleft = \"e0\"\nright = \"e1\"\n");
        let plain = parse(&plain, &DUTS).expect("a plan").links;
        let off = ["autoneg", "rx", "tx"];
        assert_eq!(
            plain.interface_settings(),
            off.map(|name| NicSetting::new(NicKind::FlowControl, name, "off"))
        );
        for ports in ["", "left = \"memif:/a\"\nright = \"memif:/b\"\n"] {
            let mistakes = of(ports).expect_err("mistakes");
            assert_eq!(mistakes.len(), 6, "{mistakes:?}");
            assert_eq!(
                mistakes[0].title,
                "`offloads-off` only applies to interfaces of this machine"
            );
        }
    }

    #[test]
    fn a_setting_is_one_word_and_a_hash_is_made_of_letters_of_ethtool() {
        let with = |key: &str| {
            parse(
                &format!("{SMALLEST}[testbed]\nleft = \"e0\"\nright = \"e1\"\n{key}\n"),
                &DUTS,
            )
        };
        for (key, title) in [
            (
                "governor = \"performance; reboot\"",
                "`performance; reboot` is not a name of the kernel's: expected letters, digits, `-` and `_`",
            ),
            (
                "offloads-on = [\"-x\"]",
                "`-x` is not a name of the kernel's: expected letters, digits, `-` and `_`",
            ),
            (
                "rss-hash = \"sdx\"",
                "expected letters of `ethtool -N` such as `sdfn`, not `sdx`",
            ),
            (
                "rss-hash = \"\"",
                "expected letters of `ethtool -N` such as `sdfn`, not ``",
            ),
        ] {
            assert_eq!(with(key).expect_err("a mistake")[0].title, title);
        }
    }

    #[test]
    fn a_trial_in_which_nothing_would_be_sent_is_told_at_the_key_that_makes_it_so() {
        let told = |source: &str| {
            render(
                "plan.toml",
                source,
                &parse(source, &DUTS).expect_err("mistakes"),
                false,
            )
        };
        let dns = "name = \"p\"\n[trial]\nduration = \"500ms\"\n[search]\nminimum = 1\nmaximum = \"1k\"\n[[test]]\nname = \"d\"\n\
                   dut = \"linux-ipv4\"\nmeasure = \"dns64\"\n";
        let text = told(dns);
        assert!(
            text.contains("plan.toml:5:")
                && text.contains("a trial of 500ms at 1/s would send nothing, and pass"),
            "{text}"
        );
        assert!(
            text.contains("raise the rate to at least 2/s")
                && text.contains("it is a trial of the test d"),
            "{text}"
        );
        assert!(parse(&dns.replace("minimum = 1", "minimum = 2"), &DUTS).is_ok());
        let own =
            |lines: &str| format!("{SMALLEST}measure = \"pdv\"\nduration = \"10ms\"\n{lines}\n");
        let text = told(&own("rate = 99"));
        assert!(
            text.contains("plan.toml:7:")
                && text.contains("a trial of 10ms at 99/s would send nothing"),
            "{text}"
        );
        assert!(parse(&own("rate = 100"), &DUTS).is_ok());
        let series = "measure = \"response-time\"\nduration = \"10ms\"\nrate-per-client = 50\nsubscribers = [1, 2]\n";
        let text = told(&format!("{SMALLEST}{series}"));
        assert!(
            text.contains("plan.toml:7:") && text.contains("at 50/s") && !text.contains("at 100/s"),
            "{text}"
        );
    }

    #[test]
    fn a_plan_without_tests_is_a_mistake() {
        let mistakes = parse("name = \"p\"\n", &DUTS).expect_err("mistakes");
        assert_eq!(mistakes[0].title, "the plan holds no test");
    }

    #[test]
    fn a_width_may_be_a_rate_and_then_bounds_are_never_further_apart() {
        let width = |keys: &str| {
            let text = format!("{SMALLEST}[search]\nmaximum = \"8M\"\n{keys}\n");
            parse(&text, &DUTS).map(|loaded| loaded.plan.search.width)
        };
        assert_eq!(width("width = \"1k\"").ok(), Some(1000.0 / 8e6));
        assert_eq!(
            width("width = 1000").ok(),
            Some(1000.0 / 8e6),
            "siitperf's e"
        );
        assert_eq!(width("width = \"0.5%\"").ok(), Some(0.005));
        for wrong in ["\"200%\"", "\"5M\"", "\"10\""] {
            assert!(width(&format!("width = {wrong}")).is_err(), "{wrong}");
        }
    }
}
