//! A plan, resolved: every default filled in, every test spelled out. What a plan file becomes, and what `resolved.toml` keeps.

mod conditions;
mod context;
mod cores;
mod device;
mod dns;
mod empty_trial;
mod expectation;
mod export;
mod identity;
mod profile;
mod queries;
mod selection;
mod series;
mod size_mix;
mod stateful;
mod traffic;

pub use crate::measures::{
    BackToBack, Capacity, IpdvStream, Latency, Load, LossScan, Measure, PdvStream, Recovery,
    RequirementTest, Reset, ResponseTime, Soak, Tcp, TcpCapacity,
};
pub use conditions::{BroadcastConflict, BurstConflict, ConditionedTrials, FilterConflict};
pub use cores::CoreLimits;
pub use device::DeviceIdentity;
pub use dns::{
    DOMAIN, DnsRole, DnsTest, DomainError, NAME_LABEL, Names, NamesError, QueryTransport,
    TCP_CONNECTIONS, TCP_OUTSTANDING, checked_domain,
};
pub use empty_trial::EmptyTrial;
pub use expectation::Expectation;
pub use export::{ExportFormat, ExportFormatError};
pub use profile::Profile;
pub use queries::{FileQuery, MOST_OCTETS_IN_PLAN, QueryFile, QueryMistake, StoredQueriesError};
pub use selection::{KeyError, MeasurementKey, Selection};
pub use series::{Series, SeriesBy};
pub use size_mix::{SizeMix, SizeMixError, SizeShare, size_of_letter};
pub use stateful::Stateful;
pub use traffic::{AddressPart, Flows, Payload, Ports, TrafficSettings, ValueOrder, ValueRange};

use crate::repeat::Repetition;
use crate::search::{SearchMethod, SearchSettings};
use crate::terms::bounds::{Bounded, NumberBound, TableBounds};
use crate::terms::{Directions, FrameRate, FrameSize, LossRatio, Share};
use crate::trial::TrialSettings;
use crate::units::{BIT_RATE, counted};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Everything a run does, in order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Plan {
    /// A short name: letters, digits, `-`.
    pub name: String,
    /// The profile: how far the run goes towards the RFC's durations and repetitions.
    pub profile: Profile,
    /// The seed of every pseudorandom sequence of the run (RFC 4814: the same pattern in every trial of a comparison).
    pub seed: u64,
    /// The settings of trials.
    pub trial: TrialSettings,
    /// The settings of searches for loads.
    pub search: SearchSettings,
    /// The time for disturbed trials of one point, and for waiting until others leave its cores, nanoseconds. When it is over, the result is what
    /// can be said in spite of them.
    #[serde(default = "usual_patience")]
    pub patience_ns: u64,
    /// The rate of the medium, bit/s, where it is known: the theoretical maximum of every frame size follows from it (RFC 5180).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link_rate: Option<u64>,
    /// True if repetitions go round all devices, which are up at once, rather than device by device.
    #[serde(default)]
    pub interleave: bool,
    /// The name of the test whose device does not change, so that a comparison with another run tells a change of the machine from one of the devices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// The formats that the run writes to `exports/` beside its report.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exports: Vec<ExportFormat>,
    /// The tests.
    #[serde(rename = "test")]
    pub tests: Vec<Test>,
}

impl Bounded for Plan {
    const BOUNDS: TableBounds = TableBounds {
        numbers: &[
            ("seed", NumberBound::ANY),
            ("patience-ns", NumberBound::TIME_NS),
            ("link-rate", BIT_RATE),
        ],
        tables: &[
            ("trial", &TrialSettings::BOUNDS),
            ("search", &SearchSettings::BOUNDS),
            ("test", &Test::BOUNDS),
        ],
        ..TableBounds::NONE
    };
}

/// Patience where the plan says nothing.
fn usual_patience() -> u64 {
    Plan::USUAL_PATIENCE_NS
}

