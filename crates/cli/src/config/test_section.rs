//! The `[[test]]` tables: each a test, or a series of tests that differ in one thing.

use super::defaults::standard_repetitions;
use super::measure_section::read_measure;
use super::reader::Section;
use super::stateful_section::{self, check_combinations, read_stateful};
use super::traffic_section::read_traffic;
use super::units;
use super::words::{count, directions, identifier, known_dut};
use sixbench_method::plan::{Flows, Measure, Profile, SearchSettings, Series, SeriesBy, Test, Traffic, TrialSettings};
use sixbench_method::repeat::Repetition;
use sixbench_method::terms::{Directions, FrameSize, Share};
use std::collections::BTreeSet;

/// What of the rest of the file matters to tests.
pub(super) struct Surroundings<'a> {
    pub(super) profile: Profile,
    pub(super) trial: TrialSettings,
    pub(super) search: &'a SearchSettings,
    pub(super) link_rate: Option<u64>,
    pub(super) duts: &'a [&'a str],
}

/// RFC 8219 section 5.1.1 up to Ethernet's ordinary MTU, as the papers use them: on the IPv4 side each is 20 octets shorter.
const STANDARD_SIZES: [u16; 8] = [84, 128, 256, 512, 768, 1024, 1280, 1518];

/// All tests of a file; `None` where one of them cannot be read.
pub(super) fn read_tests(file: &Section<'_>, around: &Surroundings<'_>) -> Option<Vec<Test>> {
    let sections = file.sections("test", "[[test]]");
    if sections.is_empty() {
        file.mistake_with_help("test", "the plan holds no test", "add at least one [[test]] table");
    }
    let mut names = BTreeSet::new();
    let tests: Vec<Option<Vec<Test>>> = sections.into_iter().map(|s| read_test(s, around, &mut names)).collect();
    let tests: Option<Vec<Vec<Test>>> = tests.into_iter().collect();
    Some(tests?.into_iter().flatten().collect())
}

fn read_test(section: Section<'_>, around: &Surroundings<'_>, names: &mut BTreeSet<String>) -> Option<Vec<Test>> {
    let name = section.required("name", identifier);
    if let Some(name) = name.as_ref().filter(|name| !names.insert((*name).clone())) {
        section.mistake("name", format!("two tests are named `{name}`"));
    }
    let dut = section.required("dut", |text| known_dut(text, around.duts));
    let title = section.value("title", |text| Ok(text.to_owned()));
    let measure = read_measure(&section, around);
    let frame_sizes = section.list("frame-sizes", units::frame_size);
    if section.is_empty_list("frame-sizes") {
        section.mistake("frame-sizes", "at least one frame size is needed");
    }
    let directions = section.value("directions", directions).unwrap_or(Directions::Both);
    let traffic = read_traffic(&section);
    let repetitions = read_repetitions(&section, around.profile);
    let frame_timeout_ns = section.value("frame-timeout", units::duration_ns);
    let expect = section.value("expect", units::rate);
    let state = read_stateful(&section, around, &measure);
    check_combinations(&section, &state, &traffic, &measure);
    let steps = read_steps(&section, state);
    check_flows(&section, &steps, &traffic);
    section.finish();
    let test = Test {
        title: title.or_else(|| name.clone())?,
        name: name?,
        dut: dut?,
        frame_sizes: frame_sizes.unwrap_or_else(|| standard_sizes(&measure)),
        measure,
        directions,
        foreground: Share::ALL,
        traffic,
        stateful: steps.state.stateful,
        repetitions,
        frame_timeout_ns,
        cores: None,
        ipv4_only: false,
        series: None,
        expect,
    };
    Some(steps.into_tests(&test))
}

/// Opening connections costs a DUT the same whatever the size of the frames.
fn standard_sizes(measure: &Measure) -> Vec<FrameSize> {
    let is_of_connections = measure.is_of_connections() || measure.tcp().is_some();
    if is_of_connections { vec![FrameSize::MINIMUM] } else { STANDARD_SIZES.map(FrameSize).to_vec() }
}

/// A number, `"adaptive"`, or the bounds of an adaptive number.
fn read_repetitions(section: &Section<'_>, profile: Profile) -> Repetition {
    if let Some(bounds) = section.table("repetitions", "repetitions") {
        let Repetition::Adaptive { least, most, within } = Repetition::ADAPTIVE else { unreachable!("it is adaptive") };
        let (least, most) = (bounds.value("least", count).unwrap_or(least), bounds.value("most", count).unwrap_or(most));
        let within = bounds.value("within", units::ratio).unwrap_or(within);
        if least < 6 || least > most {
            bounds.mistake("least", "`least` must be 6 (fewer have no 95 % interval) to `most`");
        }
        bounds.finish();
        return Repetition::Adaptive { least, most, within };
    }
    let read = |text: &str| match text {
        "adaptive" => Ok(Repetition::ADAPTIVE),
        text => count(text).map(Repetition::Fixed).map_err(|wrong| format!("{wrong}; or \"adaptive\"")),
    };
    section.value("repetitions", read).unwrap_or_else(|| Repetition::Fixed(standard_repetitions(profile)))
}

