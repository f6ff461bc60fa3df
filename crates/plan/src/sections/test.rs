//! The `[[test]]` tables: each is a test, or a series of tests that differ in one setting.

use crate::defaults::{PlanDefaults, standard_repetitions};
use crate::reader::words::{
    any, count, directions, hash_fields, identifier, known_dut, resolved_identifier, title,
};
use crate::reader::{Section, nearest};
use crate::sections::cores;
use crate::sections::dns;
use crate::sections::expect::{ExpectContext, read_expectations};
use crate::sections::measure::read_measure;
use crate::sections::stateful::{self, check_combinations, read_stateful};
use crate::sections::traffic::read_traffic;
use crate::sections::{broadcasts, bursts, filters};
use sixbench_method::measures::Keys;
use sixbench_method::names::NameError;
use sixbench_method::plan::{
    ConditionedTrials, DnsTest, Flows, Measure, Profile, Series, SeriesBy, SizeMix, Test,
    TrafficSettings,
};
use sixbench_method::repeat::Repetition;
use sixbench_method::terms::bounds::NumberBound;
use sixbench_method::terms::{Directions, FrameRate, FrameSize, LossRatio, Share};
use sixbench_method::units::{self, ValueError, expected, show_ns, word};
use std::collections::BTreeSet;

/// The default frame sizes: those of RFC 8219 section 5.1.1 up to Ethernet's standard MTU, as used in the papers. On the IPv4 side each is 20 octets
/// shorter.
const STANDARD_SIZES: [u16; 8] = [84, 128, 256, 512, 768, 1024, 1280, 1518];

/// The key of the frame sizes.
const SIZES: &str = "frame-sizes";

/// Reads all tests of a file; `None` if one of them cannot be read.
pub(crate) fn read_tests(file: &Section<'_>, defaults: &PlanDefaults<'_>) -> Option<Vec<Test>> {
    let mut names = BTreeSet::new();
    let tests: Vec<Option<Vec<Test>>> = tables(file)
        .into_iter()
        .map(|s| read_test(s, defaults, &mut names))
        .collect();
    let tests: Option<Vec<Vec<Test>>> = tests.into_iter().collect();
    Some(tests?.into_iter().flatten().collect())
}

/// Checks what can still be wrong with the tests of a resolved plan that was read successfully.
pub(crate) fn check_tests(file: &Section<'_>, duts: &[&str]) {
    let mut names = BTreeSet::new();
    for section in tables(file) {
        // Names in a series may be longer than a plan file allows.
        let _ = read_name(&section, resolved_identifier, &mut names);
        let _ = read_dut(&section, duts);
        let _ = read_frame_sizes(&section);
    }
}

/// Reads the name of the reference, which must be one of the tests; without `tests`, which had mistakes, any name is accepted.
pub(crate) fn read_reference(file: &Section<'_>, tests: &[Test]) -> Option<String> {
    let name = file.text("reference", resolved_identifier)?;
    let names: Vec<&str> = tests.iter().map(|test| test.name.as_str()).collect();
    if !names.is_empty() && !names.contains(&name.as_str()) {
        let near = nearest(&name, &names).map(|near| format!("did you mean `{near}`?"));
        let help = near.unwrap_or_else(|| format!("the tests are {}", names.join(", ")));
        file.mistake_with_help("reference", format!("no test is named `{name}`"), help);
    }
    Some(name)
}

/// Reads the name of the reference of a plan file, and reports one that is of no use to its tests. The resolved plan of a part of them may have it alone.
pub(crate) fn read_useful_reference(file: &Section<'_>, tests: &[Test]) -> Option<String> {
    let name = read_reference(file, tests)?;
    let test = tests.iter().find(|test| test.name == name);
    if test.is_some_and(|_| tests.len() == 1) {
        let help = "it is not compared itself: add the tests that it is for";
        file.mistake_with_help("reference", "the reference is the only test", help);
    } else if test.is_some_and(|test| test.optional) {
        let help = "where its test is left out, nothing tells whether the machine changed";
        file.mistake_with_help(
            "reference",
            format!("the reference `{name}` is optional"),
            help,
        );
    }
    Some(name)
}