/// One test: a DUT, its traffic, the frame sizes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Test {
    /// Unique in the plan: letters, digits, `-`.
    pub name: String,
    /// One line for people.
    pub title: String,
    /// Name of the DUT's recipe.
    pub dut: String,
    /// The measure.
    pub measure: Measure,
    /// The frame sizes, each a point of its own. Where the traffic has a mix of sizes, this is the nominal size of the mix alone.
    pub frame_sizes: Vec<FrameSize>,
    /// The directions that are loaded.
    pub directions: Directions,
    /// Foreground frames among all.
    pub foreground: Share,
    /// Ports, addresses and flows of the test frames.
    pub traffic: TrafficSettings,
    /// The two phases of a test of a stateful gateway (RFC 9693).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stateful: Option<Stateful>,
    /// The number of repetitions of the measurement.
    pub repetitions: Repetition,
    /// A frame later than this is not received, nanoseconds; where it is not given the plan's setting holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame_timeout_ns: Option<u64>,
    /// The highest load that is tried, where it is not that of the plan's search.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maximum: Option<FrameRate>,
    /// The loss goals of its search, where they are not those of the plan's.
    #[serde(
        default,
        rename = "loss-goals",
        skip_serializing_if = "Option::is_none"
    )]
    pub own_goals: Option<Vec<LossRatio>>,
    /// Cores the DUT may use; all of its own where it is not given. Not for devices that the user sets up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cores: Option<u32>,
    /// Cores of single devices of a row on machines of their own, by the name of the device or of its machine; the others have all of theirs.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub device_cores: BTreeMap<String, u32>,
    /// True if every frame is IPv4 on both links. Then the frames of a size are 20 octets shorter than it on either link, and
    /// more of them fit into a second of the medium.
    #[serde(default)]
    pub ipv4_only: bool,
    /// True if the foreground frames are IPv6 on both links: the device forwards IPv6, and does not translate.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ipv6_forwarded: bool,
    /// The fields of a frame by which the network cards of the device spread UDP over its cores, in the letters of `ethtool -N`; they are left as they are
    /// where this is not given. Only for a device on a machine of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dut_rss_hash: Option<String>,
    /// The filter conditions that the device is set up with (RFC 2544 section 11.4): the last of them permits the test frames, those before it block addresses
    /// that no test frame has. Without any, the device has no filters but those of its recipe.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub filters: u32,
    /// True if the test is left out, with a note to that effect, where its device cannot be had.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub optional: bool,
    /// True if the device is set up again for the test, and used for no other.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fresh_device: bool,
    /// The series this test is a step of, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<Series>,
    /// The expected medians: a run that misses one says so.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "expectation::read"
    )]
    pub expect: Vec<Expectation>,
}

impl Bounded for Test {
    const BOUNDS: TableBounds = TableBounds {
        numbers: &[
            ("frame-sizes", FrameSize::BOUND),
            ("frame-timeout-ns", NumberBound::TIME_NS),
            ("maximum", FrameRate::BOUND),
            ("loss-goals", NumberBound::BELOW_ONE),
            ("cores", CoreLimits::NUMBER),
            ("device-cores", CoreLimits::NUMBER),
            ("filters", Test::FILTERS),
        ],
        tables: &[
            ("measure", &Measure::BOUNDS),
            ("foreground", &Share::BOUNDS),
            ("traffic", &TrafficSettings::BOUNDS),
            ("stateful", &Stateful::BOUNDS),
            ("repetitions", &Repetition::BOUNDS),
            ("series", &Series::BOUNDS),
            ("expect", &Expectation::BOUNDS),
        ],
        ..TableBounds::NONE
    };
}

/// One point of a plan: a test at one frame size.
#[derive(
    Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub struct Point {
    /// Name of the test.
    pub test: String,
    /// The frame size.
    pub frame_size: FrameSize,
}

