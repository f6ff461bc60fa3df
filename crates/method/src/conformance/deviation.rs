//! The requirements that sixbench itself cannot meet, or meets differently: `docs/deviations.toml`, read once.

use crate::clause::{Clause, Conformance, Level};
use crate::plan::{Measure, Test};
use serde::Deserialize;
use std::sync::LazyLock;

static DEVIATIONS: LazyLock<Vec<Deviation>> = LazyLock::new(|| {
    let text = include_str!("../../../../docs/deviations.toml");
    let file: File =
        toml::from_str(text).expect("docs/deviations.toml is part of the program and tested");
    file.deviation
});

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    deviation: Vec<Deviation>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Deviation {
    pub(super) clause: String,
    pub(super) level: Level,
    pub(super) quote: String,
    /// The behaviour of sixbench instead of the required one.
    pub(super) here: String,
    pub(super) reason: String,
    #[serde(rename = "standing")]
    pub(super) conformance: Conformance,
    /// The names of the measures concerned; if empty, all but those of DNS.
    #[serde(default)]
    pub(super) measures: Vec<String>,
    /// The set-up in which the requirement is met.
    unless: Option<Setup>,
    /// The devices concerned; all if this is not given.
    devices: Option<DeviceGroup>,
}

/// A group of devices by what they do with the foreground traffic.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum DeviceGroup {
    /// IPv6 on both links: routers, and relays of IPv6 in IPv4.
    ForwardIpv6,
    /// IPv6 becomes IPv4, or is the outer header of it.
    Others,
}

impl DeviceGroup {
    /// Returns whether the device of a test belongs to the group. A device all of whose frames are IPv4 belongs to none.
    fn has(self, test: &Test) -> bool {
        match self {
            Self::ForwardIpv6 => test.ipv6_forwarded,
            Self::Others => !test.ipv6_forwarded && !test.ipv4_only,
        }
    }
}

/// A set-up in which additional requirements are met.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Setup {
    /// The authority is on a separate machine, connected by a cable that bypasses the device.
    AuthorityMachine,
}

impl Setup {
    fn is_of(self, measure: &Measure) -> bool {
        match self {
            Self::AuthorityMachine => measure.dns().is_some_and(|dns| dns.authority_on.is_some()),
        }
    }
}

pub(super) fn all() -> &'static [Deviation] {
    &DEVIATIONS
}

pub(super) fn clauses(test: &Test) -> Vec<Clause> {
    let measure = &test.measure;
    // Deviations of all measures concern frames, their sizes and their routes.
    let is_of_frames = measure.dns().is_none();
    let concerns = |entry: &&Deviation| {
        if entry.measures.is_empty() {
            is_of_frames
        } else {
            entry.measures.iter().any(|name| name == measure.name())
        }
    };
    let is_met = |entry: &&Deviation| entry.unless.is_some_and(|setup| setup.is_of(measure));
    all()
        .iter()
        .filter(concerns)
        .filter(|entry| entry.devices.is_none_or(|group| group.has(test)))
        .filter(|entry| !is_met(entry))
        .map(clause)
        .collect()
}

fn clause(entry: &'static Deviation) -> Clause {
    let actual = format!("{} ({})", entry.here, entry.reason);
    Clause {
        clause: &entry.clause,
        level: entry.level,
        requirement: &entry.quote,
        actual,
        conformance: entry.conformance,
    }
}