/// Returns the tables of the tests, and reports a mistake if there are none.
fn tables<'a>(file: &Section<'a>) -> Vec<Section<'a>> {
    let sections = file.sections("test", "[[test]]");
    if sections.is_empty() {
        file.mistake_with_help(
            "test",
            "the plan holds no test",
            "add at least one [[test]] table",
        );
    }
    sections
}

/// Reads the name of a test, which must differ from those of all tests before it.
fn read_name(
    section: &Section<'_>,
    read: fn(&str) -> Result<String, NameError>,
    names: &mut BTreeSet<String>,
) -> Option<String> {
    section
        .required_text("name", read)
        .inspect(|name| add_name(section, name, names))
}

/// Reports a name that another test already has. Two steps of a series have the same name if the list contains a value twice.
fn add_name(section: &Section<'_>, name: &str, names: &mut BTreeSet<String>) {
    if !names.insert(name.to_owned()) {
        section.mistake("name", format!("two tests are named `{name}`"));
    }
}

fn read_dut(section: &Section<'_>, duts: &[&str]) -> Option<String> {
    section
        .required_text("dut", any)
        .and_then(|text| known_dut(section, "dut", text, duts))
}

fn read_frame_sizes(section: &Section<'_>) -> Option<Vec<FrameSize>> {
    if section.is_empty_list(SIZES) {
        section.mistake(SIZES, "at least one frame size is needed");
    }
    section.numbers(SIZES, units::frame_size)
}

/// The frame sizes of a test.
enum PlannedSizes {
    /// Single sizes, each in trials of its own.
    Single(Vec<FrameSize>),
    /// Several sizes in each trial.
    Mixed(SizeMix),
}

/// Reads the frame sizes of a test: numbers, or the text of a mix.
fn read_planned_sizes(section: &Section<'_>, measure: &Measure) -> PlannedSizes {
    if section.has_text_in_list(SIZES) {
        let help = "give the mix alone, frame-sizes = \"imix\", and single sizes or other mixes to tests of their own";
        section.mistake_with_help(SIZES, "a mix of sizes is no item of a list", help);
    }
    if !section.is_text(SIZES) {
        let single = read_frame_sizes(section);
        return PlannedSizes::Single(single.unwrap_or_else(|| standard_sizes(measure)));
    }
    // Vectors have no frame sizes of the plan, which is told elsewhere.
    if measure.family().has_load() && !measure.family().can_mix_sizes() {
        let title = format!("a mix of frame sizes does not apply to {}", measure.name());
        let help = "give single sizes, or leave the key out: only a load of frames can be of several sizes";
        section.mistake_with_help(SIZES, title, help);
    }
    let mix: Option<SizeMix> = section.text(SIZES, str::parse);
    mix.map_or_else(
        || PlannedSizes::Single(standard_sizes(measure)),
        PlannedSizes::Mixed,
    )
}

impl PlannedSizes {
    /// Returns the sizes of the points: of a mix the nominal one.
    fn of_points(&self) -> Vec<FrameSize> {
        match self {
            Self::Single(sizes) => sizes.clone(),
            Self::Mixed(mix) => vec![mix.nominal()],
        }
    }

    fn mix(&self) -> Option<SizeMix> {
        match self {
            Self::Single(_) => None,
            Self::Mixed(mix) => Some(*mix),
        }
    }
}