impl std::fmt::Display for Point {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.test, self.frame_size)
    }
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl Test {
    /// The filter conditions of a device: as many as the addresses of RFC 2544 section 11.4.1 are continued for.
    pub const FILTERS: NumberBound = NumberBound::new(0.0, 100.0);

    /// Returns whether its results depend on how long each frame was on its way, from one clock to another.
    pub fn needs_one_way_delays(&self, plan: &Plan) -> bool {
        self.trial_settings(plan).frame_timeout_ns > 0
            || self
                .measure
                .info()
                .quantities
                .iter()
                .any(|quantity| quantity.is_of_one_way_delays())
    }

    /// Returns a throughput test of `dut` as the RFCs want it, but of 84-octet frames only and not repeated.
    pub fn new(name: &str, dut: &str) -> Self {
        Self {
            name: name.to_owned(),
            title: name.to_owned(),
            dut: dut.to_owned(),
            measure: Measure::default(),
            frame_sizes: vec![FrameSize::MINIMUM],
            directions: Directions::Both,
            foreground: Share::ALL,
            traffic: TrafficSettings::RFC_4814,
            stateful: None,
            repetitions: Repetition::Fixed(1),
            frame_timeout_ns: None,
            maximum: None,
            own_goals: None,
            cores: None,
            device_cores: BTreeMap::new(),
            ipv4_only: false,
            ipv6_forwarded: false,
            dut_rss_hash: None,
            filters: 0,
            optional: false,
            fresh_device: false,
            series: None,
            expect: Vec::new(),
        }
    }

    /// Returns the trial settings of this test.
    pub fn trial_settings(&self, plan: &Plan) -> TrialSettings {
        let frame_timeout_ns = self.frame_timeout_ns.unwrap_or(plan.trial.frame_timeout_ns);
        TrialSettings {
            frame_timeout_ns,
            ..plan.trial
        }
    }

    /// Returns the search settings of this test.
    pub fn search_settings(&self, plan: &Plan) -> SearchSettings {
        let maximum = self.maximum.unwrap_or(plan.search.maximum);
        let goals = self.loss_goals(plan).to_vec();
        let is_fit = goals.len() < 2 || plan.search.method.info().takes_several_goals;
        let method = if is_fit {
            plan.search.method
        } else {
            SearchMethod::Mlrsearch
        };
        SearchSettings {
            method,
            maximum,
            goals,
            ..plan.search.clone()
        }
    }

    /// Returns the loss goals of this test. Code that needs the goals of a test asks here, not the plan's search.
    pub fn loss_goals<'a>(&'a self, plan: &'a Plan) -> &'a [LossRatio] {
        self.own_goals.as_deref().unwrap_or(&plan.search.goals)
    }

    /// Returns the first loss goal of this test, zero loss if there is none.
    pub fn first_goal(&self, plan: &Plan) -> LossRatio {
        self.loss_goals(plan)
            .first()
            .copied()
            .unwrap_or(LossRatio::ZERO)
    }

    /// Returns the highest rate of the medium for the largest frames that the test has on either link, where the plan knows the medium.
    pub fn theoretical(&self, plan: &Plan, frame_size: FrameSize) -> Option<FrameRate> {
        self.context(plan).theoretical(frame_size)
    }

    /// Clients that send: the subscribers the test asks for, or one.
    pub fn clients(&self) -> u32 {
        self.traffic.clients()
    }

    /// Returns the sizes of its frames in words: `84, 512`, or the mix.
    pub fn sizes_in_words(&self) -> String {
        if let Some(mix) = self.traffic.size_mix {
            return mix.label();
        }
        let sizes: Vec<String> = self.frame_sizes.iter().map(FrameSize::to_string).collect();
        sizes.join(", ")
    }

    /// Returns the size of the frames of one of its points in words: `84 bytes`, or the mix.
    pub fn size_in_words(&self, frame_size: FrameSize) -> String {
        self.traffic
            .size_mix
            .map_or_else(|| format!("{frame_size} bytes"), |mix| mix.label())
    }

    /// Returns the largest frame that any of its trials sends.
    pub fn largest_frame(&self) -> FrameSize {
        let largest = self.frame_sizes.iter().copied().max();
        let of_mix = self.traffic.size_mix.map(|mix| mix.largest());
        of_mix.or(largest).unwrap_or(FrameSize::MINIMUM)
    }

    /// Returns the name of one of its points for people: `name/84`; only `name` where frames are the kernel's and have the size they have. A mix of
    /// sizes is named.
    pub fn label(&self, frame_size: FrameSize) -> String {
        if let Some(mix) = self.traffic.size_mix {
            format!("{} ({})", self.name, mix.label())
        } else if self.measure.family().has_frame_sizes() {
            format!("{}/{frame_size}", self.name)
        } else {
            self.name.clone()
        }
    }

    /// Returns the largest number of connections that phase 1 of any of its trials opens; 0 if the test is not stateful.
    pub fn most_connections(&self) -> u64 {
        let planned = self.stateful.map_or(0, |stateful| stateful.connections);
        self.measure
            .phase_one_connections()
            .map_or(planned, |own| *own.end())
    }

    /// Returns the time from the first frame of phase 1 to the first of phase 2, nanoseconds; `None` if it has no phase 2. The validation of
    /// connections follows phase 1 immediately.
    pub fn phase_two_delay_ns(&self) -> Option<u64> {
        let stateful = self
            .stateful
            .filter(|_| !self.measure.family().ends_with_phase_one())?;
        Some(stateful.delay_ns(stateful.phase_one()))
    }

    /// Returns the points of this test, in the plan's order.
    pub fn points(&self) -> impl Iterator<Item = Point> + '_ {
        self.frame_sizes.iter().map(|&frame_size| Point {
            test: self.name.clone(),
            frame_size,
        })
    }
}

