//! The requirements that sixbench itself cannot meet, or meets differently: `docs/deviations.toml`, read once.

use super::clause::{Clause, Conformance, Level};
use crate::plan::Measure;
use serde::Deserialize;
use std::sync::LazyLock;

static DEVIATIONS: LazyLock<Vec<Deviation>> = LazyLock::new(|| {
    let text = include_str!("../../../../docs/deviations.toml");
    let file: File = toml::from_str(text).expect("docs/deviations.toml is part of the program and tested");
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
    pub(super) level: RequirementWord,
    pub(super) quote: String,
    /// The behaviour of sixbench instead of the required one.
    pub(super) here: String,
    pub(super) reason: String,
    pub(super) standing: Departure,
    /// The names of the measures concerned; if empty, all but those of DNS.
    #[serde(default)]
    pub(super) measures: Vec<String>,
    /// The set-up in which the requirement is met.
    unless: Option<Setup>,
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

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum RequirementWord {
    Must,
    Should,
}

#[derive(Clone, Copy, Deserialize)]
pub(super) enum Departure {
    #[serde(rename = "bent")]
    Partial,
    #[serde(rename = "broken")]
    Violated,
}

pub(super) fn all() -> &'static [Deviation] {
    &DEVIATIONS
}

pub(super) fn clauses(measure: &Measure) -> Vec<Clause> {
    // Deviations of all measures concern frames, their sizes and their routes.
    let is_of_frames = measure.dns().is_none();
    let concerns = |entry: &&Deviation| match entry.measures.is_empty() {
        true => is_of_frames,
        false => entry.measures.iter().any(|name| name == measure.name()),
    };
    let is_met = |entry: &&Deviation| entry.unless.is_some_and(|setup| setup.is_of(measure));
    all().iter().filter(concerns).filter(|entry| !is_met(entry)).map(clause).collect()
}

fn clause(entry: &'static Deviation) -> Clause {
    let level = match entry.level {
        RequirementWord::Must => Level::Must,
        RequirementWord::Should => Level::Should,
    };
    let conformance = match entry.standing {
        Departure::Partial => Conformance::Partial,
        Departure::Violated => Conformance::Violated,
    };
    let actual = format!("{} ({})", entry.here, entry.reason);
    Clause { clause: &entry.clause, level, requirement: &entry.quote, actual, conformance }
}