/// What may be a list: each item a step of a series.
struct Steps {
    background: Vec<Share>,
    flows: Vec<Flows>,
    cores: Vec<u32>,
    state: stateful_section::Read,
}

fn read_steps(section: &Section<'_>, state: stateful_section::Read) -> Steps {
    let step_ns = section.value("flow-step", units::duration_ns).unwrap_or(0);
    let flows = section.list("flows", flow_count).unwrap_or_default();
    if step_ns > 0 && flows.is_empty() {
        section.mistake("flow-step", "`flow-step` needs `flows`");
    }
    let steps = Steps {
        background: section.list("background", units::background).unwrap_or_default(),
        flows: flows.into_iter().map(|count| Flows { count, step_ns }).collect(),
        cores: section.list("cores", count).unwrap_or_default(),
        state,
    };
    if steps.state.stateful.is_some() && !steps.flows.is_empty() {
        section.mistake("flows", "the flows of a stateful test are its `connections`");
    }
    let lists = [
        ("background", steps.background.len()),
        ("flows", steps.flows.len()),
        ("cores", steps.cores.len()),
        ("connections", steps.state.connections.len()),
        ("table-size", steps.state.table_sizes.len()),
    ];
    let mut long = lists.iter().filter(|(_, length)| *length > 1);
    if let (Some((first, _)), Some((second, _))) = (long.next(), long.next()) {
        section.mistake(second, format!("`{first}` is a list already: a series differs in one thing only"));
    }
    steps
}

/// So many flows must differ in ports or addresses.
fn check_flows(section: &Section<'_>, steps: &Steps, traffic: &Traffic) {
    let Some(most) = steps.flows.iter().map(|flows| u64::from(flows.count)).max() else { return };
    let tuples = traffic.tuples();
    if most > tuples {
        section.mistake("flows", format!("{most} flows cannot be told apart: ports and addresses have {tuples} combinations"));
    }
}

fn flow_count(text: &str) -> Result<u32, String> {
    let flows = text.replace('_', "").parse().ok().filter(|flows| (1..=1_000_000_000).contains(flows));
    flows.ok_or_else(|| format!("expected a number of flows, not `{text}`"))
}

impl Steps {
    /// The test itself where nothing is a list.
    fn into_tests(self, test: &Test) -> Vec<Test> {
        let mut base = test.clone();
        base.foreground = self.background.first().copied().unwrap_or(Share::ALL);
        base.traffic.flows = self.flows.first().copied();
        base.cores = self.cores.first().copied();
        let step = |by, at: f64, short: String, long: String| Test {
            name: format!("{}.{short}", test.name),
            title: format!("{}, {long}", test.title),
            series: Some(Series { name: test.name.clone(), by, at }),
            ..base.clone()
        };
        let of_background = |&foreground: &Share| {
            let percent = foreground.background_percent();
            let test = step(SeriesBy::Background, percent, format!("native{percent}"), format!("{percent} % native"));
            Test { foreground, ..test }
        };
        let of_flows = |&flows: &Flows| {
            let count = flows.count;
            let mut test = step(SeriesBy::Flows, f64::from(count), format!("flows{count}"), plural(count, "flow"));
            test.traffic.flows = Some(flows);
            test
        };
        let of_cores = |&cores: &u32| {
            let test = step(SeriesBy::Cores, f64::from(cores), format!("cores{cores}"), plural(cores, "core"));
            Test { cores: Some(cores), ..test }
        };
        let own_table = self.state.has_own_state_table;
        let of_connections = |&connections: &u64| {
            let long = format!("{connections} connections");
            let mut test = step(SeriesBy::Connections, connections as f64, format!("connections{connections}"), long);
            if let Some(stateful) = &mut test.stateful {
                stateful.connections = connections;
                stateful.state_table = if own_table { stateful.state_table.min(connections) } else { connections };
            }
            test
        };
        let of_table_size = |&size: &u64| {
            let mut test = step(SeriesBy::TableSize, size as f64, format!("table{size}"), format!("a table of {size}"));
            test.stateful.iter_mut().for_each(|stateful| stateful.table_size = Some(size));
            test
        };
        let (connections, sizes) = (&self.state.connections, &self.state.table_sizes);
        if connections.len() > 1 {
            return connections.iter().map(of_connections).collect();
        }
        if sizes.len() > 1 {
            return sizes.iter().map(of_table_size).collect();
        }
        match self {
            Self { background, .. } if background.len() > 1 => background.iter().map(of_background).collect(),
            Self { flows, .. } if flows.len() > 1 => flows.iter().map(of_flows).collect(),
            Self { cores, .. } if cores.len() > 1 => cores.iter().map(of_cores).collect(),
            _ => vec![base],
        }
    }
}

fn plural(count: u32, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}
