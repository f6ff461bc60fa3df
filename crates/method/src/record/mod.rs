//! What a run leaves behind: one line of `trials.jsonl` for each settled trial, and the facts of the machine.

mod cable;
mod hosts;
mod moment;
mod ranges;
mod run;
mod slices;
mod warning;

pub use crate::watch::{
    CoreRole, CoreWatch, CpuSample, DeviceWatch, DropPlace, Drops, SharedWatch, Watch,
};
pub use crate::watch::{LossCounter, LossSource};
pub use cable::{Cable, CableEnd};
pub use hosts::RepetitionHosts;
pub use run::{CodeFile, CodeOrigin, Disturber, Ending, RunPart, SkipReason, SkippedTest};
pub use warning::{CoreLoad, ThreadAbility, Warning, WarningLevel, WarningSubject};

use crate::measures::LoadSource;
use crate::plan::{Point, Selection, Test};
use crate::terms::{FrameSize, IpVersion};
use crate::trial::dns::Certificate;
use crate::trial::{EXCUSABLE_SHARE, Fault, TrialResult};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of the record format. A reader refuses a higher one.
pub const FORMAT: u32 = 1;

/// One line of `trials.jsonl`: a trial, whole. The truth of a run; everything else can be derived again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrialRecord {
    /// [`FORMAT`].
    pub format: u32,
    /// The test and frame size.
    pub point: Point,
    /// The number of the repetition of the measurement, from 1.
    pub repetition: u32,
    /// The number of the trial in the search, from 1, invalid trials included.
    pub trial: u32,
    /// The searches that the load of the measurement came from, where it is made at the throughput and did not search for it itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<Box<LoadSource>>,
    /// The time it began, RFC 3339.
    pub started: String,
    /// The counts of the trial.
    pub result: TrialResult,
    /// The activity of the DUT's processors during the trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watch: Option<SharedWatch>,
}

/// The trials of a run by their point, those of each in the order of the records.
pub type RecordsByPoint<'r> = BTreeMap<&'r Point, Vec<&'r TrialRecord>>;

/// Sorts the trials of a run by their point once, so that nothing looks through all of them for each point.
pub fn by_point(records: &[TrialRecord]) -> RecordsByPoint<'_> {
    let mut found = RecordsByPoint::new();
    for of_point in records.chunk_by(|a, b| a.point == b.point) {
        found
            .entry(&of_point[0].point)
            .or_default()
            .extend(of_point);
    }
    found
}

/// Sorts trials of one point by their repetition, each in the order of the records.
pub fn by_repetition<'r>(of_point: &[&'r TrialRecord]) -> BTreeMap<u32, Vec<&'r TrialRecord>> {
    let mut found: BTreeMap<u32, Vec<&TrialRecord>> = BTreeMap::new();
    for &record in of_point {
        found.entry(record.repetition).or_default().push(record);
    }
    found
}

impl TrialRecord {
    /// Returns whether the part of the missing frames that can be explained by what was done to the device, or by the tester, is
    /// larger than what may be overlooked.
    pub(crate) fn has_excusable_loss(&self) -> bool {
        !self.result.is_loss_of_the_dut(EXCUSABLE_SHARE)
    }

    /// Returns the share of the time of sending for which others had the DUT's processors while it was ready to use them, as far as is known. So many of
    /// the frames may have waited for others than the device.
    pub fn held_share(&self) -> f64 {
        let watched_us = self
            .watch
            .as_ref()
            .map_or(0, |watch| watch.held_in_all_us());
        let taken_us = self
            .result
            .faults
            .iter()
            .filter_map(Fault::taken_ms)
            .max()
            .unwrap_or(0)
            .saturating_mul(1000);
        watched_us.max(taken_us) as f64 * 1000.0 / self.result.spec.duration_ns.max(1) as f64
    }

    /// Returns whether other work had the device's processors for long enough during the trial to matter: for a larger part of it
    /// than goes unnoticed anywhere, or for so long that more of the loss than may be overlooked can be due to it. A host that
    /// takes some milliseconds of a trial without loss casts no doubt on it.
    pub fn is_disturbed(&self) -> bool {
        let taken_ns = self
            .result
            .faults
            .iter()
            .filter_map(Fault::taken_ms)
            .max()
            .unwrap_or(0)
            * 1_000_000;
        let unnoticed_ns = self.result.spec.duration_ns / 1000 * Fault::UNNOTICED_PER_MILLE;
        taken_ns > unnoticed_ns || (taken_ns > 0 && self.has_excusable_loss())
    }
}