fn read_test(
    section: Section<'_>,
    defaults: &PlanDefaults<'_>,
    names: &mut BTreeSet<String>,
) -> Option<Vec<Test>> {
    let name = read_name(&section, identifier, names);
    let dut = read_dut(&section, defaults.duts);
    let title = section.text("title", title);
    let measure = read_measure(&section, defaults);
    let sizes = read_planned_sizes(&section, &measure);
    let directions = section
        .text("directions", directions)
        .unwrap_or(Directions::Both);
    let traffic = TrafficSettings {
        size_mix: sizes.mix(),
        ..read_traffic(&section)
    };
    let repetitions = read_repetitions(&section, defaults.profile, &measure);
    let frame_timeout_ns = section.value("frame-timeout", units::duration_ns);
    let maximum = read_maximum(&section, defaults);
    let own_goals = read_goals(&section, defaults, &measure);
    let optional = section.truth("optional").unwrap_or(false);
    let fresh_device = section.truth("fresh-device").unwrap_or(false);
    let dut_rss_hash = section.text("dut-rss-hash", hash_fields);
    let frame_sizes = sizes.of_points();
    let context = ExpectContext {
        defaults,
        measure: &measure,
        sizes: &frame_sizes,
    };
    let expect = read_expectations(&section, &context);
    let goals = own_goals.as_ref().unwrap_or(&defaults.search.goals);
    let steps = read_listed(&section, defaults, &measure, goals, &traffic);
    let highest = maximum.unwrap_or(defaults.search.maximum);
    bursts::check_length(&section, &steps.bursts, &measure, highest, defaults);
    let again = section.again();
    section.finish();
    let test = Test {
        title: title.or_else(|| name.clone())?,
        name: name?,
        dut: dut?,
        frame_sizes,
        measure,
        directions,
        foreground: Share::ALL,
        traffic,
        stateful: steps.state.stateful,
        repetitions,
        frame_timeout_ns,
        maximum,
        own_goals,
        cores: None,
        device_cores: Default::default(),
        ipv4_only: false,
        ipv6_forwarded: false,
        dut_rss_hash,
        filters: 0,
        optional,
        fresh_device,
        series: None,
        expect,
    };
    let tests = steps.into_tests(&test);
    for step in tests.iter().filter(|test| test.series.is_some()) {
        add_name(&again, &step.name, names);
    }
    Some(tests)
}

/// Reads the settings of a test that may be lists.
fn read_listed(
    section: &Section<'_>,
    defaults: &PlanDefaults<'_>,
    measure: &Measure,
    goals: &[LossRatio],
    traffic: &TrafficSettings,
) -> ListedSettings {
    let state = read_stateful(section, defaults, measure, goals);
    check_combinations(section, &state, traffic, measure);
    let dns = dns::read_steps(section, measure);
    let steps = read_steps(section, measure, state, dns, defaults);
    check_flows(section, &steps, traffic);
    check_conditions(section, &steps, traffic, measure);
    if let Some(ramp_ns) = traffic.ramp_ns {
        check_ramp(section, &steps, measure, ramp_ns, defaults);
    }
    steps
}

/// Reports conditions of RFC 2544 section 11, and bursts, that trials of the test cannot have.
fn check_conditions(
    section: &Section<'_>,
    steps: &ListedSettings,
    traffic: &TrafficSettings,
    measure: &Measure,
) {
    let traffic = TrafficSettings {
        flows: steps.flows.first().copied(),
        subscribers: steps.subscribers.first().copied(),
        ..*traffic
    };
    let background = steps
        .background
        .iter()
        .find(|foreground| **foreground != Share::ALL);
    let trials = ConditionedTrials {
        measure,
        stateful: steps.state.stateful.as_ref(),
        foreground: background.copied().unwrap_or(Share::ALL),
        traffic: &traffic,
    };
    filters::check_filters(section, &steps.filters, &trials);
    broadcasts::check_broadcasts(section, &steps.broadcast, &trials);
    bursts::check_bursts(section, &steps.bursts, &trials);
}

/// Reads the highest rate of a test that sets its own.
fn read_maximum(section: &Section<'_>, defaults: &PlanDefaults<'_>) -> Option<FrameRate> {
    let maximum = section.value("maximum", units::rate)?;
    if maximum <= defaults.search.minimum {
        section.mistake(
            "maximum",
            "the maximum rate must be above the minimum of [search]",
        );
    }
    Some(maximum)
}

/// Reads the loss goals of a test that sets its own.
fn read_goals(
    section: &Section<'_>,
    defaults: &PlanDefaults<'_>,
    measure: &Measure,
) -> Option<Vec<LossRatio>> {
    const KEY: &str = "loss-goals";
    let goals = section.list(KEY, units::loss)?;
    let takes_several =
        defaults.search.method.info().takes_several_goals || !defaults.is_method_given;
    if !measure.is_searched_rate() {
        section.mistake(
            KEY,
            format!(
                "{} searches for no rate, so it has no loss goals",
                measure.name()
            ),
        );
    } else if goals.is_empty() {
        section.mistake(KEY, "at least one loss goal is needed");
    } else if goals.len() > 1 && !takes_several {
        let help = "use method = \"mlrsearch\" in [search] for several goals in one search";
        section.mistake_with_help(
            KEY,
            format!(
                "a {} has one loss goal",
                defaults.search.method.info().title
            ),
            help,
        );
    }
    Some(goals)
}