impl Plan {
    /// A minute: the patience of a plan that says nothing, nanoseconds.
    pub const USUAL_PATIENCE_NS: u64 = 60_000_000_000;

    /// Returns whether any of its tests sends queries, whose results have columns and words of their own.
    pub fn has_queries(&self) -> bool {
        self.tests
            .iter()
            .any(|test| test.measure.family().is_answered())
    }

    /// Returns whether any of its tests sends frames or opens connections.
    pub fn has_others_than_queries(&self) -> bool {
        self.tests
            .iter()
            .any(|test| !test.measure.family().is_answered())
    }

    /// Returns true if a test sends a load: durations and repetitions of the RFCs say nothing about the others.
    pub fn has_loads(&self) -> bool {
        let mut tests = self.tests.iter();
        tests.any(|test| test.measure.family().has_load())
    }

    /// Returns the number of repetitions of its tests in words: `7 repetitions`, or `5 to 20 repetitions`.
    pub fn repetitions_in_words(&self) -> String {
        // What is right or wrong is measured once.
        let repeated = || {
            let tests = self.tests.iter();
            tests.filter(|test| test.measure.family().has_load())
        };
        let fewest = repeated()
            .map(|test| test.repetitions.least())
            .min()
            .unwrap_or(0);
        let most = repeated()
            .map(|test| test.repetitions.most())
            .max()
            .unwrap_or(0);
        if fewest == most {
            counted(fewest, "repetition")
        } else {
            format!("{fewest} to {most} repetitions")
        }
    }

    /// Returns the settings in which this plan measures in another way than the other one, in words: results of the two differ whatever their devices do.
    pub fn ways_unlike(&self, other: &Self) -> Vec<&'static str> {
        let different = [
            ("trial settings", self.trial != other.trial),
            ("search settings", self.search != other.search),
            ("link rate", self.link_rate != other.link_rate),
        ];
        different
            .into_iter()
            .filter(|(_, differs)| *differs)
            .map(|(what, _)| what)
            .collect()
    }

    /// Returns the plan of these tests, one device after the other, with the seed and the patience of a plan that says nothing, and a medium that is
    /// not known.
    pub fn new(
        name: &str,
        profile: Profile,
        trial: TrialSettings,
        search: SearchSettings,
        tests: Vec<Test>,
    ) -> Self {
        let (seed, patience_ns) = (42, Self::USUAL_PATIENCE_NS);
        let (name, link_rate, interleave, reference) = (name.to_owned(), None, false, None);
        Self {
            name,
            profile,
            seed,
            trial,
            search,
            patience_ns,
            link_rate,
            interleave,
            reference,
            exports: Vec::new(),
            tests,
        }
    }

    /// Keeps only the tests that are `wanted`; the plan has no reference if that is not one of them.
    pub fn retain_tests(&mut self, wanted: impl FnMut(&Test) -> bool) {
        self.tests.retain(wanted);
        let tests = &self.tests;
        self.reference
            .take_if(|name| tests.iter().all(|test| test.name != *name));
    }

    /// Returns the test of this name.
    pub fn test(&self, name: &str) -> Option<&Test> {
        self.tests.iter().find(|t| t.name == name)
    }
}