/// The facts of a run: `facts.json`. RFC 2544 section 7: the exact version and configuration of the DUT belong into the report.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Facts {
    /// Version of sixbench.
    pub sixbench: String,
    /// The host: kernel, processor, cores, memory, relevant sysctls, by name.
    pub host: BTreeMap<String, String>,
    /// In results of an earlier version, the layout of the device that was set up last; now each DUT has its own, see [`Self::layouts`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub layout: Vec<String>,
    /// The facts of each DUT, by recipe name.
    pub duts: BTreeMap<String, DutFacts>,
    /// Warnings of the run: what was not as it should be. Those that cast doubt on results are first.
    #[serde(deserialize_with = "warning::read_all")]
    pub warnings: Vec<Warning>,
    /// The parts of the run, in order: more than one where it was resumed. Empty in results of an earlier version.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<RunPart>,
    /// Labels the user gave the run, by key.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// What the run measures of its plan, one of several runs of a campaign.
    #[serde(default, skip_serializing_if = "Selection::is_all")]
    pub selection: Selection,
    /// The hosts that the repetitions were measured on, by name, of results that were merged from several runs.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub measured_on: BTreeMap<String, Selection>,
    /// Tests that were not run, with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_run: Vec<SkippedTest>,
    /// Others that had a core which a trial needed, in the order in which the run first waited for them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disturbers: Vec<Disturber>,
    /// The files whose commands the run has run: its recipes, and a configuration of ssh.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub code: Vec<CodeFile>,
}

impl Facts {
    /// Returns the tests that were left out before the run began; the resolved plan does not have them.
    pub fn left_out(&self) -> impl Iterator<Item = &Test> {
        self.not_run
            .iter()
            .filter_map(|not_run| match &not_run.reason {
                SkipReason::LeftOut { planned, .. } => Some(&**planned),
                SkipReason::SetUpFailed { .. } => None,
            })
    }

    /// Returns the layout of links, cores and threads in sentences: first those of all devices, then those of some, with the names of these.
    pub fn layouts(&self) -> Vec<String> {
        let mut seen: Vec<(&str, Vec<&str>)> = self
            .layout
            .iter()
            .map(|sentence| (sentence.as_str(), Vec::new()))
            .collect();
        for (name, sentence) in self
            .duts
            .iter()
            .flat_map(|(name, dut)| dut.layout.iter().map(move |sentence| (name, sentence)))
        {
            match seen.iter_mut().find(|(known, _)| known == sentence) {
                Some((_, names)) => names.push(name),
                None => seen.push((sentence, vec![name])),
            }
        }
        let is_of_all = |names: &[&str]| names.is_empty() || names.len() == self.duts.len();
        let (all, some): (Vec<_>, Vec<_>) =
            seen.into_iter().partition(|(_, names)| is_of_all(names));
        let of_all = all.into_iter().map(|(sentence, _)| sentence.to_owned());
        of_all
            .chain(
                some.into_iter()
                    .map(|(sentence, names)| format!("{}: {sentence}", names.join(", "))),
            )
            .collect()
    }
}

/// The facts of one DUT.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DutFacts {
    /// One line for people.
    pub title: String,
    /// The version as printed by the implementation.
    pub version: String,
    /// Technology, as in the recipe.
    pub technology: String,
    /// The layout of links, cores and threads, one sentence each; of a device that was set up with different numbers of cores, all of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub layout: Vec<String>,
    /// Configuration files as written, by path.
    pub files: BTreeMap<String, String>,
    /// The tester's self-tests for a DNS server (RFC 8219 section 9.2.1).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub certificates: Vec<Certificate>,
    /// The facts of the machine that it has for itself, by name, as those of the host; empty of a device on the tester's machine.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub machine: BTreeMap<String, String>,
    /// The facts of the machine that the authority behind a DNS server has for itself, by name: `machine` is what ssh knows it by, `version` that of
    /// sixbench there, the others are as those of the host. Empty where the authority is on the tester's machine.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub authority: BTreeMap<String, String>,
    /// True if it is joined to the tester by shared memory, in which no frame passes the kernel.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_memory: bool,
    /// The kind of links between it and the tester; unknown in results of an earlier version.
    #[serde(default, skip_serializing_if = "LinkKind::is_unknown")]
    pub links: LinkKind,
    /// The cables from the tester's left port to its right port, in this order, where the links are interfaces that the plan names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cables: Vec<Cable>,
    /// The vectors of requirements that show the defects which its recipe knows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub defect_vectors: Vec<String>,
    /// The path of datagrams; `None` for a single device of one client network that forwards or translates them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<PathFacts>,
}

impl DutFacts {
    /// Returns the kind of its links; in results of an earlier version it follows from the sentences of the layout.
    pub fn link_kind(&self) -> LinkKind {
        let has = |words: &str| self.layout.iter().any(|sentence| sentence.contains(words));
        match self.links {
            LinkKind::Unknown if self.in_memory || has("shared memory") => LinkKind::SharedMemory,
            LinkKind::Unknown if has("veth") => LinkKind::Virtual,
            LinkKind::Unknown if has("cabled") => LinkKind::Interfaces,
            recorded => recorded,
        }
    }
}