/// Returns the frame sizes of a test that sets none. Opening connections costs a DUT the same for any frame size, and the size of queries is fixed, so
/// one size is enough.
fn standard_sizes(measure: &Measure) -> Vec<FrameSize> {
    if measure.family().depends_on_frame_size() {
        STANDARD_SIZES.map(FrameSize).to_vec()
    } else {
        vec![FrameSize::MINIMUM]
    }
}

/// Reads the repetitions: a number, `"adaptive"`, or the bounds of an adaptive number.
fn read_repetitions(section: &Section<'_>, profile: Profile, measure: &Measure) -> Repetition {
    if !measure.family().has_load() {
        return Repetition::Fixed(measure.info().repetitions);
    }
    if let Some(bounds) = section.table("repetitions", "repetitions") {
        let Repetition::Adaptive {
            least,
            most,
            within,
        } = Repetition::ADAPTIVE
        else {
            unreachable!("it is adaptive")
        };
        let (least, most) = (
            bounds
                .number("least", |text| count(text, Repetition::NUMBER))
                .unwrap_or(least),
            bounds
                .number("most", |text| count(text, Repetition::NUMBER))
                .unwrap_or(most),
        );
        let within = bounds.value("within", units::share).unwrap_or(within);
        if !Repetition::LEAST_ADAPTIVE.contains(f64::from(least)) || least > most {
            bounds.mistake(
                "least",
                "`least` must be 6 (fewer have no 95 % interval) to `most`",
            );
        }
        bounds.finish();
        return Repetition::Adaptive {
            least,
            most,
            within,
        };
    }
    let repetitions = if section.is_text("repetitions") {
        section.text("repetitions", |text| {
            word(
                text,
                "a number without quotes, or",
                &[("adaptive", Repetition::ADAPTIVE)],
            )
        })
    } else {
        section
            .number("repetitions", |text| count(text, Repetition::NUMBER))
            .map(Repetition::Fixed)
    };
    repetitions.unwrap_or_else(|| Repetition::Fixed(standard_repetitions(profile)))
}

struct ListedSettings {
    background: Vec<Share>,
    flows: Vec<Flows>,
    subscribers: Vec<u32>,
    cores: cores::CoreSteps,
    filters: Vec<u32>,
    broadcast: Vec<broadcasts::BroadcastShare>,
    /// The frames of a burst.
    bursts: Vec<u32>,
    state: stateful::StatefulSection,
    dns: dns::DnsSection,
}

fn read_steps(
    section: &Section<'_>,
    measure: &Measure,
    state: stateful::StatefulSection,
    dns: dns::DnsSection,
    defaults: &PlanDefaults<'_>,
) -> ListedSettings {
    let step_ns = section.value("flow-step", units::duration_ns).unwrap_or(0);
    let flows = section.numbers("flows", flow_count).unwrap_or_default();
    if step_ns > 0 && flows.is_empty() {
        section.mistake("flow-step", "`flow-step` needs `flows`");
    }
    let steps = ListedSettings {
        background: section
            .list("background", units::background)
            .unwrap_or_default(),
        flows: flows
            .into_iter()
            .map(|count| Flows { count, step_ns })
            .collect(),
        subscribers: section
            .numbers("subscribers", flow_count)
            .unwrap_or_default(),
        cores: cores::read(section, defaults.machines, defaults.duts),
        filters: filters::read_filters(section),
        broadcast: broadcasts::read_broadcasts(section),
        bursts: bursts::read_bursts(section, measure),
        state,
        dns,
    };
    if steps.state.stateful.is_some() && !steps.flows.is_empty() {
        section.mistake(
            "flows",
            "the flows of a stateful test are its `connections`",
        );
    }
    let lists = [
        ("background", steps.background.len()),
        ("flows", steps.flows.len()),
        ("subscribers", steps.subscribers.len()),
        ("cores", steps.cores.longest()),
        ("filters", steps.filters.len()),
        ("broadcast", steps.broadcast.len()),
        ("burst", steps.bursts.len()),
        ("connections", steps.state.connections.len()),
        ("table-size", steps.state.table_sizes.len()),
        // Only these two may both be lists: they form the grid of RFC 8219 section 9.2.
        steps.dns.longest(),
    ];
    let mut long = lists.iter().filter(|(_, length)| *length > 1);
    if let (Some((first, _)), Some((second, _))) = (long.next(), long.next()) {
        section.mistake(
            second,
            format!("`{first}` is a list already: a series differs in one thing only"),
        );
    }
    steps
}

/// Reports a number of flows greater than that of the combinations of ports and addresses.
fn check_flows(section: &Section<'_>, steps: &ListedSettings, traffic: &TrafficSettings) {
    let Some(most) = steps.flows.iter().map(|flows| u64::from(flows.count)).max() else {
        return;
    };
    let tuples = traffic.tuples();
    if most > tuples {
        section.mistake(
            "flows",
            format!(
                "{most} flows cannot be told apart: ports and addresses have {tuples} combinations"
            ),
        );
    }
}

/// Reports a ramp that the trials of the test cannot have.
fn check_ramp(
    section: &Section<'_>,
    steps: &ListedSettings,
    measure: &Measure,
    ramp_ns: u64,
    defaults: &PlanDefaults<'_>,
) {
    let least_ns = TrafficSettings::SHORTEST_RAMP_NS;
    let most_ns = defaults.trial.duration_ns;
    let is_held = measure.has_held_load();
    let (title, help) = if !is_held {
        (
            format!("`ramp` does not apply to {}", measure.name()),
            "leave it out: only a load of frames that is held from the first to the last frame can be preceded by frames that count apart",
        )
    } else if steps.state.stateful.is_some() {
        (
            "`ramp` does not apply to a stateful test".to_owned(),
            "leave it out: phase 1 opens the connections before the frames of phase 2 are counted",
        )
    } else if steps.flows.iter().any(|flows| flows.step_ns > 0) {
        (
            "`ramp` contradicts `flow-step`".to_owned(),
            "leave one of them out: with `flow-step`, flows start within the trial, and their first frames count (RFC 8219 section 10.2.2)",
        )
    } else if !(least_ns..=most_ns).contains(&ramp_ns) {
        let [least, most] = [least_ns, most_ns].map(show_ns);
        (
            format!("expected a ramp of {least} to {most}, the `duration` of a trial"),
            "before shorter trials of a search it is as long",
        )
    } else {
        return;
    };
    section.mistake_with_help("ramp", title, help);
}

fn flow_count(text: &str) -> Result<u32, ValueError> {
    let flows = text
        .replace('_', "")
        .parse()
        .ok()
        .filter(|flows: &u32| NumberBound::COUNT.contains(f64::from(*flows)));
    flows.ok_or_else(|| expected("a number of flows", text))
}

impl ListedSettings {
    /// Returns one test for each step of the series, or a single test if nothing is a list.
    fn into_tests(self, test: &Test) -> Vec<Test> {
        if self.dns.cached.len() > 1 && self.dns.with_aaaa.len() > 1 {
            return self.grid(test);
        }
        let mut base = test.clone();
        base.foreground = self.background.first().copied().unwrap_or(Share::ALL);
        base.traffic.flows = self.flows.first().copied();
        base.traffic.subscribers = self.subscribers.first().copied();
        self.cores.set_first(&mut base);
        base.traffic.broadcast_every = self.broadcast.first().and_then(|share| share.every);
        base.traffic.burst = self
            .bursts
            .first()
            .and_then(|frames| bursts::burst_of(*frames));
        base.filters = self.filters.first().copied().unwrap_or(0);
        self.dns.set_first(&mut base.measure);
        let series = [
            self.of_background(),
            of_counts(
                SeriesBy::Flows,
                "flow",
                self.flows.iter().map(|flows| flows.count),
                |test, count| {
                    test.traffic
                        .flows
                        .iter_mut()
                        .for_each(|flows| flows.count = count);
                },
            ),
            of_counts(
                SeriesBy::Subscribers,
                "subscriber",
                self.subscribers.iter().copied(),
                |test, count| {
                    test.traffic.subscribers = Some(count);
                },
            ),
            self.of_cores(),
            of_counts(
                SeriesBy::Filters,
                "filter",
                self.filters.iter().copied(),
                |test, count| test.filters = count,
            ),
            self.of_broadcast(),
            self.of_bursts(),
            self.of_connections(),
            self.of_table_sizes(),
            of_cached(&self.dns.cached),
            of_with_aaaa(&self.dns.with_aaaa),
        ];
        match series.into_iter().find(|steps| steps.len() > 1) {
            Some(steps) => steps
                .into_iter()
                .map(|step| step.applied_to(&base))
                .collect(),
            None => vec![base],
        }
    }