impl Facts {
    /// Returns the group of the links of this device: see [`LinkKind::group`].
    pub fn link_group(&self, dut: &str) -> LinkKind {
        self.duts
            .get(dut)
            .map(DutFacts::link_kind)
            .unwrap_or_default()
            .group()
    }
}

/// The kind of links between the tester and a device.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum LinkKind {
    /// Not recorded.
    #[default]
    Unknown,
    /// Links of the testbed, made by a kernel: veth pairs, also those that end in a virtual machine.
    Virtual,
    /// Interfaces that the plan names.
    Interfaces,
    /// Rings in memory that tester and device share.
    SharedMemory,
}

impl LinkKind {
    /// Returns whether the kind was not recorded.
    pub fn is_unknown(&self) -> bool {
        *self == Self::Unknown
    }

    /// Returns the kind that stands for all those whose results may be compared with results of this one: shared memory, or interfaces. A frame to or
    /// from a device in shared memory passes no kernel, while most of the time of a device at veth pairs is the kernel's.
    #[must_use]
    pub fn group(self) -> Self {
        match self {
            Self::SharedMemory => Self::SharedMemory,
            Self::Unknown | Self::Virtual | Self::Interfaces => Self::Interfaces,
        }
    }

    /// Returns its name in formats for machines.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Virtual => "virtual",
            Self::Interfaces => "interfaces",
            Self::SharedMemory => "shared-memory",
        }
    }
}

/// The path of datagrams between the tester's ends, and their form on either side of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PathFacts {
    /// The devices they pass, from left to right, by recipe name; empty for one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<String>,
    /// The form of datagrams on the left link.
    pub left: LinkFacts,
    /// The form of datagrams on the right link.
    pub right: LinkFacts,
    /// Subscribers on the left where the plan says nothing; `None` of one client network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subscribers: Option<u32>,
    /// The rule their addresses and ports follow from, key by key as in the recipe.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub rule: BTreeMap<String, String>,
}

/// Datagrams on a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LinkFacts {
    /// True if the datagrams are IPv4, apart from any header around them.
    pub is_ipv4: bool,
    /// Octets of the header around them.
    pub overhead: u16,
}

impl LinkFacts {
    /// Returns the octets of a frame of this size on the link, FCS included.
    pub fn octets(&self, size: FrameSize) -> u16 {
        size.with_fcs(if self.is_ipv4 {
            IpVersion::Ipv4
        } else {
            IpVersion::Ipv6
        })
        .saturating_add(self.overhead)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_of_every_version_say_which_devices_may_be_compared() {
        let group = |field: Option<(&str, serde_json::Value)>| {
            let mut facts = serde_json::to_value(DutFacts::default()).expect("JSON");
            if let Some((name, value)) = field {
                facts[name] = value;
            }
            let dut: DutFacts = serde_json::from_value(facts).expect("facts");
            Facts {
                duts: [("d".into(), dut)].into(),
                ..Facts::default()
            }
            .link_group("d")
        };
        let layout = |text: &str| Some(("layout", serde_json::json!([text])));
        let links = |kind: &str| Some(("links", kind.into()));
        for facts in [
            None,
            links("virtual"),
            links("interfaces"),
            layout("two veth pairs"),
        ] {
            assert_eq!(group(facts.clone()), LinkKind::Interfaces, "{facts:?}");
        }
        for facts in [
            links("shared-memory"),
            Some(("in_memory", true.into())),
            layout("rings in shared memory"),
        ] {
            assert_eq!(group(facts.clone()), LinkKind::SharedMemory, "{facts:?}");
        }
        for kind in [
            LinkKind::Unknown,
            LinkKind::Virtual,
            LinkKind::Interfaces,
            LinkKind::SharedMemory,
        ] {
            assert_eq!(serde_json::to_value(kind).expect("JSON"), kind.name());
        }
    }

    #[test]
    fn the_layout_says_of_which_devices_a_sentence_holds() {
        let dut = |layout: &[&str]| DutFacts {
            layout: layout.iter().map(|&text| text.into()).collect(),
            ..DutFacts::default()
        };
        let duts = [
            ("jool", dut(&["two veth pairs", "core 1"])),
            ("vpp", dut(&["memif", "core 1"])),
            ("tayga", dut(&["two veth pairs", "core 1"])),
        ];
        let facts = Facts {
            duts: duts.map(|(name, dut)| (name.into(), dut)).into(),
            ..Facts::default()
        };
        assert_eq!(
            facts.layouts(),
            ["core 1", "jool, tayga: two veth pairs", "vpp: memif"]
        );
        let earlier = Facts {
            layout: vec!["core 2".into()],
            duts: [("jool".into(), DutFacts::default())].into(),
            ..Facts::default()
        };
        assert_eq!(
            earlier.layouts(),
            ["core 2"],
            "results of an earlier version"
        );
    }
}