    /// Returns a curve over the share of cached names for each share of names with an AAAA record. If everything is cached, the latter makes no
    /// difference, and the point is measured once (RFC 8219 section 9.2).
    fn grid(&self, test: &Test) -> Vec<Test> {
        let mut tests = Vec::new();
        for (index, curve) in of_with_aaaa(&self.dns.with_aaaa).into_iter().enumerate() {
            let base = Test {
                series: None,
                ..curve.applied_to(test)
            };
            let cached: Vec<u8> = self
                .dns
                .cached
                .iter()
                .copied()
                .filter(|cached| *cached < 100 || index == 0)
                .collect();
            tests.extend(
                of_cached(&cached)
                    .into_iter()
                    .map(|step| step.applied_to(&base)),
            );
        }
        tests
    }

    fn of_background(&self) -> Vec<SeriesStep> {
        self.background
            .iter()
            .map(|&foreground| {
                let percent = foreground.background_percent();
                let words = (format!("native{percent}"), format!("{percent} % native"));
                SeriesStep::new(SeriesBy::Background, percent, words, move |test| {
                    test.foreground = foreground;
                })
            })
            .collect()
    }

    fn of_broadcast(&self) -> Vec<SeriesStep> {
        self.broadcast
            .iter()
            .map(|&share| {
                let percent = share.percent();
                let words = (
                    format!("broadcast{percent}"),
                    format!("{percent} % broadcast"),
                );
                SeriesStep::new(SeriesBy::Broadcast, percent, words, move |test| {
                    test.traffic.broadcast_every = share.every;
                })
            })
            .collect()
    }

    fn of_bursts(&self) -> Vec<SeriesStep> {
        self.bursts
            .iter()
            .map(|&frames| {
                let burst = bursts::burst_of(frames);
                let words = burst.map_or("single frames".to_owned(), |frames| {
                    format!("bursts of {frames}")
                });
                let words = (format!("burst{frames}"), words);
                SeriesStep::new(SeriesBy::Burst, f64::from(frames), words, move |test| {
                    test.traffic.burst = burst;
                })
            })
            .collect()
    }

    fn of_cores(&self) -> Vec<SeriesStep> {
        let Some((name, counts)) = self.cores.varied_device() else {
            let counts = self.cores.every.iter().copied();
            return of_counts(SeriesBy::Cores, "core", counts, |test, cores| {
                test.cores = Some(cores);
            });
        };
        counts
            .iter()
            .map(|&cores| {
                let (words, device) = (
                    format!("{} of {name}", units::counted(cores, "core")),
                    name.to_owned(),
                );
                let change =
                    move |test: &mut Test| test.device_cores.extend([(device.clone(), cores)]);
                let step = SeriesStep::new(
                    SeriesBy::Cores,
                    f64::from(cores),
                    (format!("cores{cores}"), words),
                    change,
                );
                SeriesStep {
                    device: Some(name.to_owned()),
                    ..step
                }
            })
            .collect()
    }

    fn of_connections(&self) -> Vec<SeriesStep> {
        let own_table = self.state.has_own_state_table;
        self.state
            .connections
            .iter()
            .map(|&connections| {
                let words = (
                    format!("connections{connections}"),
                    format!("{connections} connections"),
                );
                SeriesStep::new(
                    SeriesBy::Connections,
                    connections as f64,
                    words,
                    move |test| {
                        if let Some(stateful) = &mut test.stateful {
                            stateful.connections = connections;
                            stateful.state_table = if own_table {
                                stateful.state_table.min(connections)
                            } else {
                                connections
                            };
                        }
                    },
                )
            })
            .collect()
    }

    fn of_table_sizes(&self) -> Vec<SeriesStep> {
        self.state
            .table_sizes
            .iter()
            .map(|&size| {
                let words = (format!("table{size}"), format!("a table of {size}"));
                SeriesStep::new(SeriesBy::TableSize, size as f64, words, move |test| {
                    test.stateful
                        .iter_mut()
                        .for_each(|stateful| stateful.table_size = Some(size));
                })
            })
            .collect()
    }
}

fn of_counts(
    by: SeriesBy,
    noun: &str,
    counts: impl Iterator<Item = u32>,
    set: fn(&mut Test, u32),
) -> Vec<SeriesStep> {
    counts
        .map(|count| {
            let words = (format!("{noun}s{count}"), units::counted(count, noun));
            SeriesStep::new(by, f64::from(count), words, move |test| set(test, count))
        })
        .collect()
}

fn of_cached(shares: &[u8]) -> Vec<SeriesStep> {
    of_names(
        shares,
        SeriesBy::Cached,
        "cached",
        "cached",
        |dns, share| dns.cached = share,
    )
}

fn of_with_aaaa(shares: &[u8]) -> Vec<SeriesStep> {
    of_names(
        shares,
        SeriesBy::WithAaaa,
        "aaaa",
        "with AAAA",
        |dns, share| dns.with_aaaa = share,
    )
}

fn of_names(
    shares: &[u8],
    by: SeriesBy,
    short: &str,
    long: &str,
    set: fn(&mut DnsTest, u8),
) -> Vec<SeriesStep> {
    shares
        .iter()
        .map(|&share| {
            let words = (format!("{short}{share}"), format!("{share} % {long}"));
            SeriesStep::new(by, f64::from(share), words, move |test| {
                dns::change_queries(&mut test.measure, |dns| set(dns, share));
            })
        })
        .collect()
}

/// One step of a series: its position on the axis, its short and long description, and the change to the test.
struct SeriesStep {
    by: SeriesBy,
    at: f64,
    words: (String, String),
    /// The device to which the number of cores applies, if it is only one.
    device: Option<String>,
    change: Box<dyn Fn(&mut Test)>,
}

impl SeriesStep {
    fn new(
        by: SeriesBy,
        at: f64,
        words: (String, String),
        change: impl Fn(&mut Test) + 'static,
    ) -> Self {
        Self {
            by,
            at,
            words,
            device: None,
            change: Box::new(change),
        }
    }

    fn applied_to(&self, base: &Test) -> Test {
        let mut test = Test {
            name: format!("{}.{}", base.name, self.words.0),
            title: format!("{}, {}", base.title, self.words.1),
            series: Some(Series {
                name: base.name.clone(),
                by: self.by,
                at: self.at,
                device: self.device.clone(),
            }),
            ..base.clone()
        };
        (self.change)(&mut test);
        test
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture_tests::{SMALLEST, mistakes};
    use crate::parse;
    use sixbench_method::search::SearchMethod;
    use sixbench_method::terms::LossRatio;

    const DUTS: [&str; 1] = ["linux-ipv4"];

    #[test]
    fn the_reference_is_one_of_several_tests_and_is_kept_in_the_resolved_plan() {
        let tests = "[[test]]\nname = \"control\"\ndut = \"linux-ipv4\"\n[[test]]\nname = \"t\"\ndut = \"linux-ipv4\"\n";
        let with = |reference: &str, tests: &str| {
            format!("name = \"p\"\nreference = \"{reference}\"\n{tests}")
        };
        let plan = parse(&with("control", tests), &DUTS).expect("a plan").plan;
        assert_eq!(plan.reference.as_deref(), Some("control"));
        let written = crate::resolved::write(&plan, "", "recipes").expect("TOML");
        assert_eq!(parse(&written, &DUTS).expect("a resolved plan").plan, plan);
        let mut part = plan.clone();
        part.retain_tests(|test| test.name == "control");
        let written_part = crate::resolved::write(&part, "", "recipes").expect("TOML");
        assert_eq!(
            parse(&written_part, &DUTS).expect("a resolved plan").plan,
            part
        );
        let edited = written.replace("reference = \"control\"", "reference = \"gone\"");
        assert_eq!(
            parse(&edited, &DUTS).expect_err("a mistake")[0].title,
            "no test is named `gone`"
        );
        let optional = tests.replacen("dut =", "optional = true\ndut =", 1);
        let alone = "[[test]]\nname = \"control\"\ndut = \"linux-ipv4\"\n";
        let plans = [
            with("controll", tests),
            with("other", tests),
            with("control", &optional),
            with("control", alone),
        ];
        insta::assert_snapshot!(plans.map(|plan| mistakes(&plan, &DUTS)).join("\n"));
    }

    #[test]
    fn a_plan_without_the_chosen_reference_has_none() {
        let tests = "[[test]]\nname = \"r\"\ndut = \"linux-ipv4\"\n[[test]]\nname = \"t\"\ndut = \"linux-ipv4\"\n";
        let mut plan = parse(&format!("name = \"p\"\nreference = \"r\"\n{tests}"), &DUTS)
            .expect("a plan")
            .plan;
        plan.retain_tests(|test| test.name == "r");
        assert_eq!(plan.reference.as_deref(), Some("r"));
        plan.retain_tests(|test| test.name == "t");
        assert_eq!(plan.reference, None);
    }

    #[test]
    fn a_test_may_have_loss_goals_of_its_own() {
        let source = format!(
            "{SMALLEST}loss-goals = [\"0%\", \"0.1%\"]\n[[test]]\nname = \"u\"\ndut = \"linux-ipv4\"\n"
        );
        let plan = parse(&source, &DUTS).expect("a plan").plan;
        let goals = |i: usize| plan.tests[i].loss_goals(&plan).to_vec();
        assert_eq!(goals(0), [LossRatio::ZERO, LossRatio(0.001)]);
        assert_eq!(goals(1), [LossRatio::ZERO]);
        assert_eq!(
            plan.tests[0].search_settings(&plan).method,
            SearchMethod::Mlrsearch
        );
    }

    #[test]
    fn two_steps_of_one_name_are_refused_as_two_tests_of_one_name_are() {
        let told = |lines: &str| mistakes(&format!("{SMALLEST}{lines}\n"), &DUTS);
        let twice = told("background = [\"10%\", \"50%\", \"10%\"]");
        assert!(
            twice.contains("two tests are named `t.native10`") && !twice.contains("native50"),
            "{twice}"
        );
        let step = "[[test]]\nname = \"t.native10\"\ndut = \"linux-ipv4\"";
        let other = told(&format!("background = [\"10%\", \"50%\"]\n{step}"));
        assert!(
            other.contains("two tests are named `t.native10`") && other.contains("plan.toml:7:"),
            "{other}"
        );
        assert!(
            parse(
                &format!("{SMALLEST}background = [\"10%\", \"50%\"]\n"),
                &DUTS
            )
            .is_ok()
        );
    }

    #[test]
    fn mistakes_in_the_loss_goals_of_a_test_are_told_at_their_line() {
        let told = |lines: &str| mistakes(&format!("{SMALLEST}{lines}\n"), &DUTS);
        let latency = told("measure = \"latency\"\nloss-goals = \"1%\"");
        assert!(
            latency.contains("latency searches for no rate, so it has no loss goals")
                && latency.contains("plan.toml:6:"),
            "{latency}"
        );
        assert!(told("loss-goals = []").contains("at least one loss goal is needed"));
        let binary = told("loss-goals = [\"0%\", \"1%\"]\n[search]\nmethod = \"binary\"");
        assert!(
            binary.contains("has one loss goal") && binary.contains("plan.toml:5:"),
            "{binary}"
        );
        assert!(told("loss-goals = \"many\"").contains("plan.toml:5:"));
    }
}
